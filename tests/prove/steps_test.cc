// Steps with several messages, and messages whose pieces stand in loops with other bounds at the other
// end: at most one message each way between two ranks in a step, and pieces in one order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/prove/proofs.h"

namespace quadrille {
namespace {

using testing::HasSubstr;

// All first hops in one step, each by way of another rank.
const std::string kFan = R"(algorithm fan for alltoall
temporary max(0, ranks - 2) blocks
copy send[rank] to recv[rank]
step 1
  for i in 2 .. ranks
    send sized send[wrap(rank + i, ranks)] to wrap(rank + i - 1, ranks)
    receive sized temp[i - 2] from wrap(rank - i + 1, ranks)
for i in 1 .. ranks
  step i + 1
    send sized to wrap(rank + 1, ranks)
      if i = 1
        send[wrap(rank + 1, ranks)]
      else
        temp[i - 2]
    receive sized recv[wrap(rank - i, ranks)] from wrap(rank - 1, ranks)
)";

const std::string kFanProof = matched(1, "i = i") + R"(match send 2
  with receive 2 where i = i
match send 3
  with receive 2 where i = i
match receive 2
  with send 2 where i = i if i = 1
  with send 3 where i = i
carries receive 1
  source wrap(rank - i + 1, ranks)
  target wrap(rank + 1, ranks)
carries send 3
  source wrap(rank - i + 1, ranks)
  target wrap(rank + 1, ranks)
held send 3
  with receive 1 where i = i
cover
  with receive 2 where i = wrap(target - source, ranks)
copies
  with copy 1
keys i
  from i + 1
  to i + 2
)";

TEST(Steps, AStepMayHaveAMessageForEachRank) { expect_fate(kFan, kFanProof, {}, ""); }

TEST(Steps, AStepHasOneMessageForEachRank) {
  std::string program = changed(kFan, "to wrap(rank + i - 1, ranks)", "to wrap(rank + 1, ranks)");
  program = changed(program, "from wrap(rank - i + 1, ranks)", "from wrap(rank - 1, ranks)");
  program = changed(program, "to wrap(rank + 1, ranks)\n      if",
                    "to wrap(rank + i - (i = 1 ? 0 : 1), ranks)\n      if");
  program = changed(program, "ranks)] from wrap(rank - 1, ranks)",
                    "ranks)] from wrap(rank - i + (i = 1 ? 0 : 1), ranks)");
  std::string proof = kFanProof;
  for (int i = 0; i < 2; ++i)
    proof = changed(proof, "wrap(rank - i + 1, ranks)\n  target wrap(rank + 1, ranks)",
                    "wrap(rank - 1, ranks)\n  target wrap(rank + i - 1, ranks)");
  expect_fate(program, proof,
              {"match send 1 and send 1, peers", "match receive 1 and receive 1, peers"},
              "4x1: order");
  const std::string with_port = changed(kFan, "temporary", "port one+one per rank\ntemporary");
  expect_fate(with_port, kFanProof, {"port: send 1 and send 1", "port: receive 1 and receive 1"},
              "4x1: port");
  expect_fate(changed(with_port, "one+one", "exchange"), kFanProof,
              {"port: send 1 and send 1", "port: send 1 and receive 1",
               "port: receive 1 and receive 1", "port: send 2 and receive 2"},
              "3x1: port");
  EXPECT_THAT(
      prove(changed(with_port, "one+one per rank", "exchange per node"), kFanProof).error,
      HasSubstr("several messages one way in a step, beside a port of nodes for exchanges"));
}

// One iteration sends the one, another the other.
TEST(Steps, AStepHasOneMessageForEachRankWhateverIsChosenInALoop) {
  const std::string program = R"(algorithm turns for alltoall
require ranks = 3
temporary 1 blocks
copy send[rank] to recv[rank]
step 1
  for k in 1 .. 3
    if k = 1
      send sized send[wrap(rank + 1, ranks)] to wrap(rank + 1, ranks)
      receive sized recv[wrap(rank - 1, ranks)] from wrap(rank - 1, ranks)
    else
      send sized send[wrap(rank + 2, ranks)] to wrap(rank + 1, ranks)
      receive sized temp[0] from wrap(rank - 1, ranks)
step 2
  send sized temp[0] to wrap(rank + 1, ranks)
  receive sized recv[wrap(rank - 2, ranks)] from wrap(rank - 1, ranks)
)";
  const std::string proof =
      matched(1, "k = k") + matched(2, "k = k") + matched(3) + R"(carries receive 2
  source wrap(rank - 1, ranks)
  target wrap(rank + 1, ranks)
carries send 3
  source wrap(rank - 1, ranks)
  target wrap(rank + 1, ranks)
held send 3
  with receive 2 where k = 2
cover
  with receive 1 where k = 1 if target = wrap(source + 1, ranks)
  with receive 3
copies
  with copy 1
)";
  expect_fate(program, proof,
              {"match send 1 and send 2, peers", "match receive 1 and receive 2, peers"},
              "3x1: order");
}

// The second piece of each iteration meets the next iteration's: as many pieces, in another order.
TEST(Steps, PiecesOfOneLoopMeetInOneIteration) {
  const std::string program = R"(algorithm shifted for alltoall
require ranks = 6
temporary 4 blocks
copy send[rank] to recv[rank]
step 1
  send sized to wrap(rank + 1, ranks)
    for i in 0 .. 2
      send[wrap(rank + 2 + 2*i, ranks)]
      send[wrap(rank + 3 + 2*i, ranks)]
  receive sized from wrap(rank - 1, ranks)
    for i in 0 .. 3
      if i < 2
        temp[2*i]
      if 0 < i
        temp[2*i - 1]
step 2
  send sized send[wrap(rank + 1, ranks)] to wrap(rank + 1, ranks)
  receive sized recv[wrap(rank - 1, ranks)] from wrap(rank - 1, ranks)
for j in 0 .. 4
  step 3 + j
    send sized temp[j] to wrap(rank + 1 + j, ranks)
    receive sized recv[wrap(rank - 2 - j, ranks)] from wrap(rank - 1 - j, ranks)
)";
  const std::string proof = R"(match send 1
  with receive 1 where i = i
match receive 1
  with send 1 where i = i
match send 2
  with receive 2 where i = 1 + i
match receive 2
  with send 2 where i = i - 1
match send 3
  with receive 3
match receive 3
  with send 3
match send 4
  with receive 4 where j = j
match receive 4
  with send 4 where j = j
carries receive 1
  source wrap(rank - 1, ranks)
  target wrap(rank + 1 + 2*i, ranks)
carries receive 2
  source wrap(rank - 1, ranks)
  target wrap(rank + 2*i, ranks)
carries send 4
  source wrap(rank - 1, ranks)
  target wrap(rank + 1 + j, ranks)
held send 4
  with receive 1 where i = j div 2 if j mod 2 = 0
  with receive 2 where i = j div 2 + 1
cover
  with receive 3 if target = wrap(source + 1, ranks)
  with receive 4 where j = wrap(target - source, ranks) - 2
copies
  with copy 1
keys j
  from 3 + j
  to 4 + j
)";
  EXPECT_EQ(smallest_failure(program), "6x1: place");
  EXPECT_THAT(prove(program, proof).error,
              HasSubstr("the pieces of the two messages are not in one order"));
  // Where both are in the next iteration, nothing else is wrong.
  const std::string together =
      changed(program, "if i < 2\n        temp[2*i]", "if 0 < i\n        temp[2*i - 2]");
  std::string shifted =
      changed(proof, "with receive 1 where i = i", "with receive 1 where i = 1 + i");
  shifted = changed(shifted, "with send 1 where i = i", "with send 1 where i = i - 1");
  shifted = changed(shifted, "target wrap(rank + 1 + 2*i", "target wrap(rank - 1 + 2*i");
  shifted = changed(shifted, "where i = j div 2 if", "where i = j div 2 + 1 if");
  expect_fate(together, shifted, {}, "");
}

}  // namespace
}  // namespace quadrille
