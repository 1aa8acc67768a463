// A loop of exchanges that a rank is in, taken out of its walk. Most of a schedule is such loops; one fits in a cache
// line.
#ifndef QUADRILLE_VERIFIER_EXCHANGE_LOOP_H_
#define QUADRILLE_VERIFIER_EXCHANGE_LOOP_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "schedule/walk.h"

namespace quadrille::verifier {

struct ExchangeLoop {
  int64_t key = 0;
  int32_t key_stride = 0, peer = 0, peer_stride = 0;
  int32_t left = 0;   // steps, the current one included
  bool more = false;  // the walk stands in the same loop still

  // Each step of the batch exchanges one whole block with one rank, directly from send to receive buffer. Returns
  // nothing for other batches, and for wrong ones: a key that does not increase, or a peer that is no other rank. The
  // walk then goes through each step.
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

#endif  // QUADRILLE_VERIFIER_EXCHANGE_LOOP_H_
