// Programs that forward blocks, from receive buffer to receive buffer: every byte of every block
// arrives once at every other rank, and what is sent on has arrived before. Tested with the
// obligations (obligations.cc).
#include "verifier/prove/planner.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/binding.h"

namespace quadrille::verifier {

Planner::Part Planner::part(Query& q, const Site& site, const Instance& instance) const {
  Part part{q.logic.number(*site.block, instance), {}, {}};
  if (!anatomy_.forwards) return part;  // blocks travel whole, of whatever length
  if (!site.range) {
    part.high = q.logic.block_length(part.block);
  } else {
    part.low = q.logic.number(site.range->low, instance);
    part.high = q.logic.number(site.range->high, instance);
  }
  return part;
}

std::vector<z3::expr> Planner::same_part(Query& q, const Part& a, const Part& b) const {
  return {q.logic.equal(a.block, b.block), q.logic.equal(a.low, b.low),
          q.logic.equal(a.high, b.high)};
}

void Planner::forwarding() {
  if (const std::string wrong = own_block(); !wrong.empty()) return fail_proof(wrong);
  cover();
  for (size_t i = 0; i < anatomy_.sites.size() && error_.empty(); ++i) {
    if (!anatomy_.sites[i].block) continue;
    if (anatomy_.sites[i].kind == Site::Kind::kSend) held(i);
    if (anatomy_.sites[i].kind == Site::Kind::kReceive) once(i);
  }
}

// It is copied before anything else happens, and by nothing but that copy.
std::string Planner::own_block() const {
  const auto copies = std::count_if(anatomy_.sites.begin(), anatomy_.sites.end(),
                                    [](const Site& s) { return s.kind == Site::Kind::kCopy; });
  const Copy* first =
      program_.body.empty() ? nullptr : std::get_if<Copy>(&program_.body.front().kind);
  if (copies == 1 && first && first->from.block == constant(0) &&
      first->to.block == leaf(Operator::kRank))
    return "";
  return "an allgather's proof wants 'copy send[0] to recv[rank]' as the program's first "
         "statement, and no other copy";
}

void Planner::piece(const Site& site, const View& view, const Uses& facts) {
  add("piece of " + site_name(site), [=, this](Query& q) {
    const Instance instance = unknowns_at(q, view, site.path, facts);
    const Part carried = part(q, site, instance);
    const Polynomial zero = Polynomial::constant(0);
    std::vector<z3::expr> goals = within(q, carried.block, q.logic.ranks());
    const bool receives = site.kind == Site::Kind::kReceive;
    if (receives) goals.push_back(!q.logic.equal(carried.block, instance.rank));
    goals.push_back(q.logic.less_equal(zero, carried.low));
    // Where blocks have lengths, what would be empty is not sent.
    goals.push_back(uses_counts(program_) ? q.logic.less(carried.low, carried.high)
                                          : q.logic.less_equal(carried.low, carried.high));
    goals.push_back(q.logic.less_equal(carried.high, q.logic.block_length(carried.block)));
    show(
        q, {}, goals,
        receives ? q.logic.equal(carried.block, instance.rank) : q.logic.less(carried.block, zero));
  });
}

void Planner::held(size_t i) {
  const Site& site = anatomy_.sites[i];
  const ProofStatement* statement = find("held", site_name(site));
  const View view = view_of_site(site);
  if (held_[i].empty() && anatomy_.forwards && site.block == leaf(Operator::kRank)) return;
  if (held_[i].empty())
    return fail_proof(fmt::format("the proof has no 'held {}'", site_name(site)));
  exhaustive("held " + site_name(site), held_[i], view, uses(statement, view),
             [this, site](Query& q, const Instance& instance) {
               append(q.hypotheses, along(q, site.path, instance));
               if (anatomy_.forwards)
                 q.hypotheses.push_back(
                     !q.logic.equal(q.logic.number(*site.block, instance), instance.rank));
             });
  for (size_t k = 0; k < held_[i].size() && error_.empty(); ++k) held_case(i, k);
}

void Planner::held_case(size_t i, size_t k) {
  const Site& site = anatomy_.sites[i];
  const Choice& choice = held_[i][k];
  const Site& arrived = anatomy_.sites[choice.site];
  const std::string name = "held " + site_name(site);
  if (arrived.kind != Site::Kind::kReceive || !arrived.block || arrived.step < 0 || site.step < 0 ||
      arrived.temporary() != site.temporary())
    return fail_proof(fmt::format("'{}' names what receives no block in a step", name));
  const View view = view_of_site(site);
  const ProofStatement* statement = find("held", site_name(site));
  const Uses facts = uses(statement, view, k);
  const Rewrites rewriting = rewrites(name, statement, site, view, facts);
  add(case_name(name, held_[i], k), [=, this](Query& q) {
    const Instance instance = unknowns_at(q, view, site.path, facts);
    append(q.hypotheses, applies(q, held_[i], k, instance));
    apply_rewrites(q, rewriting, instance);
    const Instance before = chosen(q, choice, instance, instance.rank);
    std::vector<z3::expr> goals = along(q, arrived.path, before);
    append(goals, anatomy_.forwards ? has_part(q, site, instance, arrived, before)
                                    : has_contribution(q, i, instance, choice.site, before));
    append(goals, over_before(q, arrived.step, before, site.step, instance));
    const Polynomial landed = key(q, arrived.step, before), now = key(q, site.step, instance);
    show(q, {}, goals, q.logic.less_equal(now, landed));
  });
}

// What is sent of another's block is part of what was received.
std::vector<z3::expr> Planner::has_part(Query& q, const Site& site, const Instance& instance,
                                        const Site& arrived, const Instance& before) const {
  const Part sent = part(q, site, instance), received = part(q, arrived, before);
  q.hypotheses.push_back(!q.logic.equal(sent.block, instance.rank));
  return {q.logic.equal(received.block, sent.block), q.logic.less_equal(received.low, sent.low),
          q.logic.less_equal(sent.high, received.high)};
}

void Planner::table_facts() {
  const View nowhere{{}, {}, false};
  for (const Table& table : program_.tables) {
    const Polynomial two = Polynomial::constant(2);
    if (table.kind == TableKind::kPowers)
      add("powers of " + table.name.text, [=, this](Query& q) {
        const Polynomial radix = q.logic.number(table.first, unknowns(q, nowhere));
        show(q, {}, {q.logic.less_equal(two, radix)}, q.logic.less(radix, two));
      });
    if (table.kind == TableKind::kPrefix) summed_entries(program_.tables[table.source]);
  }
  for (const int64_t table : anatomy_.searched) ascending_entries(program_.tables[table]);
}

// Lemmas come later: what they know of a search is known of ascending tables only.
void Planner::ascending_entries(const Table& table) {
  const View view{{table.index.text}, {}, false};
  const Uses facts = uses(find("defined", ""), view);
  add("entries of " + table.name.text + " ascend", [=, this](Query& q) {
    const Instance instance = unknowns(q, view);
    const Polynomial index = instance.variables[0], one = Polynomial::constant(1);
    q.hypotheses.push_back(q.logic.less_equal(Polynomial::constant(0), index));
    q.hypotheses.push_back(q.logic.less(index + one, q.logic.number(table.first, instance)));
    assume(q, facts, instance);
    const Polynomial entry = q.logic.number(table.second, instance);
    const Polynomial next = q.logic.number(table.second, Instance{instance.rank, {index + one}});
    show(q, {}, {q.logic.less_equal(entry, next)}, q.logic.less(next, entry));
  });
}

void Planner::summed_entries(const Table& source) {
  if (source.kind != TableKind::kMap) return;
  const View view{{source.index.text}, {}, false};
  const Uses facts = uses(find("defined", ""), view);
  add("entries of " + source.name.text, [=, this](Query& q) {
    q.logic.doubt_sums();
    const Instance instance = unknowns(q, view);
    const Polynomial index = instance.variables[0], one = Polynomial::constant(1);
    append(q.hypotheses, within(q, index, q.logic.number(source.first, instance)));
    assume(q, facts, instance);
    const Polynomial entry = q.logic.number(source.second, instance);
    show(q, {}, {q.logic.less_equal(one, entry)}, q.logic.less(entry, one));
  });
}

}  // namespace quadrille::verifier
