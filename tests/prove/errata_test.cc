// The smallest counterexamples to statements of Sanders and Traeff 2002 that are wrong as printed. tests/verifier/port_test.cc
// shows that their single port does not hold for every timing. Errata of other papers are in cases/errata.cases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/proof_file.h"
#include "tests/support/topologies.h"
#include "verifier/check.h"
#include "verifier/prove/obligations.h"
#include "verifier/prove/refute.h"

namespace quadrille::verifier::errata_test {

Choices chosen(const std::string& loops, const std::string& pacing) {
  return {{"self-loops", loops}, {"intra", "one-way"}, {"pacing", pacing}};
}

Program hierarchical(const std::string& name, const Choices& choices) {
  return make_program(*find_algorithm(Collective::kAlltoall, "hierarchical-" + name), choices);
}

Report checked(const Program& program, const std::vector<int64_t>& sizes) {
  return check_schedule(program, job_of(sizes), {}, {}).value();
}

// Returns the counterexample to a `refute` claim in the proof of the algorithm.
std::string counterexample(const std::string& claim,
                           const std::string& name = "hierarchical-factor",
                           const Choices& choices = chosen("keep", "free")) {
  const Algorithm* algorithm = find_algorithm(Collective::kAlltoall, name);
  const Proof proof = parse_proof(proof_file(*algorithm, choices), name).value();
  const ProofPlan plan = plan_proof(proof).value();
  for (const FalseClaim& claimed : plan.false_claims)
    if (claimed.name == claim)
      return find_counterexample(proof.program, claimed).value_or("there is none");
  return "no such claim";
}

TEST(Errata, ThePrintedInvariantIsFalseInsideANode) {
  EXPECT_EQ(counterexample("printed_invariant"), "nodes 1,2: phase = 1, u = 1, v = 2");
}

// A formula of Fan et al. 2024 gives negative slots for radix 3.
TEST(Errata, ThePrintedSlotsAreNegativeBeyondRadixTwo) {
  EXPECT_EQ(counterexample("printed_slot", "tuna", {}), "nodes 5x1, parameter 3: i = 4");
}

TEST(Errata, FifteenStepsAreEighteenWithSelfCopies) {
  EXPECT_THAT(counterexample("fifteen_steps_with_self_copies"), testing::StartsWith("nodes 1,2,3"));
  const Report with = checked(hierarchical("factor", chosen("keep", "free")), {1, 2, 3});
  EXPECT_EQ(with.steps + with.copy_steps, 18);
  const Report without = checked(hierarchical("factor", chosen("drop", "free")), {1, 2, 3});
  EXPECT_EQ(without.steps + without.copy_steps, 15);
}

// A node of n of the p ranks has p*n steps, of which n*n are inside it: a share of n/p, where the paper prints p/n.
TEST(Errata, TheShareOfStepsInsideANodeIsUpsideDown) {
  const Program program = hierarchical("factor", chosen("keep", "free"));
  const Report all = checked(program, {2, 2, 2}), inside = checked(program, {2});
  EXPECT_EQ(all.steps + all.copy_steps, 6 * 2);
  EXPECT_EQ(inside.steps + inside.copy_steps, 2 * 2);
}

}  // namespace quadrille::verifier::errata_test
