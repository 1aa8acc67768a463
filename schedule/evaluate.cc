// Applies operators to two integers. Tested by tests/schedule/evaluate_test.cc against 128-bit arithmetic over the
// corners of the range.
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
  // x < 2m is checked as x - m < m: neither overflows.
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
    case Undefined::kRegisters: return "an expression of too many different values";
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

}  // namespace quadrille
