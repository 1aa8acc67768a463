// A second opinion on schedules: a plain, slow checker of the whole language, position by position. It is written from
// the definitions of schedule/program.h and schedule/collective.h, and shares no code with the verifier.
#ifndef QUADRILLE_TESTS_SUPPORT_ORACLE_H_
#define QUADRILLE_TESTS_SUPPORT_ORACLE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "schedule/binding.h"
#include "schedule/program.h"

namespace quadrille {

// The error of the schedule, in a word; empty if it is correct. The schedule must bind. A walk of more than `limit`
// statements is "too long".
std::optional<std::string> what_is_wrong(const Program& program, const Job& job, const Call& call,
                                         int64_t limit = 1 << 20);

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_SUPPORT_ORACLE_H_
