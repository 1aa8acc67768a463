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
