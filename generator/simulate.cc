// Tested by tests/cli/simulate_test.sh.
#include "generator/simulate.h"

#include <fmt/format.h>
#include <malloc.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <utility>

#include "cli/command_line.h"
#include "cli/files.h"
#include "cli/progress.h"
#include "generator/encode.h"
#include "generator/text_program.h"
#include "schedule/any_nodes.h"
#include "simulate/bound.h"
#include "simulate/engine.h"
#include "simulate/export.h"
#include "simulate/path.h"
#include "simulate/script.h"
#include "verifier/decode.h"

namespace quadrille {
namespace {

using cli::bad_input;
using cli::ExitCode;

constexpr const char* kName = "simulate";
constexpr int64_t kMostTraced = 1 << 22;  // messages; more are traced only if the user asks for it

// Writes the files of --trace and --goal, or none of them.
Result<bool> write_exports(const SimulateArguments& arguments, const Scripts& scripts,
                           const Trace& trace) {
  std::vector<cli::Output> files;
  const bool is_table = arguments.trace.ends_with(".csv");
  if (!arguments.trace.empty())
    files.push_back({"--trace", arguments.trace,
                     is_table ? csv_text(scripts, trace) : chrome_text(scripts, trace)});
  if (!arguments.goal.empty()) files.push_back({"--goal", arguments.goal, goal_text(scripts)});
  return cli::write_files(files);
}

// Returns why an output file must not be written, or an empty string.
std::string refuse_outputs(const SimulateArguments& a) {
  for (const auto& [flag, path] : {std::pair("--trace", a.trace), std::pair("--goal", a.goal)})
    for (const std::string& input :
         {a.file, a.own.program, a.own.then, a.machine.machine, a.lengths.sizes})
      if (cli::same_file(input, path)) return cli::same_file_text(flag, path);
  std::error_code none;
  const auto full = [&](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(cli::user_path(path)), none);
  };
  if (a.trace.empty() || a.goal.empty() || full(a.trace) != full(a.goal)) return "";
  return fmt::format("--goal: {}: is the file of --trace, too; name another", a.goal);
}

constexpr size_t kParts = 10;  // of the time; the use of ports is shown for each

// Returns the mean use of all ports and directions in each part of the time, from 0 to 1.
std::vector<double> mean_use(const Scripts& scripts, const Machine& machine, const PortUse& use,
                             int64_t time) {
  const size_t ports =
      machine.port == PortScope::kNode ? static_cast<size_t>(scripts.nodes) : scripts.all.size();
  std::vector<double> parts = use.all.parts(time, kParts);
  for (double& part : parts) part /= static_cast<double>(machine.exclusive ? ports : 2 * ports);
  return parts;
}

std::string in_percent(const std::vector<double>& parts) {
  std::string text;
  for (const double part : parts)
    text += fmt::format("{}{:.0f}", text.empty() ? "" : " ", 100 * part);
  return text;
}

void tell_outcome(const Scripts& scripts, const Machine& machine, const Outcome& outcome,
                  int64_t least, const PortLoad& load, const PortUse& use) {
  fmt::print("time            {}\n", time_text(outcome.time));
  fmt::print("bound           {}: no schedule takes less{}\n", time_text(least),
             least > 0 ? fmt::format("; this one takes {:.3f} times as long",
                                     static_cast<double>(outcome.time) / static_cast<double>(least))
                       : "");
  fmt::print("messages        {}, {} bytes\n", outcome.messages, outcome.bytes);
  if (load.busy > 0) {
    fmt::print("busiest port    of {} {}, when it {}: {:.1f} % of the time\n",
               machine.port == PortScope::kNode ? "node" : "rank", load.port,
               machine.exclusive ? "sends or receives"
               : load.receives   ? "receives"
                                 : "sends",
               100.0 * static_cast<double>(load.busy) /
                   static_cast<double>(std::max<int64_t>(1, outcome.time * machine.ports)));
    fmt::print("over time       {} % in tenths of the time; all ports on average {} %\n",
               in_percent(use.busiest.parts(outcome.time, kParts)),
               in_percent(mean_use(scripts, machine, use, outcome.time)));
  }
}

// Prints the critical path in one line, and its first messages.
void tell_path(const Scripts& scripts, const std::vector<Leg>& path) {
  int64_t on_way = 0, count = 0;
  for (const Leg& leg : path)
    if (leg.is_message) ++count, on_way += leg.end - leg.begin;
  const int64_t all = path.empty() ? 0 : path.back().end;
  fmt::print("critical path   {} message{} one after another for {}, and {} between them\n", count,
             count == 1 ? "" : "s", time_text(on_way), time_text(all - on_way));
  constexpr size_t kShown = 6;
  size_t shown = 0;
  for (const Leg& leg : path) {
    if (!leg.is_message) continue;
    if (shown == kShown) {
      fmt::print("  ...\n");
      break;
    }
    ++shown;
    const Post& send = scripts.all[leg.process].sends[leg.index];
    fmt::print("  {:>10} to {:>10}  rank {} to {}, {} bytes\n", time_text(leg.begin),
               time_text(leg.end), leg.process, send.peer, send.bytes);
  }
}

// Prints one JSON object. Times are in picoseconds.
void tell_as_json(const Scripts& scripts, const Machine& machine, const Outcome& outcome,
                  int64_t least, const PortLoad& load, const PortUse& use, double planning,
                  double simulating) {
  fmt::print(
      R"({{"schema": 1, "time_ps": {}, "bound_ps": {}, "messages": {}, "bytes": {}, "events": {}, )"
      R"("busiest_port": {{"of": "{}", "number": {}, "busy_ps": {}, "use": [{:.4f}]}}, "mean_use": [{:.4f}], )"
      R"("seconds": {{"plans": {:.3f}, "events": {:.3f}}}}})"
      "\n",
      outcome.time, least, outcome.messages, outcome.bytes, outcome.events,
      machine.port == PortScope::kNode ? "node" : "rank", load.port, load.busy,
      fmt::join(use.busiest.parts(outcome.time, kParts), ", "),
      fmt::join(mean_use(scripts, machine, use, outcome.time), ", "), planning, simulating);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Reads the schedule file, or makes the schedule of --program for the call's nodes. That one gets its parameters from the
// call.
Result<verifier::ScheduleFile> read_schedule(SimulateArguments& arguments) {
  verifier::CallArguments& call = arguments.lengths.call;
  GenerateArguments own = arguments.own;
  if (own.program.empty()) {
    if (const std::optional<Error> wrong = refuse_without_program(own)) return *wrong;
    if (arguments.file.empty()) return Error{"give a schedule file, or a program with --program"};
    Result<verifier::ScheduleFile> file = verifier::open_schedule(arguments.file, call);
    if (file.ok() && serves_any_nodes(file->schedule.job))
      return verifier::wants_nodes(arguments.file, file->schedule);
    return file;
  }
  if (!arguments.file.empty())
    return Error{"--program: give a schedule file or a program, not both"};
  if (call.nodes.empty() || call.nodes == "any")
    return Error{"--nodes: give the nodes to simulate, such as 4x8"};
  arguments.file = own.program;
  own.nodes = call.nodes;
  own.remote_nodes = call.remote_nodes;
  own.parameters = std::exchange(call.parameters, {});
  const Result<TextSchedule> text = read_text_schedule(own);
  if (!text.ok()) return text.error();
  std::vector<uint8_t> bytes = encode(text->program, text->job);
  Result<verifier::Schedule> schedule = verifier::decode(bytes, own.program);
  if (!schedule.ok()) return schedule.error();
  return verifier::ScheduleFile{std::move(bytes), std::move(schedule).value()};
}

}  // namespace

int simulate_call(SimulateArguments arguments) {
  // Keeps the memory of one rank's plans for the next. Else the system would take it back and clear it each time.
  mallopt(M_MMAP_THRESHOLD, 1 << 25);
  mallopt(M_TRIM_THRESHOLD, 1 << 28);
  mallopt(M_TOP_PAD, 1 << 24);
  if (const std::string wrong = refuse_outputs(arguments); !wrong.empty())
    return bad_input(kName, wrong);
  const Result<Machine> machine = read_machine(arguments.machine);
  if (!machine.ok()) return bad_input(kName, machine.error().message);
  const Result<verifier::ScheduleFile> file = read_schedule(arguments);
  if (!file.ok()) return bad_input(kName, file.error().message);
  const verifier::Schedule& schedule = file->schedule;
  cli::Progress progress;
  progress.say("planning");
  const auto start = std::chrono::steady_clock::now();
  const Result<Planned> planned =
      plan(arguments.file, file->bytes, schedule, arguments.lengths, arguments.machine.bytes,
           machine->seed, [&](int64_t done, int64_t all) {
             if (progress.is_due())
               progress.say(fmt::format("planning: {} of {} ranks", done, all));
           });
  if (!planned.ok()) return bad_input(kName, planned.error().message);
  const Scripts& scripts = planned->scripts;
  const double planning = seconds_since(start);
  Trace trace;
  PortLoad load = busiest_port(scripts, *machine);
  PortUse use{load.port, load.receives, machine->exclusive, {}, {}};
  const bool traces = messages(scripts) <= kMostTraced || !arguments.trace.empty();
  const Result<Outcome> outcome = simulate(
      scripts, *machine,
      [&](int64_t arrived, int64_t all) {
        progress.say(fmt::format("{} of {} messages", arrived, all));
      },
      traces ? &trace : nullptr, &use);
  if (!outcome.ok())
    return bad_input(kName, fmt::format("{}: {}", arguments.file, outcome.error().message));
  const double simulating = seconds_since(start) - planning;
  if (machine->beta_congestion_ps > 0)  // it keeps ports busy for longer
    load.busy = std::llround(use.busiest.parts(outcome->time, 1)[0] *
                             static_cast<double>(outcome->time * machine->ports));
  const Result<bool> written = write_exports(arguments, scripts, trace);
  if (!written.ok()) return bad_input(kName, written.error().message);
  const auto least = static_cast<int64_t>(
      planned->lengths.differ() ? least_time(planned->lengths, schedule.job.groups, *machine)
                                : least_time(schedule.program.collective, schedule.job.groups,
                                             planned->call, planned->element, *machine));
  if (arguments.format == "json") {
    tell_as_json(scripts, *machine, *outcome, least, load, use, planning, simulating);
    return ExitCode::kVerified;
  }
  tell_outcome(scripts, *machine, *outcome, least, load, use);
  if (traces) tell_path(scripts, critical_path(scripts, *machine, *outcome, trace));
  fmt::print("simulated       {} events; {:.2f} s for plans, {:.2f} s for events\n",
             outcome->events, planning, simulating);
  return ExitCode::kVerified;
}

cli::Command add_simulate(cli::Command& program, SimulateArguments& arguments) {
  cli::Command command = program.command(
      kName, "Say how long a call of a schedule takes on a machine, and what it waits for.");
  command.add("file", "FILE", &arguments.file, "a schedule file; or give --program");
  add_text(command, arguments.own,
           "your own program in place of a file: a text as `show` prints it");
  verifier::add_call(command, arguments.lengths.call);
  command.add("--window", "NUMBER", &arguments.lengths.window,
              "how many steps may be in flight (default: what the program says, or 16)");
  command.add("--element", "SIZE", &arguments.lengths.element,
              "of a reduction: the bytes of an element, of which --counts are so many (default 1)");
  command.add("--sizes", "equal|DISTRIBUTION|FILE", &arguments.lengths.sizes,
              "of a call like MPI_Alltoallv, in which only the two ends of a message know how long "
              "blocks are. equal: each has --bytes. DISTRIBUTION: uniform:MOST, "
              "normal:MEAN:DEVIATION or power:EXPONENT:MOST, by --seed. FILE: a line for each "
              "sender has the bytes for each receiver");
  command.add_flag("--persistent", arguments.lengths.persistent,
                   "a persistent call, which has exchanged the lengths of --sizes when it starts");
  command.add("--trace", "FILE", &arguments.trace,
              "write what happened: a .csv file has a line for each message, any other file is "
              "JSON for Perfetto");
  command.add("--goal", "FILE", &arguments.goal, "write the schedule in GOAL, for LogGOPSim");
  command.add_choice("--format", {"text", "json"}, arguments.format, "what is printed");
  add_machine(command, arguments.machine, "");
  add_simulation(command, arguments.machine);
  command.example("simulate any.qs --nodes 512x32 --bytes 4KiB --trace out.json",
                  "Times are the same on every run. The flags of the machine are those that "
                  "`calibrate` prints.");
  return command;
}

}  // namespace quadrille
