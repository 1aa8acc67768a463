// What comes of what arrives and what is there, where something is combined. Tested with the obligations
// (obligations.cc).
#include <fmt/format.h>

#include "verifier/prove/planner.h"

namespace quadrille::verifier {

// What comes is beside what is there, on the stated side, or on either where the operator commutes; what is
// left is both.
void Planner::combine(size_t i) {
  const Site& site = anatomy_.sites[i];
  const View view = view_with_byte(site);
  const Uses facts = uses(find("combine", site_name(site)), view);
  add("combine " + site_name(site), [=, this](Query& q) {
    const Instance instance = unknowns(q, view);
    assume(q, facts, instance);
    assume_reading(q, {i, true}, instance);
    const Span left = span(q, i, instance);
    std::vector<z3::expr> goals, less;
    for (const Coming& comes : coming(q, i, instance))
      for (size_t b = 0; b < base_[i].size(); ++b) {
        std::vector<z3::expr> guards = comes.guards;
        append(guards, applies(q, base_[i], b, instance));
        const Instance before = chosen(q, base_[i][b], instance, instance.rank);
        const Span is_there = span(q, base_[i][b].site, before);
        for (const z3::expr& goal : combined(q, *site.combine, comes.span, is_there, left))
          goals.push_back(z3::implies(all(q, guards), goal));
        less.push_back(z3::implies(all(q, guards), q.logic.equal(left.number, comes.span.number)));
      }
    show(q, {}, goals, all(q, less));
  });
}

// What is sent, or what a reduction reads: of the send buffer, or written before.
std::vector<Planner::Coming> Planner::coming(Query& q, size_t i, const Instance& instance) const {
  const Site& site = anatomy_.sites[i];
  if (!site.is_message() && contract_.is_constant(site.from->buffer))
    return {{{},
             contract_.known(q.logic, site.from->buffer, q.logic.number(site.from->block, instance),
                             instance)}};
  const std::vector<Choice>& sources = site.is_message() ? matches_[i] : held_[i];
  std::vector<Coming> result;
  for (size_t k = 0; k < sources.size(); ++k) {
    const Instance source = site.is_message() ? at_peer(q, sources[k], site, instance)
                                              : chosen(q, sources[k], instance, instance.rank);
    result.push_back({applies(q, sources, k, instance), span(q, sources[k].site, source)});
  }
  return result;
}

std::vector<z3::expr> Planner::combined(Query& q, Side side, const Span& comes,
                                        const Span& is_there, const Span& left) const {
  const auto follows = [&](const Span& a, const Span& b) {
    return same_rank(q, left.group, left.first, a.first) &&
           same_rank(q, left.group, a.first + a.number, b.first);
  };
  z3::expr adjacent = side == Side::kLeft ? follows(comes, is_there) : follows(is_there, comes);
  if (program_.commutative)
    adjacent =
        adjacent || (side == Side::kLeft ? follows(is_there, comes) : follows(comes, is_there));
  return {adjacent, q.logic.truth(comes.group == left.group && is_there.group == left.group),
          q.logic.equal(comes.block, left.block), q.logic.equal(is_there.block, left.block),
          q.logic.equal(left.number, comes.number + is_there.number)};
}

}  // namespace quadrille::verifier
