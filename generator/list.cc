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

std::string json_of(const Algorithm& algorithm) {
  std::vector<std::string> options, numbers;
  for (const Option& option : algorithm.options)
    options.push_back(cli::JsonObject()
                          .text("flag", "--" + option.name)
                          .value("values", cli::json_texts(option.values))
                          .text("default", option.values[0])
                          .text("help", option.help)
                          .str());
  for (const Number& number : algorithm.numbers)
    numbers.push_back(cli::JsonObject()
                          .text("flag", flag_of(number.name))
                          .number("default", number.initial)
                          .number("least", number.least())
                          .text("help", number.help)
                          .str());
  const Opening opening = said_of(algorithm);
  return cli::JsonObject()
      .text("collective", name_of(algorithm.collective))
      .text("algorithm", algorithm.name)
      .number("groups", algorithm.groups)
      .text("summary", opening.idea)
      .text("use", opening.use)
      .text("cost", opening.cost)
      .text("needs", opening.needs)
      .text("source", opening.source)
      .truth("proven", is_proven(algorithm))
      .truth("any_nodes", is_proven(algorithm))
      .value("options", cli::json_list(options))
      .value("numbers", cli::json_list(numbers))
      .truth("block_size", has_block_size(algorithm))
      .str();
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
  std::vector<std::string> all;
  for (const Algorithm& algorithm : algorithms()) all.push_back(json_of(algorithm));
  all.push_back(json_of(optimal()));
  fmt::print("{}\n",
             cli::JsonObject().number("schema", 1).value("algorithms", cli::json_lines(all)).str());
  return 0;
}

}  // namespace quadrille
