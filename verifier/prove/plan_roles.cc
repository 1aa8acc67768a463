// Who has messages: between groups, of the root's group the root alone, as MPI tells its other ranks nothing of the
// call. It is asked of each message wherever it stands, whatever its pieces are. Tested by tests/prove/refused.
#include "verifier/prove/planner.h"

namespace quadrille::verifier {

void Planner::roles() {
  if (program_.groups != 2 || !rooted(program_.collective)) return;
  for (const Site& site : anatomy_.sites) {
    if (!site.is_message() || site.piece > 0) continue;
    const View view = with_loop_names(view_of_site(site));
    const Uses facts = uses(find("defined", ""), view);
    add("role " + site_name(site), [=, this](Query& q) {
      const Instance instance = unknowns_at(q, view, site.message_path(), facts);
      const bool is_first = instance.group == 0;
      const z3::expr is_root = q.logic.equal(instance.rank, q.logic.root());
      show(q, {}, {q.logic.truth(!is_first) || is_root}, q.logic.truth(is_first) && !is_root);
    });
  }
}

}  // namespace quadrille::verifier
