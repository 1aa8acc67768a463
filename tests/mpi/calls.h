// Calls of any collective, on one group or two: what a rank calls with, and what every byte must be then, told by
// what MPI says of the collective and by nothing of a schedule.
#ifndef QUADRILLE_TESTS_MPI_CALLS_H_
#define QUADRILLE_TESTS_MPI_CALLS_H_

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "runtime/quadrille.h"
#include "schedule/collective.h"
#include "tests/mpi/buffer.h"

namespace quadrille::mpi {

// Who takes part. A place counts the ranks of the first group, then those of the second.
struct Groups {
  int ranks = 1, remote = 0;
  int all() const { return ranks + remote; }
  int group_of(int place) const { return place >= ranks; }
  int first(int group) const { return group == 0 ? 0 : ranks; }
  int size(int group) const { return group == 0 ? ranks : remote; }
  // Whose blocks come to a group, or go from it.
  int peers_of(int group) const { return remote > 0 ? 1 - group : group; }
};

// How long blocks are. Of some kinds only a few blocks have bytes: `kFirst` is mostly from place 0, `kOneWay` from lower
// places to higher ones, `kLone` between two places, and of `kSpared` one place sends nothing and one receives nothing.
// Blocks of `kEdge` just fit into a message with their lengths, or do not.
enum class LengthKind {
  kNone,
  kOne,
  kEqual,
  kUneven,
  kSparse,
  kFirst,
  kOneWay,
  kLone,
  kSpared,
  kSkewed,
  kEdge,
  kLong,
  kVeryLong,
  kHuge
};

// Layout of a call whose blocks lie at the same places whatever their lengths, as long as these are few.
inline constexpr unsigned kFixedPlaces = 1000;

// One call; the same at all ranks.
struct CollectiveCall {
  Collective collective = Collective::kBarrier;
  Groups groups;
  LengthKind lengths = LengthKind::kEqual;
  unsigned length_seed = 0;
  int form = 0;  // 0: blocks of one length; 1, 2: counts, of 32 or 64 bits
  int root = 0;  // a place
  bool in_place = false;
  unsigned types = 0;  // which datatypes, or elements
  unsigned layout =
      0;  // where blocks lie; an all-to-all also takes from it whether each block has a type of its own
  unsigned seed = 0;  // of the data
  int narrow = -1;    // a place with room for another length than the next place sends to it
  int narrow_units = 0;
  std::string text() const;
};

// What a schedule allows.
struct Allowed {
  bool commutative = false;    // operators that commute alone
  bool equal_counts = false;   // of the ranks of a group
  bool is_large_rare = false;  // long blocks take many steps
};

// The counts of the call, by group and rank, as a program has them; none where the two ends of a message alone know
// how long it is.
std::vector<std::vector<int64_t>> counts_of(const CollectiveCall& call);
// So many bytes go from one place to another. In collectives in which all ranks get the same, `target` means nothing.
int64_t bytes_between(const CollectiveCall& call, int source, int target);
// Whether each block of an all-to-all has a datatype of its own.
bool has_types_of_their_own(const CollectiveCall& call);
// Whether MPI has that collective in place.
bool can_be_in_place(Collective collective, const Groups& groups);

// Calls one after the other: any, and some like the one before but for one thing.
std::vector<CollectiveCall> draw_calls(Collective collective, const Groups& groups,
                                       const Allowed& allowed, std::mt19937& random, int count);

// A quick call on one group. The schedule is bound already, or binds by itself.
void expect_works(quadrille_schedule schedule, MPI_Comm comm, unsigned seed = 0);

// What one rank's arguments may be wrong in; `kBuffer`: what it sends has no address, or else where it receives;
// `kLonger`: it says one element more than all others expect;
// `kTooLarge`: it says more bytes than 64 bits count, in a call with counts of 64 bits.
enum class Mistake {
  kNone,
  kRequest,
  kBuffer,
  kType,
  kOperation,
  kRoot,
  kNegative,
  kLonger,
  kTooLarge
};

// A rank's part of a call, with its buffers.
class CollectivePart {
 public:
  CollectivePart(const CollectiveCall& call, int place);
  // From now on it calls so.
  void mistake(Mistake mistake) { mistake_ = mistake; }
  // The call's code. `entered`: how many ranks have begun this call, which a barrier waits for.
  int run(quadrille_schedule schedule, MPI_Comm comm, int& entered);
  // Makes a persistent call. What may be freed then is: datatypes are, and counts are overwritten.
  int make(quadrille_schedule schedule, MPI_Comm comm, quadrille_request* request);
  // Makes a persistent call, starts it with other data so many times, and frees it.
  int run_persistent(quadrille_schedule schedule, MPI_Comm comm, int starts = 1);
  // Other data, for its next start.
  void fill(unsigned seed);
  // Whether every byte that was to come is there.
  bool is_right();
  // Expects all bytes that belong to no block that comes to be as they were. Into the one buffer of a broadcast a wrong
  // program may write at the root, too.
  void expect_rest_untouched(const std::string& what, bool is_right = true);

 private:
  // What it sends or receives; without a buffer, where that means nothing.
  struct Blocks {
    Layout layout;
    std::optional<Buffer> buffer, before;
  };

  void make(Blocks& blocks, const std::vector<int64_t>& units, unsigned salt);
  void make(Blocks& blocks, int64_t units, const Shape& shape);  // one block
  void make_moving();
  void make_combining();
  void fill_moving();
  void fill_combining();
  uint8_t sent_byte(int block, int64_t k) const;
  void combine_all();
  uint8_t expected_byte(int block, int64_t k) const;
  int64_t asked(int block) const;        // so many bytes of it are to come
  std::vector<int64_t> results() const;  // of a reduce-scatter: elements, by rank of the own group

  // Of the entry points.
  int root_argument() const;
  void* address_of(Blocks& blocks);
  int64_t mistaken(int64_t count) const;
  int64_t count_of(const Blocks& blocks) const;
  template <typename... Arguments>
  int call(auto now, auto init, const Arguments&... arguments);
  int run_bcast();
  int run_gather();
  int run_scatter();
  int run_allgather();
  int run_alltoall();
  int run_reduce_scatter();
  int run_combining();
  int run_any();

  CollectiveCall call_;
  Mistake mistake_ = Mistake::kNone;
  quadrille_schedule schedule_ = QUADRILLE_SCHEDULE_NULL;
  MPI_Comm comm_ = MPI_COMM_NULL;
  bool is_made_ = false;  // then `request_` is the place for it
  quadrille_request* request_ = nullptr;
  int place_, group_, own_;
  bool is_root_ = false, in_place_ = false, is_leaf_ = false;  // at this rank
  Blocks from_, to_;
  const Element* element_ = nullptr;
  int64_t first_ =
      0;  // of what is combined: the element of a whole contribution that comes first here
  std::vector<uint8_t> combined_;
};

}  // namespace quadrille::mpi

#endif  // QUADRILLE_TESTS_MPI_CALLS_H_
