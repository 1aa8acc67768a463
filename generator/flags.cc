// The flags of `generate`, and those that describe a machine: their names and their help. What was
// typed is read in command.cc and choose.cc. Tested by tests/cli/generator_test.sh.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "generator/command.h"

namespace quadrille {

void add_machine(CLI::App& command, MachineArguments& arguments) {
  const auto add = [&](const char* flag, std::string& into, const char* type,
                       const std::string& help) {
    command.add_option(flag, into, help)->type_name(type);
  };
  const Machine common;
  add("--bytes", arguments.bytes, "BYTES",
      "of a block, on the average: what auto chooses for. What a rank contributes, or gets by "
      "itself: in an "
      "all-to-all to or from each other rank, in a reduction the whole vector");
  add("--alpha", arguments.alpha, "TIME",
      fmt::format("what a message takes, between nodes, in the models of auto and of block sizes: "
                  "30us; nanoseconds where there is no unit (default {}ns; --block-size model "
                  "wants it given)",
                  common.between.alpha_ns));
  add("--beta", arguments.beta, "TIME",
      fmt::format("what a byte takes: 40ns; picoseconds where there is no unit (default {}ps; "
                  "--block-size model wants it given)",
                  common.between.beta_ps));
  add("--alpha-inside", arguments.alpha_inside, "TIME",
      fmt::format("what a message takes inside a node, for auto (default {}ns)",
                  common.inside.alpha_ns));
  add("--beta-inside", arguments.beta_inside, "TIME",
      fmt::format("what a byte takes there (default {}ps)", common.inside.beta_ps));
  add("--gap", arguments.gap, "TIME",
      fmt::format("what a port takes from a message to the next, for auto (default {}ns)",
                  common.gap_ns));
  add("--gap-inside", arguments.gap_inside, "TIME",
      fmt::format("what a node takes from a message inside to the next (default {}ns)",
                  common.gap_inside_ns));
  add("--copy", arguments.copy, "TIME",
      fmt::format("what it takes to put a block into a message or to take it out, for auto "
                  "(default {}ns)",
                  common.copy.alpha_ns));
  add("--beta-copy", arguments.beta_copy, "TIME",
      fmt::format("what each of its bytes takes then (default {}ps)", common.copy.beta_ps));
  add("--beta-alone", arguments.beta_alone, "TIME",
      "what a byte of a message inside a node takes, for auto, while no other is there (default: "
      "as "
      "--beta-inside)");
  add("--eager", arguments.eager, "BYTES",
      fmt::format("for auto: of the longest message that leaves though its receiver is not there "
                  "(default {})",
                  common.eager));
  add("--port", arguments.port, "node|rank",
      "for auto: the ranks of a node share its port and its memory, or each has its own (default "
      "node)");
}

namespace {

// The flags of every algorithm's options and numbers, once each.
void add_options(CLI::App& command, GenerateArguments& arguments) {
  const CLI::Validator given(
      [](const std::string& value) {
        return std::string(value.empty() ? "its value is empty; give one, or leave the flag out"
                                         : "");
      },
      "");
  for (const Algorithm& algorithm : algorithms()) {
    for (const Option& option : algorithm.options)
      if (arguments.choices.emplace(option.name, "").second)
        command
            .add_option("--" + option.name, arguments.choices[option.name],
                        fmt::format("{} (default {})", option.help, option.values[0]))
            ->check(given)
            ->type_name(fmt::format("{}", fmt::join(option.values, "|")));
    for (const Number& number : algorithm.numbers)
      if (arguments.numbers.emplace(number.name, "").second)
        command
            .add_option(flag_of(number.name), arguments.numbers[number.name],
                        fmt::format("{} (default {})", number.help, number.initial))
            ->check(given)
            ->type_name("NUMBER|auto");
  }
  command
      .add_option("--block-size", arguments.block_size,
                  fmt::format("of blocked algorithms: {}", kBlockSizeHelp))
      ->type_name("min|BYTES|model|auto");
  add_machine(command, arguments.machine);
  command
      .add_option("--counts", arguments.counts,
                  "for auto, in place of --bytes: the bytes of each rank, 3000,0,5000 or 4x512; of "
                  "two groups 3000,0/4x512")
      ->type_name("LIST");
  command.add_flag("--ordered", arguments.ordered,
                   "for auto: leave out what wants a reduction's operator to commute");
}

void add_node_options(CLI::App& command, GenerateArguments& arguments) {
  command
      .add_option("--nodes", arguments.nodes,
                  "any, for a schedule that serves every job; or ranks on each node: 1,2,3 or 4x8, "
                  "four nodes of eight, or 512x16,5; one of --nodes, --slurm, --hostfile is needed")
      ->type_name("LIST");
  command
      .add_option("--slurm", arguments.slurm, "the same as SLURM_TASKS_PER_NODE has it: 16(x512),5")
      ->type_name("LIST");
  command
      .add_option("--hostfile", arguments.hostfile,
                  "the same from a host file: 'host slots=4' or 'host:4' a line")
      ->type_name("FILE");
  command
      .add_option("--remote-nodes", arguments.remote_nodes,
                  "for a schedule between two groups, the nodes of the other one: as --nodes has "
                  "them, and any where that is any")
      ->type_name("LIST");
}

}  // namespace

CLI::App* add_generate(CLI::App& app, GenerateArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("generate", "Make a schedule file for a collective and its nodes.");
  command->add_option("collective", arguments.collective, collective_names(", "))
      ->required()
      ->type_name("COLLECTIVE");
  std::string names;
  for (const int groups : {1, 2})
    for (const Collective collective : served_collectives())
      if (const std::string some = algorithm_names(collective, groups); !some.empty())
        names += fmt::format("{}for {}: {}", names.empty() ? "" : "; ",
                             purpose_of(collective, groups), some);
  command->add_option("--algorithm", arguments.algorithm, names + "; or auto")->type_name("NAME");
  command
      ->add_option("--program", arguments.program,
                   "instead of an algorithm, a program of yours: a text as `show` prints it")
      ->type_name("FILE");
  command->add_option("--parameter", arguments.parameters, "a parameter of --program, for the file")
      ->type_name("NAME=VALUE");
  add_node_options(*command, arguments);
  command->add_option("--out", arguments.out, "the schedule file to write")
      ->required()
      ->type_name("FILE");
  add_options(*command, arguments);
  command->footer(
      "Example: generator generate alltoall --algorithm hierarchical-factor --nodes 1,2,3 --out "
      "small.qs\n"
      "`list` says what each algorithm needs and which options it has.");
  return command;
}

}  // namespace quadrille
