// Programs that differ from a given one in a single place. A checker, a prover or a test must notice each of them.
#pragma once

#include <string>
#include <vector>

#include "schedule/program.h"

namespace quadrille {

struct Mutant {
  Program program;          // valid, and different from the original and from all other mutants
  std::string description;  // "constant + 1, line 7: `step 2*i` became `step 3*i`"
};

// Returns the mutants that a fixed list of changes makes, in a fixed order. Constants and whole expressions change by
// one, and constants become a limit. Operators and operands are exchanged or dropped; variables, tables and
// parameters are replaced. Guards are negated or dropped. Statements are dropped, doubled or exchanged with the next
// one. Neighboring messages exchange peers. Directions, buffers, ranges, sides, `after` and claims change. Each
// mutant is valid.
std::vector<Mutant> mutants(const Program& program);

}  // namespace quadrille
