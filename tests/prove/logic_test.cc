// For random expressions and jobs, the value of the expression's term equals the value that tests/support/evaluate.h
// computes, if the expression has one. Polynomials behave like numbers.
#include "verifier/prove/logic.h"

#include <gtest/gtest.h>

#include <random>

#include "schedule/text.h"
#include "tests/prove/terms.h"
#include "tests/schedule/random_expressions.h"
#include "tests/support/effort.h"
#include "tests/support/evaluate.h"
#include "tests/support/topologies.h"

namespace quadrille::verifier::logic_test {

constexpr int kVariables = RandomExpressions::kVariables;
constexpr int kExpressions = kSanitized ? 200 : 1000;

Program with_tables() {
  return parse_program(R"(algorithm tables for alltoall
table size = nodes
table base = prefix(size)
table done = distinct(size)
copy send[rank] to recv[rank]
)",
                       "tables")
      .value();
}

// Translates expressions into terms over fresh unknowns. meaning() gives the unknowns the values of an environment.
struct Translated {
  explicit Translated(const Program& program) : logic(context, program) {
    instance.rank = logic.fresh("rank");
    for (int i = 0; i < kVariables; ++i)
      instance.variables.push_back(logic.fresh("v" + std::to_string(i)));
  }

  static Interpretation meaning(const Job& job, const Environment& environment) {
    Interpretation result(job, 7);
    result.set("rank", environment.place.rank);
    for (int i = 0; i < kVariables; ++i)
      result.set("v" + std::to_string(i), environment.variables[i]);
    return result;
  }

  z3::context context;
  Logic logic;
  Instance instance{};
};

class Sampler {
 public:
  Sampler() : program(with_tables()) {
    for (const std::vector<int64_t>& sizes : ascending_node_vectors(6))
      jobs.push_back(job_of(sizes));
  }

  // Draws a job, and an environment on it. The environment is valid until the next call.
  Environment environment() {
    job = jobs[below(jobs.size())];
    binding = bind(program, job, {}, 0).value();
    binding.place.rank = below(binding.place.ranks);
    Environment result{binding.place, binding.parameters, binding.tables, {}};
    for (int i = 0; i < kVariables; ++i) result.variables.push_back(below(11) - 3);
    return result;
  }

  int64_t below(int64_t end) { return static_cast<int64_t>(random_() % end); }

  const Program program;
  const RandomExpressions random{
      [this](int64_t low, int64_t high) { return low + below(high - low); },
      [this] { return below(9) - 3; }, 3, 0};
  std::vector<Job> jobs;
  Job job;
  Binding binding;

 private:
  std::mt19937 random_{20080908};
};

// Translates random expressions from `draw` by `translate`. For each one with a value in a random environment, calls
// compare(meaning of the unknowns, term, value).
template <class Draw, class Translate, class Compare>
void compare_on_samples(const Draw& draw, const Translate& translate, const Compare& compare) {
  Sampler sampler;
  for (int i = 0; i < kExpressions; ++i) {
    const Expression expression = draw(sampler.random, 1 + i % 4);
    Translated translated(sampler.program);
    const z3::expr term = translate(translated, expression);
    const std::vector<z3::expr> facts = translated.logic.knowledge();
    for (int k = 0; k < 4; ++k) {
      const Environment environment = sampler.environment();
      Undefined why = Undefined::kNone;
      const auto value = evaluate(expression, environment, &why);
      if (!value) continue;
      Interpretation meaning = Translated::meaning(sampler.job, environment);
      meaning.define(facts);
      const testing::ScopedTrace trace(
          __FILE__, __LINE__, term.to_string() + " on nodes " + sampler.job.groups[0].text());
      compare(meaning, term, *value);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Logic, NumbersMeanWhatTheyEvaluateTo) {
  int compared = 0;
  compare_on_samples(
      [](const RandomExpressions& random, int depth) { return random.number(depth); },
      [](Translated& to, const Expression& e) {
        return to.logic.term(to.logic.number(e, to.instance));
      },
      [&](const Interpretation& meaning, const z3::expr& term, int64_t value) {
        ASSERT_EQ(static_cast<int64_t>(meaning.number(term)), value);
        ++compared;
      });
  EXPECT_GT(compared, kExpressions);
}

TEST(Logic, ConditionsMeanWhatTheyEvaluateTo) {
  int true_ones = 0, false_ones = 0;
  compare_on_samples(
      [](const RandomExpressions& random, int depth) { return random.condition(depth); },
      [](Translated& to, const Expression& e) { return to.logic.condition(e, to.instance); },
      [&](const Interpretation& meaning, const z3::expr& term, int64_t value) {
        ASSERT_EQ(meaning.holds(term), value != 0);
        ++(value != 0 ? true_ones : false_ones);
      });
  EXPECT_GT(true_ones, kExpressions / 4);
  EXPECT_GT(false_ones, kExpressions / 4);
}

// The facts of knowledge() hold in every environment, also for terms of expressions without a value.
TEST(Logic, KnowledgeAboutRandomTermsHolds) {
  Sampler sampler;
  for (int i = 0; i < kExpressions / 3; ++i) {
    const Expression expression = sampler.random.number(1 + i % 4);
    Translated translated(sampler.program);
    translated.logic.term(translated.logic.number(expression, translated.instance));
    const std::vector<z3::expr> facts = translated.logic.knowledge();
    const Environment environment = sampler.environment();
    Interpretation meaning = Translated::meaning(sampler.job, environment);
    meaning.define(facts);
    for (const z3::expr& fact : facts)
      ASSERT_TRUE(meaning.holds(fact)) << fact << " on nodes " << sampler.job.groups[0].text();
  }
}

TEST(Logic, RewrittenEntriesAreWhatTheyAreRewrittenTo) {
  const Program program = with_tables();
  Translated translated(program);
  const Expression left = apply(Operator::kElement, {variable(0)}, 1);
  translated.logic.rewrite(left, variable(1), translated.instance);
  const z3::expr one = translated.logic.term(translated.logic.number(left, translated.instance));
  const z3::expr other =
      translated.logic.term(translated.logic.number(variable(1), translated.instance));
  EXPECT_TRUE(z3::eq(one, other));
  // The same index of another table is unchanged.
  const Expression elsewhere = apply(Operator::kElement, {variable(0)}, 0);
  EXPECT_FALSE(z3::eq(
      translated.logic.term(translated.logic.number(elsewhere, translated.instance)), other));
  // Another index of this table is unchanged, and so is the location of the same number.
  const Expression further = apply(Operator::kElement, {variable(1)}, 1);
  EXPECT_FALSE(
      z3::eq(translated.logic.term(translated.logic.number(further, translated.instance)), other));
  const Expression location = apply(Operator::kLocate, {variable(0)}, 1);
  EXPECT_FALSE(
      z3::eq(translated.logic.term(translated.logic.number(location, translated.instance)), other));
}

TEST(Polynomial, IsARing) {
  const Polynomial x = Polynomial::atom(0), y = Polynomial::atom(1);
  const Polynomial two = Polynomial::constant(2);
  EXPECT_EQ(((x + y) * (x + y)).terms(), (x * x + two * x * y + y * y).terms());
  EXPECT_EQ(((x + y) * (x - y)).terms(), (x * x - y * y).terms());
  EXPECT_TRUE((x - x).is_constant());
  EXPECT_EQ((x - x).constant_value(), 0);
  EXPECT_EQ((two * two).constant_value(), 4);
  EXPECT_FALSE((x + two).is_constant());
}

TEST(Polynomial, ThatIsTooLargeIsGivenUp) {
  const Polynomial large = Polynomial::constant(INT64_MAX);
  EXPECT_THROW(large + Polynomial::constant(1), z3::exception);
  EXPECT_THROW(large * Polynomial::constant(2), z3::exception);
  Polynomial sum = Polynomial::constant(0);
  EXPECT_THROW(
      {
        for (int i = 0; i < 3000; ++i) sum = sum + Polynomial::atom(i);
      },
      z3::exception);
}

}  // namespace quadrille::verifier::logic_test
