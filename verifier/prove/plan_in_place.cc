// Each block is sent no later than the block that overwrites it arrives: the proof's `cover` says
// where that one travels, so the two keys can be compared. Tested with the obligations
// (obligations.cc).
#include "verifier/prove/planner.h"

namespace quadrille::verifier {

void Planner::in_place() {
  for (const Site& site : anatomy_.sites) {
    if (site.kind != Site::Kind::kSend || !site.block) continue;
    // In an exchange of blocks the one that overwrites this one arrives in the same step, and no
    // other does.
    if (site.step >= 0 && exchanges_blocks(anatomy_.steps[site.step])) continue;
    for (size_t k = 0; k < cover_.size(); ++k) sent_before_overwritten(site, k);
  }
}

void Planner::sent_before_overwritten(const Site& site, size_t k) {
  const View view = view_of_site(site);
  const Uses facts = uses(find("in_place", ""), view);
  add(case_name("in_place " + site_name(site), cover_, k), [=, this](Query& q) {
    const Instance instance = unknowns_at(q, view, site.path, facts);
    const Polynomial peer = q.logic.number(site.peer, instance);
    const Instance ends{instance.rank, {peer, instance.rank}};
    const std::vector<z3::expr> guards = applies(q, cover_, k, ends);
    const Instance back = chosen(q, cover_[k], ends, peer);
    const Polynomial sent = key(q, site.step, instance),
                     arrives = key(q, anatomy_.sites[cover_[k].site].step, back);
    q.goal = z3::implies(all(q, guards), q.logic.less_equal(sent, arrives));
    q.mutant = z3::implies(all(q, guards), q.logic.less(arrives, sent)) &&
               z3::implies(!all(q, guards), q.logic.truth(false));
  });
}

}  // namespace quadrille::verifier
