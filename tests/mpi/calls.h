// Calls of any collective, on one group or two: a rank's arguments, and the expected value of every byte. These follow
// from MPI's definition of the collective, without any schedule.
#ifndef QUADRILLE_TESTS_MPI_CALLS_H_
#define QUADRILLE_TESTS_MPI_CALLS_H_

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "runtime/execute/significance.h"
#include "runtime/quadrille.h"
#include "schedule/collective.h"
#include "tests/mpi/buffer.h"

namespace quadrille::mpi {

// The participants. A place counts the ranks of the first group, then those of the second.
struct Groups {
  int ranks = 1, remote = 0;
  int all() const { return ranks + remote; }
  int group_of(int place) const { return place >= ranks; }
  int first(int group) const { return group == 0 ? 0 : ranks; }
  int size(int group) const { return group == 0 ? ranks : remote; }
  // The group that a group receives from, and sends to.
  int peers_of(int group) const { return remote > 0 ? 1 - group : group; }
};

// The lengths of blocks. In some kinds only a few blocks have bytes: `kFirst` has them mostly from place 0, `kOneWay`
// from lower places to higher ones, `kLone` between two places. In `kSpared` one place sends nothing and one receives
// nothing. In `kEdge` blocks just fit into a message with their lengths, or just do not.
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

// A layout with blocks at the same places whatever their lengths, as long as these are few.
inline constexpr unsigned kFixedPlaces = 1000;

// One call, the same on all ranks.
struct CollectiveCall {
  Collective collective = Collective::kBarrier;
  Groups groups;
  LengthKind lengths = LengthKind::kEqual;
  unsigned length_seed = 0;
  int form = 0;  // 0: blocks of one length; 1 or 2: counts of 32 or 64 bits
  int root = 0;  // a place
  bool in_place = false;
  unsigned types = 0;  // the choice of datatypes, or elements
  unsigned layout =
      0;  // the places of blocks; in an all-to-all also whether each block has its own type
  unsigned seed = 0;  // of the data
  int narrow = -1;  // the buffer of this place has another length than the data from the next place
  int narrow_units = 0;
  std::string text() const;
};

// The limits of a schedule.
struct Allowed {
  bool commutative = false;    // only commutative operators
  bool equal_counts = false;   // equal counts on all ranks of a group
  bool is_large_rare = false;  // long blocks take many steps
};

// The counts of the call, by group and rank, in the form of programs. Empty if only the two ends of a message know its
// length.
std::vector<std::vector<int64_t>> counts_of(const CollectiveCall& call);
// The number of bytes from one place to another. If all ranks get the same data, `target` has no meaning.
int64_t bytes_between(const CollectiveCall& call, int source, int target);
// Whether each block of an all-to-all has its own datatype.
bool has_types_of_their_own(const CollectiveCall& call);
// Whether MPI allows that collective in place.
bool can_be_in_place(Collective collective, const Groups& groups);

// Consecutive calls: random ones, and some that differ from the previous one in one thing.
std::vector<CollectiveCall> draw_calls(Collective collective, const Groups& groups,
                                       const Allowed& allowed, std::mt19937& random, int count);

// A quick call on one group. The schedule is bound already, or the call binds it.
void expect_works(quadrille_schedule schedule, MPI_Comm comm, unsigned seed = 0);

// Mistakes in one rank's arguments. `kBuffer`: its send buffer, or else its receive buffer, has no address. `kLonger`:
// it gives one element more than all others expect. `kTooLarge`: it gives more bytes than 64 bits can count, in a call
// with counts of 64 bits.
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

class Meaning;  // entries.cc

// A rank's part of a call, with its buffers.
class CollectivePart {
 public:
  CollectivePart(const CollectiveCall& call, int place);
  // Makes this mistake in all calls from now on.
  void mistake(Mistake mistake) { mistake_ = mistake; }
  // Runs the call and returns its code. `entered`: how many ranks have begun this call, for a barrier.
  int run(quadrille_schedule schedule, MPI_Comm comm, int& entered);
  // Makes a persistent call. Then frees its datatypes and overwrites its counts, as MPI allows.
  int make(quadrille_schedule schedule, MPI_Comm comm, quadrille_request* request);
  // Makes a persistent call, starts it that many times with new data, and frees it.
  int run_persistent(quadrille_schedule schedule, MPI_Comm comm, int starts = 1);
  // Writes new data for the next start.
  void fill(unsigned seed);
  // Whether every expected byte has arrived.
  bool is_right();
  // Expects all bytes outside the received blocks to be unchanged. A wrong program may write to the one buffer of a
  // broadcast at the root, too.
  void expect_rest_untouched(const std::string& what, bool is_right = true);

 private:
  // The blocks that the rank sends or receives; without a buffer if they have no meaning.
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
  int64_t asked(int block) const;        // the number of bytes that it must receive
  std::vector<int64_t> results() const;  // of a reduce-scatter: elements, by rank of its own group

  // The root for the entry points.
  int root_argument() const;
  // What the arguments of that function mean at this rank.
  Meaning meaning(qd_function function, const void* from, const void* to) const;
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
  bool is_made_ = false;  // then `request_` is where to make it
  quadrille_request* request_ = nullptr;
  int place_, group_, own_;
  bool is_root_ = false, in_place_ = false, is_leaf_ = false;  // on this rank
  Blocks from_, to_;
  const Element* element_ = nullptr;
  int64_t first_ = 0;  // the first element of the contributions that this rank combines
  std::vector<uint8_t> combined_;
};

}  // namespace quadrille::mpi

#endif  // QUADRILLE_TESTS_MPI_CALLS_H_
