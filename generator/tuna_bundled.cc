// TuNA with one message from each node to each other one, and several leaders a node. Small blocks cost messages,
// not bytes. A leader sends what all ranks of its node have for all ranks of the other one.
//
// First stage. Inside the node, a block for another node goes to the leader, and a block for the node itself to its
// target. A block whose destination is i below its source, round the node, hops z*radix^x for each digit z of i, at place
// x. So all blocks of one source for one leader travel together, from and to the same slots as in tuna_nodes.cc.
//
// Second stage. In round m nodes a and m - a exchange, so a node has one partner in a round. A leader's rounds wait
// only for the first stage, so several leaders may exchange at once. Blocks that arrive take the slots of sent ones.
//
// Third stage. The blocks hop from the leader to their targets in the same way. A message exists only if it may carry
// blocks of a rank that leads towards some node. It may still have no blocks, because a leader may lead towards its
// own node alone.
//
// A leader stores a block for each pair of ranks of two nodes, so a node has at most 4096 ranks.
//
// Temporary buffer: slot row*q + i for a block that has to go i ranks down, where each other node has one row for each of
// its ranks. Nodes with one leader have different rows: node b begins at row base[b] div q + 1, and the next node of
// the
// same leader is at least q nodes further. Row 0 has blocks for the node itself.
#include "generator/algorithms.h"
#include "generator/programs.h"

namespace quadrille {
namespace {

constexpr const char* kProgram = R"(
-- All blocks from one node to another travel in one message. On a node of q ranks, local rank b mod q leads towards node b.
-- The ranks of the node first send this leader their blocks for node b, with the hops of tuna. The leader exchanges one
-- message with node b's leader towards its own node. Then the blocks that arrived hop to their targets. So a node sends and
-- receives several messages at a time, and few in all.
-- Use: for blocks of a few bytes on many nodes, or on nodes of many ranks. Each block is copied often: longer ones go faster by tuna-coalesced
-- Source: Kinkead et al. 2025; inside nodes Fan et al. 2024, section III, Algorithm 1
-- Cost: on each of N nodes of q ranks: twice the messages of tuna on q ranks, then up to ceil(N/q) messages of q*q blocks to other nodes
-- Needs: at most 4096 ranks on a node
algorithm tuna-bundled for alltoall
parameter radix
table size = nodes
table base = prefix(size)
table pow = powers(radix, ranks)
require 2 <= radix and radix <= max(2, ranks)
require size[length(size) - 1] <= 4096
temporary ranks + size[length(size) - 1] + (1 < length(size) ? size[length(size) - 2]*size[length(size) - 1] : 0) blocks

let n = length(size)
let longest = size[n - 1]
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
            let leader = (l - f) mod mine
            for i in f .. min(f + w, mine)
              for b in 0 .. n
                let first = b = a ? home + leader : base[b]
                for d in first .. (b = a ? first + 1 : b mod mine = leader ? base[b + 1] : first)
                  if i = f
                    send[d]
                  else
                    temp[b = a ? i : (base[b] div mine + 1 + d - base[b])*mine + i]
        receive sized from home + wrap(l + h, mine)
          for q in 0 .. (mine - 1) div up + 1
            let f = q*up + h
            let leader = (l - q*up) mod mine
            for i in f .. min(f + w, mine)
              for b in 0 .. n
                let first = b = a ? home + leader : base[b]
                for d in first .. (b = a ? first + 1 : b mod mine = leader ? base[b + 1] : first)
                  if d = rank
                    recv[home + wrap(l + i, mine)]
                  else
                    temp[b = a ? i : (base[b] div mine + 1 + d - base[b])*mine + i]
for m in 0 .. n
  let b = wrap(m - a, n)
  if b != a and b mod mine = l
    step longest + m after longest - 1
      send sized to base[b] + a mod size[b]
        for s in 0 .. mine
          for d in base[b] .. base[b + 1]
            if s = l
              send[d]
            else
              temp[(base[b] div mine + 1 + d - base[b])*mine + wrap(s - l, mine)]
      receive sized from base[b] + a mod size[b]
        for s in base[b] .. base[b + 1]
          for t in 0 .. mine
            if t = l
              recv[s]
            else
              temp[(base[b] div mine + 1 + s - base[b])*mine + wrap(l - t, mine)]
for x in 0 .. length(pow) - 1
  let w = pow[x]
  let up = pow[x + 1]
  for z in 1 .. radix
    let h = z*w
    if h < mine
      let above = wrap(l + h, mine)
      step longest + n + h after longest + n + w - 1
        if min(l - n, mine - l - min(w, mine - h)) < 0
          send sized to home + wrap(l - h, mine)
            for q in 0 .. (mine - 1) div up + 1
              let f = q*up + h
              for i in f .. min(f + w, mine)
                let leader = (l + i - f) mod mine
                for b in 0 .. n
                  for s in base[b] .. (b != a and b mod mine = leader ? base[b + 1] : base[b])
                    temp[(base[b] div mine + 1 + s - base[b])*mine + i]
        if min(above - n, mine - above - min(w, mine - h)) < 0
          receive sized from home + above
            for q in 0 .. (mine - 1) div up + 1
              let f = q*up + h
              for i in f .. min(f + w, mine)
                let leader = (l + i - q*up) mod mine
                for b in 0 .. n
                  for s in base[b] .. (b != a and b mod mine = leader ? base[b + 1] : base[b])
                    if q = 0
                      recv[s]
                    else
                      temp[(base[b] div mine + 1 + s - base[b])*mine + i]
)";

}  // namespace

Algorithm tuna_bundled() {
  return with_written_proof("tuna-bundled", Collective::kAlltoall, kProgram, {digit_radix()});
}

}  // namespace quadrille
