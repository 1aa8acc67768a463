// Changes of a program that preserve its meaning, as far as its statements show; the checker decides. For tests that
// compare readers of programs.
#ifndef QUADRILLE_TESTS_SUPPORT_REWRITES_H_
#define QUADRILLE_TESTS_SUPPORT_REWRITES_H_

#include "schedule/program.h"
#include "tests/support/random.h"

namespace quadrille {

// Changes the order of the statements of each step: sends, local statements and receives are mixed, and each kind
// keeps its order.
void mix_statements(Program& program, Random& random);

// Makes that many changes of these kinds. Statements of steps are mixed. A message or a copy takes two ranges in place
// of one. A message goes through a temporary block, with the reduction afterwards. Two steps become one. A step waits
// for the previous one.
void rewrite(Program& program, int changes, Random& random);

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_SUPPORT_REWRITES_H_
