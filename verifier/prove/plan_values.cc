// What pieces carry. Data that is read was written there before (held), and not overwritten in between (apart). The
// obligations are the same for all collectives; only the contract differs. A barrier's tokens are treated like the
// bytes of an allgather: at the end every rank has received the token of every other, directly or through others, so
// none leaves before all have entered. Tested with the obligations (planner.cc).
#include <fmt/format.h>

#include <algorithm>

#include "verifier/prove/planner.h"

namespace quadrille::verifier {

std::string Planner::name_of(Reading reading) const {
  return fmt::format("held {}{}", site_name(anatomy_.sites[reading.site]),
                     reading.base ? ", what is there" : "");
}

View Planner::view_with_byte(const Site& site) const {
  View view = view_of_site(site);
  if (contract_.has_lengths()) view.unknowns.emplace_back(kByte);
  return view;
}

const Access* Planner::constant_access(const Site& site) const {
  if (site.combine) return nullptr;
  if (site.to && contract_.is_constant(site.to->buffer)) return &*site.to;
  if (site.from && contract_.is_constant(site.from->buffer)) return &*site.from;
  return nullptr;
}

// The collective defines the blocks of a call's buffers, and the proof those of others.
Span Planner::span(Query& q, size_t i, const Instance& instance) const {
  const Site& site = anatomy_.sites[i];
  if (const Access* access = constant_access(site))
    return contract_.known(q, access->buffer, q.number(access->block, instance), instance);
  const Carried& carried = *carries_[i];
  return {carried.remote ? 1 - instance.group : instance.group, q.number(carried.source, instance),
          q.number(carried.number, instance), q.number(carried.target, instance)};
}

std::pair<Polynomial, Polynomial> Planner::extent(Query& q, const Access& access, size_t i,
                                                  const Instance& instance) const {
  if (contract_.is_barrier()) {
    const Polynomial source = q.number(carries_[i]->source, instance);
    return {source, source + q.number(carries_[i]->number, instance)};
  }
  if (!access.range) return {{}, contract_.length(q, span(q, i, instance))};
  return {q.number(access.range->low, instance), q.number(access.range->high, instance)};
}

z3::expr Planner::same_rank(Query& q, int group, const Polynomial& a, const Polynomial& b) const {
  z3::expr same = q.equal(a, b);
  if (!contract_.reduces()) return same;
  const Polynomial all = q.ranks(group);
  return same || q.equal(a + all, b) || q.equal(a, b + all);
}

z3::expr Planner::same(Query& q, const Span& a, const Span& b) const {
  return q.truth(a.group == b.group) && same_rank(q, a.group, a.first, b.first) &&
         q.equal(a.number, b.number) && q.equal(a.block, b.block);
}

std::vector<z3::expr> Planner::has_byte(Query& q, const Access& access, size_t i,
                                        const Instance& instance, const Polynomial& byte) const {
  const auto [low, high] = extent(q, access, i, instance);
  if (contract_.is_barrier()) return is_token(q, low, high, byte);
  return {q.less_equal(low, byte), q.less(byte, high)};
}

void Planner::values() {
  cover();
  if (contract_.has_own() && error_.empty()) copies();
  for (size_t i = 0; i < anatomy_.sites.size() && error_.empty(); ++i) {
    const Site& site = anatomy_.sites[i];
    if ((site.from || site.to) && !site.is_message()) piece(i);
    if (site.to && contract_.is_constant(site.to->buffer)) once(i);
    if (site.combine) combine(i);
    if (is_to_be_used(site)) used(i);
    const bool is_sent = site.kind == Site::Kind::kSend;
    const bool is_kept = site.to && site.to->buffer == Buffer::kTemporary;
    if (program_.in_place && site.from && site.from->buffer == Buffer::kSend &&
        (is_sent || is_kept))
      sent_before_overwritten(i);
  }
  for (const Reading reading : readings())
    if (error_.empty()) held(reading);
  for (size_t i = 0; i < anatomy_.sites.size() && error_.empty(); ++i)
    for (const Reading reading : readings()) {
      const Access& access = place(reading);
      if (anatomy_.sites[i].to && anatomy_.sites[i].to->buffer == access.buffer &&
          !contract_.is_constant(access.buffer))
        apart(i, reading);
    }
  for (size_t i = 0; i < anatomy_.sites.size() && error_.empty(); ++i)
    for (size_t j = i; j < anatomy_.sites.size() && error_.empty(); ++j) once(i, j);
}

// What reads where something was written.
std::vector<Planner::Reading> Planner::readings() const {
  std::vector<Reading> result;
  for (size_t i = 0; i < anatomy_.sites.size(); ++i) {
    const Site& site = anatomy_.sites[i];
    if (site.from && site.from->buffer != Buffer::kSend) result.push_back({i, false});
    if (site.combine) result.push_back({i, true});
  }
  return result;
}

// ---- In which order

z3::expr Planner::before_in_text(Query& q, const Site& earlier, const Instance& first,
                                 const Site& later, const Instance& second) const {
  const auto [end, unused] = std::mismatch(earlier.loops.begin(), earlier.loops.end(),
                                           later.loops.begin(), later.loops.end());
  z3::expr alike = q.truth(true), before = q.truth(false);
  for (size_t v = 0; v < static_cast<size_t>(end - earlier.loops.begin()); ++v) {
    before = before || (alike && q.less(first.variables[v], second.variables[v]));
    alike = alike && q.equal(first.variables[v], second.variables[v]);
  }
  return before || (alike && q.truth(earlier.position < later.position));
}

// Steps start in the order of their keys, and may be in flight together. A statement between steps waits for all steps
// before it, and all steps after wait for it.
z3::expr Planner::over_before(Query& q, const Site& earlier, const Instance& first,
                              const Site& later, const Instance& second) const {
  if (earlier.step < 0 || later.step < 0) return before_in_text(q, earlier, first, later, second);
  return all(q, over_before(q, earlier.step, first, later.step, second));
}

// Within a step the copies and reductions come first, then the receives, each kind in the order of the text.
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

// ---- What is read

// A piece lies within a block, and within its buffer; no rank receives its own.
void Planner::piece(size_t i) {
  const Site& site = anatomy_.sites[i];
  if (contract_.is_barrier()) return tokens(i);
  const View view = view_of_site(site);
  const Uses facts = site.is_message() ? uses(find("match", site_name(site)), view,
                                              matches_[i].size() == 1 ? 0 : -1)
                                       : uses(find("defined", ""), view);
  add("defined piece of " + site_name(site), [=, this](Query& q) {
    const Instance instance = unknowns_at(q, view, site.path, facts);
    const Span carried = span(q, i, instance);
    const auto [low, high] = extent(q, site.to ? *site.to : *site.from, i, instance);
    std::vector<z3::expr> goals = in_buffers(q, site, instance);
    const z3::expr outside = !goals[0];
    if (!constant_access(site)) append(goals, is_span(q, carried));
    const bool travels = site.is_message() && contract_.has_own() &&
                         (site.kind == Site::Kind::kReceive || contract_.has_targets());
    const z3::expr own =
        q.equal(carried.first, contract_.has_targets() ? carried.block : instance.rank);
    if (travels) goals.push_back(!own);
    goals.push_back(q.less_equal({}, low));
    // Where blocks have lengths, no empty message is sent.
    goals.push_back(uses_counts(program_) && site.is_message() ? q.less(low, high)
                                                               : q.less_equal(low, high));
    const Polynomial length = contract_.length(q, carried);
    goals.push_back(q.less_equal(high, length));
    for (const std::optional<Access>* access : {&site.from, &site.to}) {
      if (!*access || (*access)->buffer != Buffer::kReceive || !contract_.reduces()) continue;
      // What is not wanted there in the end may have another length.
      const Polynomial all = contract_.length(
          q, contract_.required(q, q.number((*access)->block, instance), instance));
      goals.push_back((*access)->range ? q.less_equal(high, all) : q.equal(length, all));
    }
    if (site.from && site.to) {
      const auto [from, to] = extent(q, *site.from, i, instance);
      goals.push_back(q.equal(from, low));
      goals.push_back(q.equal(to, high));
      // From one buffer of the call to another: what is there is wanted there.
      if (contract_.is_constant(site.from->buffer) && constant_access(site) == &*site.to)
        goals.push_back(same(
            q, carried,
            contract_.known(q, site.from->buffer, q.number(site.from->block, instance), instance)));
    }
    show(q, {}, goals, travels ? own : outside);
  });
}

std::vector<z3::expr> Planner::in_buffers(Query& q, const Site& site,
                                          const Instance& instance) const {
  std::vector<z3::expr> result;
  for (const std::optional<Access>* access : {&site.from, &site.to})
    if (*access)
      result.push_back(contract_.has_block(q, (*access)->buffer,
                                           q.number((*access)->block, instance), instance));
  return result;
}

std::vector<z3::expr> Planner::is_span(Query& q, const Span& span) const {
  const Polynomial one = 1;
  std::vector<z3::expr> result =
      within(q, span.block, contract_.has_targets() ? q.ranks(contract_.other(span.group)) : one);
  if (contract_.reduces())
    result.push_back(q.less_equal(one, span.number));
  else
    append(result, within(q, span.first, q.ranks(span.group)));
  return result;
}

// Whether a rank's own block is in the receive buffer before the first step: it is if the program begins with its copy.
bool Planner::own_is_there() const {
  const Copy* first =
      program_.body.empty() ? nullptr : std::get_if<Copy>(&program_.body.front().kind);
  return contract_.has_own() && contract_.has_lengths() && first &&
         first->from.buffer == Buffer::kSend && first->to.buffer == Buffer::kReceive &&
         !first->from.range && !first->to.range && first->to.block == leaf(Operator::kRank);
}

// The byte is read. Even if no byte is, something must have been written there, and how long it is matters: then the
// byte is the end of the empty range. Messages are not empty if the program knows lengths (piece()).
std::vector<z3::expr> Planner::reads_byte(Query& q, Reading reading,
                                          const Instance& instance) const {
  if (!contract_.has_lengths()) return {};
  const Polynomial& byte = instance.variables.back();
  const auto [low, high] = extent(q, place(reading), reading.site, instance);
  if (contract_.is_barrier()) return is_token(q, low, high, byte);
  const z3::expr inside = q.less(byte, high);
  const bool may_be_empty = !anatomy_.sites[reading.site].is_message() || !uses_counts(program_);
  return {q.less_equal(low, byte),
          may_be_empty ? inside || (q.equal(low, high) && q.equal(byte, low)) : inside};
}

void Planner::assume_reading(Query& q, Reading reading, const Instance& instance) const {
  const Access& access = place(reading);
  append(q.hypotheses, along(q, anatomy_.sites[reading.site].path, instance));
  append(q.hypotheses, reads_byte(q, reading, instance));
  if (access.buffer == Buffer::kReceive && own_is_there())
    q.hypotheses.push_back(!q.equal(q.number(access.block, instance), instance.rank));
  if (contract_.is_barrier())
    q.hypotheses.push_back(!is_own_token(q, instance, instance.variables.back()));
}

void Planner::held(Reading reading) {
  const Site& site = anatomy_.sites[reading.site];
  const Access& access = place(reading);
  const std::vector<Choice>& writes = writes_for(reading);
  const ProofStatement* statement = find(kind_of(reading), site_name(site));
  const View view = view_with_byte(site);
  if (writes.empty() && own_is_there() && access.buffer == Buffer::kReceive &&
      access.block == leaf(Operator::kRank))
    return;
  if (writes.empty() && contract_.is_barrier()) return own_token(reading);
  if (writes.empty())
    return fail_proof(fmt::format("the proof has no '{} {}'", kind_of(reading), site_name(site)));
  exhaustive(
      name_of(reading), writes, view, uses(statement, view),
      [=, this](Query& q, const Instance& instance) { assume_reading(q, reading, instance); });
  for (size_t k = 0; k < writes.size() && error_.empty(); ++k) held_case(reading, k);
}

void Planner::held_case(Reading reading, size_t k) {
  const Site& site = anatomy_.sites[reading.site];
  const Access& access = place(reading);
  const Choice& choice = writes_for(reading)[k];
  const Site& written = anatomy_.sites[choice.site];
  const std::string name = name_of(reading);
  if (!written.to || written.to->buffer != access.buffer)
    return fail_proof(fmt::format("'{}' names what writes nothing there", name));
  // Such a block is as long as what was last written to it.
  if (access.buffer == Buffer::kTemporary && !access.range && written.to->range)
    return fail_proof(
        fmt::format("'{}': a whole block is read, of which a part was written", name));
  const View view = view_with_byte(site);
  const ProofStatement* statement = find(kind_of(reading), site_name(site));
  const Uses facts = uses(statement, view, k);
  const Rewrites rewriting = rewrites(name, statement, site, view, facts);
  add(case_name(name, writes_for(reading), k), [=, this](Query& q) {
    const Instance instance = unknowns(q, view);
    assume(q, facts, instance);
    assume_reading(q, reading, instance);
    append(q.hypotheses, applies(q, writes_for(reading), k, instance));
    apply_rewrites(q, rewriting, instance);
    const Instance before = chosen(q, choice, instance, instance.rank);
    std::vector<z3::expr> goals = along(q, written.path, before);
    // What something is combined with, and what is reduced, is what was written: combine() asks.
    if (!site.combine)
      goals.push_back(same(q, span(q, reading.site, instance), span(q, choice.site, before)));
    goals.push_back(q.equal(q.number(access.block, instance), q.number(written.to->block, before)));
    if (contract_.has_lengths()) {
      const Polynomial& byte = instance.variables.back();
      const auto [low, high] = extent(q, access, reading.site, instance);
      goals.push_back(z3::implies(q.less(low, high),
                                  all(q, has_byte(q, *written.to, choice.site, before, byte))));
    }
    // What arrives is combined when it is its turn; else all that a step reads it reads first.
    goals.push_back(reading.base && site.is_message()
                        ? written_before(q, written, before, site, instance)
                        : over_before(q, written, before, site, instance));
    show(q, {}, goals, over_before(q, site, instance, written, before));
  });
}

// A write and a read of one place at a rank: the read is complete, or of the same step, when the write happens; or the
// write is complete when the data that is read is written; or it writes that data.
void Planner::apart(size_t i, Reading reading) {
  const Site &written = anatomy_.sites[i], &read = anatomy_.sites[reading.site];
  const Access& access = place(reading);
  const TwoSteps both = two_pieces(view_of_site(written), view_with_byte(read));
  const Uses facts = uses(find("apart", site_name(read)), both.view);
  add(fmt::format("apart {} and {}{}", site_name(written),
                  reading.base ? "what is combined by " : "", site_name(read)),
      [=, this](Query& q) {
        const auto [first, second] = two_at(q, both, written.path, facts);
        std::vector<z3::expr> guards = along(q, read.path, second), goals;
        guards.push_back(
            q.equal(q.number(written.to->block, first), q.number(access.block, second)));
        append(guards, reads_byte(q, reading, second));
        const z3::expr untouched = stays(q, i, first, reading, second);
        const std::vector<Choice>& writes = writes_for(reading);
        for (size_t k = 0; k < writes.size(); ++k)
          goals.push_back(
              z3::implies(all(q, applies(q, writes, k, second)),
                          untouched || undisturbed(q, i, first, reading, second, writes[k])));
        show(q, guards, goals);
      });
}

// A write leaves the byte that is read as it is. If a whole temporary block is read, it does not make it longer.
z3::expr Planner::stays(Query& q, size_t i, const Instance& first, Reading reading,
                        const Instance& second) const {
  const Access &to = *anatomy_.sites[i].to, &access = place(reading);
  const bool temporary = access.buffer == Buffer::kTemporary;
  // All of such a block leaves nothing of what was there.
  if (!contract_.has_lengths() || (temporary && !to.range)) return q.truth(false);
  z3::expr other = !all(q, has_byte(q, to, i, first, second.variables.back()));
  if (!temporary || access.range) return other;
  const auto length = [&](size_t site, const Instance& instance) {
    return contract_.length(q, span(q, site, instance));
  };
  return other && q.less_equal(length(i, first), length(reading.site, second));
}

// In one step all sends read first, and all receives write last. Copies and reductions run in the order of the text.
z3::expr Planner::read_first_in_step(Query& q, const Site& read, const Instance& second,
                                     const Site& written, const Instance& first) const {
  if (read.step < 0 || written.step < 0) return q.truth(false);
  if (!read.is_message() && !written.is_message())
    return written_before(q, read, second, written, first);
  return q.equal(key(q, read.step, second), key(q, written.step, first));
}

// The order of a write and a read makes no difference; the choice names the write that the read needs.
z3::expr Planner::undisturbed(Query& q, size_t i, const Instance& first, Reading reading,
                              const Instance& second, const Choice& choice) const {
  const Site &written = anatomy_.sites[i], &read = anatomy_.sites[reading.site],
             &named = anatomy_.sites[choice.site];
  const Instance before = chosen(q, choice, second, second.rank);
  const z3::expr fine = over_before(q, read, second, written, first) ||
                        written_before(q, written, first, named, before);
  if (reading.base)
    return fine || written_before(q, read, second, written, first) ||
           same_instance(q, i == reading.site, first, second) ||
           same_instance(q, static_cast<int>(i) == choice.site, first, before);
  return fine || read_first_in_step(q, read, second, written, first) ||
         (i == reading.site && !read.is_message() ? same_instance(q, true, first, second)
                                                  : q.truth(false)) ||
         same(q, span(q, i, first), span(q, choice.site, before));
}

// The token is one of low .. high, modulo the number of processes.
std::vector<z3::expr> Planner::is_token(Query& q, const Polynomial& low, const Polynomial& high,
                                        const Polynomial& token) const {
  const Polynomial number = contract_.processes(q);
  const auto between = [&](const Polynomial& n) { return q.less_equal(low, n) && q.less(n, high); };
  std::vector<z3::expr> result = within(q, token, number);
  result.push_back(between(token) || between(token + number));
  return result;
}

z3::expr Planner::is_own_token(Query& q, const Instance& instance, const Polynomial& token) const {
  return q.equal(token, contract_.process(q, instance));
}

// A message brings no token twice, and no rank its own.
void Planner::tokens(size_t i) {
  const Site& site = anatomy_.sites[i];
  const View view = view_of_site(site);
  const Uses facts = uses(find("match", site_name(site)), view, matches_[i].size() == 1 ? 0 : -1);
  add("defined tokens of " + site_name(site), [=, this](Query& q) {
    const Instance instance = unknowns_at(q, view, site.path, facts);
    const auto [low, high] = extent(q, *site.moved(), i, instance);
    const Polynomial number = contract_.processes(q);
    std::vector<z3::expr> goals = within(q, low, number);
    const z3::expr outside = !goals[0];
    goals.push_back(q.less_equal(low, high));
    goals.push_back(q.less_equal(high, low + number));
    if (site.kind == Site::Kind::kReceive)
      goals.push_back(!all(q, is_token(q, low, high, contract_.process(q, instance))));
    show(q, {}, goals, outside);
  });
}

// If the proof names no message that brought a token, the token is the sender's own.
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
