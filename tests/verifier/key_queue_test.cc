// The queue returns ranks in the order of their keys, however far apart these are.
#include "verifier/key_order.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>

#include "tests/support/property.h"

namespace quadrille::verifier {
namespace {

// Puts each rank's next key into the queue when the rank is visited. Returns the ranks visited at each key.
std::map<int64_t, std::set<int32_t>> visited(const std::vector<std::vector<int64_t>>& keys) {
  KeyQueue queue(keys.size());
  std::vector<size_t> next(keys.size(), 0);
  const auto add = [&](int32_t rank) {
    if (next[rank] < keys[rank].size()) queue.add(rank, keys[rank][next[rank]++]);
  };
  for (size_t rank = 0; rank < keys.size(); ++rank) add(rank);
  std::map<int64_t, std::set<int32_t>> result;
  int64_t last = std::numeric_limits<int64_t>::min();
  while (!queue.empty()) {
    int32_t rank = queue.advance();
    EXPECT_GE(queue.now(), last);
    last = queue.now();
    while (rank >= 0) {
      const int32_t following = queue.take(rank);
      EXPECT_TRUE(result[queue.now()].insert(rank).second);
      add(rank);
      rank = following;
    }
  }
  return result;
}

std::map<int64_t, std::set<int32_t>> expected(const std::vector<std::vector<int64_t>>& keys) {
  std::map<int64_t, std::set<int32_t>> result;
  for (size_t rank = 0; rank < keys.size(); ++rank)
    for (const int64_t key : keys[rank]) result[key].insert(rank);
  return result;
}

PROPERTY(KeyQueue, ComesToEveryKeyOfEveryRankInOrder) {
  std::vector<std::vector<int64_t>> keys;
  const int64_t spread = drawn_of<int64_t>(10, 5000, 1000000000);
  for (int rank = drawn(1, 6); rank > 0; --rank) {
    const auto list = drawn_list(drawn(0, 40), -spread, spread);
    const std::set<int64_t> set(list.begin(), list.end());
    keys.emplace_back(set.begin(), set.end());
  }
  REQUIRE(visited(keys) == expected(keys));
}

TEST(KeyQueue, ReachesFromTheLeastKeyToTheGreatest) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(),
                    kGreatest = std::numeric_limits<int64_t>::max();
  const std::vector<std::vector<int64_t>> keys = {
      {kLeast, -5, kGreatest}, {kLeast + 1, 4091, kGreatest - 4096}, {kGreatest - 1, kGreatest}};
  EXPECT_EQ(visited(keys), expected(keys));
}

}  // namespace
}  // namespace quadrille::verifier
