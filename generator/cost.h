// What a call of an all-to-all takes by a linear model of the machine. The model reads programs by
// walking them, so it knows nothing of any algorithm.
//
// The steps of a rank are stages: those of a stage wait for the same stages, and are waited for together.
// A stage begins when those that it waits for are done and the one before it has begun, and its rank then
// copies blocks into messages and out of them. Its messages queue up, with those of the other ranks of the
// node, which do the same: at the node's port, which the gap of each message between nodes and beta for each
// of its bytes keep busy, and in its memory, which those of messages inside keep busy. With a port a rank,
// a rank's messages of both kinds queue up at it alone. Alpha later, of either kind, the stage is done.
// Integers only: one machine and one block size give one choice. tools/calibrate.c measures a machine.
#ifndef QUADRILLE_GENERATOR_COST_H_
#define QUADRILLE_GENERATOR_COST_H_

#include <cstdint>
#include <vector>

#include "schedule/binding.h"

namespace quadrille {

// Of our days: a message to another node starts in 2 us, and 10 GB a second leave a node.
inline constexpr LinearModel kCommonModel = {2000, 100};

struct Machine {
  LinearModel between = kCommonModel;  // nodes
  LinearModel inside = {500, 50};      // a node
  LinearModel copy = {50, 50};         // a block into a message or out of it
  int64_t gap_ns = 50;                 // from a message to the next between nodes
  int64_t gap_inside_ns = 50;          // and inside
  PortScope port = PortScope::kNode;   // whether the ranks of a node share a port, and memory
  // Of these an all-to-all of one group, in which all ranks send at once and many messages are under way, knows nothing.
  int64_t beta_alone_ps =
      0;  // a byte of a message inside while no other is; `inside`, where that is more
  int64_t eager =
      8192;  // bytes of the longest message that leaves though its receiver is not there
  friend bool operator==(const Machine&, const Machine&) = default;
};

// What a rank does in a stage, or in all.
struct Load {
  int64_t between = 0, inside = 0;  // messages that it sends to other nodes, to its own
  int64_t blocks_between = 0, blocks_inside = 0;  // that they carry
  int64_t copied = 0;  // blocks into messages and out of them; a block that travels alone is not
  friend bool operator==(const Load&, const Load&) = default;
};

struct Stage {
  size_t needs = 0;  // the first so many stages are done before it begins
  size_t round = 0;  // after that of the last of them; 0 where there is none
  Load most;         // of the ranks that were looked at, the one that does most, in each respect
  Load sum;          // of all of them
  friend bool operator==(const Stage&, const Stage&) = default;
};

// What ranks of one node do in a call.
struct Traffic {
  int64_t node_ranks = 0;     // of the node
  int64_t samples = 0;        // that were looked at
  std::vector<Stage> stages;  // in their order
  int64_t in_flight = 0;  // blocks of a rank sent at most by steps that do not wait for each other
  Load total() const;     // of `most`
  int64_t rounds_between() const;
  int64_t rounds_inside() const;  // that send inside alone
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

// Of the least node, the one in the middle and the largest, those of one size once: all of their ranks, up to 32; a
// few, where there is one node alone. The program is bound to the job and right for it.
std::vector<Traffic> traffic(const Program& program, const Job& job, const Binding& binding);

// Nanoseconds that a call with blocks of so many bytes takes; INT64_MAX where it is more.
int64_t call_time(const Machine& machine, const std::vector<Traffic>& traffic, int64_t bytes);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_COST_H_
