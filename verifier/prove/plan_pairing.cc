// The obligation match: every send has a receive, at the rank that it names and in a step with the same key, and
// every receive has such a send. The two maps are inverse. Tested with the obligations (planner.cc).
#include "verifier/prove/planner.h"

#include <algorithm>

namespace quadrille::verifier {
namespace {

bool can_match(const Site& site, const Site& other) {
  return other.kind != site.kind && other.is_message() && other.remote == site.remote &&
         other.moved().has_value() == site.moved().has_value() && other.sized == site.sized &&
         site.step >= 0 && other.step >= 0;
}

// Adds three goals: the other end exists, names this rank, and has the same key. Returns a mutant of the third.
z3::expr add_other_end(const Planner& p, Query& q, const Site& site, const Instance& instance,
                       const Site& other, const Path& path, const Instance& there,
                       std::vector<z3::expr>& goals) {
  append(goals, along(q, path, there));
  goals.push_back(q.equal(q.number(other.peer, there), instance.rank));
  const Polynomial here_key = p.key(q, site.step, instance),
                   there_key = p.key(q, other.step, there);
  goals.push_back(q.equal(here_key, there_key));
  return q.equal(here_key, there_key + 1);
}

void match(Planner& p, size_t i, size_t k, const Scene& scene, const Rewrites& rewriting) {
  const Site& site = p.sites[i];
  const Choice& choice = p.matches[i][k];
  const Site& other = p.sites[choice.site];
  p.add(case_name("match " + site_name(site), p.matches[i], k), scene,
        [=, &p](Query& q, const Instance& unknowns) {
          const auto [instance, contributor] = p.apart_from_contributor(q, unknowns);
          q.suppose(applies(q, p.matches[i], k, instance));
          apply_rewrites(q, rewriting, unknowns);
          const Instance there = at_peer(q, choice, site, instance);
          std::vector<z3::expr> goals;
          const z3::expr mutant =
              add_other_end(p, q, site, instance, other, other.path, there, goals);
          if (site.moved()) {
            const auto [low, high] = p.extent(q, *site.moved(), i, instance);
            const auto [other_low, other_high] = p.extent(q, *other.moved(), choice.site, there);
            goals.push_back(q.equal(low, other_low));
            goals.push_back(q.equal(high, other_high));
            // A receive that combines leaves other data than it gets: combine() checks it.
            if (!site.combine && !other.combine)
              goals.push_back(
                  p.same(q, p.span(q, i, instance), p.span(q, choice.site, there), contributor));
          }
          goals.push_back(names_instance(q, p.matches[choice.site], there, i, instance));
          show(q, {}, goals, mutant);
        });
}

// Whether a piece and its witness have the same position and loops, so that pieces keep their order at the other end.
bool in_order(const Site& site, const Site& other, const Choice& choice) {
  const size_t inner = site.variables.size() - site.outer_variables;
  if (site.place != other.place || site.inner_loops != other.inner_loops ||
      inner != other.variables.size() - other.outer_variables)
    return false;
  const auto same_in_all_pieces = [&](const Expression& e) {
    for (size_t w = site.outer_variables; w < site.variables.size(); ++w)
      if (mentions_variable(e, w)) return false;
    return true;
  };
  for (size_t v = 0; v < inner; ++v) {
    // The order is the same if the value is the variable, or differs from it by a number that all pieces share.
    const Expression own = variable(site.outer_variables + v);
    const Expression& value = choice.values[other.outer_variables + v];
    const bool shifted = value.op == Operator::kAdd && value.operands[1] == own &&
                         same_in_all_pieces(value.operands[0]);
    const bool back = value.op == Operator::kSubtract && value.operands[0] == own &&
                      same_in_all_pieces(value.operands[1]);
    if (value != own && !shifted && !back) return false;
  }
  return std::all_of(choice.values.begin(), choice.values.begin() + other.outer_variables,
                     same_in_all_pieces);
}

// Whether all pieces of a message match pieces of one message, which has as many positions, and whether pieces in one
// iteration of a loop match pieces in one iteration.
bool with_its_message(const Planner& p, size_t i, const Choice& choice) {
  const Site& site = p.sites[i];
  const Site& other = p.sites[choice.site];
  const auto begin = choice.values.begin();
  int last_place = 0, last_place_there = 0;
  for (size_t j = 0; j < p.sites.size(); ++j) {
    const Site& piece = p.sites[j];
    if (piece.message == other.message) last_place_there = std::max(last_place_there, piece.place);
    if (piece.message != site.message) continue;
    last_place = std::max(last_place, piece.place);
    const auto shared = std::mismatch(site.inner_loops.begin(), site.inner_loops.end(),
                                      piece.inner_loops.begin(), piece.inner_loops.end());
    const size_t same = other.outer_variables + (shared.first - site.inner_loops.begin());
    for (const Choice& c : p.matches[j])
      if (p.sites[c.site].message != other.message || c.values.size() < same ||
          !std::equal(begin, begin + same, c.values.begin()))
        return false;
  }
  return last_place == last_place_there;
}

// Messages of several pieces match piece by piece. Checks by the form of the witnesses that both ends have the pieces
// in the same order: pieces match at equal positions, in as many loops, in the same order of iterations. Adds an
// obligation that the other end has the message, even if no piece travels.
void message(Planner& p, size_t i, const Uses& facts) {
  const Site& site = p.sites[i];
  const std::string name = "match " + site_name(site);
  for (const Choice& choice : p.matches[i])
    if (!in_order(site, p.sites[choice.site], choice) || !with_its_message(p, i, choice))
      p.fail_choice(choice,
                    fmt::format("'{}': the pieces of the two messages are not in one order", name));
  if (site.piece > 0) return;
  const Choice& choice = p.matches[i][0];
  const Site& other = p.sites[choice.site];
  p.add(name + ", message", {view_of(site), site.message_path(), facts},
        [=, &p](Query& q, const Instance& instance) {
          const Instance there = at_peer(q, choice, site, instance);
          std::vector<z3::expr> goals;
          const z3::expr mutant =
              add_other_end(p, q, site, instance, other, other.message_path(), there, goals);
          show(q, {}, goals, mutant);
        });
}

void peer(Planner& p, const Site& site, const Uses& facts) {
  p.add(fmt::format("match {}, peer", site_name(site)), {view_of(site), site.message_path(), facts},
        [=](Query& q, const Instance& instance) {
          const Polynomial peer = q.number(site.peer, instance);
          const z3::expr self = q.equal(peer, instance.rank);
          std::vector<z3::expr> goals =
              within(q, peer, q.ranks(site.remote ? 1 - instance.group : instance.group));
          const z3::expr outside = !goals[0];
          if (!site.remote) goals.push_back(!self);
          show(q, {}, goals, site.remote ? outside : self);
        });
}

void matches_of(Planner& p, size_t i) {
  const Site& site = p.sites[i];
  const ProofStatement* statement = p.find("match", site_name(site));
  Scene scene = p.scene_of_match(i);
  const std::string name = "match " + site_name(site);
  if (site.piece == 0) peer(p, site, scene.facts);
  if (site.moved()) plan_piece(p, i);
  const Rewrites rewriting = p.rewrites(name, statement, scene);
  p.exhaustive(
      name, p.matches[i], scene.view, scene.facts,
      [site](Query& q, const Instance& instance) { q.suppose(along(q, site.path, instance)); });
  bool in_body = site.in_body();
  for (const Choice& choice : p.matches[i]) {
    const Site& other = p.sites[choice.site];
    in_body |= other.in_body();
    if (!can_match(site, other))
      p.fail_choice(choice,
                    fmt::format("{} cannot be matched with {}", site_name(site), site_name(other)));
  }
  if (in_body) message(p, i, scene.facts);
  scene.view = p.with_contributor(scene.view);
  for (size_t k = 0; k < p.matches[i].size(); ++k) {
    scene.facts = p.uses(statement, scene.view, k);
    match(p, i, k, scene, rewriting);
  }
}

}  // namespace

void plan_matches(Planner& p) {
  for (size_t i = 0; i < p.sites.size(); ++i)
    if (p.sites[i].is_message()) matches_of(p, i);
}

}  // namespace quadrille::verifier
