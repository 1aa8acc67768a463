// The flags that describe a machine, and files of JSON with the same names. tools/calibrate.c prints most of them.
#ifndef QUADRILLE_SIMULATE_FLAGS_H_
#define QUADRILLE_SIMULATE_FLAGS_H_

#include <string>

#include "schedule/result.h"
#include "simulate/machine.h"

namespace quadrille {

namespace cli {
class Command;
}

// Reads a time, such as 30us; for a byte also a rate, 100Gbit/s. Without a unit, alpha is in nanoseconds and beta in
// picoseconds. An empty text leaves the value as it is. Returns an error that names the flag, or an empty string.
std::string read_alpha(const std::string& flag, const std::string& text, int64_t& ns);
std::string read_beta(const std::string& flag, const std::string& text, int64_t& ps);
// A size: 4096, 4KiB.
Result<int64_t> read_bytes(const char* flag, const std::string& text, int64_t least);

// As typed. Empty if not given.
struct MachineArguments {
  std::string bytes, machine, alpha, beta, alpha_inside, beta_inside, gap, gap_inside, copy,
      beta_copy, beta_alone, eager, port;
  // Flags of simulations alone.
  std::string memory, overhead, beta_overhead, noise, sharing, ports, switch_nodes, switch_ports,
      seed;
  bool exclusive = false;
};

// Adds the flags of all commands that have a machine. `when`: the beginning of most help texts.
void add_machine(cli::Command& command, MachineArguments& arguments, const std::string& when);
// Adds the flags of simulations alone. A file of --machine may have them for other commands, too.
void add_simulation(cli::Command& command, MachineArguments& arguments);

// The machine that --machine names, or the common one, with the costs that flags give. If alpha is given and no machine, the
// other times of a message that are not given are in proportion to it. Errors name the flag, or the file and the key.
Result<Machine> read_machine(const MachineArguments& arguments);
// "ethernet-10g, infiniband-200g".
std::string machine_names();

// For commands without a machine: an error that names the first flag that was given, and the reason. --alpha and --beta are
// refused only if `all`, since block sizes use them, too.
Result<bool> refuse_model(const MachineArguments& arguments, bool all, const std::string& why);

}  // namespace quadrille

#endif  // QUADRILLE_SIMULATE_FLAGS_H_
