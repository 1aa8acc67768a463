// At the end every byte of every receive block is what the collective requires (final). No data is written where it is
// already, or sent twice (once). All data that is written to be sent on is read (used). A reduction combines data of
// adjacent ranks (combine). Tested with the obligations (planner.cc).
#include "verifier/prove/planner.h"

namespace quadrille::verifier {
namespace {

// A block of the receive buffer at a rank (target), and the span that the collective requires there.
struct Ends {
  Polynomial block;
  Instance target;
  Span wanted;
};

Ends ends_of(const Planner& p, Query& q, const Instance& asked) {
  const bool sources = p.contract.has_sources();
  Ends ends{sources ? asked.variables[0] : Polynomial{},
            {asked.group, asked.variables[sources ? 1 : 0], {}},
            {}};
  ends.wanted = p.contract.required(q, ends.block, ends.target);
  return ends;
}

// Returns the condition that the block comes from the rank itself.
z3::expr is_own(Query& q, const Ends& ends) { return q.equal(ends.wanted.first, ends.target.rank); }

void assume_ends(const Planner& p, Query& q, const Instance& asked) {
  const Ends ends = ends_of(p, q, asked);
  if (!p.contract.is_barrier())
    q.suppose(p.contract.has_block(q, Buffer::kReceive, ends.block, ends.target));
  in_range(q, ends.target);
  if (p.contract.has_own()) q.suppose(!is_own(q, ends));
  if (p.contract.has_lengths())
    q.suppose(within(q, asked.variables.back(), p.contract.length(q, ends.wanted)));
  if (p.contract.is_barrier()) q.suppose(!p.is_own_token(q, ends.target, asked.variables.back()));
}

// Supposes that the rank contributes a block to itself.
void assume_own(const Planner& p, Query& q, const Instance& instance) {
  const Polynomial block = p.contract.has_sources() ? instance.rank : Polynomial{};
  q.suppose(p.contract.has_block(q, Buffer::kReceive, block, instance));
  if (rooted(p.program.collective)) q.suppose(q.equal(instance.rank, q.root()));
}

void cover_case(Planner& p, size_t k) {
  const size_t i = p.cover[k].site;
  const Site& site = p.sites[i];
  if (!site.to || site.to->buffer != Buffer::kReceive)
    p.fail_choice(p.cover[k], "'cover' names what writes nothing to the receive buffer");
  const View view = p.with_contributor(p.ends_view());
  const Uses facts = p.uses(p.find("cover"), view, k);
  p.add(case_name("final", p.cover, k), [=, &p](Query& q) {
    const Instance unknowns = p.unknowns(q, view);
    const auto [asked, contributor] = p.apart_from_contributor(q, unknowns);
    assume_ends(p, q, asked);
    assume(q, facts, unknowns);
    q.suppose(applies(q, p.cover, k, asked));
    const Ends ends = ends_of(p, q, asked);
    const Instance there = chosen(q, p.cover[k], asked, ends.target.rank);
    std::vector<z3::expr> goals = along(q, site.path, there);
    const z3::expr block = q.equal(q.number(site.to->block, there), ends.block);
    goals.push_back(block);
    if (p.contract.reduces()) {
      const Span arrives = p.span(q, i, there);
      goals.push_back(q.truth(arrives.group == ends.wanted.group));
      goals.push_back(p.by_conditions ? arrives.has(contributor)
                                      : q.equal(arrives.number, ends.wanted.number));
      goals.push_back(q.equal(arrives.block, ends.wanted.block));
      // If the operator commutes, a result of all ranks may begin at any rank. A scan's may not: it has only some.
      if (!p.program.commutative || p.contract.scans())
        goals.push_back(p.same_rank(q, arrives.group, arrives.first, ends.wanted.first));
    }
    if (p.contract.has_lengths())
      append(goals, p.has_byte(q, *site.to, i, there, asked.variables.back()));
    show(q, {}, goals, p.contract.has_own() ? is_own(q, ends) : !block);
  });
}

// Shows that any other write there completes before the one that `cover` names, or leaves the same data.
void last_write(Planner& p, size_t i) {
  const Site& written = p.sites[i];
  const TwoSteps both = two_of(view_of(written), p.ends_view());
  const Uses facts = p.uses(p.find("cover"), both.view);
  p.add("final after " + site_name(written), both, written.path, facts,
        [=, &p](Query& q, const Instance& first, const Instance& asked) {
          assume_ends(p, q, asked);
          const Ends ends = ends_of(p, q, asked);
          std::vector<z3::expr> guards = {q.equal(first.rank, ends.target.rank)}, goals;
          append(guards, p.has_byte(q, *written.to, i, first, asked.variables.back()));
          for (size_t k = 0; k < p.cover.size(); ++k) {
            const Instance there = chosen(q, p.cover[k], asked, ends.target.rank);
            const size_t last = p.cover[k].site;
            goals.push_back(
                z3::implies(all(q, applies(q, p.cover, k, asked)),
                            p.leave_same(q, i, first, last, there) ||
                                p.written_before(q, written, first, p.sites[last], there)));
          }
          show(q, guards, goals);
        });
}

void copy_case(Planner& p, size_t k) {
  const Site& site = p.sites[p.copies[k].site];
  if (site.kind != Site::Kind::kCopy || site.from->buffer != Buffer::kSend ||
      site.to->buffer != Buffer::kReceive || site.from->range || site.to->range)
    p.fail_choice(p.copies[k],
                  "'copies' names what is no copy of a block from send to receive buffer");
  const View view{{}, {}, true};
  p.add(case_name("final own block", p.copies, k), {view, {}, p.uses(p.find("copies"), view, k)},
        [=, &p](Query& q, const Instance& instance) {
          assume_own(p, q, instance);
          q.suppose(applies(q, p.copies, k, instance));
          const Instance copier = chosen(q, p.copies[k], instance, instance.rank);
          const Polynomial from = q.number(site.from->block, copier),
                           to = q.number(site.to->block, copier),
                           own = p.contract.has_targets() ? instance.rank : Polynomial{};
          std::vector<z3::expr> goals = along(q, site.path, copier);
          goals.push_back(q.equal(from, own));
          goals.push_back(q.equal(to, p.contract.has_sources() ? instance.rank : Polynomial{}));
          show(q, {}, goals, q.less(from, own));
        });
}

void own_block(Planner& p) {
  const View view{{}, {}, true};
  p.exhaustive("final own block", p.copies, view, p.uses(p.find("copies"), view),
               [&p](Query& q, const Instance& instance) { assume_own(p, q, instance); });
  for (size_t k = 0; k < p.copies.size(); ++k) copy_case(p, k);
}

// For collectives that only move data: shows that `cover` or `copies` names every write to the receive buffer.
void once(Planner& p, size_t i) {
  const Site& site = p.sites[i];
  const std::string name = "once " + site_name(site);
  const Scene scene = p.scene(p.view_with_byte(site), site.path, "once", site_name(site));
  const Rewrites rewriting = p.rewrites(name, p.find("once", site_name(site)), scene);
  p.add(name, scene, [=, &p](Query& q, const Instance& instance) {
    apply_rewrites(q, rewriting, instance);
    const Polynomial block = q.number(site.to->block, instance);
    Instance asked{instance.group, {}, {instance.rank}}, written = instance;
    if (p.contract.has_sources()) asked.variables.insert(asked.variables.begin(), block);
    if (p.contract.has_lengths()) {
      q.suppose(p.has_byte(q, *site.to, i, instance, instance.variables.back()));
      asked.variables.push_back(instance.variables.back());
      written.variables.pop_back();
    }
    z3::expr named = names_instance(q, p.cover, asked, i, written);
    if (site.kind == Site::Kind::kCopy && p.contract.has_own()) {
      const z3::expr own = is_own(q, ends_of(p, q, asked));
      named = (!own && named) ||
              (own && names_instance(q, p.copies, {instance.group, instance.rank, {}}, i, written));
    }
    show(q, {}, {named}, !named);
  });
}

// In a call in place, block b of the send buffer and block b of the receive buffer are the same bytes. Shows that the
// program reads the first no later than it writes the second. `cover` names the write.
void sent_before_overwritten(Planner& p, size_t i) {
  const Site& site = p.sites[i];
  const std::string name = "apart " + site_name(site);
  const Scene scene = p.scene(view_of(site), site.path, "apart", site_name(site));
  const Rewrites rewriting = p.rewrites(name, p.find("apart", site_name(site)), scene);
  for (size_t k = 0; k < p.cover.size(); ++k)
    p.add(case_name(name, p.cover, k), scene, [=, &p](Query& q, const Instance& instance) {
      apply_rewrites(q, rewriting, instance);
      const Instance ends{
          instance.group, instance.rank, {q.number(site.from->block, instance), instance.rank}};
      const std::vector<z3::expr> guards = applies(q, p.cover, k, ends);
      const Instance write = chosen(q, p.cover[k], ends, instance.rank);
      const Site& arrives = p.sites[p.cover[k].site];
      const z3::expr late = p.over_before(q, arrives, write, site, instance);
      const auto in_same_step = [&] {
        Instance step = instance;
        step.variables.resize(p.anatomy.steps[site.step].variables.size());
        return same_instance(q, site.step == arrives.step, step, write);
      };
      z3::expr fine = p.over_before(q, site, instance, arrives, write);
      if (arrives.step >= 0 && site.step >= 0)
        fine = fine || in_same_step() ||
               q.less_equal(p.key(q, site.step, instance), p.key(q, arrives.step, write));
      q.goal = z3::implies(all(q, guards), fine);
      q.mutant = z3::implies(all(q, guards), late) && z3::implies(!all(q, guards), q.truth(false));
    });
}

// Shows that no two writes to a block have the same data. If blocks of an all-to-all pass through temporary blocks,
// no two reads of a rank from one buffer have the same data, either (obligations.h). With `contributors`, shows only
// that a receive which does not combine, and so may go straight to its place, is the only write there.
void once(Planner& p, size_t i, size_t j) {
  const Site &one = p.sites[i], &two = p.sites[j];
  const bool writes = one.to && two.to && one.to->buffer == two.to->buffer &&
                      !p.contract.is_constant(one.to->buffer);
  const bool relays = p.program.temporary_blocks != constant(0);
  const bool reads = relays && !p.contract.has_lengths() && one.from && two.from &&
                     one.from->buffer == two.from->buffer && one.from->buffer != Buffer::kReceive;
  if (!writes && !reads) return;
  const auto may_go_straight = [](const Site& site) {
    return site.kind == Site::Kind::kReceive && !site.combine;
  };
  if (p.by_conditions && !may_go_straight(one) && !may_go_straight(two)) return;
  const TwoSteps both = two_of(view_of(one), p.view_with_byte(two));
  const Uses facts = p.uses(p.find("once", site_name(two)), both.view);
  p.add("once " + site_name(one) + (i == j ? "" : " and " + site_name(two)), both, one.path, facts,
        [=, &p](Query& q, const Instance& first, const Instance& second) {
          std::vector<z3::expr> guards = along(q, two.path, second);
          if (p.contract.has_lengths()) {
            const Polynomial& byte = second.variables.back();
            append(guards, p.has_byte(q, *one.to, i, first, byte));
            append(guards, p.has_byte(q, *two.to, j, second, byte));
          }
          const z3::expr same_one = same_instance(q, i == j, first, second);
          if (!p.by_conditions)
            guards.push_back(p.same(q, p.span(q, i, first), p.span(q, j, second)));
          if (writes)
            guards.push_back(
                q.equal(q.number(one.to->block, first), q.number(two.to->block, second)));
          show(q, guards, {same_one}, i == j ? std::optional(!same_one) : std::nullopt);
        });
}

// Shows that data which is written to a block where it does not stay is read, and that the read names this write.
void used(Planner& p, size_t i) {
  const Site& site = p.sites[i];
  const int witness = p.used[i].size() == 1 ? 0 : -1;
  p.add("used " + site_name(site),
        p.scene(p.view_with_byte(site), {}, "used", site_name(site), witness),
        [=, &p](Query& q, const Instance& instance) {
          q.suppose(along(q, site.path, instance));
          Instance written = instance;
          written.variables.resize(site.variables.size());
          // The byte, if there is one, is the last variable of the reader, too.
          const auto with_byte = [&](Instance other) {
            if (p.contract.has_lengths()) other.variables.push_back(instance.variables.back());
            return other;
          };
          if (p.contract.has_lengths())
            q.suppose(p.has_byte(q, *site.to, i, instance, instance.variables.back()));
          z3::expr some = q.truth(false);
          for (size_t k = 0; k < p.used[i].size(); ++k) {
            const size_t j = p.used[i][k].site;
            const Instance reader = with_byte(chosen(q, p.used[i][k], instance, instance.rank));
            std::vector<z3::expr> reads = applies(q, p.used[i], k, instance);
            append(reads, along(q, p.sites[j].path, reader));
            for (const Reading reading : p.readings()) {
              if (reading.site != j) continue;
              std::vector<z3::expr> names = p.reads_byte(q, reading, reader);
              names.push_back(names_instance(q, p.writes_for(reading), reader, i, written));
              some = some || (all(q, reads) && all(q, names));
            }
          }
          if (site.to->buffer == Buffer::kReceive)  // or the data stays here
            some =
                some || names_instance(q, p.cover, with_byte({instance.group, {}, {instance.rank}}),
                                       i, written);
          show(q, {}, {some}, !some);
        });
}

// Data to be combined, and the conditions under which it is this data.
struct Coming {
  std::vector<z3::expr> guards;
  Span span;
};

// Returns the data that a receive gets, or that a reduction reads: from the send buffer, or from earlier writes.
std::vector<Coming> coming(const Planner& p, Query& q, size_t i, const Instance& instance) {
  const Site& site = p.sites[i];
  if (!site.is_message() && p.contract.is_constant(site.from->buffer))
    return {{{}, p.known_span(q, *site.from, instance)}};
  const WitnessChoices& sources = site.is_message() ? p.matches[i] : p.held[i];
  std::vector<Coming> result;
  for (size_t k = 0; k < sources.size(); ++k) {
    const Instance source = site.is_message() ? at_peer(q, sources[k], site, instance)
                                              : chosen(q, sources[k], instance, instance.rank);
    result.push_back({applies(q, sources, k, instance), p.span(q, sources[k].site, source)});
  }
  return result;
}

// Returns the conditions that two spans are the sides of a canonical tree (schedule/program.h): the first has h
// ranks, and the second at most h. h is a power of two if it equals the entry of the table that locate() finds for h.
std::vector<z3::expr> are_sides_of_tree(const Planner& p, Query& q, const Span& first,
                                        const Span& others) {
  const Logic::TableOf powers{*p.powers_of_two(), first.group};
  const Polynomial found = q.located(powers, first.number);
  return {q.less_equal({}, found), q.equal(q.element(powers, found), first.number),
          q.less_equal(others.number, first.number)};
}

// Returns the conditions that combining the two spans leaves the span `left`.
std::vector<z3::expr> combined(const Planner& p, Query& q, Side side, const Span& comes,
                               const Span& is_there, const Span& left,
                               const Polynomial& contributor) {
  const std::vector<z3::expr> of_one_block = {
      q.truth(comes.group == left.group && is_there.group == left.group),
      q.equal(comes.block, left.block), q.equal(is_there.block, left.block)};
  if (p.by_conditions) {
    const z3::expr in_one = comes.has(contributor), in_other = is_there.has(contributor);
    std::vector<z3::expr> goals = of_one_block;
    goals.push_back(!(in_one && in_other));
    goals.push_back(left.has(contributor) == (in_one || in_other));
    return goals;
  }
  const auto follows = [&](const Span& a, const Span& b) {
    return p.same_rank(q, left.group, left.first, a.first) &&
           p.same_rank(q, left.group, a.first + a.number, b.first);
  };
  z3::expr adjacent = side == Side::kLeft ? follows(comes, is_there) : follows(is_there, comes);
  if (p.program.commutative)
    adjacent =
        adjacent || (side == Side::kLeft ? follows(is_there, comes) : follows(comes, is_there));
  std::vector<z3::expr> goals = {adjacent};
  append(goals, of_one_block);
  goals.push_back(q.equal(left.number, comes.number + is_there.number));
  if (p.program.canonical)
    append(goals, side == Side::kLeft ? are_sides_of_tree(p, q, comes, is_there)
                                      : are_sides_of_tree(p, q, is_there, comes));
  return goals;
}

// Shows that the arriving data and the data already there come from adjacent ranks, on the stated side, or on either
// if the operator commutes, and that the result has both. If the program claims canonical sums, they are the two
// sides of a canonical tree. With `contributors`, shows that no rank has contributed to both.
void combine(Planner& p, size_t i) {
  const Site& site = p.sites[i];
  if (p.program.canonical && !p.powers_of_two())
    p.fail_proof(
        "'sums canonical' is proven with a table of powers(2, ...), which the program lacks");
  p.add("combine " + site_name(site),
        p.scene(p.with_contributor(p.view_with_byte(site)), {}, "combine", site_name(site)),
        [=, &p](Query& q, const Instance& unknowns) {
          const auto [instance, contributor] = p.apart_from_contributor(q, unknowns);
          p.assume_reading(q, {i, true}, instance);
          const Span left = p.span(q, i, instance);
          std::vector<z3::expr> goals, less;
          for (const Coming& comes : coming(p, q, i, instance))
            for (size_t b = 0; b < p.base[i].size(); ++b) {
              std::vector<z3::expr> guards = comes.guards;
              append(guards, applies(q, p.base[i], b, instance));
              const Instance before = chosen(q, p.base[i][b], instance, instance.rank);
              const Span is_there = p.span(q, p.base[i][b].site, before);
              for (const z3::expr& goal :
                   combined(p, q, *site.combine, comes.span, is_there, left, contributor))
                goals.push_back(z3::implies(all(q, guards), goal));
              less.push_back(z3::implies(all(q, guards),
                                         p.by_conditions
                                             ? left.has(contributor) == comes.span.has(contributor)
                                             : q.equal(left.number, comes.span.number)));
            }
          show(q, {}, goals, all(q, less));
        });
}

}  // namespace

void plan_values(Planner& p) {
  p.exhaustive("final", p.cover, p.ends_view(), p.uses(p.find("cover"), p.ends_view()),
               [&p](Query& q, const Instance& asked) { assume_ends(p, q, asked); });
  for (size_t k = 0; k < p.cover.size(); ++k) cover_case(p, k);
  for (size_t i = 0; i < p.sites.size() && p.contract.reduces(); ++i)
    if (p.sites[i].to && p.sites[i].to->buffer == Buffer::kReceive) last_write(p, i);
  if (p.contract.has_own()) own_block(p);
  for (size_t i = 0; i < p.sites.size(); ++i) {
    const Site& site = p.sites[i];
    if ((site.from || site.to) && !site.is_message()) plan_piece(p, i);
    if (site.to && p.contract.is_constant(site.to->buffer)) once(p, i);
    if (site.combine) combine(p, i);
    if (p.is_to_be_used(site)) used(p, i);
    const bool is_sent = site.kind == Site::Kind::kSend;
    const bool is_kept = site.to && site.to->buffer == Buffer::kTemporary;
    if (p.program.in_place && site.from && site.from->buffer == Buffer::kSend &&
        (is_sent || is_kept))
      sent_before_overwritten(p, i);
  }
  plan_readings(p);
  for (size_t i = 0; i < p.sites.size(); ++i)
    for (size_t j = i; j < p.sites.size(); ++j) once(p, i, j);
}

}  // namespace quadrille::verifier
