// How deep a schedule is: what a call takes where only the latency of messages counts.
#ifndef QUADRILLE_SCHEDULE_DEPTH_H_
#define QUADRILLE_SCHEDULE_DEPTH_H_

#include <cstdint>
#include <optional>

#include "schedule/binding.h"

namespace quadrille {

// Counting the depth of more messages takes seconds.
inline constexpr int64_t kMostMessagesOfDepth = 1 << 24;

// The number of messages in the longest chain in which each waits for the one before. A message starts when both its ends
// have come to their steps; a step starts when those that it waits for are complete; a step is complete when all its
// messages have arrived. Nothing if the program does not take the call, if there are more than `most` messages, or if the
// schedule is not right: what the checker refuses need not have a depth.
std::optional<int64_t> depth(const Program& program, const Job& job, const Call& call,
                             int64_t most = kMostMessagesOfDepth);

}  // namespace quadrille

#endif  // QUADRILLE_SCHEDULE_DEPTH_H_
