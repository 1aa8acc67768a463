// At the end every byte of every receive block is what the collective requires (final). No data is written where it is
// already, nor forwarded twice (once). Everything that is forwarded is used (used). A reduction combines neighbors
// (combine). Tested with the obligations (planner.cc).
#include <fmt/format.h>

#include <algorithm>

#include "verifier/prove/planner.h"

namespace quadrille::verifier {

// The ranks that a block comes from and goes to, or, where the operator combines all, that alone; and, where
// blocks have lengths, a byte of it.
View Planner::ends_view() const {
  View view{{"target"}, {}, false};
  if (contract_.has_sources()) view.unknowns.insert(view.unknowns.begin(), "source");
  if (contract_.has_lengths()) view.unknowns.emplace_back(kByte);
  return view;
}

Planner::Ends Planner::ends(Query& q, const Instance& asked) const {
  const bool sources = contract_.has_sources();
  Ends ends{sources ? asked.variables[0] : Polynomial{},
            {asked.group, asked.variables[sources ? 1 : 0], {}},
            {}};
  ends.wanted = contract_.required(q, ends.block, ends.target);
  return ends;
}

void Planner::assume_ends(Query& q, const Instance& asked) const {
  const Ends ends = this->ends(q, asked);
  if (!contract_.is_barrier())
    q.hypotheses.push_back(contract_.has_block(q, Buffer::kReceive, ends.block, ends.target));
  in_range(q, ends.target);
  if (contract_.has_own()) q.hypotheses.push_back(!is_own(q, ends));
  if (contract_.has_lengths())
    append(q.hypotheses, within(q, asked.variables.back(), contract_.length(q, ends.wanted)));
  if (contract_.is_barrier())
    q.hypotheses.push_back(!is_own_token(q, ends.target, asked.variables.back()));
}

// Whether a rank contributes it to itself.
z3::expr Planner::is_own(Query& q, const Ends& ends) {
  return q.equal(ends.wanted.first, ends.target.rank);
}

// A rank that has a block of its own.
void Planner::assume_own(Query& q, const Instance& instance) const {
  const Polynomial block = contract_.has_sources() ? instance.rank : Polynomial{};
  q.hypotheses.push_back(contract_.has_block(q, Buffer::kReceive, block, instance));
  if (rooted(program_.collective)) q.hypotheses.push_back(q.equal(instance.rank, q.root()));
}

void Planner::cover() {
  exhaustive("final", cover_, ends_view(), uses(find("cover", ""), ends_view()),
             [this](Query& q, const Instance& asked) { assume_ends(q, asked); });
  for (size_t k = 0; k < cover_.size() && error_.empty(); ++k) cover_case(k);
  for (size_t i = 0; i < anatomy_.sites.size() && contract_.reduces() && error_.empty(); ++i)
    if (anatomy_.sites[i].to && anatomy_.sites[i].to->buffer == Buffer::kReceive) last_write(i);
}

void Planner::cover_case(size_t k) {
  const size_t i = cover_[k].site;
  const Site& site = anatomy_.sites[i];
  if (!site.to || site.to->buffer != Buffer::kReceive)
    return fail_proof("'cover' names what writes nothing to the receive buffer");
  const Uses facts = uses(find("cover", ""), ends_view(), k);
  add(case_name("final", cover_, k), [=, this](Query& q) {
    const Instance asked = unknowns(q, ends_view());
    assume_ends(q, asked);
    assume(q, facts, asked);
    append(q.hypotheses, applies(q, cover_, k, asked));
    const Ends ends = this->ends(q, asked);
    Instance there = chosen(q, cover_[k], asked, ends.target.rank);
    std::vector<z3::expr> goals = along(q, site.path, there);
    const z3::expr block = q.equal(q.number(site.to->block, there), ends.block);
    goals.push_back(block);
    if (contract_.reduces()) {
      const Span arrives = span(q, i, there);
      goals.push_back(q.truth(arrives.group == ends.wanted.group));
      goals.push_back(q.equal(arrives.number, ends.wanted.number));
      goals.push_back(q.equal(arrives.block, ends.wanted.block));
      // A sum of all may begin anywhere where the operator commutes; a scan's is of some.
      if (!program_.commutative || contract_.scans())
        goals.push_back(same_rank(q, arrives.group, arrives.first, ends.wanted.first));
    }
    if (contract_.has_lengths())
      append(goals, has_byte(q, *site.to, i, there, asked.variables.back()));
    show(q, {}, goals, contract_.has_own() ? is_own(q, ends) : !block);
  });
}

// Any other write there is over before the one that `cover` names, or leaves the same.
void Planner::last_write(size_t i) {
  const Site& written = anatomy_.sites[i];
  const TwoSteps both = two_of(view_of_site(written), ends_view(), 0, true);
  const Uses facts = uses(find("cover", ""), both.view);
  add(fmt::format("final after {}", site_name(written)), [=, this](Query& q) {
    const auto [first, asked] = two_at(q, both, written.path, facts);
    assume_ends(q, asked);
    const Ends ends = this->ends(q, asked);
    std::vector<z3::expr> guards = {q.equal(first.rank, ends.target.rank)}, goals;
    append(guards, has_byte(q, *written.to, i, first, asked.variables.back()));
    for (size_t k = 0; k < cover_.size(); ++k) {
      const Instance there = chosen(q, cover_[k], asked, ends.target.rank);
      const size_t last = cover_[k].site;
      goals.push_back(
          z3::implies(all(q, applies(q, cover_, k, asked)),
                      same(q, span(q, i, first), span(q, last, there)) ||
                          written_before(q, written, first, anatomy_.sites[last], there)));
    }
    show(q, guards, goals);
  });
}

void Planner::copies() {
  const View view{{}, {}, true};
  exhaustive("final own block", copies_, view, uses(find("copies", ""), view),
             [this](Query& q, const Instance& instance) { assume_own(q, instance); });
  for (size_t k = 0; k < copies_.size() && error_.empty(); ++k) copy_case(k);
}

void Planner::copy_case(size_t k) {
  const Site& site = anatomy_.sites[copies_[k].site];
  if (site.kind != Site::Kind::kCopy || site.from->buffer != Buffer::kSend ||
      site.to->buffer != Buffer::kReceive || site.from->range || site.to->range)
    return fail_proof("'copies' names what is no copy of a block from send to receive buffer");
  const View view{{}, {}, true};
  const Uses facts = uses(find("copies", ""), view, k);
  add(case_name("final own block", copies_, k), [=, this](Query& q) {
    const Instance instance = unknowns(q, view);
    assume(q, facts, instance);
    assume_own(q, instance);
    append(q.hypotheses, applies(q, copies_, k, instance));
    const Instance copier = chosen(q, copies_[k], instance, instance.rank);
    const Polynomial from = q.number(site.from->block, copier),
                     to = q.number(site.to->block, copier),
                     own = contract_.has_targets() ? instance.rank : Polynomial{};
    std::vector<z3::expr> goals = along(q, site.path, copier);
    goals.push_back(q.equal(from, own));
    goals.push_back(q.equal(to, contract_.has_sources() ? instance.rank : Polynomial{}));
    show(q, {}, goals, q.less(from, own));
  });
}

// What comes into the receive buffer, where data only moves, that `cover`, or `copies`, names.
void Planner::once(size_t i) {
  const Site& site = anatomy_.sites[i];
  const std::string name = "once " + site_name(site);
  const View view = view_with_byte(site);
  const ProofStatement* statement = find("once", site_name(site));
  const Uses facts = uses(statement, view);
  const Rewrites rewriting = rewrites(name, statement, site, view, facts);
  add(name, [=, this](Query& q) {
    const Instance instance = unknowns_at(q, view, site.path, facts);
    apply_rewrites(q, rewriting, instance);
    const Polynomial block = q.number(site.to->block, instance);
    Instance asked{instance.group, {}, {instance.rank}}, written = instance;
    if (contract_.has_sources()) asked.variables.insert(asked.variables.begin(), block);
    if (contract_.has_lengths()) {
      append(q.hypotheses, has_byte(q, *site.to, i, instance, instance.variables.back()));
      asked.variables.push_back(instance.variables.back());
      written.variables.pop_back();
    }
    z3::expr named = names_instance(q, cover_, asked, i, written);
    if (site.kind == Site::Kind::kCopy && contract_.has_own()) {
      const z3::expr own = is_own(q, ends(q, asked));
      named = (!own && named) ||
              (own && names_instance(q, copies_, {instance.group, instance.rank, {}}, i, written));
    }
    show(q, {}, {named}, !named);
  });
}

// In a call in place, block b of the send buffer and block b of the receive buffer are the same bytes. So the program
// reads the one no later than it writes the other; `cover` says where it writes.
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
      const Instance ends{
          instance.group, instance.rank, {q.number(site.from->block, instance), instance.rank}};
      const std::vector<z3::expr> guards = applies(q, cover_, k, ends);
      const Instance write = chosen(q, cover_[k], ends, instance.rank);
      const Site& arrives = anatomy_.sites[cover_[k].site];
      const z3::expr late = over_before(q, arrives, write, site, instance);
      z3::expr fine = over_before(q, site, instance, arrives, write);
      if (arrives.step >= 0 && site.step >= 0)
        fine = fine || same_step(q, site.step, instance, arrives.step, write) ||
               q.less_equal(key(q, site.step, instance), key(q, arrives.step, write));
      q.goal = z3::implies(all(q, guards), fine);
      q.mutant = z3::implies(all(q, guards), late) && z3::implies(!all(q, guards), q.truth(false));
    });
}

// ---- What is forwarded

// No two writes to the blocks of one buffer are of the same data. Nor are two sends of a rank from one buffer, if
// nothing else says how often each piece is sent: each piece that is written there is forwarded.
void Planner::once(size_t i, size_t j) {
  const Site &one = anatomy_.sites[i], &two = anatomy_.sites[j];
  const bool writes = one.to && two.to && one.to->buffer == two.to->buffer &&
                      !contract_.is_constant(one.to->buffer);
  const bool relays = program_.temporary_blocks != quadrille::constant(0);
  const bool sends = relays && !contract_.has_lengths() && one.kind == Site::Kind::kSend &&
                     two.kind == Site::Kind::kSend && one.from && two.from &&
                     one.from->buffer == two.from->buffer && one.from->buffer != Buffer::kReceive;
  if (!writes && !sends) return;
  const TwoSteps both = two_pieces(view_of_site(one), view_with_byte(two));
  const Uses facts = uses(find("once", site_name(two)), both.view);
  add(i == j ? fmt::format("once {}", site_name(one))
             : fmt::format("once {} and {}", site_name(one), site_name(two)),
      [=, this](Query& q) {
        const auto [first, second] = two_at(q, both, one.path, facts);
        std::vector<z3::expr> guards = along(q, two.path, second);
        if (contract_.has_lengths()) {
          const Polynomial& byte = second.variables.back();
          append(guards, has_byte(q, *one.to, i, first, byte));
          append(guards, has_byte(q, *two.to, j, second, byte));
        }
        const z3::expr same_one = same_instance(q, i == j, first, second);
        guards.push_back(same(q, span(q, i, first), span(q, j, second)));
        if (writes)
          guards.push_back(
              q.equal(q.number(one.to->block, first), q.number(two.to->block, second)));
        i == j ? show(q, guards, {same_one}, !same_one) : show(q, guards, {same_one});
      });
}

// Every piece that is written where it does not stay is read: a reading names it.
void Planner::used(size_t i) {
  const Site& site = anatomy_.sites[i];
  const View view = view_with_byte(site);
  const ProofStatement* statement = find("used", site_name(site));
  const Uses facts = uses(statement, view, used_[i].size() == 1 ? 0 : -1);
  add("used " + site_name(site), [=, this](Query& q) {
    const Instance instance = unknowns(q, view);
    assume(q, facts, instance);
    append(q.hypotheses, along(q, site.path, instance));
    Instance written = instance;
    written.variables.resize(site.variables.size());
    // The byte, where there is one, is the last variable of the reader too.
    const auto with_byte = [&](Instance other) {
      if (contract_.has_lengths()) other.variables.push_back(instance.variables.back());
      return other;
    };
    if (contract_.has_lengths())
      append(q.hypotheses, has_byte(q, *site.to, i, instance, instance.variables.back()));
    z3::expr some = q.truth(false);
    for (size_t k = 0; k < used_[i].size(); ++k) {
      const size_t j = used_[i][k].site;
      const Instance reader = with_byte(chosen(q, used_[i][k], instance, instance.rank));
      std::vector<z3::expr> reads = applies(q, used_[i], k, instance);
      append(reads, along(q, anatomy_.sites[j].path, reader));
      for (const Reading reading : readings()) {
        if (reading.site != j) continue;
        std::vector<z3::expr> names = reads_byte(q, reading, reader);
        names.push_back(names_instance(q, writes_for(reading), reader, i, written));
        some = some || (all(q, reads) && all(q, names));
      }
    }
    if (site.to->buffer == Buffer::kReceive)  // what stays
      some = some || names_instance(q, cover_, with_byte({instance.group, {}, {instance.rank}}), i,
                                    written);
    show(q, {}, {some}, !some);
  });
}

// Received data and the data there are contributions of neighbors, on the stated side, or on either side if the
// operator commutes. The result is both.
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
        less.push_back(z3::implies(all(q, guards), q.equal(left.number, comes.span.number)));
      }
    show(q, {}, goals, all(q, less));
  });
}

// What is sent, or what a reduction reads: of the send buffer, or written before.
std::vector<Planner::Coming> Planner::coming(Query& q, size_t i, const Instance& instance) const {
  const Site& site = anatomy_.sites[i];
  if (!site.is_message() && contract_.is_constant(site.from->buffer))
    return {
        {{},
         contract_.known(q, site.from->buffer, q.number(site.from->block, instance), instance)}};
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
  return {adjacent, q.truth(comes.group == left.group && is_there.group == left.group),
          q.equal(comes.block, left.block), q.equal(is_there.block, left.block),
          q.equal(left.number, comes.number + is_there.number)};
}

}  // namespace quadrille::verifier
