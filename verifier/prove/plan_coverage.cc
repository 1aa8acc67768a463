// Some instance carries the block of every two ranks, and no two do: `cover` and `copies` name one,
// and whatever sends or copies a block is the one named. Tested with the obligations
// (obligations.cc).
#include "verifier/prove/planner.h"

#include <fmt/format.h>

namespace quadrille::verifier {

namespace {

void assume_two_ranks(Query& q, const Instance& instance) {
  in_range(q, instance.variables[0]);
  in_range(q, instance.variables[1]);
  q.hypotheses.push_back(!q.logic.equal(instance.variables[0], instance.variables[1]));
}

}  // namespace

void Planner::covers() {
  exhaustive("cover", cover_, ends_view(), uses(find("cover", ""), ends_view()), assume_two_ranks);
  for (size_t k = 0; k < cover_.size() && error_.empty(); ++k) cover_case(k);
  if (error_.empty()) copies();
  for (size_t i = 0; i < anatomy_.sites.size() && error_.empty(); ++i) once(i);
}

void Planner::cover_case(size_t k) {
  const Site& site = anatomy_.sites[cover_[k].site];
  if (site.kind != Site::Kind::kSend || !site.block)
    return fail_proof("'cover' names what sends no block");
  const Uses facts = uses(find("cover", ""), ends_view(), k);
  add(cover_.size() > 1 ? fmt::format("cover, case {}", k + 1) : "cover", [=, this](Query& q) {
    const Instance instance = unknowns(q, ends_view());
    assume_two_ranks(q, instance);
    assume(q, facts, instance);
    append(q.hypotheses, applies(q, cover_, k, instance));
    const Instance sender = chosen(q, cover_[k], instance, instance.variables[0]);
    const Polynomial block = q.logic.number(*site.block, sender);
    std::vector<z3::expr> goals = along(q, site.path, sender);
    goals.push_back(q.logic.equal(block, instance.variables[1]));
    show(q, {}, goals, q.logic.equal(block, instance.variables[0]));
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
  add(copies_.size() > 1 ? fmt::format("copies, case {}", k + 1) : "copies", [=, this](Query& q) {
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
  if (site.kind == Site::Kind::kReceive || !site.block) return;
  const View view = view_of_site(site);
  const ProofStatement* statement = find("once", site_name(site));
  const Uses facts = uses(statement, view);
  const Rewrites rewriting = rewrites("once " + site_name(site), statement, site, view, facts);
  add("once " + site_name(site), [=, this](Query& q) {
    const Instance instance = unknowns_at(q, view, site.path, facts);
    apply_rewrites(q, rewriting, instance);
    Instance asked{instance.rank, {}};
    if (site.kind == Site::Kind::kSend)
      asked.variables = {instance.rank, q.logic.number(*site.block, instance)};
    const z3::expr named =
        names_instance(q, site.kind == Site::Kind::kSend ? cover_ : copies_, asked, i, instance);
    show(q, {}, {named}, !named);
  });
}

}  // namespace quadrille::verifier
