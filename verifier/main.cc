// bazel run //verifier -- check | prove | replay
//
// Exit codes: 0 verified or proven, 1 refuted, 2 bad input, 3 unknown. Tested by tests/cli/verifier_test.sh.
#include <fmt/format.h>

#include "cli/command_line.h"
#include "cli/files.h"
#include "cli/numbers.h"
#include "schedule/any_nodes.h"
#include "verifier/call.h"
#include "verifier/command.h"
#include "verifier/decode.h"
#include "verifier/replay.h"

namespace quadrille::verifier {
namespace {

using cli::bad_input;

// ---- replay

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
  for (const int64_t rank : *ranks)
    if (rank < 0 || rank >= binding->place.ranks)
      return bad_input(
          "replay", fmt::format("--ranks: there is no rank {} of {}", rank, binding->place.ranks));
  for (const int64_t rank : *ranks) {
    fmt::print("rank {}\n", rank);
    for (const std::string& line :
         replay(schedule.program, *binding, rank, steps->low.value_or(INT64_MIN), steps->high))
      fmt::print("  {}\n", line);
  }
  return 0;
}

void add_replay(cli::Command& program, ReplayArguments& arguments) {
  cli::Command command = program.command("replay", "Print what ranks do, step by step.");
  command.require("file", "FILE", &arguments.file, "a schedule file");
  command.require("--ranks", "LIST", &arguments.ranks, "these ranks: 1,3");
  command.add("--group", "NUMBER", &arguments.group, "of group 0 or 1 (default 0)");
  command.add("--steps", "LOW..HIGH", &arguments.steps,
              "the steps from LOW up to, not including, HIGH; either may be left out");
  add_call(command, arguments.call);
  command.footer("Exit codes: 0 done, 2 bad input.");
  command.example("replay small.qs --ranks 0,1 --steps 0..3");
}

int run(int argc, char** argv) {
  const std::string name = cli::program_name("verifier");
  cli::Command program(name, "Checks and proves communication schedules for MPI collectives.");
  program.footer(fmt::format(
      "`{} COMMAND --help` tells more. Exit codes: 0 verified or proven, 1 refuted, 2 bad input, "
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
  if (proving_command.is_named()) return prove(proving);
  return replay_file(replaying);
}

}  // namespace
}  // namespace quadrille::verifier

int main(int argc, char** argv) {
  return quadrille::cli::run_main("verifier", quadrille::verifier::run, argc, argv);
}
