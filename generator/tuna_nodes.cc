// TuNA on nodes of any sizes, coalesced and staggered.
//
// Coverage: each node has one server for each rank; a rank of the node is its own server. In the first stage, a
// block from s to d goes from s to d's server on the node of s. In the second stage, if d is on another node, it
// goes from there to d. The numbers of ranks that two ranks of a node serve differ by at most one. If all nodes have
// q ranks, rank j of each node serves rank j of all. A rank of a small node serves several of a large one; a rank of
// a large node serves none of some small ones.
//
// First stage. A block whose server is i below its source, round the node, hops z*radix^x for each digit z of i, at
// place x. All blocks of its source for that server travel with it: those for d with d mod q = `low`, one in each
// window of q ranks. No message of this stage joins two nodes, so nodes of different sizes may have different rounds.
// A node with fewer ranks than the radix sends directly. The rounds of a digit touch different i, and may all be in
// flight together.
//
// Second stage. In round m a node sends to the m-th node after it and receives from the m-th before it, so at any time
// all nodes send to different ones. Coalesced: each server sends one message with the blocks of all its node's ranks,
// so a rank receives one message per node. Staggered: one message per block. Rounds are in batches of block_count
// nodes, staggered ones in batches of block_count messages. Receivers know the lengths, as all blocks are for
// themselves.
//
// Temporary buffer: slot t*q + i, for the block in window t that comes from i above. After the first stage it stays
// there, staged for the second. So no slot is used twice. There are q*ceil(p/q) slots: p if all nodes have q ranks,
// and at most p - 1 + the largest node.

#include "generator/algorithms.h"
#include "generator/programs.h"

namespace quadrille {
namespace {

constexpr const char* kFirstStage = R"(
parameter radix
parameter block_count
table size = nodes
table base = prefix(size)
table pow = powers(radix, ranks)
require 2 <= radix and radix <= max(2, ranks)
require 1 <= block_count
temporary ranks - 1 + size[length(size) - 1] blocks

let a = locate(base, rank)
let mine = size[a]
let home = base[a]
let l = rank - home
copy send[rank] to recv[rank]
for x in 0 .. length(pow) - 1
  let w = pow[x]
  let up = pow[x + 1]
  for z in 1 .. radix
    let h = z*w
    if h < mine
      step h after w - 1
        send sized to home + wrap(l - h, mine)
          for q in 0 .. (mine - 1) div up + 1
            let f = q*up + h
            let low = (rank - f) mod mine
            for i in f .. min(f + w, mine)
              for t in 0 .. (ranks - 1 - low) div mine + 1
                if i = f
                  send[t*mine + low]
                else
                  temp[t*mine + i]
        receive sized from home + wrap(l + h, mine)
          for q in 0 .. (mine - 1) div up + 1
            let f = q*up + h
            let low = (rank - q*up) mod mine
            for i in f .. min(f + w, mine)
              for t in 0 .. (ranks - 1 - low) div mine + 1
                if t*mine + low = rank
                  recv[home + wrap(l + i, mine)]
                else
                  temp[t*mine + i]
for m in 1 .. length(size)
  let b = wrap(a + m, length(size))
  let c = wrap(a - m, length(size))
)";

std::string coalesced() {
  return std::string(R"(
-- Rank j of a node of q ranks serves every rank d with (d - first rank of the node) mod q = j. The ranks of a node first
-- exchange among themselves with tuna, until each has all blocks of the node for the ranks that it serves. Then it sends
-- each of them one message with the blocks of the whole node. The paper asks for nodes of one size; this program does not.
-- Use: for small blocks on nodes of several ranks. --block-count limits how many nodes a rank sends to at a time
-- Source: Fan et al. 2024, section IV, Algorithm 3, there on nodes of one size
-- Cost: on a node of q ranks: tuna on q ranks with up to ceil(p/q) times the blocks, then up to ceil(p/q) messages of q blocks to other nodes
-- Needs: a radix of 2 to p
algorithm tuna-coalesced for alltoall)") +
         kFirstStage + R"(
  step ranks + m after ranks + (m - 1) div block_count*block_count
    receive from base[c] + (rank - base[c]) mod size[c]
      for s in base[c] .. base[c + 1]
        recv[s]
    for d in base[b] .. base[b + 1]
      if (d - rank) mod mine = 0
        send to d
          for s in 0 .. mine
            if s = l
              send[d]
            else
              temp[d - d mod mine + wrap(s - l, mine)]
)";
}

// In its step number s, a round has the blocks of every node's rank s. No step is empty.
std::string staggered() {
  return std::string(R"(
-- tuna-coalesced, with one message for each block between nodes.
-- Use: where one long message between nodes is slower than several short ones
-- Source: Fan et al. 2024, section IV, Algorithm 2, there on nodes of one size
-- Cost: as tuna-coalesced, with q messages of one block for each message of q blocks
-- Needs: a radix of 2 to p
algorithm tuna-staggered for alltoall)") +
         kFirstStage + R"(
  let first = base[b] + (rank - base[b]) mod mine
  let targets = (base[b + 1] - 1 - first) div mine + 1
  for s in 0 .. max(0 < targets ? mine : 0, size[c])
    let number = (m - 1)*size[length(size) - 1] + s
    step ranks + 1 + number after ranks + number div block_count*block_count
      if s < size[c]
        receive recv[base[c] + s] from base[c] + (rank - base[c]) mod size[c]
      if s < mine
        for k in 0 .. targets
          let d = first + k*mine
          if s = l
            send send[d] to d
          else
            send temp[d - d mod mine + wrap(s - l, mine)] to d
)";
}

std::vector<Number> numbers() {
  return {digit_radix(),
          {"block_count", 32, NumberKind::kBatch,
           "the nodes that a rank sends to at a time (tuna-coalesced), or the blocks "
           "(tuna-staggered)"}};
}

}  // namespace

Algorithm tuna_coalesced() {
  return with_written_proof("tuna-coalesced", Collective::kAlltoall, coalesced(), numbers());
}

Algorithm tuna_staggered() {
  return with_written_proof("tuna-staggered", Collective::kAlltoall, staggered(), numbers());
}

}  // namespace quadrille
