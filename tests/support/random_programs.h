// Random programs with a job and a call each, for tests that compare readers of programs. Most start from a skeleton
// that is correct or nearly so, with random constants, orders and claims. A few places are then changed. So correct
// programs are common, and wrong ones are wrong in many ways.
#ifndef QUADRILLE_TESTS_SUPPORT_RANDOM_PROGRAMS_H_
#define QUADRILLE_TESTS_SUPPORT_RANDOM_PROGRAMS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "schedule/binding.h"
#include "schedule/program.h"
#include "tests/support/random.h"

namespace quadrille {

// An all-to-all or an allgather. It is valid, of at most five ranks, and need not bind. Counts are small or, now and
// then, near the limit.
struct RandomCase {
  Program program;
  Job job;
  Call call;
  std::string text;  // the whole case, for messages
};

// The same for the same seed. Empty if the drawn program is not valid.
std::optional<RandomCase> random_case(uint64_t seed);

// A program of any collective, on one group or two, that tests steps. It is a straight-line flow of data (flows.h) or
// an algorithm of the registry. It is often rewritten (rewrites.h), and changed in one place in a third of the cases.
std::optional<RandomCase> random_step_case(uint64_t seed);

// Makes that many changes: of an expression to another, often an equal one over numbers near a limit; of a statement;
// of a claim. The result may be invalid.
void perturb(Program& program, int changes, Random& random);

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_SUPPORT_RANDOM_PROGRAMS_H_
