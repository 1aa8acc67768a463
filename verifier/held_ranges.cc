// Tested by tests/verifier/strides_test.cc, beside the same kept one by one.
#include "verifier/held_ranges.h"

#include <algorithm>
#include <cstdlib>

namespace quadrille::verifier {

void HeldRanges::clear() {
  std::fill(blocks_.begin(), blocks_.end(), Block{});
  runs_.clear();
}

// True where `more` goes on with the strides of the run; a run of one tile takes them from it.
bool HeldRanges::continues(const Tiles& run, const Tiles& more) {
  if (run.length != more.length) return false;
  const StridedBatch::Strided low{more.low.at - run.low.last(run.count), more.low.by};
  const StridedBatch::Strided key{more.key.at - run.key.last(run.count), more.key.by};
  if (low.at != run.length && low.at != -run.length) return false;
  return (run.count == 1 || (low.at == run.low.by && key.at == run.key.by)) &&
         (more.count == 1 || (low.at == low.by && key.at == key.by));
}

HeldRanges::Arrival HeldRanges::arrive(int64_t owner, const Tiles& tiles) {
  if (tiles.count > 1 && tiles.low.by != tiles.length && tiles.low.by != -tiles.length)
    return std::abs(tiles.low.by) < tiles.length ? Arrival::kAgain : Arrival::kUnclear;
  const auto [first, last] = std::minmax({tiles.low.at, tiles.low.last(tiles.count)});
  const int64_t low = first, high = last + tiles.length;
  Block& block = blocks_[owner];
  if (block.first < 0) {
    block.low = low;
    block.high = high;
  } else {
    if (low < block.high && block.low < high) return Arrival::kAgain;
    if (high != block.low && low != block.high) return Arrival::kUnclear;
    block.low = std::min(block.low, low);
    block.high = std::max(block.high, high);
    Tiles& run = runs_[block.last].tiles;
    if (continues(run, tiles)) {
      run.low.by = tiles.low.at - run.low.last(run.count);
      run.key.by = tiles.key.at - run.key.last(run.count);
      run.count += tiles.count;
      return Arrival::kNew;
    }
    runs_[block.last].next = static_cast<int32_t>(runs_.size());
  }
  if (block.first < 0) block.first = static_cast<int32_t>(runs_.size());
  block.last = static_cast<int32_t>(runs_.size());
  runs_.push_back({tiles, -1});
  return Arrival::kNew;
}

// One range: the latest of the tiles that it touches decides.
HeldRanges::Held HeldRanges::ask_one(const Block& block, int64_t low, int64_t high, int64_t key,
                                     int64_t after) const {
  if (block.first < 0 || low < block.low || block.high < high) return Held::kNo;
  int64_t latest = INT64_MIN;
  for (int32_t i = block.first; i >= 0; i = runs_[i].next) {
    const Tiles& run = runs_[i].tiles;
    // Places of the first and the last tile from the left that the range touches.
    const int64_t left = std::min(run.low.at, run.low.last(run.count));
    const int64_t from = std::max<int64_t>(0, low - left) / run.length;
    const int64_t to = std::min(run.count, (high - left + run.length - 1) / run.length) - 1;
    if (high <= left || to < from) continue;
    // Keys increase along a run.
    latest =
        std::max(latest, run.key.at + run.key.by * (run.low.by < 0 ? run.count - 1 - from : to));
  }
  return latest >= key ? Held::kNo : latest > after ? Held::kInFlight : Held::kSettled;
}

HeldRanges::Held HeldRanges::ask(int64_t owner, const Tiles& tiles, const Settled& settled) const {
  const Block& block = blocks_[owner];
  for (int64_t t = 0; t < tiles.count;) {
    const int64_t low = tiles.low.at + t * tiles.low.by, key = tiles.key.at + t * tiles.key.by;
    const int64_t after = settled.after.at + t * settled.after.by;
    // The tiles of a run that came in the same order as they are sent: first and last decide.
    int64_t together = 0;
    for (int32_t i = block.first; i >= 0 && together == 0; i = runs_[i].next) {
      const Tiles& run = runs_[i].tiles;
      if (run.count < 2 || run.length != tiles.length || run.low.by != tiles.low.by) continue;
      const int64_t place = (low - run.low.at) / run.low.by;
      if (place < 0 || place >= run.count || run.low.at + place * run.low.by != low) continue;
      together = std::min(run.count - place, tiles.count - t);
      for (const int64_t at : {int64_t{0}, together - 1}) {
        const int64_t came = run.key.at + (place + at) * run.key.by;
        if (came > after + at * settled.after.by || came >= key + at * tiles.key.by) together = 0;
      }
    }
    if (together == 0) {
      const Held held =
          ask_one(block, low, low + tiles.length, key, std::max(after, settled.epoch));
      if (held != Held::kSettled) return held;
      together = 1;
    }
    t += together;
  }
  return Held::kSettled;
}

}  // namespace quadrille::verifier
