// What a call takes by the linear model of a machine (generator/cost.h) where ranks do not do alike, as in all
// collectives but an all-to-all of one group: there the slowest chain of messages decides, so every rank is walked. The
// model reads programs by walking them and knows nothing of any algorithm.
//
// A step begins when the steps that it waits for are done and the one before it has begun. Its messages of several
// pieces are put together, which takes what a copy of each piece takes, and queue up: between nodes at the port that
// they leave by and, alpha later, at the one that they arrive by; inside a node in its memory. A port sends and receives at
// the same time; a gap for each message and beta for each of its bytes keep it busy. What arrives in several pieces, or is
// combined, takes what copies take. A step is done when all that it sends has left and all that it receives is there; where
// the runtime waits for sends before it goes on, messages that are not eager have left when they are there. It does so
// before it combines, of blocks whose size was chosen by what messages take, and wherever blocks are not sent on. A message
// inside takes no less than it takes alone.
// Steps are taken in the order of their keys, which both ends of a message share; so queues are served in that order.
//
// Integers only: one machine and one call give one time. Two groups are on nodes of their own, and the root is in
// the first. An element of a reduction is a byte. A whole temporary block is as long as others of its kind are on the average.
#ifndef QUADRILLE_GENERATOR_TIMING_H_
#define QUADRILLE_GENERATOR_TIMING_H_

#include <cstdint>
#include <vector>

#include "generator/cost.h"
#include "schedule/binding.h"

namespace quadrille {

// What ranks send or receive, whichever is more: each of the greatest of all ranks.
struct Work {
  int64_t between = 0, inside = 0;              // messages
  int64_t bytes_between = 0, bytes_inside = 0;  // that they carry
  int64_t bytes_copied = 0;                     // into messages, out of them, or combined
  friend bool operator==(const Work&, const Work&) = default;
};

struct Timing {
  int64_t time = 0;  // nanoseconds; INT64_MAX where it is more
  Work most;
};

// The program is bound to the job and the call in each of its groups. Where the call has no counts, a block has `bytes`.
// Errors: a call takes longer than `longest`; what only a wrong program does, an expression without a value or a message to
// nobody. Whether a program is right is not asked here. Takes time in proportion to messages, a second for some ten millions.
Result<Timing> call_timing(const Program& program, const Job& job, const Call& call,
                           const std::vector<Binding>& bindings, int64_t bytes,
                           const Machine& machine, int64_t longest = INT64_MAX);

// About what the same call takes, by what two ranks of each group send, one message after the other: a number by which
// programs are compared. Takes time in proportion to these messages.
double rough_timing(const Program& program, const Job& job, const Call& call,
                    const std::vector<Binding>& bindings, int64_t bytes, const Machine& machine);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_TIMING_H_
