// Blocked ring allgather(v) on nodes of any sizes. In the flat ring a block that a rank of the node owns would come
// back over the network to the node's first rank, in the last rounds (k >= b - blocks of the node). Here the
// previous node's last rank skips it. Messages inside a node travel meanwhile. With one rank on every node it is the
// flat ring.
//
// The last rank L has the block y that the first rank F needs in round k, in time for `after k - b_L`. Either y is L's
// own, or it arrived at L in round k' = s_L - 1 - y, while k = s_F - 1 - y + b. So k - k' = b - (s_L - s_F). That is
// at least b_L, since the blocks of F .. L are at most all blocks.

#include "generator/algorithms.h"
#include "generator/blocked_ring.h"

namespace quadrille {
namespace {

// Ranks right .. far own the blocks that need not be sent to the right. These are the neighbor itself, and, for the
// last rank of a node, all ranks of the next node. max(right, min(i, far)) is i only for these.
std::string program(const Choices&) {
  return R"(
-- blocked-ring over the ranks in the order of nodes. The first rank of a node receives from outside, and the last one sends.
-- A block that a rank of the node owns does not return over the network: the node's own last rank sends it to the first.
-- Use: for long contributions on nodes of several ranks, of any sizes. The preload library compares it with MPI's own from 2 KiB a rank on, on several nodes of which one has several ranks
-- Source: Traeff et al. 2008, blocked ring with virtual ranking
-- Cost: b - 1 rounds of B bytes, for b blocks in all; a node receives each block of other nodes once, and none of its own
algorithm blocked-ring-nodes for allgather
port one+one per node
in_place
)" + block_declarations() +
         R"(
table size = nodes
table base = prefix(size)
copy send[0] to recv[rank]
let a = locate(base, rank)
let first = base[a]
let last = base[a + 1] - 1
let right = wrap(rank + 1, ranks)
let left = wrap(rank - 1, ranks)
let near = rank = first ? last : left
let far = rank = last ? base[locate(base, right) + 1] - 1 : right
let total = s[ranks]
if 1 < ranks
  for k in 0 .. total - 1
)" + blocks_of_round() +
         R"(    step k after k - b[rank]
      if j != rank and ylow < yhigh
        receive recv[j]@ylow..yhigh from first <= j and j <= last ? near : left
      if max(right, min(i, far)) != i and xlow < xhigh
        send recv[i]@xlow..xhigh to right
      if rank = last and total - (s[last + 1] - s[first]) <= k
        let z = s[first] + total - 1 - k
        let o = locate(s, z)
)" + block_bytes("        ", "z", "o") +
         R"(
        if o != first and zlow < zhigh
          send recv[o]@zlow..zhigh to first
)";
}

// Only the first rank of a node receives from outside, and only blocks that no rank of the node owns. No rank receives
// a block twice, so no node does. Send 2, to the first rank of the node, meets receive 1 there from near.
std::string proof(const Choices&) {
  return R"(theorem one_rank_receives_from_outside(u)
  given 1 < ranks and 0 <= u and u < ranks and u != first(u)
  show first(u) <= left(u) and left(u) <= last(u)
theorem own_blocks_stay_inside(u)
  given 1 < ranks and 0 <= u and u < ranks
  show first(u) <= near(u) and near(u) <= last(u)
)" + block_bounds({{"x", "i"}, {"y", "j"}, {"z", "o"}}) +
         block_rounds() +
         R"(define shared(first, last, k)
  as k - (s[ranks] - (s[last] - s[first]))
match send 1
  with receive 1 where k = k
  use monotone(0, x - s[i], B)
match send 2
  with receive 1 where k = k
  use monotone(0, z - s[o], B)
  use monotone(z, y(first, k), B)
  use monotone(y(first, k), z, B)
match receive 1
  use monotone(0, y - s[j], B)
  with send 2 where k = k if first <= j and j <= last and rank = first
  use monotone(y, z(last, k), B)
  use monotone(z(last, k), y, B)
  with send 1 where k = k
held send 1
  with receive 1 where k = k - b[rank]
held send 2
  with receive 1 where k = shared(first, last, k)
  use monotone(z, y(last, shared(first, last, k)), B)
  use monotone(y(last, shared(first, last, k)), z, B)
)" + block_arrivals() +
         R"(keys k
  from k
  to k + 1
port
  inside send 2
)";
}

}  // namespace

Algorithm blocked_ring_nodes() {
  return {"blocked-ring-nodes", Collective::kAllgather, {}, program, proof};
}

}  // namespace quadrille
