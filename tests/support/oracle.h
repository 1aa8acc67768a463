// A second opinion on schedules: a plain, slow checker of the whole language, position by position,
// written from the definitions of schedule/program.h and schedule/collective.h. It shares no code
// with the verifier.
#ifndef QUADRILLE_TESTS_SUPPORT_ORACLE_H_
#define QUADRILLE_TESTS_SUPPORT_ORACLE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "schedule/binding.h"
#include "schedule/program.h"

namespace quadrille {

// What is wrong with the schedule, in a word; nothing where it is right. The schedule must bind. A
// walk of more than `limit` statements is "too long".
std::optional<std::string> what_is_wrong(const Program& program, const Job& job, const Call& call,
                                         int64_t limit = 1 << 20);

// The same question about an all-to-all in which every block travels once, whole, from a send
// buffer to a receive buffer, in steps that wait for all earlier ones or for none: quick enough for
// hundreds of ranks.
std::optional<std::string> what_is_wrong_directly(const Program& program, const Job& job);

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_SUPPORT_ORACLE_H_
