// The formula of a number includes its bounds. So the file is complete, and its readers need no kinds of numbers.
// Tested by tests/generator/formulas_test.cc.
#include "generator/formulas.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "cli/numbers.h"

namespace quadrille {
namespace {

constexpr const char* kSquareRoot = "sqrt";

bool mentions_parameters(const Expression& expression) {
  return expression.op == Operator::kParameter ||
         std::ranges::any_of(expression.operands, mentions_parameters);
}

Expression ranks() { return leaf(Operator::kRanks); }

// Returns the formula with the bounds of the number's kind. One that needs no bounds is unchanged.
Expression bounded(const Number& number, Expression wanted) {
  const Expression least = constant(number.least());
  const bool is_radix = number.kind == NumberKind::kRadix;
  if (wanted == least) return wanted;
  if (!is_radix && wanted.op == Operator::kConstant) return wanted;
  if (is_radix) wanted = apply(Operator::kMinimum, {std::move(wanted), ranks()});
  return apply(Operator::kMaximum, {least, std::move(wanted)});
}

// Takes the formula that bounded() was given out of its result.
Expression wanted_of(const Number& number, const Expression& formula) {
  if (formula.op != Operator::kMaximum || formula.operands[0] != constant(number.least()))
    return formula;
  const Expression& inner = formula.operands[1];
  if (number.kind != NumberKind::kRadix) return inner;
  const bool is_bounded = inner.op == Operator::kMinimum && inner.operands[1] == ranks();
  return is_bounded ? inner.operands[0] : formula;
}

}  // namespace

// Leaves `needs` empty if all requirements are on parameters, because formulas keep these within their bounds.
Job job_for_any(const Algorithm& algorithm, const Program& program) {
  Job job;
  if (!std::ranges::all_of(program.requirements, mentions_parameters))
    job.needs = opening_of(algorithm).needs;
  return job;
}

const Number& number_of(const Algorithm& algorithm, const Parameter& parameter) {
  const auto number = std::ranges::find(algorithm.numbers, parameter.name.text, &Number::name);
  check(number != algorithm.numbers.end(), "a parameter that no flag gives");
  return *number;
}

Expression sqrt_formula(const Program& program) {
  Expression whole = ranks();
  for (size_t i = 0; i < program.tables.size(); ++i)
    if (program.tables[i].kind == TableKind::kNodes)
      whole = apply(Operator::kElement,
                    {apply(Operator::kSubtract, {leaf(Operator::kLength, i), constant(1)})}, i);
  constexpr int64_t kMost = 256;
  Expression root = constant(kMost);
  for (int64_t power = kMost / 2; power >= 2; power /= 2)
    root = apply(Operator::kChoose, {apply(Operator::kLessEqual, {whole, constant(power * power)}),
                                     constant(power), std::move(root)});
  return root;
}

Result<Expression> read_formula(const Number& number, const std::string& text,
                                const Program& program) {
  const std::string flag = flag_of(number.name);
  const std::optional<int64_t> value =
      cli::whole_number(text.empty() ? std::to_string(number.initial) : text);
  if (value && *value < number.least())
    return Error{fmt::format("{}: {} is less than {}, the least that there is", flag, *value,
                             number.least())};
  // Between groups, the bounds would differ; the program's `require` states them.
  if (value && program.groups == 2) return constant(*value);
  if (text == kSquareRoot && number.kind == NumberKind::kRadix) {
    Expression root = sqrt_formula(program);
    const Result<bool> valid = validate_formula(program, root);
    if (!valid.ok()) return Error{fmt::format("{}: {}", flag, valid.error().message)};
    return bounded(number, std::move(root));
  }
  if (value) return bounded(number, constant(*value));
  Result<Expression> formula = parse_formula(text, program, flag);
  if (!formula.ok()) return formula;
  return bounded(number, std::move(formula).value());
}

std::string formula_flag(const Number& number, const Program& program, const Expression& formula) {
  const Expression wanted = wanted_of(number, formula);
  if (wanted == constant(number.initial)) return "";
  if (wanted.op == Operator::kConstant)
    return fmt::format(" {} {}", flag_of(number.name), wanted.value);
  const bool is_root = number.kind == NumberKind::kRadix && wanted == sqrt_formula(program);
  const std::string text = is_root ? kSquareRoot : "'" + formula_text(program, wanted) + "'";
  return fmt::format(" {} {}", flag_of(number.name), text);
}

}  // namespace quadrille
