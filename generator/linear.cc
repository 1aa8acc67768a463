// Linear all-to-all, as Open MPI has it. In lock-step many ranks idle.
#include "generator/algorithms.h"

namespace quadrille {
namespace {

std::string program(const Choices&) {
  return R"(
-- Every rank exchanges with all others in rank order, and no exchange waits for another. Both ends of an exchange compute
-- its step from the sum of their ranks.
-- Use: on one node, or as the baseline that Open MPI calls linear. On many ranks its messages compete for the network
-- Source: Fan et al. 2024, section II (d), linear
-- Cost: p - 1 exchanges a rank, all in flight at once; 2p - 3 steps in lock-step
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

Algorithm linear() { return {"linear", Collective::kAlltoall, {}, program, proof}; }

}  // namespace quadrille
