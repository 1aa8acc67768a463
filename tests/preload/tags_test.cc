// Communicators of all kinds agree on tags, in any order. Each process is an object here.
#include "preload/tags.h"

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

constexpr int kTags = 3;

std::vector<preload_tags> world(int ranks, int greatest) {
  std::vector<preload_tags> all;
  for (int rank = 0; rank < ranks; rank++)
    all.push_back(preload_tags_of(rank, ranks, greatest, kTags));
  return all;
}

// A communicator on which some members have made their offer.
struct Agreement {
  std::vector<int> members;
  std::vector<uint64_t> offers;
  bool has_all() const { return offers.size() == members.size(); }
  void offer(std::vector<preload_tags>& all) {
    offers.push_back(preload_offer_tag(&all[members[offers.size()]]));
  }
  int take(std::vector<preload_tags>& all) const {
    const uint64_t greatest = *std::ranges::max_element(offers);
    std::set<int> taken;
    for (size_t i = 0; i < members.size(); i++)
      taken.insert(preload_take_tag(&all[members[i]], offers[i], greatest));
    EXPECT_EQ(taken.size(), 1) << "the members take different tags";
    return *taken.begin();
  }
};

int agree(std::vector<preload_tags>& all, const std::vector<int>& members) {
  Agreement one{members, {}};
  while (!one.has_all()) one.offer(all);
  return one.take(all);
}

TEST(Tags, OfAgreementsThatThreadsInterleaveDiffer) {
  constexpr int kRanks = 7, kGreatest = 1 << 20;
  std::mt19937 random(1);
  auto all = world(kRanks, kGreatest);
  std::vector<Agreement> under_way;
  std::set<int> taken;
  for (int made = 0; made < 20000;) {
    if (under_way.size() < 6) {
      std::vector<int> members(kRanks);
      for (int i = 0; i < kRanks; i++) members[i] = i;
      std::ranges::shuffle(members, random);
      members.resize(2 + random() % (kRanks - 1));
      under_way.push_back({members, {}});
    }
    const size_t next = random() % under_way.size();
    under_way[next].offer(all);
    if (!under_way[next].has_all()) continue;
    const int tag = under_way[next].take(all);
    EXPECT_TRUE(tag >= 0 && tag % kTags == 0 && tag + kTags - 1 <= kGreatest) << tag;
    EXPECT_TRUE(taken.insert(tag).second) << tag << " is taken twice";
    under_way.erase(under_way.begin() + static_cast<long>(next));
    made++;
  }
}

TEST(Tags, OfAllRanksServeCommunicatorsOfAllRanks) {
  auto all = world(4, 59);  // 20 communicators: each rank can offer 5 tags
  std::set<int> taken;
  for (int i = 0; i < 20; i++) taken.insert(agree(all, {0, 1, 2, 3}));
  EXPECT_EQ(taken.size(), 20);
  EXPECT_EQ(*taken.begin(), 0);
  EXPECT_EQ(*taken.rbegin(), 57);
  for (int i = 0; i < 3; i++) EXPECT_EQ(agree(all, {0, 1, 2, 3}), -1) << "none is left";
}

TEST(Tags, OfSomeRanksMayRunOutBeforeOthers) {
  auto all = world(4, 59);
  for (int i = 0; i < 10; i++) EXPECT_GE(agree(all, {1, 2}), 0);
  EXPECT_EQ(agree(all, {1, 2}), -1);
  EXPECT_GE(agree(all, {1, 3}), 0);
  EXPECT_EQ(agree(all, {2, 1}), -1);
}

TEST(Tags, AreNoneIfMpiHasFewerThanRanks) {
  auto all = world(9, 7);
  EXPECT_EQ(agree(all, {0, 8}), -1);
}

}  // namespace
