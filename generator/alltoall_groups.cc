// All-to-alls between groups (MPI 4.0, section 6.8; Silva and Silva 1999).
//
// Idea: every rank exchanges its blocks with every rank of the other group, all in one step: whoever posts
// all its ends of an exchange at once waits for nobody's order. Cost: as many messages a rank as the other
// group has ranks, each block once. Precondition: none. Tested by what runs over the registry, and by
// tests/prove/programs.
#include "generator/algorithms.h"

namespace quadrille {
namespace {

std::string direct_program(const Choices&) {
  return R"(algorithm direct for alltoall between groups

step 0
  for j in 0 .. remote_ranks
    receive recv[j] from remote j
    send send[j] to remote j
)";
}

std::string direct_proof(const Choices&) {
  return R"(match receive 1
  with send 1 where j = rank
match send 1
  with receive 1 where j = rank
cover
  with receive 1 where j = source
)";
}

}  // namespace

Algorithm direct_alltoall_groups() {
  return {"direct",
          Collective::kAlltoall,
          "every rank exchanges with every rank of the other group, all at once",
          "Silva and Silva 1999",
          "none",
          {},
          direct_program,
          direct_proof,
          {},
          2};
}

}  // namespace quadrille
