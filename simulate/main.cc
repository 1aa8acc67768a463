// bazel run //simulate:simulator -- simulate FILE --nodes 512x32 --bytes 4KiB
//
// Exit codes: 0 simulated, 2 bad input, or plans that wait for each other. Tested by tests/cli/simulator_test.sh.
#include <fmt/format.h>
#include <malloc.h>

#include <chrono>

#include "cli/command_line.h"
#include "cli/files.h"
#include "cli/progress.h"
#include "schedule/any_nodes.h"
#include "simulate/bound.h"
#include "simulate/engine.h"
#include "simulate/export.h"
#include "simulate/flags.h"
#include "simulate/path.h"
#include "simulate/script.h"
#include "verifier/call.h"
#include "verifier/decode.h"

namespace quadrille {
namespace {

using cli::bad_input;
using cli::ExitCode;

constexpr const char* kName = "simulate";
constexpr int64_t kMostTraced = 1 << 22;  // messages; more are traced only if the user asks for it

struct Arguments {
  std::string file, trace, goal, element, sizes;
  std::string format = "text";
  std::optional<int64_t> window;
  bool persistent = false;
  MachineArguments machine;
  verifier::CallArguments call;
};

Result<bool> write_exports(const Arguments& arguments, const Scripts& scripts, const Trace& trace) {
  if (!arguments.trace.empty()) {
    const bool is_table = arguments.trace.ends_with(".csv");
    const Result<bool> written = cli::write_file(
        arguments.trace, is_table ? csv_text(scripts, trace) : chrome_text(scripts, trace));
    if (!written.ok()) return Error{"--trace: " + written.error().message};
  }
  if (arguments.goal.empty()) return true;
  const Result<bool> written = cli::write_file(arguments.goal, goal_text(scripts));
  return written.ok() ? written : Error{"--goal: " + written.error().message};
}

constexpr size_t kParts = 10;  // of the time, for the use of ports

// From 0 to 1 in each part of the time. `sum`: of all ports and directions.
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
                  int64_t least, const PortUse& use) {
  fmt::print("time            {}\n", time_text(outcome.time));
  fmt::print("bound           {}: no schedule takes less{}\n", time_text(least),
             least > 0 ? fmt::format("; this one takes {:.3f} times as long",
                                     static_cast<double>(outcome.time) / static_cast<double>(least))
                       : "");
  fmt::print("messages        {}, {} bytes\n", outcome.messages, outcome.bytes);
  if (const PortLoad load = busiest_port(scripts, machine); load.busy > 0) {
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

// The critical path in one line, and its longest messages.
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

// One object. Times are in picoseconds.
void tell_as_json(const Scripts& scripts, const Machine& machine, const Outcome& outcome,
                  int64_t least, const PortUse& use, double planning, double simulating) {
  const PortLoad load = busiest_port(scripts, machine);
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

// The schedule, its call, and the plans of all processes.
struct Planned {
  verifier::ScheduleFile file;
  Call call;
  int64_t element;
  BlockLengths lengths;
  Scripts scripts;
};

// The bytes of a block or a contribution, 0 if --counts gives them, and of an element.
struct Lengths {
  int64_t bytes = 0, element = 1;
};

// Whether --sizes gives all lengths, by itself.
bool gives_lengths(const Arguments& arguments) {
  return !arguments.sizes.empty() && arguments.sizes != "equal";
}

Result<Lengths> read_lengths(const Arguments& arguments, Collective collective) {
  Lengths lengths;
  const bool has_bytes = !arguments.machine.bytes.empty();
  if (gives_lengths(arguments)) {
    if (!has_bytes) return lengths;
    return Error{"--bytes: --sizes gives all lengths; leave it out"};
  }
  if (has_bytes == !arguments.call.counts.empty() && collective != Collective::kBarrier)
    return Error{"give the bytes of each block with --bytes, or those of each rank with --counts"};
  if (!has_bytes && only_ends_know_lengths(collective))
    return Error{
        fmt::format("--counts: of {} only the two ends of a message know its length; give --bytes",
                    in_words(collective))};
  if (has_bytes) {
    const Result<int64_t> given = read_bytes("--bytes", arguments.machine.bytes, 0);
    if (!given.ok()) return given.error();
    lengths.bytes = *given;
  }
  if (arguments.element.empty()) return lengths;
  if (!reduces(collective)) return Error{"--element: only a reduction has elements; leave it out"};
  const Result<int64_t> element = read_bytes("--element", arguments.element, 1);
  if (!element.ok()) return element.error();
  lengths.element = *element;
  if (lengths.bytes % lengths.element != 0)
    return Error{fmt::format("--bytes: {} bytes are not whole elements of {}", lengths.bytes,
                             lengths.element)};
  return lengths;
}

// The bytes of the block from each process to each other one.
Result<BlockLengths> read_matrix(const std::string& path, const Job& job) {
  const Result<std::vector<uint8_t>> text = cli::read_file(path);
  if (!text.ok()) return text.error();
  size_t processes = 0;
  for (const Topology& group : job.groups) processes += static_cast<size_t>(group.ranks());
  Result<BlockLengths> read = BlockLengths::read({text->begin(), text->end()}, processes);
  return read.ok() ? std::move(read) : Error{fmt::format("{}: {}", path, read.error().message)};
}

// The lengths of --sizes. `bytes`: of each block, or the most.
Result<BlockLengths> read_sizes(const Arguments& arguments, const verifier::Schedule& schedule,
                                int64_t bytes, int64_t seed) {
  const Collective collective = schedule.program.collective;
  BlockLengths lengths(bytes);
  if (arguments.sizes.empty()) {
    if (!arguments.persistent) return lengths;
    return Error{
        "--persistent: all ranks know the lengths of this call before it begins; leave it out, or "
        "give "
        "--sizes"};
  }
  if (collective != Collective::kAlltoall && collective != Collective::kGather &&
      collective != Collective::kScatter)
    return Error{fmt::format("--sizes: all ranks know the lengths of {}; leave it out",
                             name_of(collective))};
  if (arguments.sizes != "equal" && collective != Collective::kAlltoall)
    return Error{"--sizes: only the blocks of an all-to-all may differ; give equal"};
  if (gives_lengths(arguments)) {
    Result<BlockLengths> given = arguments.sizes.find(':') != std::string::npos
                                     ? BlockLengths::drawn(arguments.sizes, seed)
                                     : read_matrix(arguments.sizes, schedule.job);
    if (!given.ok()) return Error{"--sizes: " + given.error().message};
    lengths = std::move(given).value();
  }
  lengths.travel = !arguments.persistent;
  return lengths;
}

Result<Planned> plan(const Arguments& arguments, const Machine& machine, const Tell& tell) {
  Result<verifier::ScheduleFile> read = verifier::open_schedule(arguments.file, arguments.call);
  if (!read.ok()) return read.error();
  const verifier::Schedule& schedule = read->schedule;
  if (serves_any_nodes(schedule.job)) return verifier::wants_nodes(arguments.file, schedule);
  const Result<Lengths> lengths = read_lengths(arguments, schedule.program.collective);
  if (!lengths.ok()) return lengths.error();
  Result<BlockLengths> blocks = read_sizes(arguments, schedule, lengths->bytes, machine.seed);
  if (!blocks.ok()) return blocks.error();
  const Result<int> window = verifier::read_window(arguments.window);
  if (!window.ok()) return window.error();
  verifier::CallArguments given = arguments.call;
  given.element = lengths->element;
  Result<Call> call =
      given.counts.empty()
          ? verifier::call_with(
                verifier::equal_counts(schedule.job.groups, lengths->bytes / lengths->element),
                given, schedule)
          : verifier::read_call(given, schedule);
  if (!call.ok()) return call.error();
  const auto in_file = [&](const Error& error) {
    return Error{fmt::format("{}: {}", arguments.file, error.message)};
  };
  constexpr ScriptLimits kLimits;
  Result<std::optional<Scripts>> scripts =
      scripts_of(read->bytes, schedule.program, schedule.job, *call, *blocks,
                 {*window, false, false, lengths->element}, tell, kLimits);
  if (!scripts.ok()) return in_file(scripts.error());
  if (!*scripts)
    return in_file({fmt::format("the call has more than {} messages, too many to simulate",
                                kLimits.messages)});
  return Planned{std::move(read).value(), std::move(call).value(), lengths->element,
                 std::move(blocks).value(), **std::move(scripts)};
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int simulate_file(const Arguments& arguments) {
  const Result<Machine> machine = read_machine(arguments.machine);
  if (!machine.ok()) return bad_input(kName, machine.error().message);
  cli::Progress progress;
  progress.say("planning");
  const auto start = std::chrono::steady_clock::now();
  const Result<Planned> planned = plan(arguments, *machine, [&](int64_t done, int64_t all) {
    if (progress.is_due()) progress.say(fmt::format("planning: {} of {} ranks", done, all));
  });
  if (!planned.ok()) return bad_input(kName, planned.error().message);
  const Scripts& scripts = planned->scripts;
  const double planning = seconds_since(start);
  Trace trace;
  const PortLoad load = busiest_port(scripts, *machine);
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
  const Result<bool> written = write_exports(arguments, scripts, trace);
  if (!written.ok()) return bad_input(kName, written.error().message);
  const verifier::Schedule& schedule = planned->file.schedule;
  const auto least = static_cast<int64_t>(
      planned->lengths.differ() ? least_time(planned->lengths, schedule.job.groups, *machine)
                                : least_time(schedule.program.collective, schedule.job.groups,
                                             planned->call, planned->element, *machine));
  if (arguments.format == "json") {
    tell_as_json(scripts, *machine, *outcome, least, use, planning, simulating);
    return ExitCode::kVerified;
  }
  tell_outcome(scripts, *machine, *outcome, least, use);
  if (traces) tell_path(scripts, critical_path(scripts, *machine, *outcome, trace));
  fmt::print("simulated       {} events; {:.2f} s for plans, {:.2f} s for events\n",
             outcome->events, planning, simulating);
  return ExitCode::kVerified;
}

int run(int argc, char** argv) {
  cli::Command program(cli::program_name("simulator"),
                       "Simulate calls of schedules on a model of a machine.");
  cli::Command command = program.command(
      kName, "Say how long a call of a schedule takes on a machine, and what it waits for.");
  Arguments arguments;
  command.require("file", "FILE", &arguments.file, "a schedule file");
  verifier::add_call(command, arguments.call);
  command.add("--window", "NUMBER", &arguments.window,
              "how many steps may be in flight (default: what the program says, or 16)");
  command.add("--element", "SIZE", &arguments.element,
              "of a reduction: the bytes of an element, of which --counts are so many (default 1)");
  command.add(
      "--sizes", "equal|DISTRIBUTION|FILE", &arguments.sizes,
      "of a call like MPI_Alltoallv, in which only the two ends of a message know how long "
      "blocks are. Each has --bytes; or a length of uniform:MOST, normal:MEAN:DEVIATION or "
      "power:EXPONENT:MOST, by --seed; or FILE has a line for each sender, with the bytes for "
      "each receiver");
  command.add_flag("--persistent", arguments.persistent,
                   "a persistent call, which has exchanged the lengths of --sizes when it starts");
  command.add(
      "--trace", "FILE", &arguments.trace,
      "write what happened: a .csv file has a line for each message, any other file is JSON "
      "for Perfetto");
  command.add("--goal", "FILE", &arguments.goal, "write the schedule in GOAL, for LogGOPSim");
  command.add_choice("--format", {"text", "json"}, arguments.format, "what is printed");
  add_machine(command, arguments.machine, "");
  add_simulation(command, arguments.machine);
  command.example("simulate any.qs --nodes 512x32 --bytes 4KiB --trace out.json",
                  "Times are the same on every run. The flags of the machine are those that "
                  "`calibrate` prints.");
  if (const auto code = program.parse(argc, argv)) return *code;
  return simulate_file(arguments);
}

}  // namespace
}  // namespace quadrille

int main(int argc, char** argv) {
  // Plans of many ranks come and go. The system would take the memory of each back, and clear it again.
  mallopt(M_MMAP_THRESHOLD, 1 << 25);
  mallopt(M_TRIM_THRESHOLD, 1 << 28);
  mallopt(M_TOP_PAD, 1 << 24);
  return quadrille::cli::run_main("simulator", quadrille::run, argc, argv);
}
