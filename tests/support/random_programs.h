// Random programs with a job and a call each, for tests that compare readers of programs. Most begin as a skeleton
// that is nearly correct, with random constants, orders and claims. Then a few places are changed. So many programs
// are correct, and wrong ones are wrong in many ways.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "schedule/binding.h"
#include "schedule/program.h"
#include "tests/support/random.h"

namespace quadrille {

// A valid program, and a job and a call on a few ranks, which need not bind. Some counts are near the limit.
struct RandomCase {
  Program program;
  Job job;
  Call call;
  std::string text;  // describes the whole case in messages
};

// Returns the case of a seed: one group, no reduction. Returns nullopt if the drawn program is invalid.
std::optional<RandomCase> random_case(uint64_t seed);

// Returns a program of any collective, on one group or two, that tests steps: a straight-line flow of data (flows.h)
// or an algorithm of the registry. It is often rewritten (rewrites.h). In a third of the cases one place is changed.
std::optional<RandomCase> random_step_case(uint64_t seed);

// Makes `changes` changes. An expression becomes another one, often an equal one with numbers near a limit, or a
// statement or a claim changes. The result may be invalid.
void perturb(Program& program, int changes, Random& random);

}  // namespace quadrille
