// The command `check`. Tested by tests/cli/verifier_test.sh and tests/cli/check_program_test.sh.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <chrono>

#include "cli/command_line.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "schedule/any_nodes.h"
#include "schedule/depth.h"
#include "verifier/all_topologies.h"
#include "verifier/check.h"
#include "verifier/command.h"
#include "verifier/plans.h"
#include "verifier/report.h"
#include "verifier/report_json.h"

namespace quadrille::verifier {
namespace {

using cli::bad_input;
using cli::ExitCode;

// What `check` prints about a file or a program, and the exit code.
struct Told {
  int code = ExitCode::kVerified;
  std::string text;
  cli::Json json;  // instead of the text, if --format says so
};

bool is_json(const CheckArguments& arguments) { return arguments.format == "json"; }

Told refuse(const std::string& file, const std::string& why) {
  bad_input("check", why);
  return {ExitCode::kBadInput, "", error_json(file, why)};
}

// Returns the last line of a report: time and memory.
std::string cost_text(double seconds) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return report_line(
      "checked", fmt::format("in {:.3f} s, at most {:.0f} MB", seconds, usage.ru_maxrss / 1024.0));
}

class Clock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// ---- Files

// Looks up the proof of a schedule for any nodes. Called if the user gives no nodes to walk.
Told check_proof(const std::string& file, const ScheduleFile& read,
                 const CheckArguments& arguments) {
  const CallArguments& call = arguments.call;
  const Schedule& schedule = read.schedule;
  if (arguments.ports || !call.counts.empty() || !call.parameters.empty() || call.root)
    return refuse(file, wants_nodes(file, schedule).message);
  const auto bytes = static_cast<int64_t>(read.bytes.size());
  return {is_proven(schedule) ? ExitCode::kVerified : ExitCode::kUnknown,
          proof_report(file, schedule, bytes), proof_json(file, schedule, bytes)};
}

PlansVerdict check_plans(const std::vector<uint8_t>& bytes, const Schedule& schedule,
                         const std::vector<CheckedCall>& checked) {
  const int64_t ranks = ranks_of(schedule.job.groups);
  if (checked.back().report.violation) return {};
  if (ranks > kMostRanksInFull)
    return {true, false, fmt::format("not checked: more than {} ranks", kMostRanksInFull)};
  // The plans of one call differ little from those of the next. So at most some kMostPlans plans are checked.
  constexpr size_t kMostPlans = 512;
  const size_t every = 1 + checked.size() * static_cast<size_t>(ranks) / kMostPlans;
  bool in_place = false;
  std::vector<int> windows;
  cli::Progress progress;
  for (size_t i = 0; i < checked.size(); i += every) {
    if (progress.is_due())
      progress.say(fmt::format("plans of call {} of {}", i + 1, checked.size()));
    const CheckedCall& one = checked[i];
    const Result<Plans> plans = Plans::make(bytes, schedule.program, schedule.job, one.call);
    const std::optional<std::string> wrong =
        plans.ok() ? plans->objection() : "the library refuses them: " + plans.error().message;
    if (wrong) return {*wrong == kPlansNotChecked, *wrong != kPlansNotChecked, *wrong};
    in_place |= plans->has_in_place();
    windows = plans->windows();
  }
  const std::string which =
      every > 1
          ? fmt::format(", {} of {} calls", (checked.size() + every - 1) / every, checked.size())
          : "";
  const int last = windows.back();
  windows.pop_back();
  return {true, true,
          fmt::format("lawful at every rank, windows {} and {}{}{}", fmt::join(windows, ", "), last,
                      in_place ? ", in place or not" : "", which)};
}

std::string progress_text(size_t call, size_t calls, const char* unit, int64_t done, int64_t all) {
  return fmt::format("checking{}: {} {}{}",
                     calls > 1 ? fmt::format(" call {} of {}", call + 1, calls) : "", done,
                     all > 0 ? fmt::format("of {} ", all) : "", unit);
}

// Checks the calls in order, up to the first that is refuted.
Result<std::vector<CheckedCall>> check_calls(const Schedule& schedule,
                                             const std::vector<Call>& calls,
                                             const CheckArguments& arguments) {
  std::vector<CheckedCall> checked;
  cli::Progress progress;
  for (Call call : calls) {
    CheckOptions options{arguments.ports};
    if (progress.is_shown())
      options.tell = [&](const char* unit, int64_t done, int64_t all) {
        if (progress.is_due())
          progress.say(progress_text(checked.size(), calls.size(), unit, done, all));
      };
    const Result<Report> report = check_all_sizes(schedule.program, schedule.job, call, options);
    if (!report.ok()) return report.error();
    checked.push_back({call, *report, std::nullopt});
    if (report->violation) break;
    if (report->messages <= kMostMessagesOfDepth)
      checked.back().depth = depth(schedule.program, schedule.job, call);
  }
  return checked;
}

Told check_file(const std::string& file, const CheckArguments& arguments) {
  const Clock clock;
  const Result<ScheduleFile> read = open_schedule(file, arguments.call);
  if (!read.ok()) return refuse(file, read.error().message);
  const std::vector<uint8_t>& bytes = read->bytes;
  if (serves_any_nodes(read->schedule.job)) return check_proof(file, *read, arguments);
  Schedule schedule = read->schedule;
  schedule.job = with_fixed_tables(schedule.program, std::move(schedule.job));
  const Result<std::vector<Call>> calls = calls_to_check(arguments.call, schedule);
  if (!calls.ok()) return refuse(file, calls.error().message);
  const Result<std::vector<CheckedCall>> checked = check_calls(schedule, *calls, arguments);
  if (!checked.ok()) return refuse(file, fmt::format("{}: {}", file, checked.error().message));
  const PlansVerdict plans = check_plans(bytes, schedule, *checked);
  const bool some_calls =
      !is_proven(schedule) && (uses_counts(schedule.program) || has_more_roots(schedule, *checked));
  const int code = checked->back().report.violation || !plans.lawful ? ExitCode::kRefuted
                   : arguments.all_calls && some_calls               ? ExitCode::kUnknown
                                                                     : ExitCode::kVerified;
  if (is_json(arguments))
    return {code, "", check_json(file, schedule, bytes.size(), *checked, plans, clock.seconds())};
  return {code,
          check_report(file, schedule, bytes.size(), *checked, plans.lawful) +
              (plans.text.empty() ? "" : report_line("plans", plans.text)) +
              cost_text(clock.seconds()),
          {}};
}

// ---- A program on all topologies

// Returns why the other arguments do not go with --program, if so.
std::optional<std::string> refusal(const CheckArguments& arguments) {
  const CallArguments& call = arguments.call;
  if (!arguments.files.empty())
    return "--program: it is checked alone; check schedule files by a command of their own";
  if (!call.counts.empty() || !call.parameters.empty() || call.root || !call.nodes.empty() ||
      !call.remote_nodes.empty())
    return "--program: it is checked on all topologies and many calls; leave out --counts, "
           "--parameter, --root and --nodes";
  if (!arguments.up_to) return "--program: say of how many ranks, such as --up-to 8";
  if (*arguments.up_to < 1 || *arguments.up_to > kMostRanksOfAll)
    return fmt::format(
        "--up-to: {} is not a number of ranks from 1 to {}; more have too many topologies, so "
        "generate a schedule and check that",
        *arguments.up_to, kMostRanksOfAll);
  return std::nullopt;
}

// Returns the commands that show the steps around a violation.
std::string commands_of(const std::string& file, const Program& program, const FailingJob& failing,
                        bool is_text) {
  const std::string typed = cli::typed("generator"), text = is_text ? file : "failing.txt";
  std::string commands;
  if (!is_text)
    commands =
        fmt::format("{} show {} --out {}\n             ", typed, cli::shell_word(file), text);
  commands += fmt::format("{} generate {} --program {}", typed, name_of(program.collective),
                          cli::shell_word(text));
  bool is_chosen = false;
  for (size_t i = 0; i < program.parameters.size(); ++i) {
    const Parameter& parameter = program.parameters[i];
    is_chosen |= parameter.at_call;
    if (!parameter.at_call)
      commands += fmt::format(" --parameter {}={}", parameter.name.text, failing.job.parameters[i]);
  }
  if (is_chosen) commands += " --block-size min";
  commands += " --nodes " + failing.job.groups[0].text();
  if (program.groups == 2) commands += " --remote-nodes " + failing.job.groups[1].text();
  return fmt::format("{} --out failing.qs\n             {}", commands,
                     replay_command("failing.qs", program, failing.call, failing.violation));
}

std::string number_of(int64_t number, const char* what, const char* several) {
  return fmt::format("{} {}", number, number == 1 ? what : several);
}

std::string checked_text(const AllTopologies& all, int64_t up_to) {
  const std::string checked = number_of(all.checked, "topology", "topologies");
  const std::string of_ranks = "of up to " + number_of(up_to, "rank", "ranks");
  if (all.refused == 0)
    return fmt::format("{} {} {}", all.checked == 1 ? "the" : "all", checked, of_ranks);
  return fmt::format("the {} {} that it serves; it refuses {}", checked, of_ranks, all.refused);
}

std::string walked_text(const AllTopologies& all, const Program& program, int64_t up_to) {
  std::string calls = number_of(all.calls, "call", "calls");
  if (!uses_counts(program)) return calls;
  const CountsTried tried = counts_tried(program, up_to);
  return fmt::format(
      "{}; and counts up to 2 on up to {}, counts at the limits on up to {}{}; at most {} "
      "cases of each on a topology",
      calls, number_of(tried.ranks_of_small, "rank", "ranks"),
      number_of(tried.ranks_of_great, "rank", "ranks"),
      program.groups == 2 ? fmt::format(", at most {} in a group", tried.ranks_of_a_group) : "",
      tried.cases);
}

bool is_file_proven(const std::string& file) {
  const Result<ScheduleFile> read = open_schedule(file, {});
  return read.ok() && is_proven(read->schedule);
}

std::string all_topologies_report(const CheckArguments& arguments, const Program& program,
                                  const AllTopologies& all, bool is_text) {
  const std::string& file = arguments.program;
  const std::string purpose = purpose_of(program.collective, program.groups);
  if (all.failing) {
    const Violation& violation = all.failing->violation;
    return fmt::format("{}: REFUTED on nodes {}\n  {} for {}\n{}  to see it: {}\n", file,
                       all.failing->text(), program.algorithm.text, purpose,
                       violation_text(violation),
                       commands_of(file, program, *all.failing, is_text));
  }
  if (all.checked == 0)
    return fmt::format(
        "{}: UNKNOWN: it {} of up to {}; {}\n", file,
        all.refuses_calls ? "takes none of the calls that are tried on topologies"
                          : "serves no topology",
        ranks_text(*arguments.up_to),
        all.refuses_calls
            ? "generate a schedule and check one of its own calls, such as with --counts"
            : "try more");
  const bool has_counts = uses_counts(program) && (is_text || !is_file_proven(file));
  return fmt::format(
      "{}: verified {}on {}\n  {} for {}\n{}{}", file, has_counts ? "for these counts " : "",
      checked_text(all, *arguments.up_to), program.algorithm.text, purpose,
      report_line("walked", walked_text(all, program, *arguments.up_to)),
      report_line("scope",
                  fmt::format("verified for these topologies {}alone; prove covers all sizes",
                              has_counts ? "and counts " : "")));
}

Told check_program(const CheckArguments& arguments) {
  const Clock clock;
  const std::string& file = arguments.program;
  if (const auto wrong = refusal(arguments)) return refuse(file, *wrong);
  const Result<Program> program = read_program(file);
  if (!program.ok()) return refuse(file, program.error().message);
  cli::Progress progress;
  const Result<AllTopologies> all = check_all_topologies(
      *program, *arguments.up_to, arguments.ports,
      [&](int64_t done, int64_t topologies, const std::string& nodes) {
        if (progress.is_due() || done == 0)
          progress.say(fmt::format("{} of {} topologies: {}", done, topologies, nodes));
      });
  progress.say("");
  if (!all.ok()) return refuse(file, fmt::format("{}: {}", file, all.error().message));
  const int code = all->failing        ? ExitCode::kRefuted
                   : all->checked == 0 ? ExitCode::kUnknown
                                       : ExitCode::kVerified;
  return {code,
          all_topologies_report(arguments, *program, *all, !is_schedule_file(file)) +
              cost_text(clock.seconds()),
          all_topologies_json(file, *program, *arguments.up_to, *all, clock.seconds())};
}

}  // namespace

int check(const CheckArguments& arguments) {
  if (arguments.ports && *arguments.ports < 1)
    return bad_input("check", "--ports: a node has at least 1 port");
  if (arguments.files.empty() && arguments.program.empty())
    return bad_input("check", "name schedule files, or a program with --program FILE --up-to 8");
  if (arguments.program.empty() && arguments.up_to)
    return bad_input("check", "--up-to: it is for --program FILE; leave it out");
  if (!arguments.call.certificate.empty() && arguments.files.size() != 1)
    return bad_input("check", "--certificate: give it with one schedule file");
  int worst = ExitCode::kVerified;
  std::vector<cli::Json> results;
  const auto tell = [&](const Told& told) {
    worst = graver(worst, told.code);
    results.push_back(told.json);
    if (!is_json(arguments)) fmt::print("{}", told.text);
  };
  if (!arguments.program.empty())
    tell(check_program(arguments));
  else
    for (const std::string& file : arguments.files) tell(check_file(file, arguments));
  if (is_json(arguments))
    fmt::print("{}\n", cli::Json{{"schema", 1}, {"results", cli::Json::lines(results)}}.text());
  return worst;
}

cli::Command add_check(cli::Command& program, CheckArguments& arguments) {
  cli::Command command = program.command(
      "check", "Check schedule files: walk every rank and say whether the schedule is right.");
  command.add("files", "FILE", &arguments.files, "schedule files");
  command.add(
      "--program", "FILE", &arguments.program,
      "check a program, as text or as a schedule file, on all topologies of up to --up-to ranks");
  command.add(
      "--up-to", "RANKS", &arguments.up_to,
      fmt::format("for --program: the most ranks of a topology, at most {}; two groups have "
                  "them together",
                  kMostRanksOfAll));
  command.add("--ports", "NUMBER", &arguments.ports,
              "how many partners a node may have at a time; checked even if the program claims "
              "none");
  command.add_flag("--all-calls", arguments.all_calls,
                   "end with 3 if the verdict is for these counts or roots alone");
  command.add("--certificate", "FILE", &arguments.call.certificate,
              "what `prove --certificate` has written of the schedule's program; without it "
              "FILE.certificate, if that is there");
  add_call(command, arguments.call);
  command.add_choice("--format", {"text", "json"}, arguments.format, "what is printed");
  command.example("check small.qs");
  command.example(
      "check --program mine.txt --up-to 8",
      "--nodes gives the nodes of a schedule for any nodes; without it, check looks its proof up.");
  return command;
}

}  // namespace quadrille::verifier
