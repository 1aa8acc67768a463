// Executes plans with one mistake. If the check of plans accepts the mistake, it makes no difference: under every
// timing the call ends, and every byte is right. If the check refuses it, the mistake is undone before the call.
//
// The linker replaces the runtime's builder with __wrap_qd_builder_next.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "runtime/plan/builder.h"
#include "tests/net/trials.h"
#include "tests/support/effort.h"
#include "tests/support/plan_mutants.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"
#include "verifier/plan_check.h"

namespace quadrille::net {
namespace {

enum class Verdict { kNone, kRefused, kAccepted };

// A mistake in the plans of one rank.
struct Change {
  bool (*make)(qd_plan& plan, int n);
  int n, rank;
  Verdict verdict = Verdict::kNone;  // on the rank's last plan
};
Change* change = nullptr;

// Keeps a copy of a plan, and restores it.
class Kept {
 public:
  explicit Kept(qd_plan& plan)
      : plan_(plan),
        receives_(plan.receives.all, plan.receives.all + plan.receives.count),
        sends_(plan.sends.all, plan.sends.all + plan.sends.count),
        parts_(plan.parts, plan.parts + plan.part_count),
        operations_(plan.operations, plan.operations + plan.operation_count) {}
  void put_back() {
    std::copy(receives_.begin(), receives_.end(), plan_.receives.all);
    std::copy(sends_.begin(), sends_.end(), plan_.sends.all);
    std::copy(parts_.begin(), parts_.end(), plan_.parts);
    std::copy(operations_.begin(), operations_.end(), plan_.operations);
  }

 private:
  qd_plan& plan_;
  std::vector<qd_message> receives_, sends_;
  std::vector<qd_part> parts_;
  std::vector<qd_operation> operations_;
};

bool is_lawful(const qd_builder& builder) {
  verifier::PlanCheck check(builder);
  check.feed(*builder.plan);
  return !check.end();
}

void apply(const qd_builder& builder) {
  Kept kept(*builder.plan);
  EXPECT_TRUE(is_lawful(builder)) << "before the change";
  change->verdict = Verdict::kNone;
  if (!change->make(*builder.plan, change->n)) return;
  change->verdict = is_lawful(builder) ? Verdict::kAccepted : Verdict::kRefused;
  if (change->verdict == Verdict::kRefused) kept.put_back();
}

}  // namespace

// The linker requires these names.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" int __real_qd_builder_next(qd_builder* builder);
extern "C" int __wrap_qd_builder_next(qd_builder* builder) {
  const int more = __real_qd_builder_next(builder);
  if (change && more >= 0 && builder->plan->is_whole && this_rank() == change->rank)
    apply(*builder);
  return more;
}
// NOLINTEND(bugprone-reserved-identifier)

namespace {

struct Kind {
  const char* name;
  bool (*make)(qd_plan& plan, int n);
};
// tests/verifier/plans_test.cc shows that the check accepts no mistake of another kind.
constexpr Kind kKinds[] = {{"a wait is postponed", postpone_a_wait},
                           {"two operations are exchanged", swap_two_operations}};

struct Count {
  int refused = 0, accepted = 0, runs = 0;
};
using Counts = std::map<std::string, Count>;

void expect_right(CollectiveTrial& trial, const std::string& what) {
  const Fate fate = trial.run();
  EXPECT_TRUE(fate.problems.empty()) << what << fmt::format("{}", fmt::join(fate.problems, "\n"));
  EXPECT_TRUE(fate.succeeds() && fate.right) << what << trial.ways.text();
}

// Runs an accepted mistake under many timings.
void expect_right_under_every_timing(CollectiveTrial& trial, Count& count) {
  const Ways ways = trial.ways;
  ++count.accepted;
  for (const bool is_eager : {false, true})
    for (const bool is_synchronous : {false, true})
      for (unsigned seed = 1; seed <= 2; ++seed) {
        trial.ways.is_eager = is_eager;
        trial.ways.is_synchronous = is_synchronous;
        trial.ways.seed = ways.seed + seed;
        expect_right(trial, "accepted: ");
        // With another seed, the other group may be the first. Then the plan may differ.
        count.runs += change->verdict == Verdict::kAccepted;
      }
  trial.ways = ways;
}

// Tries mistakes one after another on one rank, at most `most` of each kind.
void try_mistakes(const RandomCase& drawn, uint64_t seed, int most, Counts& counts) {
  CollectiveTrial trial(drawn, seed);
  std::optional<verifier::Report> report = trial.report();
  if (report && report->uneven) {
    trial.call.lengths = LengthKind::kOne;
    report = trial.report();
  }
  if (!report || report->violation) return;
  trial.is_persistent = false;
  if (!trial.run().succeeds()) return;  // the runtime does not serve it
  for (const Kind& kind : kKinds)
    for (int n = 0; n < most && !testing::Test::HasFailure(); ++n) {
      Change made{kind.make, n, static_cast<int>(seed) % trial.call.groups.all()};
      const testing::ScopedTrace trace(
          __FILE__, __LINE__,
          fmt::format("{}, number {} at rank {}\n{}", kind.name, n, made.rank, trial.text()));
      change = &made;
      expect_right(trial, "at first: ");
      if (made.verdict == Verdict::kRefused) ++counts[kind.name].refused;
      if (made.verdict == Verdict::kAccepted)
        expect_right_under_every_timing(trial, counts[kind.name]);
      change = nullptr;
      if (made.verdict == Verdict::kNone) break;
    }
}

std::string text_of(const Counts& counts) {
  std::string text;
  for (const auto& [name, count] : counts)
    text += fmt::format("  {:<30} {:>5} refused {:>5} accepted, run {} times\n", name,
                        count.refused, count.accepted, count.runs);
  return text;
}

void expect_enough(const Counts& counts, int least) {
  fmt::print("{}", text_of(counts));
  for (const auto& [name, count] : counts) {
    EXPECT_GE(count.refused, least) << name;
    EXPECT_GE(count.accepted, least) << name;
  }
  EXPECT_EQ(counts.size(), std::size(kKinds));
}

TEST(PlanMutants, ThatAreAcceptedOfAlgorithmsMakeNoDifference) {
  Counts counts;
  uint64_t seed = 1;
  for (const Variant& variant : variants())
    for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{2, 3}, {1, 3}, {2}}) {
      const std::vector<Job> jobs = jobs_on(variant, sizes);
      if (jobs.empty()) continue;
      RandomCase one{variant.program, jobs.back(), {}, variant.name + "\n"};
      one.call = plain_call(one.program, one.job);
      for (int64_t& parameter : one.call.parameters) parameter = 7;
      try_mistakes(one, seed++, 6, counts);
    }
  expect_enough(counts, 200);
}

// Steps of random programs have several copies, reductions and messages of each kind.
TEST(PlanMutants, ThatAreAcceptedOfRandomProgramsMakeNoDifference) {
  const uint64_t programs = from_environment("PROGRAMS", 400);
  const uint64_t first = from_environment("SEED", 1);
  Counts counts;
  for (uint64_t seed = first; seed < first + programs && !HasFailure(); ++seed)
    if (const auto drawn = random_step_case(seed)) try_mistakes(*drawn, seed, 4, counts);
  expect_enough(counts, programs < 400 ? 0 : 100);
}

}  // namespace
}  // namespace quadrille::net
