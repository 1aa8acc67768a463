// Two exchanges of a node with other nodes at one key are the same exchange. Obligations compare two instances of any
// two steps, at two ranks of one node. Loops that are in the same iteration at equal keys everywhere share their
// variables. With a port of one message each way, obligations compare messages in place of exchanges. Tested with the
// obligations (planner.cc).
#include <fmt/format.h>

#include <algorithm>

#include "verifier/prove/planner.h"

namespace quadrille::verifier {

void Planner::port() {
  for (const StepSite& step : anatomy_.steps)
    if (error_.empty()) messages_of(step);
  if (!error_.empty()) return;
  if (program_.port.kind == PortKind::kNone || program_.port.per == PortScope::kRank) return;
  const auto base = node_table();
  if (!base) return fail_proof("a port per node needs a table of prefix(nodes)");
  for (size_t loop = 0; loop < anatomy_.loops.size(); ++loop)
    if (intervals_[loop] && is_alike_everywhere(loop)) same_iteration(loop);
  if (program_.port.kind == PortKind::kSendReceive) return one_each_way(*base);
  for (size_t i = 0; i < anatomy_.steps.size(); ++i) {
    if (!leaves_its_node(i))
      for (const int site : anatomy_.steps[i].sites) stays_inside(anatomy_.sites[site], *base);
    for (size_t j = 0; j <= i; ++j)
      if (leaves_its_node(i) && leaves_its_node(j))
        one_crossing(exchange(j), exchange(i), true, *base);
  }
}

// No two messages of a step go to one rank, or come from one. A port of the rank allows one send and one receive per
// step, and a port for exchanges only with one rank.
void Planner::messages_of(const StepSite& step) {
  const std::vector<int> messages = messages_in(step);
  const bool of_node =
      program_.port.kind != PortKind::kNone && program_.port.per == PortScope::kNode;
  const bool exchanges = program_.port.kind == PortKind::kExchange;
  int sends = 0;
  bool in_loop = false;
  for (const int index : messages) {
    const Site& site = anatomy_.sites[index];
    sends += site.kind == Site::Kind::kSend;
    in_loop |= site.outer_variables > step.variables.size();
  }
  const int receives = static_cast<int>(messages.size()) - sends;
  if (of_node && exchanges && (in_loop || sends > 1 || receives > 1))
    return fail_proof("several messages one way in a step, beside a port of nodes for exchanges");
  if (of_node && exchanges && sends == 1 && receives == 1 && !is_exchange(step))
    return fail_proof("a step exchanges with two different ranks, against the port");
  if (of_node && in_loop)
    return fail_proof("a loop of messages in a step, beside a port of the node");
  for (const int i : messages)
    for (const int j : messages) {
      const Site &one = anatomy_.sites[i], &two = anatomy_.sites[j];
      if (i > j) continue;
      if (one.kind != two.kind) {
        if (exchanges && !of_node) one_peer(step, i, j);
      } else if (i != j || one.outer_variables > step.variables.size()) {
        different_peers(step, i, j);
      }
    }
}

// Two messages of one direction in one step are one message, or go to different ranks.
void Planner::different_peers(const StepSite& step, int i, int j) {
  const Site &one = anatomy_.sites[i], &two = anatomy_.sites[j];
  const bool port = program_.port.kind != PortKind::kNone && program_.port.per == PortScope::kRank;
  if (!port && one.remote != two.remote) return;
  const TwoSteps both = two_pieces(view_of_site(one), view_of_site(two), step.variables.size());
  const Uses facts = uses(find("port", ""), both.view);
  const std::string names = site_name(one) + " and " + site_name(two);
  add(port ? "port: " + names : "match " + names + ", peers", [=, this](Query& q) {
    auto [first, second] = two_at(q, both, one.message_path(), facts);
    std::vector<z3::expr> guards = along(q, two.message_path(), second);
    if (!port) guards.push_back(q.equal(q.number(one.peer, first), q.number(two.peer, second)));
    first.variables.resize(one.outer_variables);
    const z3::expr same = same_instance(q, i == j, first, second);
    // Two messages may be there by turns.
    i == j ? show(q, guards, {same}, !same) : show(q, guards, {same});
  });
}

// A send and a receive of one step at a rank are to and from one rank.
void Planner::one_peer(const StepSite& step, int i, int j) {
  const Site &one = anatomy_.sites[i], &two = anatomy_.sites[j];
  const bool in_loop = std::max(one.outer_variables, two.outer_variables) > step.variables.size();
  if (!in_loop && one.peer == two.peer && one.remote == two.remote) return;
  const TwoSteps both = two_pieces(view_of_site(one), view_of_site(two), step.variables.size());
  const Uses facts = uses(find("port", ""), both.view);
  add(fmt::format("port: {} and {}", site_name(one), site_name(two)), [=, this](Query& q) {
    const auto [first, second] = two_at(q, both, one.message_path(), facts);
    const z3::expr same = q.truth(one.remote == two.remote) &&
                          q.equal(q.number(one.peer, first), q.number(two.peer, second));
    show(q, along(q, two.message_path(), second), {same});
  });
}

bool Planner::is_exchange(const StepSite& step) const {
  const std::vector<int> messages = messages_in(step);
  if (messages.size() != 2) return false;
  const Site &a = anatomy_.sites[messages[0]], &b = anatomy_.sites[messages[1]];
  return a.kind != b.kind && a.peer == b.peer && a.remote == b.remote;
}

std::vector<int> Planner::messages_in(const StepSite& step) const {
  std::vector<int> messages;
  for (const int site : step.sites)
    if (anatomy_.sites[site].is_message() && anatomy_.sites[site].piece == 0)
      messages.push_back(site);
  return messages;
}

// By an `inside` line of the proof.
bool Planner::said_to_stay(const Site& site) const {
  const ProofStatement* statement = find("port", "");
  if (!statement) return false;
  return std::any_of(statement->lines.begin(), statement->lines.end(), [&](const Line& line) {
    return starts_with(line, "inside") && is_said_of(line, site);
  });
}

bool Planner::is_said_of(const Line& line, const Site& site) {
  return line.tokens.size() == 3 && site.is_message() &&
         line.tokens[1].text == (site.kind == Site::Kind::kSend ? "send" : "receive") &&
         line.tokens[2].number == site.number;
}

bool Planner::leaves_its_node(size_t step) const {
  if (!is_exchange(anatomy_.steps[step])) return false;
  const std::vector<int>& sites = anatomy_.steps[step].sites;
  return std::none_of(sites.begin(), sites.end(),
                      [&](int site) { return said_to_stay(anatomy_.sites[site]); });
}

std::optional<int64_t> Planner::node_table() const {
  for (size_t i = 0; i < program_.tables.size(); ++i)
    if (program_.tables[i].kind == TableKind::kPrefix &&
        program_.tables[program_.tables[i].source].kind == TableKind::kNodes)
      return i;
  return std::nullopt;
}

void Planner::stays_inside(const Site& site, int64_t base) {
  if (!site.is_message() || site.piece > 0) return;
  const View view = view_of_site(site);
  const Uses facts = uses(find("port", ""), view);
  add(fmt::format("port: {} stays inside its node", site_name(site)), [=, this](Query& q) {
    const Instance instance = unknowns_at(q, view, site.message_path(), facts);
    const z3::expr inside = q.equal(q.located(base, 0, q.number(site.peer, instance)),
                                    q.located(base, 0, instance.rank));
    show(q, {}, {inside}, !inside);
  });
}

// What is claimed of these, same_iteration() asks.
bool Planner::is_alike_everywhere(int loop) const {
  const LoopSite& site = anatomy_.loops[loop];
  const Interval& interval = *intervals_[loop];
  return !mentions_rank(site.low) && !mentions_rank(site.high) && !mentions_rank(interval.from) &&
         !mentions_rank(interval.to);
}

size_t Planner::shared_loops(const StepSite& a, const StepSite& b) const {
  const auto parted =
      std::mismatch(a.loops.begin(), a.loops.end(), b.loops.begin(), b.loops.end()).first;
  return std::find_if(a.loops.begin(), parted,
                      [this](int loop) { return !is_alike_everywhere(loop); }) -
         a.loops.begin();
}

// Two ranks that are in this loop at one key, in the same iterations of the loops around it, are in the same
// iteration of it. The hypotheses include what follows from `keys` at both ranks: a lower iteration has lower keys.
void Planner::same_iteration(size_t loop) {
  const LoopSite& site = anatomy_.loops[loop];
  const View view = view_of_body(loop + 1);
  const TwoSteps both = two_of(view, view, site.variable, false);
  const Uses facts = uses(find("port", ""), both.view);
  add(fmt::format("port: one iteration of {} at a key", body_name(loop + 1)), [=, this](Query& q) {
    const Path path = path_of_body(loop + 1);
    const auto [first, second] = two_at(q, both, path, facts);
    const Polynomial &x = first.variables.back(), &y = second.variables.back(), at = q.fresh("key");
    std::vector<z3::expr> guards = along(q, path, second);
    append(guards, within(q, second.rank, q.ranks(second.group)));
    const z3::expr both_there = all(q, guards);
    for (const Instance* instance : {&first, &second}) {
      guards.push_back(q.less_equal(q.number(intervals_[loop]->from, *instance), at));
      guards.push_back(q.less(at, q.number(intervals_[loop]->to, *instance)));
      for (const auto& [lower, higher] : {std::pair(x, y), std::pair(y, x)})
        q.hypotheses.push_back(in_turn(q, loop, *instance, lower, higher));
    }
    const z3::expr same = q.equal(x, y);
    q.goal = z3::implies(all(q, guards), same);
    q.mutant = z3::implies(both_there, same);
  });
}

// At the rank of the instance, which is in the loop.
z3::expr Planner::in_turn(Query& q, size_t loop, Instance instance, const Polynomial& lower,
                          const Polynomial& higher) const {
  const LoopSite& site = anatomy_.loops[loop];
  const std::vector<z3::expr> there = {q.less_equal(q.number(site.low, instance), lower),
                                       q.less(lower, higher),
                                       q.less(higher, q.number(site.high, instance))};
  instance.variables.back() = lower;
  const Polynomial end = q.number(intervals_[loop]->to, instance);
  instance.variables.back() = higher;
  return z3::implies(all(q, there), q.less_equal(end, q.number(intervals_[loop]->from, instance)));
}

Planner::TwoSteps Planner::two_steps(const StepSite& a, const StepSite& b) const {
  return two_of(view_of(a.variables, a.names), view_of(b.variables, b.names), shared_loops(a, b),
                false);
}

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
      if (j <= i && anatomy_.sites[i].kind == anatomy_.sites[j].kind)
        one_crossing(crossing_message(j), crossing_message(i), false, base);
}

Planner::Crossing Planner::exchange(size_t step) const {
  const StepSite& site = anatomy_.steps[step];
  return {site.path, static_cast<int>(step), anatomy_.sites[messages_in(site)[0]].peer,
          fmt::format("step {}", step + 1)};
}

Planner::Crossing Planner::crossing_message(size_t i) const {
  const Site& site = anatomy_.sites[i];
  return {site.message_path(), site.step, site.peer, site_name(site)};
}

// Two instances of what crosses the border of one node at one key are one instance: of an exchange, or of a message of
// one direction.
void Planner::one_crossing(const Crossing& one, const Crossing& two, bool of_exchanges,
                           int64_t base) {
  const TwoSteps both = two_steps(anatomy_.steps[one.step], anatomy_.steps[two.step]);
  const Uses facts = uses(find("port", ""), both.view);
  const bool same_place = one.name == two.name;
  add(fmt::format("port: {} and {}", one.name, two.name), [=, this](Query& q) {
    const auto [first, other] = two_at(q, both, one.path, facts);
    const auto node = [&](const Polynomial& rank) { return q.located(base, 0, rank); };
    const auto crosses = [&](const Crossing& crossing, const Instance& instance) {
      return !q.equal(node(q.number(crossing.peer, instance)), node(instance.rank));
    };
    q.hypotheses.push_back(crosses(one, first));
    std::vector<z3::expr> guards = along(q, two.path, other);
    append(guards, within(q, other.rank, q.ranks(other.group)));
    guards.push_back(crosses(two, other));
    const z3::expr there = all(q, guards), one_node = q.equal(node(first.rank), node(other.rank)),
                   one_key = q.equal(key(q, one.step, first), key(q, two.step, other)),
                   same = q.equal(first.rank, other.rank) &&
                          same_instance(q, same_place, first, other);
    q.goal = z3::implies(there && one_node && one_key, same);
    // Different exchanges of a node do go on, at other keys. Messages of two nodes may well cross at one key; messages
    // of two statements, which may never do so at one key, cross at any.
    if (of_exchanges)
      q.mutant = same_place ? z3::implies(there && one_node, same) : q.truth(false);
    else
      q.mutant = z3::implies(same_place ? there && one_key : there, same);
  });
}

}  // namespace quadrille::verifier
