// Every send has its receive, at the rank that it names and in a step with the same key, and every receive has its
// send. The witnesses of the two are inverse. Tested with the obligations (planner.cc).
#include "verifier/prove/planner.h"

#include <fmt/format.h>

#include <algorithm>

namespace quadrille::verifier {

void Planner::matches() {
  for (size_t i = 0; i < anatomy_.sites.size() && error_.empty(); ++i)
    if (anatomy_.sites[i].is_message()) matches_of(i);
}

void Planner::matches_of(size_t i) {
  const Site& site = anatomy_.sites[i];
  const View view = view_of_site(site);
  const ProofStatement* statement = find("match", site_name(site));
  const Uses facts = uses(statement, view, matches_[i].size() == 1 ? 0 : -1);
  const std::string name = "match " + site_name(site);
  if (site.piece == 0) peer(site, view, facts);
  if (site.moved()) piece(i);
  const Rewrites rewriting = rewrites(name, statement, site, view, facts);
  exhaustive(name, matches_[i], view, facts, [this, site](Query& q, const Instance& instance) {
    append(q.hypotheses, along(q, site.path, instance));
  });
  for (const Choice& choice : matches_[i])
    if (!can_match(i, choice))
      return fail_proof(fmt::format("{} cannot be matched with {}", site_name(site),
                                    site_name(anatomy_.sites[choice.site])));
  if (std::any_of(matches_[i].begin(), matches_[i].end(), [&](const Choice& choice) {
        return site.in_body() || anatomy_.sites[choice.site].in_body();
      }))
    message(i, facts);
  if (!error_.empty()) return;
  for (size_t k = 0; k < matches_[i].size(); ++k) {
    const Uses case_facts = uses(statement, view, k);
    add(case_name(name, matches_[i], k),
        [=, this](Query& q) { match(q, i, k, view, case_facts, rewriting); });
  }
}

bool Planner::can_match(size_t i, const Choice& choice) const {
  const Site &site = anatomy_.sites[i], &other = anatomy_.sites[choice.site];
  return other.kind != site.kind && other.is_message() && other.remote == site.remote &&
         other.moved().has_value() == site.moved().has_value() && other.sized == site.sized &&
         site.step >= 0 && other.step >= 0;
}

Instance Planner::at_peer(Query& q, const Choice& choice, const Site& site,
                          const Instance& instance) {
  Instance there = chosen(q, choice, instance, q.number(site.peer, instance));
  if (site.remote) there.group = 1 - instance.group;
  return there;
}

void Planner::match(Query& q, size_t i, size_t k, const View& view, const Uses& facts,
                    const Rewrites& rewriting) {
  const Site& site = anatomy_.sites[i];
  const Choice& choice = matches_[i][k];
  const Site& other = anatomy_.sites[choice.site];
  const Instance instance = unknowns_at(q, view, site.path, facts);
  append(q.hypotheses, applies(q, matches_[i], k, instance));
  apply_rewrites(q, rewriting, instance);
  const Instance there = at_peer(q, choice, site, instance);
  std::vector<z3::expr> goals = along(q, other.path, there);
  goals.push_back(q.equal(q.number(other.peer, there), instance.rank));
  const Polynomial here_key = key(q, site.step, instance), there_key = key(q, other.step, there);
  goals.push_back(q.equal(here_key, there_key));
  if (site.moved()) {
    const auto [low, high] = extent(q, *site.moved(), i, instance);
    const auto [other_low, other_high] = extent(q, *other.moved(), choice.site, there);
    goals.push_back(q.equal(low, other_low));
    goals.push_back(q.equal(high, other_high));
    // What is combined changes on the way: combine() asks.
    if (!site.combine && !other.combine)
      goals.push_back(same(q, span(q, i, instance), span(q, choice.site, there)));
  }
  goals.push_back(names_instance(q, matches_[choice.site], there, i, instance));
  show(q, {}, goals, q.equal(here_key, there_key + 1));
}

// Messages of several pieces match piece by piece. The witnesses show that both ends have the pieces in the same order:
// pieces at one place of the message match pieces at that place of the other, in as many loops with the same values of
// their variables. One obligation is left: the other end has the message, even if it has no piece.
void Planner::message(size_t i, const Uses& facts) {
  const Site& site = anatomy_.sites[i];
  const std::string name = "match " + site_name(site);
  for (const Choice& choice : matches_[i])
    if (!in_order(site, anatomy_.sites[choice.site], choice) || !with_its_message(i, choice))
      return fail_proof(
          fmt::format("'{}': the pieces of the two messages are not in one order", name));
  const Choice& choice = matches_[i][0];
  const Site& other = anatomy_.sites[choice.site];
  if (site.piece > 0) return;
  const View view = view_of_site(site);
  const Path path = site.message_path(), other_path = other.message_path();
  add(name + ", message", [=, this](Query& q) {
    const Instance instance = unknowns_at(q, view, path, facts);
    const Instance there = at_peer(q, choice, site, instance);
    std::vector<z3::expr> goals = along(q, other_path, there);
    goals.push_back(q.equal(q.number(other.peer, there), instance.rank));
    const Polynomial here_key = key(q, site.step, instance), there_key = key(q, other.step, there);
    goals.push_back(q.equal(here_key, there_key));
    show(q, {}, goals, q.equal(here_key, there_key + 1));
  });
}

bool Planner::in_order(const Site& site, const Site& other, const Choice& choice) {
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
    // The variable, or it and a number that is the same for all pieces: then the order is, too.
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

// All pieces of a message have witnesses in one message, which has as many places. Pieces in one loop have them in one
// iteration.
bool Planner::with_its_message(size_t i, const Choice& choice) const {
  const Site& site = anatomy_.sites[i];
  const Site& other = anatomy_.sites[choice.site];
  const auto begin = choice.values.begin();
  int last_place = 0, last_place_there = 0;
  for (size_t j = 0; j < anatomy_.sites.size(); ++j) {
    const Site& piece = anatomy_.sites[j];
    if (piece.message == other.message) last_place_there = std::max(last_place_there, piece.place);
    if (piece.message != site.message) continue;
    last_place = std::max(last_place, piece.place);
    const auto shared = std::mismatch(site.inner_loops.begin(), site.inner_loops.end(),
                                      piece.inner_loops.begin(), piece.inner_loops.end());
    const size_t same = other.outer_variables + (shared.first - site.inner_loops.begin());
    for (const Choice& c : matches_[j])
      if (anatomy_.sites[c.site].message != other.message || c.values.size() < same ||
          !std::equal(begin, begin + same, c.values.begin()))
        return false;
  }
  return last_place == last_place_there;
}

void Planner::peer(const Site& site, const View& view, const Uses& facts) {
  add(fmt::format("match {}, peer", site_name(site)), [=, this](Query& q) {
    const Instance instance = unknowns_at(q, view, site.message_path(), facts);
    const Polynomial peer = q.number(site.peer, instance);
    const z3::expr self = q.equal(peer, instance.rank);
    std::vector<z3::expr> goals =
        within(q, peer, q.ranks(site.remote ? 1 - instance.group : instance.group));
    const z3::expr outside = !goals[0];
    if (!site.remote) goals.push_back(!self);
    show(q, {}, goals, site.remote ? outside : self);
  });
}

}  // namespace quadrille::verifier
