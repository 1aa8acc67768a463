// Messages of several pieces: they meet even where no piece has bytes, and their pieces stand in one
// order. What only these obligations refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/registry.h"
#include "schedule/text.h"
#include "tests/prove/proofs.h"

namespace quadrille {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Algorithm& neighbors() {
  return *find_algorithm(Collective::kAllgather, "neighbor-exchange");
}
std::string program() { return print(make_program(neighbors(), {})); }
std::string proof() { return neighbors().proof({}); }

TEST(Pieces, AreProvenInOrder) {
  const Proving proving = prove(program(), proof());
  EXPECT_EQ(proving.error, "");
  EXPECT_THAT(proving.failed, IsEmpty());
  EXPECT_EQ(smallest_failure(program()), "");
}

TEST(Pieces, InTwoOrdersAreNoMatch) {
  const std::string reversed = changed(
      program(), "for i in 2*gets .. 2*gets + 2\n          if 0 < m[i]\n            recv[i]",
      "for i in 2*gets .. 2*gets + 2\n          if 0 < m[4*gets + 1 - i]\n            "
      "recv[4*gets + 1 - i]");
  const std::string mirrored =
      changed(changed(proof(), "with receive 2 where t = t, i = i",
                      "with receive 2 where t = t, i = 4*gives + 1 - i"),
              "with send 2 where t = t, i = i", "with send 2 where t = t, i = 4*gets + 1 - i");
  EXPECT_THAT(prove(reversed, mirrored).error,
              HasSubstr("the pieces of the two messages are not in one order"));
  EXPECT_EQ(smallest_failure(reversed), "4x1, counts 1,1,0,0: place");
}

TEST(Pieces, MayHaveTheirWitnessesByTurns) {
  const std::string by_turns =
      changed(proof(), "match send 2\n  with receive 2 where t = t, i = i",
              "match send 2\n  with receive 2 where t = t, i = i if t = 1\n"
              "  with receive 2 where t = t, i = i");
  EXPECT_THAT(prove(program(), by_turns).failed, testing::IsEmpty());
}

TEST(Pieces, OfNoMessageAreAwaitedInVain) {
  const std::string awaits =
      changed(program(), "if 0 < m[2*gets] + m[2*gets + 1]", "if 0 <= m[2*gets] + m[2*gets + 1]");
  EXPECT_THAT(prove(awaits, proof()).failed, ElementsAre("match receive 2, message"));
  EXPECT_EQ(smallest_failure(awaits), "4x1, counts 0,0,0,0: progress");
}

TEST(Pieces, StayBehindWithTheirMessage) {
  const std::string half =
      changed(program(), "if 0 < m[2*gives] + m[2*gives + 1]", "if 0 < m[2*gives]");
  EXPECT_THAT(prove(half, proof()).failed,
              ElementsAre("match receive 2, message", "match receive 2"));
  EXPECT_EQ(smallest_failure(half), "4x1, counts 0,1,0,0: match");
}

// A message to nowhere without a piece, wherever the rank's contribution is empty.
TEST(Pieces, OfNoMessageGoToARankAllTheSame) {
  const std::string nowhere = R"(algorithm direct for allgather
table m = counts
copy send[0] to recv[rank]
for s in 0 .. ranks
  for d in 0 .. ranks
    if d != s
      if rank = s
        step s*ranks + d
          send to (0 < m[s] ? d : d + ranks)
            if 0 < m[s]
              recv[rank]
      else
        if rank = (0 < m[s] ? d : d + ranks)
          step s*ranks + d
            receive from s
              if 0 < m[s]
                recv[s]
)";
  EXPECT_THAT(prove(nowhere, kDirectProof).failed, ElementsAre("match send 1, peer"));
  EXPECT_EQ(smallest_failure(nowhere), "2x1, counts 0,0: peer");
}

// A ring of one step, in which a node's port is asked for what each rank sends.
std::string one_step(const std::string& sends, const std::string& receives) {
  return R"(algorithm ring for allgather
port one+one per node
table m = counts
table size = nodes
table base = prefix(size)
copy send[0] to recv[rank]
let right = wrap(rank + 1, ranks)
let left = wrap(rank - 1, ranks)
if 1 < ranks
  step 0
)" + sends +
         receives;
}

// Each of the two has its piece where the other has none.
TEST(Pieces, OfTwoMessagesDoNotMakeThemOne) {
  const std::string two = one_step(R"(    if 0 < m[rank]
      send to right
        if m[rank] = 1
          recv[rank]
      send to right
        if m[rank] = 1
          let none = 0
        else
          recv[rank]
)",
                                   R"(    if 0 < m[left]
      receive from left
        if m[left] = 1
          recv[left]
      receive from left
        if m[left] = 1
          let none = 0
        else
          recv[left]
)");
  const Proving proving = prove(two, R"(match send 1
  with receive 1
match send 2
  with receive 2
match receive 1
  with send 1
match receive 2
  with send 2
cover
  with receive 1
)");
  EXPECT_EQ(proving.error, "");
  EXPECT_THAT(proving.failed, Contains("match send 1 and send 2, peers"));
  EXPECT_THAT(proving.failed, Contains("match receive 1 and receive 2, peers"));
  EXPECT_EQ(smallest_failure(two), "2x1, counts 1,0: order");
}

TEST(Pieces, InLoopsAreNoneOfThePortsBusiness) {
  const std::string looped =
      one_step("    send to right\n      for i in 0 .. 1\n        recv[rank]\n",
               "    receive from left\n      for i in 0 .. 1\n        recv[left]\n");
  const std::string plain =
      one_step("    send recv[rank] to right\n", "    receive recv[left] from left\n");
  const auto of_the_port = [](const std::string& program, const std::string& value,
                              const std::string& at_source) {
    std::vector<std::string> failed;
    const Proving proving =
        prove(program, "match send 1\n  with receive 1" + value + "match receive 1\n  with send 1" +
                           value + "cover\n  with receive 1" + at_source);
    EXPECT_EQ(proving.error, "");
    for (const std::string& name : proving.failed)
      if (name.starts_with("port")) failed.push_back(name);
    return failed;
  };
  EXPECT_EQ(of_the_port(looped, " where i = i\n", " where i = 0\n"),
            of_the_port(plain, "\n", "\n"));
}

TEST(Powers, OfOneAreRefused) {
  const Algorithm& bruck = *find_algorithm(Collective::kAllgather, "bruck");
  const std::string ones =
      changed(print(make_program(bruck, {})), "require 2 <= radix", "require 1 <= radix");
  EXPECT_THAT(prove(ones, bruck.proof({})).failed, Contains("defined powers of pow"));
}

}  // namespace
}  // namespace quadrille
