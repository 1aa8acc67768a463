// What one rank of an allgather holds, and since when: of every owner's block the ranges that have
// arrived, as runs of tiles of one length whose places and keys differ by constant strides.
#ifndef QUADRILLE_VERIFIER_HELD_RANGES_H_
#define QUADRILLE_VERIFIER_HELD_RANGES_H_

#include <cstdint>
#include <vector>

#include "schedule/walk_events.h"

namespace quadrille::verifier {

// Ranges low.at + t*low.by of one length, t in 0 .. count, used in the steps key.at + t*key.by.
struct Tiles {
  StridedBatch::Strided key, low;
  int64_t length = 0;
  int64_t count = 0;
};

// What may be in flight beside a step: steps with keys above `after`, but those up to `epoch` are
// over in any case.
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
  // Tiles arrive. kUnclear: they leave a gap, which this does not keep account of.
  Arrival arrive(int64_t owner, const Tiles& tiles);

  enum class Held : uint8_t { kSettled, kInFlight, kNo };
  // Whether every tile has arrived in full before its step, in a step that is over by then.
  Held ask(int64_t owner, const Tiles& tiles, const Settled& settled) const;

  // Whether all of the block is there.
  bool whole(int64_t owner, int64_t length) const {
    return blocks_[owner].low == 0 && blocks_[owner].high == length;
  }

 private:
  struct Run {
    Tiles tiles;
    int32_t next;  // of the same owner, -1 at the end
  };
  // One range without gaps, and the runs that it came in.
  struct Block {
    int64_t low = 0, high = 0;
    int32_t first = -1, last = -1;
  };

  static bool continues(const Tiles& run, const Tiles& more);
  Held ask_one(const Block& block, int64_t low, int64_t high, int64_t key, int64_t after) const;

  std::vector<Block> blocks_;
  std::vector<Run> runs_;
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_HELD_RANGES_H_
