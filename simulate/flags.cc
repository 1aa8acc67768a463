#include "simulate/flags.h"

#include <fmt/format.h>

#include <algorithm>
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

namespace {

using Reader = std::string (*)(const std::string& flag, const std::string& text, int64_t& value);

std::string read_eager(const std::string& flag, const std::string& text, int64_t& value) {
  const Result<int64_t> bytes = read_bytes(flag.c_str(), text, 0);
  if (bytes.ok()) value = *bytes;
  return bytes.ok() ? "" : bytes.error().message;
}

std::string read_ports(const std::string& flag, const std::string& text, int64_t& value) {
  if (quantity_whole(text.data(), text.size(), 1, kMostPorts, &value)) return "";
  return fmt::format("{}: '{}' is not a number from 1 to {}", flag, text, kMostPorts);
}

std::string read_seed(const std::string& flag, const std::string& text, int64_t& value) {
  if (quantity_whole(text.data(), text.size(), 0, INT64_MAX, &value)) return "";
  return fmt::format("{}: '{}' is not a whole number", flag, text);
}

// Sets the value to whether the text is the second word.
std::string read_word(const std::string& flag, const std::string& text, const char* one,
                      const char* other, int64_t& value) {
  value = text == other;
  if (text == one || text == other) return "";
  return fmt::format("{}: '{}' is none of {}, {}", flag, text, one, other);
}
std::string read_port(const std::string& flag, const std::string& text, int64_t& by_rank) {
  return read_word(flag, text, "node", "rank", by_rank);
}
std::string read_sharing(const std::string& flag, const std::string& text, int64_t& is_fair) {
  return read_word(flag, text, "in-turn", "fair", is_fair);
}

// A machine whose costs are all numbers.
struct Numbers {
  explicit Numbers(const Machine& machine)
      : machine(machine),
        memory(machine.memory_ps.value_or(kNone)),
        by_rank(machine.port == PortScope::kRank),
        is_fair(machine.sharing == Sharing::kFair) {}
  static constexpr int64_t kNone = -1;
  Machine machine;
  int64_t memory, by_rank, is_fair;
};

// The commands that have the flag of a cost: those with block sizes or a model, those with a model, or simulations.
enum class Use { kBlockSizes, kModel, kSimulation };

// A cost. It has this name in a file, and "--" before it in flags. {} in the help stands for the default.
struct Cost {
  const char *name, *type;
  std::string& text;
  Reader read;
  int64_t& value;
  Use use;
  const char* help;
};

std::vector<Cost> costs_of(MachineArguments& a, Numbers& numbers) {
  Machine& m = numbers.machine;
  using enum Use;
  return {
      {"alpha", "TIME", a.alpha, read_alpha, m.between.alpha_ns, kBlockSizes,
       "the time of a message between nodes, 30us; nanoseconds without a unit (default {}ns)"},
      {"beta", "TIME|RATE", a.beta, read_beta, m.between.beta_ps, kBlockSizes,
       "the time of one of its bytes, 125ps, or the rate, 100Gbit/s; picoseconds without a unit "
       "(default {}ps)"},
      {"alpha-inside", "TIME", a.alpha_inside, read_alpha, m.inside.alpha_ns, kModel,
       "the time of a message inside a node (default: that of --machine, or a quarter of alpha)"},
      {"beta-inside", "TIME|RATE", a.beta_inside, read_beta, m.inside.beta_ps, kModel,
       "the time of one of its bytes (default {}ps)"},
      {"gap", "TIME", a.gap, read_alpha, m.gap_ns, kModel,
       "the time from one message of a port to its next (default: that of --machine, or a fortieth "
       "of alpha)"},
      {"gap-inside", "TIME", a.gap_inside, read_alpha, m.gap_inside_ns, kModel,
       "the same for messages inside a node (default: that of --machine, or a fortieth of alpha)"},
      {"copy", "TIME", a.copy, read_alpha, m.copy.alpha_ns, kModel,
       "the time to copy a block into or out of a message (default {}ns)"},
      {"beta-copy", "TIME|RATE", a.beta_copy, read_beta, m.copy.beta_ps, kModel,
       "the time of each byte of such a copy (default {}ps)"},
      {"beta-alone", "TIME|RATE", a.beta_alone, read_beta, m.beta_alone_ps, kModel,
       "the time of a byte inside a node while no other message is there (default: as "
       "--beta-inside)"},
      {"eager", "SIZE", a.eager, read_eager, m.eager, kModel,
       "the longest message that its sender sends before the receive is posted (default {})"},
      {"port", "node|rank", a.port, read_port, numbers.by_rank, kModel,
       "the ranks of a node share its port and its memory, or each has its own (default node)"},
      {"memory", "TIME|RATE", a.memory, read_beta, numbers.memory, kSimulation,
       "the time of a byte in the memory that all messages inside a node share; 0: it is no limit "
       "(default: as --beta-inside)"},
      {"overhead", "TIME", a.overhead, read_alpha, m.overhead.alpha_ns, kSimulation,
       "how long a message keeps its sender busy, and its receiver (default {})"},
      {"beta-overhead", "TIME|RATE", a.beta_overhead, read_beta, m.overhead.beta_ps, kSimulation,
       "the same for each of its bytes (default {})"},
      {"beta-congestion", "TIME|RATE", a.beta_congestion, read_beta, m.beta_congestion_ps,
       kSimulation,
       "the time that 1,000 further messages on their way to a port add to each byte there "
       "(default {})"},
      {"ports", "NUMBER", a.ports, read_ports, m.ports, kSimulation,
       "the ports of a node, or of a rank (default {})"},
      {"switch-nodes", "NUMBER", a.switch_nodes, read_ports, m.switch_nodes, kSimulation,
       "a switch joins so many nodes, in the order of the schedule (default: one joins all)"},
      {"switch-ports", "NUMBER", a.switch_ports, read_ports, m.switch_ports, kSimulation,
       "the ports of a switch to the others, each as fast as a node's (default {})"},
      {"noise", "TIME", a.noise, read_alpha, m.noise_ns, kSimulation,
       "each message starts later by a random time of this mean (default {})"},
      {"seed", "NUMBER", a.seed, read_seed, m.seed, kSimulation,
       "of all random numbers (default {})"},
      {"sharing", "in-turn|fair", a.sharing, read_sharing, numbers.is_fair, kSimulation,
       "messages at a port go on one after another, or at once with equal shares (default "
       "in-turn)"},
  };
}

// Adds the flags of costs. The help of those that only a model uses begins with `when`.
void add_costs(cli::Command& command, MachineArguments& arguments, bool are_simulated,
               const std::string& when) {
  Numbers common{Machine{}};
  for (const Cost& cost : costs_of(arguments, common))
    if ((cost.use == Use::kSimulation) == are_simulated)
      command.add(
          std::string("--") + cost.name, cost.type, &cost.text,
          (cost.use == Use::kModel ? when : "") + fmt::format(fmt::runtime(cost.help), cost.value));
}

}  // namespace

void add_machine(cli::Command& command, MachineArguments& arguments, const std::string& when) {
  command.add("--bytes", "SIZE", &arguments.bytes,
              when +
                  "the average length of a block, 4096 or 4KiB. A block is what a rank contributes "
                  "or gets by itself. In an all-to-all it goes to one other rank. In a reduction "
                  "it is the whole vector");
  command.add("--machine", "NAME|FILE", &arguments.machine,
              fmt::format("{}its costs: one of {}, or a JSON file with these names, {{\"alpha\": "
                          "\"30us\", \"beta\": \"100Gbit/s\"}}; flags replace them",
                          when, machine_names()));
  add_costs(command, arguments, false, when);
}

void add_simulation(cli::Command& command, MachineArguments& arguments) {
  add_costs(command, arguments, true, "");
  command.add_flag("--exclusive", arguments.exclusive,
                   "a port does not send and receive at the same time");
}

namespace {

// Replaces the costs of the machine that are given.
Result<bool> read_into(MachineArguments arguments, Machine& machine) {
  Numbers numbers(machine);
  for (const Cost& cost : costs_of(arguments, numbers)) {
    if (cost.text.empty()) continue;
    const std::string error = cost.read(std::string("--") + cost.name, cost.text, cost.value);
    if (!error.empty()) return Error{error};
  }
  machine = numbers.machine;
  if (numbers.memory != Numbers::kNone) machine.memory_ps = numbers.memory;
  machine.port = numbers.by_rank ? PortScope::kRank : PortScope::kNode;
  machine.sharing = numbers.is_fair ? Sharing::kFair : Sharing::kInTurn;
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
  Numbers unused{Machine{}};
  const std::vector<Cost> all = costs_of(costs, unused);
  std::set<std::string> keys;
  for (int i = 1; i < count; i += 2) {
    const std::string key = word(i);
    // A key with a value has size 1, and the value is the next token.
    const jsmntype_t type = tokens[i].size == 1 ? tokens[i + 1].type : JSMN_UNDEFINED;
    if ((type != JSMN_STRING && type != JSMN_PRIMITIVE) || word(i + 1).empty())
      return Error{fmt::format("{}: its value is neither a text nor a number", key)};
    const std::string value = word(i + 1);
    if (!keys.insert(key).second) return Error{fmt::format("{}: it is there twice", key)};
    const auto cost = std::ranges::find_if(all, [&](const Cost& each) { return key == each.name; });
    if (cost != all.end())
      cost->text = value;
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

Result<bool> refuse_model(MachineArguments arguments, bool all, const std::string& why) {
  if (!arguments.bytes.empty()) return Error{"--bytes: " + why};
  if (!arguments.machine.empty()) return Error{"--machine: " + why};
  if (arguments.exclusive) return Error{"--exclusive: " + why};
  Numbers unused{Machine{}};
  for (const Cost& cost : costs_of(arguments, unused))
    if (!cost.text.empty() && (all || cost.use != Use::kBlockSizes))
      return Error{fmt::format("--{}: {}", cost.name, why)};
  return true;
}

}  // namespace quadrille
