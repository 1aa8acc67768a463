// Programs that differ from a given one in a single place. A checker, a prover or a test must notice each.
#ifndef QUADRILLE_TESTS_SUPPORT_MUTANTS_H_
#define QUADRILLE_TESTS_SUPPORT_MUTANTS_H_

#include <string>
#include <vector>

#include "schedule/program.h"

namespace quadrille {

struct Mutant {
  Program program;          // valid, and not equal to the original or another mutant
  std::string description;  // "constant + 1, line 7: `step 2*i` became `step 3*i`"
};

// Every single change of a fixed list. Constants and whole expressions go one up or down, and constants to a limit.
// Operators and operands are exchanged or dropped; variables, tables and parameters are replaced. Guards are negated
// or dropped. Statements are dropped, doubled or exchanged with the next one, and peers of a step are exchanged.
// Directions, buffers, ranges, sides, `after` and the program's claims change. Mutants that are no valid program are
// left out. The order is fixed.
std::vector<Mutant> mutants(const Program& program);

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_SUPPORT_MUTANTS_H_
