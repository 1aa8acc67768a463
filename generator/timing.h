// The time of a call by a linear model of the machine (generator/cost.h), for collectives whose ranks differ: all
// except an all-to-all of one group. There the slowest chain of messages decides, so every rank is walked. The model
// walks programs and knows no algorithm.
//
// A step begins when the steps that it waits for are done and the previous one has begun. A message of several pieces
// is first gathered, which takes the time of copying each piece. Messages between nodes queue at the port of the
// sender, and alpha later at the port of the receiver. Messages inside a node queue at its memory. A port sends and
// receives at the same time; a gap per message and beta per byte keep it busy. If a message arrives in several pieces
// or is reduced, that takes the time of copies. A step is done when all its sends have left and all its receives have
// arrived.
//
// If the runtime waits for sends before it proceeds, a rendezvous send has left when it has arrived. The runtime does
// so before reductions, for blocks whose size follows from the time of messages, and in schedules that forward no
// blocks. A message inside a node takes at least the time that it takes alone. Steps are taken in the order of their
// keys, which both ends of a message share; so queues are served in that order.
//
// All numbers are integers, so one machine and one call give one time. Two groups are on separate nodes, and the root
// is in the first. An element of a reduction is a byte. A whole temporary block has the average length of its kind.
#ifndef QUADRILLE_GENERATOR_TIMING_H_
#define QUADRILLE_GENERATOR_TIMING_H_

#include <cstdint>
#include <vector>

#include "generator/cost.h"
#include "schedule/binding.h"

namespace quadrille {

// The sends or receives of ranks, whichever are more: each number is the maximum over all ranks.
struct Work {
  int64_t between = 0, inside = 0;              // messages
  int64_t bytes_between = 0, bytes_inside = 0;  // in these messages
  int64_t bytes_copied = 0;                     // into messages, out of them, or combined
  friend bool operator==(const Work&, const Work&) = default;
};

struct Timing {
  int64_t time = 0;  // nanoseconds, at most INT64_MAX
  Work most;
};

// The program must be bound to the job and the call in each of its groups. If the call has no counts, a block has
// `bytes`. Errors: the call takes longer than `longest`; or the program is wrong, with an expression without a value
// or a message to no rank. The model does not check that a program is right. Its time is proportional to messages: a
// second for some ten millions.
Result<Timing> call_timing(const Program& program, const Job& job, const Call& call,
                           const std::vector<Binding>& bindings, int64_t bytes,
                           const Machine& machine, int64_t longest = INT64_MAX);

// An estimate of the same call from two ranks of each group: the times of their messages, added up. It serves to
// compare programs. Its time is proportional to these messages.
double rough_timing(const Program& program, const Job& job, const Call& call,
                    const std::vector<Binding>& bindings, int64_t bytes, const Machine& machine);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_TIMING_H_
