// The depth of a schedule: the time of a call if only the latency of messages counts.
#pragma once

#include <cstdint>
#include <optional>

#include "schedule/binding.h"

namespace quadrille {

// The most messages for which depth() gives a result: more would take seconds.
inline constexpr int64_t kMostMessagesOfDepth = 1 << 24;

// Returns the number of messages in the longest chain in which each waits for the previous one. A message starts when
// both its ends have reached their steps. A step starts when the steps that it waits for are complete. It is complete
// when all its messages have arrived. Empty if the program refuses the call, or there are more than `most` messages.
// Also empty for some schedules that the checker refutes, because those need not have a depth.
std::optional<int64_t> depth(const Program& program, const Job& job, const Call& call,
                             int64_t most = kMostMessagesOfDepth);

}  // namespace quadrille
