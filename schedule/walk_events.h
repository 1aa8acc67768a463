// What a walk (schedule/walk.h) tells: of one message, and of several iterations of a loop at once.
#ifndef QUADRILLE_SCHEDULE_WALK_EVENTS_H_
#define QUADRILLE_SCHEDULE_WALK_EVENTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/program.h"

namespace quadrille {

struct MessageHead {
  Direction direction;
  bool remote;
  bool sized;
  int64_t peer;
  std::optional<Side> combine = {};
};

struct PieceValue {
  Buffer buffer;
  int64_t block;
  bool ranged;
  int64_t low, high;  // where ranged
};

// What several iterations of a loop do that differ by constant strides: in iteration t of `count`,
// every Strided is at + t*by. An iteration has one step at most, and all have the same messages.
struct StridedBatch {
  struct Strided {
    int64_t at = 0, by = 0;
    int64_t last(int64_t count) const { return at + (count - 1) * by; }
    friend bool operator==(const Strided&, const Strided&) = default;
  };
  struct Piece {
    Buffer buffer;
    bool ranged;
    Strided block, low, high;
  };
  struct Message {
    MessageHead head;  // its peer is peer.at
    Strided peer;
    int32_t first_piece, pieces;
  };

  int64_t count = 0;
  bool more =
      false;  // the loop has further iterations: a walker that takes these is at kLoop again
  bool has_step = false, has_after = false;
  Strided key, after;
  std::vector<Message> messages;
  std::vector<Piece> pieces;
  int32_t behind = 0;  // the loop, in the code
};

}  // namespace quadrille

#endif  // QUADRILLE_SCHEDULE_WALK_EVENTS_H_
