// bazel run //generator -- generate | list | show | emit | proofs
//
// Reads arguments, calls the rooms that do the work, and prints. Tested by
// tests/cli/generator_test.sh.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "cli/files.h"
#include "generator/emit.h"
#include "generator/encode.h"
#include "generator/picture.h"
#include "generator/proof_file.h"
#include "generator/registry.h"
#include "schedule/text.h"
#include "verifier/decode.h"

namespace quadrille {
namespace {

using cli::bad_input;

struct GenerateArguments {
  std::string collective, algorithm, nodes, slurm, hostfile, out;
  Choices choices;
};

Result<Topology> read_topology(const GenerateArguments& arguments) {
  const int given =
      !arguments.nodes.empty() + !arguments.slurm.empty() + !arguments.hostfile.empty();
  if (given != 1)
    return Error{"give the nodes once: --nodes 1,2,3, --slurm '16(x512),5' or --hostfile FILE"};
  if (!arguments.nodes.empty()) return parse_nodes(arguments.nodes);
  if (!arguments.slurm.empty()) return parse_slurm(arguments.slurm);
  const Result<std::vector<uint8_t>> file = cli::read_file(arguments.hostfile);
  if (!file.ok()) return file.error();
  return parse_hostfile(std::string(file->begin(), file->end()), arguments.hostfile);
}

std::string algorithm_names(Collective collective) {
  std::string names;
  for (const Algorithm& algorithm : algorithms())
    if (algorithm.collective == collective) names += (names.empty() ? "" : ", ") + algorithm.name;
  return names;
}

Result<const Algorithm*> find(const GenerateArguments& arguments) {
  const auto collective = collective_named(arguments.collective);
  if (!collective || algorithm_names(*collective).empty())
    return Error{fmt::format("'{}' is no collective that schedules are generated for; try alltoall",
                             arguments.collective)};
  const Algorithm* algorithm = find_algorithm(*collective, arguments.algorithm);
  if (algorithm) return algorithm;
  return Error{fmt::format("--algorithm: '{}' is not known for {}; choose one of {}",
                           arguments.algorithm, arguments.collective,
                           algorithm_names(*collective))};
}

// The value of every option of the algorithm; what it does not have may not be given.
Result<Choices> complete(const Algorithm& algorithm, const Choices& given) {
  Choices choices;
  for (const Option& option : algorithm.options) choices[option.name] = option.values[0];
  for (const auto& [name, value] : given) {
    if (value.empty()) continue;
    const auto option = std::find_if(algorithm.options.begin(), algorithm.options.end(),
                                     [&](const Option& o) { return o.name == name; });
    if (option == algorithm.options.end())
      return Error{fmt::format("--{}: {} has no such option", name, algorithm.name)};
    if (std::find(option->values.begin(), option->values.end(), value) == option->values.end())
      return Error{
          fmt::format("--{}: '{}' is none of {}", name, value, fmt::join(option->values, ", "))};
    choices[name] = value;
  }
  return choices;
}

int generate(const GenerateArguments& arguments) {
  const Result<const Algorithm*> algorithm = find(arguments);
  if (!algorithm.ok()) return bad_input("generate", algorithm.error().message);
  const Result<Choices> choices = complete(**algorithm, arguments.choices);
  if (!choices.ok()) return bad_input("generate", choices.error().message);
  const Result<Topology> topology = read_topology(arguments);
  if (!topology.ok()) return bad_input("generate", topology.error().message);

  const Program program = make_program(**algorithm, *choices);
  const Job job{{*topology}, {}};
  // Binding asks the program's own requirements.
  const Result<Binding> binding = bind(program, job, {}, 0);
  if (!binding.ok()) return bad_input("generate", binding.error().message);
  const Bytes file = encode(program, job);
  const Result<bool> written = cli::write_file(arguments.out, file);
  if (!written.ok()) return bad_input("generate", "--out: " + written.error().message);
  fmt::print("{}: {} for {} on nodes {} ({} ranks), {} bytes\n", arguments.out,
             program.algorithm.text, arguments.collective, topology->text(), topology->ranks(),
             file.size());
  return 0;
}

int list() {
  for (const Algorithm& algorithm : algorithms()) {
    fmt::print("{} {}\n  {}\n  source: {}\n  needs: {}\n", name_of(algorithm.collective),
               algorithm.name, algorithm.summary, algorithm.source, algorithm.precondition);
    for (const Option& option : algorithm.options)
      fmt::print("  --{} {}: {}\n", option.name, fmt::join(option.values, "|"), option.help);
  }
  return 0;
}

Result<verifier::Schedule> read_schedule(const std::string& path) {
  const Result<std::vector<uint8_t>> file = cli::read_file(path);
  if (!file.ok()) return file.error();
  return verifier::decode(*file, path);
}

// What the program text does not say: the job.
std::string job_comment(const verifier::Schedule& schedule) {
  std::string text;
  for (const Topology& topology : schedule.job.groups)
    text += fmt::format("-- nodes {} ({} ranks)\n", topology.text(), topology.ranks());
  for (size_t i = 0; i < schedule.job.parameters.size(); ++i)
    if (!schedule.program.parameters[i].at_call)
      text += fmt::format("-- {} = {}\n", schedule.program.parameters[i].name.text,
                          schedule.job.parameters[i]);
  return text +
         fmt::format("-- format {}.{}, hash {}\n", schedule.major, schedule.minor, schedule.hash);
}

struct ShowArguments {
  std::string file, format, steps, out;
};

// "LOW..HIGH", either of which may be missing.
Result<std::pair<std::optional<int64_t>, std::optional<int64_t>>> read_steps(
    const std::string& text) {
  std::pair<std::optional<int64_t>, std::optional<int64_t>> result;
  if (text.empty()) return result;
  const size_t dots = text.find("..");
  const auto number = [](const std::string& part, std::optional<int64_t>& value) {
    int64_t parsed = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), parsed);
    if (error == std::errc() && end == part.data() + part.size()) value = parsed;
    return part.empty() || value.has_value();
  };
  if (dots == std::string::npos || !number(text.substr(0, dots), result.first) ||
      !number(text.substr(dots + 2), result.second))
    return Error{fmt::format("--steps: '{}' is not LOW..HIGH", text)};
  return result;
}

Result<std::string> show_text(const ShowArguments& arguments) {
  const Result<verifier::Schedule> schedule = read_schedule(arguments.file);
  if (!schedule.ok()) return schedule.error();
  if (arguments.format == "text") return job_comment(*schedule) + print(schedule->program);
  const auto steps = read_steps(arguments.steps);
  if (!steps.ok()) return steps.error();
  const Result<Figure> figure = draw(schedule->program, schedule->job, steps->first, steps->second);
  if (!figure.ok()) return Error{fmt::format("{}: {}", arguments.file, figure.error().message)};
  if (figure->rows.empty()) return Error{fmt::format("{}: no steps there", arguments.file)};
  return arguments.format == "svg" ? as_svg(*figure) : as_text(*figure);
}

int show(const ShowArguments& arguments) {
  const Result<std::string> text = show_text(arguments);
  if (!text.ok()) return bad_input("show", text.error().message);
  if (arguments.out.empty()) {
    fmt::print("{}", *text);
    return 0;
  }
  const Result<bool> written = cli::write_file(arguments.out, *text);
  return written.ok() ? 0 : bad_input("show", "--out: " + written.error().message);
}

// The commands that make these bytes and the files of this emission.
std::string command_of(const verifier::Schedule& schedule, const std::string& name) {
  std::string generate = "...";
  for (const Algorithm& algorithm : algorithms())
    for (const Choices& choices : all_choices(algorithm)) {
      if (algorithm.collective != schedule.program.collective ||
          full_name(algorithm, choices) != schedule.program.algorithm.text)
        continue;
      generate =
          fmt::format("generate {} --algorithm {}", name_of(algorithm.collective), algorithm.name);
      for (const Option& option : algorithm.options)
        if (choices.at(option.name) != option.values[0])
          generate += fmt::format(" --{} {}", option.name, choices.at(option.name));
    }
  return fmt::format(
      "   bazel run //generator -- {} --nodes {} --out {}.qs\n   bazel run //generator -- emit "
      "{}.qs --out .",
      generate, schedule.job.groups[0].text(), name, name);
}

int emit(const std::string& file, const std::string& folder) {
  const Result<std::vector<uint8_t>> bytes = cli::read_file(file);
  if (!bytes.ok()) return bad_input("emit", bytes.error().message);
  const Result<verifier::Schedule> schedule = verifier::decode(*bytes, file);
  if (!schedule.ok()) return bad_input("emit", schedule.error().message);
  const std::string name = identifier_from(std::filesystem::path(file).stem().string());
  const EmittedSource emitted = emit_c(*bytes, name, command_of(*schedule, name));
  std::error_code error;
  std::filesystem::create_directories(cli::user_path(folder), error);
  if (error) return bad_input("emit", fmt::format("--out: {}: {}", folder, error.message()));
  for (const auto& [ending, text] :
       {std::pair(".h", emitted.header), std::pair(".c", emitted.source)}) {
    const Result<bool> written =
        cli::write_file((std::filesystem::path(folder) / (name + ending)).string(), text);
    if (!written.ok()) return bad_input("emit", "--out: " + written.error().message);
  }
  fmt::print("{}: quadrille_{}, {} bytes, in {}.h and {}.c\n", folder, name, bytes->size(), name,
             name);
  return 0;
}

// Writes the proof of every program that can be generated.
int proofs(const std::string& folder) {
  int written_files = 0;
  for (const Algorithm& algorithm : algorithms())
    for (const Choices& choices : all_choices(algorithm)) {
      const std::string name =
          fmt::format("{}.{}.proof", name_of(algorithm.collective), full_name(algorithm, choices));
      const Result<bool> written = cli::write_file((std::filesystem::path(folder) / name).string(),
                                                   proof_file(algorithm, choices));
      if (!written.ok()) return bad_input("proofs", "--out: " + written.error().message);
      ++written_files;
    }
  fmt::print("{}: {} proofs\n", folder, written_files);
  return 0;
}

// The flags of every algorithm's options, once each.
void add_options(CLI::App& command, Choices& choices) {
  for (const Algorithm& algorithm : algorithms())
    for (const Option& option : algorithm.options)
      if (choices.emplace(option.name, "").second)
        command
            .add_option("--" + option.name, choices[option.name],
                        fmt::format("{} (default {})", option.help, option.values[0]))
            ->type_name(fmt::format("{}", fmt::join(option.values, "|")));
}

CLI::App* add_generate(CLI::App& app, GenerateArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("generate", "Make a schedule file for a collective and its nodes.");
  command->add_option("collective", arguments.collective, "alltoall")
      ->required()
      ->type_name("COLLECTIVE");
  command->add_option("--algorithm", arguments.algorithm, algorithm_names(Collective::kAlltoall))
      ->required()
      ->type_name("NAME");
  command
      ->add_option("--nodes", arguments.nodes,
                   "ranks on each node: 1,2,3 or 4x8, four nodes of eight, or 512x16,5; one of "
                   "--nodes, --slurm, --hostfile is needed")
      ->type_name("LIST");
  command
      ->add_option("--slurm", arguments.slurm,
                   "the same as SLURM_TASKS_PER_NODE has it: 16(x512),5")
      ->type_name("LIST");
  command
      ->add_option("--hostfile", arguments.hostfile,
                   "the same from a host file: 'host slots=4' or 'host:4' a line")
      ->type_name("FILE");
  command->add_option("--out", arguments.out, "the schedule file to write")
      ->required()
      ->type_name("FILE");
  add_options(*command, arguments.choices);
  command->footer(
      "Example: generator generate alltoall --algorithm hierarchical-factor --nodes 1,2,3 --out "
      "small.qs\n"
      "`list` says what each algorithm needs and which options it has.");
  return command;
}

CLI::App* add_show(CLI::App& app, ShowArguments& arguments) {
  CLI::App* command = app.add_subcommand("show", "Print or draw a schedule file.");
  command->add_option("file", arguments.file, "a schedule file")->required()->type_name("FILE");
  command
      ->add_option("--format", arguments.format,
                   "text, the program; steps, a table of steps against nodes; svg, its picture")
      ->check(CLI::IsMember({"text", "steps", "svg"}))
      ->default_val("text")
      ->type_name("FORMAT");
  command
      ->add_option("--steps", arguments.steps,
                   "for steps and svg: LOW..HIGH only, HIGH not included; either may be left out")
      ->type_name("LOW..HIGH");
  command->add_option("--out", arguments.out, "write there instead of to the terminal")
      ->type_name("FILE");
  command->footer("Example: generator show small.qs --format svg --out small.svg");
  return command;
}

CLI::App* add_emit(CLI::App& app, std::string& file, std::string& folder) {
  CLI::App* command = app.add_subcommand(
      "emit", "Write a schedule file as a C header and source with the same bytes.");
  command->add_option("file", file, "a schedule file")->required()->type_name("FILE");
  command->add_option("--out", folder, "the folder to write to; made where it is missing")
      ->required()
      ->type_name("FOLDER");
  command->footer(
      "Example: generator emit small.qs --out src\n"
      "writes src/small.h and src/small.c, which hold the array quadrille_small.");
  return command;
}

int run(int argc, char** argv) {
  CLI::App app{"Writes communication schedules for MPI collectives.", "generator"};
  app.require_subcommand(1);
  app.footer("`generator COMMAND --help` tells more. Exit codes: 0 done, 2 bad input.");
  GenerateArguments generating;
  const CLI::App* generating_command = add_generate(app, generating);
  const CLI::App* listing = app.add_subcommand(
      "list", "Say of every algorithm what it is, where it comes from, what it needs.");
  ShowArguments showing;
  const CLI::App* showing_command = add_show(app, showing);
  std::string file, folder;
  add_emit(app, file, folder);
  CLI::App* proving =
      app.add_subcommand("proofs", "Write the proof of every program, for the verifier.");
  proving->add_option("--out", folder, "the folder to write to")->required()->type_name("FOLDER");

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return bad_input("generator", fmt::format("{}; --help tells more", error.what()));
  }
  if (generating_command->parsed()) return generate(generating);
  if (listing->parsed()) return list();
  if (showing_command->parsed()) return show(showing);
  if (proving->parsed()) return proofs(folder);
  return emit(file, folder);
}

}  // namespace
}  // namespace quadrille

int main(int argc, char** argv) {
  return quadrille::cli::run_main("generator", quadrille::run, argc, argv);
}
