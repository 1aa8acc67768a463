// Every partial operation has a value wherever the program reaches it (defined). A place with more conditions than
// one that is already proven is not proven again. Every value fits in 64 bits, and no table is longer than tables may
// be (fits): if intervals do not show it (ranges.h), the solver is asked. Between groups only the root of the root's
// group has messages (role): MPI tells its other ranks nothing of the call. The facts about exclusive or are proven
// here, too. Tested with the obligations (planner.cc), and by tests/prove/ranges_test.cc and tests/prove/refused.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/binding.h"
#include "schedule/traverse.h"
#include "verifier/prove/planner.h"

namespace quadrille::verifier {

void Planner::xor_facts() {
  bool has_xor = false;
  for_each_expression_of_program(program_, [&](const Expression& whole) {
    has_xor |= any_part(whole, [](const Expression& e) { return e.op == Operator::kXor; });
  });
  for (const ProofStatement& statement : proof_.statements)
    for (const Line& line : statement.lines)
      for (const Token& token : line.tokens) has_xor |= token.text == "xor";
  if (!has_xor) return;
  for (Obligation& fact : bitvector_obligations()) plan_.obligations.push_back(std::move(fact));
}

void Planner::table_facts() {
  const View nowhere{{}, {}, false};
  for (const Table& table : program_.tables) {
    const Polynomial two = 2;
    if (table.kind == TableKind::kPowers)
      add("defined powers of " + table.name.text, [=, this](Query& q) {
        const Polynomial radix = q.number(table.first, unknowns(q, nowhere));
        show(q, {}, {q.less_equal(two, radix)}, q.less(radix, two));
      });
    if (table.kind == TableKind::kPrefix) summed_entries(program_.tables[table.source]);
  }
  for (const int64_t table : anatomy_.searched) ascending_entries(program_.tables[table]);
}

// This comes before lemmas: what they know about a search holds for ascending tables only.
void Planner::ascending_entries(const Table& table) {
  const View view{{table.index.text}, {}, false};
  const Uses facts = uses(find("defined", ""), view);
  add("defined entries of " + table.name.text + " ascend", [=, this](Query& q) {
    const Instance instance = unknowns(q, view);
    const Polynomial index = instance.variables[0], one = 1;
    q.hypotheses.push_back(q.less_equal(0, index));
    q.hypotheses.push_back(q.less(index + one, q.number(table.first, instance)));
    assume(q, facts, instance);
    const Polynomial entry = q.number(table.second, instance);
    const Polynomial next = q.number(table.second, Instance{q.group, {}, {index + one}});
    show(q, {}, {q.less_equal(entry, next)}, q.less(next, entry));
  });
}

void Planner::summed_entries(const Table& source) {
  if (source.kind != TableKind::kMap) return;
  const View view{{source.index.text}, {}, false};
  const Uses facts = uses(find("defined", ""), view);
  add("defined entries of " + source.name.text, [=, this](Query& q) {
    q.doubt_sums();
    const Instance instance = unknowns(q, view);
    const Polynomial index = instance.variables[0], one = 1;
    append(q.hypotheses, within(q, index, q.number(source.first, instance)));
    assume(q, facts, instance);
    const Polynomial entry = q.number(source.second, instance);
    show(q, {}, {q.less_equal(one, entry)}, q.less(entry, one));
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
      show(q, {}, {q.condition(place.expression, instance)},
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
      const Polynomial value = q.number(out.value.expression, instance);
      show(q, {}, between(q, out.value, instance), q.less(value, out.value.low));
    });
  }
}

std::vector<z3::expr> Planner::between(Query& q, const Bounded& bounded, const Instance& instance) {
  const Polynomial value = q.number(bounded.expression, instance);
  return {q.less_equal(bounded.low, value), q.less_equal(value, bounded.high)};
}

// What programs are proven for.
void Planner::bound(Query& q) const {
  const auto at_most = [&](const Polynomial& number, int64_t limit) {
    q.hypotheses.push_back(q.less_equal(number, limit));
  };
  q.bound_counts(kMaxCount);
  for (size_t i = 0; i < program_.parameters.size(); ++i) {
    const Polynomial parameter = q.number(leaf(Operator::kParameter, i), {});
    at_most(parameter, kMaxParameter);
    at_most(Polynomial(0) - parameter, kMaxParameter);
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
      const z3::expr is_root = q.equal(instance.rank, q.root());
      show(q, {}, {q.truth(!is_first) || is_root}, q.truth(is_first) && !is_root);
    });
  }
}

}  // namespace quadrille::verifier
