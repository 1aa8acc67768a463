// Stores keys, held ranges and messages of ranks as runs with constant strides. Most steps form long runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "schedule/traverse.h"
#include "schedule/walk.h"
#include "verifier/findings.h"

namespace quadrille::verifier {

// The keys of one rank's steps, in ascending order. They tell how many steps may be in flight.
class KeyHistory {
 public:
  // Larger keys are not served here: their differences might overflow.
  static constexpr int64_t kGreatest = int64_t{1} << 60;
  static bool is_great(int64_t key) { return key <= -kGreatest || key >= kGreatest; }

  int64_t size() const { return size_; }
  void clear() { runs_.clear(), size_ = 0; }

  void add(const StridedBatch::Strided& key, int64_t count) {
    if (!runs_.empty()) {
      Run& last = runs_.back();
      const int64_t by = key.at - last.key.last(last.count);
      if ((last.count == 1 || by == last.key.by) && (count == 1 || by == key.by)) {
        last.key.by = by;
        last.count += count;
        size_ += count;
        return;
      }
    }
    runs_.push_back({key, count, size_});
    size_ += count;
  }

  // Returns the least number of steps that may be in flight when one of the last `count` steps starts. A step starts
  // when all steps with keys up to its `after` are complete. Returns 0 if none of the steps waits for any.
  int64_t window(const StridedBatch::Strided& after, int64_t count) const {
    const Run& last = runs_.back();
    // If each step waits for one at a constant distance, the last one stands for all. If all wait for the same step,
    // the first has the fewest in flight.
    const bool alike = count > 1 && runs_.size() == 1 && after.by == last.key.by;
    const int64_t end = after.by == 0 ? 1 : count;
    int64_t least = 0;
    for (int64_t t = alike ? count - 1 : 0; t < end; ++t) {
      const int64_t steps = size_ - (count - 1 - t);
      const int64_t over = std::min(steps, up_to(after.at + t * after.by));
      if (over == 0) continue;
      const int64_t window = std::max<int64_t>(1, steps - over);
      least = least == 0 ? window : std::min(least, window);
    }
    return least;
  }

  // Returns the number of keys up to this one.
  int64_t up_to(int64_t key) const {
    const auto above = std::upper_bound(runs_.begin(), runs_.end(), key,
                                        [](int64_t k, const Run& run) { return k < run.key.at; });
    if (above == runs_.begin()) return 0;
    const Run& run = above[-1];
    if (run.count == 1) return run.before + 1;
    return run.before + std::min(run.count, (key - run.key.at) / run.key.by + 1);
  }

 private:
  struct Run {
    StridedBatch::Strided key;
    int64_t count, before;
  };

  std::vector<Run> runs_;
  int64_t size_ = 0;
};

// A step of a rank. `number` counts the rank's steps from 1. Steps up to number `over` are complete when it starts.
struct NumberedStep {
  int32_t number, over;
};

// Numbers the steps of one rank in their order, and tells which of them are complete when another starts.
class StepNumbers {
 public:
  // Returns whether the `after` of some step may name steps with keys above -1.
  static bool are_named(const Program& program) {
    bool named = false;
    for_each_statement(program.body, [&](const Statement& statement) {
      const auto* step = std::get_if<Step>(&statement.kind);
      named |= step && step->after && *step->after != constant(-1);
    });
    return named;
  }

  bool increases(int64_t key) const { return size_ == 0 || last_ < key; }
  // Adds consecutive steps. Pass `keep` if the `after` of a later step may name one of them.
  void enter(const StridedBatch::Strided& key, int64_t count, bool keep) {
    if (keep) keys_.add(key, count);
    if (size_ == 0) first_ = key.at;
    last_ = key.last(count);
    size_ += count;
  }
  int64_t first() const { return first_; }

  // Returns the step that was entered last. The walker stands before it.
  NumberedStep step(const Walker& walker) const {
    const int64_t over = walker.has_after ? keys_.up_to(walker.after) : size_;
    return {number(size_), number(std::max(over, copied_))};
  }
  const KeyHistory& keys() const { return keys_; }

  // Numbers a copy outside steps. It waits for all steps before it, and all steps after it wait for the copy.
  NumberedStep copy() {
    number_ = number(size_) + 1;
    copied_ = size_;
    return {number_, number_};
  }

 private:
  int32_t number(int64_t steps) const { return static_cast<int32_t>(number_ + steps - copied_); }

  KeyHistory keys_;
  int64_t first_ = 0, last_ = 0;  // keys
  int64_t size_ = 0;
  int64_t copied_ = 0;  // the number of steps before the last copy outside steps
  int32_t number_ = 0;  // the number of that copy
};

// The set of keys of all ranks.
class KeySet {
 public:
  void add(const StridedBatch::Strided& key, int64_t count) {
    if (key.by != 1 || key.at < 0 || key.last(count) >= kDense) {
      for (int64_t t = 0; t < count; ++t) add_one(key.at + t * key.by);
      return;
    }
    reserve(key.last(count));
    for (int64_t at = key.at, end = key.at + count; at < end;) {
      const int64_t bits = std::min(end - at, 64 - at % 64);
      const uint64_t mask = ~uint64_t{0} >> (64 - bits) << (at % 64);
      words_[at / 64] |= mask;
      at += bits;
    }
  }

  int64_t size() const {
    auto size = static_cast<int64_t>(others_.size());
    for (const uint64_t word : words_) size += __builtin_popcountll(word);
    return size;
  }

 private:
  static constexpr int64_t kDense = int64_t{1} << 28;  // 32 MB, if all keys occur

  void add_one(int64_t key) {
    if (key < 0 || key >= kDense) {
      others_.insert(key);
      return;
    }
    reserve(key);
    words_[key / 64] |= uint64_t{1} << (key % 64);
  }
  void reserve(int64_t key) {
    if (static_cast<size_t>(key / 64) >= words_.size()) words_.resize(key / 64 + 1);
  }

  std::vector<uint64_t> words_;
  std::unordered_set<int64_t> others_;
};

// Ranges of one length, for t in 0 .. count: range t begins at low.at + t*low.by, and step key.at + t*key.by uses it.
struct Tiles {
  StridedBatch::Strided key, low;
  int64_t length = 0;
  int64_t count = 0;
};

// The steps that are complete when another starts: those with keys up to `after`, and those up to `epoch`.
struct Settled {
  StridedBatch::Strided after;
  int64_t epoch;
};

class HeldRanges {
 public:
  explicit HeldRanges(int64_t ranks) : blocks_(ranks) {}

  // Forgets everything, for the next rank.
  void clear();

  enum class Arrival : uint8_t { kNew, kAgain, kUnclear };
  // Adds tiles that arrive. kAgain: some bytes are held already. kUnclear: they leave a gap, which has no form here.
  Arrival arrive(int64_t owner, const Tiles& tiles);

  enum class Held : uint8_t { kSettled, kInFlight, kNo };
  // Says whether every tile arrived in full before its step. kInFlight: in a step that may not be complete by then.
  Held ask(int64_t owner, const Tiles& tiles, const Settled& settled) const;

  // Returns whether the whole block is held.
  bool whole(int64_t owner, int64_t length) const {
    return blocks_[owner].low == 0 && blocks_[owner].high == length;
  }

 private:
  struct Run {
    Tiles tiles;
    int32_t next;  // index of the owner's next run, -1 at the end
  };
  // One range without gaps, and the runs in which it arrived.
  struct Block {
    int64_t low = 0, high = 0;
    int32_t first = -1, last = -1;
  };

  static bool continues(const Tiles& run, const Tiles& more);
  Held ask_one(const Block& block, int64_t low, int64_t high, int64_t key, int64_t after) const;

  std::vector<Block> blocks_;
  std::vector<Run> runs_;
};

// `count` ranges low .. low + length of blocks, and the keys of the steps that carry them.
struct MessageBatch {
  StridedBatch::Strided key, block, low;
  int64_t length = 0;  // kWhole: a whole block of any length; kNothing: a message without pieces
  int64_t count = 0;
  bool begins = true;  // the first range begins a message; so does every later one with another key

  static constexpr int64_t kWhole = -1, kNothing = -2;
};

// One piece of a message, or a message without pieces.
struct MessagePiece {
  int64_t key, block, low, length;
  bool begins;
  friend bool operator==(const MessagePiece&, const MessagePiece&) = default;
};

class MessageList {
 public:
  void add(const MessageBatch& more);
  bool empty() const { return list_.empty(); }
  int64_t last_key() const { return list_.back().key.last(list_.back().count); }

  // The place where two lists first differ. No piece: that list has ended.
  struct Difference {
    std::optional<MessagePiece> sent, received;
  };
  // Returns the first difference, if any. `lengths` are the lengths of whole blocks.
  static std::optional<Difference> compare(const MessageList& sent, const MessageList& received,
                                           const std::vector<int64_t>& lengths);

 private:
  std::vector<MessageBatch> list_;
};

// The messages between all ranks. The ranks are walked one after another, in order.
class Pairs {
 public:
  // `lengths` are the lengths of the blocks.
  Pairs(const Processes& processes, const std::vector<int64_t>& lengths)
      : processes_(processes), ranks_(processes.size()), lengths_(lengths) {}

  // Returns the messages that `rank` sends to `peer`, or receives from it.
  MessageList& at(int64_t rank, int64_t peer, Direction direction);

  // Call it after the walk of the rank. Compares the messages between the rank and lower ranks, and forgets them.
  std::optional<Violation> settle(int64_t rank);
  // Call it after the walk of all ranks. Returns a violation if messages are left: they have no other end.
  std::optional<Violation> settle_rest() const;

 private:
  struct Pair {
    MessageList sent, received;
  };

  std::optional<Violation> compare(int64_t id, const Pair& pair) const;

  const Processes& processes_;
  int64_t ranks_;
  const std::vector<int64_t>& lengths_;
  std::unordered_map<int64_t, Pair> pairs_;  // by source*ranks + target
  std::vector<int64_t> accessed_;            // pairs that the current rank used
};

}  // namespace quadrille::verifier
