// The time of an all-to-all by a linear model of the machine. The model walks programs, so it knows no algorithm.
//
// The steps of a rank form stages: the steps of a stage wait for the same stages, and later steps wait for them
// together. A stage begins when the stages that it waits for are done and the previous stage has begun. Its rank then
// copies blocks into messages and out of them. Its messages queue with those of the other ranks of the node, at two
// places. Messages between nodes queue at the node's port, which is busy for a gap per message and beta per byte.
// Messages inside the node queue at its memory. If each rank has its own port, all its messages queue there. The stage
// is done alpha later.
//
// All numbers are integers, so one machine and one block size give one choice. tools/calibrate.c measures a machine.
#ifndef QUADRILLE_GENERATOR_COST_H_
#define QUADRILLE_GENERATOR_COST_H_

#include <cstdint>
#include <vector>

#include "schedule/binding.h"
#include "simulate/machine.h"

namespace quadrille {

// The work of a rank in a stage, or in the whole call.
struct Load {
  int64_t between = 0, inside = 0;                // messages sent to other nodes, and to its own
  int64_t blocks_between = 0, blocks_inside = 0;  // blocks in these messages
  int64_t copied = 0;  // blocks copied into messages and out of them; a block that travels alone
                       // is not copied
  friend bool operator==(const Load&, const Load&) = default;
};

struct Stage {
  size_t needs = 0;  // the number of stages that are complete before it begins
  size_t round = 0;  // its round follows that of the last of them; 0 if there is none
  Load most;         // the greatest load among the sampled ranks, in each respect
  Load sum;          // the sum over the sampled ranks
  friend bool operator==(const Stage&, const Stage&) = default;
};

// The work of a node's ranks in a call.
struct Traffic {
  int64_t node_ranks = 0;
  int64_t samples = 0;        // the number of sampled ranks
  std::vector<Stage> stages;  // in their order
  int64_t in_flight = 0;  // the most blocks that a rank sends in steps that do not wait for each
                          // other
  Load total() const;     // of `most`
  int64_t rounds_between() const;
  int64_t rounds_inside() const;  // that send only inside
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

// Walks the least, the middle and the largest node, each size once: all of its ranks, up to 32. If there is only one
// node, walks a few of its ranks. The program must be bound to the job and right for it.
std::vector<Traffic> traffic(const Program& program, const Job& job, const Binding& binding);

// The nanoseconds of a call with blocks of that many bytes, at most INT64_MAX.
int64_t call_time(const Machine& machine, const std::vector<Traffic>& traffic, int64_t bytes);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_COST_H_
