// Messages of several pieces: they meet even where no piece has bytes, and their pieces stand in one
// order. What only these obligations refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/registry.h"
#include "schedule/text.h"
#include "tests/prove/proofs.h"

namespace quadrille {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

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

TEST(Pieces, HaveOneWitnessEach) {
  const std::string by_turns =
      changed(proof(), "match send 2\n  with receive 2 where t = t, i = i",
              "match send 2\n  with receive 2 where t = t, i = i if t = 1\n"
              "  with receive 2 where t = t, i = i");
  EXPECT_THAT(prove(program(), by_turns).error,
              HasSubstr("a piece of several has one witness, without an 'if'"));
}

TEST(Pieces, OfNoMessageAreAwaitedInVain) {
  const std::string awaits =
      changed(program(), "if 0 < m[2*gets] + m[2*gets + 1]", "if 0 <= m[2*gets] + m[2*gets + 1]");
  EXPECT_THAT(prove(awaits, proof()).failed, ElementsAre("message of receive 2"));
  EXPECT_EQ(smallest_failure(awaits), "4x1, counts 0,0,0,0: progress");
}

TEST(Pieces, StayBehindWithTheirMessage) {
  const std::string half =
      changed(program(), "if 0 < m[2*gives] + m[2*gives + 1]", "if 0 < m[2*gives]");
  EXPECT_THAT(prove(half, proof()).failed, ElementsAre("message of receive 2", "match receive 2"));
  EXPECT_EQ(smallest_failure(half), "4x1, counts 0,1,0,0: match");
}

TEST(Powers, OfOneAreRefused) {
  const Algorithm& bruck = *find_algorithm(Collective::kAllgather, "bruck");
  const std::string ones =
      changed(print(make_program(bruck, {})), "require 2 <= radix", "require 1 <= radix");
  EXPECT_THAT(prove(ones, bruck.proof({})).failed, testing::Contains("powers of pow"));
}

}  // namespace
}  // namespace quadrille
