// `generate alltoall --algorithm optimal`: an all-to-all in the least time for one topology (verifier/prove/coloring.h). No
// program serves all topologies, so it is not in the registry. `check` tests each schedule, and its time.
#ifndef QUADRILLE_GENERATOR_OPTIMAL_H_
#define QUADRILLE_GENERATOR_OPTIMAL_H_

#include "schedule/program.h"
#include "schedule/result.h"
#include "schedule/topology.h"

namespace quadrille {

inline constexpr const char* kOptimal = "optimal";

// What `list` says of it.
inline constexpr const char* kOptimalSummary =
    "for given nodes, exchanges in the least time: Z3 colors them so that each node always works";
inline constexpr const char* kOptimalCost =
    "the lower bound of check, where an exchange of nodes takes 2 and a send inside takes 1";
inline constexpr const char* kOptimalNeeds = "up to 8 nodes";
inline constexpr const char* kOptimalSource =
    "ours: Sanders and Traeff 2002, section 3, with the edge coloring that is best for the nodes";
inline constexpr const char* kOptimalProven =
    "no program for all sizes; check tests each schedule, and that its time is the least";
inline constexpr const char* kOptimalAnyNodes = "no, it is made for given nodes";

Result<Program> optimal_program(const Topology& topology);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_OPTIMAL_H_
