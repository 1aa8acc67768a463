// The general checker: every rank is a context that runs until its step cannot go on; messages meet
// by rendezvous, with no buffering.
//
// A step is posted as a whole: first everything that it sends, copies or combines is read, then its
// messages join the queues of their directed pairs of ranks, where the t-th send meets the t-th
// receive. The step ends when all its messages have met; what it combines with what is there lands
// then, in the order of the statements. The steps of a body run strictly one after
// another here, which is the hardest case for progress: a window, or `after`, only posts more
// messages earlier and in the same order. Peers are static, so one execution decides for every
// timing. That steps in flight together do not disturb each other is asked of memory, which knows
// who touched what at which key.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>

#include "verifier/bounds.h"
#include "verifier/ledger.h"
#include "verifier/memory.h"
#include "verifier/rendezvous.h"

namespace quadrille::verifier {
namespace {

// A message, or a copy where source and target are one.
struct Booking {
  int64_t key;
  int32_t source, target;
  bool block;  // a message with pieces; a copy in a step
};

class Executor {
 public:
  Executor(const Program& program, const Job& job, const Call& call,
           const std::vector<Binding>& bindings, const CheckOptions& options)
      : program_(program),
        job_(job),
        bindings_(bindings),
        code_(*Code::compile(program)),
        roster_(bindings),
        findings_(roster_),
        knows_counts_(uses_counts(program)),
        memory_(program, call, bindings, roster_, findings_),
        ledger_(program, job, options) {}

  Report run() {
    rendezvous_.contexts.resize(roster_.size());
    for (int process = 0; process < roster_.size(); ++process) add_rank(process);
    while (!ready_.empty() && !findings_.any()) {
      Context& next = rendezvous_.contexts[ready_.front()];
      ready_.pop_front();
      go(next);
    }
    if (!findings_.any()) ask_progress(rendezvous_, roster_, findings_);
    if (!findings_.any()) memory_.finish();
    if (!findings_.any()) book();
    report_.violation = findings_.violation();
    return report_;
  }

  // The walk's sink: a step is gathered, and done when it is posted; outside steps things are done
  // at once.
  void block_message(const MessageHead& head, Buffer buffer, int64_t block) {
    message(head);
    piece({buffer, block, false, 0, 0});
  }
  void message(const MessageHead& head) { gathered_.push_back({head, {}}); }
  void piece(const PieceValue& piece) { gathered_.back().pieces.push_back(piece); }
  void message_end() {}
  void copy(const PieceValue& from, const PieceValue& to) { local({std::nullopt, from, to}); }
  void reduce(Side side, const PieceValue& from, const PieceValue& into) {
    local({side, from, into});
  }

 private:
  struct Gathered {
    MessageHead head;
    std::vector<PieceValue> pieces;
  };
  struct Local {
    std::optional<Side> combine_on;  // a copy where there is none
    PieceValue from, to;
  };

  void fail(Property property, const Context& context, const std::vector<int>& others,
            std::string detail) {
    std::vector<int> processes = {context.process};
    processes.insert(processes.end(), others.begin(), others.end());
    findings_.add(property, context.key, processes,
                  roster_.name(context.process) + " " + std::move(detail));
  }

  void add_rank(int process) {
    const Place& place = roster_.place(process);
    Context& context = rendezvous_.contexts[process];
    context.process = process;
    context.registers.resize(code_.registers());
    code_.start(bindings_[place.group], place.rank, context.walker, context.registers.data());
    ready_.push_back(process);
  }

  Use use(const Context& context, bool in_step) const {
    return {context.process, context.epoch, context.key, context.walker.after, in_step};
  }

  void go(Context& context) {
    const Binding& binding = bindings_[roster_.place(context.process).group];
    current_ = &context;
    in_step_ = false;
    land(context);
    while (!findings_.any()) {
      const Pause pause =
          code_.run<PauseAtAll>(binding, context.walker, context.registers.data(), *this);
      switch (pause) {
        case Pause::kStep: enter(context); break;
        case Pause::kStepEnd:
          post(context);
          if (context.unmet > 0) return;
          land(context);
          break;
        case Pause::kOutside: ++context.epoch; break;
        case Pause::kLoop: break;
        case Pause::kEnd: return;
        case Pause::kUndefined:
          return fail(Property::kDefined, context, {},
                      fmt::format("meets {}", describe(context.walker.why)));
      }
    }
  }

  void enter(Context& context) {
    const int64_t key = context.walker.key;
    if (context.key && key <= *context.key)
      return fail(Property::kOrder, context, {}, fmt::format("goes on to step {}", key));
    context.key = key;
    gathered_.clear();
    locals_.clear();
    in_step_ = true;
    note_window(context);
  }

  // How many steps may be in flight when this one starts: those above its `after`, itself included.
  void note_window(const Context& context) {
    if (!context.walker.has_after) {
      sequential_ = true;
      return;
    }
    ledger_.overlapping_step();
    std::vector<int64_t>& keys = keys_[context.process];
    keys.push_back(*context.key);
    const auto first = std::upper_bound(keys.begin(), keys.end(), context.walker.after);
    if (first == keys.begin()) return;
    // Itself is in flight in any case, also where `after` is its own key.
    report_.limit_window(std::max<int64_t>(1, keys.end() - first));
  }

  void local(const Local& local) {
    if (in_step_) return locals_.push_back(local);
    run_locals(*current_, {local});
  }

  // Copies and reductions that stand together: all are read before any is written.
  void run_locals(const Context& context, const std::vector<Local>& locals) {
    const Use use = this->use(context, in_step_);
    std::vector<Part> results;
    for (const Local& local : locals) {
      results.push_back(memory_.read(use, local.from));
      if (local.combine_on && !findings_.any())
        results.back() =
            memory_.combine(use, results.back(), memory_.read(use, local.to), *local.combine_on);
    }
    for (size_t i = 0; i < locals.size() && !findings_.any(); ++i) {
      memory_.write(use, locals[i].to, results[i], true);
      bookings_.push_back({context.key.value_or(0), context.process, context.process, in_step_});
    }
  }

  void post(Context& context) {
    const Use use = this->use(context, true);
    std::vector<Posted> posted;
    for (const Gathered& message : gathered_) {
      posted.push_back({use, message.head.sized, {}, -1});
      for (const PieceValue& piece : message.pieces) {
        const bool send = message.head.direction == Direction::kSend;
        posted.back().parts.push_back(send ? memory_.read(use, piece) : memory_.target(use, piece));
        if (send && knows_counts_ && !message.head.sized && posted.back().parts.back().length == 0)
          fail(Property::kEmpty, context, {},
               fmt::format("sends nothing of block {} to rank {}", piece.block, message.head.peer));
      }
    }
    run_locals(context, locals_);
    in_step_ = false;
    add_landings(context, posted);
    std::set<std::pair<int, Direction>> seen;
    for (size_t i = 0; i < gathered_.size() && !findings_.any(); ++i) {
      const MessageHead& head = gathered_[i].head;
      const std::optional<int> peer = peer_of(context, head);
      if (!peer) return;
      if (!seen.insert({*peer, head.direction}).second)
        return fail(Property::kOrder, context, {*peer},
                    fmt::format("has two messages in one direction with {} in a step",
                                roster_.name(*peer)));
      ++context.unmet;
      enqueue(context, std::move(posted[i]), *peer, head.direction);
    }
  }

  // Where the step combines something, all that it receives waits until its end.
  void add_landings(Context& context, std::vector<Posted>& posted) {
    if (std::none_of(gathered_.begin(), gathered_.end(),
                     [](const Gathered& message) { return message.head.combine; }))
      return;
    for (size_t i = 0; i < gathered_.size(); ++i) {
      if (gathered_[i].head.direction == Direction::kSend) continue;
      posted[i].landing = static_cast<int>(context.landings.size());
      context.landings.push_back({gathered_[i].head.combine, gathered_[i].pieces, {}});
    }
  }

  void land(Context& context) {
    const Use use = this->use(context, true);
    for (const Landing& landing : context.landings)
      for (size_t i = 0; i < landing.pieces.size() && !findings_.any(); ++i) {
        const PieceValue& piece = landing.pieces[i];
        const Part& arrived = landing.arrived[i];
        if (!landing.combine) {
          memory_.write(use, piece, arrived, false);
          continue;
        }
        const Part there = memory_.read(use, piece);
        if (findings_.any()) return;
        memory_.write(use, piece, memory_.combine(use, arrived, there, *landing.combine), false);
      }
    context.landings.clear();
  }

  std::optional<int> peer_of(const Context& context, const MessageHead& head) {
    const Place& place = roster_.place(context.process);
    const int64_t ranks = head.remote ? place.remote_ranks : place.ranks;
    const int peer = roster_.index(head.remote ? 1 - place.group : place.group, head.peer);
    if (head.peer < 0 || head.peer >= ranks)
      fail(Property::kPeer, context, {}, fmt::format("names rank {} of {}", head.peer, ranks));
    else if (peer == context.process)
      fail(Property::kSelfMessage, context, {}, "sends to itself");
    else
      return peer;
    return std::nullopt;
  }

  void enqueue(const Context& context, Posted posted, int peer, Direction direction) {
    const bool send = direction == Direction::kSend;
    const int source = send ? context.process : peer, target = send ? peer : context.process;
    PairQueue& queue = rendezvous_.queue(source, target);
    (send ? queue.sends : queue.receives).push_back(std::move(posted));
    if (queue.sends.empty() || queue.receives.empty()) return;
    meet(queue.sends.front(), queue.receives.front(), source, target);
    queue.sends.pop_front();
    queue.receives.pop_front();
  }

  void meet(const Posted& sent, const Posted& received, int source, int target) {
    Context& sender = rendezvous_.contexts[source];
    Context& receiver = rendezvous_.contexts[target];
    ask_agreement(sender, receiver, sent, received);
    for (size_t i = 0; i < sent.parts.size() && !findings_.any(); ++i) {
      if (!received.sized) memory_.note_length(received.use, sent.parts[i]);
      if (received.landing < 0)
        memory_.write(received.use, received.parts[i].piece, sent.parts[i], false);
    }
    if (received.landing >= 0) receiver.landings[received.landing].arrived = sent.parts;
    single_ &= sent.parts.empty() || (sent.parts.size() == 1 && !sent.parts[0].piece.ranged);
    bookings_.push_back({*sent.use.key, source, target, !sent.parts.empty()});
    for (Context* context : {&sender, &receiver})
      if (--context->unmet == 0 && context != current_) ready_.push_back(context->process);
  }

  void ask_agreement(const Context& sender, const Context& receiver, const Posted& sent,
                     const Posted& received) {
    const std::string peer = roster_.name(receiver.process);
    if (sent.use.key != received.use.key)
      return fail(Property::kKeys, sender, {receiver.process},
                  fmt::format("sends in step {} what {} receives in step {}", *sent.use.key, peer,
                              *received.use.key));
    if (sent.parts.size() != received.parts.size())
      return fail(Property::kLength, sender, {receiver.process},
                  fmt::format("sends {} pieces, {} receives {}", sent.parts.size(), peer,
                              received.parts.size()));
    if (sent.sized != received.sized)
      return fail(Property::kLength, sender, {receiver.process},
                  fmt::format("and {} disagree whether lengths travel ahead", peer));
    for (size_t i = 0; i < sent.parts.size(); ++i)
      if (received.parts[i].length >= 0 && received.parts[i].length != sent.parts[i].length)
        return fail(Property::kLength, sender, {receiver.process},
                    fmt::format("sends {} as piece {}, {} receives {}", sent.parts[i].length, i,
                                peer, received.parts[i].length));
  }

  // Books everything by key, as the streaming checker does as it goes.
  void book() {
    std::stable_sort(bookings_.begin(), bookings_.end(),
                     [](const Booking& a, const Booking& b) { return a.key < b.key; });
    for (size_t i = 0; i < bookings_.size() && !findings_.any(); ++i) {
      book(bookings_[i]);
      if (i + 1 == bookings_.size() || bookings_[i + 1].key != bookings_[i].key) ledger_.end_key();
    }
    ledger_.finish(report_);
    report_.timed = single_ && ledger_.has_time() && program_.groups == 1 &&
                    program_.collective == Collective::kAlltoall;
    if (report_.timed) report_.lower_bound = alltoall_lower_bound(job_.groups[0]);
    if (sequential_) report_.safe_window = 1;
    report_.in_place = memory_.in_place();
    report_.any_counts = memory_.any_counts();
  }

  void book(const Booking& booking) {
    if (booking.source == booking.target)
      return booking.block ? ledger_.copy(booking.source) : ledger_.copy_outside(booking.source);
    (booking.block ? report_.messages : report_.tokens) += 1;
    ledger_.message(booking.source, booking.target, booking.block);
    if (!ledger_.conflict()) return;
    findings_.add(Property::kPort, booking.key, {booking.source, booking.target},
                  fmt::format("the message from {} to {} is one too many for the port of {} {}",
                              roster_.name(booking.source), roster_.name(booking.target),
                              ledger_.port_per_node() ? "node" : "rank", ledger_.conflict()->unit));
  }

  const Program& program_;
  const Job& job_;
  const std::vector<Binding>& bindings_;
  const Code code_;
  const Roster roster_;
  Findings findings_;
  const bool knows_counts_;
  Memory memory_;
  Ledger ledger_;

  Rendezvous rendezvous_;
  std::deque<int> ready_;
  std::unordered_map<int, std::vector<int64_t>>
      keys_;  // of a rank's steps so far, where a window can matter

  Context* current_ = nullptr;
  bool in_step_ = false;
  std::vector<Gathered> gathered_;
  std::vector<Local> locals_;

  std::vector<Booking> bookings_;
  bool sequential_ = false;
  bool single_ = true;  // no message has more or less than one whole block
  Report report_;
};

}  // namespace

Report execute(const Program& program, const Job& job, const Call& call,
               const std::vector<Binding>& bindings, const CheckOptions& options) {
  return Executor(program, job, call, bindings, options).run();
}

}  // namespace quadrille::verifier
