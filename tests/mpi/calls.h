// Calls of any collective, on one group or two: a rank's arguments, and the expected value of every byte. The values
// follow from MPI's definition of the collective, without any schedule.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "runtime/execute/significance.h"
#include "runtime/quadrille.h"
#include "schedule/collective.h"
#include "tests/mpi/buffer.h"

namespace quadrille::mpi {

// The ranks that take part. A place numbers the ranks of the first group, then those of the second.
struct Groups {
  int ranks = 1, remote = 0;
  int all() const { return ranks + remote; }
  int group_of(int place) const { return place >= ranks; }
  int first(int group) const { return group == 0 ? 0 : ranks; }
  int size(int group) const { return group == 0 ? ranks : remote; }
  // Returns the group that this group receives from and sends to.
  int peers_of(int group) const { return remote > 0 ? 1 - group : group; }
};

// How long the blocks are. `kFirst`: mostly place 0 sends bytes. `kOneWay`: only lower places send to higher ones.
// `kLone`: only one place sends bytes, to one other. `kSpared`: one place sends nothing and one receives nothing.
// `kEdge`: blocks just fit into a message with their lengths, or just do not.
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

// A value of `layout`: blocks are at the same places whatever their lengths. They must be short.
inline constexpr unsigned kFixedPlaces = 1000;

// Added to `types`, it gives a unit as many elements in all datatypes. Some functions of Open MPI need that.
inline constexpr unsigned kUnitsAreElements = 1200;

// A collective call. Its members are equal on all ranks.
struct CollectiveCall {
  Collective collective = Collective::kBarrier;
  Groups groups;
  LengthKind lengths = LengthKind::kEqual;
  unsigned length_seed = 0;
  int form = 0;  // 0: blocks of one length; 1 or 2: counts of 32 or 64 bits
  int root = 0;  // its place
  bool in_place = false;
  unsigned types = 0;  // draws the datatypes, or the elements of a reduction
  unsigned layout =
      0;  // draws where blocks are; in an all-to-all also whether each block has its own type
  unsigned seed = 0;  // draws the data
  int narrow = -1;  // this place expects another length than the place after sends: `narrow_units`
  int narrow_units = 0;
  std::string text() const;
};

// The calls that a schedule allows.
struct Allowed {
  bool commutative = false;    // operators must commute
  bool equal_counts = false;   // all ranks of a group give equal counts
  bool is_large_rare = false;  // long blocks take many steps, so they are rare
};

// Returns the counts of the call by group and rank, as a program's tables have them. They are empty for a barrier,
// and if only the two ends of a message know its length.
std::vector<std::vector<int64_t>> counts_of(const CollectiveCall& call);
// Returns the bytes that go from one place to another. `target` is ignored if all ranks get the same data.
int64_t bytes_between(const CollectiveCall& call, int source, int target);
// Returns whether each block of the call, an all-to-all, has its own datatype.
bool has_types_of_their_own(const CollectiveCall& call);
// Returns whether MPI allows the collective in place.
bool can_be_in_place(Collective collective, const Groups& groups);

// Returns one call of each of MPI's functions, with blocks of one unit. Both MPI libraries are wrong if there is one rank
// and its block is not at the buffer's begin, so there it is.
std::vector<CollectiveCall> each_function(const Groups& groups);

// Draws consecutive calls. Some differ from the call before in everything, others in one thing.
std::vector<CollectiveCall> draw_calls(Collective collective, const Groups& groups,
                                       const Allowed& allowed, std::mt19937& random, int count);

// Makes a call, and expects no error, every byte, and no others.
void expect_right(const CollectiveCall& call, int place, quadrille_schedule schedule, MPI_Comm comm,
                  int& entered, const std::string& what);

// A communicator, and this rank's place in its groups.
struct Member {
  MPI_Comm comm;
  Groups groups;
  int place;
};
Member of_one_group(MPI_Comm comm);
// The same by MPI's own function.
void expect_right(const CollectiveCall& call, const Member& at, const std::string& what);

// Runs one quick call on one group, and expects the right result. The call binds the schedule if it is not bound.
void expect_works(quadrille_schedule schedule, MPI_Comm comm, unsigned seed = 0);

// Mistakes in one rank's arguments. `kBuffer`: the send buffer has a null address, or the receive buffer if there is
// no other. `kLonger`: the rank gives one element more than the others expect. `kTooLarge`: it gives more bytes than
// 64 bits can count, in a call with counts of 64 bits.
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

class Meaning;  // see entries.cc

// One rank's part of a call, with its buffers.
class CollectivePart {
 public:
  CollectivePart(const CollectiveCall& call, int place);
  // All later calls make this mistake.
  void mistake(Mistake mistake) { mistake_ = mistake; }
  // Runs the call and returns its error code. A barrier checks `entered`, the number of ranks that have begun it. Without
  // a schedule, the call is MPI's own.
  int run(quadrille_schedule schedule, MPI_Comm comm, int& entered);
  // Makes a persistent call. It frees its datatypes and overwrites its counts at once, as MPI allows.
  int make(quadrille_schedule schedule, MPI_Comm comm, quadrille_request* request);
  // Makes a persistent call, starts it `starts` times with new data, and frees it. Returns the first error code.
  int run_persistent(quadrille_schedule schedule, MPI_Comm comm, int starts = 1);
  // Writes new data for the next start.
  void fill(unsigned seed);
  // Returns whether every expected byte has arrived.
  bool is_right();
  // Expects that no byte outside the received blocks has changed. A wrong program may also write to the root's one
  // buffer of a broadcast: pass is_right = false.
  void expect_rest_untouched(const std::string& what, bool is_right = true);

 private:
  // The blocks that the rank sends or receives. They have no buffer if the call ignores it.
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
  Contents sent(int block) const;
  void combine_all();
  Contents moved(int block) const;       // to this rank, not in a reduction
  int64_t asked(int block) const;        // number of bytes that the rank must receive
  std::vector<int64_t> results() const;  // elements that each rank gets from a reduce-scatter

  // Returns the root as this rank passes it to MPI.
  int root_argument() const;
  // Tells which arguments of the function are significant at this rank.
  Meaning meaning(qd_function function, const void* from, const void* to) const;
  void* address_of(Blocks& blocks);
  int64_t mistaken(int64_t count) const;
  int64_t count_of(const Blocks& blocks) const;
  bool is_plain() const { return schedule_ == QUADRILLE_SCHEDULE_NULL; }
  template <typename... Arguments>
  int call(auto own, auto now, auto init, const Arguments&... arguments);
  int run_bcast();
  int run_moving(qd_function function);
  int run_alltoall();
  int run_reduce_scatter();
  int run_combining();
  int run_any();

  CollectiveCall call_;
  Mistake mistake_ = Mistake::kNone;
  quadrille_schedule schedule_ = QUADRILLE_SCHEDULE_NULL;
  MPI_Comm comm_ = MPI_COMM_NULL;
  bool is_made_ = false;  // whether to make a persistent call, in `request_`
  quadrille_request* request_ = nullptr;
  int place_, group_, own_;
  bool is_root_ = false, in_place_ = false, is_leaf_ = false;  // of this rank
  Blocks from_, to_;
  const Element* element_ = nullptr;
  int64_t first_ = 0;  // index of the first element that this rank gets of the reduction
  std::vector<uint8_t> combined_;
};

}  // namespace quadrille::mpi
