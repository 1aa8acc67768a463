// Linear all-to-all (Fan et al. 2024, section II (d)): Open MPI's linear algorithm.
//
// Idea: every rank exchanges with all others in the order of ranks, and nothing waits for anything. The sum of two
// ranks is the step of their exchange.
//
// Cost: p - 1 exchanges for each rank, all in flight at once. In lock-step there are 2p - 3 steps, in which many ranks
// idle. Precondition: none.
#include "generator/algorithms.h"

namespace quadrille {
namespace {

std::string program(const Choices&) {
  return R"(
algorithm linear for alltoall
port exchange per rank
in_place

copy send[rank] to recv[rank]
for i in 0 .. ranks
  if i != rank
    step rank + i after -1
      receive recv[i] from i
      send send[i] to i
)";
}

std::string proof(const Choices&) {
  return R"(match receive 1
  with send 1 where i = rank
match send 1
  with receive 1 where i = rank
cover
  with receive 1 where i = source
keys i
  from rank + i
  to rank + i + 1
)";
}

}  // namespace

Algorithm linear() {
  return {"linear",
          Collective::kAlltoall,
          "all exchanges at once, in rank order",
          "Fan et al. 2024, section II (d), linear",
          "p - 1 exchanges a rank, all in flight at once; 2p - 3 steps in lock-step",
          "none",
          {},
          program,
          proof};
}

}  // namespace quadrille
