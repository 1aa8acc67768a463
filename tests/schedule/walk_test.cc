// Compares the compiled walk with two oracles: random expressions with their evaluation, random loops with a
// recursive walk. tests/runtime/walk_test.cc compares the walks of all shapes and all algorithms.
#include "schedule/walk.h"

#include <gtest/gtest.h>

#include "tests/schedule/random_expressions.h"
#include "tests/support/evaluate.h"
#include "tests/support/events.h"
#include "tests/support/topologies.h"

namespace quadrille::walk_test {

// Ignores all events, for walks that need only the first step's key.
struct NoSink : SinkOf<NoSink> {};

// Returns this program: let x = ..; let y = ..; step EXPRESSION
Program program_with_key(const Expression& key, int64_t x, int64_t y) {
  Program program = program_around_expressions();
  program.body = {{Let{{"x"}, constant(x)}}, {Let{{"y"}, constant(y)}}, {Step{key, {}, {}}}};
  return program;
}

void expect_same_value(const Expression& expression) {
  const int64_t x = random_constant(), y = random_constant();
  const Program program = program_with_key(expression, x, y);
  REQUIRE(validate(program).ok());
  const auto sizes = drawn_list(1, 6);
  Job job = job_of(sizes);
  job.parameters = {random_constant() % kMaxParameter, random_constant() % kMaxParameter};
  const Binding binding = bind(program, job, {}, 0).value();
  const int64_t rank = drawn(0, binding.place.ranks);

  Environment environment{binding.place, binding.parameters, binding.tables, {x, y}};
  environment.place.rank = rank;
  Undefined why = Undefined::kNone;
  const auto expected = evaluate(expression, environment, &why);

  const Code code = Code::compile(program).value();
  std::vector<int64_t> registers(code.registers());
  Walker walker;
  NoSink sink;
  code.start(binding, rank, walker, registers.data());
  const Pause pause = code.run<PauseAtAll>(binding, walker, registers.data(), sink);
  REQUIRE((pause == Pause::kUndefined) == !expected.has_value());
  if (expected)
    REQUIRE(walker.key == *expected);
  else
    REQUIRE(walker.why == why);

  Binding here = binding;
  here.place.rank = rank;
  const std::vector<int64_t> variables = {x, y};
  Undefined formula_why = Undefined::kNone;
  REQUIRE(Formula(expression, 2).value(here, variables, &formula_why) == expected);
  REQUIRE((expected || formula_why == why));
}

PROPERTY(Walk, EvaluatesNumbersAsTheOracle) { expect_same_value(random_number(4)); }

PROPERTY(Walk, EvaluatesConditionsAsTheOracle) {
  expect_same_value(apply(Operator::kChoose, {random_condition(4), constant(1), constant(0)}));
}

// Tests a loop of one step, with random affine and other expressions of the loop's variable.
PROPERTY(Walk, TellsLoopsOfStepsAsTheOracle) {
  Program program = program_around_expressions();
  const Piece block{Buffer::kSend, random_number(2), {}};
  Step step{random_number(2),
            {},
            {{Message{Direction::kSend, false, false, random_number(2), {{Transfer{block}}}}}}};
  if (drawn_bool()) step.after = random_number(1);
  For loop{{"i"}, constant(drawn(-3, 3)), constant(drawn(-3, 12)), {}};
  loop.body = {{Let{{"j"}, apply(Operator::kMultiply, {variable(0), random_number(0)})}}, {step}};
  // The expressions use variable 0, the loop's, and 1, the let's. The let itself may use variable 0 alone.
  std::get<Let>(loop.body[0].kind).value.operands[1] = constant(drawn(-3, 4));
  program.body = {{loop}};
  REQUIRE(validate(program).ok());
  Job job = job_of({1, 2, 3});
  job.parameters = {5, -1};
  const Binding binding = bind(program, job, {}, 0).value();
  const Events oracle = oracle_events(program, binding, 2);
  const Events fast = fast_walk_events(program, binding, 2);
  REQUIRE(without_broken_step(walk_events(program, binding, 2)) == without_broken_step(oracle));
  REQUIRE(without_broken_step(fast) == without_broken_step(without_step_ends(oracle)));
}

// A program has fewer constants (tests/reject/limits_test.cc), but the claims of a proof may have more.
TEST(Walk, RefusesExpressionsThatNeedTooManyRegisters) {
  // Each constant needs a register of its own.
  Expression sum = constant(0);
  for (int i = 0; i < 300; ++i) sum = apply(Operator::kAdd, {sum, constant(1000 + i)});
  const auto code = Code::compile(sum, 0);
  ASSERT_FALSE(code.ok());
  EXPECT_NE(code.error().message.find("registers; at most 254 are allowed"), std::string::npos)
      << code.error().message;
}

}  // namespace quadrille::walk_test
