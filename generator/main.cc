// bazel run //generator -- generate | choose | compare | simulate | list | show | emit | proofs
//
// Reads arguments, calls the code that does the work, and prints. Tested by tests/cli.
#include <fmt/format.h>
#include <filesystem>

#include "cli/command_line.h"
#include "cli/files.h"
#include "generator/command.h"
#include "generator/compare.h"
#include "generator/emit.h"
#include "generator/list.h"
#include "generator/proof_file.h"
#include "generator/registry.h"
#include "generator/rules.h"
#include "generator/show.h"
#include "generator/simulate.h"
#include "schedule/any_nodes.h"
#include "verifier/call.h"
#include "verifier/check.h"
#include "verifier/decode.h"

namespace quadrille {
namespace {

using cli::bad_input;

// Returns the commands that make these bytes and the emitted files.
std::string commands_of(const verifier::Schedule& schedule, const std::string& name,
                        const std::string& option) {
  return fmt::format("   {0} {1} --out {2}.qs\n   {0} emit {2}.qs {3} .", cli::typed("generator"),
                     generate_command(schedule), name, option);
}

// Refuses to replace a file that `emit` has not made. The names of emitted files follow from the schedule's name.
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

// Returns whether quadrille.h declares quadrille_NAME.
bool is_declared(std::string name) {
  for (const std::string_view form : {"_c", "_init"})
    if (name.ends_with(form)) name.erase(name.size() - form.size());
  const std::string header = embedded_runtime().header, word = "quadrille_" + name;
  for (size_t at = 0; (at = header.find(word, at)) != std::string::npos; at += word.size())
    if (const char next = header[at + word.size()]; next != '_' && std::isalnum(next) == 0)
      return true;
  return false;
}

// Refuses a wrong schedule for given nodes. One for any nodes has a proof. Of many ranks, says that nothing is checked,
// since that may take long. Returns the exit code.
int refuse_wrong(const std::string& file, const verifier::Schedule& schedule) {
  if (serves_any_nodes(schedule.job)) return 0;
  if (ranks_of(schedule.job.groups) > verifier::kMostRanksInFull) {
    fmt::print(stderr, "emit: {}: not checked, as it has more than {} ranks; {} check {} does so\n",
               file, verifier::kMostRanksInFull, cli::typed("verifier"), cli::shell_word(file));
    return 0;
  }
  Result<std::vector<Call>> calls = verifier::calls_to_check({}, schedule);
  if (!calls.ok() || !takes(schedule.program, schedule.job, calls->front()))
    return bad_input(
        "emit",
        fmt::format("{0}: it is not checked, since it takes none of the calls that emit tries; "
                    "check a call with {1} check {2} --counts LIST, then write it with --force",
                    file, cli::typed("verifier"), cli::shell_word(file)));
  for (Call& call : *calls) {
    const Result<verifier::Report> report =
        verifier::check_all_sizes(schedule.program, schedule.job, call, {});
    if (!report.ok()) return bad_input("emit", fmt::format("{}: {}", file, report.error().message));
    if (!report->violation) continue;
    fmt::print(stderr,
               "emit: {}: the schedule is refuted, since {}; {} check {} tells more, and --force "
               "writes it anyway\n",
               file, report->violation->detail, cli::typed("verifier"), cli::shell_word(file));
    return cli::ExitCode::kRefuted;
  }
  return 0;
}

struct EmitArguments {
  std::string file, out, runtime;
  bool is_forced = false;
};

int emit(const EmitArguments& arguments) {
  const bool has_runtime = !arguments.runtime.empty();
  if (has_runtime != arguments.out.empty())
    return bad_input("emit",
                     "give --out FOLDER, or --runtime FOLDER for a source with the runtime");
  const std::string option = has_runtime ? "--runtime" : "--out";
  const std::string &file = arguments.file,
                    &folder = has_runtime ? arguments.runtime : arguments.out;
  const Result<verifier::ScheduleFile> read = verifier::open_schedule(file, {});
  if (!read.ok()) return bad_input("emit", read.error().message);
  if (const int code = arguments.is_forced ? 0 : refuse_wrong(file, read->schedule)) return code;
  const std::vector<uint8_t>& bytes = read->bytes;
  const std::string name = identifier_from(std::filesystem::path(file).stem().string());
  if (is_declared(name))
    return bad_input("emit", fmt::format("{}: its array would be quadrille_{}, which quadrille.h "
                                         "declares; give the file another name",
                                         file, name));
  const EmittedSource emitted = emit_c(bytes, name, commands_of(read->schedule, name, option),
                                       has_runtime ? embedded_runtime() : Runtime{});
  std::error_code error;
  std::filesystem::create_directories(cli::user_path(folder), error);
  if (error) return bad_input("emit", fmt::format("{}: {}: {}", option, folder, error.message()));
  const std::string path = (std::filesystem::path(folder) / name).string();
  for (const std::string& target : {path + ".h", path + ".c"}) {
    const Result<bool> ours = refuse_foreign(target);
    if (!ours.ok()) return bad_input("emit", option + ": " + ours.error().message);
  }
  for (const auto& [target, text] :
       {std::pair(path + ".h", emitted.header), std::pair(path + ".c", emitted.source)}) {
    const Result<bool> written = cli::write_file(target, text);
    if (!written.ok()) return bad_input("emit", option + ": " + written.error().message);
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

void add_emit(cli::Command& program, EmitArguments& arguments) {
  cli::Command command = program.command(
      "emit", "Write a schedule file as a C header and source with the same bytes.");
  command.require("file", "FILE", &arguments.file, "a schedule file");
  command.add("--out", "FOLDER", &arguments.out,
              "the folder to write to; it is made if it is missing");
  command.add("--runtime", "FOLDER", &arguments.runtime,
              "the folder to write to instead; then the files have the runtime, too, and need MPI "
              "alone");
  command.add_flag("--force", arguments.is_forced, "write a schedule that is refuted, too");
  command.example("emit small.qs --out src",
                  "writes src/small.h and src/small.c, which hold the array quadrille_small.");
}

int run(int argc, char** argv) {
  const std::string name = cli::program_name("generator");
  cli::Command program(name,
                       "Writes communication schedules for MPI collectives, and simulates them.");
  program.footer(fmt::format(
      "`{} COMMAND --help` tells more. Exit codes: 0 done, 1 refuted, 2 bad input.", name));
  GenerateArguments generating;
  const cli::Command generating_command = add_generate(program, generating);
  ChooseArguments choosing;
  const cli::Command choosing_command = add_choose(program, choosing);
  CompareArguments comparing;
  const cli::Command comparing_command = add_compare(program, comparing);
  SimulateArguments simulating;
  const cli::Command simulating_command = add_simulate(program, simulating);
  ListArguments listing;
  const cli::Command listing_command = add_list(program, listing);
  ShowArguments showing;
  const cli::Command showing_command = add_show(program, showing);
  EmitArguments emitting;
  add_emit(program, emitting);
  std::string folder;
  cli::Command proving =
      program.command("proofs", "Write the proof of every program, for the verifier.");
  proving.require("--out", "FOLDER", &folder, "the folder to write to");

  if (const auto code = program.parse(argc, argv)) return *code;
  if (generating_command.is_named()) return generate(generating);
  if (choosing_command.is_named()) return choose(choosing);
  if (comparing_command.is_named()) return compare(comparing);
  if (simulating_command.is_named()) return simulate_call(std::move(simulating));
  if (listing_command.is_named()) return list(listing);
  if (showing_command.is_named()) return show(showing);
  if (proving.is_named()) return proofs(folder);
  return emit(emitting);
}

}  // namespace
}  // namespace quadrille

int main(int argc, char** argv) {
  return quadrille::cli::run_main("generator", quadrille::run, argc, argv);
}
