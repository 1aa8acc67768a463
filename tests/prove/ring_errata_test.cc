// Where Traeff et al. 2008 are literally wrong, the prover and the checker say so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/registry.h"
#include "schedule/text.h"
#include "tests/prove/proofs.h"

namespace quadrille {
namespace {

using testing::Contains;

struct Fate {
  std::vector<std::string> failed;
  std::string smallest_failure;
};

// Of an algorithm with one thing changed, under its own proof.
Fate fate(const std::string& name, const std::string& from, const std::string& to) {
  const Algorithm& algorithm = *find_algorithm(Collective::kAllgather, name);
  const std::string program = changed(print(make_program(algorithm, {})), from, to);
  const Proving proving = prove(program, algorithm.proof({}));
  EXPECT_EQ(proving.error, "");
  return {proving.failed, smallest_failure(program)};
}

// Rounds k = 0 .. p - 1: in the last of them a rank would receive its own block.
TEST(RingErrata, TheLinearRingHasOneRoundLessThanRanks) {
  const Fate printed = fate("linear-ring", "for k in 0 .. ranks - 1", "for k in 0 .. ranks");
  EXPECT_THAT(printed.failed, Contains("defined piece of receive 1"));
  EXPECT_EQ(printed.smallest_failure, "1, counts 1: self-message");
}

// "s_{i-1} - k" where the sums are meant to go from s_i - 1 downwards.
TEST(RingErrata, TheBlocksGoDownFromTheSumLessOneAndNotFromTheSumBefore) {
  const Fate printed = fate("blocked-ring", "let y = wrap(s[rank] - 1 - k, total)",
                            "let y = wrap(s[max(0, rank - 1)] - k, total)");
  EXPECT_THAT(printed.failed, Contains("match receive 1"));
  EXPECT_EQ(printed.smallest_failure, "2x1, counts 2,0, parameter 1: match");
}

}  // namespace
}  // namespace quadrille
