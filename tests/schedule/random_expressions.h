// Random well-typed expressions over two parameters, two tables and two variables, inside a property.
#ifndef QUADRILLE_TESTS_SCHEDULE_RANDOM_EXPRESSIONS_H_
#define QUADRILLE_TESTS_SCHEDULE_RANDOM_EXPRESSIONS_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "schedule/program.h"
#include "tests/support/property.h"

namespace quadrille {

// Tables: 0, node sizes; 1, their prefix sums. Parameters and variables: two each.
inline Program program_around_expressions() {
  Program program;
  program.algorithm.text = "around";
  program.parameters = {{{"a"}}, {{"b"}}};
  program.tables.resize(2);
  program.tables[0].name.text = "size";
  program.tables[1].name.text = "base";
  program.tables[1].kind = TableKind::kPrefix;
  program.temporary_blocks = constant(0);
  return program;
}

inline int64_t random_constant() {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(),
                    kGreatest = std::numeric_limits<int64_t>::max();
  static const std::vector<int64_t> kFar = {kLeast,           kLeast + 1,    -(int64_t{1} << 32),
                                            int64_t{1} << 31, kGreatest - 1, kGreatest};
  return drawn(0, 13) < 12 ? drawn(-9, 40) : kFar[drawn(0, kFar.size())];
}

Expression random_condition(int depth);

inline Expression random_number(int depth) {
  const int kind = drawn(0, depth == 0 ? 6 : 20);
  const auto operands = [&] {
    return std::vector<Expression>{random_number(depth - 1), random_number(depth - 1)};
  };
  switch (kind) {
    case 0: return constant(random_constant());
    case 1: return leaf(Operator::kParameter, drawn(0, 2));
    case 2: return variable(drawn(0, 2));
    case 3: return leaf(Operator::kRank);
    case 4: return leaf(Operator::kRanks);
    case 5: return leaf(Operator::kLength, drawn(0, 2));
    case 6: return apply(Operator::kElement, {random_number(depth - 1)}, drawn(0, 2));
    case 7: return apply(Operator::kLocate, {random_number(depth - 1)}, drawn(0, 2));
    case 8:
    case 9:
      return apply(Operator::kChoose, {random_condition(depth - 1), random_number(depth - 1),
                                       random_number(depth - 1)});
    default: {
      static const std::vector<Operator> kBinary = {
          Operator::kAdd,     Operator::kSubtract, Operator::kMultiply,
          Operator::kDivide,  Operator::kModulo,   Operator::kXor,
          Operator::kMinimum, Operator::kMaximum,  Operator::kWrap};
      return apply(kBinary[drawn(0, kBinary.size())], operands());
    }
  }
}

inline Expression random_condition(int depth) {
  static const std::vector<Operator> kComparisons = {Operator::kEqual, Operator::kNotEqual,
                                                     Operator::kLess, Operator::kLessEqual};
  const int kind = depth == 0 ? 0 : drawn(0, 5);
  const int next = depth == 0 ? 0 : depth - 1;
  if (kind == 1) return apply(Operator::kAnd, {random_condition(next), random_condition(next)});
  if (kind == 2)
    return apply(Operator::kChoose,
                 {random_condition(next), random_condition(next), random_condition(next)});
  return apply(kComparisons[drawn(0, kComparisons.size())],
               {random_number(next), random_number(next)});
}

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_SCHEDULE_RANDOM_EXPRESSIONS_H_
