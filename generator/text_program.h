// `generate --program FILE`: a user's program as text (docs/language.md).
#pragma once

#include <map>

#include "generator/command.h"
#include "generator/registry.h"
#include "schedule/binding.h"

namespace quadrille {

struct TextSchedule {
  Program program;
  Job job;
};

// Reads the program of --program, and makes the job from the other flags. Errors name the flag, or the file, the line
// and the column. Checks the requirements on ranks and parameters; each call checks the others. If no collective is
// given, it is the program's.
Result<TextSchedule> read_text_schedule(const GenerateArguments& arguments);

// Reads the program of --program as an algorithm of the user's own, and the values of --parameter for its numbers.
struct OwnAlgorithm {
  Algorithm algorithm;
  std::map<std::string, int64_t> numbers;
};
Result<OwnAlgorithm> read_own_algorithm(const GenerateArguments& arguments);

// Returns the flags that give the schedule's parameters again: " --parameter radix=4 --block-size min".
std::string parameter_flags(const verifier::Schedule& schedule);

}  // namespace quadrille
