// Our own all-to-all on nodes of any sizes, which overlaps the exchanges inside nodes with those between nodes. If
// blocks travel first and then spread in their node, the network idles afterwards. If they are gathered first, as in the
// paper, it idles meanwhile. Here both exchanges inside the node are over before the network is idle.
//
// Coverage: on a node of q ranks from `home` on, rank home + j serves every rank r, of this node or of another, with
// (r - home) mod q = j. A rank is the server of itself (tuna_nodes.cc). Let d be on the m-th node after that of s. If
// 0 < m <= early, the block from s to d goes to the server of s on the node of d, and from there to d. If early < m,
// it goes to d's server on the node of s, and from there to d. Inside a node it goes directly, with the data that its
// target gathers.
//
// Steps: the exchange that gathers waits for nothing. Then there is one step per node, and at any time nodes send to
// different nodes. The first `early` of these wait for nothing, the others for the exchange. Then an exchange spreads
// the blocks of each early node, as soon as they are there. A message between nodes carries the blocks of one rank for
// all ranks of a node, or of all ranks of a node for one. So a rank sends each node at most ceil(q/q') messages of q
// blocks, or one of q'. Inside the node a message has about p/q blocks, and one that spreads at most ceil(q'/q).
//
// Temporary buffer: two halves. Each has one slot for each pair of a rank that this one serves and another rank of
// its node: slot r - r mod q + j for rank r and the j-th rank of the node. So no slot is used twice.
#include "generator/algorithms.h"
#include "generator/programs.h"

namespace quadrille {
namespace {

constexpr const char* kProgram = R"(
-- tuna-coalesced gathers inside a node first, and the network idles meanwhile. Here the blocks for the next --early nodes
-- travel first and are spread inside those nodes last. The blocks for all other nodes are gathered first and travel last. So
-- the exchanges inside nodes overlap with the messages between them.
-- Use: for blocks of middle size on nodes of several ranks
-- Source: ours: the stages of Fan et al. 2024, section IV, in both orders at once
-- Cost: q - 1 messages inside a node of q ranks, and as many for each early node; each block crosses the network once
algorithm hierarchical-overlapped for alltoall
parameter early
table size = nodes
table base = prefix(size)
require 0 <= early
temporary 2*(ranks - 1 + size[length(size) - 1]) blocks

let part = ranks - 1 + size[length(size) - 1]
let a = locate(base, rank)
let mine = size[a]
let home = base[a]
let l = rank - home
let late = min(early, length(size) - 1) + 1
copy send[rank] to recv[rank]
for h in 1 .. mine
  let up = home + wrap(l + h, mine)
  let down = wrap(l - h, mine)
  step h after -1
    send sized to up
      send[up]
      for m in late .. length(size)
        let b = wrap(a + m, length(size))
        let first = base[b] + (up - base[b]) mod mine
        for k in 0 .. (base[b + 1] - 1 - first) div mine + 1
          send[first + k*mine]
    receive sized from home + down
      recv[home + down]
      for m in late .. length(size)
        let b = wrap(a + m, length(size))
        let first = base[b] + (rank - base[b]) mod mine
        for k in 0 .. (base[b + 1] - 1 - first) div mine + 1
          temp[first + k*mine - rank mod mine + down]
for e in 1 .. late
  let b = wrap(a + e, length(size))
  let c = wrap(a - e, length(size))
  step ranks + e after -1
    for s in base[c] .. base[c + 1]
      if (s - rank) mod mine = 0
        receive sized from s
          for j in 0 .. mine
            if j = l
              recv[s]
            else
              temp[part + s - s mod mine + j]
    send sized to base[b] + (rank - base[b]) mod size[b]
      for d in base[b] .. base[b + 1]
        send[d]
for m in late .. length(size)
  let b = wrap(a + m, length(size))
  let c = wrap(a - m, length(size))
  step ranks + m after ranks - 1
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
              temp[d - d mod mine + s]
for f in 1 .. late
  let c = wrap(a - f, length(size))
  for i in 1 .. mine
    let up = wrap(l + i, mine)
    let down = home + wrap(l - i, mine)
    let own = base[c] + (rank - base[c]) mod mine
    let theirs = base[c] + (down - base[c]) mod mine
    step f*ranks + ranks + length(size) + i after ranks + f
      if own < base[c + 1]
        send to home + up
          for k in 0 .. (base[c + 1] - 1 - own) div mine + 1
            temp[part + own + k*mine - rank mod mine + up]
      if theirs < base[c + 1]
        receive from down
          for k in 0 .. (base[c + 1] - 1 - theirs) div mine + 1
            recv[theirs + k*mine]
)";

}  // namespace

Algorithm hierarchical_overlapped() {
  return with_written_proof("hierarchical-overlapped", Collective::kAlltoall, kProgram,
                            {{"early", 1, NumberKind::kNodes,
                              "the number of nodes whose blocks travel first and are spread there; "
                              "blocks for other nodes are gathered first"}});
}

}  // namespace quadrille
