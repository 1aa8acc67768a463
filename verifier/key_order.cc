// The checker of large all-to-alls: it takes all ranks in the order of their keys, and keeps a few bytes per block.
//
// Every rank is a walker that stands before its next step. A timing wheel finds the ranks whose key is next. The
// checker gathers the messages of one key, and matches each receive with its send. It reads all data that they carry
// before it writes any. Both ends of a message must have the same key, and keys strictly increase at a rank. So
// induction over keys gives progress without any buffering. Most steps exchange one block with one rank, mostly in
// loops whose iterations differ by constant strides. Such exchanges are matched at once. Memory: a bit per pair of
// ranks, 12 bytes per temporary block, and some 500 bytes per rank. Tested by tests/verifier/key_order_test.cc.
#include <fmt/core.h>

#include "verifier/check.h"
#include "verifier/findings.h"
#include "verifier/key_order.h"
#include "verifier/port_accounting.h"
#include "verifier/strides.h"

namespace quadrille::verifier {
namespace {

// With at most this many ranks, the number of a block in a temporary buffer fits into 32 bits.
constexpr int64_t kMostRanks = 65535;
// After a loop that was no loop of exchanges, the walk makes this many iterations before it tries a loop again.
constexpr int32_t kPlainSteps = 64;

// The blocks of all ranks. The number of a block is source*ranks + target.
//
// For receive buffers, one bit per pair of ranks says whether the block has arrived. For each temporary block, Held
// says what it holds, and in which steps its rank last wrote and last read it. The last access is enough, since it is
// the nearest. A temporary block may be read only once: a second read makes a second copy. Nothing is sent from a
// receive buffer, so one of the copies has no place to go. A step reads everything before it writes.
class Blocks {
 public:
  // The place of a received piece: block b of the receive buffer is b, block b of the temporary buffer is -1 - b.
  using Place = int32_t;
  static Place place(const PieceValue& piece) {
    const auto block = static_cast<Place>(piece.block);
    return piece.buffer == Buffer::kReceive ? block : -1 - block;
  }

  Blocks(const Program& program, const Binding& binding, Findings& findings)
      : ranks_(binding.place.ranks),
        temporary_blocks_(binding.temporary_blocks),
        row_words_((ranks_ + 63) / 64),
        claims_in_place_(program.in_place),
        findings_(findings),
        arrived_(ranks_ * row_words_, 0),
        held_(ranks_ * temporary_blocks_) {}

  // Returns the number of the block that the rank sends or copies from this piece of its send or temporary buffer.
  int64_t read(int64_t rank, NumberedStep step, const PieceValue& piece) {
    if (piece.buffer == Buffer::kTemporary) return read_temporary(rank, step, piece.block);
    if (piece.block != rank && has_arrived(piece.block, rank)) {
      in_place_ = false;
      if (claims_in_place_)
        findings_.add(kReadAfterOverwritten, findings_.key, {rank}, piece.block, piece.block);
    }
    return rank * ranks_ + piece.block;
  }
  void write(int64_t rank, NumberedStep step, Place where, int64_t block) {
    if (where < 0)
      write_temporary(rank, step, -1 - where, static_cast<Name>(block));
    else if (block == where * ranks_ + rank)
      arrive(where, rank);
    else
      belongs_elsewhere(rank, where, block);
  }
  void arrive(int64_t source, int64_t target) {
    uint64_t& bits = arrived_[word(source, target)];
    const uint64_t bit = uint64_t{1} << (source % 64);
    if (bits & bit) return arrives_again(source, target);
    bits |= bit;
    ++count_;
  }
  void prefetch(int64_t source, int64_t target) const {
    __builtin_prefetch(&arrived_[word(source, target)], 1);
  }

  // Checks that all blocks have arrived, and that none was moved in vain.
  void finish() {
    if (count_ < ranks_ * ranks_) {
      int64_t pair = 0;
      while (has_arrived(pair % ranks_, pair / ranks_)) ++pair;
      const int64_t source = pair % ranks_, target = pair / ranks_;
      findings_.add(violation_in_words(
          findings_.processes, Property::kCoverage, {}, {target, source},
          fmt::format("rank {}'s block never arrives at rank {}", source, target)));
    }
    const auto left = std::find_if(held_.begin(), held_.end(), is_unused) - held_.begin();
    if (left < static_cast<int64_t>(held_.size()))
      findings_.add(
          left_over(findings_.processes, left / temporary_blocks_, left % temporary_blocks_));
  }
  // Returns whether each block was sent no later than its place in the receive buffer was written.
  bool in_place() const { return in_place_; }

 private:
  using Name = uint32_t;  // the number of a block, in a temporary block
  static constexpr Name kNone = UINT32_MAX;
  struct Held {
    Name name = kNone;
    int32_t written = 0, read = 0;  // the steps of the last write and read
  };

  size_t word(int64_t source, int64_t target) const { return target * row_words_ + source / 64; }
  bool has_arrived(int64_t source, int64_t target) const {
    return arrived_[word(source, target)] >> (source % 64) & 1;
  }
  static bool is_unused(const Held& held) {
    return held.name != kNone && held.written >= held.read;
  }
  // Returns whether the earlier step may still be in flight during this one.
  static bool disturbs(NumberedStep step, int32_t earlier) {
    return step.over < earlier && earlier < step.number;
  }

  int64_t read_temporary(int64_t rank, NumberedStep step, int64_t block) {
    Held& held = held_[rank * temporary_blocks_ + block];
    if (held.name == kNone)
      wrong(kNotHeld, rank, block);
    else if (held.read > held.written)
      wrong(kAgain, rank, block);  // this read makes a second copy
    else if (disturbs(step, held.written))
      wrong(kTogether, rank, block);
    else
      held.read = step.number;
    return held.name;
  }
  void write_temporary(int64_t rank, NumberedStep step, int64_t block, Name name) {
    Held& held = held_[rank * temporary_blocks_ + block];
    if (held.name == name)
      wrong(kAgain, rank, block);
    else if (is_unused(held))
      wrong({Property::kOverwrite, "overwrites {} before it was used"}, rank, block);
    else if (disturbs(step, held.written) || disturbs(step, held.read))
      wrong(kTogether, rank, block);
    else
      held = {name, step.number, held.read};
  }

  static constexpr Finding kAgain{Property::kOnce, "uses {} again, or gets what is there already"};
  static constexpr Finding kTogether{
      Property::kOverlap,
      "touches {} in a step, and in an earlier one that may still be in flight"};
  [[gnu::cold]] void wrong(const Finding& finding, int64_t rank, int64_t block) {
    findings_.add(finding, findings_.key, {rank},
                  PieceValue{Buffer::kTemporary, block, false, 0, 0});
  }
  [[gnu::cold]] void arrives_again(int64_t source, int64_t target) {
    findings_.add(violation_in_words(
        findings_.processes, Property::kOnce, findings_.key, {target, source},
        fmt::format("rank {}'s block arrives again at rank {}", source, target)));
  }
  [[gnu::cold]] void belongs_elsewhere(int64_t rank, Place where, int64_t block) {
    findings_.add(Property::kPlace, {rank},
                  fmt::format("gets into block {} of its receive buffer what belongs elsewhere: "
                              "rank {}'s block for rank {}",
                              where, block / ranks_, block % ranks_));
  }

  const int64_t ranks_, temporary_blocks_, row_words_;
  const bool claims_in_place_;
  Findings& findings_;
  std::vector<uint64_t> arrived_;
  int64_t count_ = 0;  // blocks that have arrived
  std::vector<Held> held_;
  bool in_place_ = true;
};

struct KeyMessage {
  int32_t source, target;
  int64_t number;  // index of the message in the checker's list
  bool matched = false;
};

// The messages of one key. Sends are kept by sender, so that a receive finds its send.
class KeyMessages {
 public:
  explicit KeyMessages(int64_t ranks) : first_send_(ranks, 0), send_count_(ranks, 0) {}

  // Adds one send. All sends of a rank are added consecutively.
  void add_send(int32_t source, int32_t target, int64_t number) {
    if (send_count_[source]++ == 0) first_send_[source] = sends_.size();
    sends_.push_back({source, target, number});
  }
  void add_receive(int32_t source, int32_t target, int64_t number) {
    receives_.push_back({source, target, number});
  }

  // Calls deliver(send, receive) for each receive and its send, up to the first violation. A message without its other
  // end is a violation.
  template <class Deliver>
  void match(Findings& findings, Deliver deliver) {
    sort();
    for (const KeyMessage& receive : receives_) {
      KeyMessage* send = find_send(receive.source, receive.target);
      if (!send)
        return findings.add(kReceiveWithoutSend, findings.key, {receive.target, receive.source},
                            Named{receive.source});
      if (send->matched)
        return findings.add(Property::kOrder, {receive.target, receive.source},
                            fmt::format("receives twice from rank {} in a step", receive.source));
      send->matched = true;
      deliver(*send, receive);
      if (findings.any()) return;
    }
    for (const KeyMessage& send : sends_) {
      if (send.matched) continue;
      if (find_send(send.source, send.target)->matched)
        return findings.add(Property::kOrder, {send.source, send.target},
                            fmt::format("sends twice to rank {} in a step", send.target));
      return findings.add(kSendWithoutReceive, findings.key, {send.source, send.target},
                          Named{send.target});
    }
  }

  void clear() {
    for (const KeyMessage& send : sends_) send_count_[send.source] = 0;
    sends_.clear();
    receives_.clear();
  }

 private:
  static constexpr int32_t kFew = 8;

  // Sorts the sends of each rank that has many. Short lists are searched linearly.
  void sort() {
    for (size_t first = 0; first < sends_.size(); first += send_count_[sends_[first].source])
      if (send_count_[sends_[first].source] > kFew)
        std::sort(&sends_[first], &sends_[first] + send_count_[sends_[first].source],
                  [](const KeyMessage& a, const KeyMessage& b) { return a.target < b.target; });
  }

  // Returns the first send of `source` to `target`, or nullptr.
  KeyMessage* find_send(int32_t source, int32_t target) {
    if (send_count_[source] == 0) return nullptr;
    KeyMessage* first = &sends_[first_send_[source]];
    KeyMessage* last = first + send_count_[source];
    if (send_count_[source] > kFew)
      first = std::lower_bound(first, last, target,
                               [](const KeyMessage& a, int32_t b) { return a.target < b; });
    else
      while (first != last && first->target != target) ++first;
    return first != last && first->target == target ? first : nullptr;
  }

  std::vector<KeyMessage> sends_, receives_;
  std::vector<int32_t> first_send_, send_count_;  // by rank: the range of its sends in sends_
};

std::string pieces(size_t count) {
  return count == 0 ? "nothing" : count == 1 ? "one piece" : fmt::format("{} pieces", count);
}

class KeyOrderChecker : public SinkOf<KeyOrderChecker> {
 public:
  KeyOrderChecker(const Program& program, const Job& job, const Binding& binding,
                  const CheckOptions& options)
      : binding_(binding),
        code_(*Code::compile(program)),
        ranks_(binding.place.ranks),
        waits_(StepNumbers::are_named(program)),
        accounting_(program, job, options),
        registers_(ranks_ * code_.registers()),
        walks_(ranks_),
        loops_(ranks_),
        queue_(ranks_),
        matching_(ranks_),
        partner_(ranks_, -1),
        processes_({binding}),
        blocks_(program, binding, findings_),
        tell_(options.tell) {}

  std::optional<Report> run() {
    for (int64_t rank = 0; rank < ranks_ && !stopped(); ++rank) {
      code_.start(binding_, rank, walks_[rank].walker, registers(rank));
      proceed(rank);
    }
    run_copies();
    while (!queue_.empty() && !stopped()) {
      if (tell_) tell_("messages", report_.messages, 0);
      advance();
    }
    if (unclear_) return std::nullopt;
    if (!stopped()) finish();
    report_.violation = findings_.violation;
    return report_;
  }

  // The walk calls these for the actions of the current rank in its step, or before its first one. The first two
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
    if (head.peer == current_) return findings_.add(kSendsToItself, findings_.key, {current_});
    if (!is_peer(head.peer))
      return findings_.add(kNoSuchRank, findings_.key, {current_}, head.peer, ranks_);
    const auto peer = static_cast<int32_t>(head.peer);
    const auto number = static_cast<int64_t>(messages_.size());
    if (head.direction == Direction::kSend)
      matching_.add_send(current_, peer, number);
    else
      matching_.add_receive(peer, current_, number);
  }
  void piece(const PieceValue& piece) {
    if (!check_block(piece)) return;
    if (open_->direction == Direction::kReceive)
      received_places_.push_back(Blocks::place(piece));
    else
      sent_blocks_.push_back(blocks_.read(current_, walks_[current_].step, piece));
  }
  void copy(const PieceValue& from, const PieceValue& to) {
    if (!check_block(from) || !check_block(to)) return;
    if (outside_) {
      walks_[current_].step = walks_[current_].numbers.copy();
    } else if (from.buffer == Buffer::kTemporary || to.buffer == Buffer::kTemporary) {
      unclear_ = true;  // the read precedes the step's writes, and the write follows them
      return;
    }
    outside_ ? accounting_.copy_outside(current_) : accounting_.copy(current_);
    const NumberedStep step = walks_[current_].step;
    const int64_t block = blocks_.read(current_, step, from);
    if (!stopped()) blocks_.write(current_, step, Blocks::place(to), block);
  }

 private:
  struct BlockMessage {
    MessageHead head;
    PieceValue piece;
  };
  // A rank's progress.
  struct Walk {
    Walker walker;
    StepNumbers numbers;
    NumberedStep step;  // the current step, or copy outside steps
    int32_t plain = 0;  // iterations to walk until the next try of a loop
  };
  struct Pieces {
    Direction direction;
    bool sized;
    size_t first, count;  // in sent_blocks_ or received_places_
  };

  bool stopped() const { return findings_.any() || unclear_; }
  bool is_peer(int64_t number) const {
    return 0 <= number && number < ranks_ && number != current_;
  }
  bool check_block(const PieceValue& piece) {
    const int64_t blocks = piece.buffer == Buffer::kTemporary ? binding_.temporary_blocks : ranks_;
    if (0 <= piece.block && piece.block < blocks) return true;
    findings_.add(kNoSuchBlock, findings_.key, {current_}, piece, blocks);
    return false;
  }
  int64_t* registers(int64_t rank) { return &registers_[rank * code_.registers()]; }
  size_t pieces_of(Direction direction) const {
    return direction == Direction::kSend ? sent_blocks_.size() : received_places_.size();
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

  // Call it when the current rank has walked through its step, or through the statements before one.
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

  // Walks the rank through its step, and stops before its next step or copy outside steps. A step goes into the queue
  // by its key. A copy waits for the data of this step.
  void proceed(int32_t rank) {
    current_ = rank;
    Walker& walker = walks_[rank].walker;
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
          return findings_.add(kUndefinedValue, findings_.key, {rank}, walker.why);
        default: check(false, "a walk that pauses at loops does not pause within steps");
      }
    }
  }

  // Runs the copies that ranks have reached, up to their next steps.
  void run_copies() {
    outside_ = true;
    for (const int32_t rank : copying_)
      if (!stopped()) proceed(rank);
    copying_.clear();
    outside_ = false;
  }

  // Enters the steps that the rank reaches next.
  void enter(int32_t rank, const StridedBatch::Strided& key, const StridedBatch::Strided& after,
             int64_t count) {
    const bool has_after = walks_[rank].walker.has_after;
    StepNumbers& numbers = walks_[rank].numbers;
    if (!numbers.increases(key.at))
      return findings_.add(kKeyOutOfOrder, findings_.key, {rank}, key.at);
    for (const int64_t number :
         {key.at, key.last(count), has_after ? after.at : 0, has_after ? after.last(count) : 0})
      unclear_ |= KeyHistory::is_great(number);
    if (unclear_) return;
    numbers.enter(key, count, waits_);
    if (has_after) {
      accounting_.overlapping_step();
      if (waits_)
        report_.limit_window(numbers.keys().window(after, count));
      else
        unclear_ |= after.at >= numbers.first();
    } else {
      sequential_ = true;
    }
    queue_.add(rank, key.at);
  }

  // Copies the loop of exchanges that the rank has reached out of its walk. Returns false if it is no such loop.
  bool begin_loop(int32_t rank) {
    if (--walks_[rank].plain > 0) return false;
    Walker& walker = walks_[rank].walker;
    walks_[rank].plain = kPlainSteps;
    if (!code_.batch(binding_, walker, registers(rank), batch_)) return false;
    const std::optional<ExchangeLoop> loop = ExchangeLoop::of(batch_, rank, ranks_);
    if (!loop) return false;
    code_.take(walker, registers(rank), batch_);
    walks_[rank].plain = 0;
    loops_[rank] = *loop;
    enter(rank, batch_.key, batch_.after, batch_.count);
    return true;
  }

  // Does the current step of the rank's loop, and moves to the next step.
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

  // Processes everything at the next key.
  void advance() {
    int32_t rank = queue_.advance();
    if (rank < 0) return;
    findings_.key = queue_.now();
    while (rank >= 0 && !stopped()) {
      const int32_t next = queue_.take(rank);
      if (next >= 0) __builtin_prefetch(&loops_[next], 1);
      if (loops_[rank].left > 0) {
        go_on(rank);
      } else {
        walks_[rank].step = walks_[rank].numbers.step(walks_[rank].walker);
        proceed(rank);
      }
      rank = next;
    }
    match_exchanges();
    if (!stopped())
      matching_.match(findings_, [this](const KeyMessage& send, const KeyMessage& receive) {
        deliver(send, receive);
      });
    if (const auto& conflict = accounting_.conflict(); conflict && !stopped())
      findings_.add(port_overused(processes_, findings_.key, conflict->source, conflict->target,
                                  accounting_.port_per_node(), conflict->unit));
    accounting_.end_key();
    matching_.clear();
    messages_.clear();
    sent_blocks_.clear();
    received_places_.clear();
    run_copies();
  }

  // Matches the exchanges whose ranks name each other. Files the others as single messages.
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
        accounting_.exchange(rank, peer);
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
      return findings_.add(Property::kLength, {source, target},
                           fmt::format("sends {}, rank {} receives {}", pieces(sent.count), target,
                                       pieces(received.count)));
    if (sent.sized != received.sized)
      return findings_.add(kLengthsAheadAtOneEnd, findings_.key, {source, target}, Named{target});
    for (size_t i = 0; i < sent.count && !stopped(); ++i) {
      const int64_t block = sent_blocks_[sent.first + i];
      const Blocks::Place place = received_places_[received.first + i];
      if (!sent.sized && place < 0 && block % ranks_ != target && !report_.uneven)
        report_.uneven = violation_of(processes_, kLengthUnknown, findings_.key, {target},
                                      PieceValue{Buffer::kTemporary, -1 - place, false, 0, 0});
      blocks_.write(target, walks_[target].step, place, block);
    }
    single_ &= sent.count <= 1;
    (sent.count > 0 ? report_.messages : report_.tokens) += 1;
    accounting_.message(source, target, sent.count > 0);
  }

  void finish() {
    findings_.key.reset();
    blocks_.finish();
    accounting_.finish(report_, single_);
    if (sequential_) report_.safe_window = 1;
    report_.in_place = blocks_.in_place();
  }

  const Binding& binding_;
  const Code code_;
  const int64_t ranks_;
  const bool waits_;  // some step's `after` names steps above key -1
  PortAccounting accounting_;

  // The walks, by rank.
  std::vector<int64_t> registers_;
  std::vector<Walk> walks_;
  std::vector<ExchangeLoop> loops_;
  StridedBatch batch_;
  KeyQueue queue_;
  std::vector<int32_t> copying_;  // ranks that have reached a copy outside steps
  bool outside_ = false;          // true while they run it
  int32_t current_ = 0;           // the current rank

  // What belongs to the current key.
  BlockMessage kept_[2];
  int kept_count_ = 0;
  bool filed_ = false;  // the step is no exchange: its messages are filed
  KeyMessages matching_;
  std::optional<Pieces> open_;
  std::vector<Pieces> messages_;
  std::vector<int64_t> sent_blocks_;
  std::vector<Blocks::Place> received_places_;
  std::vector<int32_t> partner_, exchanging_;  // by rank: its partner or -1; ranks that exchange

  const Processes processes_;
  Findings findings_{processes_};
  Blocks blocks_;
  const Tell& tell_;
  bool sequential_ = false, unclear_ = false, single_ = true;
  Report report_;
};

}  // namespace

std::optional<Report> check_key_order(const Program& program, const Job& job,
                                      const Binding& binding, const CheckOptions& options) {
  if (binding.temporary_blocks > 0 && binding.place.ranks > kMostRanks) return std::nullopt;
  return KeyOrderChecker(program, job, binding, options).run();
}

}  // namespace quadrille::verifier
