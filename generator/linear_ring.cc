// Linear ring allgather(v) (Traeff et al. 2008, "linear ring"; Thakur, Rabenseifner and Gropp 2005, section 4.1).
//
// Idea: in round k, rank i sends block i - k to its right neighbor and receives block i - 1 - k from its left one. So
// each rank forwards the block that it received in the previous round.
//
// Cost: p - 1 rounds, each as long as its largest block. A large block passes through all ranks as a whole;
// blocked-ring avoids that. Precondition: none.
#include "generator/algorithms.h"

namespace quadrille {
namespace {

// A round sends the block that the previous one received, so no two of them overlap.
std::string program(const Choices&) {
  return R"(
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

Algorithm linear_ring() {
  return {"linear-ring",
          Collective::kAllgather,
          "whole blocks go round a ring of ranks",
          "Traeff et al. 2008, linear ring; Thakur, Rabenseifner and Gropp 2005, section 4.1",
          "p - 1 rounds, each as long as its largest block",
          "none",
          {},
          program,
          proof};
}

}  // namespace quadrille
