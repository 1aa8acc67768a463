// A proof may say that the program deadlocks. Then `given` holds for every rank. Each rank has a step with a send
// before every receive, and posts no receive before that send is complete. With synchronous sends no send ever
// completes. Tested with the obligations (planner.cc).
#include "verifier/prove/planner.h"

#include <fmt/format.h>

namespace quadrille::verifier {
namespace {

// The receive stands in a step after the send's, which waits for that.
void posted_later(Planner& p, const Site& receive, const Choice& first) {
  p.add(fmt::format("deadlock: {} is posted later", site_name(receive)),
        {view_of(receive), receive.message_path(), p.plan.given},
        [=, &p](Query& q, const Instance& instance) {
          const Instance own{instance.group, instance.rank, {}};
          const Instance sender = chosen(q, first, own, instance.rank);
          const int step = p.sites[first.site].step;
          show(q, {}, p.over_before(q, step, sender, receive.step, instance),
               q.less_equal(p.key(q, receive.step, instance), p.key(q, step, sender)));
        });
}

}  // namespace

void plan_deadlock(Planner& p, const ProofStatement& statement) {
  Scene scene{{{}, {}, true}, {}, {}};
  for (const Line& line : statement.lines)
    if (starts_with(line, "given")) p.plan.given.push_back(p.condition(line, scene.view));
  const Choices choices = p.choices(&statement, scene.view);
  if (choices.size() != 1 || choices[0].condition ||
      p.sites[choices[0].site].kind != Site::Kind::kSend || p.sites[choices[0].site].step < 0)
    p.fail_at(statement, "it wants one 'with send', without an 'if': what every rank sends first");
  p.plan.deadlocks = true;
  const Choice first = choices[0];
  scene.facts = p.plan.given;
  append(scene.facts, p.uses(&statement, scene.view, 0));
  const Site& send = p.sites[first.site];
  p.add("deadlock: every rank comes to " + site_name(send), scene,
        [=, &p](Query& q, const Instance& own) {
          const Instance sender = chosen(q, first, own, own.rank);
          std::vector<z3::expr> goals = along(q, send.path, sender);
          const Polynomial peer = q.number(send.peer, sender);
          append(goals, within(q, peer, q.ranks(own.group)));
          goals.push_back(!q.equal(peer, own.rank));
          // What is empty does not travel; a token does.
          if (send.moved() && p.contract.has_lengths() && !p.contract.is_barrier()) {
            const auto [low, high] = p.extent(q, *send.from, first.site, sender);
            goals.push_back(q.less(low, high));
          }
          show(q, {}, goals, !all(q, goals));
        });
  for (const Site& site : p.sites)
    if (site.kind == Site::Kind::kReceive && site.piece == 0) posted_later(p, site, first);
}

}  // namespace quadrille::verifier
