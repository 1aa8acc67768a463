// Tests that tests/prove/cases cannot express: proofs on which the solver gives up, proofs that are repeated, texts
// that are too long to write down, and refuted claims.
#include "verifier/prove/prover.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/proof_file.h"
#include "tests/prove/proofs.h"
#include "verifier/prove/refute.h"

namespace quadrille::prover_test {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

Proving with_lemmas(const std::string& lemmas, const std::string& program = kFactor) {
  return prove(program, lemmas + kFactorProof);
}

std::string with_nodes() {
  std::string program = kFactor;
  program.replace(program.find("for round"), 0, "table size = nodes\ntable base = prefix(size)\n");
  return program;
}

// Each lemma's variable has the name of a symbol of the prover. If the two were one, the lemma would hold.
TEST(Names, OfALemmaAreNotSymbolsOfTheSolver) {
  for (const std::string name : {"length_nodes", "ranks_", "choice_0", "rank_2", "v0_x", "nodes"}) {
    const Proving proving = with_lemmas(
        fmt::format("lemma wrong({0})\n  show {0} = length(size)\n", name), with_nodes());
    EXPECT_EQ(proving.error, "");
    EXPECT_THAT(proving.failed, ElementsAre("lemma wrong")) << name;
  }
}

struct Planned {
  std::unique_ptr<verifier::Proof> proof;  // the plan refers to it
  verifier::ProofPlan plan;
};

Planned planned(Collective collective, const std::string& name, const Choices& choices) {
  const std::string text = proof_file(*find_algorithm(collective, name), choices);
  auto proof = std::make_unique<verifier::Proof>(*verifier::parse_proof(text, "proof"));
  auto plan = verifier::plan_proof(*proof);
  return {std::move(proof), *plan};
}

TEST(Solver, ThatGivesUpIsNoProof) {
  const auto [proof, plan] = planned(Collective::kAllgather, "linear-ring", {});
  verifier::ProverOptions options;
  options.most_work = 100;  // far too little
  int unknown = 0;
  for (const auto& result : verifier::Prover(options).prove(*proof, plan).obligations) {
    EXPECT_EQ(result.proven, result.failure.empty());
    if (result.proven) continue;
    EXPECT_TRUE(result.unknown) << result.name << ": " << result.failure;
    EXPECT_THAT(result.failure, HasSubstr("gave up"));
    ++unknown;
  }
  EXPECT_GT(unknown, 0);
}

// Threads take proofs in an order that depends on the load of the machine. The answers must not depend on it.
TEST(Solver, AnswersAlikeAfterOtherProofs) {
  const Planned first = planned(Collective::kAllgather, "neighbor-exchange", {});
  const Planned second = planned(Collective::kAllgather, "bruck", {});
  constexpr unsigned kWork = 3000;  // enough for some obligations, and not for others
  verifier::Prover alone({.most_work = kWork}), later({.most_work = kWork});
  later.prove(*first.proof, first.plan);
  const auto expected = alone.prove(*second.proof, second.plan).obligations,
             results = later.prove(*second.proof, second.plan).obligations;
  ASSERT_EQ(results.size(), expected.size());
  size_t given_up = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i].failure, expected[i].failure) << results[i].name;
    given_up += expected[i].unknown;
  }
  EXPECT_GT(given_up, 0u);
  EXPECT_LT(given_up, expected.size());
}

TEST(Solver, IsNotAskedAgainWhatItKnows) {
  const auto proof = verifier::parse_proof(proof_text(kFactor, kFactorProof), "proof");
  const auto plan = verifier::plan_proof(*proof);
  verifier::Prover prover({});
  const verifier::ProofResult once = prover.prove(*proof, *plan);
  EXPECT_LT(once.known, static_cast<int64_t>(once.obligations.size()));
  const verifier::ProofResult again = prover.prove(*proof, *plan);
  EXPECT_EQ(again.known, static_cast<int64_t>(again.obligations.size()));
}

TEST(Numbers, OfTooManyTermsAreGivenUp) {
  std::string product = "(a + b + c + d)";
  for (int i = 0; i < 14; ++i) product += "*(a + b + c + d + " + std::to_string(i) + ")";
  const Proving proving = with_lemmas("lemma large(a, b, c, d)\n  show " + product + " = 0\n");
  EXPECT_THAT(proving.failed, ElementsAre("lemma large"));
  EXPECT_THAT(proving.failure, HasSubstr("the numbers of the obligation are too large"));
}

// Proves kFactor with more lines before its loop: `first`, `lines` copies of `text`, and `last`. In a copy, {0} is
// its number, from 1, and {1} the number before.
Proving with_lines(const std::string& first, int lines, const std::string& text,
                   const std::string& last = "") {
  std::string all = first;
  for (int i = 1; i <= lines; ++i) all += fmt::format(fmt::runtime(text), i, i - 1);
  return prove(changed(kFactor, "for round", all + last + "for round"), kFactorProof);
}

TEST(Size, OfLetsThatDoubleIsBounded) {
  EXPECT_THAT(with_lines("let x0 = rank\n", 39, "let x{0} = x{1} + x{1}\n").error,
              HasSubstr("an expression of more than 10000 parts once its lets are put in"));
}

TEST(Size, OfLargeLetsInManyPlacesIsBounded) {
  std::string copies;
  for (int i = 0; i < 200; ++i) copies += "if x11 < 5\n  copy send[x11] to recv[x11]\n";
  EXPECT_THAT(with_lines("let x0 = rank\n", 11, "let x{0} = x{1} + x{1}\n", copies).error,
              HasSubstr("parts once its lets are put in"));
}

// Each level of nested conditions multiplies the time that intervals take, so it must be bounded.
TEST(Size, OfNestedConditionsIsBounded) {
  const std::string first = "parameter n\nlet x0 = n\n", nested = "let x{0} = x{1} < 5 ? 1 : 7\n";
  EXPECT_TRUE(with_lines(first, 8, nested).proven());
  EXPECT_THAT(with_lines(first, 40, nested).error, HasSubstr("nested too deeply"));
  EXPECT_THAT(with_lines(first, 40, "let x{0} = x{1}*n\n").failed, Contains("fits 1"));
}

TEST(Size, OfManyPiecesIsBounded) {
  std::string program = "algorithm many for allreduce\ntemporary 300 blocks\n";
  for (int i = 0; i < 300; ++i) program += "copy send[0] to temp[" + std::to_string(i % 50) + "]\n";
  EXPECT_THAT(prove(program, "").error, HasSubstr("a program of more than 250 pieces"));
}

TEST(Size, OfDefinitionsThatDoubleIsBounded) {
  std::string definitions = "define f0(x)\n  as x + x\n";
  for (int i = 1; i < 30; ++i)
    definitions += fmt::format("define f{0}(x)\n  as f{1}(f{1}(x))\n", i, i - 1);
  EXPECT_THAT(with_lemmas(definitions).error, HasSubstr("an expression of more than 10000 parts"));
}

TEST(FalseClaims, AreRefutedByTheSmallestCounterexample) {
  const auto proof = verifier::parse_proof(
      proof_text(with_nodes(), std::string("refute one_node(i)\n  given 0 <= i and i < ranks\n"
                                           "  show length(size) <= 2 and base[0] + size[0] > i\n") +
                                   kFactorProof),
      "proof");
  const auto plan = verifier::plan_proof(*proof);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(verifier::find_counterexample(proof->program, plan->false_claims[0]),
            "nodes 2x1: i = 1");
}

TEST(FalseClaims, ThatAreTrueHaveNoCounterexample) {
  const auto proof = verifier::parse_proof(
      proof_text(kFactor,
                 std::string("refute truth(i)\n  given 0 <= i\n  show 0 <= i*i\n") + kFactorProof),
      "proof");
  const auto plan = verifier::plan_proof(*proof);
  EXPECT_EQ(verifier::find_counterexample(proof->program, plan->false_claims[0]), std::nullopt);
}

}  // namespace quadrille::prover_test
