// Every partial operation has a value wherever the program comes to it. A place that is reached on
// more conditions than one already asked for is not asked again. What is used of exclusive or is
// proven here too, for as many ranks as it can be. Tested with the obligations (obligations.cc).
#include "verifier/prove/planner.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/traverse.h"
#include "verifier/prove/bitvector.h"
#include "verifier/prove/paths.h"

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

}  // namespace quadrille::verifier
