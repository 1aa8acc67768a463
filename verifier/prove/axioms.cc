// The axioms, one function per group. Facts about single terms, and about pairs of entries of a table, are
// instantiated automatically. Facts bring new terms, which get facts in a second round (and a third, if tables have
// expressions). The end of the file states the axioms of exclusive or for unsigned bit-vectors of 24 bits. Numbers up
// to 2^20, and their doubles, do not wrap around there.
#include "verifier/prove/axioms.h"

#include <algorithm>
#include <cstdlib>

#include "schedule/topology.h"
#include "verifier/prove/logic.h"

namespace quadrille::verifier {
namespace {

constexpr auto same = kOf<Operator::kEqual>;
constexpr auto exclusive_or = kOf<Operator::kXor>;

// The language has no implication. The choice `a ? b : true` stands for one.
Expression implies(const Expression& a, const Expression& b) {
  return apply(Operator::kChoose, {a, b, same(constant(0), constant(0))});
}

Expression at(int64_t table, const Expression& index) {
  return apply(Operator::kElement, {index}, table);
}
Expression in(int64_t table, const Expression& x) { return apply(Operator::kLocate, {x}, table); }
Expression inside(const Expression& low, const Expression& e, const Expression& end) {
  return both(less_equal(low, e), less(e, end));
}
Expression has_entry(int64_t table, const Expression& index, int64_t from = 0) {
  return inside(constant(from), index, leaf(Operator::kLength, table));
}
Expression is_rank(const Expression& e) { return inside(constant(0), e, leaf(Operator::kRanks)); }

using Arguments = std::vector<AxiomArgument>;

std::optional<Expression> monotone(const Program&, const Arguments& arguments) {
  const Expression &a = arguments[0].value, &b = arguments[1].value, &c = arguments[2].value;
  return implies(both(less_equal(a, b), less_equal(constant(0), c)),
                 less_equal(times(a, c), times(b, c)));
}

// The axioms of exclusive or are about ranks, at most kMaxRanks of them. bitvector_obligations() proves them.
std::optional<Expression> xor_range(const Program&, const Arguments& arguments) {
  const Expression &x = arguments[0].value, &y = arguments[1].value;
  const Expression ranks = leaf(Operator::kRanks), one = constant(1);
  const Expression power = same(exclusive_or(ranks, kOf<Operator::kSubtract>(ranks, one)),
                                kOf<Operator::kSubtract>(times(constant(2), ranks), one));
  return implies(both(both(is_rank(x), is_rank(y)), power), is_rank(exclusive_or(x, y)));
}

std::optional<Expression> xor_cancel(const Program&, const Arguments& arguments) {
  const Expression &x = arguments[0].value, &y = arguments[1].value, zero = constant(0);
  const Expression z = exclusive_or(x, y);
  const Expression only =
      both(implies(same(z, x), same(y, zero)), implies(same(z, zero), same(x, y)));
  return implies(both(is_rank(x), is_rank(y)),
                 both(both(same(exclusive_or(z, y), x), same(exclusive_or(z, x), y)),
                      both(same(z, exclusive_or(y, x)), only)));
}

bool powers_of_two(const Program& program, int64_t table) {
  return program.tables[table].kind == TableKind::kPowers &&
         program.tables[table].first == constant(2);
}

Expression small_power(int64_t powers, const Expression& k) {
  return both(has_entry(powers, k), less_equal(at(powers, k), constant(kMaxRanks)));
}

// T holds powers of two: x xor y < T[k] exactly if x and y are in one group of T[k] consecutive ranks.
std::optional<Expression> xor_groups(const Program& program, const Arguments& arguments) {
  const int64_t powers = *arguments[0].table;
  if (!powers_of_two(program, powers)) return std::nullopt;
  const Expression &k = arguments[1].value, &x = arguments[2].value, &y = arguments[3].value;
  const Expression size = at(powers, k);
  const Expression one = kOf<Operator::kDivide>(x, size), other = kOf<Operator::kDivide>(y, size);
  return implies(both(both(is_rank(x), is_rank(y)), small_power(powers, k)),
                 apply(Operator::kChoose, {less(exclusive_or(x, y), size), same(one, other),
                                           kOf<Operator::kNotEqual>(one, other)}));
}

// Returns x with binary digit k inverted. `powers` is a table of powers of two.
Expression flipped(int64_t powers, const Expression& k, const Expression& x) {
  const Expression size = at(powers, k);
  const Expression digit = kOf<Operator::kModulo>(kOf<Operator::kDivide>(x, size), constant(2));
  return apply(Operator::kChoose, {same(digit, constant(0)), kOf<Operator::kAdd>(x, size),
                                   kOf<Operator::kSubtract>(x, size)});
}

std::optional<Expression> xor_flip(const Program& program, const Arguments& arguments) {
  const int64_t powers = *arguments[0].table;
  if (!powers_of_two(program, powers)) return std::nullopt;
  const Expression &k = arguments[1].value, &x = arguments[2].value, &y = arguments[3].value;
  const Expression z = exclusive_or(x, y);
  return implies(both(both(is_rank(x), is_rank(y)), small_power(powers, k)),
                 both(less_equal(constant(0), z),
                      same(exclusive_or(flipped(powers, k, x), y), flipped(powers, k, z))));
}

// Returns the table of node sizes whose distinct values the table `distinct` holds, if it does.
std::optional<int64_t> sizes_of(const Program& program, int64_t distinct) {
  const Table& table = program.tables[distinct];
  if (table.kind != TableKind::kDistinct || program.tables[table.source].kind != TableKind::kNodes)
    return std::nullopt;
  return table.source;
}

std::optional<Expression> member(const Program& program, const Arguments& arguments) {
  const int64_t distinct = *arguments[0].table;
  const auto nodes = sizes_of(program, distinct);
  if (!nodes) return std::nullopt;
  const Expression& i = arguments[1].value;
  const Expression where = in(*nodes, at(distinct, i));
  return implies(has_entry(distinct, i, 1),
                 both(same(at(*nodes, where), at(distinct, i)), has_entry(*nodes, where)));
}

std::optional<Expression> covered(const Program& program, const Arguments& arguments) {
  const int64_t distinct = *arguments[0].table;
  const auto nodes = sizes_of(program, distinct);
  if (!nodes) return std::nullopt;
  const Expression& i = arguments[1].value;
  const Expression where = in(distinct, at(*nodes, i));
  return implies(has_entry(*nodes, i),
                 both(same(at(distinct, where), at(*nodes, i)), less_equal(constant(1), where)));
}

struct Axiom {
  std::string_view name;
  std::string_view arguments;  // one letter for each: t is a table, n a number
  std::optional<Expression> (*make)(const Program& program, const Arguments& arguments);
};
constexpr Axiom kAxioms[] = {
    {"monotone", "nnn", monotone},    {"member", "tn", member},
    {"covered", "tn", covered},       {"xor_range", "nn", xor_range},
    {"xor_cancel", "nn", xor_cancel}, {"xor_groups", "tnnn", xor_groups},
    {"xor_flip", "tnnn", xor_flip},
};

const Axiom* find_axiom(const std::string& name) {
  const auto found = std::find_if(std::begin(kAxioms), std::end(kAxioms),
                                  [&](const Axiom& axiom) { return axiom.name == name; });
  return found == std::end(kAxioms) ? nullptr : found;
}

constexpr unsigned kBits = 24;

struct Bits {
  explicit Bits(Query& query)
      : q(query),
        x(q.context().bv_const("qd_x", kBits)),
        y(q.context().bv_const("qd_y", kBits)),
        p(q.context().bv_const("qd_p", kBits)) {
    q.bit_vectors = true;
    q.suppose(z3::ule(p, number(kMaxRanks)));
    q.suppose(z3::ult(x, p));
    q.suppose(z3::ult(y, p));
  }
  z3::expr number(int64_t value) const {
    return q.context().bv_val(static_cast<uint64_t>(value), kBits);
  }

  Query& q;
  z3::expr x, y, p;
};

}  // namespace

std::optional<Expression> named_axiom(const Program& program, const std::string& name,
                                      const std::vector<AxiomArgument>& arguments) {
  const Axiom* axiom = find_axiom(name);
  std::string given;
  for (const AxiomArgument& argument : arguments) given += argument.table ? 't' : 'n';
  return axiom && axiom->arguments == given ? axiom->make(program, arguments) : std::nullopt;
}

bool Logic::made_of_nodes(TableOf table) const {
  const TableKind kind = definition(table).kind;
  return (kind == TableKind::kPrefix || kind == TableKind::kDistinct) &&
         is_nodes(definition(source(table)).kind);
}

bool Logic::adds_up(TableOf table) const {
  if (definition(table).kind != TableKind::kPrefix) return false;
  const TableKind kind = definition(source(table)).kind;
  return is_nodes(kind) || (kind == TableKind::kMap && sums_known_);
}

bool Logic::sums_counts(TableOf table) const {
  return definition(table).kind == TableKind::kPrefix && is_counts(definition(source(table)).kind);
}

// States facts about a table's length, first and last entry. know_pairs() does not see the entries named here.
void Logic::know_table(TableOf table) {
  const Polynomial zero = 0, one = 1;
  const Table& t = definition(table);
  if (is_nodes(t.kind)) know(term(length(table)) >= 1);
  if (t.kind == TableKind::kPowers) {
    know(term(length(table)) >= 1);
    know(equal(entry(table, zero), one));
    know(less_equal(number(t.second, {table.group, {}, {}}), entry(table, length(table) - one)));
  }
  const bool greatest = t.kind == TableKind::kGreatest;
  if (!made_of_nodes(table) && !adds_up(table) && !sums_counts(table) && !greatest) return;
  know(equal(entry(table, zero), zero));
  if (greatest) return;
  if (t.kind == TableKind::kPrefix) {
    if (made_of_nodes(table)) know(equal(entry(table, length(table) - one), ranks_of(table)));
  } else {
    know(term(length(table)) >= 2);
    know(equal(entry(table, length(table) - one),
               entry(source(table), length(source(table)) - one)));
  }
}

void Logic::know_element(const Application& application) {
  const auto& [of, argument, result] = application;
  const Table& table = definition(of);
  const z3::expr index = term(argument);
  const z3::expr inside = index >= 0 && index < term(length(of));
  const Polynomial last = length(of) - 1;
  if (is_nodes(table.kind)) {
    know(inside, term(result) >= 1 && less_equal(result, entry(of, last)));
  } else if (is_counts(table.kind)) {
    know(inside, term(result) >= 0);
    if (greatest_count_) know(inside, less_equal(result, *greatest_count_));
  } else if (sums_counts(of)) {
    know(inside, term(result) >= 0 && less_equal(result, entry(of, last)));
  } else if (table.kind == TableKind::kPowers) {
    know(inside, term(result) >= 1);
    know(inside && index < term(last), less(result, number(table.second, {of.group, {}, {}})));
  } else if (table.kind == TableKind::kGreatest) {
    know(inside, term(result) >= 0 && less_equal(result, entry(of, last)));
  } else if (table.kind == TableKind::kLiteral) {
    const auto [least, most] = std::ranges::minmax(table.entries);
    know(inside, less_equal(Polynomial(least), result) && less_equal(result, Polynomial(most)));
  } else if (table.kind == TableKind::kMap) {
    know(inside, equal(result, number(table.second, {of.group, {}, {argument}})));
  } else if (made_of_nodes(of) || adds_up(of)) {
    know(inside, less_equal(argument, result));
    const Polynomial end = length(source(of));
    if (table.kind == TableKind::kPrefix)
      know(index >= 0 && index < term(end),
           less_equal(result + entry(source(of), argument),
                      made_of_nodes(of) ? ranks_of(of) : entry(of, end)));
  }
  // No entry exceeds the last of greatest(t).
  for (const TableOf& each : tables_)
    if (definition(each).kind == TableKind::kGreatest && source(each) == of)
      know(inside, less_equal(result, entry(each, length(of))));
}

// Returns entry index + 1. Of prefix sums it is entry `index` plus the summand: a new entry would bring facts about
// all of its pairs.
Polynomial Logic::next_element(TableOf table, const Polynomial& index) {
  if (adds_up(table) || sums_counts(table))
    return element(table, index) + element(source(table), index);
  return element(table, index + 1);
}

void Logic::know_location(const Application& application) {
  const auto& [table, x, a] = application;
  const z3::expr where = term(a), end = term(length(table));
  const bool sums = adds_up(table) || sums_counts(table);
  know(where >= -1 && where < end);
  know(where >= 0, less_equal(element(table, a), x));
  know((sums ? where >= 0 : where >= -1) && where + 1 < end, less(x, next_element(table, a)));
  if (sums) know(where == -1, term(x) < 0);
}

// States facts about each two entries of a table that occur.
void Logic::know_pairs(TableOf table) {
  const Table& t = definition(table);
  const bool counted = sums_counts(table), powers = t.kind == TableKind::kPowers;
  const bool greatest = t.kind == TableKind::kGreatest;
  if (!is_nodes(t.kind) && !made_of_nodes(table) && !adds_up(table) && !counted && !powers &&
      !greatest)
    return;
  std::vector<Application> entries;
  for (const Application& application : elements_)
    if (application.table == table) entries.push_back(application);
  const z3::expr end = term(length(table));
  // States that entries ascend: if low's index is below high's, its entry is, too.
  const auto ordered = [&](const Application& low, const Application& high) {
    const z3::expr i = term(low.argument), j = term(high.argument);
    if (is_nodes(t.kind) || greatest)
      return know(i >= 0 && i <= j && j < end, less_equal(low.result, high.result));
    const auto in_order = [&] {
      if (powers) return less(low.result, high.result);
      if (!counted && t.kind != TableKind::kPrefix)
        return less_equal(low.result + high.argument - low.argument, high.result);
      const z3::expr reaches = less_equal(next_element(table, low.argument), high.result);
      return reaches && (counted                ? less_equal(low.result, high.result)
                         : made_of_nodes(table) ? truth(true)
                                                : less(low.result, high.result));
    };
    know(i >= 0 && i < j && j < end, in_order());
  };
  for (size_t i = 0; i < entries.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const Polynomial distance = entries[i].argument - entries[j].argument;
      if (!distance.is_constant() || distance.constant_value() > 0) ordered(entries[j], entries[i]);
      if (!distance.is_constant() || distance.constant_value() < 0) ordered(entries[i], entries[j]);
      if ((t.kind != TableKind::kPrefix && !powers) || !distance.is_constant() ||
          std::abs(distance.constant_value()) != 1)
        continue;
      // Of two neighbors, the lower determines the higher.
      const Application &low = entries[distance.constant_value() == 1 ? j : i],
                        &high = entries[distance.constant_value() == 1 ? i : j];
      const Polynomial next = powers ? number(t.first, {table.group, {}, {}}) * low.result
                                     : next_element(table, low.argument);
      know(term(low.argument) >= 0 && term(high.argument) < end, equal(next, high.result));
    }
}

std::vector<z3::expr> Logic::knowledge() {
  // An entry of a table of expressions is an expression, which may name entries of other tables.
  const bool has_map =
      std::any_of(program_.tables.begin(), program_.tables.end(),
                  [](const Table& table) { return table.kind == TableKind::kMap; });
  size_t elements = 0, locations = 0;
  for (int round = 0; round < (has_map ? 3 : 2); ++round) {
    const size_t element_end = elements_.size(), location_end = locations_.size();
    for (; locations < location_end; ++locations) know_location(Application(locations_[locations]));
    for (; elements < element_end; ++elements) know_element(Application(elements_[elements]));
  }
  // Distinct and prefix tables come first, because facts about them name entries of the table of sizes.
  for (auto table = tables_.rbegin(); table != tables_.rend(); ++table) know_pairs(*table);
  for (int group = 0; group < program_.groups; ++group) know(term(ranks(group)) >= 1);
  for (const TableOf& table : tables_) know_table(table);
  if (compares_products_) know_products();
  return known_;
}

// For products x*c and y*c: 0 <= c and x + 1 <= y -> x*c + c <= y*c, and 0 <= c and x <= y -> x*c <= y*c. The products 0 and
// c stand beside those that occur.
void Logic::know_products() {
  constexpr size_t kMostCompared = 16;            // products with one factor
  std::map<int, std::vector<Polynomial>> others;  // by factor
  for (const Polynomial::Monomial& product : std::set(products_))
    for (size_t i = 0; i < product.size(); ++i) {
      if (i > 0 && product[i] == product[i - 1]) continue;
      Polynomial other = 1;
      for (size_t k = 0; k < product.size(); ++k)
        if (k != i) other = other * Polynomial::atom(product[k]);
      others[product[i]].push_back(other);
    }
  for (auto& [atom, all] : others) {
    if (all.size() > kMostCompared) continue;
    const Polynomial factor = Polynomial::atom(atom), one = 1;
    all.insert(all.end(), {Polynomial(0), one});
    for (const Polynomial& x : all)
      for (const Polynomial& y : all) {
        if (x.terms() == y.terms() || (x.is_constant() && y.is_constant())) continue;
        const z3::expr positive = term(factor) >= 0;
        know(positive && less_equal(x + one, y), less_equal((x + one) * factor, y * factor));
        know(positive && less_equal(x, y), less_equal(x * factor, y * factor));
      }
  }
}

std::vector<Obligation> bitvector_obligations() {
  // The hypothesis p xor (p - 1) = 2p - 1 says that p is a power of two. Then x xor y stays below it.
  const auto stays_below = [](Query& q) {
    Bits b(q);
    q.suppose((b.p ^ (b.p - b.number(1))) == b.p + b.p - b.number(1));
    q.goal = z3::ult(b.x ^ b.y, b.p);
    q.mutant = z3::ult(b.x ^ b.y, b.p - b.number(1));
  };
  const auto cancels = [](Query& q) {
    Bits b(q);
    q.goal = ((b.x ^ b.y) ^ b.y) == b.x && ((b.x ^ b.y) ^ b.x) == b.y;
    q.mutant = ((b.x ^ b.y) ^ b.y) == b.y;
  };
  const auto commutes = [](Query& q) {
    Bits b(q);
    const z3::expr z = b.x ^ b.y;
    q.goal = z == (b.y ^ b.x) && (z == b.x) == (b.y == b.number(0)) &&
             (z == b.number(0)) == (b.x == b.y);
    q.mutant = (b.x ^ b.y) == b.x;
  };
  // x >> k and y >> k number the groups of 2^k ranks that x and y are in.
  const auto keeps_groups = [](Query& q) {
    Bits b(q);
    const z3::expr k = q.context().bv_const("qd_k", kBits);
    q.suppose(z3::ule(k, b.number(20)));
    const z3::expr same = z3::lshr(b.x, k) == z3::lshr(b.y, k);
    q.goal = z3::ult(b.x ^ b.y, z3::shl(b.number(1), k)) == same;
    q.mutant = z3::ult(b.x ^ b.y, k) == same;
  };
  // Inverting digit k is exclusive or with 2^k. Another exclusive or may come before or after it.
  const auto flips = [](Query& q) {
    Bits b(q);
    const z3::expr k = q.context().bv_const("qd_k", kBits);
    q.suppose(z3::ule(k, b.number(20)));
    const z3::expr power = z3::shl(b.number(1), k);
    const z3::expr digit = z3::lshr(b.x, k) & b.number(1);
    const z3::expr flipped = z3::ite(digit == b.number(0), b.x + power, b.x - power);
    q.goal = flipped == (b.x ^ power) && ((b.x ^ power) ^ b.y) == ((b.x ^ b.y) ^ power);
    q.mutant = flipped == (b.x | power);
  };
  return {
      {"bit-vectors: x xor y < p", stays_below},
      {"bit-vectors: (x xor y) xor y = x, (x xor y) xor x = y", cancels},
      {"bit-vectors: x xor y = y xor x, = x only where y = 0, = 0 only where x = y", commutes},
      {"bit-vectors: x xor y < 2^k where x div 2^k = y div 2^k, and only there", keeps_groups},
      {"bit-vectors: x with digit k flipped is x xor 2^k, before another xor or after it", flips}};
}

}  // namespace quadrille::verifier
