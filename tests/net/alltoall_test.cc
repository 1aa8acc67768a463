// All-to-alls by every program of the registry: each byte and each post.
// Of the ways, one in so many; all of them with
//   EVERY_CASE=1 bazel run //tests/net:alltoall_test
#include <gtest/gtest.h>

#include "tests/net/programs.h"

namespace quadrille::net {
namespace {

TEST(Alltoall, EveryProgramOnAllNodesOfUpToSixRanksPostsAndMovesWhatItMust) {
  for (const auto& sizes : all_sizes(1, 6)) expect_all_ways(Collective::kAlltoall, sizes, 2, 7);
  tell_ways();
}

TEST(Alltoall, SevenToNineRanksPostAndMoveWhatTheyMust) {
  for (const auto& sizes : all_sizes(7, 9)) expect_all_ways(Collective::kAlltoall, sizes, 2, 41);
  tell_ways();
}

TEST(Alltoall, LargerJobsPostAndMoveWhatTheyMust) {
  for (const auto& sizes : random_sizes(6, 10, 20))
    expect_all_ways(Collective::kAlltoall, sizes, 2, 41);
  tell_ways();
}

TEST(Alltoall, CountsThatChangeWhileBlocksStayInPlaceAreFollowed) {
  for (const auto& sizes : all_sizes(2, 4)) expect_changing_counts(Collective::kAlltoall, sizes);
}

}  // namespace
}  // namespace quadrille::net
