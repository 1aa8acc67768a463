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

Fate fate(const std::string& program) { return quadrille::fate(program, tuna().proof({})); }

// TuNA with every occurrence of one thing replaced.
std::string everywhere(const std::string& from, const std::string& to) {
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
  EXPECT_THAT(any.failed, Contains("defined piece of receive 2"));
  EXPECT_EQ(any.smallest_failure, "5x1, parameter 3: block");
  EXPECT_EQ(smallest_failure(changed(printed, "require 2 <= radix", "require 2 = radix")), "");
}

// Line 16 asks for the first hop where the last one is meant.
TEST(TunaErrata, ABlockIsFinalAfterItsLastHopAndNotAfterItsFirst) {
  const Fate first = fate(changed(program(), "if q = 0", "if i = f"));
  EXPECT_THAT(first.failed, Contains("final"));
  EXPECT_EQ(first.smallest_failure, "4x1, parameter 2: held");
}

// Line 9 asks for the digit 1 in every round of a digit.
TEST(TunaErrata, ARoundMovesTheBlocksWhoseDigitIsItsOwn) {
  const Fate one = fate(everywhere("let f = q*up + h", "let f = q*up + w"));
  EXPECT_THAT(one.failed, Contains("once send 1"));
  EXPECT_EQ(one.smallest_failure, "3x1, parameter 3: place");
}

// Ranges without their ends.
TEST(TunaErrata, RangesAreHalfOpen) {
  const Fate digits = fate(changed(program(), "for z in 1 .. radix", "for z in 1 .. radix + 1"));
  EXPECT_THAT(digits.failed, Contains("keys x, statement 1"));
  EXPECT_EQ(digits.smallest_failure, "3x1, parameter 2: order");
  const Fate distances = fate(everywhere("min(f + w, ranks)", "min(f + w, ranks + 1)"));
  EXPECT_THAT(distances.failed, Contains("defined piece of send 1"));
}

// Algorithms 2 and 3 on nodes of one size, with the shortest of first stages, in which rank g of a node
// gets all blocks of its node for ranks g of any; what follows it is theirs, as it is meant.
std::string on_equal_nodes(const std::string& second_stage) {
  return R"(algorithm equal-nodes for alltoall
table size = nodes
require ranks = size[0]*length(size)
temporary ranks blocks
let Q = size[0]
let N = length(size)
let n = rank div Q
let g = rank mod Q
copy send[rank] to recv[rank]
for j in 1 .. Q
  step j
    send sized to n*Q + wrap(g + j, Q)
      for m in 0 .. N
        send[m*Q + wrap(g + j, Q)]
    receive sized from n*Q + wrap(g - j, Q)
      for m in 0 .. N
        if m = n
          recv[n*Q + wrap(g - j, Q)]
        else
          temp[m*Q + wrap(g - j, Q)]
)" + second_stage;
}

const std::string kCoalesced = on_equal_nodes(R"(for i in 1 .. N
  let nsrc = (n + i) mod N
  let ndst = (n - i + N) mod N
  let src = nsrc*Q + g
  let dst = ndst*Q + g
  step Q + i
    receive from src
      for s in 0 .. Q
        recv[nsrc*Q + s]
    send to dst
      for s in 0 .. Q
        if s = g
          send[dst]
        else
          temp[ndst*Q + s]
)");

TEST(TunaErrata, CoalescedExchangesAreAmongNodesAndNotAmongRanksOfANode) {
  EXPECT_EQ(smallest_failure(kCoalesced), "");
  const std::string printed = changed(changed(kCoalesced, "(n + i) mod N", "(n + i) mod Q"),
                                      "(n - i + N) mod N", "(n - i + Q) mod Q");
  EXPECT_EQ(smallest_failure(printed), "2x1: self-message");
}

TEST(TunaErrata, CoalescedBlocksGoToTheRankAndNotToTheNumberOfItsNode) {
  EXPECT_EQ(smallest_failure(changed(kCoalesced, "send to dst", "send to ndst")),
            "2x2: self-message");
}

const std::string kStaggered = on_equal_nodes(R"(for i in 0 .. ranks
  let gi = i div Q
  let gr = i mod Q
  let nsrc = (n + gi) mod N
  let ndst = (n - gi + N) mod N
  if 0 < gi
    step Q + i
      receive recv[nsrc*Q + gr] from nsrc*Q + g
      send to ndst*Q + g
        if gr = g
          send[ndst*Q + g]
        else
          temp[ndst*Q + gr]
)");

TEST(TunaErrata, StaggeredBlocksAreCountedByTheRanksOfANodeAndNotByItsNumber) {
  EXPECT_EQ(smallest_failure(kStaggered), "");
  EXPECT_EQ(smallest_failure(changed(kStaggered, "i div Q", "i div n")), "1: defined");
  EXPECT_EQ(smallest_failure(changed(kStaggered, "i mod Q", "i mod n")), "1: defined");
}

TEST(TunaErrata, StaggeredExchangesAreWithOtherNodesAndNotWithOtherRanksNumbers) {
  const std::string printed = changed(changed(kStaggered, "(n + gi) mod N", "(g + gi) mod N"),
                                      "(n - gi + N) mod N", "(g - gi + N) mod N");
  EXPECT_EQ(smallest_failure(printed), "2x1: self-message");
}

}  // namespace
}  // namespace quadrille
