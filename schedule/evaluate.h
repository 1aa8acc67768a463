// Expressions evaluated the plain way, by recursion over the tree: for tables, requirements and
// proofs' counterexamples, and as the slow oracle that the compiled walk is tested against.
#ifndef QUADRILLE_SCHEDULE_EVALUATE_H_
#define QUADRILLE_SCHEDULE_EVALUATE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedule/collective.h"
#include "schedule/expression.h"

namespace quadrille {

// Why an expression has no value.
enum class Undefined : uint8_t { kNone, kOverflow, kDivisor, kIndex, kWrap, kEndless };
const char* describe(Undefined reason);

struct Environment {
  Place place;
  std::span<const int64_t> parameters;
  std::span<const std::vector<int64_t>> tables;
  std::vector<int64_t> variables;  // outermost first
};

// The value (booleans are 0 and 1), or nothing and the reason in *why.
std::optional<int64_t> evaluate(const Expression& expression, const Environment& environment,
                                Undefined* why);

// The two operations that every evaluator shares, each exact or nothing.
std::optional<int64_t> apply_operator(Operator op, int64_t left, int64_t right, Undefined* why);
int64_t locate(std::span<const int64_t> ascending, int64_t x);

}  // namespace quadrille

#endif  // QUADRILLE_SCHEDULE_EVALUATE_H_
