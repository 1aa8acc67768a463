// All-to-all programs whose blocks pass through other ranks' temporary buffers: which contribution each
// piece carries, that what is read from the temporary buffer is what the piece is said to carry, and
// that each contribution arrives once. Tested with the obligations (obligations.cc).
#include "verifier/prove/planner.h"

#include <fmt/format.h>

namespace quadrille::verifier {

// The buffers of a call tell of their blocks what these are; of a temporary block the proof does.
Planner::Contribution Planner::carried(Query& q, size_t i, const Instance& instance) const {
  const Site& site = anatomy_.sites[i];
  if (site.temporary())
    return {q.logic.number(carries_[i][0], instance), q.logic.number(carries_[i][1], instance)};
  const Polynomial block = q.logic.number(*site.block, instance);
  if (site.kind == Site::Kind::kSend) return {instance.rank, block};
  return {block, instance.rank};
}

std::vector<z3::expr> Planner::same_contribution(Query& q, const Contribution& a,
                                                 const Contribution& b) const {
  return {q.logic.equal(a.source, b.source), q.logic.equal(a.target, b.target)};
}

std::vector<z3::expr> Planner::has_contribution(Query& q, size_t i, const Instance& instance,
                                                int arrived, const Instance& before) const {
  std::vector<z3::expr> result =
      same_contribution(q, carried(q, i, instance), carried(q, arrived, before));
  result.push_back(q.logic.equal(q.logic.number(*anatomy_.sites[i].block, instance),
                                 q.logic.number(*anatomy_.sites[arrived].block, before)));
  return result;
}

void Planner::relaying() {
  cover();
  if (error_.empty()) copies();
  for (size_t i = 0; i < anatomy_.sites.size() && error_.empty(); ++i) {
    const Site& site = anatomy_.sites[i];
    if (site.kind == Site::Kind::kCopy) once(i);
    if (!site.block || site.kind == Site::Kind::kCopy) continue;
    const bool receives = site.kind == Site::Kind::kReceive;
    if (!receives && site.temporary()) held(i);
    if (receives && !site.temporary()) once(i);
    for (size_t j = 0; j < anatomy_.sites.size() && error_.empty(); ++j) {
      const Site& other = anatomy_.sites[j];
      if (other.kind != site.kind || !other.block || other.buffer != site.buffer) continue;
      if (!receives) read_apart(j, i);
      if (receives && site.temporary() && j <= i) stored_once(j, i);
    }
  }
}

void Planner::contribution(size_t i, const View& view, const Uses& facts) {
  const Site& site = anatomy_.sites[i];
  add("piece of " + site_name(site), [=, this](Query& q) {
    const Instance instance = unknowns_at(q, view, site.path, facts);
    const Contribution carried = this->carried(q, i, instance);
    std::vector<z3::expr> goals = within(q, carried.source, q.logic.ranks());
    append(goals, within(q, carried.target, q.logic.ranks()));
    goals.push_back(!q.logic.equal(carried.source, carried.target));
    if (site.temporary())
      append(goals, within(q, q.logic.number(*site.block, instance),
                           q.logic.number(program_.temporary_blocks, instance)));
    show(q, {}, goals, q.logic.equal(carried.source, carried.target));
  });
}

// Of two reads of one block at a rank, the first is over, or of the same step, when the second's is
// written. A block of the send buffer is read once.
void Planner::read_apart(size_t i, size_t j) {
  const Site& later = anatomy_.sites[j];
  const TwoSteps both = two_pieces(anatomy_.sites[i], later);
  const Uses facts = uses(find("apart", site_name(later)), both.view);
  if (!later.temporary()) return read_apart_case(i, j, 0, both, facts);
  for (size_t k = 0; k < held_[j].size() && error_.empty(); ++k)
    read_apart_case(i, j, k, both, facts);
}

void Planner::read_apart_case(size_t i, size_t j, size_t k, const TwoSteps& both,
                              const Uses& facts) {
  const Site &one = anatomy_.sites[i], &two = anatomy_.sites[j];
  const std::string name = fmt::format("apart {} and {}", site_name(one), site_name(two));
  add(case_name(name, held_[j], k), [=, this](Query& q) {
    const auto [first, second] = two_at(q, both, one.path, facts);
    std::vector<z3::expr> guards = along(q, two.path, second);
    z3::expr apart = same_instance(q, i == j, first, second);
    if (two.temporary()) {
      append(guards, applies(q, held_[j], k, second));
      const Choice& written = held_[j][k];
      const Instance before = chosen(q, written, second, second.rank);
      const int step = anatomy_.sites[written.site].step;
      apart = apart || q.logic.equal(key(q, one.step, first), key(q, step, before)) ||
              all(q, over_before(q, one.step, first, step, before));
    }
    const z3::expr both_there = all(q, guards);
    guards.push_back(q.logic.less_equal(key(q, one.step, first), key(q, two.step, second)));
    guards.push_back(
        q.logic.equal(q.logic.number(*one.block, first), q.logic.number(*two.block, second)));
    q.goal = z3::implies(all(q, guards), apart);
    q.mutant = i == j ? z3::implies(all(q, guards), !apart) : !both_there;
  });
}

// No contribution comes back to a block of the temporary buffer where it has been.
void Planner::stored_once(size_t i, size_t j) {
  const Site &one = anatomy_.sites[i], &two = anatomy_.sites[j];
  const TwoSteps both = two_pieces(one, two);
  const Uses facts = uses(find("once", site_name(two)), both.view);
  add(i == j ? fmt::format("once {}", site_name(one))
             : fmt::format("once {} and {}", site_name(one), site_name(two)),
      [=, this](Query& q) {
        const auto [first, second] = two_at(q, both, one.path, facts);
        std::vector<z3::expr> guards = along(q, two.path, second);
        const z3::expr same = same_instance(q, i == j, first, second), both_there = all(q, guards);
        append(guards, has_contribution(q, i, first, j, second));
        q.goal = z3::implies(all(q, guards), same);
        q.mutant = i == j ? z3::implies(all(q, guards), !same) : !both_there;
      });
}

}  // namespace quadrille::verifier
