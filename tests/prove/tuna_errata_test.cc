// Where Fan et al. 2024 are literally wrong, the prover and the checker say so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/registry.h"
#include "schedule/text.h"
#include "tests/prove/proofs.h"
#include "verifier/prove/refute.h"

namespace quadrille {
namespace {

using testing::Contains;

const Algorithm& tuna() { return *find_algorithm(Collective::kAlltoall, "tuna"); }
std::string program() { return print(make_program(tuna(), {})); }

struct Fate {
  std::vector<std::string> failed;
  std::string smallest_failure;
};
Fate fate(const std::string& program) {
  const Proving proving = prove(program, tuna().proof({}));
  EXPECT_EQ(proving.error, "");
  return {proving.failed, smallest_failure(program)};
}

// TuNA with every occurrence of one thing replaced.
std::string everywhere(std::string from, const std::string& to) {
  std::string text = changed(program(), from, to);
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

TEST(TunaErrata, TheSlotsOfTheProgramAreThoseOfFloorInPlaceOfCeiling) {
  const Proving proving = prove(program(), tuna().proof({}));
  EXPECT_TRUE(proving.proven()) << proving.error << proving.failure;
  EXPECT_THAT(proving.results,
              Contains(testing::Field(&verifier::ObligationResult::name, "theorem closed_slot")));
}

TEST(TunaErrata, ThePrintedSlotsAreNegativeBeyondRadixTwo) {
  const verifier::Proof proof =
      verifier::parse_proof(proof_text(program(), tuna().proof({})), "tuna").value();
  const verifier::ProofPlan plan = verifier::plan_proof(proof).value();
  ASSERT_EQ(plan.false_claims.size(), 1u);
  EXPECT_EQ(verifier::find_counterexample(proof.program, plan.false_claims[0]),
            "nodes 5x1, parameter 3: i = 4");
}

TEST(TunaErrata, TheProgramWithThePrintedSlotsIsRightForRadixTwoOnly) {
  const std::string printed = everywhere(
      "i - 2 - locate(hop, i)",
      "i - 1 - (locate(pow, i - 1) + 1)*(radix - 1) - i div pow[locate(pow, i - 1) + 1]");
  const Fate any = fate(printed);
  EXPECT_THAT(any.failed, Contains("piece of receive 2"));
  EXPECT_EQ(any.smallest_failure, "5x1, parameter 3: block");
  EXPECT_EQ(smallest_failure(changed(printed, "require 2 <= radix", "require 2 = radix")), "");
}

// Line 16 asks for the first hop where the last one is meant.
TEST(TunaErrata, ABlockIsFinalAfterItsLastHopAndNotAfterItsFirst) {
  const Fate first = fate(changed(program(), "if q = 0", "if i = f"));
  EXPECT_THAT(first.failed, Contains("cover"));
  EXPECT_EQ(first.smallest_failure, "4x1, parameter 2: held");
}

// Line 9 asks for the digit 1 in every round of a digit.
TEST(TunaErrata, ARoundMovesTheBlocksWhoseDigitIsItsOwn) {
  const Fate one = fate(everywhere("let f = q*up + h", "let f = q*up + w"));
  EXPECT_THAT(one.failed, Contains("apart send 1 and send 1"));
  EXPECT_EQ(one.smallest_failure, "3x1, parameter 3: overwrite");
}

// Ranges without their ends.
TEST(TunaErrata, RangesAreHalfOpen) {
  const Fate digits = fate(changed(program(), "for z in 1 .. radix", "for z in 1 .. radix + 1"));
  EXPECT_THAT(digits.failed, Contains("keys x, statement 1"));
  EXPECT_EQ(digits.smallest_failure, "3x1, parameter 2: order");
  const Fate distances = fate(everywhere("min(f + w, ranks)", "min(f + w, ranks + 1)"));
  EXPECT_THAT(distances.failed, Contains("piece of send 1"));
}

}  // namespace
}  // namespace quadrille
