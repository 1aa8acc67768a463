// The obligation port: at one key, a node has at most one exchange with other nodes. Obligations take two instances
// of any two steps, at two ranks of one node, and show that they are the same instance. If all ranks are in the same
// iteration of a loop at equal keys, the two instances share the loop's variable. With a port of one message each
// way, obligations compare messages, not exchanges. With k messages each way, the proof gives each message a lane in
// [0, k), and obligations compare messages of one lane. Tested with the obligations (planner.cc).
#include <algorithm>

#include "verifier/prove/planner.h"

namespace quadrille::verifier {
namespace {

// Whether the program claims a port for each node, or for each rank (`scope`).
bool is_port_per(const Planner& p, PortScope scope) {
  return p.program.port.kind != PortKind::kNone && p.program.port.per == scope;
}

Uses facts_of(const Planner& p, const TwoSteps& both) { return p.uses(p.find("port"), both.view); }

// Returns the indices of a step's messages in p.sites: the first piece of each.
std::vector<int> messages_in(const Planner& p, const StepSite& step) {
  std::vector<int> messages;
  for (const int site : step.sites)
    if (p.sites[site].is_message() && p.sites[site].piece == 0) messages.push_back(site);
  return messages;
}

// Whether the step sends one message to a rank, and receives one from the same rank, and nothing else.
bool is_exchange(const Planner& p, const StepSite& step) {
  const std::vector<int> messages = messages_in(p, step);
  if (messages.size() != 2) return false;
  const Site &a = p.sites[messages[0]], &b = p.sites[messages[1]];
  return a.kind != b.kind && a.peer == b.peer && a.remote == b.remote;
}

// ---- At one rank

// Shows that two sends, or receives, of a step have different partners, or with a port of the rank, are one message.
void different_peers(Planner& p, const StepSite& step, int i, int j) {
  const Site &one = p.sites[i], &two = p.sites[j];
  const bool port = is_port_per(p, PortScope::kRank);
  if (!port && one.remote != two.remote) return;
  const TwoSteps both = two_of(view_of(one), view_of(two), step.variables.size());
  const std::string names = site_name(one) + " and " + site_name(two);
  p.add(port ? "port: " + names : "match " + names + ", peers", both, one.message_path(),
        facts_of(p, both), [=](Query& q, Instance first, const Instance& second) {
          std::vector<z3::expr> guards = along(q, two.message_path(), second);
          if (!port)
            guards.push_back(q.equal(q.number(one.peer, first), q.number(two.peer, second)));
          first.variables.resize(one.outer_variables);
          const z3::expr same = same_instance(q, i == j, first, second);
          // Conditions may keep two messages of the step from ever happening together.
          show(q, guards, {same}, i == j ? std::optional(!same) : std::nullopt);
        });
}

// Shows that a send and a receive of one step at a rank have the same partner.
void one_peer(Planner& p, const StepSite& step, int i, int j) {
  const Site &one = p.sites[i], &two = p.sites[j];
  const bool in_loop = std::max(one.outer_variables, two.outer_variables) > step.variables.size();
  if (!in_loop && one.peer == two.peer && one.remote == two.remote) return;
  const TwoSteps both = two_of(view_of(one), view_of(two), step.variables.size());
  p.add(fmt::format("port: {} and {}", site_name(one), site_name(two)), both, one.message_path(),
        facts_of(p, both), [=](Query& q, const Instance& first, const Instance& second) {
          const z3::expr same = q.truth(one.remote == two.remote) &&
                                q.equal(q.number(one.peer, first), q.number(two.peer, second));
          show(q, along(q, two.message_path(), second), {same});
        });
}

// Shows that no two messages of a step go to one rank, or come from one. With a port of the rank, a step has at most
// one send and one receive, and if the port is for exchanges, both with the same rank.
void messages_of(Planner& p, const StepSite& step) {
  const std::vector<int> messages = messages_in(p, step);
  const bool of_node = is_port_per(p, PortScope::kNode);
  const bool exchanges = p.program.port.kind == PortKind::kExchange;
  int sends = 0;
  bool in_loop = false;
  for (const int index : messages) {
    const Site& site = p.sites[index];
    sends += site.kind == Site::Kind::kSend;
    in_loop |= site.outer_variables > step.variables.size();
  }
  const int receives = static_cast<int>(messages.size()) - sends;
  if (of_node && exchanges && (in_loop || sends > 1 || receives > 1))
    p.fail_proof("several messages one way in a step, beside a port of nodes for exchanges");
  if (of_node && exchanges && sends == 1 && receives == 1 && !is_exchange(p, step))
    p.fail_proof("a step exchanges with two different ranks, against the port");
  if (of_node && in_loop && p.program.port.kind != PortKind::kParameter)
    p.fail_proof("a loop of messages in a step, beside a port of the node");
  for (const int i : messages)
    for (const int j : messages) {
      const Site &one = p.sites[i], &two = p.sites[j];
      if (i > j) continue;
      if (one.kind != two.kind) {
        if (exchanges && !of_node) one_peer(p, step, i, j);
      } else if (i != j || one.outer_variables > step.variables.size()) {
        different_peers(p, step, i, j);
      }
    }
}

// ---- In loops

// Whether the loop is in the same iteration at equal keys on all ranks. same_iteration() proves it.
bool is_alike_everywhere(const Planner& p, size_t loop) {
  const LoopSite& site = p.anatomy.loops[loop];
  const KeyInterval& interval = *p.intervals[loop];
  return !mentions_rank(site.low) && !mentions_rank(site.high) && !mentions_rank(interval.from) &&
         !mentions_rank(interval.to);
}

// Returns how many loops around both steps, from the outermost, are alike everywhere.
size_t shared_loops(const Planner& p, const StepSite& a, const StepSite& b) {
  const auto parted =
      std::mismatch(a.loops.begin(), a.loops.end(), b.loops.begin(), b.loops.end()).first;
  return std::find_if(a.loops.begin(), parted,
                      [&p](int loop) { return !is_alike_everywhere(p, loop); }) -
         a.loops.begin();
}

// Returns the condition that the keys of iteration `lower` end before those of `higher`, if both are in the loop.
z3::expr in_turn(const Planner& p, Query& q, size_t loop, Instance instance,
                 const Polynomial& lower, const Polynomial& higher) {
  const LoopSite& site = p.anatomy.loops[loop];
  const std::vector<z3::expr> there = {q.less_equal(q.number(site.low, instance), lower),
                                       q.less(lower, higher),
                                       q.less(higher, q.number(site.high, instance))};
  instance.variables.back() = lower;
  const Polynomial end = q.number(p.intervals[loop]->to, instance);
  instance.variables.back() = higher;
  return z3::implies(all(q, there), q.less_equal(end, q.number(p.intervals[loop]->from, instance)));
}

// Shows that two ranks in this loop at one key, and in the same iterations of the loops around it, are in the same
// iteration of this loop. The hypotheses include what `keys` shows: lower iterations of a rank have lower keys.
void same_iteration(Planner& p, size_t loop) {
  const View view = view_of_body(p, loop + 1);
  const Path path = path_of_body(p, loop + 1);
  const TwoSteps both = two_of(view, view, p.anatomy.loops[loop].variable, false);
  p.add(fmt::format("port: one iteration of {} at a key", body_name(p, loop + 1)), both, path,
        facts_of(p, both), [=, &p](Query& q, const Instance& first, const Instance& second) {
          const Polynomial &x = first.variables.back(), &y = second.variables.back(),
                           at = q.fresh("key");
          std::vector<z3::expr> guards = along(q, path, second);
          append(guards, within(q, second.rank, q.ranks(second.group)));
          const z3::expr both_there = all(q, guards);
          for (const Instance* instance : {&first, &second}) {
            guards.push_back(q.less_equal(q.number(p.intervals[loop]->from, *instance), at));
            guards.push_back(q.less(at, q.number(p.intervals[loop]->to, *instance)));
            for (const auto& [lower, higher] : {std::pair(x, y), std::pair(y, x)})
              q.suppose(in_turn(p, q, loop, *instance, lower, higher));
          }
          const z3::expr same = q.equal(x, y);
          q.goal = z3::implies(all(q, guards), same);
          q.mutant = z3::implies(both_there, same);
        });
}

// ---- At one node

// Whether an `inside` line of the proof says that the site's step stays in its node.
bool said_to_stay(const Planner& p, const Site& site) {
  const ProofStatement* statement = p.find("port");
  return statement &&
         std::any_of(statement->lines.begin(), statement->lines.end(), [&](const Line& line) {
           const bool said = starts_with(line, "inside") && is_said_of(line, site);
           if (said) p.lines.take_up(line);
           return said;
         });
}

// Whether the step may leave its node: only an exchange may, unless the proof says that it stays inside.
bool leaves_its_node(const Planner& p, const StepSite& step) {
  return is_exchange(p, step) && std::none_of(step.sites.begin(), step.sites.end(), [&](int site) {
           return said_to_stay(p, p.sites[site]);
         });
}

int64_t node_table(const Planner& p) {
  const std::vector<Table>& tables = p.program.tables;
  for (size_t i = 0; i < tables.size(); ++i)
    if (tables[i].kind == TableKind::kPrefix && tables[tables[i].source].kind == TableKind::kNodes)
      return i;
  p.fail_proof("a port per node needs a table of prefix(nodes)");
}

void stays_inside(Planner& p, const Site& site, int64_t base) {
  if (!site.is_message() || site.piece > 0) return;
  p.add(fmt::format("port: {} stays inside its node", site_name(site)),
        p.scene(view_of(site), site.message_path(), "port"),
        [=](Query& q, const Instance& instance) {
          const z3::expr inside = q.equal(q.located({base, 0}, q.number(site.peer, instance)),
                                          q.located({base, 0}, instance.rank));
          show(q, {}, {inside}, !inside);
        });
}

// An exchange, or one message, that leaves or enters a node.
struct Crossing {
  Path path;
  int step;
  Expression peer;
  std::string name;
  View view;
  Expression lane = constant(0);
};

Crossing crossing_exchange(const Planner& p, size_t step) {
  const StepSite& site = p.anatomy.steps[step];
  return {site.path, static_cast<int>(step), p.sites[messages_in(p, site)[0]].peer,
          fmt::format("step {}", step + 1), view_of(site)};
}

// Returns the proof's `lane` line.
const Line& lane_line(const Planner& p) {
  if (const ProofStatement* statement = p.find("port"))
    for (const Line& line : statement->lines)
      if (starts_with(line, "lane")) return line;
  p.fail_proof("a port of several messages each way needs 'lane NUMBER' below 'port'");
}

// Returns a message as a crossing. With a port k+k, shows that its lane is in [0, k). Otherwise its lane is 0.
Crossing crossing_message(Planner& p, const Site& site) {
  Crossing crossing = {site.message_path(), site.step, site.peer, site_name(site),
                       view_of(p.anatomy.steps[site.step])};
  if (p.program.port.kind != PortKind::kParameter) return crossing;
  if (site.variables.size() > site.outer_variables)
    p.fail_proof(unknown_feature("a loop of pieces beside a port of several messages"));
  crossing.view = view_of(site);
  crossing.lane = p.number(lane_line(p), crossing.view);
  p.add(fmt::format("port: lane of {}", crossing.name),
        p.scene(crossing.view, crossing.path, "port"),
        [lane = crossing.lane](Query& q, const Instance& instance) {
          const z3::expr within_port =
              all(q, within(q, q.number(lane, instance),
                            q.number(leaf(Operator::kParameter, 0), instance)));
          show(q, {}, {within_port}, !within_port);
        });
  return crossing;
}

// Shows that two crossings of one node's border at one key, in one lane, are the same crossing. Crossings are
// exchanges (`of_exchanges`), or messages of one direction.
void one_crossing(Planner& p, const Crossing& one, const Crossing& two, bool of_exchanges,
                  int64_t base) {
  const StepSite &step = p.anatomy.steps[one.step], &other_step = p.anatomy.steps[two.step];
  const TwoSteps both = two_of(one.view, two.view, shared_loops(p, step, other_step), false);
  const bool same_place = one.name == two.name;
  p.add(fmt::format("port: {} and {}", one.name, two.name), both, one.path, facts_of(p, both),
        [=, &p](Query& q, const Instance& first, const Instance& other) {
          const auto node = [&](const Polynomial& rank) { return q.located({base, 0}, rank); };
          const auto crosses = [&](const Crossing& crossing, const Instance& instance) {
            return !q.equal(node(q.number(crossing.peer, instance)), node(instance.rank));
          };
          q.suppose(crosses(one, first));
          std::vector<z3::expr> guards = along(q, two.path, other);
          append(guards, within(q, other.rank, q.ranks(other.group)));
          guards.push_back(crosses(two, other));
          guards.push_back(q.equal(q.number(one.lane, first), q.number(two.lane, other)));
          const z3::expr there = all(q, guards),
                         one_node = q.equal(node(first.rank), node(other.rank)),
                         one_key = q.equal(p.key(q, one.step, first), p.key(q, two.step, other)),
                         same = q.equal(first.rank, other.rank) &&
                                same_instance(q, same_place, first, other);
          q.goal = z3::implies(there && one_node && one_key, same);
          // The mutant for exchanges drops the key: a node has other exchanges at other keys. The
          // mutant for messages drops the node: others have some at this key; or the key, too.
          if (of_exchanges)
            q.mutant = same_place ? z3::implies(there && one_node, same) : q.truth(false);
          else
            q.mutant = z3::implies(same_place ? there && one_key : there, same);
        });
}

// Shows that at each key at most one message of a lane leaves a node and at most one arrives.
void one_each_way(Planner& p, int64_t base) {
  struct Side {
    const Site* site;
    Crossing crossing;
  };
  std::vector<Side> sides;
  for (const Site& site : p.sites) {
    if (!site.is_message() || site.piece > 0) continue;
    if (said_to_stay(p, site))
      stays_inside(p, site, base);
    else
      sides.push_back({&site, crossing_message(p, site)});
  }
  for (const Side& two : sides)
    for (const Side& one : sides)
      if (one.site->index <= two.site->index && one.site->kind == two.site->kind)
        one_crossing(p, one.crossing, two.crossing, false, base);
}

}  // namespace

void plan_port(Planner& p) {
  for (const StepSite& step : p.anatomy.steps) messages_of(p, step);
  if (!is_port_per(p, PortScope::kNode)) return;
  const int64_t base = node_table(p);
  for (size_t loop = 0; loop < p.anatomy.loops.size(); ++loop)
    if (p.intervals[loop] && is_alike_everywhere(p, loop)) same_iteration(p, loop);
  if (p.program.port.kind != PortKind::kExchange) return one_each_way(p, base);
  const std::vector<StepSite>& steps = p.anatomy.steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (!leaves_its_node(p, steps[i]))
      for (const int site : steps[i].sites) stays_inside(p, p.sites[site], base);
    for (size_t j = 0; j <= i; ++j)
      if (leaves_its_node(p, steps[i]) && leaves_its_node(p, steps[j]))
        one_crossing(p, crossing_exchange(p, j), crossing_exchange(p, i), true, base);
  }
}

}  // namespace quadrille::verifier
