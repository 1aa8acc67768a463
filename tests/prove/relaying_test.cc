// The obligations of all-to-all programs whose blocks pass through temporary buffers: for each kind a
// program of which it fails, with the smallest job on which the checker sees it go wrong. The author of
// each does what can be done to have it proven: witnesses and claims are the best there are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/prove/proofs.h"

namespace quadrille {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

// A block for the rank i above goes by way of the next one, where all of them have one place.
const std::string kDetour = R"(algorithm detour for alltoall
port one+one per rank
temporary 1 blocks
copy send[rank] to recv[rank]
for i in 1 .. ranks
  if i = 1
    step 4*i + 3
      send sized send[wrap(rank + 1, ranks)] to wrap(rank + 1, ranks)
      receive sized recv[wrap(rank - 1, ranks)] from wrap(rank - 1, ranks)
  else
    step 4*i
      send sized send[wrap(rank + i, ranks)] to wrap(rank + 1, ranks)
      receive sized temp[0] from wrap(rank - 1, ranks)
    step 4*i + 3
      send sized temp[0] to wrap(rank + i - 1, ranks)
      receive sized recv[wrap(rank - i, ranks)] from wrap(rank - i + 1, ranks)
)";

const std::string kDetourProof =
    matched(1, "i = i") + matched(2, "i = i") + matched(3, "i = i") + R"(carries receive 2
  source wrap(rank - 1, ranks)
  target wrap(rank + i - 1, ranks)
carries send 3
  source wrap(rank - 1, ranks)
  target wrap(rank + i - 1, ranks)
held send 3
  with receive 2 where i = i
cover
  with receive 1 where i = 1 if target = wrap(source + 1, ranks)
  with receive 3 where i = wrap(target - source, ranks)
copies
  with copy 1
keys i
  from 4*i
  to 4*i + 4
)";

// The last step of each i, in a loop of its own.
const std::string kFinal = R"(    step 4*i + 3
      send sized temp[0] to wrap(rank + i - 1, ranks)
      receive sized recv[wrap(rank - i, ranks)] from wrap(rank - i + 1, ranks)
)";
const std::string kLate = changed(kDetour, kFinal, R"(for i in 2 .. ranks
  step 4*ranks + i
    send sized temp[0] to wrap(rank + i - 1, ranks)
    receive sized recv[wrap(rank - i, ranks)] from wrap(rank - i + 1, ranks)
)");
const std::string kLateProof = kDetourProof + R"(keys i
  from 4*ranks + i
  to 4*ranks + i + 1
)";

// kLate with a place for each i.
std::string late_with(const std::string& places) {
  std::string program = changed(kLate, "temporary 1 blocks", "temporary " + places + " blocks");
  for (int i = 0; i < 2; ++i) program = changed(program, "temp[0]", "temp[i - 2]");
  return program;
}

// A further message of a block that has been sent, in a step behind all others.
std::string further(const std::string& block, const std::string& claims) {
  return matched(4) + claims + block;
}

TEST(Relaying, ADetourIsProven) {
  expect_fate(kDetour, kDetourProof, {}, "");
  expect_fate(late_with("max(0, ranks - 2)"), kLateProof, {}, "");
}

TEST(Relaying, ABlockIsNotWrittenOverOneThatIsStillNeeded) {
  expect_fate(kLate, kLateProof, {"apart receive 2 and send 3"}, "4x1: overwrite");
}

TEST(Relaying, APlaceTooFewIsNoPlace) {
  expect_fate(late_with("max(0, ranks - 3)"), kLateProof,
              {"defined piece of receive 2", "defined piece of send 3"}, "3x1: block");
}

// No job of one rank can be bound: there is nothing to check.
TEST(Relaying, NoBufferHasFewerPlacesThanNone) {
  expect_fate(late_with("ranks - 2"), kLateProof, {"fits 1"}, "");
}

TEST(Relaying, WhatIsSentOnHasArrivedInAStepThatIsOver) {
  expect_fate(changed(kDetour, "step 4*i + 3\n      send sized temp",
                      "step 4*i + 3 after 4*i - 1\n      send sized temp"),
              kDetourProof, {"held send 3"}, "3x1: overlap");
}

TEST(Relaying, WhatIsWrittenOverIsReadInAStepThatIsOver) {
  expect_fate(changed(kDetour, "step 4*i\n", "step 4*i after 4*i - 2\n"), kDetourProof,
              {"apart receive 2 and send 3"}, "4x1: overlap");
  expect_fate(changed(kDetour, "step 4*i\n", "step 4*i after 4*i - 1\n"), kDetourProof, {}, "");
}

TEST(Relaying, ABlockGoesWhereItIsSaidToGo) {
  const std::string wrong =
      changed(changed(kDetour, "to wrap(rank + i - 1, ranks)", "to wrap(rank - i + 1, ranks)"),
              "from wrap(rank - i + 1, ranks)", "from wrap(rank + i - 1, ranks)");
  expect_fate(wrong, kDetourProof, {"match send 3", "match receive 3"}, "3x1: place");
}

// Where both ends of the second hop say the same of the block, its first hop does not.
TEST(Relaying, WhatPiecesAreSaidToCarryBeginsInTheSendBuffer) {
  const std::string other =
      changed(kDetour, "send[wrap(rank + i, ranks)]", "send[wrap(rank - i, ranks)]");
  EXPECT_THAT(prove(other, kDetourProof).failed, Contains("match send 2"));
  std::string honest = kDetourProof;
  for (int i = 0; i < 2; ++i)
    honest = changed(honest, "target wrap(rank + i - 1, ranks)",
                     "target wrap(wrap(rank - 1, ranks) - i, ranks)");
  EXPECT_THAT(prove(other, honest).failed,
              ElementsAre("match send 3", "match receive 3", "once send 1 and send 2"));
  EXPECT_EQ(smallest_failure(other), "3x1: place");
}

TEST(Relaying, ABlockIsSentFromTheSendBufferOnce) {
  const std::string program = kDetour + R"(if 1 < ranks
  step 5*ranks
    send sized send[wrap(rank + 1, ranks)] to wrap(rank + 1, ranks)
    receive sized temp[0] from wrap(rank - 1, ranks)
)";
  const std::string claims = "carries receive 4\n  source wrap(rank - 1, ranks)\n  target rank\n";
  expect_fate(program, further(kDetourProof, claims), {"once send 1 and send 4"}, "2x1: left-over");
}

TEST(Relaying, ABlockIsSentOnOnce) {
  const std::string program = kDetour + R"(if 2 < ranks
  step 5*ranks
    send sized temp[0] to wrap(rank + 1, ranks)
    receive sized temp[0] from wrap(rank - 1, ranks)
)";
  const std::string claims = R"(carries send 4
  source wrap(rank - 1, ranks)
  target wrap(rank - 2, ranks)
carries receive 4
  source wrap(rank - 2, ranks)
  target wrap(rank - 3, ranks)
held send 4
  with receive 2 where i = ranks - 1
)";
  expect_fate(program, further(kDetourProof, claims), {"once send 3 and send 4"}, "3x1: left-over");
}

TEST(Relaying, ABlockArrivesOnce) {
  const std::string program = kDetour + R"(if 2 < ranks
  step 5*ranks
    send sized temp[0] to wrap(rank - 2, ranks)
    receive sized recv[wrap(rank + 1, ranks)] from wrap(rank + 2, ranks)
)";
  const std::string claims = R"(carries send 4
  source wrap(rank - 1, ranks)
  target wrap(rank - 2, ranks)
held send 4
  with receive 2 where i = ranks - 1
)";
  expect_fate(program, further(kDetourProof, claims), {"once receive 4", "once send 3 and send 4"},
              "3x1: once");
}

TEST(Relaying, EveryBlockArrives) {
  expect_fate(changed(kDetour, "for i in 1 .. ranks", "for i in 1 .. ranks - 1"), kDetourProof,
              {"final, case 1", "final, case 2"}, "2x1: coverage");
}

TEST(Relaying, ARanksOwnBlockDoesNotTravel) {
  const Proving proving =
      prove(changed(kDetour, "for i in 1 .. ranks", "for i in 1 .. ranks + 1"), kDetourProof);
  EXPECT_THAT(proving.failed, Contains("defined piece of receive 2"));
}

// By the next rank, the one after it, and the next again.
TEST(Relaying, ABlockDoesNotComeBackToAPlaceWhereItWas) {
  const std::string program =
      changed(changed(kDetour, "temporary 1 blocks", "temporary 2 blocks"), kFinal,
              R"(    step 4*i + 1
      send sized temp[0] to wrap(rank + 1, ranks)
      receive sized temp[1] from wrap(rank - 1, ranks)
    step 4*i + 2
      send sized temp[1] to wrap(rank - 1, ranks)
      receive sized temp[0] from wrap(rank + 1, ranks)
)" + kFinal);
  std::string proof =
      changed(changed(kDetourProof, "cover",
                      matched(4, "i = i") + matched(5, "i = i") + R"(carries receive 3
  source wrap(rank - 2, ranks)
  target wrap(rank + i - 2, ranks)
carries send 4
  source wrap(rank - 2, ranks)
  target wrap(rank + i - 2, ranks)
held send 4
  with receive 3 where i = i
carries receive 4
  source wrap(rank - 1, ranks)
  target wrap(rank + i - 1, ranks)
carries send 5
  source wrap(rank - 1, ranks)
  target wrap(rank + i - 1, ranks)
held send 5
  with receive 4 where i = i
cover)"),
              "with receive 3 where i = wrap(", "with receive 5 where i = wrap(");
  expect_fate(program, proof, {"once receive 2 and receive 4", "once send 3 and send 5"},
              "3x1: once");
}

TEST(Relaying, WhatIsUnknownOrUnclearIsTold) {
  const auto error = [](const std::string& from, const std::string& to) {
    return prove(changed(kDetour, from, to), kDetourProof).error;
  };
  EXPECT_THAT(error("receive sized temp[0]", "receive temp[0]"),
              HasSubstr("a temporary block in a message that is not sized"));
  EXPECT_THAT(error("receive sized recv[wrap(rank - i", "receive recv[wrap(rank - i"),
              HasSubstr("send 3 cannot be matched with receive 3"));
  const auto proof_error = [](const std::string& from, const std::string& to) {
    return prove(kDetour, changed(kDetourProof, from, to)).error;
  };
  EXPECT_THAT(proof_error("  source wrap(rank - 1, ranks)\n", ""),
              HasSubstr("it wants 'source NUMBER' and 'target NUMBER'"));
  EXPECT_THAT(proof_error("carries receive 2", "carries receive 1"),
              HasSubstr("nothing is asked of 'receive 1' that needs 'carries'"));
  EXPECT_THAT(proof_error("held send 3\n  with receive 2", "held send 3\n  with receive 3"),
              HasSubstr("'held send 3' names what writes nothing there"));
  EXPECT_THAT(proof_error("with receive 3 where i = wrap(", "with receive 2 where i = wrap("),
              HasSubstr("'cover' names what writes nothing to the receive buffer"));
}

}  // namespace
}  // namespace quadrille
