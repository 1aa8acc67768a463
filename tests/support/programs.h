// The text programs of tests/programs, with small cases of each: shapes that the language must express and that no
// algorithm of the registry has.
#ifndef QUADRILLE_TESTS_SUPPORT_PROGRAMS_H_
#define QUADRILLE_TESTS_SUPPORT_PROGRAMS_H_

#include <string>
#include <vector>

#include "schedule/binding.h"
#include "schedule/program.h"

namespace quadrille {

// The parsed program of that name. Aborts if it does not parse.
Program shape(const std::string& name);

struct Case {
  Job job;
  Call call;
  std::string text;  // for messages
};

// Jobs and calls for the shape of that name, a few dozen of them.
std::vector<Case> shape_cases(const std::string& name);

// The names of all shapes.
const std::vector<std::string>& shape_names();

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_SUPPORT_PROGRAMS_H_
