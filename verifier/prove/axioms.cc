// The axioms, one function per group. Facts about single terms, and about pairs of entries of a table, are
// instantiated automatically. This takes two rounds, as the facts of the first bring new terms. The end of the file
// proves the axioms of exclusive or over bit-vectors, in 24 bits, unsigned: numbers of up to 2^20 and their doubles
// do not wrap around.
#include "verifier/prove/axioms.h"

#include <algorithm>
#include <cstdlib>

#include "schedule/topology.h"
#include "verifier/prove/logic.h"
#include "verifier/prove/obligations.h"

namespace quadrille::verifier {

namespace {

Expression at(int64_t table, Expression index) {
  return apply(Operator::kElement, {std::move(index)}, table);
}
Expression in(int64_t table, Expression x) {
  return apply(Operator::kLocate, {std::move(x)}, table);
}
Expression both(Expression a, Expression b) {
  return apply(Operator::kAnd, {std::move(a), std::move(b)});
}
Expression at_most(Expression a, Expression b) {
  return apply(Operator::kLessEqual, {std::move(a), std::move(b)});
}
Expression below(Expression a, Expression b) {
  return apply(Operator::kLess, {std::move(a), std::move(b)});
}
Expression same(Expression a, Expression b) {
  return apply(Operator::kEqual, {std::move(a), std::move(b)});
}
Expression times(Expression a, Expression b) {
  return apply(Operator::kMultiply, {std::move(a), std::move(b)});
}
// The language has no implication; a choice does.
Expression implies(Expression a, Expression b) {
  return apply(Operator::kChoose, {std::move(a), std::move(b), same(constant(0), constant(0))});
}

Expression exclusive_or(Expression a, Expression b) {
  return apply(Operator::kXor, {std::move(a), std::move(b)});
}

Expression is_rank(const Expression& e) {
  return both(at_most(constant(0), e), below(e, leaf(Operator::kRanks)));
}
Expression are_ranks(const Expression& x, const Expression& y) {
  return both(is_rank(x), is_rank(y));
}

// Of ranks x and y, of which there are kMaxRanks at most; proven over bit-vectors (below).
std::optional<Expression> xor_axiom(const std::string& name, const Expression& x,
                                    const Expression& y) {
  const Expression ranks = leaf(Operator::kRanks), bounded = are_ranks(x, y);
  const Expression z = exclusive_or(x, y);
  if (name == "xor_range") {
    const Expression power =
        same(exclusive_or(ranks, apply(Operator::kSubtract, {ranks, constant(1)})),
             apply(Operator::kSubtract, {times(constant(2), ranks), constant(1)}));
    return implies(both(bounded, power), is_rank(z));
  }
  if (name == "xor_cancel") {
    const Expression zero =
        both(implies(same(z, x), same(y, constant(0))), implies(same(z, constant(0)), same(x, y)));
    return implies(bounded, both(both(same(exclusive_or(z, y), x), same(exclusive_or(z, x), y)),
                                 both(same(z, exclusive_or(y, x)), zero)));
  }
  return std::nullopt;
}

// Of powers of two T, in groups of T[k] ranks: proven over bit-vectors as well.
std::optional<Expression> groups_axiom(const Program& program,
                                       const std::vector<AxiomArgument>& arguments) {
  const int64_t powers = arguments[0].table.value_or(0);
  if (!arguments[0].table || arguments[1].table || arguments[2].table || arguments[3].table ||
      program.tables[powers].kind != TableKind::kPowers ||
      program.tables[powers].first != constant(2))
    return std::nullopt;
  const Expression &k = arguments[1].value, &x = arguments[2].value, &y = arguments[3].value;
  const Expression size = at(powers, k);
  const auto group = [&](const Expression& e) { return apply(Operator::kDivide, {e, size}); };
  const Expression entry =
      both(both(at_most(constant(0), k), below(k, leaf(Operator::kLength, powers))),
           at_most(size, constant(kMaxRanks)));
  return implies(
      both(are_ranks(x, y), entry),
      apply(Operator::kChoose, {below(exclusive_or(x, y), size), same(group(x), group(y)),
                                apply(Operator::kNotEqual, {group(x), group(y)})}));
}

}  // namespace

std::optional<Expression> named_axiom(const Program& program, const std::string& name,
                                      const std::vector<AxiomArgument>& arguments) {
  if (name == "monotone" && arguments.size() == 3 && !arguments[0].table && !arguments[1].table &&
      !arguments[2].table) {
    const Expression &a = arguments[0].value, &b = arguments[1].value, &c = arguments[2].value;
    return implies(both(at_most(a, b), at_most(constant(0), c)), at_most(times(a, c), times(b, c)));
  }
  if (name.starts_with("xor_") && arguments.size() == 2 && !arguments[0].table &&
      !arguments[1].table)
    return xor_axiom(name, arguments[0].value, arguments[1].value);
  if (name == "xor_groups" && arguments.size() == 4) return groups_axiom(program, arguments);
  if (arguments.size() != 2 || !arguments[0].table || arguments[1].table) return std::nullopt;
  const int64_t distinct = *arguments[0].table;
  if (program.tables[distinct].kind != TableKind::kDistinct) return std::nullopt;
  const int64_t nodes = program.tables[distinct].source;
  if (program.tables[nodes].kind != TableKind::kNodes) return std::nullopt;
  const Expression& i = arguments[1].value;
  if (name == "member") {
    const Expression where = in(nodes, at(distinct, i));
    return implies(
        both(at_most(constant(1), i), below(i, leaf(Operator::kLength, distinct))),
        both(same(at(nodes, where), at(distinct, i)),
             both(at_most(constant(0), where), below(where, leaf(Operator::kLength, nodes)))));
  }
  if (name == "covered") {
    const Expression where = in(distinct, at(nodes, i));
    return implies(both(at_most(constant(0), i), below(i, leaf(Operator::kLength, nodes))),
                   both(same(at(distinct, where), at(nodes, i)), at_most(constant(1), where)));
  }
  return std::nullopt;
}

bool is_axiom(const std::string& name) {
  return name == "monotone" || name == "member" || name == "covered" || name == "xor_range" ||
         name == "xor_cancel" || name == "xor_groups";
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

// Facts about lengths and ends. The entries that they name take no part in facts about pairs.
void Logic::know_table(TableOf table) {
  const Polynomial zero = 0, one = 1;
  const Table& t = definition(table);
  if (is_nodes(t.kind)) known_.push_back(term(length(table)) >= 1);
  if (t.kind == TableKind::kPowers) {
    known_.push_back(term(length(table)) >= 1);
    known_.push_back(equal(entry(table, zero), one));
    known_.push_back(
        less_equal(number(t.second, {table.group, {}, {}}), entry(table, length(table) - one)));
  }
  if (!made_of_nodes(table) && !adds_up(table) && !sums_counts(table)) return;
  known_.push_back(equal(entry(table, zero), zero));
  if (t.kind == TableKind::kPrefix) {
    if (made_of_nodes(table))
      known_.push_back(equal(entry(table, length(table) - one), ranks_of(table)));
  } else {
    known_.push_back(term(length(table)) >= 2);
    known_.push_back(equal(entry(table, length(table) - one),
                           entry(source(table), length(source(table)) - one)));
  }
}

void Logic::know_element(const Application& application) {
  const TableOf of = application.table;
  const Table& table = definition(of);
  const z3::expr index = term(application.argument);
  const z3::expr inside = index >= 0 && index < term(length(of));
  const Polynomial last = length(of) - 1;
  if (is_nodes(table.kind)) {
    known_.push_back(z3::implies(
        inside, term(application.result) >= 1 && less_equal(application.result, entry(of, last))));
  } else if (is_counts(table.kind)) {
    known_.push_back(z3::implies(inside, term(application.result) >= 0));
    if (greatest_count_)
      known_.push_back(z3::implies(inside, less_equal(application.result, *greatest_count_)));
  } else if (sums_counts(of)) {
    known_.push_back(z3::implies(
        inside, term(application.result) >= 0 && less_equal(application.result, entry(of, last))));
  } else if (table.kind == TableKind::kPowers) {
    known_.push_back(z3::implies(inside, term(application.result) >= 1));
    known_.push_back(
        z3::implies(inside && index < term(last),
                    less(application.result, number(table.second, {of.group, {}, {}}))));
  } else if (table.kind == TableKind::kMap) {
    known_.push_back(z3::implies(
        inside,
        equal(application.result, number(table.second, {of.group, {}, {application.argument}}))));
  } else if (made_of_nodes(of) || adds_up(of)) {
    known_.push_back(z3::implies(inside, less_equal(application.argument, application.result)));
    const Polynomial end = length(source(of));
    if (table.kind == TableKind::kPrefix)
      known_.push_back(
          z3::implies(index >= 0 && index < term(end),
                      less_equal(application.result + entry(source(of), application.argument),
                                 made_of_nodes(of) ? ranks_of(of) : entry(of, end))));
  }
}

// The entry after entry i: of prefix sums the sum, which spares an entry that facts about pairs
// would multiply with others.
Polynomial Logic::next_element(TableOf table, const Polynomial& index) {
  if (adds_up(table) || sums_counts(table))
    return element(table, index) + element(source(table), index);
  return element(table, index + 1);
}

void Logic::know_location(const Application& application) {
  const Polynomial& a = application.result;
  const z3::expr where = term(a);
  const bool sums = adds_up(application.table) || sums_counts(application.table);
  known_.push_back(where >= -1 && where < term(length(application.table)));
  known_.push_back(
      z3::implies(where >= 0, less_equal(element(application.table, a), application.argument)));
  known_.push_back(
      z3::implies((sums ? where >= 0 : where >= -1) && where + 1 < term(length(application.table)),
                  less(application.argument, next_element(application.table, a))));
  if (sums) known_.push_back(z3::implies(where == -1, term(application.argument) < 0));
}

// Facts about each two entries of a table.
void Logic::know_pairs(TableOf table) {
  const Table& t = definition(table);
  const bool counted = sums_counts(table), powers = t.kind == TableKind::kPowers;
  if (!is_nodes(t.kind) && !made_of_nodes(table) && !adds_up(table) && !counted && !powers) return;
  std::vector<Application> entries;
  for (const Application& application : elements_)
    if (application.table == table) entries.push_back(application);
  const z3::expr end = term(length(table));
  // That entries ascend, from one to another.
  const auto ordered = [&](const Application& low, const Application& high) {
    const z3::expr i = term(low.argument), j = term(high.argument);
    if (is_nodes(t.kind))
      known_.push_back(
          z3::implies(i >= 0 && i <= j && j < end, less_equal(low.result, high.result)));
    else if (powers)
      known_.push_back(z3::implies(i >= 0 && i < j && j < end, less(low.result, high.result)));
    else if (counted)
      known_.push_back(z3::implies(i >= 0 && i < j && j < end,
                                   less_equal(next_element(table, low.argument), high.result) &&
                                       less_equal(low.result, high.result)));
    else if (t.kind == TableKind::kPrefix)
      known_.push_back(
          z3::implies(i >= 0 && i < j && j < end,
                      less_equal(next_element(table, low.argument), high.result) &&
                          (made_of_nodes(table) ? truth(true) : less(low.result, high.result))));
    else
      known_.push_back(
          z3::implies(i >= 0 && i < j && j < end,
                      less_equal(low.result + high.argument - low.argument, high.result)));
  };
  for (size_t i = 0; i < entries.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const Polynomial distance = entries[i].argument - entries[j].argument;
      if (!distance.is_constant() || distance.constant_value() > 0) ordered(entries[j], entries[i]);
      if (!distance.is_constant() || distance.constant_value() < 0) ordered(entries[i], entries[j]);
      if ((t.kind != TableKind::kPrefix && !powers) || !distance.is_constant() ||
          std::abs(distance.constant_value()) != 1)
        continue;
      // Neighbours touch.
      const Application &low = entries[distance.constant_value() == 1 ? j : i],
                        &high = entries[distance.constant_value() == 1 ? i : j];
      const Polynomial next = powers ? number(t.first, {table.group, {}, {}}) * low.result
                                     : next_element(table, low.argument);
      known_.push_back(z3::implies(term(low.argument) >= 0 && term(high.argument) < end,
                                   equal(next, high.result)));
    }
}

std::vector<z3::expr> Logic::knowledge() {
  // An entry of a table of expressions names entries of others.
  const bool has_map =
      std::any_of(program_.tables.begin(), program_.tables.end(),
                  [](const Table& table) { return table.kind == TableKind::kMap; });
  size_t elements = 0, locations = 0;
  for (int round = 0; round < (has_map ? 3 : 2); ++round) {
    const size_t element_end = elements_.size(), location_end = locations_.size();
    for (; locations < location_end; ++locations) know_location(Application(locations_[locations]));
    for (; elements < element_end; ++elements) know_element(Application(elements_[elements]));
  }
  // Distinct and prefix tables first: what is said of them names entries of the sizes.
  for (auto table = tables_.rbegin(); table != tables_.rend(); ++table) know_pairs(*table);
  for (int group = 0; group < program_.groups; ++group) known_.push_back(term(ranks(group)) >= 1);
  for (const TableOf& table : tables_) know_table(table);
  return known_;
}

namespace {

constexpr unsigned kBits = 24;

struct Bits {
  explicit Bits(Query& query)
      : q(query),
        x(q.context().bv_const("qd_x", kBits)),
        y(q.context().bv_const("qd_y", kBits)),
        p(q.context().bv_const("qd_p", kBits)) {
    q.bit_vectors = true;
    q.hypotheses.push_back(z3::ule(p, number(kMaxRanks)));
    q.hypotheses.push_back(z3::ult(x, p));
    q.hypotheses.push_back(z3::ult(y, p));
  }
  z3::expr number(int64_t value) const {
    return q.context().bv_val(static_cast<uint64_t>(value), kBits);
  }

  Query& q;
  z3::expr x, y, p;
};

}  // namespace

std::vector<Obligation> bitvector_obligations() {
  std::vector<Obligation> result;
  // p xor (p - 1) = 2p - 1: p is a power of two, and then x xor y stays below it.
  result.push_back({"bit-vectors: x xor y < p", false, [](Query& q) {
                      Bits b(q);
                      q.hypotheses.push_back((b.p ^ (b.p - b.number(1))) ==
                                             b.p + b.p - b.number(1));
                      q.goal = z3::ult(b.x ^ b.y, b.p);
                      q.mutant = z3::ult(b.x ^ b.y, b.p - b.number(1));
                    }});
  result.push_back({"bit-vectors: (x xor y) xor y = x, (x xor y) xor x = y", false, [](Query& q) {
                      Bits b(q);
                      q.goal = ((b.x ^ b.y) ^ b.y) == b.x && ((b.x ^ b.y) ^ b.x) == b.y;
                      q.mutant = ((b.x ^ b.y) ^ b.y) == b.y;
                    }});
  result.push_back({"bit-vectors: x xor y = y xor x, = x only where y = 0, = 0 only where x = y",
                    false, [](Query& q) {
                      Bits b(q);
                      const z3::expr z = b.x ^ b.y;
                      q.goal = z == (b.y ^ b.x) && (z == b.x) == (b.y == b.number(0)) &&
                               (z == b.number(0)) == (b.x == b.y);
                      q.mutant = (b.x ^ b.y) == b.x;
                    }});
  // The groups of 2^k are x >> k and y >> k.
  result.push_back({"bit-vectors: x xor y < 2^k where x div 2^k = y div 2^k, and only there", false,
                    [](Query& q) {
                      Bits b(q);
                      const z3::expr k = q.context().bv_const("qd_k", kBits);
                      q.hypotheses.push_back(z3::ule(k, b.number(20)));
                      const z3::expr same = z3::lshr(b.x, k) == z3::lshr(b.y, k);
                      q.goal = z3::ult(b.x ^ b.y, z3::shl(b.number(1), k)) == same;
                      q.mutant = z3::ult(b.x ^ b.y, k) == same;
                    }});
  return result;
}

}  // namespace quadrille::verifier
