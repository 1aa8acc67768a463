// The time of an all-to-all by a linear model of the machine. The model walks programs, so it knows no algorithm.
//
// The steps of a rank form stages: the steps of a stage wait for the same stages, and later steps wait for them
// together. A stage begins when the stages that it waits for are done and the stage before it has begun. Its rank then
// copies blocks into messages and out of them. Its messages queue with those of the other ranks of the node, at two
// places. Messages between nodes queue at the node's port, which is busy for a gap for each message and beta for each
// byte. Messages inside the node queue at its memory. If each rank has its own port, all its messages queue there. The
// stage is done alpha later.
//
// All numbers are integers, so one machine and one block size give one choice. tools/calibrate.c measures a machine.
#ifndef QUADRILLE_GENERATOR_COST_H_
#define QUADRILLE_GENERATOR_COST_H_

#include <cstdint>
#include <vector>

#include "schedule/binding.h"

namespace quadrille {

// Typical values: a message between nodes starts in 2 us, and 10 GB a second leave a node.
inline constexpr LinearModel kCommonModel = {2000, 100};

struct Machine {
  LinearModel between = kCommonModel;  // nodes
  LinearModel inside = {500, 50};      // a node
  LinearModel copy = {50, 50};         // a block into a message or out of it
  int64_t gap_ns = 50;                 // from a message to the next between nodes
  int64_t gap_inside_ns = 50;          // and inside
  PortScope port = PortScope::kNode;   // whether the ranks of a node share a port, and memory
  // The model of an all-to-all of one group does not use these: all ranks send at once, and many messages are in
  // flight.
  int64_t beta_alone_ps =
      0;  // a byte of a message inside while no other is; `inside`, where that is more
  int64_t eager =
      8192;  // bytes of the longest message that leaves though its receiver is not there
  friend bool operator==(const Machine&, const Machine&) = default;
};

// What a rank does in a stage, or in the whole call.
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

// What the ranks of a node do in a call.
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

// Walks the least, the middle and the largest node, each size once: all of its ranks, up to 32. If there is only one
// node, walks a few of its ranks. The program must be bound to the job and right for it.
std::vector<Traffic> traffic(const Program& program, const Job& job, const Binding& binding);

// The nanoseconds of a call with blocks of so many bytes; INT64_MAX if they are more.
int64_t call_time(const Machine& machine, const std::vector<Traffic>& traffic, int64_t bytes);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_COST_H_
