// Tests the tools of these tests. The oracle accepts every algorithm, like the checker. The mutator makes valid
// programs, all different, and makes every kind of change that it promises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "schedule/text.h"
#include "tests/support/mutants.h"
#include "tests/support/oracle.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"
#include "verifier/check.h"

namespace quadrille::oracle_test {

TEST(Oracle, FindsEveryAlgorithmRight) {
  for (const Variant& variant : variants())
    for (const std::vector<int64_t>& sizes : all_node_vectors(6))
      for (const Case& c : cases_on(variant, sizes))
        EXPECT_EQ(what_is_wrong(variant.program, c.job, c.call).value_or("right"), "right")
            << c.text;
}

// The first key is the least 64-bit number: no key can precede it.
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

// Returns algorithms that have statements and claims of all kinds.
std::vector<Program> programs() {
  std::vector<Program> all;
  for (const auto& [collective, name, groups] :
       {std::tuple(Collective::kAlltoall, "factor", 1),
        {Collective::kAlltoall, "tuna", 1},
        {Collective::kAlltoall, "tuna-coalesced", 1},
        {Collective::kAllgather, "blocked-ring", 1},
        {Collective::kAllgather, "segment-map-v", 2},
        {Collective::kBroadcast, "binomial", 1},
        {Collective::kReduceScatter, "ring", 1},
        {Collective::kReduceScatter, "blocked-ring-nodes", 1},
        {Collective::kReduceScatter, "halving", 1},
        {Collective::kScan, "doubling", 1},
        {Collective::kBarrier, "dissemination", 1}})
    all.push_back(variant_named(collective, name, groups).program);
  return all;
}

std::set<std::string> kinds(const std::vector<Mutant>& mutants) {
  std::set<std::string> result;
  for (const Mutant& mutant : mutants)
    result.insert(mutant.description.substr(0, mutant.description.find(',')));
  return result;
}

TEST(Mutants, AreValidAndDifferFromTheOriginalAndFromEachOther) {
  for (const Program& original : programs()) {
    std::set<std::string> seen = {print(original)};
    for (const Mutant& mutant : mutants(original)) {
      EXPECT_TRUE(validate(mutant.program).ok()) << mutant.description;
      EXPECT_FALSE(mutant.program == original) << mutant.description;
      EXPECT_TRUE(seen.insert(print(mutant.program)).second) << mutant.description;
    }
    EXPECT_GT(seen.size(), 50u) << original.algorithm.text;
  }
}

TEST(Mutants, AreOfEveryKind) {
  std::set<std::string> found;
  for (const Program& program : programs()) found.merge(kinds(mutants(program)));
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
  const std::vector<Mutant> found = mutants(programs()[0]);
  EXPECT_THAT(found,
              testing::Contains(testing::Field(&Mutant::description,
                                               "constant, line 5: `for round in 0 .. ranks` became "
                                               "`for round in 1 .. ranks`")));
}

}  // namespace quadrille::oracle_test
