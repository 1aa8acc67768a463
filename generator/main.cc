// bazel run //generator -- generate | list | show | emit | proofs
//
// Reads arguments, calls the code that does the work, and prints. Tested by tests/cli.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "cli/command_line.h"
#include "cli/files.h"
#include "cli/numbers.h"
#include "generator/command.h"
#include "generator/emit.h"
#include "generator/encode.h"
#include "generator/optimal.h"
#include "view/figure.h"
#include "generator/proof_file.h"
#include "generator/registry.h"
#include "schedule/any_nodes.h"
#include "schedule/text.h"
#include "verifier/call.h"
#include "verifier/decode.h"
#include "verifier/plans.h"

namespace quadrille {
namespace {

using cli::bad_input;

int list() {
  for (const Algorithm& algorithm : algorithms()) {
    fmt::print("{} {}{}\n  {}\n  cost: {}\n  needs: {}\n  source: {}\n",
               name_of(algorithm.collective), algorithm.name,
               algorithm.groups == 2 ? " between groups" : "", algorithm.summary, algorithm.cost,
               algorithm.precondition, algorithm.source);
    fmt::print("  proven: {}\n  --nodes any: {}\n", algorithm.proof ? "yes" : "not yet",
               algorithm.proof ? "yes" : "not yet, as it is not proven");
    for (const Option& option : algorithm.options)
      fmt::print("  --{} {}: {}\n", option.name, fmt::join(option.values, "|"), option.help);
    for (const Number& number : algorithm.numbers)
      fmt::print("  {} NUMBER: {}\n", flag_of(number.name), number.help);
    if (chooses_block_size(make_program(algorithm, all_choices(algorithm)[0])))
      fmt::print("  --block-size min|min:SIZE|SIZE|model|auto: {}\n", kBlockSizeHelp);
  }
  fmt::print("{}", kOptimalWords);
  return 0;
}

// The job, which is not in the program text.
std::string job_comment(const verifier::Schedule& schedule) {
  std::string text = schedule.any_nodes ? "-- any nodes\n" : "";
  if (schedule.job.most_ranks > 0)
    text += fmt::format("-- up to {} ranks\n", schedule.job.most_ranks);
  for (const Topology& topology : schedule.job.groups)
    text += fmt::format("-- {}nodes {} ({} ranks)\n", schedule.any_nodes ? "here " : "",
                        topology.text(), topology.ranks());
  for (size_t i = 0; i < schedule.job.parameters.size(); ++i)
    text += fmt::format("-- {}\n", parameter_text(schedule.program, schedule.job, i));
  return text +
         fmt::format("-- format {}.{}, hash {}\n", schedule.major, schedule.minor, schedule.hash);
}

struct ShowArguments {
  std::string file, format = "text", steps, out;
  bool explain = false, in_place = false;
  std::optional<int64_t> rank, group, window;
  MachineArguments machine;
  verifier::CallArguments call;
};

// The picture of the call. Without counts, every rank has a count of 1.
Result<Figure> figure_of(const verifier::Schedule& schedule, const ShowArguments& arguments) {
  const Result<cli::StepRange> steps = cli::read_steps(arguments.steps);
  if (!steps.ok()) return steps.error();
  Result<Call> call = verifier::read_call(arguments.call, schedule);
  if (!call.ok()) return call.error();
  const bool made_up = uses_counts(schedule.program) && call->counts.empty();
  if (made_up) call->counts = plain_call(schedule.program, schedule.job).counts;
  Result<Figure> figure = draw(schedule.program, schedule.job, *call, steps->low, steps->high);
  if (!figure.ok()) return Error{fmt::format("{}: {}", arguments.file, figure.error().message)};
  if (figure->rows.empty()) return Error{fmt::format("{}: no steps there", arguments.file)};
  constexpr size_t kLongest = 80;
  const std::string text = verifier::call_text(schedule.program, *call, kLongest);
  if (!text.empty())
    figure->title += fmt::format(", {}{}", text, made_up ? " (--counts gives others)" : "");
  return figure;
}

// The plan that the library makes for one rank.
Result<std::string> plan_text(const verifier::ScheduleFile& file, const ShowArguments& arguments) {
  const verifier::Schedule& schedule = file.schedule;
  const int64_t group = arguments.group.value_or(0), rank = arguments.rank.value_or(0);
  const auto groups = static_cast<int64_t>(schedule.job.groups.size());
  if (group < 0 || group >= groups)
    return Error{fmt::format("--group: the schedule has no group {}", group)};
  const int64_t ranks = schedule.job.groups[static_cast<size_t>(group)].ranks();
  if (rank < 0 || rank >= ranks)
    return Error{fmt::format("--rank: there is no rank {} of {}", rank, ranks)};
  if (arguments.window && (*arguments.window < 1 || *arguments.window > 1 << 16))
    return Error{"--window: it is 1 to 65536 steps"};
  Result<Call> call = verifier::read_call(arguments.call, schedule);
  if (!call.ok()) return call.error();
  const Result<verifier::Plans> plans =
      verifier::Plans::make(file.bytes, schedule.program, schedule.job, *call);
  if (!plans.ok()) return Error{fmt::format("{}: {}", arguments.file, plans.error().message)};
  if (arguments.in_place && !plans->has_in_place())
    return Error{"--in-place: the schedule has no plan of its own for calls in place"};
  Result<std::string> text = plans->print(
      group, rank, {static_cast<int>(arguments.window.value_or(0)), arguments.in_place, true});
  if (!text.ok()) return Error{fmt::format("{}: {}", arguments.file, text.error().message)};
  return text;
}

// The first given flag that only plans use.
const char* flag_of_a_plan(const ShowArguments& arguments) {
  if (arguments.rank) return "--rank";
  if (arguments.group) return "--group";
  if (arguments.window) return "--window";
  return arguments.in_place ? "--in-place" : nullptr;
}

// The first given flag that only calls use.
const char* flag_of_a_call(const ShowArguments& arguments) {
  if (!arguments.steps.empty()) return "--steps";
  if (!arguments.call.counts.empty()) return "--counts";
  if (!arguments.call.parameters.empty()) return "--parameter";
  return arguments.call.root ? "--root" : nullptr;
}

Result<std::string> show_text(const ShowArguments& arguments) {
  const Result<verifier::ScheduleFile> read =
      verifier::open_schedule(arguments.file, arguments.call);
  if (!read.ok()) return read.error();
  const verifier::Schedule& schedule = read->schedule;
  const bool is_text = arguments.format == "text" && !arguments.explain;
  if (serves_any_nodes(schedule.job) && !is_text)
    return verifier::wants_nodes(arguments.file, schedule);
  const char* const plans_flag = flag_of_a_plan(arguments);
  if (plans_flag && (arguments.format != "plan" || arguments.explain))
    return Error{fmt::format("{}: it is for --format plan", plans_flag)};
  if (arguments.explain) {
    if (!arguments.steps.empty() || arguments.format != "text")
      return Error{fmt::format("{}: --explain prints a table of times; leave one out",
                               arguments.steps.empty() ? "--format" : "--steps")};
    Result<Workload> workload = read_workload(arguments.machine, arguments.call.counts,
                                              schedule.program.collective, schedule.job.groups);
    if (!workload.ok()) return workload.error();
    verifier::CallArguments call = arguments.call;
    call.counts.clear();  // the workload has them
    const Result<Call> known = verifier::read_call(call, schedule);
    if (!known.ok()) return known.error();
    workload->root = call.root;
    return explain(schedule, *workload, call.parameters);
  }
  const Result<bool> nothing = refuse_model(arguments.machine, true, "it is for --explain");
  if (!nothing.ok()) return nothing.error();
  if (is_text) {
    if (const char* flag = flag_of_a_call(arguments))
      return Error{
          fmt::format("{}: the text says nothing of it; it is for --format steps or svg", flag)};
    return job_comment(schedule) + print(schedule.program);
  }
  if (arguments.format == "plan") {
    if (!arguments.steps.empty()) return Error{"--steps: a plan is printed whole; leave it out"};
    return plan_text(*read, arguments);
  }
  const Result<Figure> figure = figure_of(schedule, arguments);
  if (!figure.ok()) return figure.error();
  return arguments.format == "svg" ? as_svg(*figure) : as_text(*figure);
}

int show(const ShowArguments& arguments) {
  if (cli::same_file(arguments.file, arguments.out))
    return bad_input("show", cli::same_file_text("--out", arguments.out));
  const Result<std::string> text = show_text(arguments);
  if (!text.ok()) return bad_input("show", text.error().message);
  if (arguments.out.empty()) {
    fmt::print("{}", *text);
    return 0;
  }
  const Result<bool> written = cli::write_file(arguments.out, *text);
  return written.ok() ? 0 : bad_input("show", "--out: " + written.error().message);
}

// The commands that make these bytes and the emitted files.
std::string commands_of(const verifier::Schedule& schedule, const std::string& name) {
  return fmt::format("   {0} {1} --out {2}.qs\n   {0} emit {2}.qs --out .", cli::typed("generator"),
                     generate_command(schedule), name);
}

// Names of emitted files follow from the schedule's name. A hand-written file is never replaced.
Result<bool> refuse_foreign(const std::string& path) {
  std::error_code error;
  const std::string where = cli::user_path(path);
  if (std::filesystem::is_directory(where, error))
    return Error{fmt::format("{}: is a folder; name another", path)};
  if (!std::filesystem::is_regular_file(where, error)) return true;
  const Result<std::vector<uint8_t>> old = cli::read_file(path);
  if (!old.ok()) return old.error();
  const std::string_view text(reinterpret_cast<const char*>(old->data()), old->size());
  if (text.empty() || text.starts_with(kMadeByEmit)) return true;
  return Error{fmt::format(
      "{}: is no emitted file, as it does not begin with '{}'; rename it or the schedule, or "
      "name another folder",
      path, kMadeByEmit)};
}

int emit(const std::string& file, const std::string& folder) {
  const Result<verifier::ScheduleFile> read = verifier::open_schedule(file, {});
  if (!read.ok()) return bad_input("emit", read.error().message);
  const std::vector<uint8_t>& bytes = read->bytes;
  const std::string name = identifier_from(std::filesystem::path(file).stem().string());
  const EmittedSource emitted = emit_c(bytes, name, commands_of(read->schedule, name));
  std::error_code error;
  std::filesystem::create_directories(cli::user_path(folder), error);
  if (error) return bad_input("emit", fmt::format("--out: {}: {}", folder, error.message()));
  const std::string path = (std::filesystem::path(folder) / name).string();
  for (const std::string& target : {path + ".h", path + ".c"}) {
    const Result<bool> ours = refuse_foreign(target);
    if (!ours.ok()) return bad_input("emit", "--out: " + ours.error().message);
  }
  for (const auto& [target, text] :
       {std::pair(path + ".h", emitted.header), std::pair(path + ".c", emitted.source)}) {
    const Result<bool> written = cli::write_file(target, text);
    if (!written.ok()) return bad_input("emit", "--out: " + written.error().message);
  }
  fmt::print("{}: quadrille_{}, {} bytes, in {}.h and {}.c\n", folder, name, bytes.size(), name,
             name);
  return 0;
}

// Writes the proof of every program that can be generated.
int proofs(const std::string& folder) {
  int written_files = 0;
  for (const Algorithm& algorithm : algorithms())
    for (const Choices& choices : all_choices(algorithm)) {
      if (!algorithm.proof) continue;
      const std::string name = proof_name(algorithm, choices) + ".proof";
      const Result<bool> written = cli::write_file((std::filesystem::path(folder) / name).string(),
                                                   proof_file(algorithm, choices));
      if (!written.ok()) return bad_input("proofs", "--out: " + written.error().message);
      ++written_files;
    }
  fmt::print("{}: {} proofs\n", folder, written_files);
  return 0;
}

cli::Command add_show(cli::Command& program, ShowArguments& arguments) {
  cli::Command command = program.command("show", "Print or draw a schedule file.");
  command.require("file", "FILE", &arguments.file, "a schedule file");
  command.add_choice(
      "--format", {"text", "steps", "svg", "plan"}, arguments.format,
      "text: the program; steps: a table of steps against nodes; svg: the same as a picture; plan: "
      "the operations of the library at one rank");
  command.add(
      "--steps", "LOW..HIGH", &arguments.steps,
      "for steps and svg: the steps from LOW up to, not including, HIGH; either may be left out");
  command.add_flag(
      "--explain", arguments.explain,
      "print the times of calls by auto's model instead: with this schedule, and with the "
      "best of each algorithm");
  command.add(
      "--rank", "NUMBER", &arguments.rank,
      "for plan: of this rank of the schedule, which numbers smaller nodes first (default 0)");
  command.add("--group", "NUMBER", &arguments.group, "for plan: in this group (default 0)");
  command.add("--window", "STEPS", &arguments.window,
              "for plan: how many steps may be in flight (default: what the program says, or 16)");
  command.add_flag("--in-place", arguments.in_place, "for plan: the plan of a call in place");
  add_machine(command, arguments.machine, "for --explain: ");
  verifier::add_call(command, arguments.call);
  command.add("--out", "FILE", &arguments.out, "write to this file instead of the terminal");
  command.example("show small.qs --format svg --out small.svg");
  return command;
}

void add_emit(cli::Command& program, std::string& file, std::string& folder) {
  cli::Command command = program.command(
      "emit", "Write a schedule file as a C header and source with the same bytes.");
  command.require("file", "FILE", &file, "a schedule file");
  command.require("--out", "FOLDER", &folder,
                  "the folder to write to; it is made if it is missing");
  command.example("emit small.qs --out src",
                  "writes src/small.h and src/small.c, which hold the array quadrille_small.");
}

int run(int argc, char** argv) {
  const std::string name = cli::program_name("generator");
  cli::Command program(name, "Writes communication schedules for MPI collectives.");
  program.footer(
      fmt::format("`{} COMMAND --help` tells more. Exit codes: 0 done, 2 bad input.", name));
  GenerateArguments generating;
  const cli::Command generating_command = add_generate(program, generating);
  const cli::Command listing =
      program.command("list", "List the algorithms: idea, source, requirements, options.");
  ShowArguments showing;
  const cli::Command showing_command = add_show(program, showing);
  std::string file, folder;
  add_emit(program, file, folder);
  cli::Command proving =
      program.command("proofs", "Write the proof of every program, for the verifier.");
  proving.require("--out", "FOLDER", &folder, "the folder to write to");

  if (const auto code = program.parse(argc, argv)) return *code;
  if (generating_command.is_named()) return generate(generating);
  if (listing.is_named()) return list();
  if (showing_command.is_named()) return show(showing);
  if (proving.is_named()) return proofs(folder);
  return emit(file, folder);
}

}  // namespace
}  // namespace quadrille

int main(int argc, char** argv) {
  return quadrille::cli::run_main("generator", quadrille::run, argc, argv);
}
