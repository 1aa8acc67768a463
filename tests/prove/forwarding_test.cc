// The obligations of programs that forward blocks: for each kind a ring of which it fails, and no
// other, with the smallest call on which the checker sees it go wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/prove/proofs.h"

namespace quadrille {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kRing = R"(algorithm blocked-ring for allgather
port one+one per rank
parameter B at call
table m = counts
table b[i in 0 .. ranks] = max(1, (m[i] + B - 1) div B)
table s = prefix(b)
require 1 <= B

copy send[0] to recv[rank]
let total = s[ranks]
let right = wrap(rank + 1, ranks)
let left = wrap(rank - 1, ranks)
if 1 < ranks
  for k in 0 .. total - 1
    let x = wrap(s[rank + 1] - 1 - k, total)
    let y = wrap(s[rank] - 1 - k, total)
    let i = locate(s, x)
    let j = locate(s, y)
    let xlow = (x - s[i])*B
    let xhigh = min(m[i], xlow + B)
    let ylow = (y - s[j])*B
    let yhigh = min(m[j], ylow + B)
    step k after k - b[rank]
      if j != rank and ylow < yhigh
        receive recv[j]@ylow..yhigh from left
      if i != right and xlow < xhigh
        send recv[i]@xlow..xhigh to right
)";

const std::string kRingProof = R"(fits
  use monotone(0, x - s[i], B)
  use monotone(x - s[i], 0, B)
  use monotone(x - s[i] + 1, (m[i] + B - 1) div B, B)
  use monotone(0, y - s[j], B)
  use monotone(y - s[j], 0, B)
  use monotone(y - s[j] + 1, (m[j] + B - 1) div B, B)
define round(source, target, offset)
  as wrap(s[target] - 1 - (s[source] + offset div B), s[ranks])
define passes(source, target, offset)
  as y(target, round(source, target, offset)) - s[j(target, round(source, target, offset))]
match send 1
  use monotone(0, x - s[i], B)
  with receive 1 where k = k
match receive 1
  use monotone(0, y - s[j], B)
  with send 1 where k = k
held send 1
  with receive 1 where k = k - b[rank]
cover
  with receive 1 where k = round(source, target, offset)
  use monotone(offset div B, -1, B)
  use monotone(b[source], offset div B, B)
  use monotone((m[source] + B - 1) div B, 0, B)
  use monotone(passes(source, target, offset), offset div B, B)
  use monotone(offset div B, passes(source, target, offset), B)
once receive 1
  use monotone(offset div B + 1, y - s[j], B)
  use monotone(y - s[j] + 1, offset div B, B)
keys k
  from k
  to k + 1
)";

// Of a ring with one thing changed.
Fate fate(const std::string& from, const std::string& to) {
  return quadrille::fate(changed(kRing, from, to), kRingProof);
}

TEST(Forwarding, TheBlockedRingIsProvenForAllRanksCountsAndBlockSizes) {
  const Proving proving = prove(kRing, kRingProof);
  EXPECT_EQ(proving.error, "");
  EXPECT_THAT(proving.failed, IsEmpty());
  EXPECT_GE(proving.results.size(), 25u);
  EXPECT_EQ(smallest_failure(kRing), "");
}

TEST(Forwarding, AStepThatDoesNotWaitForWhatItSendsDoesNotHoldIt) {
  const Fate late = fate("after k - b[rank]", "after k - b[rank] - 1");
  EXPECT_THAT(late.failed, ElementsAre("held send 1"));
  EXPECT_EQ(late.smallest_failure, "3x1, counts 1,0,0, parameter 1: overlap");
}

TEST(Forwarding, WaitingForLaterStepsHoldsNoMore) {
  const Fate early = fate("after k - b[rank]", "after k");
  EXPECT_THAT(early.failed, IsEmpty());
  EXPECT_EQ(early.smallest_failure, "");
}

TEST(Forwarding, APartBeyondTheBlockIsNoPiece) {
  const Fate beyond = fate("let yhigh = min(m[j], ylow + B)", "let yhigh = ylow + B");
  EXPECT_THAT(beyond.failed, Contains("defined piece of receive 1"));
  EXPECT_EQ(beyond.smallest_failure, "2x1, counts 0,0, parameter 1: block");
}

TEST(Forwarding, PartsOfTwoLengthsAreNoMatch) {
  const Fate longer = fate("let xhigh = min(m[i], xlow + B)", "let xhigh = min(m[i], xlow + 1)");
  EXPECT_THAT(longer.failed, Contains("match send 1"));
  EXPECT_EQ(longer.smallest_failure, "2x1, counts 2,0, parameter 2: length");
}

TEST(Forwarding, ARankDoesNotReceiveWhatItHas) {
  const Fate own = fate("if j != rank and ylow < yhigh", "if ylow < yhigh");
  EXPECT_THAT(own.failed, ElementsAre("defined piece of receive 1", "match receive 1"));
  EXPECT_EQ(own.smallest_failure, "2x1, counts 2,0, parameter 1: match");
}

TEST(Forwarding, ARoundTooFewLeavesABlockOut) {
  const Fate few = fate("for k in 0 .. total - 1", "for k in 0 .. total - 2");
  EXPECT_THAT(few.failed, ElementsAre("final"));
  EXPECT_EQ(few.smallest_failure, "2x1, counts 1,0, parameter 1: coverage");
}

TEST(Forwarding, PartsThatOverlapArriveTwice) {
  const std::string program =
      changed(changed(kRing, "min(m[i], xlow + B)", "min(m[i], xlow + B + 1)"),
              "min(m[j], ylow + B)", "min(m[j], ylow + B + 1)");
  EXPECT_THAT(prove(program, kRingProof).failed, ElementsAre("once receive 1"));
  EXPECT_EQ(smallest_failure(program), "2x1, counts 2,0, parameter 1: once");
}

TEST(Forwarding, AnEmptyContributionWithoutABlockHasNoPlaceInTheSums) {
  const Fate none = fate("max(1, (m[i] + B - 1) div B)", "(m[i] + B - 1) div B");
  EXPECT_THAT(none.failed, ElementsAre("defined entries of b"));
  EXPECT_EQ(none.smallest_failure, "2x1, counts 1,0, parameter 1: coverage");
}

// What follows from sums of entries of at least 1 does not show that they are.
TEST(Forwarding, SumsSayNothingOfTheirEntries) {
  const std::string hint = "defined\n  use monotone(s[i], s[i + 1], b[i])\n";
  EXPECT_THAT(prove(kRing, kRingProof + hint).failed, IsEmpty());
  const std::string none = changed(kRing, "max(1, (m[i] + B - 1) div B)", "(m[i] + B - 1) div B");
  EXPECT_THAT(prove(none, kRingProof + hint).failed, ElementsAre("defined entries of b"));
}

// No call can be bound then: there is nothing to check.
TEST(Forwarding, ATableThatDividesByNothingIsNotDefined) {
  EXPECT_THAT(fate("require 1 <= B", "require 0 <= B").failed, Contains("defined 2"));
}

TEST(Forwarding, ABlockOfAnotherRankIsNotOwn) {
  const Proving proving =
      prove(changed(kRing, "copy send[0] to recv[rank]", "copy send[0] to recv[0]"), kRingProof);
  EXPECT_THAT(proving.failed, Contains("final own block"));
}

TEST(Forwarding, TheOwnBlockIsThereBeforeAnythingIsSent) {
  const std::string late =
      changed(kRing, "copy send[0] to recv[rank]\n", "") + "copy send[0] to recv[rank]\n";
  EXPECT_THAT(prove(late, kRingProof).failed, Contains("held send 1"));
  EXPECT_EQ(smallest_failure(late), "2x1, counts 1,0, parameter 1: held");
}

TEST(Forwarding, WitnessesOfTheWrongKindAreTold) {
  EXPECT_THAT(
      prove(kRing, changed(kRingProof, "cover\n  with receive 1", "cover\n  with send 1")).error,
      HasSubstr("'cover' names what writes nothing to the receive buffer"));
  EXPECT_THAT(
      prove(kRing, changed(kRingProof, "held send 1\n  with receive 1 where k = k - b[rank]\n", ""))
          .error,
      HasSubstr("no 'held send 1'"));
  EXPECT_THAT(prove(kRing, changed(kRingProof, "held send 1", "held receive 1")).error,
              HasSubstr("nothing is asked of 'receive 1' that needs 'held'"));
  EXPECT_THAT(prove(changed(kRing, "let left", "let offset = 0\nlet left"), kRingProof).error,
              HasSubstr("'offset' is a name that proofs keep for themselves"));
}

TEST(Forwarding, AWitnessOfAnotherRoundIsNotBelieved) {
  EXPECT_THAT(prove(kRing, changed(kRingProof, "k = k - b[rank]", "k = k - 1")).failed,
              ElementsAre("held send 1"));
  EXPECT_THAT(prove(kRing, changed(kRingProof, "wrap(s[target] - 1 -", "wrap(s[target] -")).failed,
              ElementsAre("final", "once receive 1"));
}

// From each rank to each other.
const std::string kDirect = R"(algorithm direct for allgather
table m = counts
copy send[0] to recv[rank]
for s in 0 .. ranks
  for d in 0 .. ranks
    if d != s and 0 < m[s]
      if rank = s
        step s*ranks + d
          send recv[rank] to d
      else
        if rank = d
          step s*ranks + d
            receive recv[s] from s
)";

TEST(Forwarding, FromEachToEachIsProven) {
  const Proving proving = prove(kDirect, kDirectProof);
  EXPECT_EQ(proving.error, "");
  EXPECT_THAT(proving.failed, IsEmpty());
  EXPECT_EQ(smallest_failure(kDirect), "");
}

TEST(Forwarding, LengthsNeedNotBeKnown) {
  const std::string any = changed(changed(kDirect, "table m = counts\n", ""), " and 0 < m[s]", "");
  EXPECT_THAT(prove(any, kDirectProof).failed, IsEmpty());
  EXPECT_EQ(smallest_failure(any), "");
}

TEST(Forwarding, AnEmptyBlockIsNotSent) {
  const std::string empty = changed(kDirect, " and 0 < m[s]", "");
  EXPECT_THAT(prove(empty, kDirectProof).failed,
              ElementsAre("defined piece of send 1", "defined piece of receive 1"));
  EXPECT_EQ(smallest_failure(empty), "2x1, counts 0,0: empty");
}

// No call of few ranks, or none of counts that do not ascend, can be bound.
TEST(Forwarding, TablesThatCannotBeFilledOrSearchedAreRefused) {
  const auto with = [](const std::string& lines) {
    return prove(changed(kDirect, "copy", lines + "\ncopy"), kDirectProof);
  };
  EXPECT_THAT(with("table t[i in 0 .. ranks - 4] = i").failed, ElementsAre("fits 1"));
  const std::string searched = "\nrequire locate(t, 1) <= ranks";
  EXPECT_THAT(with("table t[i in 0 .. ranks] = i div 2" + searched).failed, IsEmpty());
  EXPECT_THAT(with("table t[i in 0 .. ranks] = i mod 2" + searched).failed,
              ElementsAre("defined entries of t ascend"));
  EXPECT_THAT(with("table t = distinct(m)").error, HasSubstr("may not ascend"));
  EXPECT_THAT(with("require locate(m, 1) <= ranks").error, HasSubstr("may not ascend"));
}

}  // namespace
}  // namespace quadrille
