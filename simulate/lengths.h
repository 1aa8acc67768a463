// The lengths of blocks that only the two ends of a message know, and how they travel.
#ifndef QUADRILLE_SIMULATE_LENGTHS_H_
#define QUADRILLE_SIMULATE_LENGTHS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/result.h"

namespace quadrille {

struct Script;

class BlockLengths {
 public:
  BlockLengths() = default;
  // Every block has so many bytes.
  explicit BlockLengths(int64_t bytes) : most_(bytes) {}
  // A distribution: "uniform:MOST", "normal:MEAN:DEVIATION", or "power:EXPONENT:MOST", where x bytes have probability x to
  // the minus EXPONENT. A length depends on the seed and the two processes alone. Seed 1 draws those of bench/collective.c.
  static Result<BlockLengths> drawn(const std::string& text, int64_t seed);
  // A line for each sender: the bytes for each receiver, with commas or blanks between them. Errors name the line.
  static Result<BlockLengths> read(const std::string& text, size_t processes);

  // Whether blocks have different lengths.
  bool differ() const { return !matrix_.empty() || kind_ != Distribution::kNone; }
  // The bytes of the block from process `from` to process `to`.
  int64_t of(int64_t from, int64_t to) const;

  // Whether receivers learn them from the sender, in each call.
  bool travel = false;
  // Whether messages without bytes are left out, as the executor does. A comparison with plans keeps them.
  bool leaves_out_empty = true;

 private:
  enum class Distribution { kNone, kUniform, kNormal, kPower };
  int64_t most_ = 0;
  Distribution kind_ = Distribution::kNone;
  double first_ = 0, second_ = 0;  // the two numbers of the distribution
  uint64_t seed_ = 0;
  std::vector<int64_t> matrix_;  // by sender and receiver
  size_t processes_ = 0;
};

// The parts of the messages of a process, by region of its plan (runtime/plan/plan.h).
struct Parts {
  struct Copy {
    int32_t turn, from, to;  // before the waits of that turn
  };
  std::vector<int32_t> sent, received;  // one message after another
  std::vector<Copy> copies;
  int32_t send_blocks = 0, receive_blocks = 0, regions = 0;
  int32_t first_peer = 0;  // the process that block 0 goes to, or comes from
};

// Follows all blocks and sets the bytes of all messages, and of copies. Each send has its receive.
// Returns whether no message has more than kLongestMessage bytes.
bool follow_blocks(std::vector<Script>& all, const std::vector<Parts>& parts,
                   const BlockLengths& lengths);

// If processes read lengths, adds the lengths to their messages: in front of a short one, or as a message of their own ahead
// of a long one. Else removes the messages whose blocks are empty, since both ends know that nothing travels.
void send_lengths(std::vector<Script>& all);

}  // namespace quadrille

#endif  // QUADRILLE_SIMULATE_LENGTHS_H_
