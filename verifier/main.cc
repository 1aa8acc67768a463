// bazel run //verifier -- check | prove | replay
//
// Exit codes: 0 verified or proven, 1 refuted, 2 bad input, 3 unknown. Tested by
// tests/cli/verifier_test.sh.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <optional>

#include "cli/files.h"
#include "verifier/check.h"
#include "verifier/decode.h"
#include "verifier/prove_command.h"
#include "verifier/replay.h"
#include "verifier/report.h"

namespace quadrille::verifier {
namespace {

using cli::bad_input;
using cli::ExitCode;

// "3,0,5" as numbers.
Result<std::vector<int64_t>> read_numbers(const std::string& flag, const std::string& text) {
  std::vector<int64_t> numbers;
  for (const char *at = text.data(), *end = at + text.size();;) {
    int64_t number = 0;
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc() || (stop != end && *stop != ','))
      return Error{fmt::format("{}: '{}' is not a list of numbers like 3,0,5", flag, text)};
    numbers.push_back(number);
    if (stop == end) return numbers;
    at = stop + 1;
  }
}

struct CallArguments {
  std::string counts;
  std::vector<std::string> parameters;  // "name=value"
  int64_t root = 0;
};

// The part of a call that the command line gives: counts of both groups, parameters in the
// program's order.
Result<Call> read_call(const CallArguments& arguments, const Program& program) {
  Call call;
  call.root = arguments.root;
  for (size_t start = 0; !arguments.counts.empty() && start <= arguments.counts.size();) {
    const size_t end = std::min(arguments.counts.find('/', start), arguments.counts.size());
    Result<std::vector<int64_t>> counts =
        read_numbers("--counts", arguments.counts.substr(start, end - start));
    if (!counts.ok()) return counts.error();
    call.counts.push_back(std::move(counts).value());
    start = end + 1;
  }
  for (const Parameter& parameter : program.parameters) {
    if (!parameter.at_call) continue;
    const std::string wanted = parameter.name.text + "=";
    const auto given =
        std::find_if(arguments.parameters.begin(), arguments.parameters.end(),
                     [&](const std::string& text) { return text.starts_with(wanted); });
    if (given == arguments.parameters.end())
      return Error{fmt::format("--parameter {}N is needed", wanted)};
    const Result<std::vector<int64_t>> value =
        read_numbers("--parameter", given->substr(wanted.size()));
    if (!value.ok()) return value.error();
    call.parameters.push_back((*value)[0]);
  }
  return call;
}

struct CheckArguments {
  std::vector<std::string> files;
  std::optional<int> ports;
  CallArguments call;
};

int check_file(const std::string& file, const CheckArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  const Result<std::vector<uint8_t>> bytes = cli::read_file(file);
  if (!bytes.ok()) return bad_input("check", bytes.error().message);
  const Result<Schedule> schedule = decode(*bytes, file);
  if (!schedule.ok()) return bad_input("check", schedule.error().message);
  const Result<Call> call = read_call(arguments.call, schedule->program);
  if (!call.ok()) return bad_input("check", call.error().message);
  const Result<Report> report =
      check_schedule(schedule->program, schedule->job, *call, {arguments.ports});
  if (!report.ok()) return bad_input("check", fmt::format("{}: {}", file, report.error().message));
  fmt::print("{}", check_report(file, *schedule, bytes->size(), *call, *report));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("  {:<10}{:.3f} s, at most {:.0f} MB\n", "checked in", seconds,
             usage.ru_maxrss / 1024.0);
  return report->violation ? ExitCode::kRefuted : ExitCode::kVerified;
}

int check(const CheckArguments& arguments) {
  if (arguments.ports && *arguments.ports < 1)
    return bad_input("check", "--ports: a node has at least 1 port");
  int worst = ExitCode::kVerified;
  for (const std::string& file : arguments.files)
    worst = std::max(worst, check_file(file, arguments));
  return worst;
}

struct ReplayArguments {
  std::string file, ranks, steps;
  int64_t group = 0;
  CallArguments call;
};

int replay_file(const ReplayArguments& arguments) {
  const Result<std::vector<uint8_t>> bytes = cli::read_file(arguments.file);
  if (!bytes.ok()) return bad_input("replay", bytes.error().message);
  const Result<Schedule> schedule = decode(*bytes, arguments.file);
  if (!schedule.ok()) return bad_input("replay", schedule.error().message);
  const Result<Call> call = read_call(arguments.call, schedule->program);
  if (!call.ok()) return bad_input("replay", call.error().message);
  if (arguments.group < 0 || arguments.group >= schedule->program.groups)
    return bad_input("replay",
                     fmt::format("--group: the schedule has no group {}", arguments.group));
  const Result<Binding> binding = bind(schedule->program, schedule->job, *call, arguments.group);
  if (!binding.ok())
    return bad_input("replay", fmt::format("{}: {}", arguments.file, binding.error().message));
  const Result<std::vector<int64_t>> ranks = read_numbers("--ranks", arguments.ranks);
  if (!ranks.ok()) return bad_input("replay", ranks.error().message);
  int64_t low = INT64_MIN, high = INT64_MAX;
  const size_t dots = arguments.steps.find("..");
  if (!arguments.steps.empty()) {
    const auto first = read_numbers("--steps", arguments.steps.substr(0, dots));
    const auto last = dots == std::string::npos
                          ? first
                          : read_numbers("--steps", arguments.steps.substr(dots + 2));
    if (dots == std::string::npos || !first.ok() || !last.ok())
      return bad_input("replay", fmt::format("--steps: '{}' is not LOW..HIGH", arguments.steps));
    low = (*first)[0];
    high = (*last)[0];
  }
  for (const int64_t rank : *ranks) {
    if (rank < 0 || rank >= binding->place.ranks)
      return bad_input(
          "replay", fmt::format("--ranks: there is no rank {} of {}", rank, binding->place.ranks));
    fmt::print("rank {}\n", rank);
    for (const std::string& line : replay(schedule->program, *binding, rank, low, high))
      fmt::print("  {}\n", line);
  }
  return 0;
}

void add_call(CLI::App& command, CallArguments& call) {
  command.add_option("--counts", call.counts,
                     "counts of the call, one a rank: 3,0,5; of two groups: 3,0,5/4,4");
  command.add_option("--parameter", call.parameters,
                     "NAME=VALUE of a parameter that is given at the call");
  command.add_option("--root", call.root, "the root of a rooted collective");
}

int run(int argc, char** argv) {
  CLI::App app{"Checks and proves communication schedules for MPI collectives.", "verifier"};
  app.require_subcommand(1);

  CheckArguments checking;
  CLI::App* checking_command = app.add_subcommand(
      "check", "walk every rank of schedule files and say whether they are right");
  checking_command->add_option("files", checking.files, "schedule files")->required();
  checking_command->add_option(
      "--ports", checking.ports,
      "partners that a node may have at a time (asked even without a claim)");
  add_call(*checking_command, checking.call);

  ProveArguments proving;
  CLI::App* proving_command = app.add_subcommand("prove", "prove programs for all sizes");
  proving_command->add_option(
      "names", proving.names,
      "algorithms such as hierarchical-factor+drop; all where none is named");
  proving_command->add_option("--proof", proving.files,
                              "proof files to prove instead of the built-in ones");
  proving_command->add_option("--export", proving.folder,
                              "write every question as SMT-LIB there, a file an algorithm");
  proving_command->add_option("--second-solver", proving.second_solver,
                              "a solver that answers the exported questions again, such as cvc5");
  proving_command
      ->add_option("--timeout", proving.timeout,
                   "milliseconds that a question may take; one that takes longer is unknown")
      ->check(CLI::Range(1u, 3600000u));
  proving_command->add_flag("--verbose", proving.verbose, "name every obligation");

  ReplayArguments replaying;
  CLI::App* replaying_command = app.add_subcommand("replay", "print what ranks do, step by step");
  replaying_command->add_option("file", replaying.file, "a schedule file")->required();
  replaying_command->add_option("--ranks", replaying.ranks, "which: 1,3")->required();
  replaying_command->add_option("--group", replaying.group, "of which group, 0 or 1");
  replaying_command->add_option("--steps", replaying.steps,
                                "only steps LOW..HIGH, HIGH not included");
  add_call(*replaying_command, replaying.call);

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return bad_input("verifier", fmt::format("{}; --help tells more", error.what()));
  }
  if (checking_command->parsed()) return check(checking);
  if (proving_command->parsed()) return prove_command(proving);
  return replay_file(replaying);
}

}  // namespace
}  // namespace quadrille::verifier

int main(int argc, char** argv) { return quadrille::verifier::run(argc, argv); }
