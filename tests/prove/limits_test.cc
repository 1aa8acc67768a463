// What integers, tables and ports do not hold for all sizes: programs that are right as long as numbers
// have no end, or where what looks alike is taken for one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/prove/proofs.h"

namespace quadrille {
namespace {

// The ring that sends each block on, with another expression on the way.
std::string ring(const std::string& statement) {
  return R"(algorithm ring for allgather
table m = counts
copy send[0] to recv[rank]
let right = wrap(rank + 1, ranks)
let left = wrap(rank - 1, ranks)
for k in 0 .. ranks - 1
  let far = )" +
         statement + R"(
  let x = wrap(rank - k, ranks)
  let y = wrap(rank - 1 - k, ranks)
  step k
    if 0 < m[y]
      receive recv[y] from left
    if 0 < m[x]
      send recv[x] to right
)";
}

const std::string kRingProof = matched(1, "k = k") + R"(held send 1
  with receive 1 where k = k - 1
cover
  with receive 1 where k = wrap(target - 1 - source, ranks)
keys k
  from k
  to k + 1
)";

TEST(Fits, WhatStaysWithin64BitsIsProven) {
  expect_fate(ring("rank*m[rank]"), kRingProof, {}, "");
  expect_fate(ring("m[rank]*4194304"), kRingProof, {}, "");
  expect_fate(ring("rank*rank*rank"), kRingProof, {}, "");
}

TEST(Fits, WhatLeavesThemIsNot) {
  expect_fate(ring("rank*(m[rank]*4503599627370496)"), kRingProof, {"fits 1", "fits 2"}, "");
  expect_fate(ring("m[rank]*8388608"), kRingProof, {"fits 1"}, "");
  expect_fate(ring("rank*rank*rank*rank"), kRingProof, {"fits 1"}, "");
  expect_fate(ring("0 - 9223372036854775807 - rank - 1"), kRingProof, {"fits 1", "fits 2"},
              "2x1, counts 0,0: defined");
}

// A condition narrows what it compares, and nothing else.
TEST(Fits, AConditionNarrowsWhatItCompares) {
  expect_fate(ring("m[rank] < 8 ? m[rank]*8388608 : 0"), kRingProof, {}, "");
  expect_fate(ring("m[rank] < 8 ? 0 : m[rank]*8388608"), kRingProof, {"fits 1"}, "");
  expect_fate(ring("m[rank] < 8 ? m[0]*8388608 : 0"), kRingProof, {"fits 1"}, "");
}

TEST(Fits, KeysOfAllSizesDo) {
  const std::string program =
      changed(kFactor, "step round after", "step round*4611686018427387904 after");
  std::string proof = changed(kFactorProof, "from round", "from round*4611686018427387904");
  proof = changed(proof, "to round", "to round*4611686018427387904");
  expect_fate(program, proof, {"fits 1"}, "3x1: defined");
}

// The obligations that fail of an all-to-all that is right, but for its tables.
std::vector<std::string> failed_with(const std::string& tables) {
  const Proving proving = prove(changed(kFactor, "in_place\n", tables + "\n"), kFactorProof);
  EXPECT_EQ(proving.error, "") << tables;
  return proving.failed;
}

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Tables, CanBeFilledOnAllJobs) {
  const std::string size = "table size = nodes\n";
  EXPECT_THAT(failed_with(size + "table pow = powers(2, 10 div size[0])"), IsEmpty());
  EXPECT_THAT(failed_with(size + "table pow = powers(2, 10 div (size[0] - 5))"),
              ElementsAre("defined 2"));
  EXPECT_THAT(failed_with(size + "table pow = powers(2, 10 div (size[3] - 5))"),
              ElementsAre("defined 1", "defined 2"));
  EXPECT_THAT(failed_with("table b[i in 0 .. ranks] = 10 div (i - 7)"), ElementsAre("defined 1"));
}

TEST(Tables, AreNoLongerThanTablesMayBe) {
  EXPECT_THAT(failed_with("table b[i in 0 .. 33554432] = 1"), IsEmpty());
  EXPECT_THAT(failed_with("table b[i in 0 .. 33554433] = 1"), ElementsAre("fits 1"));
  EXPECT_THAT(failed_with("table b[i in 0 .. 33*ranks] = 1"), ElementsAre("fits 1"));
  EXPECT_THAT(failed_with("table b[i in 0 .. ranks*ranks] = 1"), ElementsAre("fits 1"));
  // Sums have an entry more.
  EXPECT_THAT(failed_with("table b[i in 0 .. 33554431] = 1\ntable s = prefix(b)"), IsEmpty());
  EXPECT_THAT(failed_with("table b[i in 0 .. 33554432] = 1\ntable s = prefix(b)"),
              ElementsAre("fits 1"));
}

// Of a condition in a condition, and so on, intervals look at the innermost again and again.
TEST(Fits, IsToldSoonOrNotAtAll) {
  const auto with = [](int lets, const std::string& next) {
    std::string all = "let x0 = n\n";
    for (int i = 1; i <= lets; ++i) {
      std::string value = next;
      value.replace(value.find('x'), 1, "x" + std::to_string(i - 1));
      all += "let x" + std::to_string(i) + " = " + value + "\n";
    }
    return prove(changed(changed(kFactor, "in_place\n", "in_place\nparameter n\n"), "for round",
                         all + "for round"),
                 kFactorProof);
  };
  EXPECT_THAT(with(8, "x < 5 ? 1 : 7").failed, IsEmpty());
  EXPECT_THAT(with(40, "x < 5 ? 1 : 7").error, testing::HasSubstr("nested too deeply"));
  EXPECT_THAT(with(40, "x*n").failed, testing::Contains("fits 1"));
}

// What is not brought is told, not left out.
TEST(Hints, AreNotTooLarge) {
  const std::string sum = "define sum(x)\n  as x + x + x + x + x + x + x + x + x + x\n",
                    more = "define more(x)\n  as sum(sum(x))\n",
                    held = "  with receive 1 where k = k - 1\n";
  const auto with = [&](const std::string& use) {
    return prove(ring("0"), sum + more + changed(kRingProof, held, held + "  use " + use));
  };
  EXPECT_TRUE(with("monotone(more(rank), 0, 1)\n").proven());
  EXPECT_EQ(with("monotone(more(more(rank)), 0, 1)\n").error,
            "test.proof:15: it uses a fact of more than 10000 parts, definitions and lets put in");
  const std::string lemma = "lemma less(x)\n  show more(x) <= more(x)\n";
  EXPECT_EQ(prove(ring("0"),
                  sum + more + lemma + changed(kRingProof, held, held + "  use less(more(rank))\n"))
                .error,
            "test.proof:17: it uses a fact of more than 10000 parts, definitions and lets put in");
}

TEST(Tables, HoldNumbersThatFit) {
  EXPECT_THAT(failed_with("table b[i in 0 .. ranks] = i*i*i + 1\ntable p = prefix(b)"),
              ElementsAre("defined entries of b", "fits 1"));
  EXPECT_THAT(failed_with("table b[i in 0 .. ranks] = i*i*i*i"), ElementsAre("fits 1"));
  EXPECT_THAT(failed_with("table p = powers(ranks*ranks, ranks*ranks)"),
              ElementsAre("defined powers of p", "fits 1"));
}

// Two loops that read alike: the first copies, so that ranks are in different iterations of the second
// at one key.
std::string siblings(const std::string& first) {
  return R"(algorithm siblings for alltoall
port exchange per node
table size = nodes
table base = prefix(size)
for v in 0 .. ranks
  if v = rank
)" + first +
         R"(
for v in 0 .. ranks
  if v = rank
    for round in 0 .. ranks
      let peer = wrap(round - rank, ranks)
      if peer != rank
        step ranks + round
          send send[peer] to peer
          receive recv[peer] from peer
)";
}

std::string siblings_proof(const std::string& first_keys) {
  return matched(1, "v = peer, round = round") + R"(cover
  with receive 1 where v = target, round = wrap(source + target, ranks)
copies
  with copy 1 where v = rank
)" + first_keys +
         R"(keys v
  from v <= rank ? ranks : 2*ranks
  to v < rank ? ranks : 2*ranks
keys round
  from ranks + round + rank - rank
  to ranks + round + 1 + rank - rank
)";
}

TEST(Port, LoopsThatReadAlikeAreTwo) {
  expect_fate(siblings("    step v\n      copy send[rank] to recv[rank]"),
              siblings_proof("keys v\n  from v\n  to v + 1\n"), {"port: step 2 and step 2"},
              "2x1,2: port");
  expect_fate(siblings("    copy send[rank] to recv[rank]"),
              siblings_proof("keys v\n  from v <= rank ? ranks : 2*ranks\n"
                             "  to v < rank ? ranks : 2*ranks\n"),
              {"port: step 1 and step 1"}, "2x1,2: port");
}

}  // namespace
}  // namespace quadrille
