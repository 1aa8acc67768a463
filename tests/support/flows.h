// Straight-line programs of any collective, for few ranks: a random flow of data that ends in the required result.
// Copies, reductions and messages are spread over steps at random, as early as their operands allow or later. So a
// step has several of each kind. Temporary blocks are used again as soon as the meaning of a step allows it, and
// sometimes receive blocks too. Of three parts, the first and the last are equally long, and data of one may be kept
// in the place of the other.
//
// A flow is correct, with two exceptions. The text may break a rule on purpose. In a broadcast the root has one
// buffer, so data kept in a part of it may overwrite another part that is still to be sent.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "schedule/collective.h"
#include "tests/support/random.h"

namespace quadrille {

// A part of a contribution, or of a sum of contributions.
struct FlowValue {
  uint32_t sources = 0;  // one bit for each process that contributes
  int64_t block = 0;     // block number of the contributions
  int part = 0;
  friend bool operator==(const FlowValue&, const FlowValue&) = default;
};

// The moment of a read or write. In a step, sends read first, then local statements run, then receives write.
enum class FlowKind { kSends, kLocals, kReceives };
struct FlowMoment {
  int slot = -1;
  FlowKind kind = FlowKind::kSends;
  int order = 0;
  friend auto operator<=>(const FlowMoment&, const FlowMoment&) = default;
};

// A node makes one value. Each node has a higher number than the nodes that it needs.
struct FlowNode {
  enum class Kind { kInput, kCopy, kReduce, kMessage };
  Kind kind = Kind::kInput;
  int process = 0;
  FlowValue value;
  int from = -1;      // number of the node that is read
  int into = -1;      // number of the node that the data is combined into; this one takes its place
  bool left = false;  // the data that is read is the operator's left operand
  int chain = -1;     // number of its place, or -1 for an input
  int slot = -1;      // number of its step
  int message = -1;
};

// A place, and its moments from the first write to the last read.
struct FlowChain {
  int process = 0, part = 0;  // the part of the block, which may differ from that of the value
  Buffer buffer = Buffer::kTemporary;
  int64_t block = -1;
  FlowMoment first, last;
};

struct FlowMessage {
  int source = 0, target = 0, slot = 0;
  std::vector<int> nodes;  // one node for each piece; a token has none
  bool sized = false;
};

struct Flow {
  Collective collective = Collective::kAlltoall;
  int groups = 1;
  std::array<int, 2> ranks = {1, 0};
  int64_t root = 0;
  bool commutative = false, canonical = false, counted = false;
  int parts = 1;  // number of parts of each block
  int slots = 0;
  bool fits_in_place = false;  // no block seems to be overwritten before it is read
  std::vector<FlowNode> nodes;
  std::vector<FlowChain> chains;
  std::vector<FlowMessage> messages;
  // By process and slot: the last earlier slot that accesses the same place, or -1.
  std::vector<std::vector<int>> awaits;

  int processes() const { return ranks[0] + ranks[1]; }
  int group_of(int process) const { return process >= ranks[0]; }
  int rank_of(int process) const { return process - (group_of(process) ? ranks[0] : 0); }
  Place place_of(int process) const;
};

Flow random_flow(Random& random);
// Returns the flow as a program's text. Its statements are in a random order that the language allows.
std::string text_of(const Flow& flow, Random& random);

}  // namespace quadrille
