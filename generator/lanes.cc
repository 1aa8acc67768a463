// Allreduce on nodes of any sizes, over several lanes. Each lane has a part of the vector, and each node a segment of
// each part. Four exchanges follow one another, each with one message from a rank to another. So no message waits for
// more than three others, and several ranks of a node use the network at once.
//
// Why this is right: lane j has segments j*n .. (j + 1)*n of all, for n nodes. Contributions are kept in temporary
// blocks, at their place in the vector, and combined in the order of ranks, then of nodes. Operators need not
// commute.
#include "generator/algorithms.h"
#include "generator/programs.h"

namespace quadrille {
namespace {

constexpr const char* kProgram = R"(
-- Rank j of each node is lane j. The ranks of a node send part j of the vector to lane j, which combines them. The ranks of
-- a lane send each other a segment of their part, combine, and send the sums back. At last each lane sends its part to all
-- ranks of its node. All messages of an exchange are in flight at once. The order of ranks is kept if they are numbered node
-- by node, smaller nodes first. Otherwise calls refuse operators that do not commute.
-- Use: for short and middle vectors on few nodes, of any sizes, and where one rank alone cannot fill the network. For long vectors on many nodes take ring-nodes. --lanes is 4 by default, and never more than the ranks of the smallest node
-- Source: Traeff and Hunold 2020, full-lane allreduce, there on nodes of one size
-- Cost: 2(q - 1) messages inside a node of q ranks and 2(N - 1) between N nodes, in four steps; 2(N - 1)/N of the vector enters a node, the least possible
algorithm lanes for allreduce
parameter lanes
table m = counts
table size = nodes
table base = prefix(size)
table st[k in 0 .. min(lanes, size[0])*length(size) + 1] = k*(m[0] div (min(lanes, size[0])*length(size))) + min(k, m[0] mod (min(lanes, size[0])*length(size)))
require 1 <= lanes
temporary ranks blocks

let cut = min(lanes, size[0])
let n = length(size)
let a = locate(base, rank)
let mine = size[a]
let v = rank - base[a]
let low = v < cut ? st[v*n] : 0
let high = v < cut ? st[v*n + n] : 0
for t in 1 .. mine
  let up = wrap(v + t, mine)
  let down = wrap(v - t, mine)
  step t after -1
    if low < high
      receive temp[down]@low..high from base[a] + down
    if up < cut
      if st[up*n] < st[up*n + n]
        send send[0]@st[up*n]..st[up*n + n] to base[a] + up
if low < high
  copy send[0]@low..high to recv[0]@low..high
  for s in 0 .. v
    reduce left temp[v - 1 - s]@low..high into recv[0]@low..high
  for i in v + 1 .. mine
    reduce right temp[i]@low..high into recv[0]@low..high
if v < cut
  let x = st[v*n + a]
  let y = st[v*n + a + 1]
  for u in 1 .. n
    let b = wrap(a + u, n)
    let c = wrap(a - u, n)
    step ranks + u after ranks
      if x < y
        receive temp[c]@x..y from base[c] + v
      if st[v*n + b] < st[v*n + b + 1]
        send recv[0]@st[v*n + b]..st[v*n + b + 1] to base[b] + v
  if x < y
    for s in 0 .. a
      reduce left temp[a - 1 - s]@x..y into recv[0]@x..y
    for i in a + 1 .. n
      reduce right temp[i]@x..y into recv[0]@x..y
  for w in 1 .. n
    let d = wrap(a + w, n)
    let e = wrap(a - w, n)
    step 2*ranks + w after 2*ranks
      if st[v*n + e] < st[v*n + e + 1]
        receive recv[0]@st[v*n + e]..st[v*n + e + 1] from base[e] + v
      if x < y
        send recv[0]@x..y to base[d] + v
for z in 1 .. mine
  let right = wrap(v + z, mine)
  let left = wrap(v - z, mine)
  step 3*ranks + z after 3*ranks
    if left < cut
      if st[left*n] < st[left*n + n]
        receive recv[0]@st[left*n]..st[left*n + n] from base[a] + left
    if low < high
      send recv[0]@low..high to base[a] + right
)";

}  // namespace

Algorithm lanes() {
  return with_written_proof(
      "lanes", Collective::kAllreduce, kProgram,
      {{"lanes", 4, NumberKind::kLanes,
        "the ranks of a node that exchange with other nodes, at most those of the smallest node"}});
}

}  // namespace quadrille
