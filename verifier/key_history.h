// Keys of steps, where they mostly differ by a constant.
#ifndef QUADRILLE_VERIFIER_KEY_HISTORY_H_
#define QUADRILLE_VERIFIER_KEY_HISTORY_H_

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "schedule/walk_events.h"

namespace quadrille::verifier {

// The keys of one rank's steps, in ascending order: how many steps may be in flight.
class KeyHistory {
 public:
  // Keys, and what `after` names, beyond these are nothing for here: differences might overflow.
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

  // The least number of steps that may be in flight at once by the last `count` steps, one of which
  // starts when all with keys up to its `after` are over; 0 where none of them waits for any.
  int64_t window(const StridedBatch::Strided& after, int64_t count) const {
    const Run& last = runs_.back();
    // Where steps wait for steps at a constant distance, the last of them is as good as any; where
    // all wait for the same, the first has the fewest in flight.
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

  // How many keys are no greater.
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

// Distinct keys of all ranks.
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
  static constexpr int64_t kDense = int64_t{1} << 28;  // 32 MB, if they are all there

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

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_KEY_HISTORY_H_
