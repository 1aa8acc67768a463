// The messages from one rank to another as the one sends and as the other receives them, for both
// to be compared: in the order of their keys, pieces in theirs, and those that differ by constant
// strides together.
#ifndef QUADRILLE_VERIFIER_MESSAGE_LISTS_H_
#define QUADRILLE_VERIFIER_MESSAGE_LISTS_H_

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "schedule/walk_events.h"
#include "verifier/verdict.h"

namespace quadrille::verifier {

// Ranges low .. low + length of blocks, and the keys of the steps in which they travel, `count` of
// each.
struct MessageBatch {
  StridedBatch::Strided key, block, low;
  int64_t length =
      0;  // kWhole: a whole block, as long as it is; kNothing: a message without pieces
  int64_t count = 0;
  bool begins = true;  // the first begins a message; so does every further one whose key is another

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

  // Where two lists first differ: nothing stands for the end of a list.
  struct Difference {
    std::optional<MessagePiece> sent, received;
  };
  // `lengths` are those of whole blocks.
  static std::optional<Difference> compare(const MessageList& sent, const MessageList& received,
                                           const std::vector<int64_t>& lengths);

 private:
  std::vector<MessageBatch> list_;
};

// The messages between all ranks, which are walked one after another, in order.
class Pairs {
 public:
  // `lengths` are those of the blocks.
  Pairs(int64_t ranks, const std::vector<int64_t>& lengths) : ranks_(ranks), lengths_(lengths) {}

  // What this rank sends to that one, or receives from it.
  MessageList& at(int64_t rank, int64_t peer, Direction direction);

  // The rank has been walked: what is wrong between it and lower ones. That is forgotten then.
  std::optional<Violation> settle(int64_t rank);
  // All have been walked: what is left over, and therefore wrong.
  std::optional<Violation> settle_rest() const;

 private:
  struct Pair {
    MessageList sent, received;
  };

  std::optional<Violation> compare(int64_t id, const Pair& pair) const;

  int64_t ranks_;
  const std::vector<int64_t>& lengths_;
  std::unordered_map<int64_t, Pair> pairs_;  // by source*ranks + target
  std::vector<int64_t> touched_;             // by the current rank
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_MESSAGE_LISTS_H_
