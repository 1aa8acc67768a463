// Reads a schedule file, and prints or draws what --format asks for. Tested by tests/cli/show_test.sh.
#include "generator/show.h"

#include <fmt/format.h>

#include "cli/files.h"
#include "cli/numbers.h"
#include "generator/choose.h"
#include "generator/command.h"
#include "schedule/any_nodes.h"
#include "schedule/text.h"
#include "verifier/decode.h"
#include "verifier/plans.h"
#include "view/figure.h"

namespace quadrille {
namespace {

using cli::bad_input;

// Describes the job in comments, because the text of the program does not contain it.
std::string job_comment(const verifier::Schedule& schedule) {
  std::string text = schedule.any_nodes ? "-- any nodes\n" : "";
  if (schedule.job.most_ranks > 0)
    text += fmt::format("-- up to {}\n", ranks_text(schedule.job.most_ranks));
  for (const Topology& topology : schedule.job.groups)
    text += fmt::format("-- {}nodes {} ({})\n", schedule.any_nodes ? "here " : "", topology.text(),
                        ranks_text(topology.ranks()));
  for (size_t i = 0; i < schedule.job.parameters.size(); ++i)
    text += fmt::format("-- {}\n", parameter_text(schedule.program, schedule.job, i));
  if (!schedule.certificate.empty())
    text += fmt::format("-- this program is {}\n", schedule.certificate);
  return text +
         fmt::format("-- format {}.{}, hash {}\n", schedule.major, schedule.minor, schedule.hash);
}

// Returns counts for a picture. If all ranks have one count, it gives each a segment; otherwise each count is 1.
std::vector<std::vector<int64_t>> usual_counts(const verifier::Schedule& schedule) {
  int64_t count = 0;
  for (const Topology& topology : schedule.job.groups) count += topology.ranks();
  std::vector<std::vector<int64_t>> counts = plain_call(schedule.program, schedule.job).counts;
  if (has_one_count(schedule.program.collective))
    for (std::vector<int64_t>& of_group : counts) of_group.assign(of_group.size(), count);
  return counts;
}

// Draws the call.
Result<Figure> figure_of(const verifier::Schedule& schedule, const ShowArguments& arguments) {
  const Result<cli::StepRange> steps = cli::read_steps(arguments.steps);
  if (!steps.ok()) return steps.error();
  Result<Call> call = verifier::read_call(arguments.lengths.call, schedule);
  if (!call.ok()) return call.error();
  const bool made_up = uses_counts(schedule.program) && call->counts.empty();
  if (made_up) {
    call = verifier::call_with(usual_counts(schedule), arguments.lengths.call, schedule);
    if (!call.ok()) return call.error();
  }
  Result<Figure> figure = draw(schedule.program, schedule.job, *call, steps->low, steps->high);
  if (!figure.ok()) return Error{fmt::format("{}: {}", arguments.file, figure.error().message)};
  if (figure->rows.empty() && !arguments.steps.empty())
    return Error{fmt::format("{}: no steps there", arguments.file)};
  constexpr size_t kLongest = 80;
  const std::string text = verifier::call_text(schedule.program, *call, kLongest);
  if (!text.empty())
    figure->title += fmt::format(", {}{}", text, made_up ? " (--counts gives others)" : "");
  return figure;
}

// Prints the plan that the library makes for one rank.
Result<std::string> plan_text(const verifier::ScheduleFile& file, const ShowArguments& arguments) {
  const verifier::Schedule& schedule = file.schedule;
  const int64_t group = arguments.group.value_or(0), rank = arguments.rank.value_or(0);
  const auto groups = static_cast<int64_t>(schedule.job.groups.size());
  if (group < 0 || group >= groups)
    return Error{fmt::format("--group: the schedule has no group {}", group)};
  const int64_t ranks = schedule.job.groups[static_cast<size_t>(group)].ranks();
  if (rank < 0 || rank >= ranks)
    return Error{fmt::format("--rank: there is no rank {} of {}", rank, ranks)};
  const Result<int> window = verifier::read_window(arguments.lengths.window);
  if (!window.ok()) return window.error();
  Result<Call> call = verifier::read_call(arguments.lengths.call, schedule);
  if (!call.ok()) return call.error();
  const Result<verifier::Plans> plans =
      verifier::Plans::make(file.bytes, schedule.program, schedule.job, *call);
  if (!plans.ok()) return Error{fmt::format("{}: {}", arguments.file, plans.error().message)};
  if (arguments.in_place && !plans->has_in_place())
    return Error{"--in-place: the schedule has no plan of its own for calls in place"};
  Result<std::string> text = plans->print(group, rank, {*window, arguments.in_place, true});
  if (!text.ok()) return Error{fmt::format("{}: {}", arguments.file, text.error().message)};
  return text;
}

// Returns a flag that was given and that only plans use, or null.
const char* flag_of_a_plan(const ShowArguments& arguments) {
  if (arguments.rank) return "--rank";
  if (arguments.group) return "--group";
  if (arguments.lengths.window && arguments.format != "html") return "--window";
  return arguments.in_place ? "--in-place" : nullptr;
}

// Returns a flag that was given and that only calls use, or null.
const char* flag_of_a_call(const ShowArguments& arguments) {
  if (!arguments.steps.empty()) return "--steps";
  if (!arguments.lengths.call.counts.empty()) return "--counts";
  if (!arguments.lengths.call.parameters.empty()) return "--parameter";
  return arguments.lengths.call.root ? "--root" : nullptr;
}

Result<std::string> show_text(const ShowArguments& arguments) {
  const Result<verifier::ScheduleFile> read =
      verifier::open_schedule(arguments.file, arguments.lengths.call);
  if (!read.ok()) return read.error();
  const verifier::Schedule& schedule = read->schedule;
  const bool is_text = arguments.format == "text" && !arguments.explain;
  if (serves_any_nodes(schedule.job) && !is_text)
    return verifier::wants_nodes(arguments.file, schedule);
  const char* const plans_flag = flag_of_a_plan(arguments);
  if (plans_flag && (arguments.format != "plan" || arguments.explain))
    return Error{fmt::format("{}: it is for --format plan{}", plans_flag,
                             plans_flag == std::string_view("--window") ? " and html" : "")};
  if (arguments.explain) {
    const char* const other = !arguments.steps.empty()     ? "--steps"
                              : arguments.format != "text" ? "--format"
                              : !arguments.curves.empty()  ? "--curves"
                                                           : nullptr;
    if (other)
      return Error{fmt::format("{}: --explain prints a table of times; leave one out", other)};
    Result<Workload> workload = read_workload(arguments.machine, arguments.lengths.call.counts,
                                              schedule.program.collective, schedule.job.groups);
    if (!workload.ok()) return workload.error();
    verifier::CallArguments call = arguments.lengths.call;
    call.counts.clear();  // the workload has them
    const Result<Call> known = verifier::read_call(call, schedule);
    if (!known.ok()) return known.error();
    workload->root = call.root;
    return explain(schedule, *workload, call.parameters);
  }
  if (arguments.format == "html") {
    if (!arguments.steps.empty()) return Error{"--steps: a page shows all steps; leave it out"};
    return page_text(*read, arguments);
  }
  if (!arguments.curves.empty()) return Error{"--curves: it is for --format html"};
  const Result<bool> nothing =
      refuse_model(arguments.machine, true, "it is for --explain and --format html");
  if (!nothing.ok()) return nothing.error();
  if (is_text) {
    if (const char* flag = flag_of_a_call(arguments))
      return Error{fmt::format(
          "{}: the text says nothing of it; it is for --format steps, svg or html", flag)};
    return job_comment(schedule) + print(schedule.program);
  }
  if (arguments.format == "plan") {
    if (!arguments.steps.empty()) return Error{"--steps: a plan is printed whole; leave it out"};
    return plan_text(*read, arguments);
  }
  const Result<Figure> figure = figure_of(schedule, arguments);
  if (!figure.ok()) return figure.error();
  if (arguments.format == "svg") return as_svg(*figure);
  return as_text(*figure) + (figure->rows.empty() ? "no step has a message or a copy\n" : "");
}

}  // namespace

int show(const ShowArguments& arguments) {
  if (cli::same_file(arguments.file, arguments.out))
    return bad_input("show", cli::same_file_text("--out", arguments.out));
  const Result<std::string> text = show_text(arguments);
  if (!text.ok()) return bad_input("show", text.error().message);
  return cli::print_or_write("show", arguments.out, *text);
}

cli::Command add_show(cli::Command& program, ShowArguments& arguments) {
  cli::Command command = program.command("show", "Print or draw a schedule file.");
  command.require("file", "FILE", &arguments.file, "a schedule file");
  command.add_choice(
      "--format", {"text", "steps", "svg", "html", "plan"}, arguments.format,
      "text: the program; steps: a table of steps against nodes; svg: the same as a picture; html: "
      "a page that shows a simulated call; plan: the operations of the library at one rank");
  command.add(
      "--steps", "LOW..HIGH", &arguments.steps,
      "for steps and svg: the steps from LOW up to, not including, HIGH; either may be left out");
  command.add_flag("--explain", arguments.explain,
                   "print the times of calls by auto's model instead: with this schedule, and with "
                   "the best of each algorithm");
  command.add(
      "--rank", "NUMBER", &arguments.rank,
      "for plan: of this rank of the schedule, which numbers smaller nodes first (default 0)");
  command.add("--group", "NUMBER", &arguments.group, "for plan: in this group (default 0)");
  command.add(
      "--window", "STEPS", &arguments.lengths.window,
      "for plan and html: how many steps may be in flight (default: what the program says, or 16)");
  command.add_flag("--in-place", arguments.in_place, "for plan: the plan of a call in place");
  command.add(
      "--curves", "FILE", &arguments.curves,
      "for html: also draw the times of this file, which `compare --format csv` has written");
  add_machine(command, arguments.machine, "for --explain and html: ");
  add_simulation(command, arguments.machine);
  verifier::add_call(command, arguments.lengths.call);
  command.add("--out", "FILE", &arguments.out, "write to this file instead of the terminal");
  command.example("show small.qs --format html --out small.html",
                  "writes a page that any browser opens.");
  return command;
}

}  // namespace quadrille
