// The general checker: every rank is a context that runs until its step cannot go on; messages meet
// by rendezvous, with no buffering.
//
// A step is posted as a whole: everything that it sends is read first. Then its copies and reductions run in the order
// of the text, each on what those above it left. Then its messages join the queues of their directed pairs of ranks, where the t-th send meets the t-th
// receive. The step ends when all its messages have met; what it combines with what is there lands
// then, in the order of the statements. The steps of a body run strictly one after
// another here, which is the hardest case for progress: a window, or `after`, only posts more
// messages earlier and in the same order. Peers are static, so one execution decides for every
// timing. That steps in flight together do not disturb each other is asked of memory, which knows
// who touched what at which key.
#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "verifier/bounds.h"
#include "verifier/ledger.h"
#include "verifier/memory.h"
#include "verifier/rendezvous.h"
#include "verifier/volume_count.h"

namespace quadrille::verifier {
namespace {

// A message, or a copy where source and target are one.
struct Booking {
  int64_t key;
  uint32_t source, target : 31, block : 1;  // block: a message with pieces, a copy in a step
};

class Executor {
 public:
  Executor(const Program& program, const Job& job, const Call& call,
           const std::vector<Binding>& bindings, const CheckOptions& options)
      : program_(program),
        job_(job),
        bindings_(bindings),
        code_(*Code::compile(program)),
        processes_(bindings),
        findings_(processes_),
        knows_counts_(uses_counts(program)),
        memory_(program, call, bindings, processes_, findings_),
        ledger_(program, job, options),
        volumes_(job),
        contexts_(processes_.size()),
        last_sent_(processes_.size(), 0),
        last_received_(processes_.size(), 0) {}

  Report run() {
    for (int process = 0; process < processes_.size(); ++process) start(process);
    while (!ready_.empty() && !findings_.any()) {
      Context& next = contexts_[ready_.front()];
      ready_.pop_front();
      go(next);
    }
    if (!findings_.any()) ask_progress(contexts_, processes_, findings_);
    if (!findings_.any()) memory_.finish();
    if (!findings_.any()) ask_barrier(contexts_, processes_, findings_);
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
  void message(const MessageHead& head) {
    gathered_.push_back({head, peer_of(head), static_cast<int>(pieces_.size()), 0});
  }
  void piece(const PieceValue& piece) {
    ++gathered_.back().count;
    pieces_.push_back(piece);
  }
  void message_end() {}
  void copy(const PieceValue& from, const PieceValue& to) { local({std::nullopt, from, to}); }
  void reduce(Side side, const PieceValue& from, const PieceValue& into) {
    local({side, from, into});
  }

 private:
  struct Local {
    std::optional<Side> combine_on;  // a copy where there is none
    PieceValue from, to;
  };

  void fail(Property property, const Context& context, const std::vector<int>& others,
            std::string detail) {
    std::vector<int> processes = {context.process};
    processes.insert(processes.end(), others.begin(), others.end());
    findings_.add(property, context.key, processes,
                  processes_.name(context.process) + " " + std::move(detail));
  }

  void start(int process) {
    const Place& place = processes_.place(process);
    Context& context = contexts_[process];
    context.process = process;
    context.registers.resize(code_.registers());
    if (program_.collective == Collective::kBarrier)
      context.hearing.emplace(process, has_overlapping_steps(program_));
    code_.start(bindings_[place.group], place.rank, context.walker, context.registers.data());
    ready_.push_back(process);
  }

  Use use(const Context& context, bool in_step) const {
    Use use{context.process, context.epoch, context.key, {}, in_step};
    if (context.walker.has_after) use.after = context.walker.after;
    return use;
  }

  // Goes on until the rank waits.
  void go(Context& context) {
    const Binding& binding = bindings_[processes_.place(context.process).group];
    current_ = &context;
    in_step_ = false;
    land(context);
    while (!findings_.any()) {
      const Pause pause =
          code_.run<PauseAtAll>(binding, context.walker, context.registers.data(), *this);
      switch (pause) {
        case Pause::kStep: enter(context); break;
        case Pause::kStepEnd:
          if (context.hearing) context.hearing->begin(use(context, true).after);
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
    pieces_.clear();
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

  // Copies and reductions that stand together run in the order of the text.
  void run_locals(const Context& context, const std::vector<Local>& locals) {
    const Use use = this->use(context, in_step_);
    for (const Local& local : locals) {
      if (findings_.any()) return;
      Part result = memory_.read(use, local.from);
      if (local.combine_on && !findings_.any())
        result = memory_.combine(use, result, memory_.read(use, local.to), *local.combine_on);
      memory_.write(use, local.to, result, true);
      book(context.key.value_or(0), context.process, context.process, in_step_);
    }
  }

  void post(Context& context) {
    context.use = use(context, true);
    context.combines = false;
    context.parts.clear();
    for (const Posted& message : gathered_) {
      for (int i = 0; i < message.count; ++i)
        add_part(context, message, pieces_[message.first + i]);
      context.combines |= message.head.combine.has_value();
    }
    run_locals(context, locals_);
    in_step_ = false;
    ++posts_;
    std::swap(context.posted, gathered_);
    context.sort();
    for (size_t i = 0; i < context.posted.size() && !findings_.any(); ++i)
      enqueue(context, context.posted[i]);
  }

  void add_part(Context& context, const Posted& message, const PieceValue& piece) {
    const bool send = message.head.direction == Direction::kSend;
    context.parts.push_back(send ? memory_.read(context.use, piece)
                                 : memory_.target(context.use, piece));
    if (send && knows_counts_ && !message.head.sized && context.parts.back().length == 0)
      fail(Property::kEmpty, context, {},
           fmt::format("sends nothing of block {} to rank {}", piece.block, message.head.peer));
  }

  // The process that a message names; -1 where there is none.
  int peer_of(const MessageHead& head) const {
    const Place& place = processes_.place(current_->process);
    if (head.peer < 0 || head.peer >= (head.remote ? place.remote_ranks : place.ranks)) return -1;
    return processes_.index(head.remote ? 1 - place.group : place.group, head.peer);
  }

  // Posts a message, which meets its other end where that is posted.
  void enqueue(Context& context, Posted& message) {
    const MessageHead& head = message.head;
    if (!ask_peer(context, message)) return;
    message.waits = true;
    ++context.unmet;
    Context& peer = contexts_[message.peer];
    const bool send = head.direction == Direction::kSend;
    Posted* const other =
        peer.waiting(context.process, send ? Direction::kReceive : Direction::kSend);
    if (!other) return;
    send ? meet(context, message, peer, *other) : meet(peer, *other, context, message);
  }

  bool ask_peer(const Context& context, const Posted& message) {
    const Place& place = processes_.place(context.process);
    const bool send = message.head.direction == Direction::kSend;
    if (message.peer < 0) {
      fail(Property::kPeer, context, {},
           fmt::format("names rank {} of {}", message.head.peer,
                       message.head.remote ? place.remote_ranks : place.ranks));
    } else if (message.peer == context.process) {
      fail(Property::kSelfMessage, context, {}, "sends to itself");
    } else if (is_bystander(program_.collective, place)) {
      fail(Property::kRole, context, {},
           "has a message, though MPI does not tell it who the root of its group is");
    } else if (int64_t& last = (send ? last_sent_ : last_received_)[message.peer]; last == posts_) {
      fail(Property::kOrder, context, {message.peer},
           fmt::format("has two messages in one direction with {} in a step",
                       processes_.name(message.peer)));
    } else {
      last = posts_;
      return true;
    }
    return false;
  }

  void meet(Context& sender, Posted& sent, Context& receiver, Posted& received) {
    ask_agreement(sender, sent, receiver, received);
    for (int i = 0; i < sent.count && !findings_.any(); ++i) {
      const Part& part = sender.parts[sent.first + i];
      Part& target = receiver.parts[received.first + i];
      volumes_.message(sender.process, receiver.process, part.length);
      if (!received.head.sized) memory_.note_length(receiver.use, part);
      if (receiver.combines)
        target = {target.piece, part.length, part.fragments};
      else
        memory_.write(receiver.use, target.piece, part, false);
    }
    single_ &= sent.count == 0 || (sent.count == 1 && !sender.parts[sent.first].piece.ranged);
    book(*sender.key, sender.process, receiver.process, sent.count > 0 || sender.hearing);
    if (receiver.hearing) receiver.hearing->hear(sender.hearing->told());
    sent.waits = received.waits = false;
    for (Context* context : {&sender, &receiver})
      if (--context->unmet == 0 && context != current_) ready_.push_back(context->process);
  }

  // What a step that combines has received, in the order of its statements.
  void land(Context& context) {
    if (context.hearing && context.key) context.hearing->end(*context.key);
    if (!context.combines) return;
    context.combines = false;
    for (const Posted& message : context.posted) {
      if (message.head.direction == Direction::kSend) continue;
      for (int i = 0; i < message.count && !findings_.any(); ++i) {
        Part arrived = context.parts[message.first + i];
        if (message.head.combine) {
          const Part there = memory_.read(context.use, arrived.piece);
          if (findings_.any()) return;
          arrived = memory_.combine(context.use, arrived, there, *message.head.combine);
        }
        memory_.write(context.use, arrived.piece, arrived, false);
      }
    }
  }

  void ask_agreement(const Context& sender, const Posted& sent, const Context& receiver,
                     const Posted& received) {
    const auto disagree = [&](Property property, const std::string& detail) {
      fail(property, sender, {receiver.process}, detail);
    };
    const auto peer = [&] { return processes_.name(receiver.process); };
    if (*sender.key != *receiver.key)
      return disagree(Property::kKeys, fmt::format("sends in step {} what {} receives in step {}",
                                                   *sender.key, peer(), *receiver.key));
    if (sent.count != received.count)
      return disagree(Property::kLength, fmt::format("sends {} pieces, {} receives {}", sent.count,
                                                     peer(), received.count));
    if (sent.head.sized != received.head.sized)
      return disagree(Property::kLength,
                      fmt::format("and {} disagree whether lengths travel ahead", peer()));
    for (int i = 0; i < sent.count; ++i) {
      const int64_t length = sender.parts[sent.first + i].length;
      const int64_t wanted = receiver.parts[received.first + i].length;
      if (wanted >= 0 && wanted != length)
        return disagree(Property::kLength, fmt::format("sends {} as piece {}, {} receives {}",
                                                       length, i, peer(), wanted));
    }
  }

  void book(int64_t key, int source, int target, bool block) {
    bookings_.push_back({key, static_cast<uint32_t>(source), static_cast<uint32_t>(target), block});
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
    report_.volumes = {{volumes_.rank(), volumes_.node()}};
  }

  void book(const Booking& booking) {
    const auto source = static_cast<int32_t>(booking.source);
    const auto target = static_cast<int32_t>(booking.target);
    if (booking.source == booking.target)
      return booking.block ? ledger_.copy(source) : ledger_.copy_outside(source);
    (booking.block ? report_.messages : report_.tokens) += 1;
    ledger_.message(source, target, booking.block);
    if (!ledger_.conflict()) return;
    findings_.add(Property::kPort, booking.key, {source, target},
                  fmt::format("the message from {} to {} is one too many for the port of {} {}",
                              processes_.name(source), processes_.name(target),
                              ledger_.port_per_node() ? "node" : "rank", ledger_.conflict()->unit));
  }

  const Program& program_;
  const Job& job_;
  const std::vector<Binding>& bindings_;
  const Code code_;
  const Processes processes_;
  Findings findings_;
  const bool knows_counts_;
  Memory memory_;
  Ledger ledger_;
  VolumeCount volumes_;

  std::vector<Context> contexts_;  // by process
  std::deque<int> ready_;
  std::unordered_map<int, std::vector<int64_t>>
      keys_;  // of a rank's steps so far, where a window can matter

  Context* current_ = nullptr;
  bool in_step_ = false;
  std::vector<Posted> gathered_;
  std::vector<PieceValue> pieces_;
  std::vector<Local> locals_;
  int64_t posts_ = 0;                               // steps that have been posted
  std::vector<int64_t> last_sent_, last_received_;  // by peer: which of them had a message to it

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
