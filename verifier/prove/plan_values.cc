// What pieces carry, and that it comes where it belongs: what is read is what was written there before
// (held) and not written over in between (apart), the receive buffers end with what the collective asks for
// (final), and nothing comes, or goes on, twice (once). One set of obligations for all collectives that
// move data: what differs is value(). Tested with the obligations (obligations.cc).
#include <fmt/format.h>

#include <algorithm>

#include "verifier/prove/planner.h"

namespace quadrille::verifier {

namespace {

constexpr const char* kOffset = "offset";  // the byte of a block that a question is about

}  // namespace

// The buffers of a call tell what their blocks are; of a temporary block the proof does.
Planner::Value Planner::value(Query& q, size_t i, const Instance& instance) const {
  const Site& site = anatomy_.sites[i];
  const Polynomial block = q.logic.number(*site.block, instance), zero;
  if (site.temporary())
    return {q.logic.number(carries_[i][0], instance), q.logic.number(carries_[i][1], instance),
            zero, zero};
  if (!anatomy_.gathers)  // blocks travel whole, of whatever length
    return site.kind == Site::Kind::kReceive ? Value{block, instance.rank, zero, zero}
                                             : Value{instance.rank, block, zero, zero};
  const Polynomial contributor = site.kind == Site::Kind::kCopy ? instance.rank : block;
  if (!site.range) return {contributor, zero, zero, q.logic.block_length(contributor)};
  return {contributor, zero, q.logic.number(site.range->low, instance),
          q.logic.number(site.range->high, instance)};
}

std::vector<z3::expr> Planner::same_value(Query& q, const Value& a, const Value& b) {
  std::vector<z3::expr> same = part_of(q, a, b);
  append(same, part_of(q, b, a));
  return same;
}

// Whether what one is, the other has.
std::vector<z3::expr> Planner::part_of(Query& q, const Value& part, const Value& whole) {
  return {q.logic.equal(part.contributor, whole.contributor),
          q.logic.equal(part.block, whole.block), q.logic.less_equal(whole.low, part.low),
          q.logic.less_equal(part.high, whole.high)};
}

void Planner::values() {
  cover();
  if (error_.empty()) copies();
  for (size_t i = 0; i < anatomy_.sites.size() && error_.empty(); ++i) {
    const Site& site = anatomy_.sites[i];
    if (!site.block) continue;
    if (site.kind != Site::Kind::kSend && !site.temporary()) once(i);
    if (site.kind != Site::Kind::kSend) continue;
    if (site.buffer != Buffer::kSend) held(i);
    if (site.buffer == Buffer::kSend && program_.in_place) sent_before_overwritten(i);
  }
  if (anatomy_.relays && error_.empty()) relayed();
}

// ---- Where blocks pass through temporary buffers

void Planner::relayed() {
  for (size_t i = 0; i < anatomy_.sites.size(); ++i)
    for (size_t j = 0; j < anatomy_.sites.size() && error_.empty(); ++j) {
      const Site &one = anatomy_.sites[i], &two = anatomy_.sites[j];
      if (!one.block || !two.block || one.kind == Site::Kind::kCopy || one.buffer != two.buffer)
        continue;
      if (one.temporary() && one.kind == Site::Kind::kReceive && two.kind == Site::Kind::kSend)
        for (size_t k = 0; k < held_[j].size(); ++k) apart(i, j, k);
      if (one.kind == two.kind && i <= j && one.buffer != Buffer::kReceive) once(i, j);
    }
}

// Of a write and a read of one temporary block at a rank, either the read is over, or of the same step, when
// the write comes; or the write is over when what is read is written, or it writes that.
void Planner::apart(size_t i, size_t j, size_t k) {
  const Site &written = anatomy_.sites[i], &read = anatomy_.sites[j];
  const TwoSteps both = two_pieces(written, read);
  const Uses facts = uses(find("apart", site_name(read)), both.view);
  const std::string name = fmt::format("apart {} and {}", site_name(written), site_name(read));
  add(case_name(name, held_[j], k), [=, this](Query& q) {
    const auto [first, second] = two_at(q, both, written.path, facts);
    std::vector<z3::expr> guards = along(q, read.path, second);
    append(guards, applies(q, held_[j], k, second));
    const z3::expr both_there = all(q, guards);
    const int named = anatomy_.sites[held_[j][k].site].step;
    const Instance before = chosen(q, held_[j][k], second, second.rank);
    guards.push_back(
        q.logic.equal(q.logic.number(*written.block, first), q.logic.number(*read.block, second)));
    q.goal = z3::implies(
        all(q, guards), all(q, same_value(q, value(q, i, first), value(q, j, second))) ||
                            q.logic.equal(key(q, read.step, second), key(q, written.step, first)) ||
                            all(q, over_before(q, read.step, second, written.step, first)) ||
                            all(q, over_before(q, written.step, first, named, before)));
    q.mutant = !both_there;
  });
}

// Of what one rank sends from one buffer, and of what it puts into the temporary buffer's blocks, no two
// are the same: each piece that is written there goes on.
void Planner::once(size_t i, size_t j) {
  const Site &one = anatomy_.sites[i], &two = anatomy_.sites[j];
  const TwoSteps both = two_pieces(one, two);
  const Uses facts = uses(find("once", site_name(two)), both.view);
  add(i == j ? fmt::format("once {}", site_name(one))
             : fmt::format("once {} and {}", site_name(one), site_name(two)),
      [=, this](Query& q) {
        const auto [first, second] = two_at(q, both, one.path, facts);
        std::vector<z3::expr> guards = along(q, two.path, second);
        const z3::expr same = same_instance(q, i == j, first, second), both_there = all(q, guards);
        append(guards, same_value(q, value(q, i, first), value(q, j, second)));
        if (one.kind == Site::Kind::kReceive)
          guards.push_back(
              q.logic.equal(q.logic.number(*one.block, first), q.logic.number(*two.block, second)));
        q.goal = z3::implies(all(q, guards), same);
        q.mutant = i == j ? z3::implies(all(q, guards), !same) : !both_there;
      });
}

// ---- What is read

// A piece lies within a block, and within its buffer; no rank receives its own.
void Planner::piece(size_t i, const View& view, const Uses& facts) {
  const Site& site = anatomy_.sites[i];
  add("defined piece of " + site_name(site), [=, this](Query& q) {
    const Instance instance = unknowns_at(q, view, site.path, facts);
    const Value carried = value(q, i, instance);
    const Polynomial zero = Polynomial::constant(0);
    std::vector<z3::expr> goals = within(q, carried.contributor, q.logic.ranks());
    append(goals, within(q, carried.block, q.logic.ranks()));
    const Polynomial& home = anatomy_.gathers ? instance.rank : carried.block;
    const z3::expr own = q.logic.equal(carried.contributor, home);
    const bool travels = !anatomy_.gathers || site.kind == Site::Kind::kReceive;
    if (travels) goals.push_back(!own);
    goals.push_back(q.logic.less_equal(zero, carried.low));
    // Where blocks have lengths, what would be empty is not sent.
    goals.push_back(uses_counts(program_) ? q.logic.less(carried.low, carried.high)
                                          : q.logic.less_equal(carried.low, carried.high));
    if (anatomy_.gathers)
      goals.push_back(q.logic.less_equal(carried.high, q.logic.block_length(carried.contributor)));
    if (site.temporary())
      append(goals, within(q, q.logic.number(*site.block, instance),
                           q.logic.number(program_.temporary_blocks, instance)));
    show(q, {}, goals, travels ? own : q.logic.less(carried.contributor, zero));
  });
}

// What lies in the receive buffer before the first step: a rank's own block, where it is copied first.
bool Planner::own_is_there() const {
  const Copy* first =
      program_.body.empty() ? nullptr : std::get_if<Copy>(&program_.body.front().kind);
  return anatomy_.gathers && first && first->to.block == leaf(Operator::kRank);
}

void Planner::held(size_t i) {
  const Site& site = anatomy_.sites[i];
  const ProofStatement* statement = find("held", site_name(site));
  const View view = view_of_site(site);
  if (held_[i].empty() && own_is_there() && site.block == leaf(Operator::kRank)) return;
  if (held_[i].empty())
    return fail_proof(fmt::format("the proof has no 'held {}'", site_name(site)));
  exhaustive("held " + site_name(site), held_[i], view, uses(statement, view),
             [=, this](Query& q, const Instance& instance) {
               append(q.hypotheses, along(q, site.path, instance));
               assume_not_own(q, i, instance);
             });
  for (size_t k = 0; k < held_[i].size() && error_.empty(); ++k) held_case(i, k);
}

void Planner::assume_not_own(Query& q, size_t i, const Instance& instance) const {
  if (own_is_there())
    q.hypotheses.push_back(!q.logic.equal(value(q, i, instance).contributor, instance.rank));
}

void Planner::held_case(size_t i, size_t k) {
  const Site& site = anatomy_.sites[i];
  const Choice& choice = held_[i][k];
  const Site& arrived = anatomy_.sites[choice.site];
  const std::string name = "held " + site_name(site);
  if (arrived.kind != Site::Kind::kReceive || !arrived.block || arrived.step < 0 || site.step < 0 ||
      arrived.buffer != site.buffer)
    return fail_proof(fmt::format("'{}' names what receives no block in a step", name));
  const View view = view_of_site(site);
  const ProofStatement* statement = find("held", site_name(site));
  const Uses facts = uses(statement, view, k);
  const Rewrites rewriting = rewrites(name, statement, site, view, facts);
  add(case_name(name, held_[i], k), [=, this](Query& q) {
    const Instance instance = unknowns_at(q, view, site.path, facts);
    append(q.hypotheses, applies(q, held_[i], k, instance));
    apply_rewrites(q, rewriting, instance);
    assume_not_own(q, i, instance);
    const Instance before = chosen(q, choice, instance, instance.rank);
    std::vector<z3::expr> goals = along(q, arrived.path, before);
    append(goals, part_of(q, value(q, i, instance), value(q, choice.site, before)));
    goals.push_back(q.logic.equal(q.logic.number(*site.block, instance),
                                  q.logic.number(*arrived.block, before)));
    append(goals, over_before(q, arrived.step, before, site.step, instance));
    const Polynomial landed = key(q, arrived.step, before), now = key(q, site.step, instance);
    show(q, {}, goals, q.logic.less_equal(now, landed));
  });
}

// In place, block b of the send buffer is read no later than block b of the receive buffer, which is there
// too, is written: `cover` says where that one comes.
void Planner::sent_before_overwritten(size_t i) {
  const Site& site = anatomy_.sites[i];
  const View view = view_of_site(site);
  const std::string name = "apart " + site_name(site);
  const ProofStatement* statement = find("apart", site_name(site));
  const Uses facts = uses(statement, view);
  const Rewrites rewriting = rewrites(name, statement, site, view, facts);
  for (size_t k = 0; k < cover_.size(); ++k)
    add(case_name(name, cover_, k), [=, this](Query& q) {
      const Instance instance = unknowns_at(q, view, site.path, facts);
      apply_rewrites(q, rewriting, instance);
      const Instance ends{instance.rank, {q.logic.number(*site.block, instance), instance.rank}};
      const std::vector<z3::expr> guards = applies(q, cover_, k, ends);
      const Instance write = chosen(q, cover_[k], ends, instance.rank);
      const int arriving = anatomy_.sites[cover_[k].site].step;
      const Polynomial sent = key(q, site.step, instance), arrives = key(q, arriving, write);
      q.goal = z3::implies(all(q, guards), same_step(q, site.step, instance, arriving, write) ||
                                               q.logic.less_equal(sent, arrives));
      q.mutant = z3::implies(all(q, guards), q.logic.less(arrives, sent)) &&
                 z3::implies(!all(q, guards), q.logic.truth(false));
    });
}

// ---- What arrives

// Two ranks, and, where parts of blocks travel, a byte of the source's block.
View Planner::ends_view() const {
  if (anatomy_.gathers) return {{"source", "target", kOffset}, {}, false};
  return {{"source", "target"}, {}, false};
}

void Planner::assume_ends(Query& q, const Instance& ends) const {
  const Polynomial &source = ends.variables[0], &target = ends.variables[1];
  in_range(q, source);
  in_range(q, target);
  q.hypotheses.push_back(!q.logic.equal(source, target));
  if (anatomy_.gathers)
    append(q.hypotheses, within(q, ends.variables[2], q.logic.block_length(source)));
}

void Planner::cover() {
  exhaustive("final", cover_, ends_view(), uses(find("cover", ""), ends_view()),
             [this](Query& q, const Instance& ends) { assume_ends(q, ends); });
  for (size_t k = 0; k < cover_.size() && error_.empty(); ++k) cover_case(k);
}

void Planner::cover_case(size_t k) {
  const Site& site = anatomy_.sites[cover_[k].site];
  if (site.kind != Site::Kind::kReceive || !site.block || site.temporary())
    return fail_proof("'cover' names what receives no block into the receive buffer");
  const Uses facts = uses(find("cover", ""), ends_view(), k);
  add(case_name("final", cover_, k), [=, this](Query& q) {
    const Instance ends = unknowns(q, ends_view());
    assume_ends(q, ends);
    assume(q, facts, ends);
    append(q.hypotheses, applies(q, cover_, k, ends));
    const Polynomial &source = ends.variables[0], &target = ends.variables[1];
    const Instance there = chosen(q, cover_[k], ends, target);
    const Value arrives = value(q, cover_[k].site, there);
    std::vector<z3::expr> goals = along(q, site.path, there);
    goals.push_back(q.logic.equal(arrives.contributor, source));
    if (anatomy_.gathers) append(goals, has_byte(q, arrives, ends.variables[2]));
    show(q, {}, goals, q.logic.equal(arrives.contributor, target));
  });
}

std::vector<z3::expr> Planner::has_byte(Query& q, const Value& value, const Polynomial& offset) {
  return {q.logic.less_equal(value.low, offset), q.logic.less(offset, value.high)};
}

void Planner::copies() {
  const View view{{}, {}, true};
  exhaustive("final own block", copies_, view, uses(find("copies", ""), view),
             [](Query&, const Instance&) {});
  for (size_t k = 0; k < copies_.size() && error_.empty(); ++k) copy_case(k);
}

void Planner::copy_case(size_t k) {
  const Site& site = anatomy_.sites[copies_[k].site];
  if (site.kind != Site::Kind::kCopy) return fail_proof("'copies' names what is no copy");
  const View view{{}, {}, true};
  const Uses facts = uses(find("copies", ""), view, k);
  add(case_name("final own block", copies_, k), [=, this](Query& q) {
    const Instance instance = unknowns(q, view);
    assume(q, facts, instance);
    append(q.hypotheses, applies(q, copies_, k, instance));
    const Instance copier = chosen(q, copies_[k], instance, instance.rank);
    const Polynomial from = q.logic.number(*site.block, copier),
                     own = anatomy_.gathers ? Polynomial::constant(0) : instance.rank;
    std::vector<z3::expr> goals = along(q, site.path, copier);
    goals.push_back(q.logic.equal(from, own));
    goals.push_back(q.logic.equal(q.logic.number(site.second_block, copier), instance.rank));
    show(q, {}, goals, q.logic.less(from, own));
  });
}

// What an instance receives, or copies, that one does which `cover`, or `copies`, names.
void Planner::once(size_t i) {
  const Site& site = anatomy_.sites[i];
  const std::string name = "once " + site_name(site);
  View view = view_of_site(site);
  const bool copies = site.kind == Site::Kind::kCopy, asks_byte = anatomy_.gathers && !copies;
  if (asks_byte) {
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
    const Value arrives = value(q, i, instance);
    Instance asked{instance.rank, {}};
    if (!copies) asked.variables = {arrives.contributor, instance.rank};
    if (asks_byte) {
      append(q.hypotheses, has_byte(q, arrives, instance.variables.back()));
      asked.variables.push_back(instance.variables.back());
    }
    const z3::expr named = names_instance(q, copies ? copies_ : cover_, asked, i, instance);
    show(q, {}, {named}, !named);
  });
}

}  // namespace quadrille::verifier
