// For every change of a program (a mutant), the checker refutes it, its proof fails, or the change makes no
// difference. The checker never refutes a mutant that the prover accepts. The test tries one in kFlatStride mutants
// of a program with few mutants, and about kMost of any other. Mutants with a constant at a limit are tried more
// rarely (kLimitStride). By hand, EVERY=10 tries one in ten mutants in an hour, and prints every survivor.
// PROGRAM=NAME tries only that program's mutants. All mutants take a night.
//   EVERY=10 bazel run --test_sharding_strategy=disabled //tests/prove:program_mutants_test
//
// The prover takes the original's proof with the mutant in place of the program. The statements of the proof do not
// change. So the proof may fail for a correct mutant, and must fail for a wrong one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>

#include "generator/proof_file.h"
#include "tests/support/mutants.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"
#include "verifier/check.h"
#include "verifier/prove/prover.h"
#include "verifier/prove/refute.h"
#include "verifier/proven.h"

namespace quadrille {
namespace {

constexpr size_t kFlatStride = 21, kStride = 401, kMost = 1;
constexpr size_t kLimitStride = 16;  // times the others' stride: that of limits' mutants

struct Fate {
  std::optional<verifier::FailingJob> refuted;  // the smallest job on which the checker refutes it
  std::string
      unproven;  // the last obligation that failed, or why the proof is refused; empty: proven
  // Whether only obligations failed on which the solver gives up for the original, too.
  bool undecided = false;

  bool refused() const { return !unproven.empty() && !undecided; }  // by the prover
  bool proven() const { return unproven.empty(); }
  bool survives() const { return !refuted && proven(); }
};

// The mutants of one program, and the proof of the original.
class Survey {
 public:
  explicit Survey(const Variant& variant);

  const std::string& name() const { return variant_.name; }
  const std::vector<Mutant>& mutants() const { return mutants_; }

  // Checks the mutant on small jobs, and proves its obligations up to the first that fails. An obligation says nothing
  // if the solver gives up on the original's as well.
  Fate fate(const Mutant& mutant);
  // Returns the first larger case in which the checker refutes the survivor, if there is one.
  std::optional<std::string> refuted_on_larger_jobs(const Mutant& mutant) const;

 private:
  bool gives_up_on_original(const std::string& obligation);

  const Variant& variant_;
  verifier::Proof proof_;
  verifier::ProofPlan plan_;  // of the original
  std::vector<Mutant> mutants_;
  verifier::Prover prover_;
  std::map<std::string, int> failures_;   // by obligation: how many mutants failed it
  std::map<std::string, bool> gives_up_;  // by obligation: whether Z3 gives up on the original's
};

constexpr unsigned kMostWork = 10'000'000;  // per question (rlimit); beyond it the prover gives up

Survey::Survey(const Variant& variant) : variant_(variant), prover_({.most_work = kMostWork}) {
  const std::string text = proof_file(*variant.algorithm, variant.choices);
  const auto proven = verifier::proven_programs();
  check(std::ranges::any_of(proven, [&](const auto& p) { return p.proof == text; }),
        "the proof of the original is none that the verifier was built with");
  Result<verifier::Proof> proof = verifier::parse_proof(text, variant.name);
  if (!proof.ok()) check(false, proof.error().message.c_str());
  proof_ = std::move(proof).value();
  mutants_ = quadrille::mutants(proof_.program);
  Result<verifier::ProofPlan> plan = verifier::plan_proof(proof_);
  check(plan.ok(), "the original has no plan of its proof");
  plan_ = std::move(plan).value();
  prover_.take_as_proven(proof_, plan_);
}

Fate Survey::fate(const Mutant& mutant) {
  Fate fate;
  fate.refuted = verifier::find_failing_job(mutant.program);
  verifier::Proof proof = proof_;
  proof.program = mutant.program;
  Result<verifier::ProofPlan> plan = verifier::plan_proof(proof, verifier::UnusedLines::kMayStay);
  if (!plan.ok()) {
    fate.unproven = plan.error().message;
    return fate;
  }
  // Tries the obligations that failed most often first.
  std::ranges::stable_sort(plan->obligations, [&](const auto& one, const auto& other) {
    return failures_[one.name] > failures_[other.name];
  });
  for (const verifier::Obligation& obligation : plan->obligations) {
    const verifier::ProofPlan one{{obligation}, {}, {}, false};
    const verifier::ObligationResult result = prover_.prove(proof, one).obligations[0];
    if (result.proven) continue;
    fate.unproven = result.name;
    fate.undecided = result.unknown && gives_up_on_original(result.name);
    if (fate.undecided) continue;
    ++failures_[result.name];
    break;
  }
  return fate;
}

bool Survey::gives_up_on_original(const std::string& obligation) {
  const auto [known, is_new] = gives_up_.try_emplace(obligation, false);
  if (!is_new) return known->second;
  verifier::Prover prover({.most_work = kMostWork});  // which has taken nothing as proven
  for (const verifier::Obligation& one : plan_.obligations)
    if (one.name == obligation)
      known->second = prover.prove(proof_, {{one}, {}, {}, false}).obligations[0].unknown;
  return known->second;
}

std::optional<std::string> Survey::refuted_on_larger_jobs(const Mutant& mutant) const {
  std::vector<std::vector<int64_t>> larger = {{16}, {1, 2, 3, 4, 5}, {4, 4, 4, 4}, {1, 1, 7, 7, 8}};
  for (const std::vector<int64_t>& sizes : ascending_node_vectors(10))
    if (job_of(sizes).groups[0].ranks() > 8) larger.push_back(sizes);
  for (const std::vector<int64_t>& sizes : larger)
    for (const Case& c : cases_on(variant_, sizes)) {
      const Result<verifier::Report> report =
          verifier::check_schedule(mutant.program, c.job, c.call, {});
      if (report.ok() && report->violation) return c.text;
    }
  return std::nullopt;
}

struct Counts {
  int mutants = 0, refuted = 0, unproven = 0, undecided = 0, surviving = 0;
};

void account_for(Survey& survey, const Mutant& mutant, Counts& counts) {
  const Fate fate = survey.fate(mutant);
  ++counts.mutants;
  counts.refuted += fate.refuted.has_value();
  counts.unproven += fate.refused();
  counts.undecided += fate.undecided;
  EXPECT_FALSE(fate.refuted && fate.proven())
      << "proven, yet refuted on " << fate.refuted->text() << ": " << survey.name() << ": "
      << mutant.description;
  EXPECT_TRUE(fate.refuted || !fate.undecided)
      << "neither refuted nor decided by the prover: " << survey.name() << ": "
      << mutant.description << ": " << fate.unproven;
  if (!fate.survives()) return;
  EXPECT_EQ(survey.refuted_on_larger_jobs(mutant), std::nullopt)
      << survey.name() << ": " << mutant.description;
  ++counts.surviving;
  if (std::getenv("EVERY")) fmt::print("  survives: {}\n", mutant.description);
}

// Separates mutants with a constant at a limit, whose loops take long, from all others.
std::array<std::vector<const Mutant*>, 2> apart(const std::vector<Mutant>& mutants) {
  std::array<std::vector<const Mutant*>, 2> result;
  for (const Mutant& mutant : mutants)
    result[mutant.description.starts_with("limit") ? 0 : 1].push_back(&mutant);
  return result;
}

void tell(const std::string& name, const Counts& counts) {
  fmt::print("{:<48}{:>5} mutants, refuted {:>5}, unproven {:>5}, survivors {:>4}\n", name,
             counts.mutants, counts.refuted, counts.unproven, counts.surviving);
}

// Returns a number that depends only on the name. So a new program does not change which mutants of others are tried.
size_t start_of(const std::string& name) {
  return std::accumulate(name.begin(), name.end(), size_t{0}, [](size_t sum, char letter) {
    return 31 * sum + static_cast<unsigned char>(letter);
  });
}

// Each of the two instances takes every other program, so that two processes share the work.
class ProgramMutants : public testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(Halves, ProgramMutants, testing::Values(0, 1));

TEST_P(ProgramMutants, AreKilledOrChangeNothingThatMatters) {
  const char* const every = std::getenv("EVERY");
  const char* const only = std::getenv("PROGRAM");
  Counts all;
  size_t program = 0;
  for (const Variant& variant : variants()) {
    // The proof of a reversal is that of its original, whose mutants are tried.
    if (!variant.algorithm->proof || !variant.algorithm->parts.empty()) continue;
    const size_t number = program++;
    if (number % 2 != GetParam() ||
        (only && proof_name(*variant.algorithm, variant.choices) != only))
      continue;
    Survey survey(variant);
    const auto [limits, others] = apart(survey.mutants());
    const size_t usual =
        others.size() < 200 ? kFlatStride : std::max(kStride, others.size() / kMost);
    const size_t stride = every ? std::strtoul(every, nullptr, 10) : usual;
    ASSERT_GT(stride, 0) << "EVERY is no number from 1 on";
    const size_t limit_stride = every ? stride : stride * kLimitStride;
    Counts counts;
    const size_t start = start_of(survey.name());
    for (size_t i = start % stride; i < others.size(); i += stride)
      account_for(survey, *others[i], counts);
    for (size_t i = start % limit_stride; i < limits.size(); i += limit_stride)
      account_for(survey, *limits[i], counts);
    // If none of these few is refuted, or none unproven, tries others.
    for (size_t i = 0; i < others.size() && (counts.refuted == 0 || counts.unproven == 0); ++i)
      account_for(survey, *others[i], counts);
    tell(fmt::format("{}, of {}", survey.name(), survey.mutants().size()), counts);
    // Catches a proof in which nothing can fail, and a checker that accepts everything.
    EXPECT_GT(counts.refuted, 0) << survey.name();
    EXPECT_GT(counts.unproven, 0) << survey.name();
    all.mutants += counts.mutants;
    all.refuted += counts.refuted;
    all.unproven += counts.unproven;
    all.undecided += counts.undecided;
    all.surviving += counts.surviving;
  }
  tell("together", all);
  EXPECT_GE(all.unproven + all.undecided + all.surviving, all.mutants);
}

}  // namespace
}  // namespace quadrille
