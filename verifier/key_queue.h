// A timing wheel of ranks by the key of their next step. Each key near the current one has a slot, which lists its
// ranks. Later keys wait in a heap until the queue comes near them.
#ifndef QUADRILLE_VERIFIER_KEY_QUEUE_H_
#define QUADRILLE_VERIFIER_KEY_QUEUE_H_

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace quadrille::verifier {

class KeyQueue {
 public:
  explicit KeyQueue(int64_t ranks) : next_(ranks), head_(kSlots, -1) {}

  bool empty() const { return waiting_ == 0; }
  // The key that advance() last came to.
  int64_t now() const { return now_; }

  // The key must be above the current one.
  void add(int32_t rank, int64_t key) {
    ++waiting_;
    if (started_ && is_near(key))
      file(rank, key);
    else
      later_.emplace(key, rank);
  }

  // Goes on to the next slot, and takes its ranks out. Returns the first of them, or -1 if no rank has a step there.
  int32_t advance() {
    now_ = filed_ == 0 ? later_.top().first : now_ + 1;
    started_ = true;
    while (!later_.empty() && is_near(later_.top().first)) {
      file(later_.top().second, later_.top().first);
      later_.pop();
    }
    return std::exchange(head_[now_ & (kSlots - 1)], -1);
  }

  // The rank after this one at the current key, or -1 at the end. Call it before the rank is added again.
  int32_t take(int32_t rank) {
    --filed_;
    --waiting_;
    return next_[rank];
  }

 private:
  static constexpr uint64_t kSlots = 4096;

  // Keys are as far apart as 64 bits go.
  bool is_near(int64_t key) const {
    return static_cast<uint64_t>(key) - static_cast<uint64_t>(now_) < kSlots;
  }

  void file(int32_t rank, int64_t key) {
    int32_t& head = head_[key & (kSlots - 1)];
    next_[rank] = head;
    head = rank;
    ++filed_;
  }

  std::vector<int32_t> next_, head_;
  std::priority_queue<std::pair<int64_t, int32_t>, std::vector<std::pair<int64_t, int32_t>>,
                      std::greater<>>
      later_;
  int64_t now_ = 0, waiting_ = 0, filed_ = 0;
  bool started_ = false;
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_KEY_QUEUE_H_
