// The definition of every operator, once, in exact arithmetic. Tested by
// tests/schedule/evaluate_test.cc against 128-bit arithmetic over the corners of the range.
#include "schedule/evaluate.h"

#include <algorithm>

namespace quadrille {
namespace {

std::optional<int64_t> undefined(Undefined reason, Undefined* why) {
  *why = reason;
  return std::nullopt;
}

std::optional<int64_t> floor_division(Operator op, int64_t left, int64_t right, Undefined* why) {
  if (right <= 0) return undefined(Undefined::kDivisor, why);
  int64_t quotient = left / right, remainder = left % right;
  if (remainder < 0) {
    --quotient;
    remainder += right;
  }
  return op == Operator::kDivide ? quotient : remainder;
}

std::optional<int64_t> wrap(int64_t x, int64_t m, Undefined* why) {
  // x < 2m is asked of x - m: neither overflows.
  if (m <= 0 || x < -m) return undefined(Undefined::kWrap, why);
  const int64_t wrapped = x < 0 ? x + m : x < m ? x : x - m;
  if (wrapped >= m) return undefined(Undefined::kWrap, why);
  return wrapped;
}

}  // namespace

const char* describe(Undefined reason) {
  switch (reason) {
    case Undefined::kNone: return "defined";
    case Undefined::kOverflow: return "a result outside 64 bits";
    case Undefined::kDivisor: return "a divisor that is not positive";
    case Undefined::kIndex: return "an index outside its table";
    case Undefined::kWrap: return "wrap(x, m) with x outside -m .. 2m";
    case Undefined::kEndless: return "loops that do not end in reasonable time";
  }
  return "";
}

int64_t locate(std::span<const int64_t> ascending, int64_t x) {
  return std::upper_bound(ascending.begin(), ascending.end(), x) - ascending.begin() - 1;
}

std::optional<int64_t> apply_operator(Operator op, int64_t left, int64_t right, Undefined* why) {
  int64_t result = 0;
  bool overflow = false;
  switch (op) {
    case Operator::kAdd: overflow = __builtin_add_overflow(left, right, &result); break;
    case Operator::kSubtract: overflow = __builtin_sub_overflow(left, right, &result); break;
    case Operator::kMultiply: overflow = __builtin_mul_overflow(left, right, &result); break;
    case Operator::kDivide:
    case Operator::kModulo: return floor_division(op, left, right, why);
    case Operator::kXor: return left ^ right;
    case Operator::kMinimum: return std::min(left, right);
    case Operator::kMaximum: return std::max(left, right);
    case Operator::kWrap: return wrap(left, right, why);
    case Operator::kEqual: return left == right;
    case Operator::kNotEqual: return left != right;
    case Operator::kLess: return left < right;
    case Operator::kLessEqual: return left <= right;
    default: break;
  }
  if (overflow) return undefined(Undefined::kOverflow, why);
  return result;
}

std::optional<int64_t> evaluate(const Expression& e, const Environment& environment,
                                Undefined* why) {
  const auto operand = [&](int i) { return evaluate(e.operands[i], environment, why); };
  switch (e.op) {
    case Operator::kConstant: return e.value;
    case Operator::kParameter: return environment.parameters[e.value];
    case Operator::kVariable: return environment.variables[e.value];
    case Operator::kRank: return environment.place.rank;
    case Operator::kRanks: return environment.place.ranks;
    case Operator::kRemoteRanks: return environment.place.remote_ranks;
    case Operator::kGroup: return environment.place.group;
    case Operator::kRoot: return environment.place.root;
    case Operator::kLength: return static_cast<int64_t>(environment.tables[e.value].size());
    case Operator::kAnd: {
      const auto left = operand(0);
      return left && *left ? operand(1) : left;
    }
    case Operator::kChoose: {
      const auto condition = operand(0);
      if (!condition) return std::nullopt;
      return operand(*condition ? 1 : 2);
    }
    case Operator::kElement: {
      const std::vector<int64_t>& table = environment.tables[e.value];
      const auto index = operand(0);
      if (!index) return std::nullopt;
      if (*index < 0 || *index >= static_cast<int64_t>(table.size()))
        return undefined(Undefined::kIndex, why);
      return table[*index];
    }
    case Operator::kLocate: {
      const auto x = operand(0);
      if (!x) return std::nullopt;
      return locate(environment.tables[e.value], *x);
    }
    default: break;
  }
  const auto left = operand(0);
  if (!left) return std::nullopt;
  const auto right = operand(1);
  if (!right) return std::nullopt;
  return apply_operator(e.op, *left, *right, why);
}

}  // namespace quadrille
