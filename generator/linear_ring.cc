// Linear ring allgather(v). In round k, rank i receives block i - 1 - k from its left neighbor.
#include "generator/algorithms.h"

namespace quadrille {
namespace {

// A round sends the block that the previous round received, so rounds do not overlap.
std::string program(const Choices&) {
  return R"(
-- In round k every rank sends to its right neighbour the block that came from k places to its left.
-- Use: for long contributions of equal length. One long contribution among short ones moves round the whole ring in one piece: take blocked-ring then
-- Source: Traeff et al. 2008, linear ring; Thakur, Rabenseifner and Gropp 2005, section 4.1
-- Cost: p - 1 rounds, each as long as its largest block
algorithm linear-ring for allgather
port one+one per rank
in_place
table m = counts

copy send[0] to recv[rank]
let right = wrap(rank + 1, ranks)
let left = wrap(rank - 1, ranks)
for k in 0 .. ranks - 1
  let x = wrap(rank - k, ranks)
  let y = wrap(rank - 1 - k, ranks)
  step k
    if 0 < m[y]
      receive recv[y] from left
    if 0 < m[x]
      send recv[x] to right
)";
}

std::string proof(const Choices&) {
  return R"(match send 1
  with receive 1 where k = k
match receive 1
  with send 1 where k = k
held send 1
  with receive 1 where k = k - 1
cover
  with receive 1 where k = wrap(target - 1 - source, ranks)
keys k
  from k
  to k + 1
)";
}

}  // namespace

Algorithm linear_ring() { return {"linear-ring", Collective::kAllgather, {}, program, proof}; }

}  // namespace quadrille
