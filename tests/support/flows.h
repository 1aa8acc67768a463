// Straight-line programs of any collective, for few ranks: a random flow of data that ends in the required result.
// Copies, reductions and messages are spread over steps at random, as early as their operands allow or later. So a
// step has several of each kind. Temporary blocks, and now and then a receive block, are used again as soon as the
// meaning of a step allows it. Of three parts the first and the last have one length, and each may be kept in the
// other's place.
//
// A flow is correct with two exceptions. A few habits of the text may break it. In a broadcast the root has one
// buffer, so a part kept there may overwrite another that is still to be sent.
#ifndef QUADRILLE_TESTS_SUPPORT_FLOWS_H_
#define QUADRILLE_TESTS_SUPPORT_FLOWS_H_

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
  uint32_t sources = 0;  // a bit for each process that contributes
  int64_t block = 0;     // of the contributions
  int part = 0;
  friend bool operator==(const FlowValue&, const FlowValue&) = default;
};

// The moment of a read or write at a process. In a step sends come first, then local statements, then receives.
enum class FlowKind { kSends, kLocals, kReceives };
struct FlowMoment {
  int slot = -1;
  FlowKind kind = FlowKind::kSends;
  int order = 0;
  friend auto operator<=>(const FlowMoment&, const FlowMoment&) = default;
};

// The creation of a value. Nodes are numbered so that a node comes after those that it needs.
struct FlowNode {
  enum class Kind { kInput, kCopy, kReduce, kMessage };
  Kind kind = Kind::kInput;
  int process = 0;
  FlowValue value;
  int from = -1;      // the node that is read
  int into = -1;      // the node that is combined with; this node takes over its place
  bool left = false;  // the data that is read is on the left of the operator
  int chain = -1;     // its place; none for an input
  int slot = -1;      // the step
  int message = -1;
};

// A place, from the first write to the last read.
struct FlowChain {
  int process = 0, part = 0;  // that of the block, not of the value
  Buffer buffer = Buffer::kTemporary;
  int64_t block = -1;
  FlowMoment first, last;
};

struct FlowMessage {
  int source = 0, target = 0, slot = 0;
  std::vector<int> nodes;  // one per piece; none: a token
  bool sized = false;
};

struct Flow {
  Collective collective = Collective::kAlltoall;
  int groups = 1;
  std::array<int, 2> ranks = {1, 0};
  int64_t root = 0;
  bool commutative = false, canonical = false, counted = false;
  int parts = 1;  // of each block
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
// As a text, with its statements in any order that the language allows.
std::string text_of(const Flow& flow, Random& random);

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_SUPPORT_FLOWS_H_
