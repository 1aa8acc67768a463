// For every change of a program (a mutant), the checker refutes it, its proof fails, or the change makes no
// difference. The checker never refutes a mutant that the prover accepts. The test tries one in kFlatStride mutants
// of a program with few mutants, and about kMost of any other. Mutants with a constant at a limit are tried more
// rarely (kLimitStride). By hand, EVERY=10 tries one in ten mutants in an hour, and prints every survivor and its
// reason. PROGRAM=NAME tries only that program's mutants. All mutants take a night.
//   EVERY=10 bazel run --test_sharding_strategy=disabled //tests/prove:program_mutants_test
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

#include "generator/proof_file.h"
#include "tests/prove/mutant_survey.h"

namespace quadrille {
namespace {

constexpr size_t kFlatStride = 21, kStride = 401, kMost = 1;
constexpr size_t kLimitStride = 16;  // times the others' stride: that of limits' mutants

struct Counts {
  int mutants = 0, refuted = 0, unproven = 0, undecided = 0;
  std::array<int, kExcuseCount> survivors = {};

  int surviving() const { return std::accumulate(survivors.begin(), survivors.end(), 0); }
};

void account_for(Survey& survey, const Mutant& mutant, Counts& counts) {
  const Fate fate = survey.fate(mutant, true);
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
  const Excuse excuse = survey.excuse(mutant);
  ++counts.survivors[static_cast<int>(excuse)];
  if (std::getenv("EVERY"))
    fmt::print("  survives, {}: {}\n", describe(excuse), mutant.description);
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
             counts.mutants, counts.refuted, counts.unproven, counts.surviving());
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
    if (!variant.algorithm->proof || variant.algorithm->original) continue;
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
    for (int i = 0; i < kExcuseCount; ++i) all.survivors[i] += counts.survivors[i];
  }
  tell("together", all);
  for (int i = 0; i < kExcuseCount; ++i)
    fmt::print("  survivors: {}: {}\n", describe(static_cast<Excuse>(i)), all.survivors[i]);
  EXPECT_GE(all.unproven + all.undecided + all.surviving(), all.mutants);
}

}  // namespace
}  // namespace quadrille
