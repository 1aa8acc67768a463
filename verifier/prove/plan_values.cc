// Contents of pieces. An earlier write left the data that is read (held), and no other write overwrites it in between
// (apart). All collectives have the same obligations; only the contract differs. A barrier's tokens are like the
// bytes of an allgather. At the end every rank has the tokens of all ranks, directly or through others. So no rank
// leaves before all have entered. Tested with the obligations (planner.cc).
#include <algorithm>

#include "schedule/binding.h"
#include "verifier/prove/planner.h"

namespace quadrille::verifier {
namespace {

// Returns the conditions that the token is a number of a process in [low, high), modulo the number of processes.
std::vector<z3::expr> is_token(const Planner& p, Query& q, const Polynomial& low,
                               const Polynomial& high, const Polynomial& token) {
  const Polynomial number = p.contract.processes(q);
  const auto between = [&](const Polynomial& n) { return q.less_equal(low, n) && q.less(n, high); };
  std::vector<z3::expr> result = within(q, token, number);
  result.push_back(between(token) || between(token + number));
  return result;
}

z3::expr before_in_text(Query& q, const Site& earlier, const Instance& first, const Site& later,
                        const Instance& second) {
  const auto [end, unused] = std::mismatch(earlier.loops.begin(), earlier.loops.end(),
                                           later.loops.begin(), later.loops.end());
  z3::expr alike = q.truth(true), before = q.truth(false);
  for (size_t v = 0; v < static_cast<size_t>(end - earlier.loops.begin()); ++v) {
    before = before || (alike && q.less(first.variables[v], second.variables[v]));
    alike = alike && q.equal(first.variables[v], second.variables[v]);
  }
  return before || (alike && q.truth(earlier.position < later.position));
}

// Whether counting replaces `used` (obligations.h): in an all-to-all that reads nothing from the receive buffer.
bool is_counted(const Planner& p) {
  return !p.contract.has_lengths() &&
         std::none_of(p.sites.begin(), p.sites.end(), [](const Site& site) {
           return site.from && site.from->buffer == Buffer::kReceive;
         });
}

}  // namespace

bool Planner::own_is_there() const {
  const Copy* first =
      program.body.empty() ? nullptr : std::get_if<Copy>(&program.body.front().kind);
  return contract.has_own() && contract.has_lengths() && first &&
         first->from.buffer == Buffer::kSend && first->to.buffer == Buffer::kReceive &&
         !first->from.range && !first->to.range && first->to.block == leaf(Operator::kRank);
}

// ---- The order of reads and writes

std::vector<z3::expr> Planner::over_before(Query& q, int earlier_step, const Instance& earlier,
                                           int later_step, const Instance& later) const {
  const Polynomial over = key(q, earlier_step, earlier);
  std::vector<z3::expr> result = {q.less(over, key(q, later_step, later))};
  if (const auto& after = anatomy.steps[later_step].after)
    result.push_back(q.less_equal(over, q.number(*after, later)));
  return result;
}

// Steps start in the order of their keys, and several may be in progress. A statement between steps waits for all
// steps before it, and all steps after it wait for it.
z3::expr Planner::over_before(Query& q, const Site& earlier, const Instance& first,
                              const Site& later, const Instance& second) const {
  if (earlier.step < 0 || later.step < 0) return before_in_text(q, earlier, first, later, second);
  return all(q, over_before(q, earlier.step, first, later.step, second));
}

// Within a step, copies and reductions write first, in the order of the text. Then receives write, in the same order.
z3::expr Planner::written_before(Query& q, const Site& earlier, const Instance& first,
                                 const Site& later, const Instance& second) const {
  z3::expr before = over_before(q, earlier, first, later, second);
  if (earlier.step < 0 || earlier.step != later.step) return before;
  const bool in_loops = earlier.variables.size() > earlier.loops.size() &&
                        later.variables.size() > later.loops.size();
  const bool in_order = earlier.is_message() == later.is_message()
                            ? earlier.index < later.index && !in_loops
                            : later.is_message();
  return before ||
         (q.truth(in_order) && q.equal(key(q, earlier.step, first), key(q, later.step, second)));
}

// ---- Contents of pieces

View Planner::view_with_byte(const Site& site) const {
  View view = view_of(site);
  if (contract.has_lengths()) view.unknowns.emplace_back(kByte);
  return view;
}

const Access* Planner::constant_access(const Site& site) const {
  if (site.combine) return nullptr;
  if (site.to && contract.is_constant(site.to->buffer)) return &*site.to;
  if (site.from && contract.is_constant(site.from->buffer)) return &*site.from;
  return nullptr;
}

Span Planner::known_span(Query& q, const Access& access, const Instance& instance) const {
  Span known = contract.known(q, access.buffer, q.number(access.block, instance), instance);
  if (by_conditions)
    known.has = [&q, first = known.first](const Polynomial& rank) { return q.equal(rank, first); };
  return known;
}

// The collective says what blocks of a constant buffer hold. The proof (`carries`) says what other blocks hold.
Span Planner::span(Query& q, size_t i, const Instance& instance) const {
  const Site& site = sites[i];
  if (const Access* access = constant_access(site)) return known_span(q, *access, instance);
  const Carried& carried = *carries[i];
  if (by_conditions) {
    Instance asked = instance;
    asked.variables.resize(site.variables.size());
    asked.variables.emplace_back();
    return {instance.group,
            {},
            {},
            q.number(carried.target, instance),
            [&q, &carried, asked](const Polynomial& rank) {
              Instance of_rank = asked;
              of_rank.variables.back() = rank;
              return q.condition(*carried.contributors, of_rank);
            }};
  }
  return {carried.remote ? 1 - instance.group : instance.group, q.number(carried.source, instance),
          q.number(carried.number, instance), q.number(carried.target, instance)};
}

std::pair<Polynomial, Polynomial> Planner::extent(Query& q, const Access& access, size_t i,
                                                  const Instance& instance) const {
  if (contract.is_barrier()) {
    const Polynomial source = q.number(carries[i]->source, instance);
    return {source, source + q.number(carries[i]->number, instance)};
  }
  if (!access.range) return {{}, contract.length(q, span(q, i, instance))};
  return {q.number(access.range->low, instance), q.number(access.range->high, instance)};
}

z3::expr Planner::same_rank(Query& q, int group, const Polynomial& a, const Polynomial& b) const {
  z3::expr same = q.equal(a, b);
  if (!contract.reduces()) return same;
  const Polynomial all = q.ranks(group);
  return same || q.equal(a + all, b) || q.equal(a, b + all);
}

z3::expr Planner::same(Query& q, const Span& a, const Span& b,
                       const Polynomial& contributor) const {
  const z3::expr alike = q.truth(a.group == b.group) && q.equal(a.block, b.block);
  if (by_conditions) return alike && a.has(contributor) == b.has(contributor);
  return alike && same_rank(q, a.group, a.first, b.first) && q.equal(a.number, b.number);
}

z3::expr Planner::leave_same(Query& q, size_t i, const Instance& first, size_t j,
                             const Instance& second) const {
  if (by_conditions) return same_instance(q, i == j, first, second);
  return same(q, span(q, i, first), span(q, j, second));
}

View Planner::with_contributor(View view) const {
  if (by_conditions) view.unknowns.emplace_back(kContributor);
  return view;
}

std::pair<Instance, Polynomial> Planner::apart_from_contributor(Query& q, Instance all) const {
  if (!by_conditions) return {all, {}};
  const Polynomial contributor = all.variables.back();
  all.variables.pop_back();
  q.suppose(within(q, contributor, q.ranks(all.group)));
  return {all, contributor};
}

std::vector<z3::expr> Planner::has_byte(Query& q, const Access& access, size_t i,
                                        const Instance& instance, const Polynomial& byte) const {
  const auto [low, high] = extent(q, access, i, instance);
  if (contract.is_barrier()) return is_token(*this, q, low, high, byte);
  return {q.less_equal(low, byte), q.less(byte, high)};
}

std::optional<int64_t> Planner::powers_of_two() const {
  const auto is_one = [](const Table& table) {
    return table.kind == TableKind::kPowers && table.first == constant(2);
  };
  const auto found = std::find_if(program.tables.begin(), program.tables.end(), is_one);
  return found == program.tables.end() ? std::nullopt
                                       : std::optional(found - program.tables.begin());
}

bool Planner::is_to_be_used(const Site& site) const {
  return site.to && !contract.is_constant(site.to->buffer) && !is_counted(*this);
}

// ---- Data that is read

// Returns all reads of data that the program itself wrote.
std::vector<Reading> Planner::readings() const {
  std::vector<Reading> result;
  for (size_t i = 0; i < sites.size(); ++i) {
    const Site& site = sites[i];
    if (site.from && site.from->buffer != Buffer::kSend) result.push_back({i, false});
    if (site.combine) result.push_back({i, true});
  }
  return result;
}

View Planner::ends_view() const {
  View view{{"target"}, {}, false};
  if (contract.has_sources()) view.unknowns.insert(view.unknowns.begin(), "source");
  if (contract.has_lengths()) view.unknowns.emplace_back(kByte);
  return view;
}

// Returns the conditions that the byte is read. An empty read must also have a write, whose length matters. Its byte
// is where the empty range begins. Messages are never empty if the program knows lengths (plan_piece()).
std::vector<z3::expr> Planner::reads_byte(Query& q, Reading reading,
                                          const Instance& instance) const {
  if (!contract.has_lengths()) return {};
  const Polynomial& byte = instance.variables.back();
  const auto [low, high] = extent(q, place(reading), reading.site, instance);
  if (contract.is_barrier()) return is_token(*this, q, low, high, byte);
  const z3::expr inside = q.less(byte, high);
  const bool may_be_empty = !sites[reading.site].is_message() || !uses_counts(program);
  return {q.less_equal(low, byte),
          may_be_empty ? inside || (q.equal(low, high) && q.equal(byte, low)) : inside};
}

void Planner::assume_reading(Query& q, Reading reading, const Instance& instance) const {
  const Access& access = place(reading);
  q.suppose(along(q, sites[reading.site].path, instance));
  q.suppose(reads_byte(q, reading, instance));
  if (access.buffer == Buffer::kReceive && own_is_there())
    q.suppose(!q.equal(q.number(access.block, instance), instance.rank));
  if (contract.is_barrier()) q.suppose(!is_own_token(q, instance, instance.variables.back()));
}

namespace {

// Shows that a message brings no token twice, and brings no rank its own.
void tokens(Planner& p, size_t i) {
  const Site& site = p.sites[i];
  p.add("defined tokens of " + site_name(site), p.scene_of_match(i),
        [=, &p](Query& q, const Instance& instance) {
          const auto [low, high] = p.extent(q, *site.moved(), i, instance);
          const Polynomial number = p.contract.processes(q);
          std::vector<z3::expr> goals = within(q, low, number);
          const z3::expr outside = !goals[0];
          goals.push_back(q.less_equal(low, high));
          goals.push_back(q.less_equal(high, low + number));
          if (site.kind == Site::Kind::kReceive)
            goals.push_back(!all(q, is_token(p, q, low, high, p.contract.process(q, instance))));
          show(q, {}, goals, outside);
        });
}

std::vector<z3::expr> in_buffers(const Planner& p, Query& q, const Site& site,
                                 const Instance& instance) {
  std::vector<z3::expr> result;
  for (const std::optional<Access>* access : {&site.from, &site.to})
    if (*access)
      result.push_back(p.contract.has_block(q, (*access)->buffer,
                                            q.number((*access)->block, instance), instance));
  return result;
}

std::vector<z3::expr> is_span(const Planner& p, Query& q, const Span& span,
                              const Polynomial& rank) {
  const Polynomial one = 1;
  std::vector<z3::expr> result =
      within(q, span.block, p.contract.has_targets() ? q.ranks(p.contract.other(span.group)) : one);
  if (p.by_conditions)  // a rank has contributed to all data that it has
    result.push_back(span.has(rank));
  else if (p.contract.reduces())
    result.push_back(q.less_equal(one, span.number));
  else
    append(result, within(q, span.first, q.ranks(span.group)));
  return result;
}

const char* kind_of(Reading reading) { return reading.base ? "base" : "held"; }

std::string name_of(const Planner& p, Reading reading) {
  return fmt::format("held {}{}", site_name(p.sites[reading.site]),
                     reading.base ? ", what is there" : "");
}

// Without a `held`, a send of a barrier brings no other token than its rank's own. Shows this.
void own_token(Planner& p, Reading reading) {
  const Site& site = p.sites[reading.site];
  const Scene scene = p.scene(p.view_with_byte(site), site.path, "match", site_name(site));
  p.add(name_of(p, reading), scene, [=, &p](Query& q, const Instance& instance) {
    q.suppose(p.reads_byte(q, reading, instance));
    const z3::expr own = p.is_own_token(q, instance, instance.variables.back());
    show(q, {}, {own}, !own);
  });
}

void check_that_it_writes(const Planner& p, Reading reading, const Choice& choice) {
  const Access& access = p.place(reading);
  const Site& written = p.sites[choice.site];
  const std::string name = name_of(p, reading);
  if (!written.to || written.to->buffer != access.buffer)
    p.fail_choice(choice, fmt::format("'{}' names what writes nothing there", name));
  // A temporary block is as long as the last data written to it, so a write of a part does not make a whole block.
  if (access.buffer == Buffer::kTemporary && !access.range && written.to->range)
    p.fail_choice(choice,
                  fmt::format("'{}': a whole block is read, of which a part was written", name));
}

void held_case(Planner& p, Reading reading, size_t k) {
  const Site& site = p.sites[reading.site];
  const Access& access = p.place(reading);
  const Choice& choice = p.writes_for(reading)[k];
  const Site& written = p.sites[choice.site];
  const std::string name = name_of(p, reading);
  check_that_it_writes(p, reading, choice);
  Scene scene = p.scene(p.with_contributor(p.view_with_byte(site)), site.path, kind_of(reading),
                        site_name(site), k);
  const Rewrites rewriting = p.rewrites(name, p.find(kind_of(reading), site_name(site)), scene);
  scene.path.clear();  // assume_reading() adds it
  p.add(case_name(name, p.writes_for(reading), k), scene,
        [=, &p](Query& q, const Instance& unknowns) {
          const auto [instance, contributor] = p.apart_from_contributor(q, unknowns);
          p.assume_reading(q, reading, instance);
          q.suppose(applies(q, p.writes_for(reading), k, instance));
          apply_rewrites(q, rewriting, unknowns);
          const Instance before = chosen(q, choice, instance, instance.rank);
          std::vector<z3::expr> goals = along(q, written.path, before);
          // For statements that combine, combine() takes the span from the write itself.
          if (!site.combine)
            goals.push_back(p.same(q, p.span(q, reading.site, instance),
                                   p.span(q, choice.site, before), contributor));
          goals.push_back(
              q.equal(q.number(access.block, instance), q.number(written.to->block, before)));
          if (p.contract.has_lengths()) {
            const Polynomial& byte = instance.variables.back();
            const auto [low, high] = p.extent(q, access, reading.site, instance);
            goals.push_back(z3::implies(
                q.less(low, high), all(q, p.has_byte(q, *written.to, choice.site, before, byte))));
          }
          // Receives combine one after another, in the order of the text. All other reads of a step come first.
          goals.push_back(reading.base && site.is_message()
                              ? p.written_before(q, written, before, site, instance)
                              : p.over_before(q, written, before, site, instance));
          show(q, {}, goals, p.over_before(q, site, instance, written, before));
        });
}

void held(Planner& p, Reading reading) {
  const Site& site = p.sites[reading.site];
  const Access& access = p.place(reading);
  const WitnessChoices& writes = p.writes_for(reading);
  const ProofStatement* statement = p.find(kind_of(reading), site_name(site));
  const View view = p.view_with_byte(site);
  if (writes.empty() && p.own_is_there() && access.buffer == Buffer::kReceive &&
      access.block == leaf(Operator::kRank))
    return;
  if (writes.empty() && p.contract.is_barrier()) return own_token(p, reading);
  if (writes.empty())
    p.fail_proof(fmt::format("the proof has no '{} {}'", kind_of(reading), site_name(site)));
  p.exhaustive(
      name_of(p, reading), writes, view, p.uses(statement, view),
      [=, &p](Query& q, const Instance& instance) { p.assume_reading(q, reading, instance); });
  for (size_t k = 0; k < writes.size(); ++k) held_case(p, reading, k);
}

// Returns the condition that a write does not touch the byte that is read. If a whole temporary block is read, the write
// must not lengthen it.
z3::expr stays(const Planner& p, Query& q, size_t i, const Instance& first, Reading reading,
               const Instance& second) {
  const Access &to = *p.sites[i].to, &access = p.place(reading);
  const bool temporary = access.buffer == Buffer::kTemporary;
  // A write of the whole block replaces all of it.
  if (!p.contract.has_lengths() || (temporary && !to.range)) return q.truth(false);
  z3::expr other = !all(q, p.has_byte(q, to, i, first, second.variables.back()));
  if (!temporary || access.range) return other;
  const auto length = [&](size_t site, const Instance& instance) {
    return p.contract.length(q, p.span(q, site, instance));
  };
  return other && q.less_equal(length(i, first), length(reading.site, second));
}

// Returns the condition that the read comes first in a step: sends, copies and reductions in turn, then receives.
z3::expr read_first_in_step(const Planner& p, Query& q, const Site& read, const Instance& second,
                            const Site& written, const Instance& first) {
  if (read.step < 0 || written.step < 0) return q.truth(false);
  if (!read.is_message() && !written.is_message())
    return p.written_before(q, read, second, written, first);
  return q.equal(p.key(q, read.step, second), p.key(q, written.step, first));
}

// Returns the condition that a write does not disturb a read. The choice names the write that the read needs.
z3::expr undisturbed(const Planner& p, Query& q, size_t i, const Instance& first, Reading reading,
                     const Instance& second, const Choice& choice) {
  const Site &written = p.sites[i], &read = p.sites[reading.site], &named = p.sites[choice.site];
  const Instance before = chosen(q, choice, second, second.rank);
  const z3::expr fine = p.over_before(q, read, second, written, first) ||
                        p.written_before(q, written, first, named, before);
  if (reading.base)
    return fine || p.written_before(q, read, second, written, first) ||
           same_instance(q, i == reading.site, first, second) ||
           same_instance(q, static_cast<int>(i) == choice.site, first, before);
  return fine || read_first_in_step(p, q, read, second, written, first) ||
         (i == reading.site && !read.is_message() ? same_instance(q, true, first, second)
                                                  : q.truth(false)) ||
         p.leave_same(q, i, first, choice.site, before);
}

// Takes a write and a read of one place at a rank. Shows one of these: the read completes before the write, or is in
// its step; the write completes before the write that the read needs; it writes the same data.
void apart(Planner& p, size_t i, Reading reading) {
  const Site &written = p.sites[i], &read = p.sites[reading.site];
  const Access& access = p.place(reading);
  const TwoSteps both = two_of(view_of(written), p.view_with_byte(read));
  const Uses facts = p.uses(p.find("apart", site_name(read)), both.view);
  p.add(fmt::format("apart {} and {}{}", site_name(written),
                    reading.base ? "what is combined by " : "", site_name(read)),
        both, written.path, facts,
        [=, &p](Query& q, const Instance& first, const Instance& second) {
          std::vector<z3::expr> guards = along(q, read.path, second), goals;
          guards.push_back(
              q.equal(q.number(written.to->block, first), q.number(access.block, second)));
          append(guards, p.reads_byte(q, reading, second));
          const z3::expr untouched = stays(p, q, i, first, reading, second);
          const WitnessChoices& writes = p.writes_for(reading);
          for (size_t k = 0; k < writes.size(); ++k)
            goals.push_back(
                z3::implies(all(q, applies(q, writes, k, second)),
                            untouched || undisturbed(p, q, i, first, reading, second, writes[k])));
          show(q, guards, goals);
        });
}

}  // namespace

void plan_piece(Planner& p, size_t i) {
  const Site& site = p.sites[i];
  if (p.contract.is_barrier()) return tokens(p, i);
  const Scene scene =
      site.is_message() ? p.scene_of_match(i) : p.scene(view_of(site), site.path, "defined");
  p.add("defined piece of " + site_name(site), scene, [=, &p](Query& q, const Instance& instance) {
    const Span carried = p.span(q, i, instance);
    const auto [low, high] = p.extent(q, site.to ? *site.to : *site.from, i, instance);
    std::vector<z3::expr> goals = in_buffers(p, q, site, instance);
    const z3::expr outside = !goals[0];
    if (!p.constant_access(site)) append(goals, is_span(p, q, carried, instance.rank));
    const bool travels = site.is_message() && p.contract.has_own() &&
                         (site.kind == Site::Kind::kReceive || p.contract.has_targets());
    const z3::expr own =
        q.equal(carried.first, p.contract.has_targets() ? carried.block : instance.rank);
    if (travels) goals.push_back(!own);
    goals.push_back(q.less_equal({}, low));
    // A program that uses counts sends no empty messages.
    goals.push_back(uses_counts(p.program) && site.is_message() ? q.less(low, high)
                                                                : q.less_equal(low, high));
    const Polynomial length = p.contract.length(q, carried);
    goals.push_back(q.less_equal(high, length));
    for (const std::optional<Access>* access : {&site.from, &site.to}) {
      if (!*access || (*access)->buffer != Buffer::kReceive || !p.contract.reduces()) continue;
      // Data on its way to the final result may have another length than the result. It must fit in the block.
      const Polynomial all = p.contract.length(
          q, p.contract.required(q, q.number((*access)->block, instance), instance));
      goals.push_back((*access)->range ? q.less_equal(high, all) : q.equal(length, all));
    }
    if (site.from && site.to) {
      const auto [from, to] = p.extent(q, *site.from, i, instance);
      goals.push_back(q.equal(from, low));
      goals.push_back(q.equal(to, high));
      // A copy from the send to the receive buffer must bring the data that the collective requires there.
      if (p.contract.is_constant(site.from->buffer) && p.constant_access(site) == &*site.to)
        goals.push_back(p.same(q, carried, p.known_span(q, *site.from, instance)));
    }
    show(q, {}, goals, travels ? own : outside);
  });
}

void plan_readings(Planner& p) {
  for (const Reading reading : p.readings()) held(p, reading);
  for (size_t i = 0; i < p.sites.size(); ++i)
    for (const Reading reading : p.readings()) {
      const Access& access = p.place(reading);
      if (p.sites[i].to && p.sites[i].to->buffer == access.buffer &&
          !p.contract.is_constant(access.buffer))
        apart(p, i, reading);
    }
}

}  // namespace quadrille::verifier
