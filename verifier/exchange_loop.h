// A loop of exchanges that a rank is in, taken out of its walk: most of a schedule, told in a line
// of the nearest cache.
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
  int32_t left = 0;  // steps, the current one included

  // Nothing where a step of the loop is wrong in itself, a key that does not increase or a peer that
  // is no other rank, or where a number is too long for this form. The walk then comes to each step.
  static std::optional<ExchangeLoop> of(const Exchanges& loop, int64_t rank, int64_t ranks) {
    if (loop.count > INT32_MAX || loop.key_stride < 1 || loop.key_stride > INT32_MAX)
      return std::nullopt;
    const int64_t last = loop.peer + (loop.count - 1) * loop.peer_stride;
    const auto [low, high] = std::minmax(loop.peer, last);
    if (low < 0 || high >= ranks) return std::nullopt;
    const bool meets_itself =
        low <= rank && rank <= high && (low == high || (rank - loop.peer) % loop.peer_stride == 0);
    if (meets_itself) return std::nullopt;
    return ExchangeLoop{loop.key, static_cast<int32_t>(loop.key_stride),
                        static_cast<int32_t>(loop.peer), static_cast<int32_t>(loop.peer_stride),
                        static_cast<int32_t>(loop.count)};
  }

  void next() {
    key += key_stride;
    peer += peer_stride;
  }
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_EXCHANGE_LOOP_H_
