// Intervals contain all values that occur: those of every expression of every program, at every place that a rank
// reaches, on all small jobs.
#include "verifier/prove/ranges.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/evaluate.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"

namespace quadrille::verifier::ranges_test {

constexpr Limits kSmall{.ranks = 5, .count = 3, .parameter = 5};

// Calls visit(environment) for all loop variables for which the path's elements hold, from element `from` on.
template <class Visit>
void follow(const Evaluation& evaluation, size_t from, Environment& environment,
            const Visit& visit) {
  if (from == evaluation.path.size()) return visit(environment);
  const PathElement& element = evaluation.path[from];
  Undefined why = Undefined::kNone;
  const auto value = [&](const Expression& e) { return *evaluate(e, environment, &why); };
  if (element.kind != PathElement::Kind::kLoop) {
    if (value(element.condition) == (element.kind == PathElement::Kind::kCondition))
      follow(evaluation, from + 1, environment, visit);
    return;
  }
  const int64_t low = value(element.low), high = value(element.high);
  for (int64_t i = low; i < high; ++i) {
    environment.variables.push_back(i);
    follow(evaluation, from + 1, environment, visit);
    environment.variables.pop_back();
  }
}

bool are_small(const std::vector<int64_t>& parameters) {
  return std::ranges::all_of(parameters, [](int64_t value) {
    return -kSmall.parameter <= value && value <= kSmall.parameter;
  });
}

TEST(Ranges, HoldEveryValueOnSmallJobs) {
  int64_t values = 0, tight = 0;
  for (const Collective collective : {Collective::kAlltoall, Collective::kAllgather})
    for (const Variant& variant : variants_of(collective)) {
      const Anatomy anatomy = take_apart(variant.program);
      for (const Evaluation& evaluation : anatomy.evaluations) {
        const std::pair<int64_t, int64_t> range = range_of(variant.program, evaluation, kSmall);
        const int64_t low = range.first, high = range.second;
        bool least = false, greatest = false;
        for (const std::vector<int64_t>& sizes : all_node_vectors(kSmall.ranks))
          for (const Job& job : jobs_on(variant, sizes)) {
            Call call = plain_call(variant.program, job);
            if (!call.counts.empty())
              for (size_t i = 0; i < call.counts[0].size(); ++i)
                call.counts[0][i] = (i * 2 + 1) % 4;
            const auto binding = bind(variant.program, job, call, 0);
            if (!binding.ok() || !are_small(binding->parameters)) continue;
            for (int64_t rank = 0; rank < binding->place.ranks; ++rank) {
              Environment environment{binding->place, binding->parameters, binding->tables, {}};
              environment.place.rank = rank;
              follow(evaluation, 0, environment, [&](const Environment& here) {
                Undefined why = Undefined::kNone;
                const int64_t value = *evaluate(evaluation.expression, here, &why);
                ASSERT_LE(low, value) << variant.name;
                ASSERT_GE(high, value) << variant.name;
                least |= value == low;
                greatest |= value == high;
                ++values;
              });
            }
          }
        tight += least && greatest;
      }
    }
  EXPECT_GT(values, 400000);
  EXPECT_GT(tight, 50);  // some intervals are exact
}

}  // namespace quadrille::verifier::ranges_test
