// For each kind of obligation a program, with what its author says of it, of which that obligation
// fails and no other, and the smallest job on which the checker sees it go wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/prove/proofs.h"

namespace quadrille {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// kFactor with one thing put in the place of another.
std::string factor(const std::string& from, const std::string& to) {
  return changed(kFactor, from, to);
}

std::string changed_proof(const std::string& from, const std::string& to) {
  return changed(kFactorProof, from, to);
}

TEST(Obligations, AllHoldOfTheFactorAlgorithm) {
  const Proving proving = prove(kFactor, kFactorProof);
  EXPECT_EQ(proving.error, "");
  EXPECT_THAT(proving.failed, IsEmpty());
  EXPECT_GE(proving.results.size(), 10u);
  EXPECT_EQ(smallest_failure(kFactor), "");
}

TEST(Obligations, ADivisorThatCanBeZeroIsNotDefined) {
  const std::string program =
      factor("for round in 0 .. ranks\n", "for round in 0 .. ranks\n  let x = 6 div (ranks - 1)\n");
  EXPECT_THAT(prove(program, kFactorProof).failed, ElementsAre("defined 1"));
  EXPECT_EQ(smallest_failure(program), "1: defined");
}

TEST(Obligations, AnIndexThatCanLeaveItsTableIsNotDefined) {
  const std::string program =
      factor("for round", "table size = nodes\nlet x = size[rank]\nfor round");
  EXPECT_THAT(prove(program, kFactorProof).failed, ElementsAre("defined 1"));
  EXPECT_EQ(smallest_failure(program), "2: defined");
}

TEST(Obligations, AWrapOfTwiceTheRangeIsNotDefined) {
  const std::string program = factor("let peer", "let x = wrap(round + ranks, ranks)\n  let peer");
  EXPECT_THAT(prove(program, kFactorProof).failed, IsEmpty());
  const std::string further =
      factor("let peer", "let x = wrap(round + ranks + 1, ranks)\n  let peer");
  EXPECT_THAT(prove(further, kFactorProof).failed, ElementsAre("defined 1"));
  EXPECT_EQ(smallest_failure(further), "1: defined");
}

TEST(Obligations, AGuardMakesAnOperationDefined) {
  const std::string program =
      factor("let peer", "let x = ranks > 1 and 6 div (ranks - 1) > 2 ? 1 : 0\n  let peer");
  EXPECT_THAT(prove(program, kFactorProof).failed, IsEmpty());
  EXPECT_EQ(smallest_failure(program), "");
}

TEST(Obligations, AMessageToOneselfIsNoPeer) {
  const std::string program = factor("  if peer != rank\n", "  if 0 = 0\n");
  const Proving proving = prove(program, kFactorProof);
  EXPECT_THAT(proving.failed, testing::Contains("match send 1, peer"));
  EXPECT_THAT(proving.failed, testing::Contains("match receive 1, peer"));
  EXPECT_EQ(smallest_failure(program), "1: self-message");
}

// Tokens beside the factor algorithm: they need no coverage, so nothing but their match can fail.
std::string with_tokens(const std::string& send_guard, const std::string& receive_guard) {
  return std::string(kFactor) + "if " + send_guard + "\n  step ranks\n    send nothing to 0\nif " +
         receive_guard + "\n  step ranks\n    receive nothing from 1\n";
}
const std::string kTokenProof = kFactorProof + matched(2);

TEST(Obligations, TokensThatMeetMatch) {
  const std::string program = with_tokens("rank = 1", "ranks > 1 and rank = 0");
  const Proving proving = prove(program, kTokenProof);
  EXPECT_EQ(proving.error, "");
  EXPECT_THAT(proving.failed, IsEmpty());
  EXPECT_EQ(smallest_failure(program), "");
}

TEST(Obligations, ASendWithoutItsReceiveDoesNotMatch) {
  const std::string program = with_tokens("rank = 1", "ranks > 2 and rank = 0");
  EXPECT_THAT(prove(program, kTokenProof).failed, ElementsAre("match send 2"));
  EXPECT_EQ(smallest_failure(program), "2x1: match");
}

TEST(Obligations, AReceiveWithoutItsSendDoesNotMatch) {
  const std::string program = with_tokens("rank = 1 and ranks > 2", "ranks > 1 and rank = 0");
  EXPECT_THAT(prove(program, kTokenProof).failed, ElementsAre("match receive 2"));
  EXPECT_EQ(smallest_failure(program), "2x1: match");
}

TEST(Obligations, EndsInStepsOfDifferentKeysDoNotMatch) {
  std::string program = with_tokens("rank = 1", "ranks > 1 and rank = 0");
  program.replace(program.rfind("step ranks"), 10, "step ranks + 1");
  const Proving proving = prove(program, kTokenProof);
  EXPECT_THAT(proving.failed, ElementsAre("match send 2", "match receive 2"));
  EXPECT_EQ(smallest_failure(program), "2x1: keys");
}

TEST(Obligations, AWitnessThatIsNotInverseDoesNotMatch) {
  // Right program, wrong proof: the checker has nothing against it.
  const Proving proving =
      prove(kFactor, changed_proof("with receive 1 where round = round",
                                   "with receive 1 where round = wrap(round + 1, ranks)"));
  EXPECT_THAT(proving.failed, testing::Contains("match send 1"));
}

TEST(Obligations, KeysThatStandStillDoNotIncrease) {
  const std::string program = factor("step round ", "step round div 2 ");
  EXPECT_THAT(prove(program, changed_proof("from round\n  to round + 1",
                                           "from round div 2\n  to round div 2 + 1"))
                  .failed,
              ElementsAre("keys round, one after another"));
  EXPECT_EQ(smallest_failure(program), "3x1: order");
}

TEST(Obligations, KeysThatLeaveTheirIntervalAreRefused) {
  const Proving proving = prove(kFactor, changed_proof("from round", "from round + 1"));
  EXPECT_THAT(proving.failed, testing::IsSupersetOf({"keys round, statement 1"}));
}

TEST(Obligations, StatementsOfABodyMustFollowOneAnother) {
  std::string program = with_tokens("rank = 1", "ranks > 1 and rank = 0");
  for (int i = 0; i < 2; ++i) program.replace(program.rfind("step ranks\n"), 11, "step 5 - 5\n");
  const Proving proving = prove(program, kTokenProof);
  EXPECT_THAT(proving.failed, testing::Each(HasSubstr("keys in the program")));
  EXPECT_THAT(proving.failed, testing::Not(IsEmpty()));
  EXPECT_EQ(smallest_failure(program), "2x1: order");
}

TEST(Obligations, ABlockThatNobodySendsIsNotCovered) {
  const std::string program = factor("if peer != rank\n", "if peer != rank and peer + rank != 1\n");
  // The other branch would copy, with a false claim of its own: it gets its own condition.
  const std::string guarded = changed(program, "  else\n", "  if peer = rank\n");
  EXPECT_THAT(prove(guarded, kFactorProof).failed, ElementsAre("final"));
  EXPECT_EQ(smallest_failure(guarded), "2x1: coverage");
}

TEST(Obligations, ABlockThatIsSentTwiceIsNotSentOnce) {
  const std::string program = std::string(kFactor) + R"(for again in 0 .. ranks
  let other = wrap(again - rank, ranks)
  if other != rank
    step ranks + again after -1
      send send[other] to other
      receive recv[other] from other
)";
  const std::string statements = kFactorProof + matched(2, "again = again") + R"(keys again
  from ranks + again
  to ranks + again + 1
)";
  const std::string not_in_place = changed(program, "in_place\n", "");
  EXPECT_THAT(prove(not_in_place, statements).failed, ElementsAre("once receive 2"));
  EXPECT_EQ(smallest_failure(not_in_place), "2x1: once");
}

TEST(Obligations, AWitnessBesideOneThatAlwaysAppliesIsRefused) {
  // Else each of two sends of a block would be the one that `cover` names.
  const Proving proving =
      prove(kFactor, changed_proof("with receive 1 where round = wrap(source + target, ranks)",
                                   "with receive 1 where round = wrap(source + target, ranks)\n"
                                   "  with receive 1 where round = wrap(source + target, ranks)"));
  EXPECT_THAT(proving.error, HasSubstr("only the last 'with' goes without an 'if'"));
}

TEST(Obligations, WitnessesMustCoverAllCases) {
  const Proving proving = prove(
      kFactor, changed_proof(
                   "with receive 1 where round = wrap(source + target, ranks)",
                   "with receive 1 where round = wrap(source + target, ranks) if source < target"));
  EXPECT_THAT(proving.failed, ElementsAre("final, all cases", "once receive 1"));
}

TEST(Obligations, ABlockForAnotherRankDoesNotMatch) {
  const std::string program = factor("send send[peer]", "send send[wrap(peer + 1, ranks)]");
  EXPECT_THAT(prove(program, kFactorProof).failed, testing::Contains("match send 1"));
  EXPECT_EQ(smallest_failure(program), "2x1: place");
}

TEST(Obligations, ACopyThatIsMissingIsNotThere) {
  const std::string program = factor("  else\n", "  if peer = rank and rank > 0\n");
  EXPECT_THAT(prove(program, kFactorProof).failed, ElementsAre("final own block"));
  EXPECT_EQ(smallest_failure(program), "1: coverage");
}

TEST(Obligations, ACopyThatIsMadeTwiceIsNotMadeOnce) {
  const std::string program = std::string(kFactor) + "copy send[rank] to recv[rank]\n";
  EXPECT_THAT(prove(program, kFactorProof).failed, ElementsAre("once copy 2"));
  EXPECT_EQ(smallest_failure(program), "1: once");
}

TEST(Obligations, ACopyOfAnotherRanksBlockIsRefused) {
  const std::string program = factor("copy send[rank]", "copy send[ranks - 1 - rank]");
  EXPECT_THAT(prove(program, kFactorProof).failed, testing::Contains("final own block"));
  EXPECT_EQ(smallest_failure(program), "2x1: place");
}

// Every rank sends to the one `round` above it, and receives from the one below.
constexpr const char* kShift = R"(algorithm shift for alltoall
in_place
copy send[rank] to recv[rank]
for round in 1 .. ranks
  let above = wrap(rank + round, ranks)
  let below = wrap(rank - round, ranks)
  step round after -1
    send send[above] to above
    receive recv[below] from below
)";
constexpr const char* kShiftProof = R"(match send 1
  with receive 1 where round = round
match receive 1
  with send 1 where round = round
cover
  with receive 1 where round = wrap(target - source, ranks)
keys round
  from round
  to round + 1
)";

TEST(Obligations, ABlockThatIsOverwrittenBeforeItIsSentIsNotInPlace) {
  EXPECT_THAT(prove(kShift, kShiftProof).failed, ElementsAre("apart send 1"));
  EXPECT_EQ(smallest_failure(kShift), "3x1: in-place");
  const std::string without = changed(kShift, "in_place\n", "");
  EXPECT_THAT(prove(without, kShiftProof).failed, IsEmpty());
  EXPECT_EQ(smallest_failure(without), "");
}

TEST(Obligations, AnExchangeOfABlockForATokenIsNoExcuseInPlace) {
  // Each pair exchanges in two rounds: the greater rank sends late what is overwritten early.
  const std::string program = R"(algorithm halves for alltoall
port exchange per rank
in_place
copy send[rank] to recv[rank]
for round in 0 .. ranks
  let peer = wrap(round - rank, ranks)
  if rank < peer
    step round
      send send[peer] to peer
      receive nothing from peer
  if peer < rank
    step round
      send nothing to peer
      receive recv[peer] from peer
for later in 0 .. ranks
  let other = wrap(later - rank, ranks)
  if rank < other
    step ranks + later
      send nothing to other
      receive recv[other] from other
  if other < rank
    step ranks + later
      send send[other] to other
      receive nothing from other
)";
  const std::string statements = R"(match send 1
  with receive 2 where round = round
match receive 2
  with send 1 where round = round
match send 2
  with receive 1 where round = round
match receive 1
  with send 2 where round = round
match send 3
  with receive 4 where later = later
match receive 4
  with send 3 where later = later
match send 4
  with receive 3 where later = later
match receive 3
  with send 4 where later = later
cover
  with receive 2 where round = wrap(source + target, ranks) if source < target
  with receive 3 where later = wrap(source + target, ranks)
keys round
  from round
  to round + 1
keys later
  from ranks + later
  to ranks + later + 1
)";
  const Proving proving = prove(program, statements);
  EXPECT_EQ(proving.error, "");
  EXPECT_THAT(proving.failed, ElementsAre("apart send 4, case 1"));
  EXPECT_EQ(smallest_failure(program), "2x1: in-place");
}

const std::string kNodes = "table size = nodes\ntable base = prefix(size)\n";

TEST(Obligations, TwoExchangesOfANodeAtOnceAreAgainstItsPort) {
  const std::string program =
      changed(factor("per rank", "per node"), "for round", kNodes + "for round");
  EXPECT_THAT(prove(program, kFactorProof).failed, ElementsAre("port: step 1 and step 1"));
  EXPECT_EQ(smallest_failure(program), "2x1,2: port");
}

TEST(Obligations, OneMessageLeavesANodeAndOneComesIn) {
  const std::string program =
      changed(kShift, "in_place\ncopy", "port one+one per node\n" + kNodes + "copy");
  EXPECT_THAT(prove(program, kShiftProof).failed,
              ElementsAre("port: send 1 and send 1", "port: receive 1 and receive 1"));
  EXPECT_EQ(smallest_failure(program), "2x1,2: port");
  // That it stays inside its node is not believed.
  EXPECT_THAT(prove(program, std::string(kShiftProof) + "port\n  inside send 1\n").failed,
              ElementsAre("port: send 1 stays inside its node", "port: receive 1 and receive 1"));
  EXPECT_THAT(prove(program, std::string(kShiftProof) + "port\n  inside receive 1\n").failed,
              ElementsAre("port: receive 1 stays inside its node", "port: send 1 and send 1"));
}

TEST(Obligations, APortPerNodeWantsATableOfNodes) {
  EXPECT_THAT(prove(factor("per rank", "per node"), kFactorProof).error,
              HasSubstr("a port per node needs a table of prefix(nodes)"));
}

TEST(Obligations, AStepWithTwoPartnersIsAgainstAnExchangePort) {
  const std::string program = changed(kShift, "in_place", "port exchange per rank");
  expect_fate(program, kShiftProof, {"port: send 1 and receive 1"}, "3x1: port");
  EXPECT_THAT(prove(changed(program, "per rank\n", "per node\n" + kNodes), kShiftProof).error,
              HasSubstr("exchanges with two different ranks, against the port"));
}

TEST(Obligations, ACopyBesideAnExchangeIsNoPartner) {
  const std::string program = R"(algorithm factor for alltoall
port exchange per rank
for round in 0 .. ranks
  let peer = wrap(round - rank, ranks)
  step round
    if round = 0
      copy send[rank] to recv[rank]
    if peer != rank
      receive recv[peer] from peer
      send send[peer] to peer
)";
  const std::string statements = changed_proof("round = wrap(rank + rank, ranks)", "round = 0");
  EXPECT_THAT(prove(program, statements).failed, IsEmpty());
  EXPECT_EQ(smallest_failure(program), "");
  const std::string nodes =
      changed(program, "port exchange per rank", "port exchange per node\n" + kNodes);
  EXPECT_THAT(prove(nodes, statements).failed, ElementsAre("port: step 1 and step 1"));
  EXPECT_EQ(smallest_failure(nodes), "2x1,2: port");
}

TEST(Obligations, WhatIsNeverReachedIsRefused) {
  // Its obligations would follow from hypotheses that contradict each other.
  const std::string program = with_tokens("rank < 0", "rank < 0");
  const Proving proving = prove(program, kTokenProof);
  const auto match = std::find_if(proving.results.begin(), proving.results.end(),
                                  [](const auto& result) { return result.name == "match send 2"; });
  ASSERT_NE(match, proving.results.end());
  EXPECT_EQ(match->failure, "the hypotheses contradict each other");
  EXPECT_EQ(smallest_failure(program), "");
}

TEST(Obligations, WhatHasNoProofSystemIsSaidSo) {
  EXPECT_THAT(prove(factor("send send[peer]", "send sized send[peer]"), kFactorProof).error,
              HasSubstr("send 1 cannot be matched with receive 1"));
  const std::string several =
      factor("      send send[peer] to peer\n",
             "      send to peer\n        send[peer]\n        send[peer]\n");
  EXPECT_THAT(prove(several, kFactorProof).error, HasSubstr("the proof has no 'match send 2'"));
  EXPECT_THAT(prove(factor("copy send[rank]", "copy recv[rank]"), kFactorProof).error,
              HasSubstr("'copies' names what is no copy of a block from send to receive buffer"));
  const std::string twice =
      factor("      send send[peer] to peer\n",
             "      send send[peer] to peer\n      send send[peer] to peer\n");
  EXPECT_FALSE(prove(twice, std::string(kFactorProof) +
                                "match send 2\n  with receive 1 where round = round\n")
                   .proven());
}

}  // namespace
}  // namespace quadrille
