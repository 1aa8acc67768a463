// `generate alltoall --algorithm optimal`: an all-to-all in the least time for one topology (verifier/prove/coloring.h). No
// program serves all topologies, so it is not in the registry. `check` tests each schedule, and its time.
#pragma once

#include "schedule/program.h"
#include "schedule/result.h"
#include "schedule/topology.h"

namespace quadrille {

inline constexpr const char* kOptimal = "optimal";

// What `list` says of `optimal`, in the form of a program's opening comment.
inline constexpr const char* kOptimalOpening = R"(
-- An exchange between two nodes takes 2, and a send inside a node takes 1. Messages do not wait for each other, so a
-- schedule of the least time is an edge coloring: in each round some pairs of nodes meet, and the others send inside. Z3
-- finds how often each set of pairs has to meet. The schedule has this in tables. check prints its time and the lower bound,
-- which are equal.
-- Use: for long blocks on few nodes of unequal sizes, where the network serves one exchange of a node at a time
-- Source: ours: Sanders and Traeff 2002, section 3, with the edge coloring that is best for the nodes
-- Cost: the lower bound of check, where an exchange of nodes takes 2 and a send inside takes 1
-- Needs: up to 8 nodes
)";
inline constexpr const char* kOptimalProven =
    "no program for all sizes; check tests each schedule, and that its time is the least";
inline constexpr const char* kOptimalAnyNodes = "no, it is made for given nodes";

// Returns the program for this topology. Errors: it has more than 8 nodes, or Z3 finds no answer within its limit.
Result<Program> optimal_program(const Topology& topology);

}  // namespace quadrille
