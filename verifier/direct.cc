// The streaming checker of direct all-to-all schedules: all ranks in key order, a bit a pair of
// ranks.
//
// The ranks are walked as streaming.h tells. received(d, s), one bit, says that block (s, d) has
// arrived; because every message is matched when it happens, received(s, d) also says that d has
// sent its block to s, which is what the in-place claim needs. Memory: a bit a pair and some 400
// bytes a rank.
#include <fmt/format.h>

#include <tuple>

#include "verifier/exchange_loop.h"
#include "verifier/key_messages.h"
#include "verifier/streaming.h"
#include "verifier/violations.h"

namespace quadrille::verifier {
namespace {

class DirectChecker : private StreamingChecker {
 public:
  DirectChecker(const Program& program, const Job& job, const Binding& binding,
                const CheckOptions& options)
      : StreamingChecker(program, job, binding, options),
        first_key_(ranks_, INT64_MIN),
        loops_(ranks_),
        messages_(ranks_),
        partner_(ranks_, -1) {}

  std::optional<Report> run() {
    for (int64_t rank = 0; rank < ranks_ && !stopped(); ++rank) start(rank);
    while (!queue_.empty() && !stopped()) advance();
    if (needs_execution_) return std::nullopt;
    if (!stopped()) finish();
    return report_;
  }

  // The walk's sink: what the current rank does in its step, or before its first.
  void block_message(const MessageHead& head, Buffer buffer, int64_t block) {
    check(buffer == (head.direction == Direction::kSend ? Buffer::kSend : Buffer::kReceive),
          "a direct program uses buffers directly");
    gather({head.direction, false, head.peer, block});
  }
  void message(const MessageHead& head) { gather({head.direction, true, head.peer, 0}); }
  void piece(const PieceValue&) { check(false, "a direct message has one block or none"); }
  void message_end() {}
  void reduce(Side, const PieceValue&, const PieceValue&) {
    check(false, "a direct program reduces nothing");
  }
  void copy(const PieceValue& from, const PieceValue& to) {
    for (const PieceValue& piece : {from, to})
      if (!is_block(piece.buffer, piece.block)) return bad_block(piece.buffer, piece.block);
    if (from.block != current_ || to.block != current_)
      return fail(Property::kPlace, {current_},
                  fmt::format("rank {} copies its block for rank {} to block {} of its "
                              "receive buffer",
                              current_, from.block, to.block));
    arrive(current_, current_);
    outside_ ? ledger_.copy_outside(current_) : ledger_.copy(current_);
  }

 private:
  // A message of the step that the current rank is in.
  struct Gathered {
    Direction direction;
    bool token;
    int64_t peer, block;
  };

  void gather(const Gathered& message) {
    if (gathered_count_ == kGathered) {
      note_gathered();
      more_gathered_ = true;
    }
    gathered_[gathered_count_++] = message;
  }

  // Most steps exchange one block with one rank; they are matched without further ado.
  bool gathered_exchange() const {
    const auto& [a, b] = std::tie(gathered_[0], gathered_[1]);
    return gathered_count_ == 2 && !more_gathered_ && !a.token && !b.token &&
           a.direction != b.direction && a.peer == b.peer && a.block == a.peer &&
           b.block == b.peer && is_peer(a.peer);
  }

  void note_gathered() {
    for (int i = 0; i < gathered_count_; ++i) note(gathered_[i]);
    gathered_count_ = 0;
  }

  // Walks to the rank's next step and files it under its key.
  void proceed(int64_t rank) {
    current_ = rank;
    Walker& walker = walkers_[rank];
    const int64_t previous = walker.key;
    outside_ = false;
    Pause pause;
    while ((pause = code_.run<PauseAtOutside>(binding_, walker, registers(rank), *this)) ==
           Pause::kOutside)
      outside_ = true;
    switch (pause) {
      case Pause::kStep: return enter(rank, previous);
      case Pause::kEnd: return;
      case Pause::kUndefined: return fail(undefined_value(key(), rank, walker.why));
      default: check(false, "a walk that pauses outside steps, at steps and at its end");
    }
  }

  void enter(int64_t rank, int64_t previous) {
    const Walker& walker = walkers_[rank];
    if (first_key_[rank] == INT64_MIN)
      first_key_[rank] = walker.key;
    else if (walker.key <= previous)
      return fail(key_out_of_order(key(), rank, walker.key));
    if (!walker.has_after) {
      sequential_ = true;
    } else {
      ledger_.overlapping_step();
      needs_execution_ |= walker.after >= first_key_[rank];
    }
    queue_.add(rank, walker.key);
    begin_loop(rank);
  }

  // Takes a loop of exchanges out of the walk.
  void begin_loop(int64_t rank) {
    Walker& walker = walkers_[rank];
    const std::optional<Exchanges> exchanges = code_.exchanges(walker, registers(rank));
    if (!exchanges) return;
    const std::optional<ExchangeLoop> loop = ExchangeLoop::of(*exchanges, rank, ranks_);
    if (!loop) return;
    loops_[rank] = *loop;
    walker.key += (exchanges->count - 1) * exchanges->key_stride;
    code_.leave_loop(walker);
  }

  // The step of a loop, and on to the next step.
  void go_on(int32_t rank) {
    ExchangeLoop& loop = loops_[rank];
    note_exchange(rank, loop.peer);
    if (--loop.left == 0) return proceed(rank);
    loop.next();
    queue_.add(rank, loop.key);
  }

  // The step that the walk stands in, and on to the next step.
  void walk_on(int32_t rank) {
    gathered_count_ = 0;
    more_gathered_ = false;
    proceed(rank);
    if (gathered_exchange())
      note_exchange(rank, static_cast<int32_t>(gathered_[0].peer));
    else
      note_gathered();
  }

  void note_exchange(int32_t rank, int32_t peer) {
    partner_[rank] = peer;
    arrivals_.prefetch(peer, rank);
    exchanging_.push_back(rank);
  }

  void start(int64_t rank) {
    code_.start(binding_, rank, walkers_[rank], registers(rank));
    proceed(rank);
  }

  // Everything that happens at the next key.
  void advance() {
    int32_t rank = queue_.advance();
    in_step_ = true;
    if (rank < 0) return;
    while (rank >= 0 && !stopped()) {
      const int32_t next = queue_.take(rank);
      if (next >= 0) __builtin_prefetch(&loops_[next], 1);
      loops_[rank].left > 0 ? go_on(rank) : walk_on(rank);
      rank = next;
    }
    match_exchanges();
    if (!stopped() && !messages_.empty()) match();
    end_key();
    messages_.clear();
  }

  void note(const Gathered& message) {
    const Buffer buffer = message.direction == Direction::kSend ? Buffer::kSend : Buffer::kReceive;
    if (!is_block(buffer, message.block)) return bad_block(buffer, message.block);
    if (!is_peer(message.peer)) return bad_peer(message.peer);
    note_valid(message.direction, current_, message.peer, message.token ? kToken : message.block);
  }

  void note_valid(Direction direction, int32_t rank, int32_t peer, int64_t block) {
    if (direction == Direction::kReceive)
      messages_.add_receive(peer, rank, block);
    else
      messages_.add_send(rank, peer, block);
  }

  // Where both ranks of an exchange name each other, nothing is left to match.
  void match_exchanges() {
    for (const int32_t rank : exchanging_) {
      const int32_t peer = partner_[rank];
      if (partner_[peer] == rank) {
        if (rank < peer) exchange(rank, peer);
      } else {
        note_valid(Direction::kSend, rank, peer, peer);
        note_valid(Direction::kReceive, rank, peer, peer);
      }
      if (stopped()) return;
    }
    for (const int32_t rank : exchanging_) partner_[rank] = -1;
    exchanging_.clear();
  }

  void exchange(int32_t one, int32_t other) {
    report_.messages += 2;
    arrive(one, other);
    arrive(other, one);
    ledger_.exchange(one, other);
  }

  void match() {
    messages_.sort();
    for (const KeyMessage& receive : messages_.receives()) {
      KeyMessage* send = messages_.find_send(receive.source, receive.target);
      if (!send || send->matched) return unmatched_receive(receive, send != nullptr);
      send->matched = true;
      pair(*send, receive);
      if (stopped()) return;
    }
    if (messages_.receives().size() != messages_.sends().size()) return unmatched_send();
  }

  void unmatched_receive(const KeyMessage& receive, bool twice) {
    if (twice)
      return fail(Property::kOrder, {receive.target, receive.source},
                  fmt::format("rank {} receives twice from rank {} in a step", receive.target,
                              receive.source));
    fail(receive_without_send(key(), receive.source, receive.target));
  }

  void unmatched_send() {
    for (const KeyMessage& send : messages_.sends()) {
      if (send.matched) continue;
      const KeyMessage* first = messages_.find_send(send.source, send.target);
      if (first && first->matched && first != &send)
        return fail(
            Property::kOrder, {send.source, send.target},
            fmt::format("rank {} sends twice to rank {} in a step", send.source, send.target));
      return fail(send_without_receive(key(), send.source, send.target));
    }
  }

  void pair(const KeyMessage& send, const KeyMessage& receive) {
    if ((send.block == kToken) != (receive.block == kToken))
      return fail(Property::kLength, {send.source, send.target},
                  fmt::format("rank {} and rank {} disagree whether a block travels", send.source,
                              send.target));
    if (send.block == kToken) {
      ++report_.tokens;
    } else {
      if (send.block != send.target || receive.block != receive.source)
        return fail(
            Property::kPlace, {send.source, send.target},
            fmt::format("rank {}'s block for rank {} goes to block {} of rank {}'s receive buffer",
                        send.source, send.block, receive.block, send.target));
      ++report_.messages;
      ask_in_place(send.source, send.target);
      arrive(send.source, send.target);
    }
    ledger_.message(send.source, send.target, send.block != kToken);
  }

  // The target's block for the source lies where this message arrives: has it been sent?
  void ask_in_place(int32_t source, int32_t target) {
    const KeyMessage* now = messages_.find_send(target, source);
    if ((now && now->block != kToken) || arrivals_.has(target, source)) return;
    report_.in_place = false;
    if (program_.in_place)
      fail(Property::kInPlace, {target, source},
           fmt::format(
               "rank {} has not sent its block for rank {} when that rank's block overwrites it",
               target, source));
  }

  void finish() {
    ask_coverage();
    if (!stopped()) conclude(true, true);
  }

  // The walk.
  std::vector<int64_t> first_key_;
  std::vector<ExchangeLoop> loops_;
  bool outside_ = false;  // the current rank copies outside a step

  // The current key.
  static constexpr int kGathered = 8;
  Gathered gathered_[kGathered];
  int gathered_count_ = 0;
  bool more_gathered_ = false;  // and noted already
  KeyMessages messages_;
  std::vector<int32_t> partner_, exchanging_;  // ranks whose step is an exchange, and with whom
};

}  // namespace

std::optional<Report> check_direct(const Program& program, const Job& job, const Binding& binding,
                                   const CheckOptions& options) {
  return DirectChecker(program, job, binding, options).run();
}

}  // namespace quadrille::verifier
