// Polynomials, and the translation into terms. tests/prove/logic_test.cc puts numbers in for the unknowns of random
// expressions' terms, and compares the values with those of tests/support/evaluate.h.
#include "verifier/prove/logic.h"

#include <fmt/format.h>

#include <algorithm>

namespace quadrille::verifier {

namespace {

// The prover gives up an obligation with a larger polynomial, as if the solver had answered "unknown".
constexpr size_t kMostTerms = 2000, kMostFactors = 16;

void need(bool small) {
  if (!small) throw z3::exception("the numbers of the obligation are too large");
}

}  // namespace

void Polynomial::add(const Monomial& monomial, int64_t coefficient) {
  int64_t& sum = terms_[monomial];
  need(!__builtin_add_overflow(sum, coefficient, &sum));
  if (sum == 0) terms_.erase(monomial);
  need(terms_.size() <= kMostTerms && monomial.size() <= kMostFactors);
}

Polynomial Polynomial::operator+(const Polynomial& other) const {
  Polynomial result = *this;
  for (const auto& [monomial, coefficient] : other.terms_) result.add(monomial, coefficient);
  return result;
}

Polynomial Polynomial::operator-(const Polynomial& other) const { return *this + other * -1; }

Polynomial Polynomial::operator*(const Polynomial& other) const {
  Polynomial result;
  for (const auto& [a, x] : terms_)
    for (const auto& [b, y] : other.terms_) {
      Monomial monomial;
      std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(monomial));
      int64_t coefficient = 0;
      need(!__builtin_mul_overflow(x, y, &coefficient));
      result.add(monomial, coefficient);
    }
  return result;
}

Logic::Logic(z3::context& context, const Program& program)
    : program_(program),
      context_(context),
      multiply_(context_.function("qd_times", context_.int_sort(), context_.int_sort(),
                                  context_.int_sort())) {
  std::map<std::string, TableOf> known;
  for (int64_t i = 0; i < static_cast<int64_t>(program.tables.size()); ++i)
    for (int group = 0; group < program.groups; ++group) {
      const TableOf table{i, group};
      const auto [first, is_new] = known.emplace(meaning(table), table);
      same_.emplace(table, first->second);
      if (is_new) tables_.push_back(table);
    }
}

Polynomial Logic::atom(const z3::expr& expression) {
  const auto [entry, added] =
      atom_numbers_.try_emplace(expression.id(), static_cast<int>(atoms_.size()));
  if (added) atoms_.push_back(expression);
  return Polynomial::atom(entry->second);
}

Polynomial Logic::fresh(const std::string& name) {
  return atom(context_.int_const(("qd_" + name).c_str()));
}

// Nests a * b * c as a * (b * c). States for each new product that its factors commute.
z3::expr Logic::product(const Polynomial::Monomial& monomial) {
  if (monomial.size() > 1) products_.insert(monomial);
  z3::expr result = atoms_[monomial.back()];
  for (size_t i = monomial.size() - 1; i-- > 0;) {
    const z3::expr factor = atoms_[monomial[i]];
    const z3::expr product = multiply_(factor, result);
    if (seen_products_.emplace(product.id(), true).second)
      know(product == multiply_(result, factor));
    result = product;
  }
  return result;
}

z3::expr Logic::term(const Polynomial& polynomial) {
  z3::expr sum = context_.int_val(0);
  bool first = true;
  for (const auto& [monomial, coefficient] : polynomial.terms()) {
    z3::expr part = monomial.empty()   ? context_.int_val(coefficient)
                    : coefficient == 1 ? product(monomial)
                                       : context_.int_val(coefficient) * product(monomial);
    sum = first ? part : sum + part;
    first = false;
  }
  return sum;
}

// Makes an unknown for a choice and states its value once, since many facts may mention the choice.
Polynomial Logic::choice(const z3::expr& condition, const Polynomial& yes, const Polynomial& no) {
  const z3::expr value = z3::ite(condition, term(yes), term(no));
  const auto known = choices_.find(value.id());
  if (known != choices_.end()) return known->second;
  const Polynomial name = fresh(fmt::format("choice_{}", choices_.size()));
  know(term(name) == value);
  kept_.push_back(value);
  return choices_.emplace(value.id(), name).first->second;
}

// Floor division. Z3 divides by constants. Any other quotient q of x by y becomes a symbol, with the fact that
// y > 0 implies q*y <= x < q*y + y.
Polynomial Logic::quotient(const Polynomial& dividend, const Polynomial& divisor) {
  if (divisor.is_constant() && divisor.constant_value() > 0)
    return atom(term(dividend) / context_.int_val(divisor.constant_value()));
  const z3::sort integer = context_.int_sort();
  const z3::func_decl divide = context_.function("qd_quotient", integer, integer, integer);
  const z3::expr result = divide(term(dividend), term(divisor));
  const bool known = atom_numbers_.count(result.id()) > 0;
  Polynomial q = atom(result);
  if (!known)
    know(term(divisor) > 0,
         less_equal(q * divisor, dividend) && less(dividend, q * divisor + divisor));
  return q;
}

// Turns (c ? 1 : -1) * b into c ? b : -b, so that a product with a choice between constants stays linear.
Polynomial Logic::product(const Expression& a, const Expression& b, const Instance& instance) {
  const auto is_constant = [](const Expression& e) { return e.op == Operator::kConstant; };
  const auto is_sign = [&](const Expression& e) {
    return e.op == Operator::kChoose && is_constant(e.operands[1]) && is_constant(e.operands[2]);
  };
  if (is_sign(b) && !is_sign(a)) return product(b, a, instance);
  if (!is_sign(a)) return number(a, instance) * number(b, instance);
  const Polynomial factor = number(b, instance);
  return choice(condition(a.operands[0], instance), number(a.operands[1], instance) * factor,
                number(a.operands[2], instance) * factor);
}

Polynomial Logic::binary(const Expression& e, const Instance& instance) {
  if (e.op == Operator::kMultiply) return product(e.operands[0], e.operands[1], instance);
  const Polynomial a = number(e.operands[0], instance), b = number(e.operands[1], instance);
  switch (e.op) {
    case Operator::kAdd: return a + b;
    case Operator::kSubtract: return a - b;
    case Operator::kDivide: return quotient(a, b);
    case Operator::kModulo: return a - quotient(a, b) * b;
    case Operator::kMinimum: return choice(less_equal(a, b), a, b);
    case Operator::kMaximum: return choice(less_equal(a, b), b, a);
    case Operator::kWrap: return choice(term(a) < 0, a + b, choice(less_equal(b, a), a - b, a));
    default: break;
  }
  // Exclusive or: Z3 knows only that equal operands give equal results.
  const z3::sort integer = context_.int_sort();
  return atom(context_.function("qd_xor", integer, integer, integer)(term(a), term(b)));
}

Polynomial Logic::number(const Expression& e, const Instance& instance) {
  switch (e.op) {
    case Operator::kConstant: return Polynomial::constant(e.value);
    case Operator::kParameter: return fresh(fmt::format("parameter_{}", e.value));
    case Operator::kVariable: return instance.variables[e.value];
    case Operator::kRank: return instance.rank;
    case Operator::kRanks: return ranks(instance.group);
    case Operator::kRemoteRanks: return ranks(1 - instance.group);
    case Operator::kGroup: return Polynomial::constant(instance.group);
    case Operator::kRoot: return root();
    case Operator::kLength: return length({e.value, instance.group});
    case Operator::kElement:
      return element({e.value, instance.group}, number(e.operands[0], instance));
    case Operator::kLocate:
      return located({e.value, instance.group}, number(e.operands[0], instance));
    case Operator::kChoose:
      return choice(condition(e.operands[0], instance), number(e.operands[1], instance),
                    number(e.operands[2], instance));
    default: return binary(e, instance);
  }
}

z3::expr Logic::condition(const Expression& e, const Instance& instance) {
  if (e.op == Operator::kAnd)
    return condition(e.operands[0], instance) && condition(e.operands[1], instance);
  if (e.op == Operator::kChoose)
    return z3::ite(condition(e.operands[0], instance), condition(e.operands[1], instance),
                   condition(e.operands[2], instance));
  check(is_comparison(e.op), "a condition is a comparison");
  const Polynomial a = number(e.operands[0], instance), b = number(e.operands[1], instance);
  switch (e.op) {
    case Operator::kEqual: return equal(a, b);
    case Operator::kNotEqual: return term(a) != term(b);
    case Operator::kLess: return less(a, b);
    default: return less_equal(a, b);
  }
}

std::string Logic::meaning(const Expression& e, int group) const {
  if (e.op == Operator::kElement && is_one_count(e.value)) return "count";
  switch (e.op) {
    case Operator::kRanks: return fmt::format("ranks {}", group);
    case Operator::kRemoteRanks: return fmt::format("ranks {}", 1 - group);
    case Operator::kGroup: return fmt::format("constant {}", group);
    default: break;
  }
  std::string text =
      fmt::format("{} {}", static_cast<int>(e.op),
                  reads_table(e.op) ? symbol({e.value, group}) : std::to_string(e.value));
  std::vector<std::string> operands;
  for (const Expression& operand : e.operands) operands.push_back(meaning(operand, group));
  if (e.op == Operator::kAdd) std::sort(operands.begin(), operands.end());
  for (const std::string& operand : operands) text += " (" + operand + ")";
  return text;
}

std::string Logic::meaning(TableOf table) const {
  const Table& t = definition(table);
  const int group = table.group;
  switch (t.kind) {
    case TableKind::kNodes: return fmt::format("nodes {}", group);
    case TableKind::kRemoteNodes: return fmt::format("nodes {}", 1 - group);
    case TableKind::kCounts: return fmt::format("counts {}", group);
    case TableKind::kRemoteCounts: return fmt::format("counts {}", 1 - group);
    case TableKind::kPrefix: return "prefix " + symbol(source(table));
    case TableKind::kDistinct: return "distinct " + symbol(source(table));
    case TableKind::kGreatest: return "greatest " + symbol(source(table));
    case TableKind::kLiteral: return fmt::format("literal {}", fmt::join(t.entries, " "));
    default:
      return fmt::format("{} ({}) ({})", static_cast<int>(t.kind), meaning(t.first, group),
                         meaning(t.second, group));
  }
}

std::string Logic::symbol(TableOf table) const {
  table = same(table);
  const Table& t = definition(table);
  switch (t.kind) {
    case TableKind::kPrefix: return "prefix_" + symbol(source(table));
    case TableKind::kDistinct: return "distinct_" + symbol(source(table));
    case TableKind::kNodes: return table.group == 0 ? "nodes" : "nodes_of_1";
    default: return fmt::format("table_{}{}", table.index, table.group == 0 ? "" : "_of_1");
  }
}

z3::expr Logic::apply(const std::string& name, const z3::expr& argument) {
  return context_.function(("qd_" + name).c_str(), context_.int_sort(),
                           context_.int_sort())(argument);
}

void Logic::rewrite(const Expression& left, const Expression& right, const Instance& instance) {
  const z3::expr argument = term(number(left.operands[0], instance));
  kept_.push_back(argument);
  places_.insert_or_assign(Place{left.op, same({left.value, instance.group}), argument.id()},
                           number(right, instance));
}

Polynomial Logic::applied(Operator op, TableOf table, const Polynomial& x) {
  table = same(table);
  const z3::expr argument = term(x);
  const Place place{op, table, argument.id()};
  if (const auto known = places_.find(place); known != places_.end()) return known->second;
  const bool is_element = op == Operator::kElement;
  const Polynomial result = atom(apply((is_element ? "" : "locate_") + symbol(table), argument));
  (is_element ? elements_ : locations_).push_back({table, x, result});
  return places_.emplace(place, result).first->second;
}

Polynomial Logic::ranks_of(TableOf table) {
  while (definition(table).kind == TableKind::kPrefix ||
         definition(table).kind == TableKind::kDistinct)
    table = source(table);
  const TableKind kind = definition(table).kind;
  const bool remote = kind == TableKind::kRemoteNodes || kind == TableKind::kRemoteCounts;
  return ranks(remote ? 1 - table.group : table.group);
}

Polynomial Logic::length(TableOf table) {
  table = same(table);
  const Table& t = definition(table);
  if (t.kind == TableKind::kPrefix || t.kind == TableKind::kGreatest)
    return length(source(table)) + 1;
  if (t.kind == TableKind::kLiteral) return static_cast<int64_t>(t.entries.size());
  if (is_counts(t.kind)) return ranks_of(table);
  if (t.kind == TableKind::kMap) return number(t.first, {table.group, {}, {}});
  return atom(context_.int_const(("qd_length_" + symbol(table)).c_str()));
}

Polynomial Logic::one_count() {
  Polynomial count = fresh("count");
  know(term(count) >= 0);
  if (greatest_count_) know(less_equal(count, *greatest_count_));
  return count;
}

Polynomial Logic::count(int group, const Polynomial& rank) {
  if (has_one_count(program_.collective)) return one_count();
  for (size_t i = 0; i < program_.tables.size(); ++i)
    if (is_counts(program_.tables[i].kind)) {
      const bool own = program_.tables[i].kind == TableKind::kCounts;
      return element({static_cast<int64_t>(i), own ? group : 1 - group}, rank);
    }
  const z3::expr length = apply(group == 0 ? "block_length" : "block_length_of_1", term(rank));
  know(length >= 0);
  return atom(length);
}

}  // namespace quadrille::verifier
