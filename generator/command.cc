// Reads the flags one after another. The first wrong one is refused with a sentence that says what to type instead.
// Tested by tests/cli/generator_test.sh.
#include "generator/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include "cli/numbers.h"
#include "generator/block_size.h"
#include "generator/encode.h"
#include "generator/formulas.h"
#include "generator/optimal.h"
#include "generator/text_program.h"
#include "schedule/any_nodes.h"
#include "verifier/certificate.h"

namespace quadrille {
namespace {

using cli::bad_input;

constexpr const char* kAuto = "auto";
constexpr const char* kAny = "any";

// Returns the number of groups that the schedule is for.
int groups_of(const GenerateArguments& arguments) { return arguments.remote_nodes.empty() ? 1 : 2; }

// Reads the nodes of the first group. One of three flags gives them.
Result<Topology> read_topology(const GenerateArguments& arguments) {
  if (!arguments.nodes.empty()) return parse_nodes(arguments.nodes);
  if (!arguments.slurm.empty()) return parse_slurm(arguments.slurm);
  const Result<std::vector<uint8_t>> file = cli::read_file(arguments.hostfile);
  if (!file.ok()) return file.error();
  return parse_hostfile(std::string(file->begin(), file->end()), arguments.hostfile);
}

Result<const Algorithm*> find(const GenerateArguments& arguments) {
  const Result<Collective> collective = read_collective(arguments);
  if (!collective.ok()) return collective.error();
  const int groups = groups_of(arguments);
  const Algorithm* algorithm = find_algorithm(*collective, arguments.algorithm, groups);
  if (algorithm) return algorithm;
  if (find_algorithm(*collective, arguments.algorithm, 3 - groups))
    return Error{
        fmt::format("--algorithm: {} for {} is for {}", arguments.algorithm, arguments.collective,
                    groups == 1 ? "two groups; give the nodes of the other with --remote-nodes"
                                : "one group; leave out --remote-nodes")};
  const std::string names = algorithm_names(*collective, groups);
  const std::string purpose = purpose_of(*collective, groups);
  if (names.empty())
    return Error{
        fmt::format("--algorithm: none is known for {}; give a program of yours with "
                    "--program",
                    purpose)};
  return Error{fmt::format("--algorithm: '{}' is not known for {}; choose one of {}",
                           arguments.algorithm, purpose, names)};
}

Error no_such_option(const std::string& flag, const Algorithm& algorithm) {
  return Error{fmt::format("{}: {} has no such option", flag_of(flag), algorithm.name)};
}

// Returns the value of every option of the algorithm, as given or by default. Refuses options of other algorithms.
Result<Choices> complete(const Algorithm& algorithm, const Choices& given) {
  Choices choices;
  for (const Option& option : algorithm.options) choices[option.name] = option.values[0];
  for (const auto& [name, value] : given) {
    if (value.empty()) continue;
    const auto option = std::ranges::find(algorithm.options, name, &Option::name);
    if (option == algorithm.options.end()) return no_such_option(name, algorithm);
    if (std::ranges::find(option->values, value) == option->values.end())
      return Error{
          fmt::format("--{}: '{}' is none of {}", name, value, fmt::join(option->values, ", "))};
    choices[name] = value;
  }
  return choices;
}

Result<int64_t> read_number(const Number& number, const std::string& text, int64_t ranks) {
  if (text.empty()) return number.initial;
  const std::optional<int64_t> value = cli::whole_number(text);
  const bool is_radix = number.kind == NumberKind::kRadix;
  const int64_t most = is_radix ? std::max(ranks, number.initial) : INT64_MAX;
  if (value && number.least() <= *value && *value <= most) return *value;
  if (is_radix)
    return Error{fmt::format("{}: '{}' is not a number from {} to {}, for {}", flag_of(number.name),
                             text, number.least(), most, ranks_text(ranks))};
  return Error{fmt::format("{}: '{}' is not a number of at least {}", flag_of(number.name), text,
                           number.least())};
}

Result<bool> refuse_foreign_flags(const Algorithm& algorithm, const Program& program,
                                  const GenerateArguments& arguments) {
  for (const auto& [name, text] : arguments.numbers)
    if (!text.empty() && std::ranges::count(algorithm.numbers, name, &Number::name) == 0)
      return no_such_option(name, algorithm);
  for (const auto& [flag, text] : {std::pair("block-size", arguments.block_size),
                                   {"alpha", arguments.machine.alpha},
                                   {"beta", arguments.machine.beta}})
    if (!text.empty() && !chooses_block_size(program)) return no_such_option(flag, algorithm);
  return true;
}

// Makes the job. A flag gives the value of a number; --block-size gives the rule of a parameter at call.
Result<Job> make_job(const Algorithm& algorithm, const Program& program,
                     const std::vector<Topology>& groups, const GenerateArguments& arguments) {
  const Result<bool> known = refuse_foreign_flags(algorithm, program, arguments);
  if (!known.ok()) return known.error();
  const bool any_nodes = groups.empty();
  Job job = any_nodes ? job_for_any(algorithm, program) : Job{groups, {}};
  for (const Parameter& parameter : program.parameters) {
    job.models.emplace_back();
    if (any_nodes) job.formulas.emplace_back();
    if (parameter.at_call) {
      const auto size =
          read_block_size(arguments.block_size, arguments.machine.alpha, arguments.machine.beta);
      if (!size.ok()) return size.error();
      job.parameters.push_back(size->rule);
      job.models.back() = size->model;
      continue;
    }
    const Number& number = number_of(algorithm, parameter);
    const std::string& text = arguments.numbers.at(number.name);
    if (!any_nodes) {
      const int64_t ranks = std::max(groups.front().ranks(), groups.back().ranks());
      const Result<int64_t> value = read_number(number, text, ranks);
      if (!value.ok()) return value.error();
      job.parameters.push_back(*value);
      continue;
    }
    Result<Expression> formula = read_formula(number, text, program);
    if (!formula.ok()) return formula.error();
    job.parameters.push_back(0);
    job.formulas.back() = std::move(formula).value();
  }
  const Result<bool> valid = validate_formulas(program, job.formulas);
  if (!valid.ok()) return Error{"the formulas of the numbers: " + valid.error().message};
  return job;
}

}  // namespace

std::string algorithm_names(Collective collective, int groups) {
  std::string names;
  for (const Algorithm& algorithm : algorithms())
    if (algorithm.collective == collective && algorithm.groups == groups)
      names += (names.empty() ? "" : ", ") + algorithm.name;
  if (collective == Collective::kAlltoall && groups == 1) names += fmt::format(", {}", kOptimal);
  return names;
}

bool is_called(Collective collective, const std::string& name) {
  const std::string own(name_of(collective));
  const bool has_counts =
      only_ends_know_lengths(collective) || collective == Collective::kAllgather;
  return name == own || (has_counts && name == own + "v");
}

Result<Collective> read_collective(const GenerateArguments& arguments) {
  for (const Collective collective : served_collectives())
    if (is_called(collective, arguments.collective)) return collective;
  return Error{
      fmt::format("'{}' is no collective that schedules are generated for; choose one of {}",
                  arguments.collective, collective_names(", "))};
}

Result<bool> refuse_ordered(const GenerateArguments& arguments, Collective collective) {
  if (!arguments.ordered || reduces(collective)) return true;
  return Error{fmt::format("--ordered: {} combines nothing; leave it out", in_words(collective))};
}

std::vector<Collective> served_collectives() {
  std::vector<Collective> served;
  for (const Algorithm& algorithm : algorithms())
    if (std::ranges::find(served, algorithm.collective) == served.end())
      served.push_back(algorithm.collective);
  std::ranges::sort(served);
  return served;
}

std::string collective_names(const char* separator) {
  std::vector<std::string_view> names;
  for (const Collective collective : served_collectives()) names.push_back(name_of(collective));
  return fmt::format("{}", fmt::join(names, separator));
}

Result<std::vector<Topology>> read_groups(const GenerateArguments& arguments) {
  const int given =
      !arguments.nodes.empty() + !arguments.slurm.empty() + !arguments.hostfile.empty();
  if (given != 1)
    return Error{
        "give the nodes once: --nodes any, --nodes 1,2,3, --slurm '16(x512),5' or --hostfile FILE"};
  const bool two = groups_of(arguments) == 2;
  const bool any = arguments.nodes == kAny;
  if (two && any != (arguments.remote_nodes == kAny))
    return Error{"--remote-nodes: give the nodes of both groups, or any for both"};
  std::vector<Topology> groups;
  if (any) return groups;
  Result<Topology> first = read_topology(arguments);
  if (!first.ok()) return first.error();
  groups.push_back(std::move(first).value());
  if (!two) return groups;
  Result<Topology> second = parse_nodes(arguments.remote_nodes, "--remote-nodes");
  if (!second.ok()) return second.error();
  groups.push_back(std::move(second).value());
  return groups;
}

bool chooses_block_size(const Program& program) {
  return std::ranges::any_of(program.parameters, &Parameter::at_call);
}

namespace {

// True if auto has to choose. It chooses a block size only if --bytes or --counts describe a call; else calls do.
bool chooses(const GenerateArguments& arguments) {
  const bool has_call = !arguments.machine.bytes.empty() || !arguments.counts.empty();
  return arguments.algorithm == kAuto || (arguments.block_size == kAuto && has_call) ||
         std::ranges::count(std::views::values(arguments.numbers), kAuto) > 0;
}

// Returns the numbers that auto does not choose: the given ones, and those of a given algorithm that are not auto.
Result<Fixed> fixed_numbers(const GenerateArguments& arguments, const Workload& workload) {
  Fixed fixed;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.collective != workload.collective || algorithm.groups != groups_of(arguments))
      continue;
    if (arguments.algorithm != kAuto && arguments.algorithm != algorithm.name) continue;
    for (const Number& number : algorithm.numbers) {
      const std::string& text = arguments.numbers.at(number.name);
      if (text == kAuto || (text.empty() && arguments.algorithm == kAuto)) continue;
      const Result<int64_t> value = read_number(number, text, workload.groups[0].ranks());
      if (!value.ok()) return value.error();
      fixed[number.name] = *value;
    }
  }
  return fixed;
}

// Refuses options with --algorithm auto, because they belong to a certain algorithm.
Result<bool> refuse_choices(const GenerateArguments& arguments) {
  if (arguments.algorithm != kAuto) return true;
  const auto refused = [](const std::string& flag) {
    return Error{fmt::format(
        "{}: give it with an algorithm's name; auto leaves options as they are", flag_of(flag))};
  };
  for (const auto& [option, value] : arguments.choices)
    if (!value.empty()) return refused(option);
  if (!arguments.block_size.empty()) return refused("block-size");
  return true;
}

// Returns the workload for which auto chooses.
Result<Workload> read_purpose(const GenerateArguments& arguments) {
  const Result<Collective> collective = read_collective(arguments);
  if (!collective.ok()) return collective.error();
  if (arguments.algorithm != kAuto || algorithm_names(*collective, groups_of(arguments)).empty()) {
    const Result<const Algorithm*> algorithm = find(arguments);
    if (!algorithm.ok()) return algorithm.error();
  }
  const Result<bool> choices = refuse_choices(arguments);
  if (!choices.ok()) return choices.error();
  const Result<bool> ordered = refuse_ordered(arguments, *collective);
  if (!ordered.ok()) return ordered.error();
  Result<std::vector<Topology>> groups = read_groups(arguments);
  if (!groups.ok()) return groups.error();
  if (groups->empty())
    return Error{"--nodes any: auto chooses for given nodes; name an algorithm and its numbers"};
  Result<Workload> workload =
      read_workload(arguments.machine, arguments.counts, *collective, std::move(groups).value());
  if (workload.ok()) workload->ordered = arguments.ordered;
  return workload;
}

// Replaces auto with an algorithm and numbers, and with the model by which the schedule chooses block sizes.
Result<GenerateArguments> choose(GenerateArguments arguments) {
  const Result<Workload> workload = read_purpose(arguments);
  if (!workload.ok()) return workload.error();
  const Result<Fixed> fixed = fixed_numbers(arguments, *workload);
  if (!fixed.ok()) return fixed.error();
  const std::vector<Candidate> candidates =
      best_candidates(*workload, arguments.algorithm == kAuto ? "" : arguments.algorithm, *fixed);
  if (candidates.empty())
    return Error{
        "--algorithm: none serves these nodes with the numbers given; `list` says what each "
        "algorithm needs"};
  const Candidate& best = candidates[0];
  arguments.algorithm = best.algorithm->name;
  for (size_t i = 0; i < best.numbers.size(); ++i)
    arguments.numbers[best.algorithm->numbers[i].name] = std::to_string(best.numbers[i]);
  arguments.machine = {};
  if (best.has_fixed_block) {
    arguments.block_size = std::to_string(best.block_size);
  } else if (best.block_size > 0) {
    arguments.machine.alpha = fmt::format("{}ns", best.model.alpha_ns);
    arguments.machine.beta = fmt::format("{}ps", best.model.beta_ps);
  }
  const Unit unit = unit_for(best.time);
  arguments.chosen = fmt::format("chosen: {}; by the model a call {} takes {:.1f} {}\n",
                                 candidate_text(best), workload_text(*workload),
                                 static_cast<double>(best.time) / unit.nanoseconds, unit.name);
  return arguments;
}

int write_and_say(const Program& program, const Job& job, const GenerateArguments& arguments) {
  const Result<std::vector<cli::Output>> files = schedule_files(program, job, arguments);
  if (!files.ok()) return bad_input("generate", files.error().message);
  if (const Result<bool> written = cli::write_files(*files); !written.ok())
    return bad_input("generate", written.error().message);
  std::string nodes = serves_any_nodes(job) ? "any nodes" : "";
  for (const Topology& topology : job.groups)
    nodes += fmt::format("{}nodes {} ({})", nodes.empty() ? "" : " and ", topology.text(),
                         ranks_text(topology.ranks()));
  fmt::print("{}: {} for {} on {}, {} bytes\n{}", arguments.out, program.algorithm.text,
             purpose_of(program.collective, program.groups), nodes, files->back().contents.size(),
             arguments.chosen);
  return 0;
}

bool is_optimal(const GenerateArguments& arguments) {
  return arguments.algorithm == kOptimal && groups_of(arguments) == 1 &&
         is_called(Collective::kAlltoall, arguments.collective);
}

Result<TextSchedule> optimal_schedule(const GenerateArguments& arguments) {
  Algorithm optimal{};
  optimal.name = kOptimal;
  const Result<Choices> choices = complete(optimal, arguments.choices);
  if (!choices.ok()) return choices.error();
  const Result<bool> known = refuse_foreign_flags(optimal, {}, arguments);
  if (!known.ok()) return known.error();
  const Result<std::vector<Topology>> groups = read_groups(arguments);
  if (!groups.ok()) return groups.error();
  if (groups->empty())
    return Error{"--nodes any: optimal is made for given nodes; give the nodes that it is for"};
  Result<Program> program = optimal_program(groups->front());
  if (!program.ok()) return Error{"--nodes: " + program.error().message};
  return TextSchedule{std::move(program).value(), Job{*groups, {}}};
}

int generate_as_told(const GenerateArguments& arguments) {
  if (is_optimal(arguments)) {
    const Result<TextSchedule> schedule = optimal_schedule(arguments);
    if (!schedule.ok()) return bad_input("generate", schedule.error().message);
    return write_and_say(schedule->program, schedule->job, arguments);
  }
  const Result<const Algorithm*> algorithm = find(arguments);
  if (!algorithm.ok()) return bad_input("generate", algorithm.error().message);
  const Result<Choices> choices = complete(**algorithm, arguments.choices);
  if (!choices.ok()) return bad_input("generate", choices.error().message);
  const Result<std::vector<Topology>> groups = read_groups(arguments);
  if (!groups.ok()) return bad_input("generate", groups.error().message);
  if (groups->empty() && !(*algorithm)->proof)
    return bad_input("generate", fmt::format("--nodes any: {} for {} is not proven for all sizes; "
                                             "give the nodes that it is for",
                                             (*algorithm)->name, arguments.collective));

  const Program program = make_program(**algorithm, *choices);
  const Result<Job> job = make_job(**algorithm, program, *groups, arguments);
  if (!job.ok()) return bad_input("generate", job.error().message);
  // Binding checks the program's own requirements.
  for (size_t group = 0; group < groups->size(); ++group) {
    const Result<Binding> binding =
        bind(program, *job, plain_call(program, *job), static_cast<int64_t>(group));
    if (!binding.ok()) {
      const std::string needs = opening_of(**algorithm).needs;
      return bad_input(
          "generate",
          binding.error().message +
              (needs == "none" ? "" : fmt::format("; {} needs {}", (*algorithm)->name, needs)));
    }
  }
  return write_and_say(program, *job, arguments);
}

int generate_from_text(const GenerateArguments& arguments) {
  const Result<TextSchedule> schedule = read_text_schedule(arguments);
  if (!schedule.ok()) return bad_input("generate", schedule.error().message);
  return write_and_say(schedule->program, schedule->job, arguments);
}

}  // namespace

Result<std::vector<cli::Output>> schedule_files(const Program& program, const Job& job,
                                                const GenerateArguments& arguments) {
  std::vector<cli::Output> files;
  const Bytes file = encode(program, job);
  // A user's program may be longer than the format allows.
  const Result<verifier::Schedule> readable = verifier::decode(file, arguments.out);
  if (!readable.ok()) return readable.error();
  if (!arguments.proof.empty()) {
    const Result<std::vector<uint8_t>> certificate = cli::read_file(arguments.proof);
    if (!certificate.ok()) return Error{"--proof: " + certificate.error().message};
    files.push_back({"--out",
                     arguments.out + verifier::kCertificateEnd,
                     {certificate->begin(), certificate->end()}});
  }
  files.push_back({"--out", arguments.out, {file.begin(), file.end()}});
  return files;
}

std::optional<Error> refuse_replacing(const GenerateArguments& arguments,
                                      std::initializer_list<std::string> ends) {
  for (const std::string& input : {arguments.hostfile, arguments.program, arguments.then,
                                   arguments.proof, arguments.machine.machine})
    for (const std::string& end : ends)
      for (const std::string& output :
           {arguments.out + end, arguments.out + end + verifier::kCertificateEnd})
        if (cli::same_file(input, output)) return Error{cli::same_file_text("--out", output)};
  return std::nullopt;
}

int generate(const GenerateArguments& arguments) {
  if (const std::optional<Error> wrong = refuse_replacing(arguments, {""}))
    return bad_input("generate", wrong->message);
  if (arguments.program.empty() && arguments.algorithm.empty())
    return bad_input("generate",
                     "give an algorithm with --algorithm, or a program of yours with --program");
  if (!arguments.program.empty() && !arguments.algorithm.empty())
    return bad_input("generate", "--program: give it without --algorithm");
  if (const std::optional<Error> wrong = refuse_without_program(arguments))
    return bad_input("generate", wrong->message);
  if (arguments.program.empty() && chooses(arguments) && !is_optimal(arguments)) {
    const Result<GenerateArguments> chosen = choose(arguments);
    return chosen.ok() ? generate_as_told(*chosen) : bad_input("generate", chosen.error().message);
  }
  constexpr const char* kNothing =
      "nothing is chosen by it; give --algorithm auto, --radix auto or --block-size auto";
  if (!arguments.counts.empty() || arguments.ordered)
    return bad_input("generate",
                     fmt::format("--{}: {}", arguments.ordered ? "ordered" : "counts", kNothing));
  const Result<bool> nothing = refuse_model(arguments.machine, false, kNothing);
  if (!nothing.ok()) return bad_input("generate", nothing.error().message);
  return arguments.program.empty() ? generate_as_told(arguments) : generate_from_text(arguments);
}

}  // namespace quadrille
