// The text programs of tests/programs, with small cases of each. These shapes must be expressible in the language,
// and no algorithm of the registry has them.
#pragma once

#include <string>
#include <vector>

#include "schedule/binding.h"
#include "schedule/program.h"

namespace quadrille {

// Returns the program of that name. Aborts if its text does not parse.
Program shape(const std::string& name);

struct Case {
  Job job;
  Call call;
  std::string text;  // describes the case in messages
};

// Returns a few dozen jobs and calls for the shape of that name.
std::vector<Case> shape_cases(const std::string& name);

// Returns the names of all shapes.
const std::vector<std::string>& shape_names();

}  // namespace quadrille
