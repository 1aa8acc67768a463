// Checks the value of every operator at the limits of its operands.
#include "tests/support/evaluate.h"

#include <gtest/gtest.h>

#include <limits>

namespace quadrille::evaluate_test {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(),
                  kGreatest = std::numeric_limits<int64_t>::max();

struct Outcome {
  std::optional<int64_t> value;
  Undefined why;
  friend bool operator==(const Outcome&, const Outcome&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
    return outcome.value ? out << *outcome.value : out << describe(outcome.why);
  }
};

const std::vector<int64_t> kParameters = {7, -2};
const std::vector<Entries> kTables = {std::vector<int64_t>{1, 2, 2, 5}, std::vector<int64_t>{}};

Outcome outcome(const Expression& expression) {
  Undefined why = Undefined::kNone;
  const Place place{6, 4, 1, 3, 2};
  const auto value = evaluate(expression, {place, kParameters, kTables, {10, 20}}, &why);
  return {value, value ? Undefined::kNone : why};
}
Outcome outcome(Operator op, int64_t left, int64_t right) {
  return outcome(apply(op, {constant(left), constant(right)}));
}
Outcome defined(int64_t value) { return {value, Undefined::kNone}; }
Outcome undefined(Undefined why) { return {std::nullopt, why}; }

// Returns an expression that has no value.
Expression trap() { return apply(Operator::kDivide, {constant(1), constant(0)}); }
Expression truth(bool value) { return apply(Operator::kEqual, {constant(value), constant(1)}); }

TEST(Evaluate, LeavesNameTheirSurroundings) {
  EXPECT_EQ(outcome(constant(kLeast)), defined(kLeast));
  EXPECT_EQ(outcome(leaf(Operator::kParameter, 1)), defined(-2));
  EXPECT_EQ(outcome(variable(1)), defined(20));
  EXPECT_EQ(outcome(leaf(Operator::kRank)), defined(3));
  EXPECT_EQ(outcome(leaf(Operator::kRanks)), defined(6));
  EXPECT_EQ(outcome(leaf(Operator::kRemoteRanks)), defined(4));
  EXPECT_EQ(outcome(leaf(Operator::kGroup)), defined(1));
  EXPECT_EQ(outcome(leaf(Operator::kRoot)), defined(2));
  EXPECT_EQ(outcome(leaf(Operator::kLength, 0)), defined(4));
  EXPECT_EQ(outcome(leaf(Operator::kLength, 1)), defined(0));
}

TEST(Evaluate, DivisionIsFloorDivisionAndRemaindersAreNotNegative) {
  for (int64_t left = -12; left <= 12; ++left)
    for (int64_t right = 1; right <= 5; ++right) {
      const int64_t quotient = *outcome(Operator::kDivide, left, right).value;
      const int64_t remainder = *outcome(Operator::kModulo, left, right).value;
      EXPECT_EQ(quotient * right + remainder, left);
      EXPECT_GE(remainder, 0);
      EXPECT_LT(remainder, right);
    }
  EXPECT_EQ(outcome(Operator::kDivide, kLeast, 1), defined(kLeast));
  EXPECT_EQ(outcome(Operator::kDivide, kLeast, kGreatest), defined(-2));
  EXPECT_EQ(outcome(Operator::kModulo, kLeast, kGreatest), defined(kGreatest - 1));
}

TEST(Evaluate, DivisorsArePositive) {
  for (const Operator op : {Operator::kDivide, Operator::kModulo})
    for (const int64_t divisor : {int64_t{0}, int64_t{-1}, kLeast})
      EXPECT_EQ(outcome(op, 5, divisor), undefined(Undefined::kDivisor));
}

TEST(Evaluate, XorWorksOnTwosComplement) {
  EXPECT_EQ(outcome(Operator::kXor, 12, 10), defined(6));
  EXPECT_EQ(outcome(Operator::kXor, -1, 5), defined(-6));
  EXPECT_EQ(outcome(Operator::kXor, kLeast, kGreatest), defined(-1));
}

TEST(Evaluate, WrapTakesOneTurnEitherWay) {
  for (int64_t m = 1; m <= 4; ++m)
    for (int64_t x = -2 * m - 2; x <= 3 * m; ++x)
      EXPECT_EQ(outcome(Operator::kWrap, x, m),
                x >= -m && x < 2 * m ? defined(((x % m) + m) % m) : undefined(Undefined::kWrap))
          << x << " in 0.." << m;
  EXPECT_EQ(outcome(Operator::kWrap, 0, 0), undefined(Undefined::kWrap));
  EXPECT_EQ(outcome(Operator::kWrap, 0, -1), undefined(Undefined::kWrap));
  EXPECT_EQ(outcome(Operator::kWrap, kGreatest, kGreatest), defined(0));
  EXPECT_EQ(outcome(Operator::kWrap, -kGreatest, kGreatest), defined(0));
  EXPECT_EQ(outcome(Operator::kWrap, kLeast, kGreatest), undefined(Undefined::kWrap));
}

TEST(Evaluate, ResultsOutside64BitsAreUndefined) {
  EXPECT_EQ(outcome(Operator::kAdd, kGreatest, 1), undefined(Undefined::kOverflow));
  EXPECT_EQ(outcome(Operator::kAdd, kGreatest, -1), defined(kGreatest - 1));
  EXPECT_EQ(outcome(Operator::kSubtract, kLeast, 1), undefined(Undefined::kOverflow));
  EXPECT_EQ(outcome(Operator::kSubtract, 0, kLeast), undefined(Undefined::kOverflow));
  EXPECT_EQ(outcome(Operator::kMultiply, int64_t{1} << 32, int64_t{1} << 31),
            undefined(Undefined::kOverflow));
  EXPECT_EQ(outcome(Operator::kMultiply, int64_t{1} << 32, -(int64_t{1} << 31)), defined(kLeast));
  EXPECT_EQ(outcome(Operator::kMultiply, kLeast, -1), undefined(Undefined::kOverflow));
}

TEST(Evaluate, ComparisonsAndExtremesAreExact) {
  EXPECT_EQ(outcome(Operator::kMinimum, kLeast, kGreatest), defined(kLeast));
  EXPECT_EQ(outcome(Operator::kMaximum, kLeast, kGreatest), defined(kGreatest));
  EXPECT_EQ(outcome(Operator::kLess, kLeast, kGreatest), defined(1));
  EXPECT_EQ(outcome(Operator::kLess, 4, 4), defined(0));
  EXPECT_EQ(outcome(Operator::kLessEqual, 4, 4), defined(1));
  EXPECT_EQ(outcome(Operator::kEqual, 4, 5), defined(0));
  EXPECT_EQ(outcome(Operator::kNotEqual, 4, 5), defined(1));
}

TEST(Evaluate, TablesAreIndexedWithinTheirBounds) {
  const auto element = [](int64_t index, int64_t table) {
    return outcome(apply(Operator::kElement, {constant(index)}, table));
  };
  EXPECT_EQ(element(0, 0), defined(1));
  EXPECT_EQ(element(3, 0), defined(5));
  for (const int64_t index : {int64_t{-1}, int64_t{4}, kLeast, kGreatest})
    EXPECT_EQ(element(index, 0), undefined(Undefined::kIndex));
  EXPECT_EQ(element(0, 1), undefined(Undefined::kIndex));
}

TEST(Evaluate, LocateCountsEntriesUpToAValueMinusOne) {
  const auto located = [](int64_t x, int64_t table) {
    return *outcome(apply(Operator::kLocate, {constant(x)}, table)).value;
  };
  EXPECT_EQ(located(0, 0), -1);
  EXPECT_EQ(located(1, 0), 0);
  EXPECT_EQ(located(2, 0), 2);
  EXPECT_EQ(located(4, 0), 2);
  EXPECT_EQ(located(kGreatest, 0), 3);
  EXPECT_EQ(located(7, 1), -1);
}

TEST(Evaluate, AndAndChooseAreLazy) {
  const Expression undefined_condition = apply(Operator::kLess, {constant(0), trap()});
  EXPECT_EQ(outcome(apply(Operator::kAnd, {truth(false), undefined_condition})), defined(0));
  EXPECT_EQ(outcome(apply(Operator::kAnd, {truth(true), undefined_condition})),
            undefined(Undefined::kDivisor));
  EXPECT_EQ(outcome(apply(Operator::kAnd, {undefined_condition, truth(false)})),
            undefined(Undefined::kDivisor));
  EXPECT_EQ(outcome(apply(Operator::kChoose, {truth(true), constant(8), trap()})), defined(8));
  EXPECT_EQ(outcome(apply(Operator::kChoose, {truth(false), trap(), constant(9)})), defined(9));
  EXPECT_EQ(outcome(apply(Operator::kChoose, {truth(false), constant(8), trap()})),
            undefined(Undefined::kDivisor));
}

TEST(Evaluate, WhatIsUndefinedStaysSoInEveryOperand) {
  for (const Operator op : {Operator::kAdd, Operator::kMinimum, Operator::kXor, Operator::kEqual}) {
    EXPECT_EQ(outcome(apply(op, {trap(), constant(1)})), undefined(Undefined::kDivisor));
    EXPECT_EQ(outcome(apply(op, {constant(1), trap()})), undefined(Undefined::kDivisor));
  }
  EXPECT_EQ(outcome(apply(Operator::kElement, {trap()}, 0)), undefined(Undefined::kDivisor));
  EXPECT_EQ(outcome(apply(Operator::kLocate, {trap()}, 0)), undefined(Undefined::kDivisor));
}

}  // namespace quadrille::evaluate_test
