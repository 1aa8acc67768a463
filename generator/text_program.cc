// Reads the text and the flags, and checks them against each other: every parameter gets one value, and every flag has
// a use. Tested by tests/cli/program_test.sh.
#include "generator/text_program.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "cli/files.h"
#include "cli/numbers.h"
#include "generator/block_size.h"
#include "runtime/program/table_format.h"
#include "schedule/reverse.h"
#include "schedule/sequence.h"
#include "schedule/text.h"
#include "verifier/certificate.h"

namespace quadrille {
namespace {

Result<Program> read_program(const std::string& path) {
  const Result<std::vector<uint8_t>> file = cli::read_file(path);
  if (!file.ok()) return file.error();
  const std::string text(file->begin(), file->end());
  if (text.starts_with(QD_MAGIC))
    return Error{fmt::format(
        "{}: a schedule file and no text; write its program down with `show {} --out FILE`", path,
        path)};
  return parse_program(text, path);
}

// Returns the program of --program, or what --reverse and --then make of it.
Result<Program> read_program(const GenerateArguments& arguments) {
  const std::string& path = arguments.program;
  Result<Program> program = read_program(path);
  if (program.ok() && arguments.reverse) {
    program = reverse(*program);
    if (!program.ok())
      return Error{fmt::format("--reverse: {}: {}", path, program.error().message)};
  }
  if (program.ok() && !arguments.then.empty()) {
    const Result<Program> second = read_program(arguments.then);
    if (!second.ok()) return second.error();
    program = sequence(*program, *second);
    if (!program.ok())
      return Error{fmt::format("--then: {}: {}", arguments.then, program.error().message)};
  }
  if (!program.ok()) return program;
  const std::string_view name = name_of(program->collective);
  if (!arguments.collective.empty() && !is_called(program->collective, arguments.collective))
    return Error{fmt::format("{}: its {} is for {}; `generate {}` takes it", path,
                             !arguments.then.empty() ? "sequence"
                             : arguments.reverse     ? "reversal"
                                                     : "program",
                             name, name)};
  return program;
}

Result<std::vector<Topology>> groups_of(const GenerateArguments& arguments,
                                        const Program& program) {
  Result<std::vector<Topology>> groups = read_groups(arguments);
  if (!groups.ok()) return groups;
  if (groups->empty() && arguments.proof.empty())
    return Error{
        "--nodes any: a program of yours may not be right for all sizes; give its certificate with "
        "--proof, or the nodes that it is for"};
  if (groups->empty() || program.groups == static_cast<int>(groups->size())) return groups;
  return Error{
      program.groups == 1
          ? fmt::format("--remote-nodes: {} is for one group; leave it out", arguments.program)
          : fmt::format(
                "--nodes: {} is for two groups; give the nodes of the other with --remote-nodes",
                arguments.program)};
}

// Returns the values of the --parameter flags, by name. Parameters that calls do not give must have one.
Result<std::map<std::string, int64_t>> read_parameters(const GenerateArguments& arguments,
                                                       const Program& program) {
  std::map<std::string, int64_t> values;
  for (const std::string& text : arguments.parameters) {
    const std::string name = text.substr(0, text.find('='));
    const auto parameter = std::ranges::find_if(
        program.parameters, [&](const Parameter& known) { return known.name.text == name; });
    if (parameter == program.parameters.end() || name.size() == text.size())
      return Error{fmt::format("--parameter: '{}' is not NAME=VALUE of a parameter of {}", text,
                               arguments.program)};
    const auto value = cli::whole_number(std::string_view(text).substr(name.size() + 1));
    if (!value) return Error{fmt::format("--parameter: '{}' does not give one number", text)};
    if (parameter->at_call && (*value < 1 || *value > INT32_MAX))
      return Error{
          fmt::format("--parameter: '{}': what a file gives for all its calls is from 1 to {}",
                      text, INT32_MAX)};
    if (!values.emplace(name, *value).second)
      return Error{fmt::format("--parameter: '{}' is given twice", name)};
  }
  for (const Parameter& parameter : program.parameters)
    if (!parameter.at_call && !values.contains(parameter.name.text))
      return Error{fmt::format("--parameter {}=N is needed: {} has that parameter",
                               parameter.name.text, arguments.program)};
  return values;
}

Result<Job> read_job(const GenerateArguments& arguments, const Program& program) {
  Result<std::vector<Topology>> groups = groups_of(arguments, program);
  if (!groups.ok()) return groups.error();
  const auto values = read_parameters(arguments, program);
  if (!values.ok()) return values.error();
  Job job{std::move(groups).value(), {}, {}};
  bool chosen = false;
  for (const Parameter& parameter : program.parameters) {
    const std::string& name = parameter.name.text;
    BlockSize size;
    size.model = {};
    if (const auto given = values->find(name); given != values->end()) {
      size.rule = given->second;
    } else {
      const Result<BlockSize> read =
          read_block_size(arguments.block_size, arguments.machine.alpha, arguments.machine.beta);
      if (!read.ok()) return read.error();
      size = *read;
      chosen = true;
    }
    job.parameters.push_back(size.rule);
    job.models.push_back(size.model);
    if (job.groups.empty() && !parameter.at_call)
      job.formulas.push_back(constant(std::exchange(job.parameters.back(), 0)));
    else if (job.groups.empty())
      job.formulas.emplace_back();
  }
  for (const auto& [flag, text] : {std::pair("--block-size", arguments.block_size),
                                   {"--alpha", arguments.machine.alpha},
                                   {"--beta", arguments.machine.beta}})
    if (!text.empty() && !chosen)
      return Error{fmt::format("{}: {} has no parameter that is chosen at the call", flag,
                               arguments.program)};
  return job;
}

}  // namespace

Result<TextSchedule> read_text_schedule(const GenerateArguments& arguments) {
  for (const auto& given : {arguments.choices, arguments.numbers})
    for (const auto& [name, text] : given)
      if (!text.empty())
        return Error{fmt::format(
            "{}: it is for --algorithm; --program takes --parameter NAME=VALUE", flag_of(name))};
  Result<Program> program = read_program(arguments);
  if (!program.ok()) return program.error();
  Result<Job> job = read_job(arguments, *program);
  if (!job.ok()) return job.error();
  const Program known = before_the_call(*program);
  if (!arguments.proof.empty()) {
    const Result<std::string> proven = verifier::read_certificate(arguments.proof, *program);
    if (!proven.ok()) return Error{"--proof: " + proven.error().message};
  }
  for (size_t group = 0; group < job->groups.size(); ++group) {
    const Result<Binding> binding =
        bind(known, *job, plain_call(known, *job), static_cast<int64_t>(group));
    if (!binding.ok())
      return Error{fmt::format("{}: {}", arguments.program, binding.error().message)};
  }
  return TextSchedule{std::move(program).value(), std::move(job).value()};
}

Result<OwnAlgorithm> read_own_algorithm(const GenerateArguments& arguments) {
  const Result<Program> program = read_program(arguments);
  if (!program.ok()) return program.error();
  const auto values = read_parameters(arguments, *program);
  if (!values.ok()) return values.error();
  OwnAlgorithm own;
  own.algorithm = {program->algorithm.text,
                   program->collective,
                   {},
                   [text = print(*program)](const Choices&) { return text; },
                   nullptr,
                   {},
                   program->groups};
  if (find_algorithm(program->collective, own.algorithm.name, program->groups))
    own.algorithm.name += "-own";
  for (const Parameter& parameter : program->parameters) {
    const std::string& name = parameter.name.text;
    if (parameter.at_call && values->contains(name))
      return Error{fmt::format("--parameter {}: the best value is searched; leave it out", name)};
    if (parameter.at_call) continue;
    own.numbers[name] = values->at(name);
    own.algorithm.numbers.push_back({name, own.numbers[name], NumberKind::kNodes, ""});
  }
  return own;
}

std::string parameter_flags(const verifier::Schedule& schedule) {
  std::string text;
  for (size_t i = 0; i < schedule.program.parameters.size(); ++i) {
    const Parameter& parameter = schedule.program.parameters[i];
    const int64_t value = schedule.job.parameters[i];
    text += parameter.at_call && value < 1
                ? block_size_flags({value, schedule.job.models[i]})
                : fmt::format(" --parameter {}={}", parameter.name.text, value);
  }
  return text;
}

}  // namespace quadrille
