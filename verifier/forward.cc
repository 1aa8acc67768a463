// The checker of large all-to-alls that forward blocks: all ranks in key order, a few bytes a block.
//
// The ranks are walked as streaming.h tells. A block is known by its source and its target. All that a
// key's messages carry is read before anything that they bring is written.
//
// A slot of the temporary buffer knows what it holds and in which steps of its rank it was last
// written and last read. That is enough: of several earlier accesses the last is the nearest, and
// what is read twice, or brought to another's place in a receive buffer, from where nothing is sent,
// is wrong in the end, whatever follows: two copies cannot both be used where there is one place.
//
// Memory: 12 bytes a slot, a bit a pair of ranks, and the messages of one key. Tested beside the
// general checker by tests/verifier/forward_test.cc.
#include <fmt/format.h>

#include "verifier/key_messages.h"
#include "verifier/slots.h"
#include "verifier/step_numbers.h"
#include "verifier/streaming.h"
#include "verifier/violations.h"

namespace quadrille::verifier {
namespace {

// Source and target of a block fit into 32 bits.
constexpr int64_t kMostRanks = 65535;

class ForwardChecker : private StreamingChecker {
 public:
  ForwardChecker(const Program& program, const Job& job, const Binding& binding,
                 const CheckOptions& options)
      : StreamingChecker(program, job, binding, options),
        numbers_(ranks_),
        steps_(ranks_),
        matching_(ranks_),
        slots_(ranks_, binding.temporary_blocks) {}

  std::optional<Report> run() {
    for (int64_t rank = 0; rank < ranks_ && !stopped(); ++rank) {
      code_.start(binding_, rank, walkers_[rank], registers(rank));
      proceed(rank);
    }
    run_copies();
    while (!queue_.empty() && !stopped()) advance();
    if (needs_execution_) return std::nullopt;
    if (!stopped()) finish();
    return report_;
  }

  // The walk's sink: what the current rank does in its step, or before its first.
  void block_message(const MessageHead& head, Buffer buffer, int64_t block) {
    message(head);
    piece({buffer, block, false, 0, 0});
  }
  void message(const MessageHead& head) {
    close_message();
    open_ = Pieces{head.direction, head.sized, pieces_of(head.direction), 0};
    if (!is_peer(head.peer)) return bad_peer(head.peer);
    const auto peer = static_cast<int32_t>(head.peer);
    const auto number = static_cast<int64_t>(messages_.size());
    if (head.direction == Direction::kSend)
      matching_.add_send(current_, peer, number);
    else
      matching_.add_receive(peer, current_, number);
  }
  void piece(const PieceValue& piece) {
    if (!is_block(piece.buffer, piece.block)) return bad_block(piece.buffer, piece.block);
    if (open_->direction == Direction::kReceive)
      wants_.push_back(place_of(piece));
    else if (const std::optional<BlockName> block = read(piece))
      loads_.push_back(*block);
  }
  void message_end() {}
  void reduce(Side, const PieceValue&, const PieceValue&) {
    check(false, "an all-to-all reduces nothing");
  }
  void copy(const PieceValue& from, const PieceValue& to) {
    for (const PieceValue& piece : {from, to})
      if (!is_block(piece.buffer, piece.block)) return bad_block(piece.buffer, piece.block);
    if (outside_) {
      steps_[current_] = numbers_[current_].copy();
    } else if (from.buffer == Buffer::kTemporary || to.buffer == Buffer::kTemporary) {
      needs_execution_ = true;  // read before what the step brings, written after
      return;
    }
    outside_ ? ledger_.copy_outside(current_) : ledger_.copy(current_);
    if (const std::optional<BlockName> block = read(from)) put(current_, place_of(to), *block);
  }

 private:
  struct Pieces {
    Direction direction;
    bool sized;
    size_t first, count;  // in loads_ or wants_
  };
  // Where a piece belongs: a block of the receive buffer, or slot -1 - it of the temporary one.
  using Want = int32_t;

  size_t pieces_of(Direction direction) const {
    return direction == Direction::kSend ? loads_.size() : wants_.size();
  }
  BlockName name(int64_t source, int64_t target) const {
    return static_cast<BlockName>(source * ranks_ + target);
  }

  std::optional<BlockName> read(const PieceValue& piece) {
    if (piece.buffer == Buffer::kSend) {
      if (piece.block != current_ && arrivals_.has(piece.block, current_))
        deny_in_place(piece.block);
      return name(current_, piece.block);
    }
    BlockName held = kNoBlock;
    const auto wrong = slots_.read(current_, piece.block, steps_[current_], held);
    if (!wrong) return held;
    bad_slot(*wrong, current_, piece.block);
    return std::nullopt;
  }

  static Want place_of(const PieceValue& piece) {
    const auto block = static_cast<int32_t>(piece.block);
    return piece.buffer == Buffer::kReceive ? block : -1 - block;
  }

  void deny_in_place(int64_t block) {
    report_.in_place = false;
    if (program_.in_place)
      fail(Property::kInPlace, {current_},
           fmt::format("rank {} reads block {} of its send buffer after block {} of its receive "
                       "buffer was written",
                       current_, block, block));
  }

  void close_message() {
    if (!open_) return;
    open_->count = pieces_of(open_->direction) - open_->first;
    messages_.push_back(*open_);
    open_.reset();
  }

  // Walks through the rank's step and to its next one, which is filed under its key, or to a copy,
  // which waits for what the step brings.
  void proceed(int64_t rank) {
    current_ = rank;
    Walker& walker = walkers_[rank];
    Pause pause;
    do pause = code_.run<PauseAtOutside>(binding_, walker, registers(rank), *this);
    while (pause == Pause::kOutside && outside_ && !stopped());
    close_message();
    switch (pause) {
      case Pause::kStep: return enter(rank);
      case Pause::kOutside: return copying_.push_back(rank);
      case Pause::kEnd: return;
      case Pause::kUndefined: return fail(undefined_value(key(), rank, walker.why));
      default: check(false, "a walk that pauses outside steps, at steps and at its end");
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

  void enter(int64_t rank) {
    const Walker& walker = walkers_[rank];
    if (!numbers_[rank].increases(walker.key))
      return fail(key_out_of_order(key(), rank, walker.key));
    if (KeyHistory::is_great(walker.key) ||
        (walker.has_after && KeyHistory::is_great(walker.after)))
      needs_execution_ = true;
    if (stopped()) return;
    numbers_[rank].enter(walker.key);
    if (walker.has_after) {
      ledger_.overlapping_step();
      report_.limit_window(numbers_[rank].window(walker));
    } else {
      sequential_ = true;
    }
    queue_.add(rank, walker.key);
  }

  // Everything that happens at the next key.
  void advance() {
    int32_t rank = queue_.advance();
    in_step_ = true;
    if (rank < 0) return;
    while (rank >= 0 && !stopped()) {
      const int32_t next = queue_.take(rank);
      steps_[rank] = numbers_[rank].step(walkers_[rank]);
      proceed(rank);
      rank = next;
    }
    if (!stopped()) match();
    end_key();
    matching_.clear();
    messages_.clear();
    loads_.clear();
    wants_.clear();
    run_copies();
  }

  void match() {
    matching_.sort();
    for (const KeyMessage& receive : matching_.receives()) {
      KeyMessage* send = matching_.find_send(receive.source, receive.target);
      if (!send) return fail(receive_without_send(key(), receive.source, receive.target));
      if (send->matched)
        return fail(
            Property::kOrder, {receive.target, receive.source},
            fmt::format("rank {} receives from rank {}, which sends it one message in this step",
                        receive.target, receive.source));
      send->matched = true;
      deliver(receive.source, receive.target, messages_[send->block], messages_[receive.block]);
      if (stopped()) return;
    }
    for (const KeyMessage& send : matching_.sends())
      if (!send.matched)
        return fail(Property::kMatch, {send.source, send.target},
                    fmt::format("rank {} sends to rank {}, which does not receive it in this step",
                                send.source, send.target));
  }

  void deliver(int32_t source, int32_t target, const Pieces& sent, const Pieces& received) {
    if (sent.count != received.count)
      return fail(Property::kLength, {source, target},
                  fmt::format("rank {} sends {} pieces, rank {} receives {}", source, sent.count,
                              target, received.count));
    if (sent.sized != received.sized)
      return fail(
          Property::kLength, {source, target},
          fmt::format("rank {} and rank {} disagree whether lengths travel ahead", source, target));
    for (size_t i = 0; i < sent.count && !stopped(); ++i) {
      const BlockName block = loads_[sent.first + i];
      if (!sent.sized) any_counts_ &= block % ranks_ == target;
      put(target, wants_[received.first + i], block);
    }
    single_ &= sent.count <= 1;
    (sent.count > 0 ? report_.messages : report_.tokens) += 1;
    ledger_.message(source, target, sent.count > 0);
  }

  void put(int32_t rank, Want where, BlockName block) {
    if (where < 0) {
      if (const auto wrong = slots_.write(rank, -1 - where, steps_[rank], block))
        bad_slot(*wrong, rank, -1 - where);
      return;
    }
    if (block == name(where, rank)) return arrive(where, rank);
    fail(
        Property::kPlace, {rank},
        fmt::format("rank {} gets into block {} of its receive buffer what belongs elsewhere: rank "
                    "{}'s block for rank {}",
                    rank, where, block / ranks_, block % ranks_));
  }

  void bad_slot(Property property, int64_t rank, int64_t block) {
    const char* what = "touches {} in a step, and in an earlier one that may still be in flight";
    if (property == Property::kHeld) what = "uses {}, which holds nothing there yet";
    if (property == Property::kOnce) what = "uses {} again, or gets what is there already";
    if (property == Property::kOverwrite) what = "overwrites {} before it was used";
    fail(property, {rank},
         fmt::format("rank {} ", rank) +
             fmt::format(fmt::runtime(what), block_text(Buffer::kTemporary, block)));
  }

  void finish() {
    ask_coverage();
    if (!stopped()) ask_left_over();
    if (!stopped()) conclude(single_, any_counts_);
  }

  void ask_left_over() {
    const auto slot = slots_.left_over();
    if (!slot) return;
    const int64_t rank = *slot / binding_.temporary_blocks;
    fail(Property::kLeftOver, {rank},
         fmt::format("block {} of rank {}'s temporary buffer is filled and never used",
                     *slot % binding_.temporary_blocks, rank));
  }

  // The walk.
  std::vector<StepNumbers> numbers_;  // by rank
  std::vector<Slots::Step> steps_;    // that ranks are in, or copies
  std::vector<int32_t> copying_;      // ranks that have come to a copy outside steps
  bool outside_ = false;              // they go on

  // The current key.
  KeyMessages matching_;  // which message, in place of which block
  std::optional<Pieces> open_;
  std::vector<Pieces> messages_;
  std::vector<BlockName> loads_;
  std::vector<Want> wants_;

  Slots slots_;
  bool single_ = true, any_counts_ = true;
};

}  // namespace

std::optional<Report> check_forward(const Program& program, const Job& job, const Binding& binding,
                                    const CheckOptions& options) {
  if (binding.place.ranks > kMostRanks) return std::nullopt;
  return ForwardChecker(program, job, binding, options).run();
}

}  // namespace quadrille::verifier
