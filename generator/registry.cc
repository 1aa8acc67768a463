// The list of algorithms, and functions for its entries.
#include "generator/registry.h"

#include <algorithm>

#include "generator/algorithms.h"
#include "generator/programs.h"
#include "schedule/text.h"

namespace quadrille {

std::string flag_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

Option self_loops_option() {
  return {"self-loops",
          {"keep", "drop"},
          "keep: a rank copies its own block in the round that pairs it with itself; drop: it "
          "copies the block before the first step, and the round's step is left out"};
}

Opening opening_of(const std::string& program) {
  const size_t opens = program.find("-- ");
  check(opens != std::string::npos, "a program has no opening comment");
  const std::string text = program.substr(opens);
  const auto line = [&text](const std::string& mark, const std::string& otherwise) {
    const size_t begin = text.find("\n-- " + mark + ": ");
    if (begin == std::string::npos) return otherwise;
    const size_t after = text.find(": ", begin) + 2;
    return text.substr(after, text.find('\n', after) - after);
  };
  std::string idea = text.substr(3, std::min(text.find("\n--\n"), text.find("\n-- Use: ")) - 3);
  for (size_t at; (at = idea.find("\n-- ")) != std::string::npos;) idea.replace(at, 4, 1, ' ');
  Opening opening = {idea, line("Use", ""), line("Source", ""), line("Cost", ""),
                     line("Needs", "none")};
  check(!opening.use.empty() && !opening.source.empty() && !opening.cost.empty(),
        "a program does not say its use, source and cost");
  return opening;
}

Opening opening_of(const Algorithm& algorithm) {
  return opening_of(algorithm.program(all_choices(algorithm)[0]));
}

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> kAlgorithms = all_algorithms();
  return kAlgorithms;
}

const Algorithm* find_algorithm(Collective collective, const std::string& name, int groups) {
  for (const Algorithm& algorithm : algorithms())
    if (algorithm.collective == collective && algorithm.name == name && algorithm.groups == groups)
      return &algorithm;
  return nullptr;
}

std::vector<Choices> all_choices(const Algorithm& algorithm) {
  std::vector<Choices> result = {{}};
  for (const Option& option : algorithm.options) {
    std::vector<Choices> longer;
    for (const Choices& choices : result)
      for (const std::string& value : option.values) {
        longer.push_back(choices);
        longer.back()[option.name] = value;
      }
    result = std::move(longer);
  }
  return result;
}

std::string full_name(const Algorithm& algorithm, const Choices& choices) {
  std::string name = algorithm.name;
  for (const Option& option : algorithm.options)
    if (choices.at(option.name) != option.values[0]) name += "+" + choices.at(option.name);
  return name;
}

Program make_program(const Algorithm& algorithm, const Choices& choices) {
  const std::string name = full_name(algorithm, choices);
  Result<Program> program = parse_program(algorithm.program(choices), name);
  if (!program.ok()) check(false, program.error().message.c_str());
  program->algorithm.text = name;
  return std::move(program).value();
}

}  // namespace quadrille
