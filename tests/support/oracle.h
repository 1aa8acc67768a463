// A second opinion on schedules: a plain and slow checker of the whole language, position by position. It follows the
// definitions of schedule/program.h and schedule/collective.h, and shares no code with the verifier.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "schedule/binding.h"
#include "schedule/program.h"

namespace quadrille {

// Returns the schedule's error in a few words, or nullopt if it is correct. The schedule must bind. The error is "too
// long" if a rank's walk has more than `limit` statements.
std::optional<std::string> what_is_wrong(const Program& program, const Job& job, const Call& call,
                                         int64_t limit = 1 << 20);

}  // namespace quadrille
