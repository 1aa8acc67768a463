// What a block holds, against arrays of positions under random writes, reads and clearings.
#include "verifier/contents.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace quadrille::verifier {
namespace {

constexpr int kLength = 12;

struct Cell {
  int32_t value = -1;  // none
  int64_t origin = 0;
  bool unused = false;
};
using Cells = std::array<Cell, kLength>;

void expect_same(const BlockContents& block, const Cells& cells) {
  for (int low = 0; low < kLength; ++low) {
    bool full = true, unused = false;
    for (int high = low + 1; high <= kLength; ++high) {
      full &= cells[high - 1].value >= 0;
      unused |= cells[high - 1].unused;
      ASSERT_EQ(covers(block.fragments(), low, high), full);
      ASSERT_EQ(block.unused(low, high), unused);
    }
    const Fragments here = cut(block.fragments(), low, low + 1, 0);
    ASSERT_EQ(here.size(), cells[low].value >= 0 ? 1u : 0u);
    if (here.empty()) continue;
    ASSERT_EQ(here[0].value, cells[low].value);
    ASSERT_EQ(here[0].low + here[0].shift, cells[low].origin);
  }
}

TEST(BlockContents, HoldWhatAnArrayOfPositionsHolds) {
  std::mt19937 random(20020527);
  const auto below = [&](int n) { return static_cast<int>(random() % n); };
  for (int round = 0; round < 300; ++round) {
    BlockContents block;
    Cells cells{};
    for (int change = 0; change < 12; ++change) {
      const int low = below(kLength), high = low + below(kLength - low + 1);
      const int what = below(8);
      if (what == 0) {
        block.clear();
        cells = {};
      } else if (what < 3) {
        block.mark_read(low, high);
        for (int i = low; i < high; ++i) cells[i].unused = false;
      } else {
        const int value = below(3), shift = below(3);
        block.write(low, high, {{low, high, value, shift}});
        for (int i = low; i < high; ++i) cells[i] = {value, i + shift, true};
      }
      expect_same(block, cells);
    }
  }
}

TEST(BlockContents, EqualNeighboursAreJoined) {
  BlockContents block;
  block.write(0, 3, {{0, 3, 7, 0}});
  block.write(3, 5, {{3, 5, 7, 0}});
  EXPECT_EQ(block.fragments(), (Fragments{{0, 5, 7, 0}}));
  EXPECT_EQ(block.length(), 5);
}

TEST(Values, AreCombinedInOrderAndNeverAddedTwice) {
  Values values;
  const Contribution a{0, 0, 0}, b{0, 1, 0}, c{0, 2, 0};
  const int32_t one = values.number({a}), two = values.number({b}), three = values.number({c});
  EXPECT_EQ(values.number({a}), one);
  const auto ab = values.combine(one, two), ba = values.combine(two, one);
  ASSERT_TRUE(ab && ba);
  EXPECT_NE(*ab, *ba);
  EXPECT_EQ(values.sequence(*values.combine(*ab, three)), (std::vector<Contribution>{a, b, c}));
  EXPECT_FALSE(values.combine(*ab, one));
  EXPECT_FALSE(values.combine(*ab, *ab));
}

}  // namespace
}  // namespace quadrille::verifier
