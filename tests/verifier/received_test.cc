// Compares sets of processes with std::set, and tests which sets the messages of a barrier's step carry.
#include "verifier/memory.h"

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

TEST(ProcessSet, IsWhatASetSays) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<ProcessSet> received;
    std::vector<std::set<int64_t>> sets;
    for (int64_t process = 0; process < kProcesses; ++process) {
      received.emplace_back(process);
      sets.push_back({process});
    }
    for (int i = 0; i < 40; ++i) {
      const size_t from = random() % kProcesses, to = random() % kProcesses;
      received[to].add(received[from]);
      sets[to].insert(sets[from].begin(), sets[from].end());
      ASSERT_EQ(received[to].first_missing(), first_missing(sets[to]));
    }
    for (size_t a = 0; a < sets.size(); ++a)
      for (size_t b = 0; b < sets.size(); ++b)
        ASSERT_EQ(received[a] == received[b], sets[a] == sets[b]);
  }
}

TEST(BarrierProgress, SendsWhatArrivedInTheStepsThatItWaitsFor) {
  BarrierProgress barrier(0, true);
  barrier.begin({});
  EXPECT_EQ(barrier.sent(), ProcessSet(0));
  barrier.receive(ProcessSet(1));
  EXPECT_EQ(barrier.sent(), ProcessSet(0));
  barrier.complete(5);
  barrier.begin({});
  barrier.receive(ProcessSet(2));
  EXPECT_EQ(barrier.sent().first_missing(), 2);
  barrier.complete(7);
  const std::pair<int64_t, int64_t> missing_after[] = {{-1, 1}, {4, 1}, {5, 2},
                                                       {6, 2},  {7, 3}, {99, 3}};
  for (const auto& [after, missing] : missing_after) {
    barrier.begin(after);
    EXPECT_EQ(barrier.sent().first_missing(), missing) << after;
  }
  barrier.complete(9);
  barrier.complete(9);  // completing a step again changes nothing
  EXPECT_EQ(barrier.all().first_missing(), 3);
}

TEST(BarrierProgress, KeepsNoMoreThanIsAskedFor) {
  BarrierProgress barrier(0, false);
  for (int64_t i = 1; i < kProcesses; ++i) {
    barrier.begin({});
    EXPECT_EQ(barrier.sent().first_missing(), i);
    barrier.receive(ProcessSet(i));
    barrier.complete(i);
  }
  EXPECT_EQ(barrier.all().first_missing(), kProcesses);
}

}  // namespace
}  // namespace quadrille::verifier
