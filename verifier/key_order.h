// The data structures of check_key_order(): a queue of ranks by their next keys, and the loops that they are in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "schedule/walk.h"

namespace quadrille::verifier {

// A timing wheel of ranks by the key of their next step. Each key near the current one has a slot, which lists its
// ranks. Later keys wait in a heap until the queue comes near them.
class KeyQueue {
 public:
  explicit KeyQueue(int64_t ranks) : next_(ranks), head_(kSlots, -1) {}

  bool empty() const { return waiting_ == 0; }
  // The key that advance() last reached.
  int64_t now() const { return now_; }

  // The key must be above the current one.
  void add(int32_t rank, int64_t key) {
    ++waiting_;
    if (started_ && is_near(key))
      file(rank, key);
    else
      later_.emplace(key, rank);
  }

  // Moves on to the next slot, and takes its ranks out. Returns the first of them, or -1 if no rank has a step there.
  int32_t advance() {
    now_ = filed_ == 0 ? later_.top().first : now_ + 1;
    started_ = true;
    while (!later_.empty() && is_near(later_.top().first)) {
      file(later_.top().second, later_.top().first);
      later_.pop();
    }
    return std::exchange(head_[now_ & (kSlots - 1)], -1);
  }

  // Returns the rank after this one at the current key, or -1 at the end. Call it before the rank is added again.
  int32_t take(int32_t rank) {
    --filed_;
    --waiting_;
    return next_[rank];
  }

 private:
  static constexpr uint64_t kSlots = 4096;

  // Key differences may take all 64 bits.
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

// The loop of exchanges that a rank is in, copied from its walk. Most steps are in these loops. Each fits a cache
// line.
struct ExchangeLoop {
  int64_t key = 0;
  int32_t key_stride = 0, peer = 0, peer_stride = 0;
  int32_t left = 0;   // steps, with the current one
  bool more = false;  // the walk is still in the same loop

  // Returns the loop of a batch whose steps each exchange one whole block with one rank, directly from send to
  // receive buffer. Returns nothing for other batches, and for wrong ones: a key that does not increase, or a peer
  // that is no other rank. The walk then goes through each step.
  static std::optional<ExchangeLoop> of(const StridedBatch& batch, int64_t rank, int64_t ranks) {
    if (!batch.has_step || batch.messages.size() != 2 || batch.pieces.size() != 2 ||
        batch.key.by < 1 || batch.key.by > INT32_MAX)
      return std::nullopt;
    const StridedBatch::Strided peer = batch.messages[0].peer;
    if (!is_block(batch, 0, peer) || !is_block(batch, 1, peer) ||
        batch.messages[0].head.direction == batch.messages[1].head.direction)
      return std::nullopt;
    const auto [low, high] = std::minmax({peer.at, peer.last(batch.count)});
    if (low < 0 || high >= ranks) return std::nullopt;
    const bool meets_itself =
        low <= rank && rank <= high && (low == high || (rank - peer.at) % peer.by == 0);
    if (meets_itself) return std::nullopt;
    return ExchangeLoop{batch.key.at,
                        static_cast<int32_t>(batch.key.by),
                        static_cast<int32_t>(peer.at),
                        static_cast<int32_t>(peer.by),
                        static_cast<int32_t>(batch.count),
                        batch.more};
  }

  void next() {
    key += key_stride;
    peer += peer_stride;
  }

 private:
  static bool is_block(const StridedBatch& batch, size_t i, const StridedBatch::Strided& peer) {
    const StridedBatch::Message& message = batch.messages[i];
    const MessageHead& head = message.head;
    if (message.pieces != 1 || head.sized || head.remote || head.combine) return false;
    const StridedBatch::Piece& piece = batch.pieces[message.first_piece];
    const Buffer buffer = head.direction == Direction::kSend ? Buffer::kSend : Buffer::kReceive;
    return piece.buffer == buffer && !piece.ranged && piece.block == peer && message.peer == peer;
  }
};

}  // namespace quadrille::verifier
