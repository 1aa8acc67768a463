// The smallest counterexamples to statements of Sanders and Traeff 2002 that are wrong as printed. Errata of other
// papers are in cases/errata.cases.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "generator/proof_file.h"
#include "tests/support/events.h"
#include "tests/support/topologies.h"
#include "verifier/check.h"
#include "verifier/prove/obligations.h"
#include "verifier/prove/refute.h"

namespace quadrille::verifier {
namespace {

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

// Returns two inter-node exchanges that share a node and may overlap: "0-3 and 1-2". Each rank makes its own steps in order,
// and no other chain of steps orders the two.
// Returns "" if there are none.
std::string exchanges_at_once(const Program& program, const std::vector<int64_t>& sizes) {
  const Job job = job_of(sizes);
  const Binding binding = bind(program, job, {}, 0).value();
  std::vector<int64_t> node_of;
  for (const int64_t size : job.groups[0].sizes())
    node_of.insert(node_of.end(), size, node_of.empty() ? 0 : node_of.back() + 1);
  using Meeting = std::tuple<int64_t, int64_t, int64_t>;  // key, and the two ranks
  std::set<std::pair<Meeting, Meeting>> before;
  std::set<Meeting> all;
  for (int64_t rank = 0; rank < binding.place.ranks; ++rank) {
    std::set<Meeting> last, step;
    int64_t key = 0;
    for (const std::string& event : oracle_events(program, binding, rank)) {
      if (event == "step end") {
        if (step.empty()) continue;
        for (const Meeting& earlier : last)
          for (const Meeting& later : step) before.emplace(earlier, later);
        last = std::exchange(step, {});
      } else if (event.starts_with("step ")) {
        key = std::stoll(event.substr(5));
      } else if (event.starts_with("send ") || event.starts_with("receive ")) {
        const int64_t peer = std::stoll(event.substr(event.rfind(' ') + 1));
        step.emplace(key, std::min(rank, peer), std::max(rank, peer));
      }
    }
    for (const auto& [earlier, later] : before) all.insert({earlier, later});
  }
  for (const Meeting& middle : all)
    for (const Meeting& first : all)
      if (before.count({first, middle}))
        for (const Meeting& last : all)
          if (before.count({middle, last})) before.emplace(first, last);
  const auto nodes = [&](const Meeting& m) {
    return std::pair(node_of[std::get<1>(m)], node_of[std::get<2>(m)]);
  };
  for (const Meeting& one : all)
    for (const Meeting& two : all) {
      const auto [a, b] = nodes(one);
      const auto [c, d] = nodes(two);
      if (one >= two || a == b || c == d || (a != c && a != d && b != c && b != d)) continue;
      if (before.count({one, two}) || before.count({two, one})) continue;
      return fmt::format("{}-{} and {}-{}", std::get<1>(one), std::get<2>(one), std::get<1>(two),
                         std::get<2>(two));
    }
  return "";
}

// The port holds if all ranks proceed in lock-step. At run time the next rank of a node may start its exchange before
// the previous rank's has completed, unless a token passes from one to the other.
TEST(Errata, TheSinglePortDoesNotHoldForEveryTiming) {
  const Program free = hierarchical("factor", chosen("keep", "free")),
                token = hierarchical("factor", chosen("keep", "token"));
  EXPECT_EQ(exchanges_at_once(free, {1, 2}), "");
  EXPECT_EQ(exchanges_at_once(free, {2, 2}), "0-3 and 1-2");
  EXPECT_EQ(checked(free, {2, 2}).port, PortVerdict::kLockStep);
  for (const std::vector<int64_t>& sizes : all_node_vectors(6)) {
    if (!std::ranges::is_sorted(sizes)) continue;
    EXPECT_EQ(exchanges_at_once(token, sizes), "");
    EXPECT_EQ(checked(token, sizes).port, PortVerdict::kEveryTiming);
    EXPECT_NE(checked(free, sizes).port, PortVerdict::kEveryTiming);
  }
}

}  // namespace
}  // namespace quadrille::verifier
