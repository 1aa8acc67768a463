// The lengths of blocks that only the two ends of a message know, and how they travel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/distribution.h"
#include "schedule/result.h"

namespace quadrille {

struct Script;

class BlockLengths {
 public:
  BlockLengths() = default;
  // Gives every block this number of bytes.
  explicit BlockLengths(int64_t bytes) : most_(bytes) {}
  // Draws lengths as cli/distribution.h says. Seed 1 draws those of bench/collective.c.
  static Result<BlockLengths> drawn(const std::string& text, int64_t seed);
  // Reads a line for each sender: the bytes for each receiver, with commas or blanks between. Errors name the line.
  static Result<BlockLengths> read(const std::string& text, size_t processes);

  // True if blocks may have different lengths.
  bool differ() const { return !matrix_.empty() || distribution_.kind != 0; }
  // Returns the bytes of the block from process `from` to process `to`.
  int64_t of(int64_t from, int64_t to) const;

  // Whether senders send the lengths to receivers in each call.
  bool travel = false;
  // Whether messages without bytes are left out, as the executor does. A comparison with plans keeps them.
  bool leaves_out_empty = true;

 private:
  int64_t most_ = 0;
  distribution distribution_ = {};
  uint64_t seed_ = 0;
  std::vector<int64_t> matrix_;  // by sender and receiver
  size_t processes_ = 0;
};

// The regions of a process's plan (runtime/plan/plan.h) that its messages and copies read or write.
struct Parts {
  struct Copy {
    int32_t turn, from, to;  // made before the waits of turn `turn`, between two regions
  };
  std::vector<int32_t> sent, received;  // the region of each part, message by message
  std::vector<Copy> copies;
  int32_t send_blocks = 0, receive_blocks = 0, regions = 0;
  int32_t first_peer = 0;  // the process that block 0 goes to, or comes from
};

// Follows all blocks through messages and copies, and sets the bytes of these. Each send must have its receive.
// Returns false if a message has more than kLongestMessage bytes.
bool follow_blocks(std::vector<Script>& all, const std::vector<Parts>& parts,
                   const BlockLengths& lengths);

// If receivers learn lengths from senders, adds the lengths: at the front of a short message, or as a message of
// their own ahead of a long one. Otherwise removes messages whose blocks are empty, because both ends know that.
void send_lengths(std::vector<Script>& all);

}  // namespace quadrille
