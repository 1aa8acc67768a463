// The obligation keys: keys strictly increase at a rank, by induction over iterations. The proof gives an interval
// for each iteration, in which the keys of the body's statements lie. Later iterations, and later statements of a
// body, have higher keys. Tested with the obligations (planner.cc).
#include "verifier/prove/planner.h"

#include <algorithm>

namespace quadrille::verifier {
namespace {

bool has_steps(const Planner& p, size_t body) {
  const std::vector<Item>& items = p.anatomy.bodies[body];
  return std::any_of(items.begin(), items.end(), [&](const Item& item) {
    return !item.is_loop || has_steps(p, item.index + 1);
  });
}

// Returns the `keys` of a loop. The n-th `keys NAME` belongs to the n-th loop of that name that has steps.
const ProofStatement& statement_of(const Planner& p, size_t loop) {
  const std::string& name = p.anatomy.loops[loop].name;
  const ProofStatement* statement = p.find("keys", name);
  int wanted = 0;
  for (size_t i = 0; i < loop; ++i)
    wanted += p.anatomy.loops[i].name == name && has_steps(p, i + 1);
  for (const ProofStatement& candidate : p.proof.statements)
    if (candidate.kind == "keys" && candidate.subject == name && wanted-- == 0)
      statement = &candidate;
  if (!statement)
    p.fail_proof(fmt::format("the proof has no 'keys {}'; --skeleton FILE writes one", name));
  return *statement;
}

KeyInterval interval_of(const Planner& p, size_t loop) {
  const ProofStatement& statement = statement_of(p, loop);
  KeyInterval interval;
  int froms = 0, tos = 0;
  for (const Line& line : statement.lines) {
    const bool from = starts_with(line, "from");
    if (!from && !starts_with(line, "to")) continue;
    if ((from ? froms : tos) > 0) p.fail_line(line, from ? "a second 'from'" : "a second 'to'");
    (from ? interval.from : interval.to) = p.number(line, view_of(p.anatomy.loops[loop]));
    ++(from ? froms : tos);
  }
  if (froms == 0 || tos == 0) p.fail_at(statement, "it wants 'from NUMBER' and 'to NUMBER'");
  return interval;
}

std::vector<Item> keyed_items(const Planner& p, size_t body) {
  std::vector<Item> items;
  for (const Item& item : p.anatomy.bodies[body])
    if (!item.is_loop || has_steps(p, item.index + 1)) items.push_back(item);
  return items;
}

// Returns the names known at an item. The unknowns are those of the body.
View view_of_item(const Planner& p, size_t body, const Item& item) {
  View view = view_of_body(p, body);
  if (!item.is_loop) view.names = p.anatomy.steps[item.index].names;
  return view;
}

// The keys of an item of a body: [low, high), if the guards hold.
struct KeyRange {
  std::vector<z3::expr> guards;
  Polynomial low, high;
};

// `shared` is the length of the body's path, whose conditions are no guards.
KeyRange key_range(const Planner& p, Query& q, const Item& item, size_t shared, Instance instance) {
  KeyRange range{along(q, item.path, instance, shared), {}, {}};
  if (!item.is_loop) {
    range.low = p.key(q, item.index, instance);
    range.high = range.low + 1;
    return range;
  }
  const LoopSite& loop = p.anatomy.loops[item.index];
  const Polynomial low = q.number(loop.low, instance), high = q.number(loop.high, instance);
  range.guards.push_back(q.less(low, high));
  instance.variables.resize(loop.variable);
  instance.variables.push_back(low);
  range.low = q.number(p.intervals[item.index]->from, instance);
  instance.variables.back() = high - 1;
  range.high = q.number(p.intervals[item.index]->to, instance);
  return range;
}

// Shows that item j of a body has higher keys than item i.
void in_sequence(Planner& p, size_t body, const std::vector<Item>& items, size_t i, size_t j) {
  View view = view_of_item(p, body, items[i]);
  view.names.merge(view_of_item(p, body, items[j]).names);
  const Scene scene = p.scene(view, path_of_body(p, body), "order");
  p.add(fmt::format("keys in {}: {} before {}",
                    body == 0 ? "the program" : p.anatomy.loops[body - 1].name, i + 1, j + 1),
        scene,
        [&p, one = items[i], two = items[j], shared = scene.path.size()](Query& q,
                                                                         const Instance& instance) {
          const KeyRange first = key_range(p, q, one, shared, instance),
                         second = key_range(p, q, two, shared, instance);
          std::vector<z3::expr> guards = first.guards;
          append(guards, second.guards);
          q.goal = z3::implies(all(q, guards), q.less_equal(first.high, second.low));
          q.mutant = z3::implies(all(q, first.guards), q.truth(false));
        });
}

// Shows that the keys of a loop body's items lie in the iteration's interval, and that the next interval is higher.
void loop_keys(Planner& p, size_t body) {
  const KeyInterval interval = *p.intervals[body - 1];
  const ProofStatement& statement = statement_of(p, body - 1);
  Scene scene{view_of_body(p, body), path_of_body(p, body), {}};
  const std::string name = "keys " + body_name(p, body);
  const std::vector<Item> items = keyed_items(p, body);
  for (size_t i = 0; i < items.size(); ++i) {
    scene.facts = p.uses(&statement, view_of_item(p, body, items[i]));
    p.add(fmt::format("{}, statement {}", name, i + 1), scene,
          [=, &p, item = items[i], shared = scene.path.size()](Query& q, const Instance& instance) {
            const KeyRange range = key_range(p, q, item, shared, instance);
            const Polynomial from = q.number(interval.from, instance),
                             to = q.number(interval.to, instance);
            show(q, range.guards, {q.less_equal(from, range.low), q.less_equal(range.high, to)},
                 q.less(range.low, from));
          });
  }
  scene.facts = p.uses(&statement, scene.view);
  p.add(name + ", in order", scene, [=](Query& q, const Instance& instance) {
    const Polynomial from = q.number(interval.from, instance), to = q.number(interval.to, instance);
    show(q, {}, {q.less_equal(from, to)}, q.less(to, from));
  });
  p.add(name + ", one after another", scene,
        [=, loop = p.anatomy.loops[body - 1]](Query& q, const Instance& instance) {
          Instance next = instance;
          Polynomial& x = next.variables[loop.variable];
          x = x + 1;
          q.suppose(q.less(x, q.number(loop.high, instance)));
          const Polynomial to = q.number(interval.to, instance),
                           from = q.number(interval.from, next);
          show(q, {}, {q.less_equal(to, from)}, q.less(from, to));
        });
}

}  // namespace

Path path_of_body(const Planner& p, size_t body) {
  if (body == 0) return {};
  const LoopSite& loop = p.anatomy.loops[body - 1];
  Path path = loop.path;
  path.push_back(in_loop(loop.name, loop.low, loop.high, loop.variable));
  return path;
}

View view_of_body(const Planner& p, size_t body) {
  return body == 0 ? View{{}, {}, true} : view_of(p.anatomy.loops[body - 1]);
}

std::string body_name(const Planner& p, size_t body) {
  const std::string& name = p.anatomy.loops[body - 1].name;
  int same = 0, before = 0;
  for (size_t i = 0; i < p.anatomy.loops.size(); ++i) {
    if (p.anatomy.loops[i].name != name) continue;
    ++same;
    before += i < body;
  }
  return same > 1 ? fmt::format("{} ({})", name, before) : name;
}

void plan_keys(Planner& p) {
  for (size_t i = 0; i < p.anatomy.loops.size(); ++i)
    if (has_steps(p, i + 1)) p.intervals[i] = interval_of(p, i);
  for (size_t body = 0; body < p.anatomy.bodies.size(); ++body) {
    const std::vector<Item> items = keyed_items(p, body);
    for (size_t j = 1; j < items.size(); ++j)
      for (size_t i = 0; i < j; ++i) in_sequence(p, body, items, i, j);
    if (body > 0 && p.intervals[body - 1]) loop_keys(p, body);
  }
}

}  // namespace quadrille::verifier
