// Programs that no algorithm of the registry is like: blocks that go by way of others, temporary blocks that are
// overwritten, tokens, messages of blocks in any order, allgathers that do not look at counts.
#include <gtest/gtest.h>

#include "tests/net/programs.h"

namespace quadrille::net {
namespace {

class Programs : public testing::TestWithParam<std::pair<const char*, int64_t>> {};

INSTANTIATE_TEST_SUITE_P(All, Programs,
                         testing::Values(std::pair("relay", 1), std::pair("overtake", 4),
                                         std::pair("direct", 1), std::pair("backwards", 1),
                                         std::pair("halves", 1), std::pair("there_and_back", 1)));

TEST_P(Programs, PostAndMoveWhatTheyMust) {
  const auto [name, least] = GetParam();
  for (int64_t ranks = least; ranks <= 7; ++ranks)
    for (int round = 0; round < 3; ++round) expect_all_ways(of_file(name, ranks), 2, 1);
}

TEST_P(Programs, FollowCountsThatChange) {
  const auto [name, least] = GetParam();
  for (int64_t ranks = least; ranks <= 7; ++ranks) expect_changing_counts(of_file(name, ranks));
}

}  // namespace
}  // namespace quadrille::net
