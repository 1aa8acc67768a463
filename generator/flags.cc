// Adds the flags of `generate`, with their help. command.cc and choose.cc interpret the values. Tested by
// tests/cli/generator_test.sh.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command_line.h"
#include "generator/command.h"

namespace quadrille {

namespace {

// Adds the flags of every algorithm's options and numbers, once each.
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
  add_machine(command, arguments.machine, "for auto: ");
  command.add("--counts", "LIST", &arguments.counts,
              "for auto, in place of --bytes: the bytes of each rank, 3000,0,5000 or 4x512; for "
              "two groups 3000,0/4x512");
  command.add_flag("--ordered", arguments.ordered,
                   "for auto: the reduction's operator does not commute");
}

}  // namespace

void add_nodes(cli::Command& command, GenerateArguments& arguments, bool takes_any) {
  command.add("--nodes", "LIST", &arguments.nodes,
              fmt::format("the ranks on each node, in any order: 1,2,3, or 4x8 for four nodes of "
                          "eight, or 512x16,5{}. Give one of --nodes, --slurm, --hostfile",
                          takes_any ? "; any: the schedule serves every job" : ""));
  command.add("--slurm", "LIST", &arguments.slurm,
              "the same in the form of SLURM_TASKS_PER_NODE: 16(x512),5");
  command.add("--hostfile", "FILE", &arguments.hostfile,
              "the same from a host file with lines 'host slots=4' or 'host:4'");
  command.add(
      "--remote-nodes", "LIST", &arguments.remote_nodes,
      fmt::format("between two groups: the nodes of the other group, in the form of --nodes{}",
                  takes_any ? "; any if that is any" : ""));
}

void add_text(cli::Command& command, GenerateArguments& arguments, const char* what) {
  command.add("--program", "FILE", &arguments.program, what);
  command.add_flag("--reverse", arguments.reverse,
                   "reverse the program of --program in time: its broadcast becomes a reduce, its "
                   "allgather a reduce-scatter");
  command.add("--then", "FILE", &arguments.then,
              "a program to run after that: an allgather after a reduce-scatter, or a broadcast "
              "after a reduce, makes an allreduce");
}

void add_program(cli::Command& command, GenerateArguments& arguments, const char* what) {
  add_text(command, arguments, what);
  command.add("--parameter", "NAME=VALUE", &arguments.parameters,
              "the value of a parameter of --program, for the file");
}

void add_proof(cli::Command& command, GenerateArguments& arguments, const char* may) {
  command.add("--proof", "FILE", &arguments.proof,
              fmt::format("the certificate that `prove --certificate` has written of --program, "
                          "which may then {}; a copy stands beside the schedule",
                          may));
}

std::optional<Error> refuse_without_program(const GenerateArguments& arguments) {
  if (!arguments.program.empty()) return std::nullopt;
  if (arguments.reverse || !arguments.then.empty())
    return Error{
        fmt::format("--{}: it is for --program alone", arguments.reverse ? "reverse" : "then")};
  if (!arguments.proof.empty())
    return Error{"--proof: it is for --program; `check` knows the proofs of algorithms"};
  if (!arguments.parameters.empty())
    return Error{"--parameter: it is for --program; `list` says which options each algorithm has"};
  return std::nullopt;
}

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
  add_program(command, arguments,
              "your own program in place of an algorithm: a text as `show` prints it");
  add_nodes(command, arguments, true);
  add_proof(command, arguments, "serve --nodes any");
  command.require("--out", "FILE", &arguments.out, "the schedule file to write");
  add_options(command, arguments);
  command.example("generate alltoall --algorithm hierarchical-factor --nodes 1,2,3 --out small.qs",
                  "`list` says what each algorithm needs and which options it has.");
  return command;
}

}  // namespace quadrille
