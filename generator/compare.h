// The command `compare` shows the times of all algorithms over sizes.
#ifndef QUADRILLE_GENERATOR_COMPARE_H_
#define QUADRILLE_GENERATOR_COMPARE_H_

#include "generator/command.h"
#include "view/curves.h"

namespace quadrille {

struct CompareArguments : GenerateArguments {
  std::string format = "table", measure;
};

cli::Command add_compare(cli::Command& program, CompareArguments& arguments);

// Prints a table, CSV or a picture; returns the exit code.
int compare(const CompareArguments& arguments);

// The simulated times of the best candidate of each algorithm at these sizes, and the lower bound.
Curves simulated_curves(Workload workload, const std::vector<int64_t>& sizes);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_COMPARE_H_
