// Each rule is for sizes between two powers of four, as the library learns them. Tested by tests/cli/compare_test.sh.
#include "generator/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "cli/command_line.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "generator/text_program.h"
#include "generator/universal_names.h"
#include "verifier/call.h"
#include "verifier/certificate.h"
#include "verifier/check.h"

namespace quadrille {
namespace {

using cli::bad_input;

constexpr const char* kAll = "all";
constexpr const char* kNative = "native";
constexpr size_t kLongestPath = 220;  // of a schedule file that a rule names

// Returns the names in rules of MPI's collectives that `collective` serves and whose ranks know the bytes.
std::vector<std::string> rule_names(Collective collective, size_t groups) {
  switch (collective) {
    case Collective::kAlltoall: return {"alltoall"};
    case Collective::kAllgather:
      return groups == 1 ? std::vector<std::string>{"allgather", "allgatherv"}
                         : std::vector<std::string>{"allgather"};
    case Collective::kAllreduce: return {"allreduce"};
    case Collective::kReduceScatter: return {"reduce_scatter", "reduce_scatter_block"};
    case Collective::kBroadcast:
      return groups == 1 ? std::vector<std::string>{"bcast"} : std::vector<std::string>{};
    case Collective::kGather:
    case Collective::kScatter:
    case Collective::kReduce:
      return groups == 1 ? std::vector<std::string>{std::string(name_of(collective))}
                         : std::vector<std::string>{};
    default: return {};
  }
}

// True if MPI libraries have the algorithm themselves. A rule that names it gains little.
bool is_in_libraries(const Algorithm& algorithm) {
  static const std::set<std::pair<Collective, std::string>> kKnown = {
      {Collective::kAllgather, "bruck"},
      {Collective::kAllgather, "linear-ring"},
      {Collective::kAllgather, "neighbor-exchange"},
      {Collective::kAllgather, "recursive-doubling"},
      {Collective::kAllreduce, "doubling"},
      {Collective::kAllreduce, "rabenseifner"},
      {Collective::kAllreduce, "ring"},
      {Collective::kAlltoall, "factor"},
      {Collective::kAlltoall, "linear"},
      {Collective::kAlltoall, "pairwise"},
      {Collective::kAlltoall, "scattered"},
      {Collective::kAlltoall, "spread-out"},
      {Collective::kBroadcast, "binomial"},
      {Collective::kBroadcast, "pipeline"},
      {Collective::kGather, "binomial"},
      {Collective::kGather, "linear"},
      {Collective::kReduce, "binomial"},
      {Collective::kReduce, "pipeline"},
      {Collective::kReduce, "rabenseifner"},
      {Collective::kReduceScatter, "halving"},
      {Collective::kReduceScatter, "pairwise"},
      {Collective::kReduceScatter, "ring"},
      {Collective::kScatter, "binomial"},
      {Collective::kScatter, "linear"},
  };
  return algorithm.groups == 1 && kKnown.contains({algorithm.collective, algorithm.name});
}

// A candidate and its name in rules.
struct Named {
  std::string name;
  Candidate candidate;
};

// Returns the candidate that the preload library has under that name. Nothing if the name has an option without a
// number, or the schedule does not serve the workload.
std::optional<Candidate> candidate_of(const std::string& name, const Workload& workload) {
  const size_t colon = name.find(':');
  const Algorithm* algorithm = find_algorithm(workload.collective, name.substr(0, colon),
                                              static_cast<int>(workload.groups.size()));
  check(algorithm != nullptr, "a schedule of the preload library that is not in the registry");
  Fixed fixed;
  for (const Number& number : algorithm->numbers) fixed[number.name] = number.initial;
  if (colon != std::string::npos) {
    const size_t equals = name.find('=', colon);
    const std::optional<int64_t> value = cli::whole_number(name.substr(equals + 1));
    if (!value) return std::nullopt;
    fixed[name.substr(colon + 1, equals - colon - 1)] = *value;
  }
  return best_candidate(*algorithm, workload, fixed);
}

// A user's own algorithm.
struct Own {
  OwnAlgorithm algorithm;
  TextSchedule schedule;
  GenerateArguments file;  // as `generate` would write the schedule that rules name
  bool is_chosen = false;
};

std::vector<Named> all_named(const Workload& workload, Own* own) {
  const std::string kind = std::string(name_of(workload.collective)) +
                           (workload.groups.size() == 2 ? "-between-groups" : "");
  std::vector<Named> all;
  for (const UniversalName& each : kUniversalNames)
    if (kind == each.kind)
      if (std::optional<Candidate> candidate = candidate_of(each.name, workload))
        all.push_back({each.name, *std::move(candidate)});
  if (!own) return all;
  const OwnAlgorithm& mine = own->algorithm;
  if (auto candidate = best_candidate(mine.algorithm, workload, mine.numbers))
    all.push_back({"file:" + own->file.out, *std::move(candidate)});
  return all;
}

// Returns the choice of a rule: MPI's own, unless each schedule that MPI libraries have takes more than kRicher times
// as long as the chosen one.
std::string choice(const Workload& workload, Own* own) {
  const std::vector<Named> all = all_named(workload, own);
  std::vector<Candidate> candidates;
  int64_t least_known = INT64_MAX;
  for (const Named& each : all) {
    candidates.push_back(each.candidate);
    if (is_in_libraries(*each.candidate.algorithm))
      least_known = std::min(least_known, each.candidate.time);
  }
  put_choice_first(candidates);
  if (candidates.empty() ||
      static_cast<double>(least_known) <= kRicher * static_cast<double>(candidates[0].time))
    return kNative;
  const auto chosen = std::ranges::find_if(all, [&](const Named& each) {
    return each.candidate.algorithm == candidates[0].algorithm &&
           each.candidate.numbers == candidates[0].numbers;
  });
  if (own) own->is_chosen |= chosen->candidate.algorithm == &own->algorithm.algorithm;
  const int64_t block_size = chosen->candidate.block_size;
  return chosen->name + (block_size > 0 ? fmt::format(":block-size={}", block_size) : "");
}

struct Rule {
  int64_t least, most;  // bytes, as rules have them
  std::string algorithm;
};

// Returns the rules of a collective, one for each class of sizes. Neighbours with one choice become one rule.
std::vector<Rule> rules_of(Workload workload, int64_t low, int64_t high, Own* own,
                           cli::Progress& progress) {
  // Rules state the bytes of the whole vector. In a reduce-scatter each rank gets only one block of it.
  const bool is_divided = workload.collective == Collective::kReduceScatter;
  const int64_t parts = is_divided ? workload.groups[0].ranks() : 1;
  std::vector<Rule> rules;
  for (int64_t least = 1; least <= high; least *= 4) {
    if (4 * least - 1 < low) continue;
    progress.say(fmt::format("{} of {} bytes", name_of(workload.collective), 2 * least));
    workload.bytes = std::max<int64_t>(1, 2 * least / parts);
    const std::string algorithm = choice(workload, own);
    if (!rules.empty() && rules.back().algorithm == algorithm)
      rules.back().most = 4 * least - 1;
    else
      rules.push_back({least, 4 * least - 1, algorithm});
  }
  return rules;
}

// Returns the conditions of rules for communicators like these groups.
std::string shape_text(const std::vector<Topology>& groups) {
  if (groups.size() == 2)
    return fmt::format("groups=2 ranks={}", groups[0].ranks() + groups[1].ranks());
  const Topology& nodes = groups[0];
  const int64_t least = nodes.runs().front().size, most = nodes.runs().back().size;
  const std::string sizes =
      least < most ? fmt::format("{}..{} even=no", least, most) : fmt::format("{}", least);
  return fmt::format("ranks={} nodes={} ranks-a-node={}", nodes.ranks(), nodes.nodes(), sizes);
}

Result<std::vector<Collective>> read_collectives(const std::string& name, size_t groups) {
  std::vector<Collective> all;
  for (const Collective collective : served_collectives()) {
    const std::vector<std::string> names = rule_names(collective, groups);
    const bool is_meant = name == kAll || name == name_of(collective) ||
                          std::ranges::find(names, name) != names.end();
    if (is_meant && !names.empty()) all.push_back(collective);
  }
  if (!all.empty()) return all;
  for (const Collective collective : served_collectives())
    if (is_called(collective, name))
      return Error{fmt::format("there are no rules for {}{}; name another collective, or {}", name,
                               groups == 2 ? " between groups" : "", kAll)};
  return Error{fmt::format("'{}' is no collective that rules are written for; choose one of {}, {}",
                           name, collective_names(", "), kAll)};
}

// Returns an error if the library would not follow the own schedule, or a call of it is wrong. A proof allows all calls.
std::optional<Error> refuse_own(const Own& own) {
  if (!own.file.proof.empty()) return std::nullopt;
  const auto& [program, job] = own.schedule;
  const std::string& name = own.file.program;
  if (uses_counts(program))
    return Error{fmt::format("{}: it uses counts; give its certificate with --proof", name)};
  if (rooted(program.collective) && ranks_of(job.groups) > verifier::kMostRanksInFull)
    return Error{
        fmt::format("{}: on more than {} ranks, not all roots are checked; give its "
                    "certificate with --proof",
                    name, verifier::kMostRanksInFull)};
  verifier::Schedule schedule;
  schedule.program = program;
  schedule.job = job;
  Result<std::vector<Call>> calls = verifier::calls_to_check({}, schedule);
  if (!calls.ok()) return calls.error();
  for (Call& call : *calls) {
    const Result<verifier::Report> report = verifier::check_all_sizes(program, job, call, {});
    if (!report.ok()) return Error{fmt::format("{}: {}", name, report.error().message)};
    if (report->violation)
      return Error{fmt::format("{}: refuted, since {}; `check --program` tells more", name,
                               report->violation->detail)};
  }
  return std::nullopt;
}

// Returns an error if the path of the own schedule cannot stand in a rule, or something else is there.
std::optional<Error> refuse_path(const GenerateArguments& file, const std::string& rules) {
  const bool is_plain = std::ranges::all_of(
      file.out, [](char c) { return c > ' ' && c <= '~' && c != ':' && c != '"' && c != '\\'; });
  if (file.out.size() > kLongestPath || !is_plain)
    return Error{
        fmt::format("--out: rules would name {}; choose a path of at most {} ASCII characters, "
                    "without blanks, colons, quotes and backslashes",
                    file.out, kLongestPath)};
  std::error_code none;
  const std::string there = cli::user_path(rules);
  if (std::filesystem::exists(there, none) && !std::filesystem::is_regular_file(there, none))
    return Error{
        fmt::format("--out: {}: is no file; name one, since the schedule stands beside it", rules)};
  const std::string certificate = file.out + verifier::kCertificateEnd;
  if (file.proof.empty() && std::filesystem::exists(certificate, none))
    return Error{fmt::format("--out: {}: belongs to another schedule; remove it", certificate)};
  return std::nullopt;
}

// Reads the program of --program. Its schedule is for these nodes, or with --proof for any. Nothing without --program.
Result<std::optional<Own>> read_own(const GenerateArguments& arguments) {
  if (const std::optional<Error> wrong = refuse_without_program(arguments)) return *wrong;
  if (arguments.program.empty()) return std::optional<Own>();
  if (arguments.collective == kAll) return Error{"--program: name its collective in place of all"};
  const Result<std::vector<Collective>> collectives =
      read_collectives(arguments.collective, arguments.remote_nodes.empty() ? 1 : 2);
  if (!collectives.ok()) return collectives.error();
  Own own{{}, {}, arguments};
  own.file.collective = name_of(collectives->front());
  own.file.machine = {};
  own.file.out = std::filesystem::absolute(cli::user_path(arguments.out + ".qs")).string();
  if (const std::optional<Error> wrong = refuse_path(own.file, arguments.out)) return *wrong;
  Result<OwnAlgorithm> read = read_own_algorithm(own.file);
  if (!read.ok()) return read.error();
  own.algorithm = std::move(read).value();
  if (!arguments.proof.empty()) {
    own.file.nodes = "any";
    own.file.slurm = own.file.hostfile = "";
    if (!arguments.remote_nodes.empty()) own.file.remote_nodes = "any";
  }
  Result<TextSchedule> schedule = read_text_schedule(own.file);
  if (!schedule.ok()) return schedule.error();
  own.schedule = std::move(schedule).value();
  if (const std::optional<Error> wrong = refuse_own(own)) return *wrong;
  return std::optional<Own>(std::move(own));
}

// Returns the rules, one per line.
Result<std::string> rules_text(const GenerateArguments& arguments, Own* own) {
  const Result<std::vector<Topology>> groups = read_groups(arguments);
  if (!groups.ok()) return groups.error();
  if (groups->empty()) return Error{"--nodes any: give the nodes to choose for, such as 4x8"};
  const Result<std::vector<Collective>> collectives =
      read_collectives(arguments.collective, groups->size());
  if (!collectives.ok()) return collectives.error();
  const Result<std::vector<int64_t>> sizes = read_sizes(arguments.machine.bytes);
  if (!sizes.ok()) return sizes.error();
  const Result<Machine> machine = read_machine(arguments.machine);
  if (!machine.ok()) return machine.error();
  cli::Progress progress;
  std::string text, shape = shape_text(*groups);
  for (const Collective collective : *collectives) {
    Workload workload{collective, *groups};
    workload.machine = *machine;
    const std::vector<Rule> rules =
        rules_of(workload, sizes->front(), sizes->back(), own, progress);
    for (const std::string& name : rule_names(collective, groups->size()))
      for (const Rule& rule : rules)
        text += fmt::format("{} {} bytes={}..{} use={}\n", name, shape, rule.least, rule.most,
                            rule.algorithm);
  }
  return text;
}

}  // namespace

cli::Command add_choose(cli::Command& program, ChooseArguments& arguments) {
  cli::Command command = program.command(
      "choose",
      "Write rules for the preload library, by simulated times instead of measured ones.");
  command.require("collective", "COLLECTIVE", &arguments.collective,
                  fmt::format("{}; or {}", collective_names(", "), kAll));
  add_program(command, arguments,
              "your own program beside the algorithms, a text as `show` prints it. Its schedule is "
              "written behind the name of --out, with .qs, if a rule names it");
  add_proof(command, arguments, "serve any nodes");
  add_nodes(command, arguments, false);
  command.require("--out", "FILE", &arguments.out, "the rules file to write, for QUADRILLE_RULES");
  arguments.machine.bytes = "1..16MiB";
  add_machine(command, arguments.machine, "");
  command.add_choice("--format", {"text", "json"}, arguments.format, "what is printed");
  command.example("choose all --nodes 16x32 --machine infiniband-200g --out rules.txt",
                  "A rule is for the sizes between two powers of four, from the first size of "
                  "--bytes LOW..HIGH to the last (default 1..16MiB).");
  return command;
}

int choose(const ChooseArguments& arguments) {
  if (const std::optional<Error> wrong = refuse_replacing(arguments, {"", ".qs"}))
    return bad_input("choose", wrong->message);
  Result<std::optional<Own>> read = read_own(arguments);
  if (!read.ok()) return bad_input("choose", read.error().message);
  Own* const own = *read ? &**read : nullptr;
  const Result<std::string> text = rules_text(arguments, own);
  if (!text.ok()) return bad_input("choose", text.error().message);
  const bool names_own = own && own->is_chosen;
  std::vector<cli::Output> files;
  if (names_own) {
    Result<std::vector<cli::Output>> schedule =
        schedule_files(own->schedule.program, own->schedule.job, own->file);
    if (!schedule.ok()) return bad_input("choose", schedule.error().message);
    files = std::move(schedule).value();
  }
  files.push_back({"--out", arguments.out, *text});
  if (const Result<bool> written = cli::write_files(files); !written.ok())
    return bad_input("choose", written.error().message);
  const int64_t rules = std::ranges::count(*text, '\n');
  if (arguments.format == "json") {
    fmt::print("{}\n", cli::Json{{"schema", 1},
                                 {"file", arguments.out},
                                 {"rules", rules},
                                 {"schedule", names_own ? cli::Json(own->file.out) : cli::Json()}}
                           .text());
    return 0;
  }
  fmt::print("{}: {} rule{}\n", arguments.out, rules, rules == 1 ? "" : "s");
  if (names_own)
    fmt::print("{}: {}, which rules name\n", own->file.out, own->algorithm.algorithm.name);
  else if (own)
    fmt::print(
        "no rule names {}: another schedule is faster, or one that MPI libraries have takes less "
        "than 15 % longer\n",
        own->algorithm.algorithm.name);
  return 0;
}

}  // namespace quadrille
