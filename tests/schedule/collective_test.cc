// Checks pre- and postconditions of the collectives, written out for small cases.
#include "schedule/collective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quadrille::collective_test {

using testing::ElementsAre;

constexpr Place kRankOneOfThree{3, 0, 0, 1, 2};
constexpr Place kRootOfThree{3, 0, 0, 2, 2};
// Two groups of two and three ranks. The root is rank 1 of group 0.
constexpr Place kRootSide{2, 3, 0, 1, 1}, kBesideTheRoot{2, 3, 0, 0, 1}, kLeafSide{3, 2, 1, 2, 1};

std::vector<int64_t> counts(Collective collective, const Place& place) {
  return {block_count(collective, Buffer::kSend, place),
          block_count(collective, Buffer::kReceive, place)};
}
std::vector<Contribution> needed(Collective collective, const Place& place, int64_t block) {
  return required(collective, place, Block{block});
}

TEST(Collective, NamesReadBack) {
  for (int i = 0; i < kCollectiveCount; ++i) {
    const auto collective = static_cast<Collective>(i);
    EXPECT_EQ(collective_named(name_of(collective)), collective);
  }
  EXPECT_EQ(name_of(Collective::kReduceScatter), "reduce-scatter");
  EXPECT_EQ(collective_named("alltoallv"), std::nullopt);
  EXPECT_EQ(collective_named(""), std::nullopt);
}

TEST(Collective, KnowsItsOperatorAndItsRoot) {
  for (const Collective c : {Collective::kReduce, Collective::kAllreduce,
                             Collective::kReduceScatter, Collective::kScan, Collective::kExscan})
    EXPECT_TRUE(reduces(c)) << name_of(c);
  for (const Collective c : {Collective::kAlltoall, Collective::kAllgather, Collective::kBroadcast,
                             Collective::kGather, Collective::kScatter, Collective::kBarrier})
    EXPECT_FALSE(reduces(c)) << name_of(c);
  for (const Collective c :
       {Collective::kBroadcast, Collective::kGather, Collective::kScatter, Collective::kReduce})
    EXPECT_TRUE(rooted(c)) << name_of(c);
  for (const Collective c :
       {Collective::kAlltoall, Collective::kAllgather, Collective::kAllreduce,
        Collective::kReduceScatter, Collective::kScan, Collective::kExscan, Collective::kBarrier})
    EXPECT_FALSE(rooted(c)) << name_of(c);
  for (int i = 0; i < kCollectiveCount; ++i) {
    const auto c = static_cast<Collective>(i);
    EXPECT_EQ(has_one_buffer(c, 1), c == Collective::kBroadcast) << name_of(c);
    EXPECT_FALSE(has_one_buffer(c, 2)) << name_of(c);
  }
}

TEST(Collective, KnowsWhoKnowsLengthsAndWhatMpiHasBetweenGroups) {
  for (int i = 0; i < kCollectiveCount; ++i) {
    const auto c = static_cast<Collective>(i);
    EXPECT_EQ(only_ends_know_lengths(c),
              c == Collective::kAlltoall || c == Collective::kGather || c == Collective::kScatter);
    EXPECT_EQ(exists_between_groups(c), c != Collective::kScan && c != Collective::kExscan);
  }
}

TEST(Collective, CountsBlocksWithinOneGroup) {
  EXPECT_THAT(counts(Collective::kAlltoall, kRankOneOfThree), ElementsAre(3, 3));
  EXPECT_THAT(counts(Collective::kAllgather, kRankOneOfThree), ElementsAre(1, 3));
  EXPECT_THAT(counts(Collective::kBroadcast, kRankOneOfThree), ElementsAre(0, 1));
  EXPECT_THAT(counts(Collective::kBroadcast, kRootOfThree), ElementsAre(1, 1));
  EXPECT_THAT(counts(Collective::kGather, kRankOneOfThree), ElementsAre(1, 0));
  EXPECT_THAT(counts(Collective::kGather, kRootOfThree), ElementsAre(1, 3));
  EXPECT_THAT(counts(Collective::kScatter, kRankOneOfThree), ElementsAre(0, 1));
  EXPECT_THAT(counts(Collective::kScatter, kRootOfThree), ElementsAre(3, 1));
  EXPECT_THAT(counts(Collective::kReduce, kRankOneOfThree), ElementsAre(1, 0));
  EXPECT_THAT(counts(Collective::kReduce, kRootOfThree), ElementsAre(1, 1));
  EXPECT_THAT(counts(Collective::kAllreduce, kRankOneOfThree), ElementsAre(1, 1));
  EXPECT_THAT(counts(Collective::kReduceScatter, kRankOneOfThree), ElementsAre(3, 1));
  EXPECT_THAT(counts(Collective::kScan, kRankOneOfThree), ElementsAre(1, 1));
  EXPECT_THAT(counts(Collective::kScan, {3, 0, 0, 0, 0}), ElementsAre(1, 1));
  EXPECT_THAT(counts(Collective::kExscan, kRankOneOfThree), ElementsAre(1, 1));
  EXPECT_THAT(counts(Collective::kExscan, {3, 0, 0, 0, 0}), ElementsAre(1, 0));
  EXPECT_THAT(counts(Collective::kBarrier, kRankOneOfThree), ElementsAre(0, 0));
  EXPECT_THAT(counts(Collective::kBarrier, kLeafSide), ElementsAre(0, 0));
}

TEST(Collective, CountsBlocksBetweenGroups) {
  EXPECT_THAT(counts(Collective::kAlltoall, kLeafSide), ElementsAre(2, 2));
  EXPECT_THAT(counts(Collective::kAllgather, kRootSide), ElementsAre(1, 3));
  EXPECT_THAT(counts(Collective::kBroadcast, kRootSide), ElementsAre(1, 0));
  EXPECT_THAT(counts(Collective::kBroadcast, kBesideTheRoot), ElementsAre(0, 0));
  EXPECT_THAT(counts(Collective::kBroadcast, kLeafSide), ElementsAre(0, 1));
  EXPECT_THAT(counts(Collective::kGather, kRootSide), ElementsAre(0, 3));
  EXPECT_THAT(counts(Collective::kScatter, kLeafSide), ElementsAre(0, 1));
  EXPECT_THAT(counts(Collective::kReduce, kBesideTheRoot), ElementsAre(0, 0));
}

TEST(Collective, AsksForEachBlockWhereItBelongs) {
  EXPECT_THAT(needed(Collective::kAlltoall, kRankOneOfThree, 2),
              ElementsAre(Contribution{0, 2, 1}));
  EXPECT_THAT(needed(Collective::kAllgather, kRankOneOfThree, 2),
              ElementsAre(Contribution{0, 2, 0}));
  EXPECT_THAT(needed(Collective::kBroadcast, kRankOneOfThree, 0),
              ElementsAre(Contribution{0, 2, 0}));
  EXPECT_THAT(needed(Collective::kGather, kRootOfThree, 1), ElementsAre(Contribution{0, 1, 0}));
  EXPECT_THAT(needed(Collective::kScatter, kRankOneOfThree, 0), ElementsAre(Contribution{0, 2, 1}));
}

TEST(Collective, AsksForReductionsInTheOrderOfRanks) {
  EXPECT_THAT(needed(Collective::kReduce, kRootOfThree, 0),
              ElementsAre(Contribution{0, 0, 0}, Contribution{0, 1, 0}, Contribution{0, 2, 0}));
  EXPECT_EQ(needed(Collective::kAllreduce, kRankOneOfThree, 0),
            needed(Collective::kReduce, kRootOfThree, 0));
  EXPECT_THAT(needed(Collective::kReduceScatter, kRankOneOfThree, 0),
              ElementsAre(Contribution{0, 0, 1}, Contribution{0, 1, 1}, Contribution{0, 2, 1}));
}

TEST(Collective, AsksForTheRanksUpToOneInAScan) {
  EXPECT_THAT(needed(Collective::kScan, kRankOneOfThree, 0),
              ElementsAre(Contribution{0, 0, 0}, Contribution{0, 1, 0}));
  EXPECT_THAT(needed(Collective::kScan, {3, 0, 0, 0, 0}, 0), ElementsAre(Contribution{0, 0, 0}));
  EXPECT_THAT(needed(Collective::kExscan, kRootOfThree, 0),
              ElementsAre(Contribution{0, 0, 0}, Contribution{0, 1, 0}));
}

TEST(Collective, AsksTheOtherGroupForItsContributions) {
  EXPECT_THAT(needed(Collective::kAlltoall, kLeafSide, 1), ElementsAre(Contribution{0, 1, 2}));
  EXPECT_THAT(needed(Collective::kAllgather, kRootSide, 2), ElementsAre(Contribution{1, 2, 0}));
  EXPECT_THAT(needed(Collective::kBroadcast, kLeafSide, 0), ElementsAre(Contribution{0, 1, 0}));
  EXPECT_THAT(needed(Collective::kScatter, kLeafSide, 0), ElementsAre(Contribution{0, 1, 2}));
  EXPECT_THAT(needed(Collective::kReduce, kRootSide, 0),
              ElementsAre(Contribution{1, 0, 0}, Contribution{1, 1, 0}, Contribution{1, 2, 0}));
}

TEST(Collective, NamesWhoseCountIsABlocksLength) {
  const auto source = [](Collective collective, Buffer buffer, const Place& place, int64_t block) {
    const LengthSource length = length_source(collective, buffer, place, Block{block});
    return std::pair(length.remote, length.index);
  };
  EXPECT_EQ(source(Collective::kAllgather, Buffer::kSend, kRankOneOfThree, 0),
            std::pair(false, int64_t{1}));
  EXPECT_EQ(source(Collective::kAllgather, Buffer::kReceive, kRankOneOfThree, 2),
            std::pair(false, int64_t{2}));
  EXPECT_EQ(source(Collective::kAllgather, Buffer::kReceive, kLeafSide, 1),
            std::pair(true, int64_t{1}));
  EXPECT_EQ(source(Collective::kScatter, Buffer::kSend, kRootOfThree, 0),
            std::pair(false, int64_t{0}));
  EXPECT_EQ(source(Collective::kScatter, Buffer::kReceive, kRankOneOfThree, 0),
            std::pair(false, int64_t{1}));
  EXPECT_EQ(source(Collective::kBroadcast, Buffer::kReceive, kLeafSide, 0),
            std::pair(true, int64_t{1}));
  EXPECT_EQ(source(Collective::kReduceScatter, Buffer::kSend, kRankOneOfThree, 2),
            std::pair(false, int64_t{2}));
  EXPECT_EQ(source(Collective::kScan, Buffer::kReceive, kRankOneOfThree, 0),
            std::pair(false, int64_t{0}));
}

}  // namespace quadrille::collective_test
