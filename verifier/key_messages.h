// The messages of one key, before they are matched: sends by sender, so that the one a receive
// wants is found.
#ifndef QUADRILLE_VERIFIER_KEY_MESSAGES_H_
#define QUADRILLE_VERIFIER_KEY_MESSAGES_H_

#include <algorithm>
#include <cstdint>
#include <vector>

namespace quadrille::verifier {

constexpr int64_t kToken = -1;  // in the place of a block

struct KeyMessage {
  int32_t source, target;
  int64_t block;  // of the sender's send buffer or the receiver's receive buffer, or kToken
  bool matched = false;
};

class KeyMessages {
 public:
  explicit KeyMessages(int64_t ranks) : first_send_(ranks, 0), send_count_(ranks, 0) {}

  bool empty() const { return sends_.empty() && receives_.empty(); }
  const std::vector<KeyMessage>& sends() const { return sends_; }
  const std::vector<KeyMessage>& receives() const { return receives_; }

  // The sends of a rank are added one after another.
  void add_send(int32_t source, int32_t target, int64_t block) {
    if (send_count_[source]++ == 0) first_send_[source] = sends_.size();
    sends_.push_back({source, target, block});
  }
  void add_receive(int32_t source, int32_t target, int64_t block) {
    receives_.push_back({source, target, block});
  }

  // Once all are added and before the first is looked for: a short list is searched, a long one
  // sorted.
  void sort() {
    for (size_t first = 0; first < sends_.size(); first += send_count_[sends_[first].source])
      if (send_count_[sends_[first].source] > kFew)
        std::sort(&sends_[first], &sends_[first] + send_count_[sends_[first].source],
                  [](const KeyMessage& a, const KeyMessage& b) { return a.target < b.target; });
  }

  // The first send of `source` to `target`, or nullptr.
  KeyMessage* find_send(int32_t source, int32_t target) {
    if (send_count_[source] == 0) return nullptr;
    KeyMessage* first = &sends_[first_send_[source]];
    KeyMessage* last = first + send_count_[source];
    if (send_count_[source] > kFew)
      first = std::lower_bound(first, last, target,
                               [](const KeyMessage& a, int32_t b) { return a.target < b; });
    else
      while (first != last && first->target != target) ++first;
    return first != last && first->target == target ? first : nullptr;
  }

  void clear() {
    for (const KeyMessage& send : sends_) send_count_[send.source] = 0;
    sends_.clear();
    receives_.clear();
  }

 private:
  static constexpr int32_t kFew = 8;

  std::vector<KeyMessage> sends_, receives_;
  std::vector<int32_t> first_send_, send_count_;  // by rank: where its sends stand in sends_
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_KEY_MESSAGES_H_
