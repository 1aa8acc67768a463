// `generate --program FILE`: a user's program as text (docs/language.md).
#ifndef QUADRILLE_GENERATOR_TEXT_PROGRAM_H_
#define QUADRILLE_GENERATOR_TEXT_PROGRAM_H_

#include "generator/command.h"
#include "schedule/binding.h"

namespace quadrille {

struct TextSchedule {
  Program program;
  Job job;
};

// The program of --program, and the job by the other flags. Errors name the flag, or the file, the line and the
// column. The program's requirements on ranks and parameters hold; those on a call are checked at the call.
Result<TextSchedule> read_text_schedule(const GenerateArguments& arguments);

// " --parameter radix=4 --block-size min": the flags that give the same parameters again.
std::string parameter_flags(const verifier::Schedule& schedule);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_TEXT_PROGRAM_H_
