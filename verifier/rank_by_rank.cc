// The checker of large allgathers: it takes one rank after another, and many steps at a time.
//
// It requires every message to bring bytes of a block to the same offset of the same block. Then it can judge each
// rank alone. Keys increase. The rank sends only data that has arrived in a complete step. Nothing arrives twice or
// is empty. At the end every block is filled. For every pair of ranks it compares the list of sends with the list of
// receives, keys included. Both ends of a message have one key, and keys strictly increase at a rank. So induction
// over keys gives progress without any buffering, and shows that a block holds the right data.
//
// It leaves programs of any other form to execute(). Some violations count only in this form: another program may
// bring bytes to another place and overwrite them later. It leaves these to execute(), too.
//
// Memory: the ranges that one rank holds, and the messages of pairs with one rank walked. Tested by
// tests/verifier/allgather_test.cc.
#include <fmt/core.h>

#include <optional>
#include <vector>

#include "schedule/binding.h"
#include "schedule/walk.h"
#include "verifier/check.h"
#include "verifier/findings.h"
#include "verifier/port_accounting.h"
#include "verifier/strides.h"

namespace quadrille::verifier {

namespace {

class RankPort {
 public:
  RankPort(const Program& program, const Job& job, const Processes& processes)
      : port_(program.port),
        processes_(processes),
        unclear_(port_.kind == PortKind::kParameter ||
                 (port_.kind != PortKind::kNone && port_.per == PortScope::kNode &&
                  has_tokens(program))) {
    for (const int64_t size : job.groups[0].sizes()) {
      node_of_.insert(node_of_.end(), size, static_cast<int32_t>(nodes_.size()));
      nodes_.emplace_back();
    }
  }

  // Returns whether the port cannot be followed here. The port of a node can be followed only if one of its ranks
  // sends to other nodes, one receives from them, and the program has no tokens, which may order ranks.
  bool unclear() const { return unclear_; }

  // Counts the messages in each of these steps. Returns the violation by the first that exceeds the port.
  std::optional<Violation> use(int64_t rank, const StridedBatch& steps) {
    if (port_.kind == PortKind::kNone) return std::nullopt;
    int64_t sends = 0, receives = 0;
    const StridedBatch::Message* first = nullptr;
    for (const StridedBatch::Message& message : steps.messages) {
      const int64_t peer = message.peer.at;
      const bool known = 0 <= peer && peer < static_cast<int64_t>(node_of_.size());
      if (!known || !counts(rank, message)) continue;
      if (!first) first = &message;
      const bool another = port_.kind == PortKind::kExchange && peer != first->peer.at;
      if (++(message.head.direction == Direction::kSend ? sends : receives) > 1 || another)
        return conflict(rank, message, steps.key.at);
    }
    return std::nullopt;
  }

 private:
  struct Node {
    int64_t sender = -1, receiver = -1;
  };

  bool counts(int64_t rank, const StridedBatch::Message& message) {
    if (port_.per == PortScope::kRank) return true;
    unclear_ |= message.pieces == 0;
    if (node_of_[message.peer.at] == node_of_[rank]) return false;
    Node& node = nodes_[node_of_[rank]];
    int64_t& user = message.head.direction == Direction::kSend ? node.sender : node.receiver;
    unclear_ |= (user >= 0 && user != rank) || port_.kind == PortKind::kExchange;
    user = rank;
    return true;
  }

  Violation conflict(int64_t rank, const StridedBatch::Message& message, int64_t key) const {
    const bool send = message.head.direction == Direction::kSend;
    const bool of_node = port_.per == PortScope::kNode;
    const int64_t peer = message.peer.at;
    return port_overused(processes_, key, send ? rank : peer, send ? peer : rank, of_node,
                         of_node ? node_of_[rank] : rank);
  }

  const Port port_;
  const Processes& processes_;
  std::vector<int32_t> node_of_;
  std::vector<Node> nodes_;
  bool unclear_;
};

using Strided = StridedBatch::Strided;

class RankByRankChecker : public SinkOf<RankByRankChecker> {
 public:
  RankByRankChecker(const Program& program, const Job& job, const Call& call,
                    const Binding& binding, const Tell& tell)
      : program_(program),
        binding_(binding),
        code_(*Code::compile(program)),
        ranks_(binding.place.ranks),
        knows_counts_(uses_counts(program)),
        lengths_(call.counts.empty() ? std::vector<int64_t>(ranks_, 1) : call.counts[0]),
        registers_(code_.registers()),
        held_(ranks_),
        processes_({binding}),
        port_(program, job, processes_),
        pairs_(processes_, lengths_),
        tell_(tell) {}

  std::optional<Report> run() {
    for (rank_ = 0; rank_ < ranks_ && !stopped(); ++rank_) {
      if (tell_) tell_("ranks", rank_, ranks_);
      walk();
      if (!stopped()) finish_rank();
    }
    if (!stopped()) keep(pairs_.settle_rest());
    if (unclear_ || port_.unclear() || (again_ && elsewhere_)) return std::nullopt;
    for (const std::optional<Violation>& violation : {again_, elsewhere_})
      if (!report_.violation) report_.violation = violation;
    report_.steps = keys_.size();
    if (sequential_) report_.safe_window = 1;
    if (program_.port.kind != PortKind::kNone) report_.port = PortVerdict::kLockStep;
    return report_;
  }

  // The walk calls these. They gather a plain step as a batch of one step.
  void message(const MessageHead& head) {
    step_.messages.push_back({head, {head.peer, 0}, static_cast<int32_t>(step_.pieces.size()), 0});
  }
  void piece(const PieceValue& p) {
    ++step_.messages.back().pieces;
    step_.pieces.push_back({p.buffer, p.ranged, {p.block, 0}, {p.low, 0}, {p.high, 0}});
  }
  void reduce(Side, const PieceValue&, const PieceValue&) { unclear_ = true; }
  // Takes the only copy that this checker serves. Outside steps, it brings a rank's own block to its place.
  void copy(const PieceValue& from, const PieceValue& to) {
    if (!outside_ || from.buffer != Buffer::kSend || from.ranged || from.block != 0 ||
        to.buffer != Buffer::kReceive || to.ranged || to.block != rank_ || has_own_) {
      unclear_ = true;
      return;
    }
    has_own_ = true;
    if (lengths_[rank_] > 0) held_.arrive(rank_, {{INT64_MIN, 0}, {0, 0}, lengths_[rank_], 1});
  }

 private:
  static constexpr int64_t kMostSingles = 8, kSingles = 64;
  // Returns whether a key or place is so large that it is left to execute().
  static bool is_great(const Strided& value) { return KeyHistory::is_great(value.at); }
  static PieceValue whole(int64_t block) { return {Buffer::kReceive, block, false, 0, 0}; }

  bool stopped() const { return unclear_ || port_.unclear() || report_.violation.has_value(); }

  void fail(Property property, Key key, const std::string& did) {
    keep(violation_of(processes_, property, key, {rank_}, did));
  }
  template <class... Given>
  [[gnu::cold, gnu::noinline]] void fail(const Finding& finding, Key key, Given... given) {
    keep(violation_of(processes_, finding, key, {rank_}, given...));
  }

  // Keeps the first violation. Two kinds count only if all bytes travel to their own places, so they are kept apart.
  void keep(std::optional<Violation> violation) {
    if (stopped() || !violation) return;
    std::optional<Violation>& into = violation->property == Property::kOnce    ? again_
                                     : violation->property == Property::kPlace ? elsewhere_
                                                                               : report_.violation;
    if (!into) into = std::move(violation);
  }

  void walk() {
    held_.clear();
    history_.clear();
    has_own_ = held_unknown_ = false;
    last_key_.reset();
    epoch_ = INT64_MIN;
    Walker walker;
    code_.start(binding_, rank_, walker, registers_.data());
    int64_t plain = 0;  // iterations to walk before the next try of a batch
    for (bool open = false;;) {
      const Pause pause = code_.run<PauseAtLoops>(binding_, walker, registers_.data(), *this);
      outside_ = pause == Pause::kOutside;
      if (open && pause != Pause::kUndefined) take(step_);
      open = pause == Pause::kStep;
      if (stopped()) return;
      switch (pause) {
        case Pause::kStep: begin_step(walker); break;
        case Pause::kOutside: epoch_ = last_key_.value_or(INT64_MIN); break;
        case Pause::kLoop:
          if (--plain <= 0) plain = take_batches(walker);
          break;
        case Pause::kEnd: return;
        case Pause::kUndefined: return fail(kUndefinedValue, last_key_, walker.why);
        default: unclear_ = true; return;
      }
    }
  }

  void begin_step(const Walker& walker) {
    step_.count = 1;
    step_.has_step = true;
    step_.has_after = walker.has_after;
    step_.key = {walker.key, 0};
    step_.after = {walker.after, 0};
    step_.messages.clear();
    step_.pieces.clear();
  }

  // Takes batches while some have several steps. Returns how many iterations to walk before the next try.
  int64_t take_batches(Walker& walker) {
    int64_t singles = 0;
    for (batch_.more = true; batch_.more && singles < kMostSingles && !stopped();) {
      if (!code_.batch(binding_, walker, registers_.data(), batch_)) return kSingles;
      code_.take(walker, registers_.data(), batch_);
      singles = batch_.count == 1 ? singles + 1 : 0;
      if (batch_.has_step) take(batch_);
    }
    return singles < kMostSingles ? 1 : kSingles;
  }

  // Returns whether each message has one peer, and at most one piece, of one length, in all steps. Such steps are
  // taken together, others one by one.
  static bool is_even(const StridedBatch& steps) {
    for (const StridedBatch::Message& message : steps.messages)
      if (message.peer.by != 0 || message.pieces > 1) return false;
    for (const StridedBatch::Piece& piece : steps.pieces)
      if (piece.low.by != piece.high.by) return false;
    return true;
  }

  void take_one_by_one(const StridedBatch& steps) {
    const auto advance = [](Strided& value, int64_t t) { value = {value.at + t * value.by, 0}; };
    for (int64_t t = 0; t < steps.count && !stopped(); ++t) {
      step_ = steps;
      step_.count = 1;
      advance(step_.key, t);
      advance(step_.after, t);
      for (StridedBatch::Message& message : step_.messages) advance(message.peer, t);
      for (StridedBatch::Piece& piece : step_.pieces)
        for (Strided* value : {&piece.block, &piece.low, &piece.high}) advance(*value, t);
      take(step_);
    }
  }

  void take(const StridedBatch& steps) {
    if (steps.count > 1 && !is_even(steps)) return take_one_by_one(steps);
    if (is_great(steps.key) || (steps.has_after && is_great(steps.after))) {
      unclear_ = true;
      return;
    }
    if ((last_key_ && steps.key.at <= *last_key_) || (steps.count > 1 && steps.key.by < 1))
      return fail(kKeyOutOfOrder, last_key_.value_or(steps.key.at), steps.key.at);
    last_key_ = steps.key.last(steps.count);
    note_window(steps);
    keep(port_.use(rank_, steps));
    const Settled settled{steps.has_after ? steps.after : Strided{steps.key.at - 1, steps.key.by},
                          epoch_};
    // Receives first: a step may send what an earlier step of the batch receives. Keys tell which step is earlier.
    for (const Direction direction : {Direction::kReceive, Direction::kSend})
      for (const StridedBatch::Message& message : steps.messages)
        if (message.head.direction == direction && !stopped()) take(steps, message, settled);
  }

  void note_window(const StridedBatch& steps) {
    if (!steps.has_after) {
      sequential_ = true;
      return;
    }
    overlapping_ = true;
    history_.add(steps.key, steps.count);
    report_.limit_window(history_.window(steps.after, steps.count));
  }

  // Takes one message of every step.
  void take(const StridedBatch& steps, const StridedBatch::Message& message,
            const Settled& settled) {
    if (message.head.sized || message.head.remote) {
      unclear_ = true;
      return;
    }
    const int64_t peer = message.peer.at;
    if (peer == rank_) return fail(kSendsToItself, steps.key.at);
    if (peer < 0 || peer >= ranks_) return fail(kNoSuchRank, steps.key.at, peer, ranks_);
    const bool send = message.head.direction == Direction::kSend;
    MessageList& messages = pairs_.at(rank_, peer, message.head.direction);
    if (!messages.empty() && messages.last_key() >= steps.key.at)
      return keep(violation_of(processes_, kTwoMessages, steps.key.at, {rank_, peer}, Named{peer}));
    if (send) {
      (message.pieces > 0 ? report_.messages : report_.tokens) += steps.count;
      if (message.pieces > 0) keys_.add(steps.key, steps.count);
    }
    if (message.pieces == 0)
      messages.add({steps.key, {}, {}, MessageBatch::kNothing, steps.count, true});
    for (int32_t i = 0; i < message.pieces && !stopped(); ++i)
      take(steps, steps.pieces[message.first_piece + i], send, i == 0, settled, messages);
  }

  // Takes one piece of every step.
  void take(const StridedBatch& steps, const StridedBatch::Piece& piece, bool send, bool begins,
            const Settled& settled, MessageList& messages) {
    Strided block = piece.block;
    const bool own = send && piece.buffer == Buffer::kSend && block == Strided{0, 0};
    if (own) block = {rank_, 0};  // holds the same bytes
    if ((!own && piece.buffer != Buffer::kReceive) ||
        (piece.ranged && (is_great(piece.low) || is_great(piece.high)))) {
      unclear_ = true;
      return;
    }
    for (const int64_t end : {block.at, block.last(steps.count)})
      if (end < 0 || end >= ranks_) return fail(kNoSuchBlock, steps.key.at, whole(end), ranks_);
    MessageBatch batch{steps.key, block, {}, MessageBatch::kWhole, steps.count, begins};
    if (piece.ranged) {
      batch.low = piece.low;
      batch.length = piece.high.at - piece.low.at;
    }
    messages.add(batch);
    for (int64_t t = 0; t < steps.count && !stopped();)
      t += take_tiles(steps, piece, block, send, t, settled);
  }

  // Takes the piece of step t. If all steps name one block, takes their pieces, too. Returns how many it took.
  int64_t take_tiles(const StridedBatch& steps, const StridedBatch::Piece& piece,
                     const Strided& block, bool send, int64_t t, const Settled& settled) {
    const int64_t owner = block.at + t * block.by, key = steps.key.at + t * steps.key.by;
    const int64_t count = block.by == 0 ? steps.count : 1;
    Tiles tiles{{key, steps.key.by}, {}, lengths_[owner], count};
    if (piece.ranged) {
      tiles.low = {piece.low.at + t * piece.low.by, piece.low.by};
      tiles.length = piece.high.at - piece.low.at;
    }
    const auto [low, high] = std::minmax({tiles.low.at, tiles.low.last(count)});
    if (low < 0 || tiles.length < 0 || high + tiles.length > lengths_[owner])
      fail(Property::kBlock, key,
           fmt::format("names {}..{} of {}, which is {} long", tiles.low.at,
                       tiles.low.at + tiles.length, text(whole(owner)), lengths_[owner]));
    else if (tiles.length == 0)
      empty(owner, key);
    else if (!send)
      arrive(owner, tiles);
    else if (piece.buffer == Buffer::kReceive && !held_unknown_)
      check_held(owner, tiles,
                 {{settled.after.at + t * settled.after.by, settled.after.by}, settled.epoch});
    return count;
  }

  void empty(int64_t owner, int64_t key) {
    if (!knows_counts_) unclear_ = true;
    fail(Property::kEmpty, key, fmt::format("has nothing of block {} in a message", owner));
  }

  void check_held(int64_t owner, const Tiles& tiles, const Settled& settled) {
    switch (held_.ask(owner, tiles, settled)) {
      case HeldRanges::Held::kSettled: return;
      case HeldRanges::Held::kNo: return fail(kNotHeld, tiles.key.at, whole(owner));
      case HeldRanges::Held::kInFlight:
        return fail(Property::kOverlap, tiles.key.at,
                    fmt::format("sends of block {} what an earlier step brings that may be in "
                                "flight together with this one",
                                owner));
    }
  }

  void arrive(int64_t owner, const Tiles& tiles) {
    // This checker does not know whether a call in place has already sent what this overwrites.
    if (owner == rank_ && !has_own_) unclear_ = true;
    switch (held_.arrive(owner, tiles)) {
      case HeldRanges::Arrival::kNew: return;
      case HeldRanges::Arrival::kUnclear: unclear_ = true; return;
      case HeldRanges::Arrival::kAgain:
        held_unknown_ = true;
        return fail(kArrivesAgain, tiles.key.at, whole(owner));
    }
  }

  void finish_rank() {
    for (int64_t owner = 0; owner < ranks_; ++owner)
      if (lengths_[owner] > 0 && !held_unknown_ && !held_.whole(owner, lengths_[owner]))
        return keep(not_filled(processes_, rank_, owner, "is not filled"));
    keep(pairs_.settle(rank_));
  }

  const Program& program_;
  const Binding& binding_;
  const Code code_;
  const int64_t ranks_;
  const bool knows_counts_;
  const std::vector<int64_t> lengths_;

  // The current rank.
  int64_t rank_ = 0;
  std::vector<int64_t> registers_;
  StridedBatch step_, batch_;
  HeldRanges held_;
  KeyHistory history_;
  std::optional<int64_t> last_key_;
  int64_t epoch_ = INT64_MIN;  // steps up to this key are complete: a copy has waited for them
  bool has_own_ = false, outside_ = false;
  bool held_unknown_ = false;  // data has arrived twice, so the rank's contents are unknown

  const Processes processes_;
  RankPort port_;
  Pairs pairs_;
  const Tell& tell_;
  KeySet keys_;
  bool sequential_ = false, overlapping_ = false, unclear_ = false;
  std::optional<Violation> again_, elsewhere_;  // data that arrives twice, or in another place
  Report report_;
};

}  // namespace

bool fits_rank_by_rank(const Program& program, const CheckOptions& options) {
  return program.collective == Collective::kAllgather && program.groups == 1 && !options.ports;
}

std::optional<Report> check_rank_by_rank(const Program& program, const Job& job, const Call& call,
                                         const Binding& binding, const CheckOptions& options) {
  return RankByRankChecker(program, job, call, binding, options.tell).run();
}

}  // namespace quadrille::verifier
