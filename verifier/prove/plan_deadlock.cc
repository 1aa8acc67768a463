// A proof may say that the program deadlocks. Then `given` holds for every rank. Each rank has a step with a send
// before every receive, and posts no receive before that send is complete. With synchronous sends no send ever
// completes. Tested with the obligations (planner.cc).
#include "verifier/prove/planner.h"

#include <fmt/format.h>

namespace quadrille::verifier {

void Planner::deadlock(const ProofStatement& statement) {
  const View view{{}, {}, true};
  std::vector<Expression> given;
  for (const Line& line : statement.lines)
    if (starts_with(line, "given"))
      given.push_back(take(lines_.expression(line, view, ProofLines::Wanted::kCondition)));
  const std::vector<Choice> first = choices(&statement, view);
  if (error_.empty() && (first.size() != 1 || first[0].condition ||
                         anatomy_.sites[first[0].site].kind != Site::Kind::kSend ||
                         anatomy_.sites[first[0].site].step < 0))
    fail_at(statement, "it wants one 'with send', without an 'if': what every rank sends first");
  if (!error_.empty()) return;
  plan_.deadlocks = true;
  const Uses facts = uses(&statement, view, 0);
  const Site& send = anatomy_.sites[first[0].site];
  add(fmt::format("deadlock: every rank comes to {}", site_name(send)), [=, this](Query& q) {
    const Instance own = unknowns(q, view);
    assume(q, given, own);
    assume(q, facts, own);
    const Instance sender = chosen(q, first[0], own, own.rank);
    std::vector<z3::expr> goals = along(q, send.path, sender);
    const Polynomial peer = q.number(send.peer, sender);
    append(goals, within(q, peer, q.ranks(own.group)));
    goals.push_back(!q.equal(peer, own.rank));
    // What is empty does not travel; a token does.
    if (send.moved() && contract_.has_lengths() && !contract_.is_barrier()) {
      const auto [low, high] = extent(q, *send.from, first[0].site, sender);
      goals.push_back(q.less(low, high));
    }
    show(q, {}, goals, !all(q, goals));
  });
  plan_.given = given;
  for (const Site& site : anatomy_.sites)
    if (site.kind == Site::Kind::kReceive && site.piece == 0) posted_later(site, first[0], given);
}

// The receive stands in a step after the send's, which waits for that.
void Planner::posted_later(const Site& receive, const Choice& first,
                           const std::vector<Expression>& given) {
  const View view = view_of_site(receive);
  add(fmt::format("deadlock: {} is posted later", site_name(receive)), [=, this](Query& q) {
    const Instance instance = unknowns_at(q, view, receive.message_path(), {});
    assume(q, given, instance);
    const Instance own{instance.group, instance.rank, {}};
    const Instance sender = chosen(q, first, own, instance.rank);
    const int step = anatomy_.sites[first.site].step;
    show(q, {}, over_before(q, step, sender, receive.step, instance),
         q.less_equal(key(q, receive.step, instance), key(q, step, sender)));
  });
}

}  // namespace quadrille::verifier
