// Programs that differ from one in a single place: what a checker, a prover or a test must notice.
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

// Every single change of a fixed list: constants and whole expressions one up or down, constants
// at a limit, operators
// and operands exchanged or dropped, another variable, table or parameter, guards negated or
// dropped, statements dropped, doubled or exchanged with the next one, peers of a step exchanged,
// directions, buffers, ranges, sides, `after`, and what the program claims of itself. Mutants that
// are no program (validate) are left out. The order is fixed.
std::vector<Mutant> mutants(const Program& program);

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_SUPPORT_MUTANTS_H_
