// Compares the chosen block sizes with a search over all sizes. Small counts are tested exhaustively.
#include "runtime/program/block_size.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "tests/support/distributions.h"

namespace {

using quadrille::Distribution;
using quadrille::distributions;

using Counts = std::vector<int64_t>;

struct Costs {
  int64_t alpha, beta;  // ns per message, ps per byte
};
const Costs all_costs[] = {{0, 0},   {0, 5},      {7, 0},        {1, 1000},
                           {3, 700}, {100, 1000}, {50000, 40000}};

int64_t choose(int64_t rule, Costs costs, const Counts& counts) {
  const auto ranks = static_cast<int64_t>(counts.size());
  return qd_block_size(rule, costs.alpha, costs.beta, counts.data(), ranks, ranks, 0);
}

double cost(const Counts& counts, Costs costs, int64_t size) {
  double blocks = 0;
  for (const int64_t m : counts) blocks += std::max<int64_t>(1, (m + size - 1) / size);
  return (blocks - 1) * (1000.0 * costs.alpha + static_cast<double>(costs.beta) * size);
}

double least_cost(const Counts& counts, Costs costs, int64_t most) {
  double least = cost(counts, costs, 1);
  for (int64_t size = 2; size <= most; ++size) least = std::min(least, cost(counts, costs, size));
  return least;
}

int64_t most_of(const Counts& counts) { return *std::ranges::max_element(counts); }

template <typename Body>
void with_all_counts(int ranks, int64_t most, const Body& body) {
  Counts counts(static_cast<size_t>(ranks), 0);
  for (;;) {
    body(counts);
    size_t i = 0;
    while (i < counts.size() && counts[i] == most) counts[i++] = 0;
    if (i == counts.size()) return;
    ++counts[i];
  }
}

TEST(BlockSize, FixedIsItselfAsFarAsAnIntHolds) {
  EXPECT_EQ(choose(1, {1, 1}, {5, 9}), 1);
  EXPECT_EQ(choose(4096, {1, 1}, {0, 0}), 4096);
  EXPECT_EQ(choose(int64_t{1} << 40, {1, 1}, {5, 9}), INT_MAX);
}

TEST(BlockSize, IsNoneWhereNoRuleChooses) { EXPECT_EQ(choose(QD_CHOOSE_NONE, {1, 1}, {5, 9}), 0); }

TEST(BlockSize, IsOneWhereNobodyContributes) {
  for (const int64_t rule : {QD_CHOOSE_LEAST, QD_CHOOSE_MODEL, QD_CHOOSE_AUTO})
    for (const Costs costs : all_costs) EXPECT_EQ(choose(rule, costs, {0, 0, 0}), 1);
}

TEST(BlockSize, LeastIsTheLeastThatIsNotEmpty) {
  EXPECT_EQ(choose(QD_CHOOSE_LEAST, {1, 1}, {0, 7, 3, 0, 9}), 3);
  EXPECT_EQ(choose(QD_CHOOSE_LEAST, {1, 1}, {int64_t{1} << 40, 0}), INT_MAX);
}

TEST(BlockSize, LeastWithAThresholdIsNoShorter) {
  for (const auto& [threshold, size] : {std::pair(1, 3), {2, 3}, {3, 3}, {4, 4}, {100, 100}})
    EXPECT_EQ(choose(QD_CHOOSE_AUTO - threshold, {1, 1}, {0, 7, 3, 0, 9}), size);
  EXPECT_EQ(choose(QD_CHOOSE_AUTO - int64_t{INT_MAX}, {1, 1}, {5, 9}), INT_MAX);
  EXPECT_EQ(choose(QD_CHOOSE_AUTO - 100, {1, 1}, {0, 0}), 1);
}

int64_t of_one(int64_t rule, int64_t bytes, int64_t ranks, int over_trees) {
  return qd_block_size(rule, 2000, 100, &bytes, 1, ranks, over_trees);
}

// A block passes all ranks of a chain. In a tree it passes one rank of each level: 4 ranks in a tree of 5 to 8.
TEST(BlockSize, OfOneContributionIsThatOfARingOfTheRanksThatABlockPasses) {
  for (const int64_t rule : {int64_t{64}, int64_t{QD_CHOOSE_LEAST}, int64_t{QD_CHOOSE_MODEL},
                             int64_t{QD_CHOOSE_AUTO}, QD_CHOOSE_AUTO - int64_t{100}})
    for (const int64_t bytes : {0, 1, 5000, 1 << 20})
      for (const auto& [ranks, passed] : {std::pair(1, 1), {2, 2}, {5, 4}, {8, 4}, {9, 5}})
        for (const int over_trees : {0, 1}) {
          std::vector<int64_t> all(over_trees ? passed : ranks);
          all[0] = bytes;
          EXPECT_EQ(of_one(rule, bytes, ranks, over_trees), choose(rule, {2000, 100}, all));
        }
  EXPECT_LT(of_one(QD_CHOOSE_AUTO, 1 << 20, 64, 0), of_one(QD_CHOOSE_AUTO, 1 << 20, 64, 1));
}

// 70 counts are more than the search keeps. A tree of 9 ranks has 4 levels below its root.
TEST(BlockSize, OverTreesDependsOnTheSumOfTheCountsAlone) {
  for (const int64_t rule : {int64_t{64}, int64_t{QD_CHOOSE_LEAST}, int64_t{QD_CHOOSE_MODEL},
                             int64_t{QD_CHOOSE_AUTO}, QD_CHOOSE_AUTO - int64_t{100}})
    for (const size_t ranks : {1, 2, 9, 70})
      for (const Distribution& distribution : distributions()) {
        const auto many = static_cast<int64_t>(ranks);
        const Counts counts = distribution.counts(many, 1 << 20);
        const int64_t sum = std::accumulate(counts.begin(), counts.end(), int64_t{0});
        EXPECT_EQ(qd_block_size(rule, 2000, 100, counts.data(), many, many, 1),
                  of_one(rule, sum, many, 1));
      }
}

// The closed form is sqrt(2 alpha m / (beta (p + z - 2))), rounded down, for m bytes and p ranks, z of them empty.
TEST(BlockSize, ModelIsTheClosedFormCappedAtTheGreatestCount) {
  for (int ranks = 1; ranks <= 4; ++ranks)
    with_all_counts(ranks, 5, [](const Counts& counts) {
      if (most_of(counts) == 0) return;
      const int64_t empty = std::ranges::count(counts, 0);
      const int64_t total = std::accumulate(counts.begin(), counts.end(), int64_t{0});
      const int64_t divisor = static_cast<int64_t>(counts.size()) + empty - 2;
      for (const Costs costs : all_costs) {
        const int64_t chosen = choose(QD_CHOOSE_MODEL, costs, counts);
        ASSERT_GE(chosen, 1);
        ASSERT_LE(chosen, most_of(counts));
        const int64_t below = costs.beta * divisor, above = 2000 * costs.alpha * total;
        if (chosen < most_of(counts)) {
          ASSERT_GT((chosen + 1) * (chosen + 1) * below, above);
        }
        if (chosen > 1 && divisor > 0) {
          ASSERT_LE(chosen * chosen * below, above);
        }
      }
    });
}

TEST(BlockSize, ModelTakesTheGreatestCountWhereTheFormulaDividesByZero) {
  EXPECT_EQ(choose(QD_CHOOSE_MODEL, {1, 1000}, {40, 30}), 40);
  EXPECT_EQ(choose(QD_CHOOSE_MODEL, {1, 1000}, {40}), 40);
  EXPECT_EQ(choose(QD_CHOOSE_MODEL, {1, 0}, {40, 30, 20}), 40);
}

// With last blocks that are half full on average, there are m/B + (p + z - 2)/2 rounds. The slides of Traeff et al.
// 2008 print (p - z)/2 for the second term, which is z - 1 less. Here the last blocks have every length from 1 to B.
TEST(BlockSize, SlidesCountOneRoundTooFewForEachEmptyContributionButOne) {
  constexpr int64_t kSize = 100, kRanks = 6;
  for (int64_t empty = 0; empty < kRanks; ++empty) {
    double beyond = 0;  // mean number of rounds beyond m/B
    for (int64_t last = 1; last <= kSize; ++last) {
      Counts counts(kRanks, 3 * kSize + last);
      std::fill_n(counts.begin(), empty, 0);
      const double rounds = cost(counts, {1, 0}, kSize) / 1000;
      const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
      beyond += (rounds - total / kSize) / kSize;
    }
    const double half_of_a_byte = kRanks / (2.0 * kSize);  // last blocks average (B + 1)/2 bytes
    EXPECT_NEAR(beyond, (kRanks + empty - 2) / 2.0, half_of_a_byte) << empty;
    EXPECT_NEAR(beyond - (kRanks - empty) / 2.0, static_cast<double>(empty - 1), half_of_a_byte)
        << empty;
  }
}

// The block size that minimizes the printed formula is bad if one rank contributes all bytes. Such a call takes from
// 4 % longer to over three times as long.
TEST(BlockSize, SlidesCountMakesBlocksTooLargeWhereOneRankContributesAll) {
  constexpr int64_t kTotal = 1 << 20;
  double most = 0;
  for (const int64_t ranks : {8, 30, 64})
    for (const Costs costs : {Costs{100, 1000}, {50000, 40000}, {2000, 100}}) {
      Counts counts(static_cast<size_t>(ranks), 0);
      counts[0] = kTotal;
      const double square = 2000.0 * static_cast<double>(costs.alpha) * kTotal /
                            static_cast<double>(costs.beta);  // divided by p - z = 1
      const int64_t printed = std::min(kTotal, static_cast<int64_t>(std::sqrt(square)));
      const int64_t ours = choose(QD_CHOOSE_MODEL, costs, counts);
      EXPECT_LT(ours, printed);
      const double longer = cost(counts, costs, printed) / cost(counts, costs, ours);
      EXPECT_GT(longer, 1.04) << ranks << " ranks at " << costs.alpha << ", " << costs.beta;
      most = std::max(most, longer);
    }
  EXPECT_GT(most, 3);
}

TEST(BlockSize, ModelIsExactWhereSixtyFourBitsAreTooFew) {
  // The square roots of 2 * 10^12 * 3 * 2^60 / 4 and of 2 * 1000 * 3 * 2^60 / 10^9.
  const Counts large(3, int64_t{1} << 60);
  EXPECT_EQ(choose(QD_CHOOSE_MODEL, {1000000000, 4}, large), INT_MAX);
  EXPECT_EQ(choose(QD_CHOOSE_MODEL, {1, 1000000000}, large), 2630119);
}

TEST(BlockSize, AutoIsTheBestOfAllForSmallCounts) {
  for (int ranks = 1; ranks <= 4; ++ranks)
    with_all_counts(ranks, 7, [](const Counts& counts) {
      if (most_of(counts) == 0) return;
      for (const Costs costs : all_costs) {
        const int64_t chosen = choose(QD_CHOOSE_AUTO, costs, counts);
        ASSERT_GE(chosen, 1);
        ASSERT_LE(chosen, most_of(counts));
        ASSERT_EQ(cost(counts, costs, chosen), least_cost(counts, costs, most_of(counts)))
            << testing::PrintToString(counts) << " chosen " << chosen << " at " << costs.alpha
            << ", " << costs.beta;
      }
    });
}

TEST(BlockSize, AutoIsWithinAFortiethOfTheBestForFewDifferentCounts) {
  for (const int64_t ranks : {2, 3, 5, 16, 33, 64})
    for (const int64_t total : {1000, 20011, 65536})
      for (const Distribution& distribution : distributions())
        for (const Costs costs : all_costs) {
          const Counts counts = distribution.counts(ranks, total);
          if (most_of(counts) == 0) continue;
          const double chosen = cost(counts, costs, choose(QD_CHOOSE_AUTO, costs, counts));
          EXPECT_LE(chosen, 1.026 * least_cost(counts, costs, most_of(counts)))
              << testing::PrintToString(counts) << " at " << costs.alpha << ", " << costs.beta;
        }
}

TEST(BlockSize, AutoIsNearTheBestForManyDifferentCounts) {
  std::mt19937_64 random(1);
  for (const Costs costs : all_costs)
    for (int i = 0; i < 4; ++i) {
      Counts counts(300);
      for (int64_t& m : counts)
        m = static_cast<int64_t>(random() % (i == 0 ? 2000 : random() % 2000 + 1));
      const double chosen = cost(counts, costs, choose(QD_CHOOSE_AUTO, costs, counts));
      EXPECT_LE(chosen, 1.03 * least_cost(counts, costs, most_of(counts))) << costs.alpha;
    }
}

TEST(BlockSize, AutoCutsARegularDistributionIntoWholeContributions) {
  // The closed form would cut each contribution into slightly more than two blocks here.
  const Counts regular(16, 1 << 18);
  EXPECT_LT(choose(QD_CHOOSE_MODEL, {50000, 40000}, regular), 1 << 17);
  EXPECT_EQ(choose(QD_CHOOSE_AUTO, {50000, 40000}, regular), 1 << 18);
}

TEST(BlockSize, IsSensibleForTheLargestOfEverything) {
  Counts counts(16384);
  for (size_t i = 0; i < counts.size(); ++i)
    counts[i] = (int64_t{1} << 48) - static_cast<int64_t>(i * i * 977);
  for (const int64_t rule : {QD_CHOOSE_MODEL, QD_CHOOSE_AUTO}) {
    EXPECT_EQ(choose(rule, {1000000000, 1}, counts), INT_MAX);
    EXPECT_GE(choose(rule, {1000000000, 1000000000}, counts), 1);
    EXPECT_EQ(choose(rule, {0, 1000000000}, counts), 1);
  }
}

}  // namespace
