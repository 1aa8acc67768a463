// `generate --program FILE`: a program that somebody wrote as text (docs/language.md).
#ifndef QUADRILLE_GENERATOR_TEXT_PROGRAM_H_
#define QUADRILLE_GENERATOR_TEXT_PROGRAM_H_

#include "generator/command.h"
#include "schedule/binding.h"

namespace quadrille {

struct TextSchedule {
  Program program;
  Job job;
};

// The program of --program, and the job that the other flags give. Errors name the flag, or the
// file, the line and the column. What the program requires of ranks and of its parameters holds;
// what it requires of a call is asked at the call.
Result<TextSchedule> read_text_schedule(const GenerateArguments& arguments);

// " --parameter radix=4 --block-size min": the flags that give the parameters once more.
std::string parameter_flags(const verifier::Schedule& schedule);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_TEXT_PROGRAM_H_
