// Hierarchical all-to-all by permutations of nodes, with k ports a node. In a phase of hierarchical.cc, the messages
// of two nodes are between a rank x in D .. C-1 of the lesser node and any rank y of the greater one, and take the
// step (x, y) of the round. A node with k ports works on k rounds at once: a batch. Round 0, inside nodes, needs no
// port and rides along in the first batch.
//
// Cost: in the model of hierarchical.cc a node's time is what it sends and what it receives. The largest node has
// both in each step. So all nodes together take as long as its own work takes.
#include "generator/algorithms.h"
#include "generator/programs.h"

namespace quadrille {
namespace {

constexpr const char* kProgram = R"(
-- The phases of hierarchical-factor, with directed cycles of nodes in place of pairs. In round i a node sends to the i-th
-- node after it and receives from the i-th before it. So it has one message to send and one to receive at a time. With k
-- ports it works on k rounds at once. All nodes send inside in the first batch, so that no node waits for work inside another.
-- Use: for long blocks on nodes of unequal sizes, where a node sends and receives k messages at a time (--ports)
-- Source: Sanders and Traeff 2002, end of section 3
-- Cost: with one port up to n*(p - m) steps, for n ranks on the largest node and m on the next; with k ports about 1/k of them
-- Needs: at least one port
algorithm hierarchical-permutation for alltoall
parameter ports
port ports+ports per node
table size = nodes
table base = prefix(size)
table done = distinct(size)
require 1 <= ports

let longest = size[length(size) - 1]
let a = locate(base, rank)
let l = rank - base[a]
copy send[rank] to recv[rank]
for phase in 0 .. length(done) - 1
  let D = done[phase]
  let C = done[phase + 1]
  let f = locate(size, D) + 1
  if f <= a
    let n = length(size) - f
    for batch in 0 .. max(1, (n - 2) div ports + 1)
      let t = longest*(base[f] + n*D + batch*(C - D))
      for x in D .. C
        for y in (x = l ? 0 : l) .. (x = l ? longest : l + 1)
          step t + (x - D)*longest + y after -1
            for round in (0 < batch ? batch*ports + 1 : 0) .. min(batch*ports + ports + 1, n)
              let b = f + wrap(a - f + round, n)
              let c = f + wrap(a - f - round, n)
              let target = base[b] + (a <= b ? y : x)
              let source = base[c] + (a < c ? y : x)
              if 0 < (source = rank ? 0 : a < c ? (x = l and y < size[c] ? 1 : 0) : y = l ? 1 : 0)
                receive recv[source] from source
              if 0 < (target = rank ? 0 : a <= b ? (x = l and y < size[b] ? 1 : 0) : y = l ? 1 : 0)
                send send[target] to target
)";

}  // namespace

Algorithm hierarchical_permutation() {
  return with_written_proof("hierarchical-permutation", Collective::kAlltoall, kProgram,
                            {{"ports", 1, NumberKind::kLanes,
                              "how many nodes a node sends to at a time, and receives from"}});
}

}  // namespace quadrille
