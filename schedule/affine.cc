// Sums, differences, and products with what does not depend on the variable are affine; nothing
// else is taken for it. Tested by tests/schedule/walk_test.cc: loops that qualify and loops that do
// not walk as the oracle says.
#include "schedule/affine.h"

#include <algorithm>

#include "schedule/traverse.h"

namespace quadrille {
namespace {

constexpr int kMaxInlined = 50;  // operators; lets put into lets could grow without end

int operators(const Expression& e) {
  int count = 1;
  for (const Expression& operand : e.operands) count += operators(operand);
  return count;
}

Expression substituted(Expression e, int64_t variable, const std::vector<Expression>& lets) {
  if (e.op == Operator::kVariable && e.value > variable) return lets[e.value - variable - 1];
  for (Expression& operand : e.operands) operand = substituted(std::move(operand), variable, lets);
  return e;
}

bool is_affine(const Expression& e, int64_t variable) {
  if (!depends_on(e, variable) || e.op == Operator::kVariable) return true;
  if (e.op == Operator::kAdd || e.op == Operator::kSubtract)
    return is_affine(e.operands[0], variable) && is_affine(e.operands[1], variable);
  if (e.op != Operator::kMultiply) return false;
  return (!depends_on(e.operands[0], variable) && is_affine(e.operands[1], variable)) ||
         (!depends_on(e.operands[1], variable) && is_affine(e.operands[0], variable));
}

bool is_whole_block_message(const Statement& statement) {
  const auto* message = std::get_if<Message>(&statement.kind);
  if (!message || message->pieces.size() != 1) return false;
  const auto* transfer = std::get_if<Transfer>(&message->pieces[0].kind);
  return transfer && !transfer->piece.range;
}

// The lets before the last statement, each with those before it put in.
std::optional<std::vector<Expression>> inlined_lets(const Body& body, int64_t variable) {
  std::vector<Expression> lets;
  for (size_t i = 0; i + 1 < body.size(); ++i) {
    const auto* let = std::get_if<Let>(&body[i].kind);
    if (!let) return std::nullopt;
    lets.push_back(substituted(let->value, variable, lets));
    if (operators(lets.back()) > kMaxInlined) return std::nullopt;
  }
  return lets;
}

}  // namespace

bool depends_on(const Expression& e, int64_t variable) {
  if (e.op == Operator::kVariable && e.value == variable) return true;
  return std::any_of(e.operands.begin(), e.operands.end(),
                     [&](const Expression& o) { return depends_on(o, variable); });
}

std::optional<Step> affine_step(const For& loop, int64_t variable) {
  if (loop.body.empty()) return std::nullopt;
  const auto* found = std::get_if<Step>(&loop.body.back().kind);
  if (!found || found->body.empty() ||
      !std::all_of(found->body.begin(), found->body.end(), is_whole_block_message))
    return std::nullopt;
  const auto lets = inlined_lets(loop.body, variable);
  if (!lets) return std::nullopt;
  Step step = *found;
  bool affine = true;
  const auto put_in = [&](Expression& e) {
    e = substituted(std::move(e), variable, *lets);
    affine &= is_affine(e, variable);
  };
  put_in(step.key);
  if (step.after) put_in(*step.after);
  for_each_expression(step.body, put_in);
  return affine ? std::optional<Step>(std::move(step)) : std::nullopt;
}

}  // namespace quadrille
