// Takes programs that differ in one place from a correct one. On small jobs, the checker, the general executor alone
// and the oracle reach the same verdict. Each mutant runs on one case in kCaseStride. To run it on all cases:
//   EVERY_CASE=1 bazel run --test_sharding_strategy=disabled //tests/mutation:mutation_test
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/effort.h"
#include "tests/support/mutants.h"
#include "tests/support/oracle.h"
#include "tests/support/variants.h"
#include "tests/verifier/reports.h"
#include "verifier/check.h"

namespace quadrille::verifier::verdict_test {

constexpr size_t kMutantStride = 19;
constexpr size_t kCaseStride = 3;
constexpr int kEndlessStride = 100;
constexpr int64_t kFewStatements = 1 << 16, kStatements = 1 << 20, kManyStatements = 1 << 25;

int endless = 0;  // how many mutants so far have loops up to a limit

std::vector<Mutant> thinned(const std::vector<Mutant>& mutants) {
  std::vector<Mutant> some;
  for (size_t i = 0; i < mutants.size(); i += kThinning * one_in(kMutantStride))
    some.push_back(mutants[i]);
  return some;
}

void judge(const Mutant& mutant, const Job& job, const Call& call, const std::string& what) {
  std::vector<Binding> bindings;
  for (int64_t group = 0; group < mutant.program.groups; ++group) {
    Result<Binding> binding = bind(mutant.program, job, call, group);
    if (!binding.ok()) return;
    bindings.push_back(std::move(binding).value());
  }
  // Mutants with loops up to a limit run long before they are refused, so only a few are tried.
  const bool has_limit = mutant.description.starts_with("limit");
  const int64_t statements = has_limit ? kFewStatements : kStatements;
  std::string opinion = what_is_wrong(mutant.program, job, call, statements).value_or("right");
  if (opinion == "too long" && has_limit) {
    if (endless++ % kEndlessStride != 0) return;
    opinion = what_is_wrong(mutant.program, job, call, kManyStatements).value_or("right");
  }
  ASSERT_NE(opinion, "too long") << what;
  Report general = execute(mutant.program, job, call, bindings, {});
  EXPECT_EQ(general.violation.has_value(), opinion != "right")
      << what << ": " << verdict(general) << "; oracle: " << opinion;
  std::optional<Report> streamed;
  if (fits_key_order(mutant.program))
    streamed = check_key_order(mutant.program, job, bindings[0], {});
  else if (fits_rank_by_rank(mutant.program, {}))
    streamed = check_rank_by_rank(mutant.program, job, call, bindings[0]);
  verdict_beside([&] { return general; }, streamed, what);
}

// Judges some of the program's mutants, each on at least one of the cases.
void judge_all(const Program& program, const std::vector<Case>& cases) {
  const size_t stride = std::min(one_in(kCaseStride), std::max<size_t>(cases.size(), 1));
  size_t first = 0;
  for (const Mutant& mutant : thinned(mutants(program))) {
    for (size_t i = first++ % stride; i < cases.size(); i += stride) {
      const Case& c = cases[i];
      judge(mutant, c.job, c.call, fmt::format("{}: {}", c.text, mutant.description));
    }
  }
}

TEST(Verdicts, AreTheSameForEveryMutantOfEveryAlgorithm) {
  for (const Variant& variant : variants()) {
    std::vector<Case> cases;
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{1, 1, 1}, {1, 2}, {2, 2}, {1, 3}})
      for (Case& c : cases_on(variant, sizes)) cases.push_back(std::move(c));
    judge_all(variant.program, cases);
  }
}

}  // namespace quadrille::verifier::verdict_test
