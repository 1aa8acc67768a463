// bazel run //trace -- trace FOLDER FILE.qs ...
//
// Exit codes: 0 the run followed the plans, 1 it did not, 2 bad input. Tested by tests/trace.
#include <fmt/format.h>

#include <algorithm>

#include "cli/command_line.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "simulate/export.h"
#include "simulate/flags.h"
#include "trace/check.h"
#include "trace/run.h"
#include "view/page.h"

namespace quadrille::trace {
namespace {

using cli::bad_input;
using cli::ExitCode;

constexpr const char* kName = "trace";
constexpr size_t kMostShown = 20;

struct Arguments {
  std::string folder, out;
  MachineArguments machine;  // of the simulation beside the run
  std::vector<std::string> files;
  std::string format = "text";
  std::optional<int64_t> call;
};

// One line about a call.
struct Row {
  size_t call = 0;                            // its index in the run
  int64_t time = 0, messages = 0, bytes = 0;  // time in picoseconds
  size_t slowest = 0;                         // the process that ends last
  size_t waiter = 0;                          // the process with the longest wait
  Wait longest;
  int32_t awaited = -1;  // the other end of that message; -1: nobody waits
  bool receives = false;
  std::string difference;  // from the plan; empty: there is none
};

double microseconds(int64_t picoseconds) { return static_cast<double>(picoseconds) / 1e6; }

Row row_of(size_t call, const Measured& measured) {
  Row row;
  row.call = call;
  row.time = measured.outcome.time;
  row.messages = measured.outcome.messages;
  row.bytes = measured.outcome.bytes;
  const std::vector<int64_t>& ends = measured.outcome.ends;
  row.slowest = static_cast<size_t>(std::ranges::max_element(ends) - ends.begin());
  for (size_t i = 0; i < measured.trace.waits.size(); ++i)
    for (const Wait& wait : measured.trace.waits[i]) {
      if (row.awaited >= 0 && wait.end - wait.begin <= row.longest.end - row.longest.begin)
        continue;
      row.longest = wait;
      row.waiter = i;
      row.receives = wait.of.process != static_cast<int32_t>(i);
      row.awaited =
          row.receives ? wait.of.process : measured.scripts.all[i].sends[wait.of.index].peer;
    }
  return row;
}

std::string wait_text(const Row& row) {
  if (row.awaited < 0) return "none";
  return fmt::format("{:.1f} us, rank {} for {} rank {}",
                     microseconds(row.longest.end - row.longest.begin), row.waiter,
                     row.receives ? "a message of" : "its send to", row.awaited);
}

// Checks all calls.
Result<std::vector<Row>> check_all(const TracedRun& run, Checker& checker,
                                   cli::Progress& progress) {
  std::vector<Row> rows;
  for (size_t i = 0; i < run.calls.size(); ++i) {
    if (progress.is_due())
      progress.say(fmt::format("checking call {} of {}", i + 1, run.calls.size()));
    const TracedCall& call = run.calls[i];
    Row row;
    row.call = i;
    row.time = (call.ended - call.begun) * 1000;
    if (call.has_failed) {
      row.difference = "the call returned an error";
      rows.push_back(row);
      continue;
    }
    const auto planned = checker.plan(call);
    if (!planned.ok()) return planned.error();
    if (auto difference = Checker::difference(call, **planned))
      row.difference = *difference;
    else
      row = row_of(i, Checker::measure(call, **planned));
    rows.push_back(row);
  }
  return rows;
}

std::string row_text(const Row& row) {
  if (!row.difference.empty())
    return fmt::format("  {:>6} {:>12.1f}  {}\n", row.call + 1, microseconds(row.time),
                       row.difference);
  return fmt::format("  {:>6} {:>12.1f} {:>9} {:>12} {:>8}  {}\n", row.call + 1,
                     microseconds(row.time), row.messages, row.bytes, row.slowest, wait_text(row));
}

std::string text_of(const Arguments& arguments, const TracedRun& run,
                    const std::vector<Row>& rows) {
  size_t different = 0;
  std::string text;
  for (const Row& row : rows) different += !row.difference.empty();
  text +=
      fmt::format("{}: {} processes, {} call{}; {}\n", arguments.folder, run.files.size(),
                  rows.size(), rows.size() == 1 ? "" : "s",
                  different == 0   ? "all of them follow their plans"
                  : different == 1 ? "1 of them differs from its plan"
                                   : fmt::format("{} of them differ from their plans", different));
  if (run.is_full)
    text += "some trace was full before the last calls of the run, which are not shown\n";
  for (size_t bound = 0; bound < run.bound.size(); ++bound) {
    size_t shown = 0, all = 0;
    int64_t time = 0;
    std::string lines;
    for (const Row& row : rows) {
      if (run.calls[row.call].bound != bound) continue;
      ++all;
      time += row.time;
      if (!row.difference.empty() || shown++ < kMostShown) lines += row_text(row);
    }
    if (all == 0) continue;
    text += fmt::format(
        "\n{} on {} ranks: {} call{} of {:.1f} us on average\n"
        "    call      time/us  messages        bytes  slowest  longest wait\n{}",
        run.bound[bound].name(), run.bound[bound].ranks.size(), all, all == 1 ? "" : "s",
        microseconds(time) / static_cast<double>(all), lines);
    if (shown > kMostShown)
      text += fmt::format("     ...  {} more: --format json lists all\n", shown - kMostShown);
  }
  return text;
}

std::string json_of(const TracedRun& run, const std::vector<Row>& rows) {
  std::string text =
      fmt::format(R"({{"schema": 1, "processes": {}, "is_full": {}, "dropped": {}, "calls": [)",
                  run.files.size(), run.is_full, run.dropped);
  for (const Row& row : rows) {
    const TracedCall& call = run.calls[row.call];
    const Bound& bound = run.bound[call.bound];
    text += fmt::format(
        R"({}{{"call": {}, "collective": {}, "algorithm": {}, "hash": "{}", "ranks": {}, "request": {}, )"
        R"("begun_ns": {}, "time_ns": {}, "messages": {}, "bytes": {}, "slowest_rank": {}, )"
        R"("longest_wait_ns": {}, "difference": {}}})",
        row.call == 0 ? "\n" : ",\n", row.call + 1, cli::Json(bound.collective).text(),
        cli::Json(bound.algorithm).text(), bound.hash, bound.ranks.size(), bound.request,
        call.begun, row.time / 1000, row.messages, row.bytes, row.slowest,
        (row.longest.end - row.longest.begin) / 1000, cli::Json(row.difference).text());
  }
  return text + "]}\n";
}

// Returns what each process did in a call. The last to end comes first.
std::string call_text(const TracedRun& run, const Row& row, const Measured& measured) {
  std::string text = fmt::format(
      "call {}: {}; it follows its plan\n"
      "time            {:.1f} us\n"
      "messages        {}, {} bytes\n"
      "longest wait    {}\n"
      "  rank  of the communicator     begun/us     ended/us   waiting/us      busy/us\n",
      row.call + 1, run.bound[run.calls[row.call].bound].name(), microseconds(row.time),
      row.messages, row.bytes, wait_text(row));
  std::vector<size_t> order(measured.real.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return measured.outcome.ends[a] > measured.outcome.ends[b];
  });
  for (size_t n = 0; n < order.size(); ++n) {
    if (n == kMostShown) return text + fmt::format("  ...   {} more\n", order.size() - n);
    const size_t i = order[n];
    int64_t waiting = 0, busy = 0;
    for (const Wait& wait : measured.trace.waits[i]) waiting += wait.end - wait.begin;
    for (const Busy& work : measured.trace.busy[i]) busy += work.end - work.begin;
    text += fmt::format("  {:>4}  {:>19} {:>12.1f} {:>12.1f} {:>12.1f} {:>12.1f}\n", i,
                        measured.real[i], microseconds(measured.begins[i]),
                        microseconds(measured.outcome.ends[i]), microseconds(waiting),
                        microseconds(busy));
  }
  return text;
}

// Returns the page of a call, with a simulation of the same plans beside it.
Result<std::string> page_of(const Arguments& arguments, const Row& row, const Planned& planned,
                            const Measured& measured) {
  const Result<Machine> machine = read_machine(arguments.machine);
  if (!machine.ok()) return machine.error();
  Trace trace;
  const Result<Outcome> outcome = simulate(measured.scripts, *machine, {}, &trace);
  if (!outcome.ok()) return outcome.error();
  Page page;
  page.program = &planned.file->schedule.program;
  page.job = &planned.job;
  page.call = &planned.call;
  page.time = fmt::format("took {:.1f} us", microseconds(row.time));
  page.facts = {fmt::format("Call {} of a run took {:.1f} us for {} messages with {} bytes.",
                            row.call + 1, microseconds(row.time), row.messages, row.bytes),
                fmt::format("In the simulation it takes {:.1f} us.", microseconds(outcome->time))};
  page.runs = {{"Measured", &measured.scripts, &measured.trace, &measured.outcome, &*machine},
               {"Simulated", &measured.scripts, &trace, &*outcome, &*machine}};
  return page_html(page);
}

// A call in the format that the user wants, or how the call differs from its plan.
struct Shown {
  std::string text;
  bool differs = false;
};

Result<Shown> show_call(const Arguments& arguments, const TracedRun& run, Checker& checker,
                        size_t index) {
  const TracedCall& call = run.calls[index];
  if (call.has_failed)
    return Error{fmt::format("call {} returned an error, so there is nothing to show", index + 1)};
  const auto planned = checker.plan(call);
  if (!planned.ok()) return planned.error();
  if (const auto difference = Checker::difference(call, **planned))
    return Shown{fmt::format("call {} differs from its plan: {}", index + 1, *difference), true};
  const Measured measured = Checker::measure(call, **planned);
  if (arguments.format == "csv") return Shown{csv_text(measured.scripts, measured.trace)};
  if (arguments.format == "chrome") return Shown{chrome_text(measured.scripts, measured.trace)};
  if (arguments.format == "text") return Shown{call_text(run, row_of(index, measured), measured)};
  const Result<std::string> page = page_of(arguments, row_of(index, measured), **planned, measured);
  if (!page.ok()) return page.error();
  return Shown{*page};
}

Result<std::vector<verifier::ScheduleFile>> open_all(const std::vector<std::string>& paths) {
  std::vector<verifier::ScheduleFile> all;
  for (const std::string& path : paths) {
    Result<verifier::ScheduleFile> file = verifier::open_schedule(path, {});
    if (!file.ok()) return file.error();
    all.push_back(std::move(file).value());
  }
  return all;
}

int show(const Arguments& arguments) {
  if (arguments.format != "html" && !arguments.machine.machine.empty())
    return bad_input(kName, "--machine: only --format html simulates; leave it out");
  cli::Progress progress;
  const Result<std::vector<verifier::ScheduleFile>> schedules = open_all(arguments.files);
  if (!schedules.ok()) return bad_input(kName, schedules.error().message);
  const Result<TracedRun> run =
      read_run(arguments.folder, [&](const std::string& what) { progress.say(what); });
  if (!run.ok()) return bad_input(kName, run.error().message);
  const auto calls = static_cast<int64_t>(run->calls.size());
  const bool has_all = arguments.format == "text" || arguments.format == "json";
  if (calls == 0 && (arguments.call || !has_all))
    return bad_input(kName, arguments.folder + ": the run made no call by a schedule");
  if (arguments.call && (*arguments.call < 1 || *arguments.call > calls))
    return bad_input(kName,
                     fmt::format("--call: {} is not a call from 1 to {}", *arguments.call, calls));
  Checker checker(*run, *schedules);
  if (!arguments.call && !has_all && calls != 1)
    return bad_input(kName, fmt::format("--format {} shows one call; say which with --call, from 1 "
                                        "to {}",
                                        arguments.format, calls));
  if (arguments.call && arguments.format == "json")
    return bad_input(kName, "--call: --format json lists all calls; leave one of them out");
  if (arguments.call || !has_all) {
    const Result<Shown> shown =
        show_call(arguments, *run, checker, static_cast<size_t>(arguments.call.value_or(1)) - 1);
    if (!shown.ok()) return bad_input(kName, shown.error().message);
    if (!shown->differs) return cli::print_or_write(kName, arguments.out, shown->text);
    fmt::print(stderr, "{}: {}\n", kName, shown->text);
    return ExitCode::kRefuted;
  }
  const Result<std::vector<Row>> rows = check_all(*run, checker, progress);
  if (!rows.ok()) return bad_input(kName, rows.error().message);
  const int code = cli::print_or_write(
      kName, arguments.out,
      arguments.format == "json" ? json_of(*run, *rows) : text_of(arguments, *run, *rows));
  const bool agree =
      std::ranges::all_of(*rows, [](const Row& row) { return row.difference.empty(); });
  return code != ExitCode::kVerified || agree ? code : ExitCode::kRefuted;
}

int run(int argc, char** argv) {
  cli::Command program(cli::program_name("trace"), "Show and check traces of real runs.");
  cli::Command command = program.command(
      kName, "Show what the ranks of a traced run did, and check it against the schedule's plans.");
  Arguments arguments;
  command.require("folder", "FOLDER", &arguments.folder,
                  "the folder that QUADRILLE_TRACE named, with the files of all ranks");
  command.require("files", "FILE...", &arguments.files, "the schedules that the run loaded");
  command.add("--call", "NUMBER", &arguments.call,
              "show this call alone, by its number in the summary");
  command.add_choice("--format", {"text", "json", "csv", "chrome", "html"}, arguments.format,
                     "text: a summary; json: all calls. Of one call, csv: a line for each message; "
                     "chrome: JSON for Perfetto; html: a page with a simulation beside it");
  command.add("--machine", "NAME|FILE", &arguments.machine.machine,
              fmt::format("for html: the machine of the simulation, one of {}, or a JSON file",
                          machine_names()));
  command.add("--out", "FILE", &arguments.out, "write to this file instead of the terminal");
  command.example("trace traces alltoall.qs --call 3 --format chrome --out call.json",
                  "Ranks are those of the schedule. Exit code 1: a call differs from its plan.");
  if (const auto code = program.parse(argc, argv)) return *code;
  return show(arguments);
}

}  // namespace
}  // namespace quadrille::trace

int main(int argc, char** argv) {
  return quadrille::cli::run_main("trace", quadrille::trace::run, argc, argv);
}
