// Expressions of the language: exact integers and booleans over one rank.
//
// An expression is a value: a tree of operators over constants, parameters, a rank's place in its communicator,
// variables and tables. `and` and `? :` are lazy: they do not evaluate an operand that they skip, so it may be
// undefined. Undefined are: a divisor <= 0, an index outside its table, wrap(x, m) outside -m <= x < 2m, and a result
// outside 64 bits. Division is floor division.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quadrille {

enum class Operator : uint8_t {
  kConstant,     // value
  kParameter,    // value: index of a parameter
  kVariable,     // value: index of an enclosing let or for, outermost first
  kRank,         // of this process, in its group
  kRanks,        // of this process's group
  kRemoteRanks,  // of the other group, 0 on an intracommunicator
  kGroup,        // 0 or 1
  kRoot,         // of a rooted collective
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,  // floor
  kModulo,  // 0 <= result < divisor
  kXor,
  kMinimum,
  kMaximum,
  kWrap,  // wrap(x, m): x, x + m or x - m, whichever is in 0..m
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kAnd,
  kChoose,   // c ? a : b
  kElement,  // value: index of a table; table[i]
  kLocate,   // value: index of an ascending table; the index of its last entry <= x, or -1
  kLength,   // value: index of a table; its number of entries
};
inline constexpr int kOperatorCount = 26;

struct Expression {
  Operator op = Operator::kConstant;
  int64_t value = 0;
  std::vector<Expression> operands;

  friend bool operator==(const Expression&, const Expression&) = default;
};

// Returns the number of operands of an operator.
int arity(Operator op);
// True if the operator carries a value: an index or a constant.
bool has_value(Operator op);
// True if the result never changes at a rank: a number, a parameter, a rank's place, or the length of a table.
bool is_fixed(Operator op);
// True if the result is a boolean (kChoose has the type of its alternatives).
bool is_comparison(Operator op);
// True if the value that the operator carries is the index of a table.
bool reads_table(Operator op);

inline Expression constant(int64_t value) { return {Operator::kConstant, value, {}}; }
inline Expression variable(int64_t index) { return {Operator::kVariable, index, {}}; }
inline Expression leaf(Operator op, int64_t value = 0) { return {op, value, {}}; }
inline Expression apply(Operator op, std::vector<Expression> operands, int64_t value = 0) {
  return {op, value, std::move(operands)};
}

// `a or b`, which is lazy, too: a ? (0 = 0) : b.
inline const Expression kAlways = apply(Operator::kEqual, {constant(0), constant(0)});
inline Expression either(Expression a, Expression b) {
  return apply(Operator::kChoose, {std::move(a), kAlways, std::move(b)});
}
inline bool is_either(const Expression& e) {
  return e.op == Operator::kChoose && e.operands[1] == kAlways;
}

// True if the predicate holds for the expression or for any expression inside it.
template <class Predicate>
bool any_part(const Expression& expression, const Predicate& predicate) {
  if (predicate(expression)) return true;
  for (const Expression& operand : expression.operands)
    if (any_part(operand, predicate)) return true;
  return false;
}

}  // namespace quadrille
