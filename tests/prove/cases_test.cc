// Programs with their proofs, one per case in tests/prove/cases. Each case says what it expects:
//
// "proven": all obligations hold. "unproven": exactly these obligations fail. "because": why one of them fails. "explained": a
// line that `prove` prints of one of them.
// "error": the message with which the proof is refused. "refuted": the smallest call on which the checker refutes the
// program, and the violation. A case that is proven must not be refuted, unless it says so. "asked": one of the
// obligations. "asked at least": how many there are at least. "mutants": no wrong mutant of the program is proven.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "schedule/text.h"
#include "tests/prove/proofs.h"
#include "tests/support/effort.h"
#include "tests/support/mutants.h"
#include "verifier/prove/refute.h"

namespace quadrille::cases_test {

std::vector<TextCase> cases_with_mutants() {
  std::vector<TextCase> result = proof_cases();
  std::erase_if(result, [](const TextCase& one) { return one.values("mutants").empty(); });
  return result;
}

// Makes a test's name from a title: "A rank does not receive" becomes ARankDoesNotReceive.
std::string name_of(const testing::TestParamInfo<TextCase>& info) {
  std::string name;
  bool begins = true;
  for (const char c : info.param.title) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += begins ? static_cast<char>(std::toupper(c)) : c;
    begins = !std::isalnum(static_cast<unsigned char>(c));
  }
  return fmt::format("{}_{}", name.substr(0, 100), info.index);
}

std::vector<std::string> parts_of(const std::vector<std::string>& lists) {
  std::vector<std::string> parts;
  for (const std::string& list : lists)
    for (size_t from = 0, at = 0; at != std::string::npos; from = at + 2) {
      at = list.find("; ", from);
      parts.push_back(list.substr(from, at == std::string::npos ? at : at - from));
    }
  return parts;
}

class Cases : public testing::TestWithParam<TextCase> {
 protected:
  std::string only(const std::string& key) const {
    const std::vector<std::string> values = GetParam().values(key);
    return values.empty() ? "" : values.at(0);
  }
};

TEST_P(Cases, AreProvenOrNotAsTheySay) {
  const TextCase& one = GetParam();
  const bool proven = !only("proven").empty();
  if (!one.proof.empty()) {
    const std::vector<std::string> explained = one.values("explained");
    const Proving proving = prove(one.program, one.proof, !explained.empty());
    for (const std::string& line : explained)
      EXPECT_THAT(proving.explained, testing::Contains(line));
    EXPECT_EQ(proving.error, only("error"));
    EXPECT_EQ(proving.failed, parts_of(one.values("unproven")));
    EXPECT_EQ(proven, proving.proven());
    std::vector<std::string> reasons;
    for (const verifier::ObligationResult& result : proving.results)
      reasons.push_back(result.name + ": " + result.failure);
    for (const std::string& why : one.values("because"))
      EXPECT_THAT(reasons, testing::Contains(why));
    for (const std::string& least : one.values("asked at least"))
      EXPECT_GE(proving.results.size(), std::stoul(least));
    for (const std::string& asked : one.values("asked"))
      EXPECT_THAT(proving.results,
                  testing::Contains(testing::Field(&verifier::ObligationResult::name, asked)));
  }
  std::string refuted = only("refuted");
  if (refuted.empty() && proven) refuted = "nowhere";
  if (refuted.empty() || refuted == "not asked") return;
  const std::string found = smallest_failure(one.program);
  EXPECT_EQ(found.empty() ? "nowhere" : found, refuted);
}

INSTANTIATE_TEST_SUITE_P(All, Cases, testing::ValuesIn(proof_cases()), name_of);

TEST(Corpus, ExpectsOnlyWhatIsKnown) {
  for (const TextCase& one : proof_cases()) {
    bool expects = false;
    for (const auto& [key, value] : one.expectations) {
      EXPECT_THAT(key, testing::AnyOf("proven", "unproven", "error", "because", "explained",
                                      "refuted", "asked", "asked at least", "mutants"))
          << one.title;
      expects |= key == "refuted" ||
                 (!one.proof.empty() && (key == "proven" || key == "unproven" || key == "error"));
    }
    EXPECT_TRUE(expects) << one.title;
  }
  EXPECT_GE(proof_cases().size(), 230u);
  EXPECT_GE(cases_with_mutants().size(), 16u);
}

class Mutants : public testing::TestWithParam<TextCase> {};

TEST_P(Mutants, ComeFromAProgramThatIsRightOnSixRanks) {
  const auto job =
      verifier::find_failing_job(parse_program(GetParam().program, "program").value(), 6, true);
  EXPECT_FALSE(job) << job->text() << ": " << job->violation.detail;
}

// Whether the original's proof proves the mutant.
bool is_proven(const Program& mutant, const std::string& statements, verifier::Prover& prover) {
  const Result<verifier::Proof> proof = verifier::parse_proof_of(mutant, statements, "mutant");
  const Result<verifier::ProofPlan> plan =
      verifier::plan_proof(*proof, verifier::UnusedLines::kMayStay);
  if (!plan.ok()) return false;
  return std::ranges::all_of(plan->obligations, [&](const auto& one) {
    return prover.prove(*proof, {{one}, {}, {}, false}).obligations[0].proven;
  });
}

TEST_P(Mutants, AreNeverProvenWhereTheyAreWrong) {
  const std::vector<Mutant> all = mutants(parse_program(GetParam().program, "program").value());
  verifier::Prover prover({.most_work = 5'000'000});
  size_t taken = 0, proven = 0;
  for (size_t i = 0; i < all.size(); i += one_in(121)) {
    ++taken;
    if (!is_proven(all[i].program, GetParam().proof, prover)) continue;
    ++proven;
    const auto job = verifier::find_failing_job(all[i].program);
    EXPECT_FALSE(job) << all[i].description << ": " << job->text() << ": " << job->violation.detail;
  }
  fmt::print("{} of {} mutants, {} proven; EVERY_CASE=1 takes all\n", taken, all.size(), proven);
}

INSTANTIATE_TEST_SUITE_P(All, Mutants, testing::ValuesIn(cases_with_mutants()), name_of);

}  // namespace quadrille::cases_test
