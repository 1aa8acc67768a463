// Changes of a program that keep what it means, as far as a look at its statements can tell; the checker has the last
// word. For tests that compare readers of programs.
#ifndef QUADRILLE_TESTS_SUPPORT_REWRITES_H_
#define QUADRILLE_TESTS_SUPPORT_REWRITES_H_

#include "schedule/program.h"
#include "tests/support/random.h"

namespace quadrille {

// Puts the statements of each step into another order: sends, local statements and receives are mixed, and each kind
// keeps its order.
void mix_statements(Program& program, Random& random);

// So many of these: statements of steps are mixed; what a message or a copy takes is taken in two ranges; a message
// goes by way of a temporary block, and what it combines with is reduced afterwards; two steps become one; a step
// waits for the one before it.
void rewrite(Program& program, int changes, Random& random);

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_SUPPORT_REWRITES_H_
