// Decides whether plans are lawful.
//
// The program becomes three lists: sends, receives and local statements, each in the order of the text. The plan must have the
// same messages with the same parts. The check takes the operations of the plan in order. It gives each message and statement
// the positions at which it is posted, complete, read and written. A law is then a comparison of positions.
//
// The program orders writes by step. In a step, local statements write before receives, and each kind is in
// the order of the text.
//
// If only the two ends of a message know its lengths, a temporary block is a name for a message buffer. A write gives it
// another buffer, so it cannot disturb a read. The law `buffers` says that no buffer is used again too early.
//
// tests/verifier/plans_test.cc checks the plans of all programs, and mutants of them.
#include "verifier/plan_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "runtime/plan/builder.h"

namespace quadrille::verifier {

namespace {

// Limits of a check. A larger check would take too long.
constexpr int64_t kMostActs = 1 << 23, kMostPairs = 1 << 24;
constexpr int32_t kNever = -1;

// Kinds of acts, in the order in which they take place in a step.
enum Kind : uint8_t { kSends, kLocals, kReceives };

// Bytes low .. high of a region. If only the two ends know the lengths, 0 .. 1 is the whole block.
struct Span {
  int32_t region;
  int64_t low, high;
};

// A message or a local statement of the program.
struct Act {
  Kind kind;
  int32_t step;
  int64_t key;
  int32_t peer = 0;
  int64_t bytes = 0;
  std::vector<Span> spans = {};            // of a local statement: the source, then the target
  int32_t combines = QD_REPLACES;          // enum qd_side_of_operator
  bool zero_copy = false;                  // a receive: it is posted straight into its target
  bool is_staged = false;                  // a send: it is packed into a buffer when it is posted
  int32_t use = kNever;                    // its buffer's index in Replay::uses
  int32_t source = kNever;                 // a send: the use that holds its temporary block
  int64_t posted = kNever, done = kNever;  // positions
};

struct Step {
  int64_t key;
  size_t ready;  // its sends wait for the receives of the first `ready` steps
};

// The acts of the program on one rank in one call.
struct Acts {
  explicit Acts(const qd_builder& builder)
      : has_global_counts(qd_has_global_counts(builder.input.program) != 0),
        in_place(builder.traits.in_place != 0) {
    qd_block_counts(builder.input.program, builder.input.context, blocks);
    blocks[QD_PIECE_TEMPORARY] = static_cast<int32_t>(builder.input.tables->temporary_blocks);
    first_temporary = has_global_counts ? QD_TEMPORARY_REGIONS : blocks[0] + blocks[1];
  }

  // Returns whether the span lies in a message buffer. Temporary blocks do if only the ends know the lengths.
  bool is_held(const Span& span) const {
    return !has_global_counts && span.region >= first_temporary;
  }

  bool has_global_counts, in_place;
  int32_t blocks[3];                      // by QD_PIECE_
  int32_t first_temporary;                // the region of temporary block 0
  std::array<std::vector<Act>, 3> lists;  // by kind, in the order of the text
  std::vector<Step> steps;
  bool has_own_copy = false;  // this rank copies its block to itself
  bool is_undefined = false;  // the builder refuses the program and says why
  bool is_too_large = false;
};

// Reads the acts from the walk of the program. The builder reads the walk, too, but shares no code with this. This is
// slower and plainer: it keeps all events of a step until the step ends. The builder reports errors in a program.
class Reader {
 public:
  Reader(const qd_builder& builder, Acts& acts)
      : input_(builder.input),
        unit_(builder.traits.unit),
        acts_(acts),
        lengths_(acts.blocks[QD_PIECE_TEMPORARY]) {}

  void read() {
    const auto walker = std::make_unique<qd_walker>();
    qd_walk_start(walker.get(), input_.program, input_.tables, input_.context);
    walker->iterations = qd_most_iterations(&input_);
    qd_event event{};
    for (bool in_step = false; !acts_.is_undefined && !acts_.is_too_large;) {
      qd_walk_next(walker.get(), &event);
      if (event.kind == QD_EVENT_END) return;
      acts_.is_undefined |= event.kind == QD_EVENT_UNDEFINED;
      in_step = (in_step || event.kind == QD_EVENT_STEP) && event.kind != QD_EVENT_STEP_END;
      if (event.kind == QD_EVENT_STEP)
        add_step(event.key, event.has_after ? event.after : INT64_MAX);
      else
        kept_.push_back(event);
      if (!in_step) take_kept();
    }
  }

 private:
  void count() { acts_.is_too_large |= ++count_ > kMostActs; }

  bool is_defined(bool holds) {
    acts_.is_undefined |= !holds;
    return holds;
  }

  // Returns whether the piece is this rank's contribution in a call in place: it lies in the receive buffer.
  bool is_received(const qd_piece& piece) const {
    return piece.buffer == QD_PIECE_SEND && piece.block == 0 && acts_.in_place;
  }

  bool has_block(const qd_piece& piece) {
    return is_defined((is_received(piece) && acts_.blocks[QD_PIECE_RECEIVE] > 0) ||
                      (piece.block >= 0 && piece.block < acts_.blocks[piece.buffer]));
  }

  // Returns the bytes of a piece of a block of `length` units. An empty range of a temporary block may lie anywhere.
  Span range(const qd_piece& piece, int32_t region, int64_t offset, int64_t length) {
    int64_t low = piece.ranged ? piece.low : 0, high = piece.ranged ? piece.high : length;
    if ((low == high && low > 0 && piece.buffer == QD_PIECE_TEMPORARY) ||
        !is_defined(low >= 0 && low <= high && high <= QD_MAX_COUNT))
      low = high = 0;
    return {region, offset + low * unit_, offset + high * unit_};
  }

  Span span_of(const qd_piece& piece) {
    const int32_t temporary = acts_.first_temporary + static_cast<int32_t>(piece.block);
    if (piece.buffer == QD_PIECE_TEMPORARY)
      return acts_.has_global_counts ? range(piece, temporary, 0, lengths_[piece.block])
                                     : Span{temporary, 0, 1};
    if (!acts_.has_global_counts) {
      const int32_t first = piece.buffer == QD_PIECE_SEND ? 0 : acts_.blocks[QD_PIECE_SEND];
      return {first + (acts_.blocks[piece.buffer] > 1 ? input_.user[piece.block] : 0), 0, 1};
    }
    const bool gathers = input_.program->collective == QD_ALLGATHER && input_.program->groups == 1;
    const int64_t block = is_received(piece) && gathers ? input_.context->rank : piece.block;
    const bool receives = is_received(piece) || piece.buffer == QD_PIECE_RECEIVE;
    const qd_extents& known = *input_.known[receives ? QD_PIECE_RECEIVE : QD_PIECE_SEND];
    return range(piece, receives ? QD_RECEIVE_REGION : QD_SEND_REGION, known.offsets[block],
                 known.lengths[block]);
  }

  void add_step(int64_t key, int64_t after) {
    count();
    const auto ready = std::ranges::upper_bound(acts_.steps, after, {}, &Step::key);
    acts_.steps.push_back(
        {key, std::max(barrier_, static_cast<size_t>(ready - acts_.steps.begin()))});
  }

  Act& add_act(Kind kind, int32_t combines) {
    count();
    Act& act = acts_.lists[kind].emplace_back(
        Act{kind, static_cast<int32_t>(acts_.steps.size()) - 1, acts_.steps.back().key});
    act.combines = combines;
    return act;
  }

  // Notes the length of a temporary block after a write. A write to a range never makes the block shorter.
  void note_write(const qd_piece& to, int64_t units) {
    if (!acts_.has_global_counts || to.buffer != QD_PIECE_TEMPORARY) return;
    int64_t& length = lengths_[to.block];
    if (!to.ranged)
      length = units;
    else if (to.low < to.high)
      length = std::max(length, to.high);
  }

  void begin_message(const qd_event& e) {
    const bool is_remote = (e.flags & QD_MESSAGE_REMOTE) != 0;
    const int64_t peers = is_remote ? input_.context->remote_ranks : input_.context->ranks;
    act_ = nullptr;
    is_token_ = true;
    if (!is_defined(e.peer >= 0 && e.peer < peers && !acts_.steps.empty())) return;
    act_ = &add_act(e.flags & QD_MESSAGE_RECEIVE ? kReceives : kSends, qd_side_of_message(e.flags));
    act_->peer = (is_remote ? input_.remote_real : input_.real)[e.peer];
  }

  // Adds a piece to the message. If all ranks know all counts, adjacent pieces become one span.
  void add_piece(const qd_piece& piece) {
    is_token_ = false;
    if (!act_ || !has_block(piece)) return;
    if (act_->kind == kReceives && !act_->combines) note_write(piece, piece.high - piece.low);
    const Span span = span_of(piece);
    if (acts_.has_global_counts && span.low >= span.high) return;
    std::vector<Span>& spans = act_->spans;
    act_->bytes += acts_.has_global_counts ? span.high - span.low : 0;
    if (acts_.has_global_counts && !spans.empty() && spans.back().region == span.region &&
        spans.back().high == span.low) {
      spans.back().high = span.high;
      return;
    }
    count();
    spans.push_back(span);
  }

  // Drops the message if all its pieces are empty: it is not sent.
  void end_message() {
    if (act_ && acts_.has_global_counts && act_->bytes == 0 && !is_token_)
      acts_.lists[act_->kind].pop_back();
    act_ = nullptr;
  }

  void add_local(const qd_event& e) {
    const int32_t combines = qd_side_of_event(e.kind);
    const qd_piece &from = e.piece, &to = e.second;
    if (!has_block(from) || !has_block(to)) return;
    if (!acts_.has_global_counts && from.buffer == QD_PIECE_SEND && to.buffer == QD_PIECE_RECEIVE) {
      acts_.has_own_copy = true;
      return;
    }
    if (e.outside) {
      add_step(acts_.steps.empty() ? INT64_MIN : acts_.steps.back().key, INT64_MAX);
      barrier_ = acts_.steps.size();
    }
    const Span read = span_of(from);
    if (!combines) note_write(to, (read.high - read.low) / std::max<int64_t>(unit_, 1));
    const Span written = span_of(to);
    if (acts_.has_global_counts && !combines && read.region == written.region &&
        read.low == written.low)
      return;
    add_act(kLocals, combines).spans = {read, written};
  }

  void take(const qd_event& e) {
    if (acts_.is_undefined) return;
    if (qd_is_local(e.kind)) add_local(e);
    if (e.kind == QD_EVENT_MESSAGE || e.kind == QD_EVENT_PIECE_MESSAGE) begin_message(e);
    if (e.kind == QD_EVENT_PIECE || e.kind == QD_EVENT_PIECE_MESSAGE) add_piece(e.piece);
    if (e.kind == QD_EVENT_MESSAGE_END || e.kind == QD_EVENT_PIECE_MESSAGE) end_message();
  }

  // Takes the kept events of a step, one kind after another.
  void take_kept() {
    for (const Kind wanted : {kSends, kLocals, kReceives}) {
      Kind kind = kSends;
      for (const qd_event& e : kept_) {
        if (e.kind == QD_EVENT_MESSAGE || e.kind == QD_EVENT_PIECE_MESSAGE)
          kind = e.flags & QD_MESSAGE_RECEIVE ? kReceives : kSends;
        if ((qd_is_local(e.kind) ? kLocals : kind) == wanted) take(e);
      }
    }
    kept_.clear();
  }

  const qd_plan_input& input_;
  const int64_t unit_;
  Acts& acts_;
  std::vector<int64_t> lengths_;  // of temporary blocks, in units
  std::vector<qd_event> kept_;
  size_t barrier_ = 0;  // steps up to the last statement outside steps
  int64_t count_ = 0;
  Act* act_ = nullptr;  // the message that is being read
  bool is_token_ = false;
};

// A message buffer is taken at position `from`, and last needed at position `to`.
struct Use {
  int32_t buffer;
  int64_t from, to;
};

// By kind: the law that a missing post breaks, the law that a missing wait breaks, and the name.
constexpr const char* kPosted[] = {"all_posted", "own", "all_opened"};
constexpr const char* kDone[] = {"all_sent", "own", "all_received"};
constexpr const char* kNames[] = {"send", "copy", "receive"};

// Follows the operations of the plans.
class Replay {
 public:
  explicit Replay(const qd_builder& builder)
      : acts(builder), holders_(acts.blocks[QD_PIECE_TEMPORARY], kNever) {
    Reader(builder, acts).read();
  }

  template <class... Values>
  void breaks(const char* law, fmt::format_string<const Values&...> text, const Values&... values) {
    if (!offence) offence = {law, fmt::format(text, values...)};
  }

  void feed(const qd_plan& plan) {
    if (acts.is_too_large || acts.is_undefined) return;
    qd_progress at{};
    int32_t copies = 0;
    for (int32_t i = 0; i < plan.operation_count && !offence; ++i) {
      const qd_operation& o = plan.operations[i];
      if (o.kind == QD_PLAN_END) break;
      if (o.kind == QD_PLAN_COPY && o.what != copies++)
        breaks("in_steps", "copies are in another order than in the program");
      else if (o.kind == QD_PLAN_COPY)
        copy(plan, o.what);
      if (o.kind == QD_PLAN_COPY_OWN) ++own_copies;
      if (o.kind != QD_PLAN_MESSAGES) continue;
      for (int n = o.more.receives_done; n > 0; --n) finish(kReceives, plan, at.receives_done++);
      for (int n = o.more.sends_done; n > 0; --n) finish(kSends, plan, at.sends_done++);
      for (int n = o.more.receives_posted; n > 0; --n) post(kReceives, plan, at.receives_posted++);
      for (int n = o.more.sends_posted; n > 0; --n) post(kSends, plan, at.sends_posted++);
    }
    fed_[kReceives] += plan.receives.count;
    fed_[kSends] += plan.sends.count;
    fed_[kLocals] += plan.copy_count;
  }

  Acts acts;
  std::vector<Use> uses;
  int own_copies = 0;
  std::optional<Offence> offence;  // the first one found

 private:
  int32_t take_buffer(int32_t buffer) {
    if (buffer == QD_NO_BUFFER) return kNever;
    uses.push_back({buffer, position_, position_});
    return static_cast<int32_t>(uses.size()) - 1;
  }

  void keep_until_now(int32_t use) {
    if (use >= 0) uses[use].to = position_;
  }

  int32_t& holder(const Span& span) { return holders_[span.region - acts.first_temporary]; }

  bool is_same(const Span& span, const qd_part& part) const {
    if (span.region != part.region) return false;
    if (!acts.has_global_counts) return part.form != QD_RANGE;
    return part.form == QD_RANGE && span.low == part.low && span.high == part.high;
  }

  // Returns the act of a message or copy of the plan, which has `count` of that kind. Null if the program has none.
  Act* act_at(Kind kind, int32_t number, int32_t count, const char* law) {
    std::vector<Act>& list = acts.lists[kind];
    const size_t index = fed_[kind] + number;
    if (number < count && index < list.size()) return &list[index];
    breaks(law, "the plan has more than the program, which has {}", list.size());
    return nullptr;
  }

  // Notes that a message or a copy still needs the buffer that it reads.
  void need(const Act& act, const Span& span) {
    if (!acts.is_held(span)) return;
    if (holder(span) < 0)
      breaks("buffers", "step {} reads a temporary block that nothing holds", act.key);
    keep_until_now(holder(span));
  }

  void post(Kind kind, const qd_plan& plan, int32_t number) {
    const qd_messages& messages = kind == kSends ? plan.sends : plan.receives;
    Act* const act = act_at(kind, number, messages.count, kPosted[kind]);
    if (!act) return;
    const qd_message& m = messages.all[number];
    const qd_part* const parts = qd_parts_of(&plan, &m);
    if (act->peer != m.peer || act->combines != m.combines ||
        (acts.has_global_counts && act->bytes != m.bytes) ||
        !std::equal(act->spans.begin(), act->spans.end(), parts, parts + m.count,
                    [&](const Span& span, const qd_part& part) { return is_same(span, part); }))
      return breaks("own", "a {} of step {} with rank {} differs from the program", kNames[kind],
                    act->key, act->peer);
    act->posted = ++position_;
    act->use = take_buffer(m.buffer);
    if (kind == kReceives) {
      act->zero_copy = m.count > 0 && (acts.has_global_counts ? !m.needs_staging : m.zero_copy);
      return;
    }
    act->is_staged = act->use >= 0 && !(acts.has_global_counts ? qd_is_described(&m) : m.zero_copy);
    for (const Span& span : act->spans) need(*act, span);
    if (m.count == 1 && acts.is_held(act->spans[0])) act->source = holder(act->spans[0]);
  }

  // Completes a message. MPI reads the blocks of a send until now, unless they are staged. If only the two ends know
  // the lengths, the temporary blocks of a receive are now in its buffer.
  void finish(Kind kind, const qd_plan& plan, int32_t number) {
    const qd_messages& messages = kind == kSends ? plan.sends : plan.receives;
    Act* const act = act_at(kind, number, messages.count, kDone[kind]);
    if (!act) return;
    act->done = ++position_;
    keep_until_now(act->use);
    if (act->is_staged) return;
    keep_until_now(act->source);
    for (const Span& span : act->spans)
      if (kind == kReceives && acts.is_held(span)) holder(span) = act->use;
  }

  void copy(const qd_plan& plan, int32_t number) {
    Act* const act = act_at(kLocals, number, plan.copy_count, kPosted[kLocals]);
    if (!act) return;
    const qd_copy& copy = plan.copies[number];
    Span &from = act->spans[0], &to = act->spans[1];
    if (!is_same(from, copy.from) || !is_same(to, copy.to) || act->combines != copy.combines)
      return breaks("own", "a copy of step {} differs from the program", act->key);
    act->posted = act->done = ++position_;
    need(*act, from);
    if (!acts.is_held(to)) return;
    act->use = take_buffer(copy.buffer);
    holder(to) = acts.is_held(from) ? holder(from) : act->use;
  }

  std::array<size_t, 3> fed_{};   // by kind: how many the earlier plans have
  int64_t position_ = 0;          // counts the operations
  std::vector<int32_t> holders_;  // by temporary block: the use that holds it
};

// A span that is read or written.
struct Access {
  const Act* act;
  Span span;
  bool writes;

  bool precedes(const Access& other) const {
    // The acts of a kind are in one list, so their addresses are in the order of the text.
    return std::tie(act->step, act->kind, act) <
           std::tie(other.act->step, other.act->kind, other.act);
  }
  bool is_straight() const { return act->kind == kReceives && act->zero_copy; }
};

// The last positions in the first i steps at which sends and copies are posted (kActed), receives are posted
// (kOpened), and receives are complete (kReceived).
enum { kActed, kOpened, kReceived };
using Until = std::array<int64_t, 3>;

// Checks the laws by comparing positions.
class Laws {
 public:
  explicit Laws(Replay& replay) : replay_(replay), acts_(replay.acts), until_(sum_up(acts_)) {}

  void check() {
    check_complete();
    check_order();
    check_accesses();
    check_buffers();
  }

 private:
  static std::vector<Until> sum_up(const Acts& acts) {
    std::vector<Until> until(acts.steps.size() + 1);
    const auto raise = [](int64_t& greatest, int64_t to) { greatest = std::max(greatest, to); };
    for (const std::vector<Act>& list : acts.lists)
      for (const Act& act : list) {
        Until& u = until[act.step + 1];
        raise(u[act.kind == kReceives ? kOpened : kActed], act.posted);
        if (act.kind == kReceives) raise(u[kReceived], act.done);
      }
    for (size_t i = 1; i < until.size(); ++i)
      for (const int what : {kActed, kOpened, kReceived}) raise(until[i][what], until[i - 1][what]);
    return until;
  }

  void check_complete() {
    for (const std::vector<Act>& list : acts_.lists)
      for (const Act& act : list) {
        const char* const name = kNames[act.kind];
        if (act.posted < 0)
          replay_.breaks(kPosted[act.kind], "a {} of step {} is missing", name, act.key);
        if (act.done < act.posted)
          replay_.breaks(kDone[act.kind], "a {} of step {} is never waited for", name, act.key);
      }
    const int own = acts_.has_own_copy && !acts_.has_global_counts ? 1 : 0;
    if (replay_.own_copies != own)
      replay_.breaks("own", "the own block is copied {} times, not {}", replay_.own_copies, own);
  }

  void check_order() {
    for (const Kind kind : {kSends, kLocals})
      for (const Act& act : acts_.lists[kind]) {
        if (act.posted < until_[act.step][kActed])
          replay_.breaks("in_steps", "step {} begins before the one above it", act.key);
        if (act.posted < until_[acts_.steps[act.step].ready][kReceived])
          replay_.breaks(kind == kSends ? "after_steps" : "read_in_step",
                         "step {} begins before a receive that it waits for is complete", act.key);
      }
    for (const Kind kind : {kSends, kReceives})
      for (const Act& act : acts_.lists[kind])
        if (const Until& u = until_[act.step + 1]; act.done < std::max(u[kActed], u[kOpened]))
          replay_.breaks("posted_by_key",
                         "a message of step {} is waited for before all up to that step is posted",
                         act.key);
  }

  // Returns the position after which a read no longer needs its bytes, or at which a write is complete.
  int64_t done_at(const Access& access) const {
    if (access.writes) return access.act->done;
    const bool is_over = access.act->is_staged || acts_.is_held(access.span);
    return is_over ? access.act->posted : access.act->done;
  }

  // Reports a receive that is posted straight into its target, although an earlier act reads or writes there.
  void check_early(const Access& w, const Access& other) {
    if (w.act->combines)
      replay_.breaks("early",
                     "a receive of step {} combines, but is posted straight into its target",
                     w.act->key);
    replay_.breaks("posted_early", "a receive of step {} is posted early where step {} {}",
                   w.act->key, other.act->key, other.writes ? "writes" : "reads");
  }

  // Checks two accesses of the same bytes: `other` precedes `w` in the program, and `w` writes.
  void check_pair(const Access& w, const Access& other) {
    if (acts_.is_held(w.span) && !other.writes) return;
    if (w.is_straight()) return check_early(w, other);
    if (done_at(other) > done_at(w))
      replay_.breaks("puts_away", "step {} writes where step {} {}", w.act->key, other.act->key,
                     other.writes ? "writes first" : "still reads");
  }

  std::vector<Access> accesses() const {
    std::vector<Access> all;
    for (const std::vector<Act>& list : acts_.lists)
      for (const Act& act : list)
        for (const Span& span : act.spans) {
          const bool writes =
              act.kind == kReceives || (act.kind == kLocals && &span != act.spans.data());
          all.push_back({&act, span, writes});
        }
    return all;
  }

  // Checks all pairs of overlapping accesses. Sorted by region and `low`, those that overlap an access follow it.
  void check_accesses() {
    std::vector<Access> all = accesses();
    std::ranges::stable_sort(all, {}, [](const Access& access) {
      return std::pair(access.span.region, access.span.low);
    });
    int64_t left = kMostPairs;
    for (auto a = all.begin(); a != all.end() && !replay_.offence; ++a)
      for (auto b = a + 1; b != all.end() && b->span.region == a->span.region &&
                           b->span.low < a->span.high && left > 0;
           ++b, --left) {
        if (a->act == b->act || a->span.low >= b->span.high) continue;
        const auto [first, second] = a->precedes(*b) ? std::pair(a, b) : std::pair(b, a);
        if (second->writes) check_pair(*second, *first);
      }
    acts_.is_too_large |= left == 0;
  }

  void check_buffers() {
    std::vector<Use>& uses = replay_.uses;
    std::ranges::sort(uses, {}, [](const Use& use) { return std::pair(use.buffer, use.from); });
    for (size_t i = 1; i < uses.size(); ++i)
      if (uses[i].buffer == uses[i - 1].buffer && uses[i].from <= uses[i - 1].to)
        replay_.breaks("buffers", "buffer {} is used again while it is needed", uses[i].buffer);
  }

  Replay& replay_;
  Acts& acts_;
  const std::vector<Until> until_;
};

}  // namespace

struct PlanCheck::State : Replay {
  using Replay::Replay;
};

PlanCheck::PlanCheck(const qd_builder& builder) : state_(std::make_unique<State>(builder)) {}
PlanCheck::PlanCheck(PlanCheck&&) noexcept = default;
PlanCheck::~PlanCheck() = default;

void PlanCheck::feed(const qd_plan& plan) { state_->feed(plan); }

std::optional<Offence> PlanCheck::end() {
  Replay& r = *state_;
  if (r.acts.is_undefined) r.breaks("own", "the program is undefined, but has a plan");
  if (!r.offence && !r.acts.is_too_large) Laws(r).check();
  if (!r.offence && r.acts.is_too_large) r.offence = {kPlansNotChecked, {}};
  return r.offence;
}

std::optional<Offence> PlanCheck::match(const std::vector<PlanCheck>& checks) {
  // By sender and receiver: the sends, then the receives.
  std::map<std::pair<int32_t, int32_t>, std::array<std::vector<const Act*>, 2>> all;
  for (size_t i = 0; i < checks.size(); ++i) {
    const auto rank = static_cast<int32_t>(i);
    const auto& lists = checks[i].state_->acts.lists;
    for (const Act& act : lists[kSends]) all[{rank, act.peer}][0].push_back(&act);
    for (const Act& act : lists[kReceives]) all[{act.peer, rank}][1].push_back(&act);
  }
  for (const auto& [ends, messages] : all) {
    const auto& [sends, receives] = messages;
    const auto& [s, r] = std::mismatch(sends.begin(), sends.end(), receives.begin(), receives.end(),
                                       [](const Act* s, const Act* r) {
                                         return s->key == r->key && s->bytes == r->bytes &&
                                                s->spans.empty() == r->spans.empty();
                                       });
    if (s != sends.end() || r != receives.end())
      return Offence{
          "match",
          fmt::format("rank {} sends to rank {} in step {}, and rank {} has no such receive",
                      ends.first, ends.second, (s != sends.end() ? *s : *r)->key, ends.second)};
  }
  return std::nullopt;
}

}  // namespace quadrille::verifier
