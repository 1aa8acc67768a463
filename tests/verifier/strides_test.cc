// The checker of allgathers stores held ranges, messages and keys by strides. Compares them with lists of items.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/support/effort.h"
#include "tests/support/property.h"
#include "verifier/strides.h"

namespace quadrille::verifier::strides_test {

using Strided = StridedBatch::Strided;

constexpr int kTries = kSanitized ? 2 : 20;

int64_t at(const Strided& value, int64_t t) { return value.at + t * value.by; }

// By byte: the key of the step in which it arrived.
using Bytes = std::map<int64_t, int64_t>;

// Draws tiles that begin just after the known bytes, or end just before them, or lie anywhere.
Tiles random_tiles(const Bytes& bytes, int64_t key) {
  const int64_t length = drawn(1, 4), count = drawn(1, 5);
  const int64_t by = drawn_of<int64_t>(int64_t{length}, -length, length, -length, 0, 1, 7);
  Tiles tiles{{key, drawn(0, 3)}, {drawn(0, 30), by}, length, count};
  if (!bytes.empty() && drawn(0, 4) > 0)
    tiles.low.at = by > 0 ? bytes.rbegin()->first + 1 : bytes.begin()->first - length;
  return tiles;
}

void try_held_ranges() {
  HeldRanges held(1);
  Bytes bytes;
  std::vector<Tiles> came;
  int64_t key = 0;
  for (int64_t arrivals = drawn(0, 8); arrivals > 0; --arrivals) {
    const Tiles tiles = random_tiles(bytes, key);
    Bytes more = bytes;
    bool again = false;
    for (int64_t t = 0; t < tiles.count; ++t)
      for (int64_t i = 0; i < tiles.length; ++i)
        again |= !more.emplace(at(tiles.low, t) + i, at(tiles.key, t)).second;
    const bool has_gaps = tiles.count > 1 && std::abs(tiles.low.by) > tiles.length;
    const bool gap = has_gaps || static_cast<int64_t>(more.size()) !=
                                     more.rbegin()->first - more.begin()->first + 1;
    const HeldRanges::Arrival arrival = held.arrive(0, tiles);
    REQUIRE((arrival == HeldRanges::Arrival::kNew) == (!again && !gap));
    REQUIRE(arrival != HeldRanges::Arrival::kAgain || again);
    if (arrival != HeldRanges::Arrival::kNew) break;
    bytes = more;
    came.push_back(tiles);
    key = tiles.key.last(tiles.count) + drawn(0, 3);
  }
  for (int i = 0; i < 20; ++i) {
    const int64_t length = drawn(1, 5);
    Tiles tiles{{drawn(-2, key + 6), drawn(0, 4)},
                {drawn(-2, 34), drawn_of<int64_t>(int64_t{length}, -length, 0, 2)},
                length,
                drawn(1, 6)};
    Settled settled{{drawn(-2, key + 6), drawn(-1, 4)},
                    drawn_of<int64_t>(INT64_MIN, INT64_MIN, drawn(-2, key + 4))};
    if (!came.empty() && drawn(0, 4) > 0) {  // in the order of arrival, some steps later
      tiles = came[drawn(0, static_cast<int64_t>(came.size()))];
      tiles.low.at += drawn_of<int64_t>(0, 0, 0, 1, int64_t{tiles.low.by});
      tiles.count = std::max<int64_t>(1, tiles.count + drawn(-2, 3));
      settled.after = {tiles.key.at + drawn(-1, 4), tiles.key.by + drawn(-1, 2)};
      tiles.key = {settled.after.at + drawn(-1, 3), settled.after.by + drawn(0, 2)};
    }
    HeldRanges::Held expected = HeldRanges::Held::kSettled;
    for (int64_t t = 0; t < tiles.count && expected == HeldRanges::Held::kSettled; ++t)
      for (int64_t j = 0; j < tiles.length; ++j) {
        const auto byte = bytes.find(at(tiles.low, t) + j);
        if (byte == bytes.end() || byte->second >= at(tiles.key, t))
          expected = HeldRanges::Held::kNo;
        else if (expected != HeldRanges::Held::kNo &&
                 byte->second > std::max(at(settled.after, t), settled.epoch))
          expected = HeldRanges::Held::kInFlight;
      }
    REQUIRE(held.ask(0, tiles, settled) == expected);
  }
}

PROPERTY(HeldRanges, KnowOfEveryByteWhetherAndWhenItCame) {
  for (int i = 0; i < kTries; ++i) try_held_ranges();
}

TEST(HeldRanges, DoNotStoreTilesAroundBytesThatAreThere) {
  HeldRanges held(1);
  EXPECT_EQ(held.arrive(0, {{0, 0}, {20, 6}, 6, 1}), HeldRanges::Arrival::kNew);
  EXPECT_EQ(held.arrive(0, {{1, 0}, {19, 7}, 1, 2}), HeldRanges::Arrival::kUnclear);
}

std::vector<MessagePiece> one_by_one(const MessageBatch& s, const std::vector<int64_t>& lengths) {
  std::vector<MessagePiece> result;
  for (int64_t t = 0; t < s.count; ++t) {
    const int64_t block = at(s.block, t);
    result.push_back({at(s.key, t), block, at(s.low, t),
                      s.length == MessageBatch::kWhole ? lengths[block] : s.length,
                      t == 0 ? s.begins : s.key.by != 0});
  }
  return result;
}

// Returns a list of the same items, cut at random: some alone, some joined with neighbors at constant strides.
MessageList in_other_cuts(const std::vector<MessagePiece>& all) {
  MessageList result;
  for (size_t i = 0; i < all.size();) {
    MessageBatch next{{all[i].key, 0}, {all[i].block, 0}, {all[i].low, 0}, all[i].length, 1,
                      all[i].begins};
    const auto fits = [&](size_t j) {
      return all[j].length == next.length && all[j].begins == (next.key.by != 0) &&
             all[j].key == at(next.key, next.count) && all[j].block == at(next.block, next.count) &&
             all[j].low == at(next.low, next.count);
    };
    if (i + 1 < all.size() && drawn(0, 3) > 0) {
      next.key.by = all[i + 1].key - all[i].key;
      next.block.by = all[i + 1].block - all[i].block;
      next.low.by = all[i + 1].low - all[i].low;
    }
    while (i + next.count < all.size() && fits(i + next.count) && drawn(0, 6) > 0) ++next.count;
    i += next.count;
    result.add(next);
  }
  return result;
}

// Changes a random item; or it and all later ones, by a growing amount; or gives these the first item's length.
void change(std::vector<MessagePiece>& all) {
  const auto where = static_cast<size_t>(drawn(0, static_cast<int64_t>(all.size())));
  const int64_t part = drawn(0, 4), kind = drawn(0, 3);
  for (size_t i = where; i < all.size(); ++i) {
    int64_t* const parts[] = {&all[i].key, &all[i].block, &all[i].low, &all[i].length};
    if (kind == 2)
      all[i].length = all[0].length;
    else if (kind == 1 || i == where)
      *parts[part] += static_cast<int64_t>(i - where) + 1;
  }
}

void try_message_lists() {
  const std::vector<int64_t> lengths = {3, 3, 5, 3, 3, 3, 7, 3, 3, 3, 3, 3};
  MessageList sent;
  std::vector<MessagePiece> all;
  int64_t key = 0;
  for (int64_t i = drawn(1, 6); i > 0; --i) {
    const bool message = i % 2 == 1 || all.empty() || drawn(0, 2) == 0;
    const MessageBatch next{{key, message ? drawn(1, 3) : 0},
                            {drawn(0, 4), drawn(0, 2)},
                            {drawn(0, 4), drawn(0, 3)},
                            drawn_of<int64_t>(int64_t{MessageBatch::kWhole}, 3, 5),
                            drawn(1, 6),
                            message};
    sent.add(next);
    for (const MessagePiece& one : one_by_one(next, lengths)) all.push_back(one);
    key = next.key.last(next.count) + drawn(1, 3);
  }
  REQUIRE(!MessageList::compare(sent, in_other_cuts(all), lengths));

  std::vector<MessagePiece> other = all;
  change(other);
  const auto [one, changed] = std::mismatch(all.begin(), all.end(), other.begin());
  const auto difference = MessageList::compare(sent, in_other_cuts(other), lengths);
  REQUIRE(difference.has_value() == (one != all.end()));
  if (difference) {
    REQUIRE(difference->sent == *one);
    REQUIRE(difference->received == *changed);
  }

  other = all;
  other.pop_back();
  const auto shorter = MessageList::compare(sent, in_other_cuts(other), lengths);
  REQUIRE(shorter && shorter->sent == all.back() && !shorter->received);
}

PROPERTY(MessageList, AreTheSameHoweverTheyAreCut) {
  for (int i = 0; i < kTries; ++i) try_message_lists();
}

PROPERTY(KeyHistory, KnowsHowManyStepsMayBeInFlight) {
  KeyHistory history;
  std::vector<int64_t> keys;
  int64_t key = drawn(-5, 5);
  for (int64_t i = drawn(1, 6); i > 0; --i) {
    const Strided steps{key, drawn(1, 3)};
    const int64_t count = drawn(1, 6);
    const Strided after{drawn(-8, 8) + key - 4, drawn_of<int64_t>(int64_t{steps.by}, 0, 1)};
    int64_t least = 0;
    for (int64_t t = 0; t < count; ++t) {
      keys.push_back(at(steps, t));
      const int64_t over = std::ranges::upper_bound(keys, at(after, t)) - keys.begin();
      if (over == 0) continue;
      const int64_t window = std::max<int64_t>(1, static_cast<int64_t>(keys.size()) - over);
      least = least == 0 ? window : std::min(least, window);
    }
    history.add(steps, count);
    REQUIRE(history.window(after, count) == least);
    key = steps.last(count) + drawn(1, 3);
  }
}

PROPERTY(KeySet, CountsDistinctKeys) {
  KeySet set;
  std::set<int64_t> keys;
  for (int64_t i = drawn(0, 8); i > 0; --i) {
    const Strided key{drawn_of<int64_t>(drawn(-70, 300), drawn(-70, 300), int64_t{1} << 40),
                      drawn_of<int64_t>(1, 1, 2, 64)};
    const int64_t count = drawn(1, 200);
    set.add(key, count);
    for (int64_t t = 0; t < count; ++t) keys.insert(at(key, t));
  }
  REQUIRE(set.size() == static_cast<int64_t>(keys.size()));
}

}  // namespace quadrille::verifier::strides_test
