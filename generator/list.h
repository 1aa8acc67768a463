// The command `list` describes every algorithm.
#ifndef QUADRILLE_GENERATOR_LIST_H_
#define QUADRILLE_GENERATOR_LIST_H_

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

#endif  // QUADRILLE_GENERATOR_LIST_H_
