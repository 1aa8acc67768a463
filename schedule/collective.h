// The collectives as pre- and postconditions over blocks (MPI 4.0, chapter 6).
//
// Before: block b of rank r's send buffer holds r's contribution (r, b); every other block holds
// nothing. After: block b of the receive buffer holds required(...), a sequence of contributions:
// one for data that was moved, several, in the order in which the operator is applied, for a
// reduction. Nothing else is asked, and nothing else may be left in a receive buffer. A barrier moves no
// blocks: of it is asked that no rank ends before it has heard, directly or through others, of every rank of
// all groups that it has begun.
#ifndef QUADRILLE_SCHEDULE_COLLECTIVE_H_
#define QUADRILLE_SCHEDULE_COLLECTIVE_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quadrille {

// Strong integer names, so that a rank is never passed for a node, nor a step key for a block. Expressions are evaluated
// in plain 64-bit integers; these types stand at every boundary.
template <class Tag>
struct Id {
  int64_t value = 0;
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

using Rank = Id<struct RankTag>;    // of a process, within its group, node by node
using Node = Id<struct NodeTag>;    // in ascending order of size
using Block = Id<struct BlockTag>;  // index within a buffer
using Key = Id<struct KeyTag>;      // of a step; strictly increasing at a rank

// The numbers are part of the file format (runtime/program/table_format.h).
enum class Collective : uint8_t {
  kAlltoall = 0,
  kAllgather = 1,
  kBroadcast = 2,
  kGather = 3,
  kScatter = 4,
  kReduce = 5,
  kAllreduce = 6,
  kReduceScatter = 7,
  kScan = 8,
  kExscan = 9,
  kBarrier = 10,
};
inline constexpr int kCollectiveCount = 11;

enum class Buffer : uint8_t { kSend = 0, kReceive = 1, kTemporary = 2 };

// One rank's view of the communicator. On an intercommunicator (groups == 2) blocks are indexed by
// ranks of the remote group, and the root is in group 0.
struct Place {
  int64_t ranks = 1;         // of this rank's group
  int64_t remote_ranks = 0;  // of the other group; 0 on an intracommunicator
  int64_t group = 0;         // 0 or 1
  int64_t rank = 0;
  int64_t root = 0;

  bool intercommunicator() const { return remote_ranks > 0; }
  int64_t peers() const { return intercommunicator() ? remote_ranks : ranks; }
};

struct Contribution {
  int64_t group;
  int64_t rank;
  int64_t block;
  friend auto operator<=>(const Contribution&, const Contribution&) = default;
};

std::string_view name_of(Collective collective);
std::optional<Collective> collective_named(std::string_view name);
// "an allgather", in a sentence.
std::string in_words(Collective collective);
// "alltoall", "alltoall between groups": what a program for so many groups is for.
std::string purpose_of(Collective collective, int groups);

// True where data is combined by an operator; ranges then count elements, else bytes.
bool reduces(Collective collective);
// True where one rank plays a part of its own.
bool rooted(Collective collective);
// True where what the root sends is the buffer in which others receive: of a broadcast on one group.
bool has_one_buffer(Collective collective, int groups);
// Between groups, a rank beside the root (MPI_PROC_NULL is its root): it does not know who that is, and does
// nothing.
bool is_bystander(Collective collective, const Place& place);

// True where the length of a block is known to the two ranks alone that it goes between, so that what others
// carry has to be `sized`; of all other collectives every rank knows all lengths.
bool only_ends_know_lengths(Collective collective);

// True where all ranks, of both groups, give one count.
bool has_one_count(Collective collective);

// False of what MPI has on one group only.
bool exists_between_groups(Collective collective);

// How many blocks the buffer has at this rank; the temporary buffer's are the program's to say.
int64_t block_count(Collective collective, Buffer buffer, const Place& place);

// Ranks first, first + 1, ... of a group, that contribute to a block.
struct Contributors {
  int64_t group, first, count, block;
};

// Whose contributions receive block `block` holds at the end; of no rank where nothing is asked.
Contributors contributors(Collective collective, const Place& place, Block block);
// These contributions.
std::vector<Contribution> required(Collective collective, const Place& place, Block block);

// Whose count is the length of that block: counts[index], of the remote group where `remote`.
struct LengthSource {
  bool remote;
  int64_t index;
};
LengthSource length_source(Collective collective, Buffer buffer, const Place& place, Block block);

}  // namespace quadrille

#endif  // QUADRILLE_SCHEDULE_COLLECTIVE_H_
