// Random well-typed expressions over parameters, tables and two variables, drawn by a property or by given functions.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <vector>

#include "schedule/program.h"
#include "tests/support/property.h"

namespace quadrille {

// Returns a program with two parameters and two tables: 0 has the node sizes, 1 their prefix sums.
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

// Makes expressions with two variables. `draw` returns a number in [low, high), and `draw_constant` a constant.
struct RandomExpressions {
  std::function<int64_t(int64_t low, int64_t high)> draw;
  std::function<int64_t()> draw_constant;
  int64_t tables = 2, parameters = 2;
  static constexpr int64_t kVariables = 2;

  Expression number(int depth) const {
    const auto inner = [&] { return number(depth - 1); };
    const int64_t kind = draw(0, depth == 0 ? 6 : 20);
    switch (kind) {
      case 0: return constant(draw_constant());
      case 1: return parameters ? leaf(Operator::kParameter, draw(0, parameters)) : variable(0);
      case 2: return variable(draw(0, kVariables));
      case 3: return leaf(Operator::kRank);
      case 4: return leaf(Operator::kRanks);
      case 5: return leaf(Operator::kLength, draw(0, tables));
      case 6: return apply(Operator::kElement, {inner()}, draw(0, tables));
      case 7: return apply(Operator::kLocate, {inner()}, draw(0, tables));
      case 8:
      case 9: return apply(Operator::kChoose, {condition(depth - 1), inner(), inner()});
      default: {
        static constexpr Operator kBinary[] = {
            Operator::kAdd,     Operator::kSubtract, Operator::kMultiply,
            Operator::kDivide,  Operator::kModulo,   Operator::kXor,
            Operator::kMinimum, Operator::kMaximum,  Operator::kWrap};
        const Operator op = kBinary[draw(0, std::size(kBinary))];
        return apply(op, {inner(), inner()});
      }
    }
  }

  Expression condition(int depth) const {
    static constexpr Operator kComparisons[] = {Operator::kEqual, Operator::kNotEqual,
                                                Operator::kLess, Operator::kLessEqual};
    const int64_t kind = depth == 0 ? 0 : draw(0, 5);
    const int next = depth == 0 ? 0 : depth - 1;
    if (kind == 1) return apply(Operator::kAnd, {condition(next), condition(next)});
    if (kind == 2)
      return apply(Operator::kChoose, {condition(next), condition(next), condition(next)});
    const Operator op = kComparisons[draw(0, std::size(kComparisons))];
    return apply(op, {number(next), number(next)});
  }
};

inline Expression random_number(int depth) {
  return RandomExpressions{drawn, random_constant}.number(depth);
}
inline Expression random_condition(int depth) {
  return RandomExpressions{drawn, random_constant}.condition(depth);
}

}  // namespace quadrille
