// Some instance carries the block of every two ranks, and no two do: `cover` and `copies` name one,
// and whatever sends or copies a block is the one named. Tested with the obligations
// (obligations.cc).
#include "verifier/prove/planner.h"

#include <fmt/format.h>

namespace quadrille::verifier {

namespace {

constexpr const char* kOffset = "offset";  // the byte of a block that a question is about

}  // namespace

void Planner::covers() {
  cover();
  if (error_.empty()) copies();
  for (size_t i = 0; i < anatomy_.sites.size() && error_.empty(); ++i)
    if (anatomy_.sites[i].kind != Site::Kind::kReceive && anatomy_.sites[i].block) once(i);
}

void Planner::assume_ends(Query& q, const Instance& ends) const {
  const Polynomial &source = ends.variables[0], &target = ends.variables[1];
  in_range(q, source);
  in_range(q, target);
  q.hypotheses.push_back(!q.logic.equal(source, target));
  if (anatomy_.forwards)
    append(q.hypotheses, within(q, ends.variables[2], q.logic.block_length(source)));
}

void Planner::cover() {
  exhaustive("cover", cover_, ends_view(), uses(find("cover", ""), ends_view()),
             [this](Query& q, const Instance& ends) { assume_ends(q, ends); });
  for (size_t k = 0; k < cover_.size() && error_.empty(); ++k) cover_case(k);
}

void Planner::cover_case(size_t k) {
  const Site& site = anatomy_.sites[cover_[k].site];
  const bool receives = anatomy_.forwards || anatomy_.relays;
  if (site.kind != (receives ? Site::Kind::kReceive : Site::Kind::kSend) || !site.block ||
      site.temporary())
    return fail_proof(fmt::format("'cover' names what {}",
                                  anatomy_.relays ? "receives no block into the receive buffer"
                                  : receives      ? "receives no block"
                                                  : "sends no block"));
  const Uses facts = uses(find("cover", ""), ends_view(), k);
  add(case_name("cover", cover_, k), [=, this](Query& q) {
    const Instance ends = unknowns(q, ends_view());
    assume_ends(q, ends);
    assume(q, facts, ends);
    append(q.hypotheses, applies(q, cover_, k, ends));
    const Polynomial &own = ends.variables[receives], &other = ends.variables[!receives];
    const Instance there = chosen(q, cover_[k], ends, own);
    const Part carried = part(q, site, there);
    std::vector<z3::expr> goals = along(q, site.path, there);
    goals.push_back(q.logic.equal(carried.block, other));
    if (anatomy_.forwards) {
      goals.push_back(q.logic.less_equal(carried.low, ends.variables[2]));
      goals.push_back(q.logic.less(ends.variables[2], carried.high));
    }
    show(q, {}, goals, q.logic.equal(carried.block, own));
  });
}

void Planner::copies() {
  const View view{{}, {}, true};
  exhaustive("copies", copies_, view, uses(find("copies", ""), view),
             [](Query&, const Instance&) {});
  for (size_t k = 0; k < copies_.size() && error_.empty(); ++k) copy_case(k);
}

void Planner::copy_case(size_t k) {
  const Site& site = anatomy_.sites[copies_[k].site];
  if (site.kind != Site::Kind::kCopy) return fail_proof("'copies' names what is no copy");
  const View view{{}, {}, true};
  const Uses facts = uses(find("copies", ""), view, k);
  add(case_name("copies", copies_, k), [=, this](Query& q) {
    const Instance instance = unknowns(q, view);
    assume(q, facts, instance);
    append(q.hypotheses, applies(q, copies_, k, instance));
    const Instance copier = chosen(q, copies_[k], instance, instance.rank);
    const Polynomial from = q.logic.number(*site.block, copier);
    std::vector<z3::expr> goals = along(q, site.path, copier);
    goals.push_back(q.logic.equal(from, instance.rank));
    goals.push_back(q.logic.equal(q.logic.number(site.second_block, copier), instance.rank));
    show(q, {}, goals, q.logic.less(from, instance.rank));
  });
}

void Planner::once(size_t i) {
  const Site& site = anatomy_.sites[i];
  const std::string name = "once " + site_name(site);
  View view = view_of_site(site);
  if (anatomy_.forwards) {
    if (view.names.count(kOffset) > 0)
      return fail_proof(fmt::format("'{}' is a name that proofs keep for themselves", kOffset));
    view.unknowns.push_back(kOffset);
  }
  const ProofStatement* statement = find("once", site_name(site));
  const Uses facts = uses(statement, view);
  const Rewrites rewriting = rewrites(name, statement, site, view, facts);
  add(name, [=, this](Query& q) {
    const Instance instance = unknowns_at(q, view, site.path, facts);
    apply_rewrites(q, rewriting, instance);
    const bool copies = site.kind == Site::Kind::kCopy;
    const Instance asked = copies ? Instance{instance.rank, {}} : ends_of(q, site, instance);
    const z3::expr named = names_instance(q, copies ? copies_ : cover_, asked, i, instance);
    show(q, {}, {named}, !named);
  });
}

Instance Planner::ends_of(Query& q, const Site& site, const Instance& instance) const {
  const Part carried = part(q, site, instance);
  if (site.kind == Site::Kind::kSend) return {instance.rank, {instance.rank, carried.block}};
  Instance ends{instance.rank, {carried.block, instance.rank}};
  if (anatomy_.forwards) {
    const Polynomial& offset = instance.variables.back();
    q.hypotheses.push_back(q.logic.less_equal(carried.low, offset));
    q.hypotheses.push_back(q.logic.less(offset, carried.high));
    ends.variables.push_back(offset);
  }
  return ends;
}

}  // namespace quadrille::verifier
