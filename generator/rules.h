// The command `choose` writes rules for the preload library, by simulated times in place of measured ones.
#pragma once

#include <string>

#include "generator/command.h"

namespace quadrille {

struct ChooseArguments : GenerateArguments {
  std::string format = "text";
};

// Adds the command, which fills `arguments`. The sizes of --bytes are in arguments.machine.bytes.
cli::Command add_choose(cli::Command& program, ChooseArguments& arguments);

// Writes the rules file and prints how many rules it has; returns the exit code.
int choose(const ChooseArguments& arguments);

}  // namespace quadrille
