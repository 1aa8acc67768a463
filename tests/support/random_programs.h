// Random programs with a job and a call each, for tests that compare readers of programs. Most start from a skeleton
// that is right or nearly so, in which constants, orders and claims are drawn, and are then changed in a few places;
// so right ones are common, and wrong ones are wrong in many ways.
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
// then, about the most that there may be.
struct RandomCase {
  Program program;
  Job job;
  Call call;
  std::string text;  // all of it, for messages
};

// The same for the same seed; nothing where what was drawn is no valid program.
std::optional<RandomCase> random_case(uint64_t seed);

// A program of any collective, on one group or two, that is about steps: a straight-line flow of data (flows.h) or an
// algorithm of the registry, often rewritten (rewrites.h), and in a third of the cases changed in one place.
std::optional<RandomCase> random_step_case(uint64_t seed);

// So many changes: of an expression into another, often an equal one by way of numbers near a limit; of a statement;
// of a claim. The result may be invalid.
void perturb(Program& program, int changes, Random& random);

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_SUPPORT_RANDOM_PROGRAMS_H_
