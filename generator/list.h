// The command `list` describes every algorithm.
#pragma once

#include <string>

#include "cli/command_line.h"

namespace quadrille {

struct ListArguments {
  std::string format = "text";
};

cli::Command add_list(cli::Command& program, ListArguments& arguments);

// Prints text, or JSON as cli/schemas/list.json describes it; returns the exit code.
int list(const ListArguments& arguments);

}  // namespace quadrille
