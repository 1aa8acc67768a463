// How a proof can fail: lemmas that do not hold or are used before they do, hypotheses that
// contradict each other, a solver that gives up; and ways to prove what is false, all of them shut.
#include "verifier/prove/prover.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/proof_file.h"
#include "tests/prove/proofs.h"
#include "verifier/prove/refute.h"

namespace quadrille {
namespace {

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

TEST(Lemma, ThatHoldsIsProven) {
  EXPECT_TRUE(
      with_lemmas("lemma sums(x, y)\n  given 0 <= x and 0 <= y\n  show x <= x + y\n").proven());
}

TEST(Lemma, ThatDoesNotHoldIsNot) {
  const Proving proving = with_lemmas("lemma sums(x, y)\n  show x <= x + y\n");
  EXPECT_THAT(proving.failed, ElementsAre("lemma sums"));
  EXPECT_EQ(proving.failure, "the goal does not follow");
}

TEST(Lemma, WithContradictoryHypothesesIsNoticed) {
  const Proving proving = with_lemmas("lemma wrong(x)\n  given x < 0 and 0 < x\n  show x = 7\n");
  EXPECT_THAT(proving.failed, ElementsAre("lemma wrong"));
  EXPECT_EQ(proving.failure, "the hypotheses contradict each other");
}

TEST(Lemma, AgainstWhatIsKnownOfTablesIsNoticed) {
  const Proving proving = with_lemmas(
      "lemma wrong(i)\n  given 0 <= i and i < length(size) and size[i] = 0\n  show i = 7\n",
      with_nodes());
  EXPECT_THAT(proving.failed, ElementsAre("lemma wrong"));
  EXPECT_EQ(proving.failure, "the hypotheses contradict each other");
}

TEST(Lemma, UsedBeforeItIsProvenIsRefused) {
  EXPECT_THAT(with_lemmas("lemma one(x)\n  show x = x + 0\n  use two(x)\n"
                          "lemma two(x)\n  show x = x + 0\n")
                  .error,
              HasSubstr("test.proof:"));
}

TEST(Lemma, UsedInItsOwnProofIsRefused) {
  EXPECT_THAT(with_lemmas("lemma wrong(x)\n  show x = 7\n  use wrong(x)\n").error,
              HasSubstr("uses nothing that is known"));
}

TEST(Lemma, OfTheSameNameAsAnotherIsRefused) {
  EXPECT_THAT(with_lemmas("lemma one(x)\n  show x = x + 0\nlemma one(x)\n  show x = 7\n").error,
              HasSubstr("a second 'lemma one'"));
}

TEST(Lemma, ThatFailedSpoilsTheProofThatUsesIt) {
  const Proving proving = with_lemmas(
      "lemma wrong(x)\n  show x = 7\nlemma worse(x, y)\n  show x = y\n"
      "  use wrong(x)\n  use wrong(y)\n");
  EXPECT_THAT(proving.failed, Contains("lemma wrong"));
}

TEST(Lemma, ThatIsRefutedCannotBeUsed) {
  EXPECT_THAT(with_lemmas("refute wrong(x)\n  show x = 7\nlemma worse(x)\n  show x = 7\n"
                          "  use wrong(x)\n")
                  .error,
              HasSubstr("uses nothing that is known"));
}

TEST(Hypothesis, ThatIsNoAxiomOrLemmaIsRefused) {
  EXPECT_THAT(with_lemmas("lemma wrong(x)\n  show x = 7\n  use magic(x)\n").error,
              HasSubstr("uses nothing that is known"));
  EXPECT_THAT(prove(kFactor, std::string(kFactorProof) + "order\n  use magic(rank)\n").error,
              HasSubstr("there is no axiom and no lemma 'magic'"));
  // Axioms with arguments that do not fit them.
  EXPECT_THAT(with_lemmas("lemma wrong(x)\n  show x = 7\n  use monotone(x, x)\n").error,
              HasSubstr("uses nothing that is known"));
  EXPECT_THAT(
      with_lemmas("lemma wrong(x)\n  show x = 7\n  use member(base, x)\n", with_nodes()).error,
      HasSubstr("uses nothing that is known"));
  // A table is no argument of a lemma.
  EXPECT_THAT(with_lemmas("lemma one(x)\n  show x = x + 0\nlemma two(x)\n  show x = x + 0\n"
                          "  use one(size)\n",
                          with_nodes())
                  .error,
              HasSubstr("uses nothing that is known"));
}

TEST(Induction, ProvesWhatItsBaseAndStepShow) {
  const std::string lemma =
      "lemma sums(i, n)\n  given 0 <= n and n < length(size)\n  show i <= base[i]\n"
      "  induction i from 0 to n\n";
  EXPECT_TRUE(with_lemmas(lemma, with_nodes()).proven());
}

TEST(Induction, FailsInItsBaseOrItsStep) {
  EXPECT_THAT(with_lemmas("lemma wrong(i)\n  show 1 <= i\n  induction i from 0 to ranks\n").failed,
              ElementsAre("lemma wrong, base"));
  EXPECT_THAT(
      with_lemmas("lemma wrong(i)\n  show i <= 3\n  induction i from 0 to ranks + 9\n").failed,
      ElementsAre("lemma wrong, step"));
}

TEST(Induction, OverAConditionThatNamesItsVariableIsRefused) {
  // Base and step hold, for i = 0; the lemma would say that 8 <= 1.
  EXPECT_THAT(with_lemmas("lemma wrong(i)\n  given i = 0 ? 0 = 0 : 7 <= i\n  show i <= 1\n"
                          "  induction i from 0 to 9\n")
                  .error,
              HasSubstr("a 'given' names the variable of the induction"));
}

TEST(Induction, ToAnEndThatNamesItsVariableIsRefused) {
  EXPECT_THAT(with_lemmas("lemma wrong(i)\n  show i <= 1\n  induction i from 0 to 1 - i\n").error,
              HasSubstr("an end of the induction names its variable"));
}

// Each claims of any x that it is the one value that a symbol of the solver has.
TEST(Names, OfALemmaAreNotSymbolsOfTheSolver) {
  for (const std::string name : {"length_nodes", "ranks_", "choice_0", "rank_2", "v0_x", "nodes"}) {
    const Proving proving = with_lemmas(
        fmt::format("lemma wrong({0})\n  show {0} = length(size)\n", name), with_nodes());
    EXPECT_EQ(proving.error, "");
    EXPECT_THAT(proving.failed, ElementsAre("lemma wrong")) << name;
  }
}

TEST(Names, OfALoopAreNotSymbolsOfTheSolver) {
  // The loop's length_nodes is any node, the table's length is not.
  const std::string program = with_nodes() + R"(for length_nodes in 0 .. ranks
  if length_nodes = length(size)
    copy send[rank] to recv[rank]
)";
  const Proving proving = prove(program, std::string(kFactorProof) + "once copy 2\n");
  EXPECT_FALSE(proving.proven());
  EXPECT_THAT(
      prove(with_nodes() + "for length_nodes in 0 .. ranks\n  let x = 1 div (length_nodes + 1 - "
                           "length(size) + 0*rank)\n",
            kFactorProof)
          .failed,
      ElementsAre("defined 2"));
}

TEST(Names, OfTwoLoopsWithOneNameAreTwo) {
  const std::string program = with_nodes() + R"(for u in 0 .. ranks
  let outer = u
  for u in 0 .. ranks
    let x = 1 div (u - outer = 0 ? 1 : 0)
)";
  EXPECT_THAT(prove(program, kFactorProof).failed, ElementsAre("defined 2"));
}

TEST(Types, AConditionIsNoNumber) {
  // Read as numbers, both sides were once the same symbol.
  EXPECT_THAT(with_lemmas("lemma wrong(x, y)\n  show (x = y) = (x xor y)\n").error,
              HasSubstr("test.proof:6:26: a condition is wanted"));
  EXPECT_THAT(with_lemmas("lemma wrong(x)\n  show x + 1\n").error,
              HasSubstr("a condition is wanted"));
  EXPECT_THAT(with_lemmas("define wrong(x)\n  as x < 1\n").error, HasSubstr("a number is wanted"));
  EXPECT_THAT(with_lemmas("lemma one(x)\n  show x = x + 0\nlemma two(x)\n  show x = x + 0\n"
                          "  use one(x < 1)\n")
                  .error,
              HasSubstr("uses nothing that is known"));
}

TEST(Rewriting, ByALemmaWithoutConditionsNeedsNone) {
  const std::string program = with_nodes();
  EXPECT_TRUE(with_lemmas("lemma first(x)\n  given x = x\n  show base[0] = 0\n", program).proven());
  std::string statements = kFactorProof;
  statements.replace(statements.find("match receive 1"), 0, "  rewrite first(round)\n");
  EXPECT_TRUE(prove(program, "lemma first(x)\n  show base[0] = 0\n" + statements).proven());
}

TEST(Rewriting, UnderConditionsThatDoNotHoldIsRefused) {
  std::string statements = kFactorProof;
  statements.replace(statements.find("match receive 1"), 0, "  rewrite first(round)\n");
  EXPECT_THAT(
      prove(with_nodes(), "lemma first(x)\n  given x = 0\n  show base[x] = 0\n" + statements)
          .failed,
      ElementsAre("match send 1, rewriting 1"));
}

TEST(Rewriting, ByWhatIsNoEqualityOfATableIsRefused) {
  std::string statements = kFactorProof;
  statements.replace(statements.find("match receive 1"), 0, "  rewrite first(round)\n");
  EXPECT_THAT(prove(with_nodes(), "lemma first(x)\n  show x <= x + 1\n" + statements).error,
              HasSubstr("rewrites by nothing that is known to be an equality of a table entry"));
}

TEST(Solver, ThatGivesUpIsNoProof) {
  const Algorithm* algorithm = find_algorithm(Collective::kAlltoall, "hierarchical-circle");
  const Choices choices = {{"self-loops", "keep"}, {"intra", "exchange"}, {"pacing", "token"}};
  const auto proof = verifier::parse_proof(proof_file(*algorithm, choices), "proof");
  ASSERT_TRUE(proof.ok());
  const auto plan = verifier::plan_proof(*proof);
  ASSERT_TRUE(plan.ok());
  verifier::ProverOptions options;
  options.most_work = 100;  // far too little
  int unknown = 0;
  for (const auto& result : verifier::Prover(options).prove(*proof, *plan).obligations) {
    EXPECT_EQ(result.proven, result.failure.empty());
    if (result.proven) continue;
    EXPECT_TRUE(result.unknown) << result.name << ": " << result.failure;
    EXPECT_THAT(result.failure, HasSubstr("gave up"));
    ++unknown;
  }
  EXPECT_GT(unknown, 0);
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

TEST(Numbers, ThatAreTooLargeAreGivenUp) {
  const Proving proving = with_lemmas("lemma large(x)\n  show 9223372036854775807*4*x = x\n");
  EXPECT_THAT(proving.failed, ElementsAre("lemma large"));
  EXPECT_THAT(proving.failure, HasSubstr("the numbers of the obligation are too large"));
}

TEST(Numbers, OfTooManyTermsAreGivenUp) {
  std::string product = "(a + b + c + d)";
  for (int i = 0; i < 14; ++i) product += "*(a + b + c + d + " + std::to_string(i) + ")";
  const Proving proving = with_lemmas("lemma large(a, b, c, d)\n  show " + product + " = 0\n");
  EXPECT_THAT(proving.failed, ElementsAre("lemma large"));
  EXPECT_THAT(proving.failure, HasSubstr("the numbers of the obligation are too large"));
}

TEST(Size, OfLetsThatDoubleIsBounded) {
  std::string program = kFactor;
  std::string lets = "let x0 = rank\n";
  for (int i = 1; i < 40; ++i)
    lets += "let x" + std::to_string(i) + " = x" + std::to_string(i - 1) + " + x" +
            std::to_string(i - 1) + "\n";
  program.replace(program.find("for round"), 0, lets);
  EXPECT_THAT(prove(program, kFactorProof).error,
              HasSubstr("an expression of more than 10000 parts once its lets are put in"));
}

TEST(Size, OfLargeLetsInManyPlacesIsBounded) {
  std::string program = kFactor;
  std::string lets = "let x0 = rank\n";
  for (int i = 1; i < 12; ++i)
    lets += "let x" + std::to_string(i) + " = x" + std::to_string(i - 1) + " + x" +
            std::to_string(i - 1) + "\n";
  for (int i = 0; i < 200; ++i) lets += "if x11 < 5\n  copy send[x11] to recv[x11]\n";
  program.replace(program.find("for round"), 0, lets);
  EXPECT_THAT(prove(program, kFactorProof).error, HasSubstr("parts once its lets are put in"));
}

TEST(Size, OfManyPiecesIsBounded) {
  std::string program = "algorithm many for allreduce\ntemporary 300 blocks\n";
  for (int i = 0; i < 300; ++i) program += "copy send[0] to temp[" + std::to_string(i) + "]\n";
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

}  // namespace
}  // namespace quadrille
