// Formulas are checked when they are read, so evaluating one needs only the nodes. Tested by
// tests/schedule/any_nodes_test.cc.
#include "schedule/any_nodes.h"

#include <fmt/core.h>

#include <algorithm>

#include "schedule/lexer.h"
#include "schedule/text.h"
#include "schedule/walk.h"

namespace quadrille {
namespace {

// Checks that a formula reads only `ranks` and node sizes. If it depended on the rank, ranks could get different
// values. If it depended on the call, binding could not evaluate it.
bool depends_on_nodes_alone(const Program& program, const Expression& e) {
  switch (e.op) {
    case Operator::kParameter:
    case Operator::kVariable:
    case Operator::kRank:
    case Operator::kRemoteRanks:
    case Operator::kGroup:
    case Operator::kRoot: return false;
    default: break;
  }
  if (reads_table(e.op) && program.tables[e.value].kind != TableKind::kNodes) return false;
  return std::all_of(e.operands.begin(), e.operands.end(), [&](const Expression& operand) {
    return depends_on_nodes_alone(program, operand);
  });
}

// Checks an integer expression with validate(), as if it were the number of temporary blocks.
Result<bool> validate_number(Program program, const Expression& number) {
  program.temporary_blocks = number;
  program.body.clear();
  return validate(program);
}

// The least and the greatest value that an expression may have.
struct Span {
  int64_t low, high;
};
using MaybeSpan = std::optional<Span>;  // empty: the expression may be undefined

bool is_first_or_last(const Expression& index, int64_t table) {
  const Expression length{Operator::kLength, table, {}};
  return index == constant(0) || index == apply(Operator::kSubtract, {length, constant(1)});
}

// Returns bounds of an operator whose operands lie in a and b. It must be monotonic in each, so the ends decide.
MaybeSpan span_of_ends(Operator op, const Span& a, const Span& b) {
  std::vector<int64_t> values;
  for (const int64_t left : {a.low, a.high})
    for (const int64_t right : {b.low, b.high}) {
      Undefined why = Undefined::kNone;
      const auto value = apply_operator(op, left, right, &why);
      if (!value) return std::nullopt;
      values.push_back(*value);
    }
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return Span{*low, *high};
}

MaybeSpan span_of(const Expression& e) {
  constexpr Span kSizes{1, INT32_MAX};
  std::vector<Span> of;
  for (const Expression& operand : e.operands) {
    const MaybeSpan span = span_of(operand);
    if (!span) return std::nullopt;
    of.push_back(*span);
  }
  switch (e.op) {
    case Operator::kConstant: return Span{e.value, e.value};
    case Operator::kRanks:
    case Operator::kLength: return kSizes;
    case Operator::kElement:
      return is_first_or_last(e.operands[0], e.value) ? MaybeSpan(kSizes) : std::nullopt;
    case Operator::kLocate: return Span{-1, INT32_MAX};
    case Operator::kEqual:
    case Operator::kNotEqual:
    case Operator::kLess:
    case Operator::kLessEqual:
    case Operator::kAnd: return Span{0, 1};
    case Operator::kChoose:
      return Span{std::min(of[1].low, of[2].low), std::max(of[1].high, of[2].high)};
    case Operator::kModulo: return of[1].low > 0 ? MaybeSpan({0, of[1].high - 1}) : std::nullopt;
    case Operator::kXor:
    case Operator::kWrap: return std::nullopt;
    default: return span_of_ends(e.op, of[0], of[1]);
  }
}

}  // namespace

bool has_value_on_all_nodes(const Expression& formula) { return span_of(formula).has_value(); }

Result<bool> validate_formula(const Program& program, const Expression& formula) {
  Result<bool> valid = validate_number(program, formula);
  if (!valid.ok()) return valid;
  if (program.groups == 2 && formula.op != Operator::kConstant)
    return Error{
        "a parameter of a program between groups is a number, as a formula could have another "
        "value in each group"};
  if (depends_on_nodes_alone(program, formula)) return true;
  return Error{"a parameter depends on numbers, 'ranks' and node sizes alone"};
}

// Checks each formula as if it were the key of a step, because a key may be any number.
Result<bool> validate_formulas(Program program, const std::vector<Expression>& formulas) {
  for (const Expression& formula : formulas)
    program.body.push_back({Step{formula, std::nullopt, {}}});
  return validate(program);
}

Result<Expression> parse_formula(const std::string& text, const Program& program,
                                 const std::string& source) {
  const Result<std::vector<Line>> lines = split_lines(text, source);
  if (!lines.ok()) return lines.error();
  if (lines->size() != 1) return Error{fmt::format("{}: '{}' is not one expression", source, text)};
  Scope scope;
  scope.name = [](const std::string&) { return std::optional<Expression>(); };
  scope.table = [&](const std::string& name) {
    std::optional<int64_t> found;
    for (size_t i = 0; i < program.tables.size(); ++i)
      if (program.tables[i].name.text == name) found = i;
    return found;
  };
  LineReader reader((*lines)[0], source);
  Expression formula = read_expression(reader, scope);
  if (!reader.failed()) reader.finish();
  if (reader.failed()) return reader.error();
  const Result<bool> valid = validate_formula(program, formula);
  if (!valid.ok()) return Error{fmt::format("{}: {}", source, valid.error().message)};
  return formula;
}

std::string formula_text(const Program& program, const Expression& formula) {
  const std::vector<std::string> no_variables;
  return print(formula, {&program.parameters, &program.tables, &no_variables});
}

Result<Job> on_nodes(const Program& program, const Job& job, const std::vector<Topology>& groups) {
  check(serves_any_nodes(job), "a job for any nodes");
  check(static_cast<int>(groups.size()) == program.groups, "nodes of each group");
  for (const Topology& nodes : groups)
    if (job.most_ranks > 0 && nodes.ranks() > job.most_ranks)
      return Error{fmt::format("{} is proven for up to {} ranks, and nodes {} have {}",
                               program.algorithm.text, job.most_ranks, nodes.text(),
                               nodes.ranks())};
  // With two groups, formulas are constants. So the nodes of either group give the same values.
  const Topology& nodes = groups[0];
  Binding binding;
  binding.place.ranks = nodes.ranks();
  for (const Table& table : program.tables)
    binding.tables.push_back(table.kind == TableKind::kNodes ? nodes.sizes()
                                                             : std::vector<int64_t>());
  Job placed{groups, job.parameters, job.models};
  for (size_t i = 0; i < program.parameters.size(); ++i) {
    if (program.parameters[i].at_call) continue;
    Undefined why = Undefined::kNone;
    const auto value = Formula(job.formulas[i], 0).value(binding, {}, &why);
    if (!value)
      return Error{fmt::format("{} has no value on nodes {}: {}", parameter_text(program, job, i),
                               nodes.text(), describe(why))};
    placed.parameters[i] = *value;
  }
  return placed;
}

}  // namespace quadrille
