// Every partial operation has a value wherever the program comes to it. A place that is reached on
// more conditions than one already asked for is not asked again. What is used of exclusive or is
// proven here too, for as many ranks as it can be. Tested with the obligations (obligations.cc).
#include <fmt/format.h>

#include <algorithm>

#include "schedule/binding.h"
#include "schedule/traverse.h"
#include "verifier/prove/planner.h"

namespace quadrille::verifier {

void Planner::xor_facts() {
  bool has_xor = false;
  const std::function<void(const Expression&)> look = [&](const Expression& e) {
    has_xor |= e.op == Operator::kXor;
    for (const Expression& operand : e.operands) look(operand);
  };
  for_each_expression_of_program(program_, look);
  for (const ProofStatement& statement : proof_.statements)
    for (const Line& line : statement.lines)
      for (const Token& token : line.tokens) has_xor |= token.text == "xor";
  if (!has_xor) return;
  for (Obligation& fact : bitvector_obligations()) plan_.obligations.push_back(std::move(fact));
}

void Planner::table_facts() {
  const View nowhere{{}, {}, false};
  for (const Table& table : program_.tables) {
    const Polynomial two = Polynomial::constant(2);
    if (table.kind == TableKind::kPowers)
      add("defined powers of " + table.name.text, [=, this](Query& q) {
        const Polynomial radix = q.logic.number(table.first, unknowns(q, nowhere));
        show(q, {}, {q.logic.less_equal(two, radix)}, q.logic.less(radix, two));
      });
    if (table.kind == TableKind::kPrefix) summed_entries(program_.tables[table.source]);
  }
  for (const int64_t table : anatomy_.searched) ascending_entries(program_.tables[table]);
}

// Lemmas come later: what they know of a search is known of ascending tables only.
void Planner::ascending_entries(const Table& table) {
  const View view{{table.index.text}, {}, false};
  const Uses facts = uses(find("defined", ""), view);
  add("defined entries of " + table.name.text + " ascend", [=, this](Query& q) {
    const Instance instance = unknowns(q, view);
    const Polynomial index = instance.variables[0], one = Polynomial::constant(1);
    q.hypotheses.push_back(q.logic.less_equal(Polynomial::constant(0), index));
    q.hypotheses.push_back(q.logic.less(index + one, q.logic.number(table.first, instance)));
    assume(q, facts, instance);
    const Polynomial entry = q.logic.number(table.second, instance);
    const Polynomial next = q.logic.number(table.second, Instance{q.group, {}, {index + one}});
    show(q, {}, {q.logic.less_equal(entry, next)}, q.logic.less(next, entry));
  });
}

void Planner::summed_entries(const Table& source) {
  if (source.kind != TableKind::kMap) return;
  const View view{{source.index.text}, {}, false};
  const Uses facts = uses(find("defined", ""), view);
  add("defined entries of " + source.name.text, [=, this](Query& q) {
    q.logic.doubt_sums();
    const Instance instance = unknowns(q, view);
    const Polynomial index = instance.variables[0], one = Polynomial::constant(1);
    append(q.hypotheses, within(q, index, q.logic.number(source.first, instance)));
    assume(q, facts, instance);
    const Polynomial entry = q.logic.number(source.second, instance);
    show(q, {}, {q.logic.less_equal(one, entry)}, q.logic.less(entry, one));
  });
}

void Planner::defined() {
  const ProofStatement* statement = find("defined", "");
  std::vector<Place> needed, asked;
  for (const Place& place : anatomy_.places)
    partial_conditions(place.expression, place.path, needed);
  for (const Place& place : needed) {
    const bool known = std::any_of(asked.begin(), asked.end(), [&](const Place& earlier) {
      return earlier.expression == place.expression && is_part_of(earlier.path, place.path);
    });
    if (known) continue;
    asked.push_back(place);
    const View view = view_along(place.path);
    const Uses facts = uses(statement, with_loop_names(view));
    add(fmt::format("defined {}", asked.size()), [=, this](Query& q) {
      const Instance instance = unknowns_at(q, view, place.path, facts);
      show(q, {}, {q.logic.condition(place.expression, instance)},
           negated(q, place.expression, instance));
    });
  }
}

View Planner::view_along(const Path& path) {
  View view{{}, {}, true};
  for (const PathElement& element : path)
    if (element.kind == PathElement::Kind::kLoop) view.unknowns.push_back(element.name);
  return view;
}

View Planner::with_loop_names(View view) const {
  for (const LoopSite& loop : anatomy_.loops)
    if (loop.variables == view.unknowns) view.names = loop.names;
  for (const StepSite& step : anatomy_.steps)
    if (step.variables == view.unknowns) view.names.insert(step.names.begin(), step.names.end());
  for (const Site& site : anatomy_.sites)
    if (site.variables == view.unknowns) view.names.insert(site.names.begin(), site.names.end());
  return view;
}

void Planner::fits() {
  const ProofStatement *statement = find("fits", ""), *definedness = find("defined", "");
  const auto found = out_of_range(program_, anatomy_.places);
  if (!found)
    return fail_proof(
        "the conditions of its expressions are nested too deeply, lets put in, to tell that they "
        "fit");
  std::vector<OutOfRange> asked;
  for (const OutOfRange& out : *found) {
    const bool known = std::any_of(asked.begin(), asked.end(), [&](const OutOfRange& earlier) {
      return earlier.value.expression == out.value.expression &&
             earlier.value.high == out.value.high && is_part_of(earlier.path, out.path);
    });
    if (known) continue;
    asked.push_back(out);
    const View view = with_loop_names(view_along(out.path));
    Uses facts = uses(statement, view);
    const Uses more = uses(definedness, view);
    facts.insert(facts.end(), more.begin(), more.end());
    add(fmt::format("fits {}", asked.size()), [=, this](Query& q) {
      bound(q);
      const Instance instance = unknowns_at(q, view, out.path, facts);
      for (const Bounded& part : out.parts) append(q.hypotheses, between(q, part, instance));
      const Polynomial value = q.logic.number(out.value.expression, instance);
      show(q, {}, between(q, out.value, instance),
           q.logic.less(value, Polynomial::constant(out.value.low)));
    });
  }
}

std::vector<z3::expr> Planner::between(Query& q, const Bounded& bounded, const Instance& instance) {
  const Polynomial value = q.logic.number(bounded.expression, instance);
  return {q.logic.less_equal(Polynomial::constant(bounded.low), value),
          q.logic.less_equal(value, Polynomial::constant(bounded.high))};
}

// What programs are proven for.
void Planner::bound(Query& q) const {
  const auto at_most = [&](const Polynomial& number, int64_t limit) {
    q.hypotheses.push_back(q.logic.less_equal(number, Polynomial::constant(limit)));
  };
  q.logic.bound_counts(kMaxCount);
  for (size_t i = 0; i < program_.parameters.size(); ++i) {
    const Polynomial parameter = q.logic.number(leaf(Operator::kParameter, i), {});
    at_most(parameter, kMaxParameter);
    at_most(Polynomial::constant(0) - parameter, kMaxParameter);
  }
}

void Planner::roles() {
  if (program_.groups != 2 || !rooted(program_.collective)) return;
  for (const Site& site : anatomy_.sites) {
    if (!site.is_message() || site.piece > 0) continue;
    const View view = with_loop_names(view_of_site(site));
    const Uses facts = uses(find("defined", ""), view);
    add("role " + site_name(site), [=, this](Query& q) {
      const Instance instance = unknowns_at(q, view, site.message_path(), facts);
      const bool is_first = instance.group == 0;
      const z3::expr is_root = q.logic.equal(instance.rank, q.logic.root());
      show(q, {}, {q.logic.truth(!is_first) || is_root}, q.logic.truth(is_first) && !is_root);
    });
  }
}

}  // namespace quadrille::verifier
