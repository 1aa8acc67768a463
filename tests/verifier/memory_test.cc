// Compares the contents of blocks, accesses to them, and sets of processes with plain arrays, lists and sets, under
// random changes. Also tests which sets the messages of a barrier's step carry. The time of the general checker grows
// with the number of messages, not with the square of the number of ranks.
#include "verifier/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>

#include "schedule/text.h"
#include "tests/support/topologies.h"
#include "verifier/check.h"

namespace quadrille::verifier::memory_test {

constexpr int kLength = 12;

struct Cell {
  int32_t value = -1;  // -1: nothing was written
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
      ASSERT_EQ(block.holds(low, high), full);
      ASSERT_EQ(block.unused(low, high), unused);
    }
    for (int value = 0; value < 3; ++value)
      for (int shift = 0; shift < 3; ++shift)
        ASSERT_EQ(block.shares({{low, low + 1, shift, value}}),
                  cells[low].value == value && cells[low].origin == low + shift);
  }
}

void expect_read(const Fragments& read, const Cells& cells, int low, int high) {
  int held = 0;
  for (const Fragment& fragment : read) {
    ASSERT_TRUE(0 <= fragment.low && fragment.high <= high - low);
    for (int64_t i = fragment.low; i < fragment.high; ++i, ++held) {
      ASSERT_EQ(fragment.value, cells[low + i].value);
      ASSERT_EQ(fragment.shift + i, cells[low + i].origin);
    }
  }
  ASSERT_EQ(held, std::count_if(&cells[0] + low, &cells[0] + high,
                                [](const Cell& cell) { return cell.value >= 0; }));
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
        expect_read(block.read(low, high), cells, low, high);
        for (int i = low; i < high; ++i) cells[i].unused = false;
      } else {
        const int value = below(3), shift = below(3);
        block.write(low, high, {{low, high, shift, value}});
        for (int i = low; i < high; ++i) cells[i] = {value, i + shift, true};
      }
      expect_same(block, cells);
    }
  }
}

TEST(BlockContents, EqualNeighboursAreJoined) {
  BlockContents block;
  block.write(0, 3, {{0, 3, 0, 7}});
  block.write(3, 5, {{3, 5, 0, 7}});
  ASSERT_EQ(block.fragments().size(), 1u);
  EXPECT_EQ(block.fragments()[0], (Fragment{0, 5, 0, 7, true}));
  EXPECT_EQ(block.length(), 5);
  block.mark_read(1, 2);
  EXPECT_EQ(block.fragments().size(), 3u);
  block.mark_read(0, 5);
  EXPECT_EQ(block.fragments().size(), 1u);
}

TEST(BlockContents, OfNoLengthAreWrittenAndHold) {
  BlockContents block;
  EXPECT_FALSE(block.written());
  block.write(0, 0, {});
  EXPECT_TRUE(block.written());
  EXPECT_TRUE(block.holds(0, 0));
  EXPECT_FALSE(block.holds(0, 1));
}

TEST(Values, AreCombinedInOrderAndNeverAddedTwice) {
  Values values;
  const Contribution a{0, 0, 0}, b{0, 1, 0}, c{0, 2, 0};
  const int32_t one = values.number(a), two = values.number(b), three = values.number(c);
  EXPECT_EQ(values.number(a), one);
  const auto ab = values.combine(one, two), ba = values.combine(two, one);
  ASSERT_TRUE(ab && ba);
  EXPECT_NE(*ab, *ba);
  EXPECT_EQ(values.in_any_order(*ab), values.in_any_order(*ba));
  EXPECT_EQ(*values.combine(*ab, three), values.number({a, b, c}));
  EXPECT_EQ(values.size(values.number({a, b, c})), 3);
  EXPECT_FALSE(values.combine(*ab, one));
  EXPECT_FALSE(values.combine(*ab, *ab));
}

TEST(Values, AreOneRunWhereRanksFollowOneAnother) {
  Values values;
  std::vector<Contribution> upwards, downwards;
  for (int64_t rank = 0; rank < 1000; ++rank) upwards.push_back({1, rank, 5});
  downwards.assign(upwards.rbegin(), upwards.rend());
  EXPECT_EQ(values.runs(values.number(upwards)), (ContributionRuns{{0, 1000, 5, 1, 1}}));
  EXPECT_EQ(values.runs(values.number(downwards)), (ContributionRuns{{999, 1000, 5, 1, -1}}));
  EXPECT_EQ(values.in_any_order(values.number(downwards)), values.number(upwards));
  EXPECT_EQ(values.sum_of(Contributors{1, 0, 1000, 5}), values.number(upwards));
  EXPECT_EQ(values.sum_of(Contributors{1, 7, 1, 5}), values.number(upwards[7]));
  EXPECT_EQ(values.sum_of(Contributors{1, 7, 0, 5}), values.number(std::vector<Contribution>{}));
}

// Combines random sums of few contributions, and compares them with the lists that they stand for.
TEST(Values, AreWhatPlainListsAre) {
  std::mt19937 random(20080908);
  for (int round = 0; round < 200; ++round) {
    Values values;
    std::vector<std::pair<int32_t, std::vector<Contribution>>> known;
    for (int64_t group = 0; group < 2; ++group)
      for (int64_t rank = 0; rank < 5; ++rank)
        for (int64_t block = 0; block < 2; ++block) {
          const Contribution one{group, rank, block};
          known.emplace_back(values.number(one), std::vector{one});
        }
    for (int made = 0; made < 40; ++made) {
      const auto [left, first] = known[random() % known.size()];
      const auto [right, second] = known[random() % known.size()];
      std::vector<Contribution> both = first;
      both.insert(both.end(), second.begin(), second.end());
      const bool twice = std::ranges::any_of(second, [&, &first = first](const Contribution& c) {
        return std::ranges::find(first, c) != first.end();
      });
      const auto sum = values.combine(left, right);
      ASSERT_EQ(sum.has_value(), !twice);
      if (twice) continue;
      ASSERT_EQ(*sum, values.number(both));
      ASSERT_EQ(values.size(*sum), static_cast<int64_t>(both.size()));
      known.emplace_back(*sum, both);
    }
    const auto in_order = [](std::vector<Contribution> list) {
      std::ranges::sort(list);
      return list;
    };
    for (const auto& [one, list] : known)
      for (const auto& [other, others] : known) {
        ASSERT_EQ(one == other, list == others);
        ASSERT_EQ(values.in_any_order(one) == values.in_any_order(other),
                  in_order(list) == in_order(others));
      }
  }
}

TEST(Touches, FindTheStepsThatAListOfAllUsesFinds) {
  struct Use {
    int64_t epoch, key;
    Interval part;
    bool write;
  };
  std::mt19937 random(20190227);
  const auto below = [&](int n) { return static_cast<int>(random() % n); };
  int found = 0;
  for (int round = 0; round < 500; ++round) {
    Accesses accesses;
    std::vector<Use> uses;
    int64_t epoch = 0, key = -5;
    for (int i = 0; i < 30; ++i) {
      epoch += below(12) == 0;
      key += below(3);
      const int64_t low = below(10), high = low + below(5), after = key - 1 - below(5);
      const Use use{epoch, key, {low, high}, below(2) == 0};
      std::optional<int64_t> wanted;
      for (const Use& earlier : uses)
        if (!wanted && earlier.epoch == epoch && after < earlier.key && earlier.key < key &&
            (earlier.write || use.write) &&
            std::max(earlier.part.low, low) < std::min(earlier.part.high, high))
          wanted = earlier.key;
      ASSERT_EQ(accesses.note(epoch, key, after, use.part, use.write), wanted);
      found += wanted.has_value();
      uses.push_back(use);
    }
  }
  EXPECT_GT(found, 1000);
}

// Writes single elements, downwards and scattered. If each write moved all other elements, this would take hours.
TEST(Touches, OfAMillionElementsTakeSeconds) {
  constexpr int64_t kElements = 1000000, kStride = 7919;  // coprime: all elements are written
  for (const bool scattered : {false, true}) {
    BlockContents block;
    Accesses accesses;
    for (int64_t i = 0; i < kElements; ++i) {
      const int64_t at = scattered ? i * kStride % kElements : kElements - 1 - i;
      EXPECT_FALSE(block.holds(at, at + 1));
      block.write(at, at + 1, {{at, at + 1, 0, static_cast<int32_t>(at % 2)}});
      EXPECT_EQ(accesses.note(0, i, -1, {at, at + 1}, true), std::nullopt);
    }
    EXPECT_TRUE(block.holds(0, kElements));
    EXPECT_EQ(accesses.note(0, kElements, -1, {0, kElements}, false), 0);
  }
}

// ---- Sets of processes

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

TEST(ManyRanks, AreCheckedOneByOneInAScan) {
  constexpr int64_t kRanks = 200'000;
  const Result<Program> program = parse_program(
      "algorithm chain for scan\n"
      "copy send[0] to recv[0]\n"
      "if 0 < rank\n"
      "  step rank - 1\n"
      "    receive left recv[0] from rank - 1\n"
      "if rank + 1 < ranks\n"
      "  step rank\n"
      "    send recv[0] to rank + 1\n",
      "chain");
  const Result<Report> report = check_schedule(*program, job_of({kRanks}), {}, {});
  EXPECT_FALSE(report->violation);
  EXPECT_EQ(report->messages, kRanks - 1);
}

}  // namespace quadrille::verifier::memory_test
