// Tested by tests/cli/generator_test.sh and tests/cli/schemas_test.py.
#include "generator/list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/json.h"
#include "generator/command.h"
#include "generator/optimal.h"
#include "generator/registry.h"

namespace quadrille {
namespace {

// True if calls of the algorithm's schedules choose a block size.
bool has_block_size(const Algorithm& algorithm) {
  return algorithm.program &&
         chooses_block_size(make_program(algorithm, all_choices(algorithm)[0]));
}

bool is_proven(const Algorithm& algorithm) { return algorithm.proof != nullptr; }

// Describes `optimal`, which is not in the registry.
Algorithm optimal() { return {kOptimal, Collective::kAlltoall, {}, nullptr, nullptr}; }

Opening said_of(const Algorithm& algorithm) {
  return algorithm.program ? opening_of(algorithm) : opening_of(kOptimalOpening);
}

std::string text_of(const Algorithm& algorithm, const char* proven, const char* any_nodes) {
  const Opening opening = said_of(algorithm);
  std::string text = fmt::format(
      "{} {}{}\n  {}\n  use it {}\n  cost: {}\n  needs: {}\n  source: {}\n",
      name_of(algorithm.collective), algorithm.name, algorithm.groups == 2 ? " between groups" : "",
      opening.idea, opening.use, opening.cost, opening.needs, opening.source);
  text += fmt::format("  proven: {}\n  --nodes any: {}\n", proven, any_nodes);
  for (const Option& option : algorithm.options)
    text += fmt::format("  --{} {}: {}\n", option.name, fmt::join(option.values, "|"), option.help);
  for (const Number& number : algorithm.numbers)
    text += fmt::format("  {} NUMBER: {}\n", flag_of(number.name), number.help);
  if (has_block_size(algorithm))
    text += fmt::format("  --block-size min|min:SIZE|SIZE|model|auto: {}\n", kBlockSizeHelp);
  return text;
}

cli::Json json_of(const Algorithm& algorithm) {
  std::vector<cli::Json> options, numbers;
  for (const Option& option : algorithm.options)
    options.push_back({{"flag", "--" + option.name},
                       {"values", option.values},
                       {"default", option.values[0]},
                       {"help", option.help}});
  for (const Number& number : algorithm.numbers)
    numbers.push_back({{"flag", flag_of(number.name)},
                       {"default", number.initial},
                       {"least", number.least()},
                       {"help", number.help}});
  const Opening opening = said_of(algorithm);
  return {{"collective", name_of(algorithm.collective)},
          {"algorithm", algorithm.name},
          {"groups", algorithm.groups},
          {"summary", opening.idea},
          {"use", opening.use},
          {"cost", opening.cost},
          {"needs", opening.needs},
          {"source", opening.source},
          {"proven", is_proven(algorithm)},
          {"any_nodes", is_proven(algorithm)},
          {"options", options},
          {"numbers", numbers},
          {"block_size", has_block_size(algorithm)}};
}

}  // namespace

cli::Command add_list(cli::Command& program, ListArguments& arguments) {
  cli::Command command =
      program.command("list", "List the algorithms: idea, source, requirements, options.");
  command.add_choice("--format", {"text", "json"}, arguments.format, "what is printed");
  return command;
}

int list(const ListArguments& arguments) {
  if (arguments.format == "text") {
    for (const Algorithm& algorithm : algorithms())
      fmt::print("{}", is_proven(algorithm)
                           ? text_of(algorithm, "yes", "yes")
                           : text_of(algorithm, "not yet", "not yet, as it is not proven"));
    fmt::print("{}", text_of(optimal(), kOptimalProven, kOptimalAnyNodes));
    return 0;
  }
  std::vector<cli::Json> all;
  for (const Algorithm& algorithm : algorithms()) all.push_back(json_of(algorithm));
  all.push_back(json_of(optimal()));
  fmt::print("{}\n", cli::Json{{"schema", 1}, {"algorithms", cli::Json::lines(all)}}.text());
  return 0;
}

}  // namespace quadrille
