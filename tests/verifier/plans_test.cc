// The runtime's own plans are lawful, for every algorithm and window, in place or not, kept or streamed; a plan with a
// mistake in it is not.
#include "verifier/plans.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>

#include "generator/encode.h"
#include "runtime/plan/check.h"
#include "tests/support/effort.h"
#include "tests/support/programs.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"

namespace quadrille {
namespace {

using verifier::PlanOptions;
using verifier::Plans;

Result<Plans> plans_of(const Program& program, const Case& one) {
  const Bytes file = encode(program, one.job);
  return Plans::make(file, program, one.job, one.call);
}

std::string name_of(const Variant& variant, const std::vector<int64_t>& sizes,
                    const PlanOptions& options) {
  return fmt::format("{} on {}, window {}{}{}", variant.name, topology_of(sizes).text(),
                     options.window, options.in_place ? ", in place" : "",
                     options.whole ? "" : ", streamed");
}

void expect_lawful(const Variant& variant, const std::vector<int64_t>& sizes, const Plans& plans) {
  for (const int window : {1, 2, 1 << 16})
    for (const bool in_place : {false, true})
      for (const bool whole : {false, true}) {
        if (in_place && !plans.has_in_place()) continue;
        const PlanOptions options{window, in_place, whole};
        const auto law = plans.broken_law(options);
        ASSERT_TRUE(law.ok()) << name_of(variant, sizes, options) << ": " << law.error().message;
        EXPECT_FALSE(law->has_value()) << name_of(variant, sizes, options) << ": " << **law;
      }
}

TEST(Plans, OfEveryAlgorithmAreLawfulOnEverySmallTopology) {
  int checked = 0;
  for (const Variant& variant : variants())
    for (const std::vector<int64_t>& sizes : all_node_vectors(5))
      for (const Case& one : cases_on(variant, sizes)) {
        const Result<Plans> plans = plans_of(variant.program, one);
        ASSERT_TRUE(plans.ok()) << variant.name << ": " << plans.error().message;
        expect_lawful(variant, sizes, *plans);
        ++checked;
      }
  EXPECT_GT(checked, 1000);
}

// The laws have the names of the theorem's hypotheses.
TEST(Plans, LawsAreTheFieldsOfTheTheoremsRecord) {
  std::ifstream file("theory/Runtime.v");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const size_t begin = text.find("Record lawful_plan := {"), end = text.find("\n}.", begin);
  ASSERT_NE(end, std::string::npos);
  const std::string record = text.substr(begin, end - begin);
  const std::regex field("\n  ([a-z_]+) :");
  std::vector<std::string> fields, laws;
  for (std::sregex_iterator it(record.begin(), record.end(), field), none; it != none; ++it)
    fields.push_back((*it)[1]);
  for (const char* const* law = quadrille_laws; *law; ++law) laws.emplace_back(*law);
  ASSERT_GE(laws.size(), fields.size());
  laws.resize(fields.size());
  EXPECT_EQ(laws, fields);
}

// ---- Mutants

// The plans of one process with one mistake, the n-th of a kind; false where there are no more of them.
using Mutation = std::function<bool(quadrille_plan& plan, int n)>;

bool drop_a_wait(quadrille_plan& plan, int n) {
  for (int32_t i = 0; i < plan.operation_count; ++i) {
    quadrille_operation& o = plan.operations[i];
    if (o.kind != QUADRILLE_PLAN_MESSAGES) continue;
    for (int32_t* waits : {&o.more.received, &o.more.gone})
      if (*waits > 0 && n-- == 0) {
        --*waits;
        return true;
      }
  }
  return false;
}

bool widen_a_part(quadrille_plan& plan, int n) {
  for (quadrille_messages* messages : {&plan.receives, &plan.sends})
    for (int32_t i = 0; i < messages->count; ++i) {
      quadrille_message& m = messages->all[i];
      quadrille_part& part = m.count == 1 ? m.part : plan.parts[m.first];
      if (m.count == 0 || n-- != 0) continue;
      if (part.form == QUADRILLE_RANGE)
        ++part.high;
      else
        ++part.place;
      return true;
    }
  return false;
}

bool reuse_a_buffer(quadrille_plan& plan, int n) {
  // Of two receives that are in flight together.
  int32_t posted = 0, received = 0;
  for (int32_t i = 0; i < plan.operation_count; ++i) {
    const quadrille_operation& o = plan.operations[i];
    if (o.kind != QUADRILLE_PLAN_MESSAGES) continue;
    received += o.more.received;
    for (int32_t k = 0; k < o.more.posted; ++k, ++posted) {
      quadrille_message& m = plan.receives.all[posted];
      for (int32_t other = received; other < posted; ++other)
        if (m.buffer >= 0 && plan.receives.all[other].buffer >= 0 && n-- == 0) {
          m.buffer = plan.receives.all[other].buffer;
          return true;
        }
    }
  }
  return false;
}

// What waits for a receive, or copies, comes later than what follows it.
bool swap_two_operations(quadrille_plan& plan, int n) {
  for (int32_t i = 0; i + 2 < plan.operation_count; ++i) {
    quadrille_operation &a = plan.operations[i], &b = plan.operations[i + 1];
    if (a.kind == b.kind && a.kind != QUADRILLE_PLAN_MESSAGES && a.kind != QUADRILLE_PLAN_COPY)
      continue;
    if (n-- != 0) continue;
    std::swap(a, b);
    return true;
  }
  return false;
}

struct Outcome {
  int dead = 0, alive = 0;
  std::string survivor;
};

// One rank's plan is changed at a time.
Outcome try_mutants(const Mutation& mutation, int most) {
  Outcome outcome;
  for (const Variant& variant : variants())
    for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{2, 3}, {1, 3}})
      for (const Case& one : cases_on(variant, sizes)) {
        const Result<Plans> plans = plans_of(variant.program, one);
        if (!plans.ok()) continue;
        for (const int window : {1, 4})
          for (int n = 0; n < most; ++n) {
            bool changed = false;
            const PlanOptions options{window, plans->has_in_place(), true};
            const auto law = plans->broken_law(options, [&](size_t process, quadrille_plan& plan) {
              if (process == 1) changed = mutation(plan, n);
            });
            if (!law.ok() || !changed) break;
            if (law->has_value()) {
              ++outcome.dead;
            } else {
              ++outcome.alive;
              outcome.survivor = fmt::format("{}, change {}", name_of(variant, sizes, options), n);
            }
          }
      }
  return outcome;
}

TEST(PlanMutants, WithoutAWaitAreRefused) {
  const Outcome outcome = try_mutants(drop_a_wait, 3);
  EXPECT_GE(outcome.dead, 200);
  EXPECT_EQ(outcome.alive, 0) << outcome.survivor;
}

TEST(PlanMutants, WithAWiderPartAreRefused) {
  const Outcome outcome = try_mutants(widen_a_part, 3);
  EXPECT_GE(outcome.dead, 200);
  EXPECT_EQ(outcome.alive, 0) << outcome.survivor;
}

TEST(PlanMutants, ThatUseABufferTwiceAreRefused) {
  const Outcome outcome = try_mutants(reuse_a_buffer, 3);
  EXPECT_GE(outcome.dead, 200);
  EXPECT_EQ(outcome.alive, 0) << outcome.survivor;
}

// Of two neighbours some may change places: a receive may be posted sooner, a send be waited for later. Such a plan is
// lawful, and the theorem says that what is lawful is right.
TEST(PlanMutants, WithTwoOperationsExchangedAreRefusedWhereOneNeedsTheOther) {
  EXPECT_GE(try_mutants(swap_two_operations, 3).dead, 200);
}

}  // namespace
}  // namespace quadrille
