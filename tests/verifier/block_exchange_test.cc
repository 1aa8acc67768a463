// The exchange of segment-map-blocks in the model of Kang et al. 2019: a rank sends to one rank and receives from one
// rank at a time. Some rank must send the longest contribution, and some rank must receive at least an equal part of
// all data. So this is the least time. The order of the paper takes no more (proof of Theorem 3).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "generator/registry.h"
#include "tests/verifier/walks.h"

namespace quadrille {
namespace {

using Counts = std::vector<int64_t>;
constexpr int64_t kMebibyte = 1 << 20;

// Finds the longest piece between the groups in each step.
class Longest : public Listener {
 public:
  std::map<int64_t, int64_t> of_step;

  void start(int64_t) {}
  void step(int64_t key, std::optional<int64_t>) { key_ = key; }
  void message(const MessageHead& head) { remote_ = head.remote; }
  void piece(const PieceValue& piece) {
    if (remote_) of_step[key_] = std::max(of_step[key_], piece.high - piece.low);
  }

 private:
  int64_t key_ = 0;
  bool remote_ = false;
};

// Returns the time, in bytes, in lock-step. Walks one group only, since it sends or receives every message.
int64_t time_of(const std::string& algorithm, const Counts& first, const Counts& second) {
  const Program program = make_program(*find_algorithm(Collective::kAllgather, algorithm, 2), {});
  const auto group = [](const Counts& counts) {
    return topology_of({static_cast<int64_t>(counts.size())});
  };
  const Job job{{group(first), group(second)}, {}};
  const Longest longest = walk_all<Longest>(program, *bind(program, job, {{first, second}, {}}, 0));
  int64_t time = 0;
  for (const auto& [key, bytes] : longest.of_step) time += bytes;
  return time;
}

int64_t least_of(const Counts& counts, int64_t receivers) {
  const int64_t all = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  return std::max(*std::max_element(counts.begin(), counts.end()),
                  (all + receivers - 1) / receivers);
}

double ratio(const std::string& algorithm, const Counts& first, const Counts& second) {
  const int64_t least = std::max(least_of(first, static_cast<int64_t>(second.size())),
                                 least_of(second, static_cast<int64_t>(first.size())));
  return static_cast<double>(time_of(algorithm, first, second)) / static_cast<double>(least);
}

// Returns contributions that grow linearly with the rank.
Counts arithmetic(int64_t ranks, int64_t average = kMebibyte) {
  Counts counts;
  for (int64_t i = 1; i <= ranks; ++i) counts.push_back(2 * average * i / (ranks + 1));
  return counts;
}

Counts equal(size_t ranks, int64_t count) { return Counts(ranks, count); }

TEST(BlockExchange, TakesTheLeastTimeInTheSettingsOfThePaper) {
  const std::string blocks = "segment-map-blocks";
  EXPECT_LE(ratio(blocks, equal(32, kMebibyte), equal(32, kMebibyte)), 1.0001);
  EXPECT_LE(ratio(blocks, equal(50, kMebibyte), equal(14, kMebibyte)), 1.001);
  EXPECT_LE(ratio(blocks, equal(50, kMebibyte), equal(14, kMebibyte / 4)), 1.001);
  EXPECT_LE(ratio(blocks, equal(50, kMebibyte / 4), equal(14, kMebibyte)), 1.005);
  EXPECT_LE(ratio(blocks, arithmetic(32), arithmetic(32)), 1.0001);
  EXPECT_LE(ratio(blocks, arithmetic(50), arithmetic(14)), 1.014);
}

TEST(BlockExchange, TakesLittleMoreThanTheLeastTimeForAnyLongContributions) {
  std::mt19937_64 random(2019);
  for (int i = 0; i < 200; ++i) {
    Counts counts[2];
    for (Counts& group : counts) {
      group.resize(1 + random() % 24);
      for (int64_t& count : group)
        count = std::vector<int64_t>{0, 1, 1000, 100000}[random() % 4] *
                static_cast<int64_t>(random() % 10000);
      group[0] += 100 * kMebibyte;
    }
    EXPECT_LE(ratio("segment-map-blocks", counts[0], counts[1]), 1.04)
        << testing::PrintToString(counts[0]) << " and " << testing::PrintToString(counts[1]);
  }
}

TEST(BlockExchange, TakesMoreForContributionsOfOneBlockEach) {
  EXPECT_GE(ratio("segment-map-blocks", arithmetic(50, 1024), arithmetic(14, 1024)), 1.38);
}

}  // namespace
}  // namespace quadrille
