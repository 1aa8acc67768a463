#include "simulate/flags.h"

#include <fmt/format.h>

#include <initializer_list>
#include <utility>

#include "cli/command_line.h"
#include "cli/quantity.h"

namespace quadrille {

namespace {

constexpr int64_t kMostPorts = 1024;

}  // namespace

std::string read_alpha(const std::string& flag, const std::string& text, int64_t& ns) {
  constexpr int64_t kNanosecond = 1000;
  if (text.empty() || quantity_time(text.data(), text.size(), kNanosecond, kMaxCost, &ns))
    return "";
  return fmt::format("{}: '{}' is not a time like 30us, 40ns or 125ps, at most 1s", flag, text);
}

std::string read_beta(const std::string& flag, const std::string& text, int64_t& ps) {
  if (text.empty() || quantity_time_of_a_byte(text.data(), text.size(), kMaxCost, &ps)) return "";
  return fmt::format(
      "{}: '{}' is neither what a byte takes, like 40ns or 125ps, nor a rate like 100Gbit/s or "
      "12GB/s; a byte takes 1ms at most",
      flag, text);
}

Result<int64_t> read_bytes(const char* flag, const std::string& text, int64_t least) {
  int64_t bytes = 0;
  if (quantity_bytes(text.data(), text.size(), least, INT32_MAX, &bytes)) return bytes;
  return Error{fmt::format("{}: '{}' is not a number of bytes from {} to {}, such as 4096 or 4KiB",
                           flag, text, least, INT32_MAX)};
}

void add_machine(cli::Command& command, MachineArguments& arguments, const std::string& when) {
  const auto add = [&](const char* flag, std::string& into, const char* type,
                       const std::string& help) { command.add(flag, type, &into, help); };
  const Machine common;
  add("--bytes", arguments.bytes, "SIZE",
      when +
          "the average length of a block, 4096 or 4KiB. A block is what a rank contributes "
          "or gets by itself: in an all-to-all to or from one other rank, in a reduction the "
          "whole vector");
  add("--alpha", arguments.alpha, "TIME",
      fmt::format("the time of a message between nodes, 30us; nanoseconds without a unit (default "
                  "{}ns)",
                  common.between.alpha_ns));
  add("--beta", arguments.beta, "TIME|RATE",
      fmt::format("the time of one of its bytes, 125ps, or the rate, 100Gbit/s; picoseconds "
                  "without a unit (default {}ps)",
                  common.between.beta_ps));
  add("--alpha-inside", arguments.alpha_inside, "TIME",
      fmt::format("{}the time of a message inside a node (default {}ns)", when,
                  common.inside.alpha_ns));
  add("--beta-inside", arguments.beta_inside, "TIME|RATE",
      fmt::format("{}the time of one of its bytes (default {}ps)", when, common.inside.beta_ps));
  add("--gap", arguments.gap, "TIME",
      fmt::format("{}the time from one message of a port to its next (default {}ns)", when,
                  common.gap_ns));
  add("--gap-inside", arguments.gap_inside, "TIME",
      fmt::format("{}the same for messages inside a node (default {}ns)", when,
                  common.gap_inside_ns));
  add("--copy", arguments.copy, "TIME",
      fmt::format("{}the time to copy a block into or out of a message (default {}ns)", when,
                  common.copy.alpha_ns));
  add("--beta-copy", arguments.beta_copy, "TIME|RATE",
      fmt::format("{}the time of each byte of such a copy (default {}ps)", when,
                  common.copy.beta_ps));
  add("--beta-alone", arguments.beta_alone, "TIME|RATE",
      when +
          "the time of a byte inside a node while no other message is there (default: as "
          "--beta-inside)");
  add("--eager", arguments.eager, "SIZE",
      fmt::format("{}the longest message that its sender sends before the receive is posted "
                  "(default {})",
                  when, common.eager));
  add("--port", arguments.port, "node|rank",
      when +
          "the ranks of a node share its port and its memory, or each has its own (default "
          "node)");
}

void add_simulation(cli::Command& command, SimulationArguments& arguments) {
  command.add("--memory", "TIME|RATE", &arguments.memory,
              "the time of a byte in the memory that all messages inside a node share; 0: it is no "
              "limit (default: as --beta-inside)");
  command.add("--overhead", "TIME", &arguments.overhead,
              "how long a message keeps its sender busy, and its receiver (default 0)");
  command.add("--beta-overhead", "TIME|RATE", &arguments.beta_overhead,
              "and each of its bytes (default 0)");
  command.add("--ports", "NUMBER", &arguments.ports,
              "the ports of a node, or of a rank (default 1)");
  command.add_flag("--exclusive", arguments.exclusive,
                   "a port does not send and receive at the same time");
  command.add(
      "--switch-nodes", "NUMBER", &arguments.switch_nodes,
      "a switch joins so many nodes, in the order of the schedule (default: one joins all)");
  command.add("--switch-ports", "NUMBER", &arguments.switch_ports,
              "the ports of a switch to the others, each as fast as a node's (default 1)");
  command.add("--noise", "TIME", &arguments.noise,
              "each message starts later by a random time of this mean (default 0)");
  command.add("--seed", "NUMBER", &arguments.seed, "of the noise (default 1)");
  command.add_choice("--sharing", {"in-turn", "fair"}, arguments.sharing,
                     "messages at a port go on one after another, or at once with equal shares");
}

namespace {

using Reader = std::string (*)(const std::string&, const std::string&, int64_t&);

struct Cost {
  const char* flag;
  const std::string& text;
  Reader read;
  int64_t& value;
};

// The first error, or an empty string.
std::string read_costs(std::initializer_list<Cost> costs) {
  for (const Cost& cost : costs)
    if (std::string error = cost.read(cost.flag, cost.text, cost.value); !error.empty())
      return error;
  return "";
}

}  // namespace

Result<Machine> read_machine(const MachineArguments& arguments) {
  Machine machine;
  const std::string error =
      read_costs({{"--alpha", arguments.alpha, read_alpha, machine.between.alpha_ns},
                  {"--beta", arguments.beta, read_beta, machine.between.beta_ps},
                  {"--alpha-inside", arguments.alpha_inside, read_alpha, machine.inside.alpha_ns},
                  {"--beta-inside", arguments.beta_inside, read_beta, machine.inside.beta_ps},
                  {"--gap", arguments.gap, read_alpha, machine.gap_ns},
                  {"--gap-inside", arguments.gap_inside, read_alpha, machine.gap_inside_ns},
                  {"--copy", arguments.copy, read_alpha, machine.copy.alpha_ns},
                  {"--beta-copy", arguments.beta_copy, read_beta, machine.copy.beta_ps},
                  {"--beta-alone", arguments.beta_alone, read_beta, machine.beta_alone_ps}});
  if (!error.empty()) return Error{error};
  if (!arguments.eager.empty()) {
    const Result<int64_t> eager = read_bytes("--eager", arguments.eager, 0);
    if (!eager.ok()) return eager.error();
    machine.eager = *eager;
  }
  if (arguments.port == "rank") machine.port = PortScope::kRank;
  if (!arguments.port.empty() && arguments.port != "rank" && arguments.port != "node")
    return Error{fmt::format("--port: '{}' is none of node, rank", arguments.port)};
  return machine;
}

Result<Machine> read_simulated_machine(const MachineArguments& arguments,
                                       const SimulationArguments& simulation) {
  Result<Machine> machine = read_machine(arguments);
  if (!machine.ok()) return machine;
  int64_t memory = 0;
  const std::string error = read_costs(
      {{"--overhead", simulation.overhead, read_alpha, machine->overhead.alpha_ns},
       {"--beta-overhead", simulation.beta_overhead, read_beta, machine->overhead.beta_ps},
       {"--memory", simulation.memory, read_beta, memory},
       {"--noise", simulation.noise, read_alpha, machine->noise_ns}});
  if (!error.empty()) return Error{error};
  if (!simulation.memory.empty()) machine->memory_ps = memory;
  machine->ports = simulation.ports.value_or(1);
  machine->switch_nodes = simulation.switch_nodes.value_or(0);
  machine->switch_ports = simulation.switch_ports.value_or(1);
  machine->seed = simulation.seed.value_or(1);
  if (simulation.switch_ports && !simulation.switch_nodes)
    return Error{"--switch-ports: say with --switch-nodes how many nodes a switch joins"};
  const std::pair<const char*, int64_t> numbers[] = {
      {"--ports", machine->ports},
      {"--switch-nodes", simulation.switch_nodes.value_or(1)},
      {"--switch-ports", machine->switch_ports}};
  for (const auto& [flag, number] : numbers)
    if (number < 1 || number > kMostPorts)
      return Error{fmt::format("{}: {} is not a number from 1 to {}", flag, number, kMostPorts)};
  machine->exclusive = simulation.exclusive;
  machine->sharing = simulation.sharing == "fair" ? Sharing::kFair : Sharing::kInTurn;
  return machine;
}

Result<bool> refuse_model(const MachineArguments& arguments, bool all, const std::string& why) {
  const std::pair<const char*, std::string> flags[] = {{"--bytes", arguments.bytes},
                                                       {"--alpha-inside", arguments.alpha_inside},
                                                       {"--beta-inside", arguments.beta_inside},
                                                       {"--gap", arguments.gap},
                                                       {"--gap-inside", arguments.gap_inside},
                                                       {"--copy", arguments.copy},
                                                       {"--beta-copy", arguments.beta_copy},
                                                       {"--beta-alone", arguments.beta_alone},
                                                       {"--eager", arguments.eager},
                                                       {"--port", arguments.port},
                                                       {"--alpha", all ? arguments.alpha : ""},
                                                       {"--beta", all ? arguments.beta : ""}};
  for (const auto& [flag, text] : flags)
    if (!text.empty()) return Error{fmt::format("{}: {}", flag, why)};
  return true;
}

}  // namespace quadrille
