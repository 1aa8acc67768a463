// The command `compare` shows the times of all algorithms over sizes.
#pragma once

#include "generator/command.h"
#include "view/curves.h"

namespace quadrille {

struct CompareArguments : GenerateArguments {
  std::string format = "table", measure;
};

cli::Command add_compare(cli::Command& program, CompareArguments& arguments);

// Prints a table, CSV or a picture; returns the exit code.
int compare(const CompareArguments& arguments);

// Reads the curves of a file that `compare --format csv` has written. Times of MPI's own collective become the curve
// `native`. Errors name the file and the line.
Result<Curves> read_curves(const std::string& path);

}  // namespace quadrille
