// bazel run //verifier -- check | prove | replay
//
// Exit codes: 0 verified or proven, 1 refuted, 2 bad input, 3 unknown. Tested by
// tests/cli/verifier_test.sh.
#include <fmt/core.h>
#include <sys/resource.h>

#include <chrono>
#include <optional>

#include "cli/command_line.h"
#include "cli/files.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "schedule/any_nodes.h"
#include "schedule/depth.h"
#include "verifier/call.h"
#include "verifier/check.h"
#include "verifier/decode.h"
#include "verifier/plans.h"
#include "verifier/prove_command.h"
#include "verifier/replay.h"
#include "verifier/report.h"

namespace quadrille::verifier {
namespace {

using cli::bad_input;
using cli::ExitCode;

struct CheckArguments {
  std::vector<std::string> files;
  std::optional<int64_t> ports;
  CallArguments call;
};

// A schedule for any nodes, if no nodes are given to walk: its proof is looked up.
int check_proof(const std::string& file, const Schedule& schedule, int64_t bytes,
                const CheckArguments& arguments) {
  const CallArguments& call = arguments.call;
  if (arguments.ports || !call.counts.empty() || !call.parameters.empty() || call.root)
    return bad_input("check", wants_nodes(file, schedule).message);
  fmt::print("{}", proof_report(file, schedule, bytes));
  return is_proven(schedule) ? ExitCode::kVerified : ExitCode::kUnknown;
}

// The verdict on the runtime's plans for these calls. Plans of large jobs are not checked.
struct PlansVerdict {
  bool lawful = true;
  std::string text;
};

PlansVerdict check_plans(const std::vector<uint8_t>& bytes, const Schedule& schedule,
                         const std::vector<CheckedCall>& checked) {
  constexpr int64_t kMostRanks = 64;
  int64_t ranks = 0;
  for (const Topology& group : schedule.job.groups) ranks += group.ranks();
  if (checked.back().report.violation) return {};
  if (ranks > kMostRanks)
    return {true, fmt::format("  {:<10}not checked: more than {} ranks\n", "plans", kMostRanks)};
  // Plans of one call differ little from those of the next, so the number of plans is bounded.
  constexpr size_t kMostPlans = 512;
  const size_t every = 1 + checked.size() * static_cast<size_t>(ranks) / kMostPlans;
  bool in_place = false;
  cli::Progress progress;
  for (size_t i = 0; i < checked.size(); i += every) {
    if (progress.is_due())
      progress.say(fmt::format("plans of call {} of {}", i + 1, checked.size()));
    const CheckedCall& one = checked[i];
    const Result<Plans> plans = Plans::make(bytes, schedule.program, schedule.job, one.call);
    const std::optional<std::string> wrong =
        plans.ok() ? plans->objection() : "the library refuses them: " + plans.error().message;
    if (wrong) return {*wrong == kPlansNotChecked, fmt::format("  {:<10}{}\n", "plans", *wrong)};
    in_place |= plans->has_in_place();
  }
  const std::string which =
      every > 1
          ? fmt::format(", {} of {} calls", (checked.size() + every - 1) / every, checked.size())
          : "";
  return {true, fmt::format("  {:<10}lawful at every rank, windows 1, 2 and 16{}{}\n", "plans",
                            in_place ? ", in place or not" : "", which)};
}

// How far the check of a call has come.
std::string progress_text(size_t call, size_t calls, const char* unit, int64_t done, int64_t all) {
  return fmt::format("checking{}: {} {}{}",
                     calls > 1 ? fmt::format(" call {} of {}", call + 1, calls) : "", done,
                     all > 0 ? fmt::format("of {} ", all) : "", unit);
}

// All calls, or those up to the first that is wrong.
Result<std::vector<CheckedCall>> check_calls(const Schedule& schedule,
                                             const std::vector<Call>& calls,
                                             const CheckArguments& arguments) {
  std::vector<CheckedCall> checked;
  cli::Progress progress;
  for (const Call& call : calls) {
    CheckOptions options{arguments.ports};
    if (progress.is_shown())
      options.tell = [&](const char* unit, int64_t done, int64_t all) {
        if (progress.is_due())
          progress.say(progress_text(checked.size(), calls.size(), unit, done, all));
      };
    const Result<Report> report = check_schedule(schedule.program, schedule.job, call, options);
    if (!report.ok()) return report.error();
    checked.push_back({call, *report, std::nullopt});
    if (report->violation) break;
    if (report->messages <= kMostMessagesOfDepth)
      checked.back().depth = depth(schedule.program, schedule.job, call);
  }
  return checked;
}

int check_file(const std::string& file, const CheckArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  const Result<ScheduleFile> read = open_schedule(file, arguments.call);
  if (!read.ok()) return bad_input("check", read.error().message);
  const auto& [bytes, schedule] = *read;
  if (serves_any_nodes(schedule.job)) return check_proof(file, schedule, bytes.size(), arguments);
  const Result<std::vector<Call>> calls = calls_to_check(arguments.call, schedule);
  if (!calls.ok()) return bad_input("check", calls.error().message);
  const Result<std::vector<CheckedCall>> checked = check_calls(schedule, *calls, arguments);
  if (!checked.ok())
    return bad_input("check", fmt::format("{}: {}", file, checked.error().message));
  const PlansVerdict plans = check_plans(bytes, schedule, *checked);
  fmt::print("{}{}", check_report(file, schedule, bytes.size(), *checked, plans.lawful),
             plans.text);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("  {:<10}in {:.3f} s, at most {:.0f} MB\n", "checked", seconds,
             usage.ru_maxrss / 1024.0);
  return checked->back().report.violation || !plans.lawful ? ExitCode::kRefuted
                                                           : ExitCode::kVerified;
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
  const Result<ScheduleFile> read = open_schedule(arguments.file, arguments.call);
  if (!read.ok()) return bad_input("replay", read.error().message);
  const Schedule& schedule = read->schedule;
  if (serves_any_nodes(schedule.job))
    return bad_input("replay", wants_nodes(arguments.file, schedule).message);
  const Result<Call> call = read_call(arguments.call, schedule);
  if (!call.ok()) return bad_input("replay", call.error().message);
  if (arguments.group < 0 || arguments.group >= schedule.program.groups)
    return bad_input("replay",
                     fmt::format("--group: the schedule has no group {}", arguments.group));
  const Result<Binding> binding = bind(schedule.program, schedule.job, *call, arguments.group);
  if (!binding.ok())
    return bad_input("replay", fmt::format("{}: {}", arguments.file, binding.error().message));
  const Result<std::vector<int64_t>> ranks = cli::read_numbers("--ranks", arguments.ranks);
  if (!ranks.ok()) return bad_input("replay", ranks.error().message);
  const Result<cli::StepRange> steps = cli::read_steps(arguments.steps);
  if (!steps.ok()) return bad_input("replay", steps.error().message);
  for (const int64_t rank : *ranks) {
    if (rank < 0 || rank >= binding->place.ranks)
      return bad_input(
          "replay", fmt::format("--ranks: there is no rank {} of {}", rank, binding->place.ranks));
    fmt::print("rank {}\n", rank);
    for (const std::string& line :
         replay(schedule.program, *binding, rank, steps->low.value_or(INT64_MIN), steps->high))
      fmt::print("  {}\n", line);
  }
  return 0;
}

cli::Command add_check(cli::Command& program, CheckArguments& arguments) {
  cli::Command command = program.command(
      "check", "Check schedule files: walk every rank and say whether the schedule is right.");
  command.require("files", "FILE", &arguments.files, "schedule files");
  command.add("--ports", "NUMBER", &arguments.ports,
              "how many partners a node may have at a time; checked even if the program claims "
              "none");
  add_call(command, arguments.call);
  command.example(
      "check small.qs",
      "--nodes gives the nodes of a schedule for any nodes; without it, check looks its proof up.\n"
      "Exit codes: 0 verified or proven, 1 refuted, 2 bad input, 3 unknown.");
  return command;
}

cli::Command add_prove(cli::Command& program, ProveArguments& arguments) {
  cli::Command command =
      program.command("prove", "Prove programs for every number of ranks and every placement.");
  command.add("names", "NAME", &arguments.names,
              "algorithms such as hierarchical-factor+drop; all if none is named");
  command.add("--proof", "FILE", &arguments.files,
              "proof files to prove instead of the built-in ones");
  command.add("--program", "FILE", &arguments.program,
              "your own program, as text or as a schedule file; --proof then needs no heading");
  command.add("--export", "FOLDER", &arguments.folder,
              "write all questions there as SMT-LIB, one file for each algorithm");
  command.add("--second-solver", "COMMAND", &arguments.second_solver,
              "let this solver answer the exported questions again, such as cvc5");
  command.add(
      "--limit", fmt::format("UNITS={}", arguments.limit), &arguments.limit,
      "the most work a question may take, in Z3's units; a question that needs more is unknown, "
      "on any machine");
  command.add_flag("--verbose", arguments.verbose, "print every obligation");
  command.example("prove hierarchical-factor --verbose");
  command.example("prove --program mine.txt --proof mine.proof",
                  "Exit codes: 0 proven, 1 refuted, 2 bad input, 3 unknown.");
  return command;
}

void add_replay(cli::Command& program, ReplayArguments& arguments) {
  cli::Command command = program.command("replay", "Print what ranks do, step by step.");
  command.require("file", "FILE", &arguments.file, "a schedule file");
  command.require("--ranks", "LIST", &arguments.ranks, "these ranks: 1,3");
  command.add("--group", "NUMBER", &arguments.group, "of group 0 or 1 (default 0)");
  command.add("--steps", "LOW..HIGH", &arguments.steps,
              "the steps from LOW up to, not including, HIGH; either may be left out");
  add_call(command, arguments.call);
  command.example("replay small.qs --ranks 0,1 --steps 0..3");
}

int run(int argc, char** argv) {
  const std::string name = cli::program_name("verifier");
  cli::Command program(name, "Checks and proves communication schedules for MPI collectives.");
  program.footer(
      fmt::format("`{} COMMAND --help` tells more. Exit codes: 0 verified, 1 refuted, 2 bad input, "
                  "3 unknown.",
                  name));
  CheckArguments checking;
  const cli::Command checking_command = add_check(program, checking);
  ProveArguments proving;
  const cli::Command proving_command = add_prove(program, proving);
  ReplayArguments replaying;
  add_replay(program, replaying);

  if (const auto code = program.parse(argc, argv)) return *code;
  if (checking_command.is_named()) return check(checking);
  if (proving_command.is_named()) return prove_command(proving);
  return replay_file(replaying);
}

}  // namespace
}  // namespace quadrille::verifier

int main(int argc, char** argv) {
  return quadrille::cli::run_main("verifier", quadrille::verifier::run, argc, argv);
}
