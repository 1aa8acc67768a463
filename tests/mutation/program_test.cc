// The mutator itself: it makes valid programs, all different, of every kind that it promises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "schedule/text.h"
#include "tests/support/mutants.h"
#include "tests/support/programs.h"

namespace quadrille {
namespace {

std::set<std::string> kinds(const std::vector<Mutant>& mutants) {
  std::set<std::string> result;
  for (const Mutant& mutant : mutants)
    result.insert(mutant.description.substr(0, mutant.description.find(',')));
  return result;
}

TEST(Mutants, AreValidAndDifferFromTheOriginalAndFromEachOther) {
  for (const std::string& name : shape_names()) {
    const Program original = shape(name);
    std::set<std::string> seen = {print(original)};
    for (const Mutant& mutant : mutants(original)) {
      EXPECT_TRUE(validate(mutant.program).ok()) << mutant.description;
      EXPECT_FALSE(mutant.program == original) << mutant.description;
      EXPECT_TRUE(seen.insert(print(mutant.program)).second) << mutant.description;
    }
    EXPECT_GT(seen.size(), 50u) << name;
  }
}

TEST(Mutants, AreOfEveryKind) {
  std::set<std::string> found;
  for (const std::string& name : shape_names()) found.merge(kinds(mutants(shape(name))));
  EXPECT_THAT(found, testing::UnorderedElementsAre(
                         "in-place claim", "commutative claim", "claim of canonical sums",
                         "port claim", "requirement dropped", "table kind", "table source",
                         "expression + 1", "expression - 1", "constant", "limit", "another name",
                         "operator", "operands exchanged", "alternatives exchanged",
                         "condition negated", "operator dropped", "statement dropped",
                         "statement doubled", "statements exchanged", "peers exchanged",
                         "branches exchanged", "guard dropped", "after dropped", "after added",
                         "direction", "sized", "remote", "combining", "copy turned", "side",
                         "reduction turned", "reduction became a copy", "buffer", "range dropped"));
}

TEST(Mutants, AreDescribedByTheLineThatChanged) {
  const std::vector<Mutant> found = mutants(shape("factor"));
  EXPECT_THAT(found,
              testing::Contains(testing::Field(&Mutant::description,
                                               "constant, line 5: `for round in 0 .. ranks` became "
                                               "`for round in 1 .. ranks`")));
}

}  // namespace
}  // namespace quadrille
