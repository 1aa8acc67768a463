// Reads a machine from flags, and from JSON files with the same names. tools/calibrate.c prints most of the flags.
#pragma once

#include <string>

#include "schedule/result.h"
#include "simulate/machine.h"

namespace quadrille {

namespace cli {
class Command;
}

// Read the time of a message (30us), and that of a byte (40ns, or a rate, 100Gbit/s). Without a unit, these are in
// nanoseconds and picoseconds. An empty text changes nothing. Return an error that names the flag, or "".
std::string read_alpha(const std::string& flag, const std::string& text, int64_t& ns);
std::string read_beta(const std::string& flag, const std::string& text, int64_t& ps);
// Reads a size of at least `least` bytes: 4096, 4KiB. The error names the flag.
Result<int64_t> read_bytes(const char* flag, const std::string& text, int64_t least);

// The values of flags as typed. Empty if not given.
struct MachineArguments {
  std::string bytes, machine, alpha, beta, alpha_inside, beta_inside, gap, gap_inside, copy,
      beta_copy, beta_alone, eager, port;
  // Flags that only simulations have.
  std::string memory, overhead, beta_overhead, beta_congestion, noise, sharing, ports, switch_nodes,
      switch_ports, seed;
  bool exclusive = false;
};

// Adds the flags that all commands with a machine have. Most help texts begin with `when`.
void add_machine(cli::Command& command, MachineArguments& arguments, const std::string& when);
// Adds the flags that only simulations have. A file of --machine may give these costs to other commands, too.
void add_simulation(cli::Command& command, MachineArguments& arguments);

// Returns the machine that --machine names, or the common one, with the costs of flags. --alpha without --machine
// also scales the other times of a message that no flag gives. Errors name the flag, or the file and the key.
Result<Machine> read_machine(const MachineArguments& arguments);
// Returns the names of the machines that are built in: "ethernet-10g, infiniband-200g".
std::string machine_names();

// Refuses the flags of a machine where none is used. The error names a flag that was given, and the reason `why`.
// --alpha and --beta are refused only if `all`, because block sizes use them, too.
Result<bool> refuse_model(MachineArguments arguments, bool all, const std::string& why);

}  // namespace quadrille
