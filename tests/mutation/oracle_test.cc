// The oracle of these tests itself, against the checker: every shape and every algorithm is right,
// and every program that differs in one place is judged alike.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "generator/registry.h"
#include "tests/support/mutants.h"
#include "tests/support/oracle.h"
#include "tests/support/programs.h"
#include "tests/support/topologies.h"
#include "verifier/check.h"

namespace quadrille {
namespace {

TEST(Oracle, FindsEveryShapeRight) {
  for (const std::string& name : shape_names()) {
    const Program program = shape(name);
    for (const Case& shape_case : shape_cases(name))
      EXPECT_EQ(what_is_wrong(program, shape_case.job, shape_case.call).value_or("right"), "right")
          << name << " on " << shape_case.text;
  }
}

TEST(Oracle, FindsEveryAlgorithmRight) {
  for (const Algorithm& algorithm : algorithms())
    for (const Choices& choices : all_choices(algorithm)) {
      const Program program = make_program(algorithm, choices);
      for (const std::vector<int64_t>& sizes : all_node_vectors(6)) {
        const Job job = job_of(sizes);
        if (!bind(program, job, {}, 0).ok()) continue;
        EXPECT_EQ(what_is_wrong(program, job, {}).value_or("right"), "right")
            << program.algorithm.text << " on " << job.groups[0].text();
      }
    }
}

}  // namespace
}  // namespace quadrille
