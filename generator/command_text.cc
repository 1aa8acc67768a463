// Reconstructs the command that makes a schedule from the schedule itself.
#include <fmt/core.h>

#include "generator/block_size.h"
#include "generator/command.h"
#include "generator/encode.h"
#include "generator/formulas.h"
#include "generator/optimal.h"
#include "generator/text_program.h"
#include "schedule/any_nodes.h"

namespace quadrille {
namespace {

// Returns the flags of those numbers, and of the block size rule, that are not the defaults.
std::string number_flags(const Algorithm& algorithm, const verifier::Schedule& schedule) {
  std::string text;
  for (size_t i = 0; i < schedule.program.parameters.size(); ++i) {
    const Parameter& parameter = schedule.program.parameters[i];
    const int64_t value = schedule.job.parameters[i];
    if (parameter.at_call) text += block_size_flags({value, schedule.job.models[i]});
    for (const Number& number : algorithm.numbers) {
      if (number.name != parameter.name.text) continue;
      if (serves_any_nodes(schedule.job))
        text += formula_flag(number, schedule.program, schedule.job.formulas[i]);
      else if (value != number.initial)
        text += fmt::format(" {} {}", flag_of(number.name), value);
    }
  }
  return text;
}

}  // namespace

std::string generate_command(const verifier::Schedule& schedule) {
  const std::string name = schedule.program.algorithm.text;
  std::string command =
      fmt::format("generate {} --program {}.txt{}", name_of(schedule.program.collective), name,
                  parameter_flags(schedule));
  for (const Algorithm& algorithm : algorithms())
    for (const Choices& choices : all_choices(algorithm)) {
      if (algorithm.collective != schedule.program.collective ||
          algorithm.groups != schedule.program.groups || full_name(algorithm, choices) != name ||
          encode_code(make_program(algorithm, choices)) != schedule.code)
        continue;
      command =
          fmt::format("generate {} --algorithm {}", name_of(algorithm.collective), algorithm.name);
      for (const Option& option : algorithm.options)
        if (choices.at(option.name) != option.values[0])
          command += fmt::format(" --{} {}", option.name, choices.at(option.name));
      command += number_flags(algorithm, schedule);
    }
  if (name == kOptimal && schedule.job.groups.size() == 1) {
    const Result<Program> optimal = optimal_program(schedule.job.groups[0]);
    if (optimal.ok() && encode_code(*optimal) == schedule.code)
      command = fmt::format("generate alltoall --algorithm {}", kOptimal);
  }
  const auto nodes = [&](int group) {
    return schedule.any_nodes ? "any" : schedule.job.groups[group].text();
  };
  command += " --nodes " + nodes(0);
  return schedule.program.groups == 2 ? command + " --remote-nodes " + nodes(1) : command;
}

}  // namespace quadrille
