// Changes that preserve a program's meaning, as far as its statements show, for tests that compare readers.
#pragma once

#include "schedule/program.h"
#include "tests/support/random.h"

namespace quadrille {

// Mixes the sends, local statements and receives of each step. Statements of one kind keep their order.
void mix_statements(Program& program, Random& random);

// Makes `changes` changes of these kinds: it mixes the statements of steps, splits a range of a message or a copy in
// two, sends a message through a temporary block and reduces afterwards, joins two steps, or makes a step wait for
// the one before.
void rewrite(Program& program, int changes, Random& random);

}  // namespace quadrille
