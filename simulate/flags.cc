#include "simulate/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#define JSMN_STATIC
#define JSMN_STRICT
#include <jsmn.h>

#include "cli/command_line.h"
#include "cli/files.h"
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
          "or gets by itself. In an all-to-all it goes to one other rank. In a reduction it is "
          "the whole vector");
  add("--machine", arguments.machine, "NAME|FILE",
      fmt::format("{}its costs: one of {}, or a JSON file with these names, "
                  "{{\"alpha\": \"30us\", \"beta\": \"100Gbit/s\"}}; flags replace them",
                  when, machine_names()));
  add("--alpha", arguments.alpha, "TIME",
      fmt::format("the time of a message between nodes, 30us; nanoseconds without a unit (default "
                  "{}ns)",
                  common.between.alpha_ns));
  add("--beta", arguments.beta, "TIME|RATE",
      fmt::format("the time of one of its bytes, 125ps, or the rate, 100Gbit/s; picoseconds "
                  "without a unit (default {}ps)",
                  common.between.beta_ps));
  add("--alpha-inside", arguments.alpha_inside, "TIME",
      fmt::format("{}the time of a message inside a node (default: that of --machine, or a quarter "
                  "of alpha)",
                  when));
  add("--beta-inside", arguments.beta_inside, "TIME|RATE",
      fmt::format("{}the time of one of its bytes (default {}ps)", when, common.inside.beta_ps));
  add("--gap", arguments.gap, "TIME",
      fmt::format("{}the time from one message of a port to its next (default: that of --machine, "
                  "or a fortieth of alpha)",
                  when));
  add("--gap-inside", arguments.gap_inside, "TIME",
      fmt::format("{}the same for messages inside a node (default: that of --machine, or a "
                  "fortieth of alpha)",
                  when));
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

void add_simulation(cli::Command& command, MachineArguments& arguments) {
  command.add("--memory", "TIME|RATE", &arguments.memory,
              "the time of a byte in the memory that all messages inside a node share; 0: it is no "
              "limit (default: as --beta-inside)");
  command.add("--overhead", "TIME", &arguments.overhead,
              "how long a message keeps its sender busy, and its receiver (default 0)");
  command.add("--beta-overhead", "TIME|RATE", &arguments.beta_overhead,
              "the same for each of its bytes (default 0)");
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
  command.add("--seed", "NUMBER", &arguments.seed, "of all random numbers (default 1)");
  command.add("--sharing", "in-turn|fair", &arguments.sharing,
              "messages at a port go on one after another, or at once with equal shares (default "
              "in-turn)");
}

namespace {

// The name of each cost in flags and files; in flags "--" stands before it.
struct CostName {
  const char* name;
  std::string MachineArguments::*text;
};
constexpr CostName kNames[] = {
    {"alpha-inside", &MachineArguments::alpha_inside},
    {"beta-inside", &MachineArguments::beta_inside},
    {"gap", &MachineArguments::gap},
    {"gap-inside", &MachineArguments::gap_inside},
    {"copy", &MachineArguments::copy},
    {"beta-copy", &MachineArguments::beta_copy},
    {"beta-alone", &MachineArguments::beta_alone},
    {"eager", &MachineArguments::eager},
    {"port", &MachineArguments::port},
    {"alpha", &MachineArguments::alpha},
    {"beta", &MachineArguments::beta},
    {"memory", &MachineArguments::memory},
    {"overhead", &MachineArguments::overhead},
    {"beta-overhead", &MachineArguments::beta_overhead},
    {"noise", &MachineArguments::noise},
    {"sharing", &MachineArguments::sharing},
    {"ports", &MachineArguments::ports},
    {"switch-nodes", &MachineArguments::switch_nodes},
    {"switch-ports", &MachineArguments::switch_ports},
    {"seed", &MachineArguments::seed},
};

using Reader = std::string (*)(const std::string&, const std::string&, int64_t&);
struct Cost {
  const char* flag;
  const std::string& text;
  Reader read;
  int64_t& value;
};
// Returns the first error, or an empty string.
std::string read_costs(std::initializer_list<Cost> costs) {
  for (const Cost& cost : costs)
    if (std::string error = cost.read(cost.flag, cost.text, cost.value); !error.empty())
      return error;
  return "";
}

std::string read_ports(const std::string& flag, const std::string& text, int64_t& value) {
  if (text.empty() || quantity_whole(text.data(), text.size(), 1, kMostPorts, &value)) return "";
  return fmt::format("{}: '{}' is not a number from 1 to {}", flag, text, kMostPorts);
}

std::string read_seed(const std::string& flag, const std::string& text, int64_t& value) {
  if (text.empty() || quantity_whole(text.data(), text.size(), 0, INT64_MAX, &value)) return "";
  return fmt::format("{}: '{}' is not a whole number", flag, text);
}

// Sets is_other to whether the text is the second word. An empty text changes nothing; other texts give an error.
std::string read_word(const char* flag, const std::string& text, const char* one, const char* other,
                      bool& is_other) {
  if (text == one || text == other) is_other = text == other;
  if (text.empty() || text == one || text == other) return "";
  return fmt::format("{}: '{}' is none of {}, {}", flag, text, one, other);
}

// Replaces the costs of the machine that are given.
Result<bool> read_into(const MachineArguments& arguments, Machine& machine) {
  int64_t memory = machine.memory_ps.value_or(0);
  bool by_rank = machine.port == PortScope::kRank, is_fair = machine.sharing == Sharing::kFair;
  std::string error =
      read_costs({{"--alpha", arguments.alpha, read_alpha, machine.between.alpha_ns},
                  {"--beta", arguments.beta, read_beta, machine.between.beta_ps},
                  {"--alpha-inside", arguments.alpha_inside, read_alpha, machine.inside.alpha_ns},
                  {"--beta-inside", arguments.beta_inside, read_beta, machine.inside.beta_ps},
                  {"--gap", arguments.gap, read_alpha, machine.gap_ns},
                  {"--gap-inside", arguments.gap_inside, read_alpha, machine.gap_inside_ns},
                  {"--copy", arguments.copy, read_alpha, machine.copy.alpha_ns},
                  {"--beta-copy", arguments.beta_copy, read_beta, machine.copy.beta_ps},
                  {"--beta-alone", arguments.beta_alone, read_beta, machine.beta_alone_ps},
                  {"--overhead", arguments.overhead, read_alpha, machine.overhead.alpha_ns},
                  {"--beta-overhead", arguments.beta_overhead, read_beta, machine.overhead.beta_ps},
                  {"--memory", arguments.memory, read_beta, memory},
                  {"--noise", arguments.noise, read_alpha, machine.noise_ns},
                  {"--ports", arguments.ports, read_ports, machine.ports},
                  {"--switch-nodes", arguments.switch_nodes, read_ports, machine.switch_nodes},
                  {"--switch-ports", arguments.switch_ports, read_ports, machine.switch_ports},
                  {"--seed", arguments.seed, read_seed, machine.seed}});
  if (error.empty()) error = read_word("--port", arguments.port, "node", "rank", by_rank);
  if (error.empty()) error = read_word("--sharing", arguments.sharing, "in-turn", "fair", is_fair);
  if (!error.empty()) return Error{error};
  if (!arguments.eager.empty()) {
    const Result<int64_t> eager = read_bytes("--eager", arguments.eager, 0);
    if (!eager.ok()) return eager.error();
    machine.eager = *eager;
  }
  if (!arguments.memory.empty()) machine.memory_ps = memory;
  machine.port = by_rank ? PortScope::kRank : PortScope::kNode;
  machine.sharing = is_fair ? Sharing::kFair : Sharing::kInTurn;
  machine.exclusive |= arguments.exclusive;
  if (!arguments.switch_ports.empty() && machine.switch_nodes == 0)
    return Error{"--switch-ports: say with --switch-nodes how many nodes a switch joins"};
  return true;
}

// Scales the other times of a message that no flag gives in proportion to alpha.
void scale_by_alpha(const MachineArguments& arguments, Machine& machine) {
  const Machine common;
  const auto scaled = [&](int64_t time) {
    return machine.between.alpha_ns * time / common.between.alpha_ns;
  };
  if (arguments.alpha_inside.empty()) machine.inside.alpha_ns = scaled(common.inside.alpha_ns);
  if (arguments.gap.empty()) machine.gap_ns = scaled(common.gap_ns);
  if (arguments.gap_inside.empty()) machine.gap_inside_ns = scaled(common.gap_inside_ns);
}

// Reads a JSON object that contains no other one. Its values become the texts of flags.
Result<MachineArguments> read_file_of_costs(const std::string& text) {
  jsmn_parser parser;
  jsmn_init(&parser);
  std::vector<jsmntok_t> tokens(256);
  const int count = jsmn_parse(&parser, text.data(), text.size(), tokens.data(),
                               static_cast<unsigned>(tokens.size()));
  const bool is_object = count > 0 && tokens[0].type == JSMN_OBJECT;
  if (!is_object ||
      text.find_first_not_of(" \t\r\n", static_cast<size_t>(tokens[0].end)) != std::string::npos)
    return Error{R"(it is no JSON object, such as {"alpha": "30us", "beta": "100Gbit/s"})"};
  const auto word = [&](int i) {
    return text.substr(static_cast<size_t>(tokens[i].start),
                       static_cast<size_t>(tokens[i].end - tokens[i].start));
  };
  MachineArguments costs;
  std::set<std::string> keys;
  for (int i = 1; i < count; i += 2) {
    const std::string key = word(i);
    // A key with a value has size 1, and the value is the next token.
    const jsmntype_t type = tokens[i].size == 1 ? tokens[i + 1].type : JSMN_UNDEFINED;
    if ((type != JSMN_STRING && type != JSMN_PRIMITIVE) || word(i + 1).empty())
      return Error{fmt::format("{}: its value is neither a text nor a number", key)};
    const std::string value = word(i + 1);
    if (!keys.insert(key).second) return Error{fmt::format("{}: it is there twice", key)};
    const auto* const name = std::find_if(std::begin(kNames), std::end(kNames),
                                          [&](const CostName& each) { return key == each.name; });
    if (name != std::end(kNames))
      costs.*(name->text) = value;
    else if (key == "exclusive" && (value == "true" || value == "false"))
      costs.exclusive = value == "true";
    else if (key != "source")
      return Error{fmt::format(
          "'{}' is no cost of a machine; each has the name of a flag, such as alpha-inside", key)};
  }
  return costs;
}

// Typical machines of their kind. `calibrate` measures a real one.
constexpr std::pair<const char*, const char*> kMachines[] = {
    {"ethernet-10g", R"({"alpha": "20us", "beta": "10Gbit/s", "gap": "1us",
                         "alpha-inside": "1us", "beta-inside": "8GB/s"})"},
    {"ethernet-100g", R"({"alpha": "10us", "beta": "100Gbit/s", "gap": "500ns",
                          "alpha-inside": "700ns", "beta-inside": "10GB/s"})"},
    {"infiniband-200g", R"({"alpha": "1500ns", "beta": "200Gbit/s", "gap": "50ns",
                            "alpha-inside": "400ns", "beta-inside": "15GB/s"})"},
    {"slingshot-200g", R"({"alpha": "2us", "beta": "200Gbit/s", "gap": "60ns",
                           "alpha-inside": "400ns", "beta-inside": "20GB/s"})"},
};

Result<std::string> text_of_machine(const std::string& machine) {
  for (const auto& [name, text] : kMachines)
    if (machine == name) return std::string(text);
  const Result<std::vector<uint8_t>> file = cli::read_file(machine);
  if (!file.ok())
    return Error{fmt::format("--machine: {}; name one of {}, or a JSON file", file.error().message,
                             machine_names())};
  return std::string(file->begin(), file->end());
}

}  // namespace

std::string machine_names() {
  std::string names;
  for (const auto& [name, text] : kMachines)
    names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

Result<Machine> read_machine(const MachineArguments& arguments) {
  Machine machine;
  if (!arguments.machine.empty()) {
    const Result<std::string> text = text_of_machine(arguments.machine);
    if (!text.ok()) return text.error();
    const Result<MachineArguments> costs = read_file_of_costs(*text);
    const Result<bool> read = costs.ok() ? read_into(*costs, machine) : costs.error();
    if (!read.ok())
      return Error{fmt::format("--machine: {}: {}", arguments.machine, read.error().message)};
  }
  const Result<bool> read = read_into(arguments, machine);
  if (!read.ok()) return read.error();
  if (arguments.machine.empty() && !arguments.alpha.empty()) scale_by_alpha(arguments, machine);
  return machine;
}

Result<bool> refuse_model(const MachineArguments& arguments, bool all, const std::string& why) {
  if (!arguments.bytes.empty()) return Error{"--bytes: " + why};
  if (!arguments.machine.empty()) return Error{"--machine: " + why};
  if (arguments.exclusive) return Error{"--exclusive: " + why};
  for (const CostName& name : kNames) {
    const bool is_kept =
        !all && (name.text == &MachineArguments::alpha || name.text == &MachineArguments::beta);
    if (!(arguments.*(name.text)).empty() && !is_kept)
      return Error{fmt::format("--{}: {}", name.name, why)};
  }
  return true;
}

}  // namespace quadrille
