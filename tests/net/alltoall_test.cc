// All-to-alls by every program of the registry: each byte and each post.
#include <gtest/gtest.h>

#include "tests/net/programs.h"

namespace quadrille::net {
namespace {

TEST(Alltoall, EveryProgramOnAllNodesOfUpToSixRanksPostsAndMovesWhatItMust) {
  for (const auto& sizes : all_sizes(1, 6)) expect_all_ways(Collective::kAlltoall, sizes, 2, 1);
}

TEST(Alltoall, SevenToNineRanksPostAndMoveWhatTheyMust) {
  for (const auto& sizes : all_sizes(7, 9)) expect_all_ways(Collective::kAlltoall, sizes, 2, 23);
}

TEST(Alltoall, LargerJobsPostAndMoveWhatTheyMust) {
  for (const auto& sizes : random_sizes(6, 10, 20))
    expect_all_ways(Collective::kAlltoall, sizes, 2, 41);
}

TEST(Alltoall, CountsThatChangeWhileBlocksStayInPlaceAreFollowed) {
  for (const auto& sizes : all_sizes(2, 4)) expect_changing_counts(Collective::kAlltoall, sizes);
}

}  // namespace
}  // namespace quadrille::net
