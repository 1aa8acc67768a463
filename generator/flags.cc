// The flags of `generate`, and those that describe a machine: their names and their help. What was
// typed is read in command.cc and choose.cc. Tested by tests/cli/generator_test.sh.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command_line.h"
#include "generator/command.h"

namespace quadrille {

void add_machine(cli::Command& command, MachineArguments& arguments) {
  const auto add = [&](const char* flag, std::string& into, const char* type,
                       const std::string& help) { command.add(flag, type, &into, help); };
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
void add_options(cli::Command& command, GenerateArguments& arguments) {
  for (const Algorithm& algorithm : algorithms()) {
    for (const Option& option : algorithm.options)
      if (arguments.choices.emplace(option.name, "").second)
        command.add("--" + option.name, fmt::format("{}", fmt::join(option.values, "|")),
                    &arguments.choices[option.name],
                    fmt::format("{} (default {})", option.help, option.values[0]));
    for (const Number& number : algorithm.numbers)
      if (arguments.numbers.emplace(number.name, "").second)
        command.add(flag_of(number.name), "NUMBER|auto", &arguments.numbers[number.name],
                    fmt::format("{} (default {})", number.help, number.initial));
  }
  command.add("--block-size", "min|BYTES|model|auto", &arguments.block_size,
              fmt::format("of blocked algorithms: {}", kBlockSizeHelp));
  add_machine(command, arguments.machine);
  command.add("--counts", "LIST", &arguments.counts,
              "for auto, in place of --bytes: the bytes of each rank, 3000,0,5000 or 4x512; of two "
              "groups 3000,0/4x512");
  command.add_flag("--ordered", arguments.ordered,
                   "for auto: leave out what wants a reduction's operator to commute");
}

void add_node_options(cli::Command& command, GenerateArguments& arguments) {
  command.add("--nodes", "LIST", &arguments.nodes,
              "any, for a schedule that serves every job; or ranks on each node: 1,2,3 or 4x8, "
              "four nodes of eight, or 512x16,5; one of --nodes, --slurm, --hostfile is needed");
  command.add("--slurm", "LIST", &arguments.slurm,
              "the same as SLURM_TASKS_PER_NODE has it: 16(x512),5");
  command.add("--hostfile", "FILE", &arguments.hostfile,
              "the same from a host file: 'host slots=4' or 'host:4' a line");
  command.add("--remote-nodes", "LIST", &arguments.remote_nodes,
              "for a schedule between two groups, the nodes of the other one: as --nodes has them, "
              "and any where that is any");
}

}  // namespace

cli::Command add_generate(cli::Command& program, GenerateArguments& arguments) {
  cli::Command command =
      program.command("generate", "Make a schedule file for a collective and its nodes.");
  command.require("collective", "COLLECTIVE", &arguments.collective, collective_names(", "));
  std::string names;
  for (const int groups : {1, 2})
    for (const Collective collective : served_collectives())
      if (const std::string some = algorithm_names(collective, groups); !some.empty())
        names += fmt::format("{}for {}: {}", names.empty() ? "" : "; ",
                             purpose_of(collective, groups), some);
  command.add("--algorithm", "NAME", &arguments.algorithm, names + "; or auto");
  command.add("--program", "FILE", &arguments.program,
              "instead of an algorithm, a program of yours: a text as `show` prints it");
  command.add("--parameter", "NAME=VALUE", &arguments.parameters,
              "a parameter of --program, for the file");
  add_node_options(command, arguments);
  command.require("--out", "FILE", &arguments.out, "the schedule file to write");
  add_options(command, arguments);
  command.example("generate alltoall --algorithm hierarchical-factor --nodes 1,2,3 --out small.qs",
                  "`list` says what each algorithm needs and which options it has.");
  return command;
}

}  // namespace quadrille
