// Sets of processes against plain sets, and what a step may tell.
#include "verifier/heard.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace quadrille::verifier {
namespace {

constexpr int64_t kProcesses = 12;

int64_t first_missing(const std::set<int64_t>& all) {
  int64_t i = 0;
  while (all.contains(i)) ++i;
  return i;
}

TEST(Hearsay, IsWhatASetSays) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<Hearsay> heard;
    std::vector<std::set<int64_t>> sets;
    for (int64_t process = 0; process < kProcesses; ++process) {
      heard.emplace_back(process);
      sets.push_back({process});
    }
    for (int i = 0; i < 40; ++i) {
      const size_t from = random() % kProcesses, to = random() % kProcesses;
      heard[to].add(heard[from]);
      sets[to].insert(sets[from].begin(), sets[from].end());
      ASSERT_EQ(heard[to].first_missing(), first_missing(sets[to]));
    }
    for (size_t a = 0; a < sets.size(); ++a)
      for (size_t b = 0; b < sets.size(); ++b) ASSERT_EQ(heard[a] == heard[b], sets[a] == sets[b]);
  }
}

TEST(Hearing, TellsWhatTheStepsHaveBroughtThatItWaitsFor) {
  Hearing hearing(0, true);
  hearing.begin({});
  EXPECT_EQ(hearing.told(), Hearsay(0));
  hearing.hear(Hearsay(1));
  EXPECT_EQ(hearing.told(), Hearsay(0));
  hearing.end(5);
  hearing.begin({});
  hearing.hear(Hearsay(2));
  EXPECT_EQ(hearing.told().first_missing(), 2);
  hearing.end(7);
  const std::pair<int64_t, int64_t> told[] = {{-1, 1}, {4, 1}, {5, 2}, {6, 2}, {7, 3}, {99, 3}};
  for (const auto& [after, missing] : told) {
    hearing.begin(after);
    EXPECT_EQ(hearing.told().first_missing(), missing) << after;
  }
  hearing.end(9);
  hearing.end(9);  // is over
  EXPECT_EQ(hearing.all().first_missing(), 3);
}

TEST(Hearing, KeepsNoMoreThanIsAskedFor) {
  Hearing hearing(0, false);
  for (int64_t i = 1; i < kProcesses; ++i) {
    hearing.begin({});
    EXPECT_EQ(hearing.told().first_missing(), i);
    hearing.hear(Hearsay(i));
    hearing.end(i);
  }
  EXPECT_EQ(hearing.all().first_missing(), kProcesses);
}

}  // namespace
}  // namespace quadrille::verifier
