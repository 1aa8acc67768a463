// Paths are compared element by element, as they are written: two that differ in form count as
// different, which can only lose knowledge, never invent it. Tested with the obligations
// (obligations.cc).
#include "verifier/prove/paths.h"

#include <algorithm>

namespace quadrille::verifier {
namespace {

bool same_element(const PathElement& a, const PathElement& b) {
  return a.kind == b.kind && a.condition == b.condition && a.low == b.low && a.high == b.high &&
         a.variable == b.variable;
}

}  // namespace

bool is_part_of(const Path& part, const Path& path) {
  auto next = part.begin();
  for (const PathElement& element : path)
    if (next != part.end() && same_element(*next, element)) ++next;
  return next == part.end();
}

void partial_conditions(const Expression& e, const Path& path, std::vector<Place>& out) {
  const auto need = [&](Expression condition) { out.push_back({path, std::move(condition)}); };
  const auto less_equal = [](Expression a, Expression b) {
    return apply(Operator::kLessEqual, {std::move(a), std::move(b)});
  };
  const auto less = [](Expression a, Expression b) {
    return apply(Operator::kLess, {std::move(a), std::move(b)});
  };
  if (e.operands.empty()) return;
  if (e.op == Operator::kChoose || e.op == Operator::kAnd) {
    partial_conditions(e.operands[0], path, out);
    Path yes = path, no = path;
    yes.push_back({PathElement::Kind::kCondition, e.operands[0], {}, {}, 0});
    no.push_back({PathElement::Kind::kNegation, e.operands[0], {}, {}, 0});
    partial_conditions(e.operands[1], yes, out);
    if (e.op == Operator::kChoose) partial_conditions(e.operands[2], no, out);
    return;
  }
  for (const Expression& operand : e.operands) partial_conditions(operand, path, out);
  if (e.op == Operator::kDivide || e.op == Operator::kModulo) {
    if (e.operands[1].op != Operator::kConstant || e.operands[1].value <= 0)
      need(less(constant(0), e.operands[1]));
  } else if (e.op == Operator::kElement) {
    need(apply(Operator::kAnd, {less_equal(constant(0), e.operands[0]),
                                less(e.operands[0], leaf(Operator::kLength, e.value))}));
  } else if (e.op == Operator::kWrap) {
    const Expression &x = e.operands[0], &m = e.operands[1];
    need(apply(Operator::kAnd, {less_equal(constant(0), apply(Operator::kAdd, {x, m})),
                                less(x, apply(Operator::kMultiply, {constant(2), m}))}));
  }
}

}  // namespace quadrille::verifier
