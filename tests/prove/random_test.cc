// Changes programs at random, and keeps the proofs of the originals. If a changed program is still proven, the
// checker does not refute it, and its plans are lawful. Some changes use numbers near a limit, some mix the
// statements of a step, and some add or drop the claim that a call in place needs no copy.
//
// The environment variable PROGRAMS sets how many programs are drawn, and SEED the first random seed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "generator/encode.h"
#include "generator/proof_file.h"
#include "runtime/program/program.h"
#include "schedule/text.h"
#include "schedule/traverse.h"
#include "tests/support/effort.h"
#include "tests/support/random_programs.h"
#include "tests/support/rewrites.h"
#include "tests/support/variants.h"
#include "verifier/check.h"
#include "verifier/plans.h"
#include "verifier/prove/prover.h"
#include "verifier/prove/refute.h"

namespace quadrille::random_test {

constexpr unsigned kMostWork = 5'000'000;  // per question (rlimit); beyond it, it is not proven
constexpr int64_t kMostRanks = 6;
constexpr size_t kMostStatements = 12;  // proofs of programs with more statements take long

struct Original {
  const Variant* variant;
  verifier::Proof proof;
};

// Returns the programs whose proofs are quick.
std::vector<Original> originals() {
  std::vector<Original> result;
  for (const Variant& variant : variants()) {
    size_t statements = 0;
    for_each_statement(variant.program.body, [&](const Statement&) { ++statements; });
    if (!variant.algorithm->proof || !variant.algorithm->parts.empty() ||
        statements > kMostStatements)
      continue;
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

// Expects that the checker does not refute the program on jobs with parameters and counts at their limits.
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

// Whether the program declares so many temporary blocks that its plans are not checked.
bool declares_many(const Program& program) {
  const Expression& blocks = program.temporary_blocks;
  return blocks.op == Operator::kConstant && blocks.value > 800'000;
}

// Expects that plan_check finds the plans lawful, unless the runtime does not serve the program.
void expect_lawful_plans(const Variant& variant, const Program& program) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{1, 2}, {2, 3}})
    for (const Case& c : cases_on(variant, sizes)) {
      const Bytes file = encode(program, c.job);
      const auto plans = verifier::Plans::make(file, program, c.job, c.call);
      if (!plans.ok()) continue;  // the program refuses the job
      const std::string objection = plans->objection().value_or("");
      if (objection == verifier::kPlansNotChecked && declares_many(program)) continue;
      EXPECT_TRUE(objection.empty() || objection.find(qd_not_served) != std::string::npos)
          << c.text << ": " << objection;
    }
}

struct Changes {
  bool mixed = false, claims = false;
};

Changes change(Program& program, Random& random) {
  const Program before = program;
  Changes changes;
  const uint64_t kind = random() % 4;
  if (kind < 3) perturb(program, 1 + static_cast<int>(random() % 2), random);
  if (kind < 2) return changes;
  const Program perturbed = program;
  mix_statements(program, random);
  changes.mixed = !(program == perturbed);
  if (random() % 2 == 0) program.in_place = !program.in_place;
  changes.claims = program.in_place != before.in_place;
  return changes;
}

TEST(RandomPrograms, ThatAreProvenAreNeverRefuted) {
  const uint64_t programs = from_environment("PROGRAMS", 500);
  const uint64_t first = from_environment("SEED", 1);
  const std::vector<Original> all = originals();
  verifier::Prover prover({.most_work = kMostWork});
  int invalid = 0, proven = 0, refuted = 0, mixed = 0, in_place = 0;
  for (uint64_t seed = first; seed < first + programs && !HasFailure(); ++seed) {
    Random random(seed);
    const Original& original = all[random() % all.size()];
    verifier::Proof proof = original.proof;
    const Changes changes = change(proof.program, random);
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
    mixed += changes.mixed;
    in_place += changes.claims && proof.program.in_place;
    EXPECT_FALSE(failing) << failing->text() << ": " << failing->violation.detail;
    expect_right_on_far_jobs(*original.variant, proof.program, random);
    expect_lawful_plans(*original.variant, proof.program);
  }
  fmt::print(
      "{} drawn from {} programs: {} are no programs, {} proven ({} with statements of a step "
      "mixed, {} now in place), {} refuted\n",
      programs, all.size(), invalid, proven, mixed, in_place, refuted);
  if (programs < 100) return;  // a quick look
  EXPECT_GT(proven, static_cast<int>(programs / 10));
  EXPECT_GT(refuted, static_cast<int>(programs / 10));
  EXPECT_GT(mixed, static_cast<int>(programs / 40));
  EXPECT_GT(in_place, static_cast<int>(programs / 100));
}

}  // namespace quadrille::random_test
