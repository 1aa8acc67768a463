// That no rank leaves a barrier before every rank has come. Each process has a token of its own from the beginning,
// and a message brings those that the proof says; who has all at the end has heard, directly or through others, of
// every process that it has begun: what is asked of them is what is asked of the bytes of an allgather. Tested with
// the obligations (obligations.cc).
#include "verifier/prove/planner.h"

namespace quadrille::verifier {

// Of source, source + 1, ... so many, modulo the number of processes.
std::vector<z3::expr> Planner::is_token(Query& q, const Polynomial& low, const Polynomial& high,
                                        const Polynomial& token) const {
  const Polynomial number = contract_.processes(q.logic);
  const auto between = [&](const Polynomial& n) {
    return q.logic.less_equal(low, n) && q.logic.less(n, high);
  };
  std::vector<z3::expr> result = within(q, token, number);
  result.push_back(between(token) || between(token + number));
  return result;
}

z3::expr Planner::is_own_token(Query& q, const Instance& instance, const Polynomial& token) const {
  return q.logic.equal(token, contract_.process(q.logic, instance));
}

// None is there twice, and nobody is brought its own.
void Planner::tokens(size_t i) {
  const Site& site = anatomy_.sites[i];
  const View view = view_of_site(site);
  const Uses facts = uses(find("match", site_name(site)), view, matches_[i].size() == 1 ? 0 : -1);
  add("defined tokens of " + site_name(site), [=, this](Query& q) {
    const Instance instance = unknowns_at(q, view, site.path, facts);
    const auto [low, high] = extent(q, *site.moved(), i, instance);
    const Polynomial number = contract_.processes(q.logic);
    std::vector<z3::expr> goals = within(q, low, number);
    const z3::expr outside = !goals[0];
    goals.push_back(q.logic.less_equal(low, high));
    goals.push_back(q.logic.less_equal(high, low + number));
    if (site.kind == Site::Kind::kReceive)
      goals.push_back(!all(q, is_token(q, low, high, contract_.process(q.logic, instance))));
    show(q, {}, goals, outside);
  });
}

// Where the proof names no message that brought what another brings, that is its sender's own token.
void Planner::own_token(Reading reading) {
  const Site& site = anatomy_.sites[reading.site];
  const View view = view_with_byte(site);
  const Uses facts = uses(find("match", site_name(site)), view);
  add(name_of(reading), [=, this](Query& q) {
    const Instance instance = unknowns_at(q, view, site.path, facts);
    const Polynomial& token = instance.variables.back();
    append(q.hypotheses, reads_byte(q, reading, instance));
    const z3::expr own = is_own_token(q, instance, token);
    show(q, {}, {own}, !own);
  });
}

}  // namespace quadrille::verifier
