// A port of one message out of a node and one into it at a time: two instances of any two sends, or
// receives, that cross a node's border at one key are compared. Tested with the obligations
// (obligations.cc).
#include "verifier/prove/planner.h"

#include <fmt/format.h>

namespace quadrille::verifier {

void Planner::one_each_way(int64_t base) {
  std::vector<size_t> crossing;
  for (size_t i = 0; i < anatomy_.sites.size(); ++i) {
    if (!anatomy_.sites[i].is_message() || anatomy_.sites[i].piece > 0) continue;
    if (said_to_stay(anatomy_.sites[i]))
      stays_inside(anatomy_.sites[i], base);
    else
      crossing.push_back(i);
  }
  for (const size_t i : crossing)
    for (const size_t j : crossing)
      if (j <= i && anatomy_.sites[i].kind == anatomy_.sites[j].kind) one_way(j, i, base);
}

void Planner::one_way(size_t i, size_t j, int64_t base) {
  const Site &one = anatomy_.sites[i], &two = anatomy_.sites[j];
  const TwoSteps both = two_steps(anatomy_.steps[one.step], anatomy_.steps[two.step]);
  const Uses facts = uses(find("port", ""), both.view);
  add(fmt::format("port: {} and {}", site_name(one), site_name(two)),
      [=, this](Query& q) { compare_messages(q, i, j, base, both, facts); });
}

void Planner::compare_messages(Query& q, size_t i, size_t j, int64_t base, const TwoSteps& both,
                               const Uses& facts) const {
  const Site &one = anatomy_.sites[i], &two = anatomy_.sites[j];
  const auto [first, other] = two_at(q, both, one.message_path(), facts);
  const auto node = [&](const Polynomial& rank) { return q.logic.located(base, 0, rank); };
  const auto crosses = [&](const Site& site, const Instance& instance) {
    return !q.logic.equal(node(q.logic.number(site.peer, instance)), node(instance.rank));
  };
  q.hypotheses.push_back(crosses(one, first));
  std::vector<z3::expr> guards = along(q, two.message_path(), other);
  append(guards, within(q, other.rank, q.logic.ranks(other.group)));
  guards.push_back(crosses(two, other));
  const std::vector<z3::expr> before_keys = guards;
  guards.push_back(q.logic.equal(key(q, one.step, first), key(q, two.step, other)));
  const z3::expr same =
      q.logic.equal(first.rank, other.rank) && same_instance(q, i == j, first, other);
  // Messages of two nodes may well cross at one key; of two statements, which may never do so at one key, at any.
  q.mutant = z3::implies(all(q, i == j ? guards : before_keys), same);
  guards.push_back(q.logic.equal(node(first.rank), node(other.rank)));
  q.goal = z3::implies(all(q, guards), same);
}

}  // namespace quadrille::verifier
