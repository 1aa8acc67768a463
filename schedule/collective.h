// The collectives as pre- and postconditions over blocks (MPI 4.0, chapter 6).
//
// Before: block b of rank r's send buffer holds r's contribution (r, b), and every other block is empty. After: block
// b of the receive buffer holds required(...), a sequence of contributions. It is one contribution for data that was
// moved. In a reduction it is several, in the order in which the operator is applied. A receive buffer may hold
// nothing else. A barrier moves no blocks: no rank may leave it before every rank of all groups has entered it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quadrille {

// Strong integer types, so that a rank is never passed for a node, nor a step key for a block. Expressions are
// evaluated in plain 64-bit integers; these types stand at every boundary.
template <class Tag>
struct Id {
  int64_t value = 0;
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

using Rank = Id<struct RankTag>;    // of a process, within its group, in the order of nodes
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
// Returns the name with its article, as in "an allgather".
std::string in_words(Collective collective);
// Returns the purpose of a program with that many groups: "alltoall", or "alltoall between groups".
std::string purpose_of(Collective collective, int groups);

// True if an operator combines data. Ranges then count elements, else bytes.
bool reduces(Collective collective);
// True if one rank is the root.
bool rooted(Collective collective);
// True if the root sends from the buffer that the others receive into: a broadcast on one group.
bool has_one_buffer(Collective collective, int groups);
// True if the rank belongs to the root's group of an intercommunicator but is not the root. Its root argument is
// MPI_PROC_NULL, so it does not know the root, and it does nothing.
bool is_bystander(Collective collective, const Place& place);

// True if only the source and the target of a block know its length. Messages that forward it must then be `sized`.
// In all other collectives every rank knows all lengths.
bool only_ends_know_lengths(Collective collective);

// True if all ranks, of both groups, give the same count.
bool has_one_count(Collective collective);

// True if MPI has a form of the collective whose blocks differ in length: the v form, or a reduce-scatter.
bool blocks_may_differ(Collective collective);

// True if a block size cuts the vector of one rank into blocks: a broadcast, a reduce or a scan.
bool has_one_contribution(Collective collective);
// True if blocks may pass over trees: a broadcast, a reduce, an allgather or a reduce-scatter.
bool may_pass_over_trees(Collective collective);

// False if MPI has the collective on one group only.
bool exists_between_groups(Collective collective);

// Returns the number of blocks of the send or receive buffer at this rank. The program declares temporary blocks.
int64_t block_count(Collective collective, Buffer buffer, const Place& place);

// `count` ranks of a group, from `first` on. Each contributes block `block` of its send buffer.
struct Contributors {
  int64_t group, first, count, block;
};

// Returns the ranks whose contributions receive block `block` holds at the end. None (count 0) if it is not required.
Contributors contributors(Collective collective, const Place& place, Block block);
// Returns the contributions of these ranks, one by one.
std::vector<Contribution> required(Collective collective, const Place& place, Block block);

// The length of a block is counts[index]. These are the counts of the remote group if `remote` is set.
struct LengthSource {
  bool remote;
  int64_t index;
};
LengthSource length_source(Collective collective, Buffer buffer, const Place& place, Block block);

}  // namespace quadrille
