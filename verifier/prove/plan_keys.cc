// Keys strictly increase at a rank, by induction over iterations. Each statement of a loop's body stays in the interval
// that the proof gives for the iteration. Intervals follow one another, and so do the statements of a body. Tested with
// the obligations (planner.cc).
#include "verifier/prove/planner.h"

#include <fmt/format.h>

#include <algorithm>

namespace quadrille::verifier {

void Planner::keys() {
  loop_statements_.resize(anatomy_.loops.size());
  intervals_.resize(anatomy_.loops.size());
  for (size_t i = 0; i < anatomy_.loops.size() && error_.empty(); ++i)
    if (has_steps(i + 1)) intervals_[i] = interval_of(i);
  if (!error_.empty()) return;
  for (size_t body = 0; body < anatomy_.bodies.size(); ++body) {
    sequence(body);
    if (body > 0 && intervals_[body - 1]) loop_keys(body);
  }
}

std::optional<Planner::Interval> Planner::interval_of(int loop) {
  const LoopSite& site = anatomy_.loops[loop];
  const ProofStatement* statement = find("keys", site.name);
  // Loops of one name have one statement each, in order.
  int wanted = 0;
  for (int i = 0; i < loop; ++i) wanted += anatomy_.loops[i].name == site.name;
  for (const ProofStatement& candidate : proof_.statements)
    if (candidate.kind == "keys" && candidate.subject == site.name && wanted-- == 0)
      statement = &candidate;
  if (!statement) {
    fail_proof(fmt::format("the proof has no 'keys {}'", site.name));
    return std::nullopt;
  }
  Interval interval{constant(0), constant(0)};
  int froms = 0, tos = 0;
  for (const Line& line : statement->lines) {
    if (!starts_with(line, "from") && !starts_with(line, "to")) continue;
    (starts_with(line, "from") ? interval.from : interval.to) = take(
        lines_.expression(line, view_of(site.variables, site.names), ProofLines::Wanted::kNumber));
    ++(starts_with(line, "from") ? froms : tos);
  }
  if (froms != 1 || tos != 1) fail_at(*statement, "it wants 'from NUMBER' and 'to NUMBER'");
  loop_statements_[loop] = statement;
  return interval;
}

bool Planner::has_steps(size_t body) const {
  return std::any_of(anatomy_.bodies[body].begin(), anatomy_.bodies[body].end(),
                     [&](const Item& item) { return !item.is_loop || has_steps(item.index + 1); });
}

const LoopSite* Planner::owner(size_t body) const {
  return body == 0 ? nullptr : &anatomy_.loops[body - 1];
}

Path Planner::path_of_body(size_t body) const {
  const LoopSite* loop = owner(body);
  if (!loop) return {};
  Path path = loop->path;
  path.push_back({PathElement::Kind::kLoop, {}, loop->low, loop->high, loop->variable});
  return path;
}

View Planner::view_of_body(size_t body) const {
  const LoopSite* loop = owner(body);
  return loop ? view_of(loop->variables, loop->names) : View{{}, {}, true};
}

View Planner::view_of_item(size_t body, const Item& item) const {
  View view = view_of_body(body);
  if (!item.is_loop) view.names = anatomy_.steps[item.index].names;
  return view;
}

std::vector<Item> Planner::keyed_items(size_t body) const {
  std::vector<Item> items;
  for (const Item& item : anatomy_.bodies[body])
    if (!item.is_loop || has_steps(item.index + 1)) items.push_back(item);
  return items;
}

Planner::KeyRange Planner::key_range(Query& q, const Item& item, size_t shared,
                                     Instance instance) const {
  KeyRange range{along(q, item.path, instance, shared), {}, {}};
  if (!item.is_loop) {
    range.low = key(q, item.index, instance);
    range.high = range.low + 1;
    return range;
  }
  const LoopSite& loop = anatomy_.loops[item.index];
  const Polynomial low = q.number(loop.low, instance), high = q.number(loop.high, instance);
  range.guards.push_back(q.less(low, high));
  instance.variables.resize(loop.variable);
  instance.variables.push_back(low);
  range.low = q.number(intervals_[item.index]->from, instance);
  instance.variables.back() = high - 1;
  range.high = q.number(intervals_[item.index]->to, instance);
  return range;
}

void Planner::sequence(size_t body) {
  const std::vector<Item> items = keyed_items(body);
  for (size_t j = 1; j < items.size(); ++j)
    for (size_t i = 0; i < j; ++i) in_sequence(body, i, j, items[i], items[j]);
}

void Planner::in_sequence(size_t body, size_t i, size_t j, const Item& one, const Item& two) {
  View view = view_of_item(body, one);
  const Names more = view_of_item(body, two).names;
  view.names.insert(more.begin(), more.end());
  const Uses facts = uses(find("order", ""), view);
  const Path path = path_of_body(body);
  add(fmt::format("keys in {}: {} before {}", body == 0 ? "the program" : owner(body)->name, i + 1,
                  j + 1),
      [=, this](Query& q) {
        const Instance instance = unknowns_at(q, view, path, facts);
        const KeyRange first = key_range(q, one, path.size(), instance),
                       second = key_range(q, two, path.size(), instance);
        std::vector<z3::expr> guards = first.guards;
        append(guards, second.guards);
        q.goal = z3::implies(all(q, guards), q.less_equal(first.high, second.low));
        q.mutant = z3::implies(all(q, first.guards), q.truth(false));
      });
}

void Planner::loop_keys(size_t body) {
  const Interval interval = *intervals_[body - 1];
  const Path path = path_of_body(body);
  const View view = view_of_body(body);
  const std::string name = fmt::format("keys {}", body_name(body));
  const std::vector<Item> items = keyed_items(body);
  for (size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    const Uses facts = uses(loop_statements_[body - 1], view_of_item(body, item));
    add(fmt::format("{}, statement {}", name, i + 1), [=, this](Query& q) {
      const Instance instance = unknowns_at(q, view, path, facts);
      const KeyRange range = key_range(q, item, path.size(), instance);
      const Polynomial from = q.number(interval.from, instance),
                       to = q.number(interval.to, instance);
      show(q, range.guards, {q.less_equal(from, range.low), q.less_equal(range.high, to)},
           q.less(range.low, from));
    });
  }
  intervals_in_order(body, name);
}

void Planner::intervals_in_order(size_t body, const std::string& name) {
  const LoopSite& loop = *owner(body);
  const Interval interval = *intervals_[body - 1];
  const Path path = path_of_body(body);
  const View view = view_of_body(body);
  const Uses facts = uses(loop_statements_[body - 1], view);
  add(name + ", in order", [=, this](Query& q) {
    const Instance instance = unknowns_at(q, view, path, facts);
    const Polynomial from = q.number(interval.from, instance), to = q.number(interval.to, instance);
    show(q, {}, {q.less_equal(from, to)}, q.less(to, from));
  });
  add(name + ", one after another", [=, this](Query& q) {
    const Instance instance = unknowns_at(q, view, path, facts);
    Instance next = instance;
    next.variables[loop.variable] = instance.variables[loop.variable] + 1;
    q.hypotheses.push_back(q.less(next.variables[loop.variable], q.number(loop.high, instance)));
    const Polynomial to = q.number(interval.to, instance), from = q.number(interval.from, next);
    show(q, {}, {q.less_equal(to, from)}, q.less(from, to));
  });
}

std::string Planner::body_name(size_t body) const {
  const std::string& name = owner(body)->name;
  int same = 0, before = 0;
  for (size_t i = 0; i < anatomy_.loops.size(); ++i) {
    if (anatomy_.loops[i].name != name) continue;
    ++same;
    before += i < body;
  }
  return same > 1 ? fmt::format("{} ({})", name, before) : name;
}

}  // namespace quadrille::verifier
