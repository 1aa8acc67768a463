// The checker of large all-to-alls: all ranks in key order, a few bytes a block.
//
// Every rank is a walker that stands before its next step; a timing wheel finds those whose key is
// next. The messages of one key are gathered, then each receive is matched with its send, and all
// that they carry is read before anything that they bring is written. Since both ends of a message
// must have the same key and keys strictly increase at a rank, induction over keys gives progress
// without any buffering. Most steps are an exchange of one block with one rank, most of them in
// loops whose iterations differ by constant strides: these are matched without further ado.
// Memory: a bit a pair of ranks, 12 bytes a temporary block, and some 500 bytes a rank.
#include <fmt/core.h>

#include <utility>
#include <vector>

#include "schedule/walk.h"
#include "verifier/blocks.h"
#include "verifier/bounds.h"
#include "verifier/check.h"
#include "verifier/exchange_loop.h"
#include "verifier/key_messages.h"
#include "verifier/key_queue.h"
#include "verifier/ledger.h"
#include "verifier/step_numbers.h"
#include "verifier/violations.h"

namespace quadrille::verifier {
namespace {

// Source and target of a block in a temporary buffer fit into 32 bits.
constexpr int64_t kMostRanks = 65535;
// Steps that are walked before a loop that was none of exchanges is looked at again.
constexpr int32_t kPlainSteps = 64;

std::string pieces(size_t count) {
  return count == 0 ? "nothing" : count == 1 ? "one piece" : fmt::format("{} pieces", count);
}

class KeyOrderChecker {
 public:
  KeyOrderChecker(const Program& program, const Job& job, const Binding& binding,
                  const CheckOptions& options)
      : program_(program),
        topology_(job.groups[0]),
        binding_(binding),
        code_(*Code::compile(program)),
        ranks_(binding.place.ranks),
        waits_(StepNumbers::are_named(program)),
        ledger_(program, job, options),
        registers_(ranks_ * code_.registers()),
        walkers_(ranks_),
        numbers_(ranks_),
        steps_(ranks_),
        loops_(ranks_),
        plain_(ranks_, 0),
        queue_(ranks_),
        matching_(ranks_),
        partner_(ranks_, -1),
        blocks_(program, binding, finding_) {}

  std::optional<Report> run() {
    for (int64_t rank = 0; rank < ranks_ && !stopped(); ++rank) {
      code_.start(binding_, rank, walkers_[rank], registers(rank));
      proceed(rank);
    }
    run_copies();
    while (!queue_.empty() && !stopped()) advance();
    if (unclear_) return std::nullopt;
    if (!stopped()) finish();
    report_.violation = finding_.violation;
    return report_;
  }

  // The walk's sink: what the current rank does in its step, or before its first. The first two
  // messages are kept until it is known whether the step is an exchange.
  void block_message(const MessageHead& head, Buffer buffer, int64_t block) {
    const BlockMessage message{head, {buffer, block, false, 0, 0}};
    if (!filed_ && kept_count_ < 2)
      kept_[kept_count_++] = message;
    else
      file(message);
  }
  void message(const MessageHead& head) {
    file_kept();
    close_message();
    open_ = Pieces{head.direction, head.sized, pieces_of(head.direction), 0};
    if (!is_peer(head.peer))
      return finding_.add(wrong_peer(finding_.key, current_, head.peer, ranks_));
    const auto peer = static_cast<int32_t>(head.peer);
    const auto number = static_cast<int64_t>(messages_.size());
    if (head.direction == Direction::kSend)
      matching_.add_send(current_, peer, number);
    else
      matching_.add_receive(peer, current_, number);
  }
  void piece(const PieceValue& piece) {
    if (!ask_block(piece)) return;
    if (open_->direction == Direction::kReceive)
      wants_.push_back(Blocks::place(piece));
    else
      loads_.push_back(blocks_.read(current_, steps_[current_], piece));
  }
  void message_end() {}
  void reduce(Side, const PieceValue&, const PieceValue&) {
    check(false, "an all-to-all reduces nothing");
  }
  void copy(const PieceValue& from, const PieceValue& to) {
    if (!ask_block(from) || !ask_block(to)) return;
    if (outside_) {
      steps_[current_] = numbers_[current_].copy();
    } else if (from.buffer == Buffer::kTemporary || to.buffer == Buffer::kTemporary) {
      unclear_ = true;  // read before what the step brings, written after
      return;
    }
    outside_ ? ledger_.copy_outside(current_) : ledger_.copy(current_);
    const TemporaryBlocks::Step step = steps_[current_];
    const int64_t block = blocks_.read(current_, step, from);
    if (!stopped()) blocks_.write(current_, step, Blocks::place(to), block);
  }

 private:
  struct BlockMessage {
    MessageHead head;
    PieceValue piece;
  };
  struct Pieces {
    Direction direction;
    bool sized;
    size_t first, count;  // in loads_ or wants_
  };

  bool stopped() const { return finding_.violation.has_value() || unclear_; }
  bool is_peer(int64_t number) const {
    return 0 <= number && number < ranks_ && number != current_;
  }
  bool ask_block(const PieceValue& piece) {
    const int64_t blocks = piece.buffer == Buffer::kTemporary ? binding_.temporary_blocks : ranks_;
    if (0 <= piece.block && piece.block < blocks) return true;
    finding_.add(no_such_block(finding_.key, current_, piece.buffer, piece.block, blocks));
    return false;
  }
  int64_t* registers(int64_t rank) { return &registers_[rank * code_.registers()]; }
  size_t pieces_of(Direction direction) const {
    return direction == Direction::kSend ? loads_.size() : wants_.size();
  }
  void file(const BlockMessage& message) {
    this->message(message.head);
    piece(message.piece);
  }
  void file_kept() {
    filed_ = true;
    for (int i = 0, count = std::exchange(kept_count_, 0); i < count; ++i) file(kept_[i]);
  }
  void close_message() {
    if (!open_) return;
    open_->count = pieces_of(open_->direction) - open_->first;
    messages_.push_back(*open_);
    open_.reset();
  }

  // What the current rank has walked through is over: its step, or what stands before one.
  void end_walked() {
    if (is_exchange())
      note_exchange(current_, static_cast<int32_t>(kept_[0].head.peer));
    else
      file_kept();
    close_message();
    kept_count_ = 0;
    filed_ = false;
  }
  bool is_exchange() const {
    const auto& [a, b] = kept_;
    return kept_count_ == 2 && a.head.direction != b.head.direction && is_straight(a) &&
           is_straight(b) && a.head.peer == b.head.peer && is_peer(a.head.peer);
  }
  static bool is_straight(const BlockMessage& message) {
    return message.piece.buffer != Buffer::kTemporary && message.piece.block == message.head.peer &&
           !message.head.sized;
  }
  void note_exchange(int32_t rank, int32_t peer) {
    partner_[rank] = peer;
    blocks_.prefetch(peer, rank);
    exchanging_.push_back(rank);
  }

  // Walks through the rank's step and to its next one, which is filed under its key, or to a copy,
  // which waits for what the step brings.
  void proceed(int32_t rank) {
    current_ = rank;
    Walker& walker = walkers_[rank];
    while (!stopped()) {
      const Pause pause = code_.run<PauseAtLoops>(binding_, walker, registers(rank), *this);
      end_walked();
      switch (pause) {
        case Pause::kStep: return enter(rank, {walker.key, 0}, {walker.after, 0}, 1);
        case Pause::kLoop:
          if (begin_loop(rank)) return;
          break;
        case Pause::kOutside:
          if (!outside_) return copying_.push_back(rank);
          break;
        case Pause::kEnd: return;
        case Pause::kUndefined:
          return finding_.add(undefined_value(finding_.key, rank, walker.why));
        default: check(false, "a walk that pauses at loops does not pause within steps");
      }
    }
  }

  // The copies that ranks have come to, and on to their next steps.
  void run_copies() {
    outside_ = true;
    for (const int32_t rank : copying_)
      if (!stopped()) proceed(rank);
    copying_.clear();
    outside_ = false;
  }

  // Steps that the rank comes to next.
  void enter(int32_t rank, const StridedBatch::Strided& key, const StridedBatch::Strided& after,
             int64_t count) {
    const bool has_after = walkers_[rank].has_after;
    StepNumbers& numbers = numbers_[rank];
    if (!numbers.increases(key.at))
      return finding_.add(key_out_of_order(finding_.key, rank, key.at));
    for (const int64_t number :
         {key.at, key.last(count), has_after ? after.at : 0, has_after ? after.last(count) : 0})
      unclear_ |= KeyHistory::is_great(number);
    if (unclear_) return;
    numbers.enter(key, count, waits_);
    if (has_after) {
      ledger_.overlapping_step();
      if (waits_)
        report_.limit_window(numbers.window(after, count));
      else
        unclear_ |= after.at >= numbers.first();
    } else {
      sequential_ = true;
    }
    queue_.add(rank, key.at);
  }

  // Takes iterations of the loop of exchanges that the rank has come to out of its walk.
  bool begin_loop(int32_t rank) {
    if (--plain_[rank] > 0) return false;
    Walker& walker = walkers_[rank];
    plain_[rank] = kPlainSteps;
    if (!code_.batch(binding_, walker, registers(rank), batch_)) return false;
    const std::optional<ExchangeLoop> loop = ExchangeLoop::of(batch_, rank, ranks_);
    if (!loop) return false;
    code_.take(walker, registers(rank), batch_);
    plain_[rank] = 0;
    loops_[rank] = *loop;
    enter(rank, batch_.key, batch_.after, batch_.count);
    return true;
  }

  // The step of a loop, and on to the next step.
  void go_on(int32_t rank) {
    ExchangeLoop& loop = loops_[rank];
    note_exchange(rank, loop.peer);
    if (--loop.left > 0) {
      loop.next();
      queue_.add(rank, loop.key);
    } else if (!loop.more || !begin_loop(rank)) {
      proceed(rank);
    }
  }

  // Everything that happens at the next key.
  void advance() {
    int32_t rank = queue_.advance();
    if (rank < 0) return;
    finding_.key = queue_.now();
    while (rank >= 0 && !stopped()) {
      const int32_t next = queue_.take(rank);
      if (next >= 0) __builtin_prefetch(&loops_[next], 1);
      if (loops_[rank].left > 0) {
        go_on(rank);
      } else {
        steps_[rank] = numbers_[rank].step(walkers_[rank]);
        proceed(rank);
      }
      rank = next;
    }
    match_exchanges();
    if (!stopped())
      matching_.match(finding_, [this](const KeyMessage& send, const KeyMessage& receive) {
        deliver(send, receive);
      });
    if (const auto& conflict = ledger_.conflict(); conflict && !stopped())
      finding_.add(port_overused(finding_.key, conflict->source, conflict->target,
                                 ledger_.port_per_node(), conflict->unit));
    ledger_.end_key();
    matching_.clear();
    messages_.clear();
    loads_.clear();
    wants_.clear();
    run_copies();
  }

  // Where both ranks of an exchange name each other, nothing is left to match.
  void match_exchanges() {
    for (const int32_t rank : exchanging_) {
      const int32_t peer = partner_[rank];
      if (partner_[peer] != rank) {
        current_ = rank;
        file({{Direction::kReceive, false, false, peer}, {Buffer::kReceive, peer, false, 0, 0}});
        file({{Direction::kSend, false, false, peer}, {Buffer::kSend, peer, false, 0, 0}});
      } else if (rank < peer) {
        report_.messages += 2;
        blocks_.arrive(rank, peer);
        blocks_.arrive(peer, rank);
        ledger_.exchange(rank, peer);
      }
    }
    close_message();
    filed_ = false;
    for (const int32_t rank : exchanging_) partner_[rank] = -1;
    exchanging_.clear();
  }

  void deliver(const KeyMessage& send, const KeyMessage& receive) {
    const auto& [source, target, number, matched] = send;
    const Pieces &sent = messages_[number], &received = messages_[receive.number];
    if (sent.count != received.count)
      return finding_.add(Property::kLength, {source, target},
                          fmt::format("rank {} sends {}, rank {} receives {}", source,
                                      pieces(sent.count), target, pieces(received.count)));
    if (sent.sized != received.sized)
      return finding_.add(
          Property::kLength, {source, target},
          fmt::format("rank {} and rank {} disagree whether lengths travel ahead", source, target));
    for (size_t i = 0; i < sent.count && !stopped(); ++i) {
      const int64_t block = loads_[sent.first + i];
      if (!sent.sized) any_counts_ &= block % ranks_ == target;
      blocks_.write(target, steps_[target], wants_[received.first + i], block);
    }
    single_ &= sent.count <= 1;
    (sent.count > 0 ? report_.messages : report_.tokens) += 1;
    ledger_.message(source, target, sent.count > 0);
  }

  void finish() {
    finding_.key.reset();
    blocks_.finish();
    ledger_.finish(report_);
    report_.timed = single_ && ledger_.has_time();
    if (report_.timed) report_.lower_bound = alltoall_lower_bound(topology_);
    if (sequential_) report_.safe_window = 1;
    report_.in_place = blocks_.in_place();
    report_.any_counts = any_counts_;
  }

  const Program& program_;
  const Topology& topology_;
  const Binding& binding_;
  const Code code_;
  const int64_t ranks_;
  const bool waits_;  // a step names others, above key -1, as its `after`
  Ledger ledger_;

  // The walk, by rank.
  std::vector<int64_t> registers_;
  std::vector<Walker> walkers_;
  std::vector<StepNumbers> numbers_;
  std::vector<TemporaryBlocks::Step> steps_;  // that ranks are in, or copies
  std::vector<ExchangeLoop> loops_;
  std::vector<int32_t> plain_;  // steps until a loop is looked at
  StridedBatch batch_;
  KeyQueue queue_;
  std::vector<int32_t> copying_;  // ranks that have come to a copy outside steps
  bool outside_ = false;          // they go on
  int32_t current_ = 0;           // the rank that is walked

  // The current key.
  BlockMessage kept_[2];
  int kept_count_ = 0;
  bool filed_ = false;  // the step has messages that are no longer kept
  KeyMessages matching_;
  std::optional<Pieces> open_;
  std::vector<Pieces> messages_;
  std::vector<int64_t> loads_;
  std::vector<Blocks::Place> wants_;
  std::vector<int32_t> partner_, exchanging_;  // ranks whose step is an exchange, and with whom

  FirstViolation finding_;
  Blocks blocks_;
  bool sequential_ = false, unclear_ = false, single_ = true, any_counts_ = true;
  Report report_;
};

}  // namespace

std::optional<Report> check_key_order(const Program& program, const Job& job,
                                      const Binding& binding, const CheckOptions& options) {
  if (binding.temporary_blocks > 0 && binding.place.ranks > kMostRanks) return std::nullopt;
  return KeyOrderChecker(program, job, binding, options).run();
}

}  // namespace quadrille::verifier
