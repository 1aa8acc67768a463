// How deep a schedule is: what a call takes where only the latency of messages counts.
#ifndef QUADRILLE_SCHEDULE_DEPTH_H_
#define QUADRILLE_SCHEDULE_DEPTH_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/binding.h"

namespace quadrille {

// Counting the depth of more messages takes seconds.
inline constexpr int64_t kMostMessagesOfDepth = 1 << 24;

// The number of messages in the longest chain in which each waits for the one before. A message starts when both its ends
// have come to their steps; a step starts when those that it waits for are complete; a step is complete when all its
// messages have arrived. `bindings` has one entry a group. Nothing where the schedule has more than `most` messages, or
// where it is not right: what the checker refuses need not have a depth.
std::optional<int64_t> depth(const Program& program, const std::vector<Binding>& bindings,
                             int64_t most = kMostMessagesOfDepth);

}  // namespace quadrille

#endif  // QUADRILLE_SCHEDULE_DEPTH_H_
