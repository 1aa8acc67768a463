// The flags of `generate` and those that describe a machine, with their help. command.cc and choose.cc interpret their
// values. Tested by tests/cli/generator_test.sh.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command_line.h"
#include "generator/command.h"

namespace quadrille {

void add_machine(cli::Command& command, MachineArguments& arguments) {
  const auto add = [&](const char* flag, std::string& into, const char* type,
                       const std::string& help) { command.add(flag, type, &into, help); };
  const Machine common;
  add("--bytes", arguments.bytes, "SIZE",
      "for auto: the average length of a block, 4096 or 4KiB. A block is what a rank contributes "
      "or gets by itself: in an all-to-all to or from one other rank, in a reduction the whole "
      "vector");
  add("--alpha", arguments.alpha, "TIME",
      fmt::format("for auto and for block sizes: the time of a message between nodes, 30us; "
                  "nanoseconds without a unit (default {}ns; --block-size model needs it)",
                  common.between.alpha_ns));
  add("--beta", arguments.beta, "TIME|RATE",
      fmt::format("the time of one of its bytes, 125ps, or the rate, 100Gbit/s; picoseconds "
                  "without a unit (default {}ps; --block-size model needs it)",
                  common.between.beta_ps));
  add("--alpha-inside", arguments.alpha_inside, "TIME",
      fmt::format("for auto: the time of a message inside a node (default {}ns)",
                  common.inside.alpha_ns));
  add("--beta-inside", arguments.beta_inside, "TIME|RATE",
      fmt::format("for auto: the time of one of its bytes (default {}ps)", common.inside.beta_ps));
  add("--gap", arguments.gap, "TIME",
      fmt::format("for auto: the time from one message of a port to its next (default {}ns)",
                  common.gap_ns));
  add("--gap-inside", arguments.gap_inside, "TIME",
      fmt::format("for auto: the same for messages inside a node (default {}ns)",
                  common.gap_inside_ns));
  add("--copy", arguments.copy, "TIME",
      fmt::format("for auto: the time to copy a block into or out of a message (default {}ns)",
                  common.copy.alpha_ns));
  add("--beta-copy", arguments.beta_copy, "TIME|RATE",
      fmt::format("for auto: the time of each byte of such a copy (default {}ps)",
                  common.copy.beta_ps));
  add("--beta-alone", arguments.beta_alone, "TIME|RATE",
      "for auto: the time of a byte inside a node while no other message is there (default: as "
      "--beta-inside)");
  add("--eager", arguments.eager, "SIZE",
      fmt::format("for auto: the longest message that its sender sends before the receive is "
                  "posted (default {})",
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
  command.add("--block-size", "min|min:SIZE|SIZE|model|auto", &arguments.block_size,
              fmt::format("for algorithms that send blocks of one size: {}", kBlockSizeHelp));
  add_machine(command, arguments.machine);
  command.add(
      "--counts", "LIST", &arguments.counts,
      "for auto, in place of --bytes: the bytes of each rank, 3000,0,5000 or 4x512; for two "
      "groups 3000,0/4x512");
  command.add_flag("--ordered", arguments.ordered,
                   "for auto: the reduction's operator does not commute");
}

void add_node_options(cli::Command& command, GenerateArguments& arguments) {
  command.add("--nodes", "LIST", &arguments.nodes,
              "the ranks on each node, in any order: 1,2,3, or 4x8 for four nodes of eight, or "
              "512x16,5; any: the schedule serves every job. Give one of --nodes, --slurm, "
              "--hostfile");
  command.add("--slurm", "LIST", &arguments.slurm,
              "the same in the form of SLURM_TASKS_PER_NODE: 16(x512),5");
  command.add("--hostfile", "FILE", &arguments.hostfile,
              "the same from a host file with lines 'host slots=4' or 'host:4'");
  command.add(
      "--remote-nodes", "LIST", &arguments.remote_nodes,
      "between two groups: the nodes of the other group, in the form of --nodes; any if that "
      "is any");
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
              "your own program in place of an algorithm: a text as `show` prints it");
  command.add("--parameter", "NAME=VALUE", &arguments.parameters,
              "the value of a parameter of --program, for the file");
  add_node_options(command, arguments);
  command.require("--out", "FILE", &arguments.out, "the schedule file to write");
  add_options(command, arguments);
  command.example("generate alltoall --algorithm hierarchical-factor --nodes 1,2,3 --out small.qs",
                  "`list` says what each algorithm needs and which options it has.");
  return command;
}

}  // namespace quadrille
