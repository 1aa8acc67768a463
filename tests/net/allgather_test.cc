// Allgathers by every program of the registry: each byte and each post.
// Of the ways, one in so many; all of them with
//   EVERY_CASE=1 bazel run //tests/net:allgather_test
#include <gtest/gtest.h>

#include "tests/net/programs.h"

namespace quadrille::net {
namespace {

TEST(Allgather, EveryProgramOnAllNodesOfUpToSixRanksPostsAndMovesWhatItMust) {
  for (const auto& sizes : all_sizes(1, 6)) expect_all_ways(Collective::kAllgather, sizes, 3, 1);
  tell_ways();
}

TEST(Allgather, SevenToNineRanksPostAndMoveWhatTheyMust) {
  for (const auto& sizes : all_sizes(7, 9)) expect_all_ways(Collective::kAllgather, sizes, 2, 5);
  tell_ways();
}

TEST(Allgather, LargerJobsPostAndMoveWhatTheyMust) {
  for (const auto& sizes : random_sizes(6, 10, 20))
    expect_all_ways(Collective::kAllgather, sizes, 2, 7);
  tell_ways();
}

TEST(Allgather, CountsThatChangeWhileBlocksStayInPlaceAreFollowed) {
  for (const auto& sizes : all_sizes(2, 6)) expect_changing_counts(Collective::kAllgather, sizes);
}

}  // namespace
}  // namespace quadrille::net
