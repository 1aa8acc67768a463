// The messages of one key, and each receive matched with its send: sends are kept by sender, so that
// the one a receive wants is found.
#ifndef QUADRILLE_VERIFIER_KEY_MESSAGES_H_
#define QUADRILLE_VERIFIER_KEY_MESSAGES_H_

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "verifier/violations.h"

namespace quadrille::verifier {

struct KeyMessage {
  int32_t source, target;
  int64_t number;  // whose, the checker knows
  bool matched = false;
};

class KeyMessages {
 public:
  explicit KeyMessages(int64_t ranks) : first_send_(ranks, 0), send_count_(ranks, 0) {}

  // The sends of a rank are added one after another.
  void add_send(int32_t source, int32_t target, int64_t number) {
    if (send_count_[source]++ == 0) first_send_[source] = sends_.size();
    sends_.push_back({source, target, number});
  }
  void add_receive(int32_t source, int32_t target, int64_t number) {
    receives_.push_back({source, target, number});
  }

  // Calls deliver(send, receive) for each receive and its send, until something is wrong; so is what
  // has no other end.
  template <class Deliver>
  void match(FirstViolation& finding, Deliver deliver) {
    sort();
    for (const KeyMessage& receive : receives_) {
      KeyMessage* send = find_send(receive.source, receive.target);
      if (!send)
        return finding.add(receive_without_send(finding.key, receive.source, receive.target));
      if (send->matched)
        return finding.add(Property::kOrder, {receive.target, receive.source},
                           fmt::format("rank {} receives twice from rank {} in a step",
                                       receive.target, receive.source));
      send->matched = true;
      deliver(*send, receive);
      if (finding.violation) return;
    }
    for (const KeyMessage& send : sends_) {
      if (send.matched) continue;
      if (find_send(send.source, send.target)->matched)
        return finding.add(
            Property::kOrder, {send.source, send.target},
            fmt::format("rank {} sends twice to rank {} in a step", send.source, send.target));
      return finding.add(send_without_receive(finding.key, send.source, send.target));
    }
  }

  void clear() {
    for (const KeyMessage& send : sends_) send_count_[send.source] = 0;
    sends_.clear();
    receives_.clear();
  }

 private:
  static constexpr int32_t kFew = 8;

  // A short list is searched, a long one sorted.
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

  std::vector<KeyMessage> sends_, receives_;
  std::vector<int32_t> first_send_, send_count_;  // by rank: where its sends stand in sends_
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_KEY_MESSAGES_H_
