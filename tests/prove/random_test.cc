// Programs changed at random, often into equal ones by way of numbers near a limit, with the proofs of the originals:
// what is proven of them all the same the checker never refutes.
//
// PROGRAMS says how many, SEED which.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "generator/proof_file.h"
#include "schedule/text.h"
#include "schedule/traverse.h"
#include "tests/support/random_programs.h"
#include "tests/support/variants.h"
#include "verifier/check.h"
#include "verifier/prove/prover.h"
#include "verifier/prove/refute.h"

namespace quadrille {
namespace {

constexpr unsigned kMostWork = 5'000'000;  // of a question; what takes more counts as not proven
constexpr int64_t kMostRanks = 6;
constexpr size_t kMostStatements = 12;  // of a program: others take the solver long

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct Original {
  const Variant* variant;
  verifier::Proof proof;
};

// Those whose proofs are quick.
std::vector<Original> originals() {
  std::vector<Original> result;
  for (const Variant& variant : variants()) {
    size_t statements = 0;
    for_each_statement(variant.program.body, [&](const Statement&) { ++statements; });
    if (!variant.algorithm->proof || statements > kMostStatements) continue;
    result.push_back({&variant, verifier::parse_proof(
                                    proof_file(*variant.algorithm, variant.choices), variant.name)
                                    .value()});
  }
  return result;
}

bool is_proven(verifier::Prover& prover, const verifier::Proof& proof) {
  const Result<verifier::ProofPlan> plan = verifier::plan_proof(proof);
  if (!plan.ok()) return false;
  for (const verifier::Obligation& obligation : plan->obligations)
    if (!prover.prove(proof, {{obligation}, {}, {}, false}).obligations[0].proven) return false;
  return true;
}

// Jobs with parameters that are drawn from all that there are, and counts at the limit.
void expect_right_on_far_jobs(const Variant& variant, const Program& program, Random& random) {
  for (const std::vector<int64_t>& sizes :
       {std::vector<int64_t>{1}, {2}, {1, 2}, {1, 1, 1}, {2, 3}})
    for (Case c : cases_on(variant, sizes)) {
      for (int64_t& parameter : c.job.parameters)
        if (random() % 4 == 0) parameter = kMaxParameter - static_cast<int64_t>(random() % 3);
      for (std::vector<int64_t>& counts : c.call.counts)
        for (int64_t& count : counts)
          if (random() % 2) count = kMaxCount - static_cast<int64_t>(random() % 3);
      for (int64_t& block : c.call.parameters) block = kMaxCount / 2;
      const Result<verifier::Report> report = verifier::check_schedule(program, c.job, c.call, {});
      EXPECT_FALSE(report.ok() && report->violation) << c.text << ": " << report->violation->detail;
    }
}

TEST(RandomPrograms, ThatAreProvenAreNeverRefuted) {
  const uint64_t programs = from_environment("PROGRAMS", 150);
  const uint64_t first = from_environment("SEED", 1);
  const std::vector<Original> all = originals();
  verifier::Prover prover({.most_work = kMostWork});
  int invalid = 0, proven = 0, refuted = 0;
  for (uint64_t seed = first; seed < first + programs && !HasFailure(); ++seed) {
    Random random(seed);
    const Original& original = all[random() % all.size()];
    verifier::Proof proof = original.proof;
    perturb(proof.program, 1 + static_cast<int>(random() % 2), random);
    if (!validate(proof.program).ok()) {
      ++invalid;
      continue;
    }
    const testing::ScopedTrace trace(__FILE__, __LINE__,
                                     fmt::format("seed {}, the proof of {}\n{}", seed,
                                                 original.variant->name, print(proof.program)));
    const auto failing = verifier::find_failing_job(proof.program, kMostRanks, true);
    refuted += failing.has_value();
    if (!is_proven(prover, proof)) continue;
    ++proven;
    EXPECT_FALSE(failing) << failing->text() << ": " << failing->violation.detail;
    expect_right_on_far_jobs(*original.variant, proof.program, random);
  }
  fmt::print("{} drawn from {} programs: {} are no programs, {} proven, {} refuted\n", programs,
             all.size(), invalid, proven, refuted);
  if (programs < 100) return;  // a few, to look at
  EXPECT_GT(proven, static_cast<int>(programs / 10));
  EXPECT_GT(refuted, static_cast<int>(programs / 10));
}

}  // namespace
}  // namespace quadrille
