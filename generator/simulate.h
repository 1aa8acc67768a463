// The command `simulate` says how long a call takes on a model of a machine.
#pragma once

#include <string>

#include "generator/command.h"
#include "simulate/flags.h"
#include "simulate/planned.h"

namespace quadrille {

struct SimulateArguments {
  std::string file, trace, goal;
  std::string format = "text";
  MachineArguments machine;
  LengthArguments lengths;
  GenerateArguments own;  // --program, --reverse and --then
};

cli::Command add_simulate(cli::Command& program, SimulateArguments& arguments);

// Prints the times and writes the exports. Returns the exit code: 0, or 2 if the input is bad or plans wait for each other.
int simulate_call(SimulateArguments arguments);

}  // namespace quadrille
