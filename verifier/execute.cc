// The general checker. It runs every rank until its step waits; messages match by rendezvous, without any buffering.
//
// A step is posted as a whole. All its sends read first. Then its copies and reductions run in the order of the text.
// Then its messages join the queues of their pairs of ranks, where the t-th send matches the t-th receive. The step
// completes when all its messages have matched. If one of its receives combines, all of them write then, in order.
//
// Here the steps of a rank run strictly one after another. That is the hardest case for progress: a window, or
// `after`, only posts more messages earlier and in the same order. Peers are static, so one execution decides for
// every timing. Memory records the steps that access each byte, and finds conflicting steps that may overlap.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "schedule/binding.h"
#include "schedule/volume.h"
#include "schedule/walk.h"
#include "verifier/memory.h"
#include "verifier/port_accounting.h"

namespace quadrille::verifier {

namespace {

// A message of the rank's current step. Its parts begin at parts[first].
struct Posted {
  MessageHead head;
  int peer = -1;  // process number, or -1 if there is none
  int first, count;
  bool waits = false;  // the message is posted and unmatched
};

// The state of a rank. It continues only when all messages of its step have matched, so there is at most one message
// in each direction between two ranks.
struct Context {
  int process = 0;
  Walker walker;
  std::vector<int64_t> registers;
  std::optional<int64_t> key;  // of the last step
  int64_t epoch = 0;           // a copy outside steps ends an epoch
  // These belong to the posted step.
  Use use;
  std::vector<Posted> posted;
  std::vector<Part> parts;  // data to send, and places for received data
  std::vector<int> order;   // posted messages, by peer and direction, if there are many
  int unmatched = 0;
  bool combines = false;  // some receive combines: all data is written when the step completes
  std::optional<BarrierProgress> barrier;

  void sort();  // call it once all messages are posted
  // Returns the unmatched message to or from that process, or nullptr.
  Posted* waiting(int peer, Direction direction);
};

// Returns the peer and direction of the unmatched message with the lowest peer.
std::pair<int, Direction> waits_for(const Context& context) {
  std::optional<std::pair<int, Direction>> first;
  for (const Posted& posted : context.posted) {
    if (!posted.waits) continue;
    const std::pair<int, Direction> here{posted.peer, posted.head.direction};
    if (!first || here < *first) first = here;
  }
  check(first.has_value(), "a rank waits for a message that is not posted");
  return *first;
}

const Context* if_waiting(const Context& context) {
  return context.unmatched > 0 ? &context : nullptr;
}

struct Wait {
  std::vector<const Context*> path;  // each rank waits for the next
  bool cycle;                        // the last waits for the first, else for a rank that is done
};

// Follows waiting ranks until a rank comes up again, which is a deadlock, or a rank is done.
Wait follow(const std::vector<Context>& contexts, const Context& start) {
  Wait wait{{}, false};
  for (const Context* at = &start; at; at = if_waiting(contexts[waits_for(*at).first])) {
    const auto seen = std::find(wait.path.begin(), wait.path.end(), at);
    if (seen != wait.path.end()) {
      wait.path.erase(wait.path.begin(), seen);
      wait.cycle = true;
      break;
    }
    wait.path.push_back(at);
  }
  return wait;
}

constexpr size_t kFew = 8;

void Context::sort() {
  order.clear();
  if (posted.size() <= kFew) return;
  for (size_t i = 0; i < posted.size(); ++i) order.push_back(static_cast<int>(i));
  std::sort(order.begin(), order.end(), [this](int a, int b) {
    return std::tie(posted[a].peer, posted[a].head.direction, a) <
           std::tie(posted[b].peer, posted[b].head.direction, b);
  });
}

Posted* Context::waiting(int peer, Direction direction) {
  const auto is_wanted = [=](const Posted& p) {
    return p.waits && p.peer == peer && p.head.direction == direction;
  };
  if (order.empty()) {
    const auto found = std::find_if(posted.begin(), posted.end(), is_wanted);
    return found == posted.end() ? nullptr : &*found;
  }
  // If two messages have this peer and direction, only the first waits: check_peer() refuses the second.
  const auto found = std::partition_point(order.begin(), order.end(), [&](int i) {
    return std::tie(posted[i].peer, posted[i].head.direction) < std::tie(peer, direction);
  });
  return found == order.end() || !is_wanted(posted[*found]) ? nullptr : &posted[*found];
}

// Called when no rank can continue. If a rank still waits, adds a finding: a cycle of ranks, or a peer that is done.
void check_progress(const std::vector<Context>& contexts, Findings& findings) {
  const auto stuck = std::find_if(contexts.begin(), contexts.end(),
                                  [](const Context& context) { return context.unmatched > 0; });
  if (stuck == contexts.end()) return;
  const Wait wait = follow(contexts, *stuck);
  const Context& first = wait.cycle ? *wait.path.front() : *wait.path.back();
  const auto [peer, direction] = waits_for(first);
  const std::string text =
      fmt::format("waits {} {}", direction == Direction::kSend ? "to send to" : "to receive from",
                  findings.processes.name(peer));
  if (!wait.cycle)
    return findings.add(Property::kMatch, first.key, {first.process, peer},
                        text + ", which is done");
  std::vector<int64_t> waiting;
  std::string around;
  for (const Context* context : wait.path) {
    waiting.push_back(context->process);
    around += findings.processes.name(context->process) + " waits for ";
  }
  findings.add(Property::kProgress, first.key, waiting,
               fmt::format("{}: {}{}", text, around, findings.processes.name(first.process)));
}

// Called at the end of a barrier. Adds a finding if a rank leaves without depending on all others.
void check_barrier(const std::vector<Context>& contexts, Findings& findings) {
  for (const Context& context : contexts) {
    if (!context.barrier) return;
    const auto missing = static_cast<int>(context.barrier->all().first_missing());
    if (missing == findings.processes.size()) continue;
    return findings.add(Property::kBarrier, std::nullopt, {context.process, missing},
                        "leaves without having heard of " + findings.processes.name(missing));
  }
}

// A message, or a copy if source and target are the same.
struct Record {
  int64_t key;
  uint32_t source, target : 31, block : 1;  // block: a message with pieces, or a copy in a step
};

class Executor : public SinkOf<Executor> {
 public:
  Executor(const Program& program, const Job& job, const Call& call,
           const std::vector<Binding>& bindings, const CheckOptions& options)
      : program_(program),
        bindings_(bindings),
        code_(*Code::compile(program)),
        processes_(bindings),
        findings_{processes_},
        knows_counts_(uses_counts(program)),
        memory_(program, call, bindings, processes_, findings_, options.observer),
        accounting_(program, job, options),
        contexts_(processes_.size()),
        last_sent_(processes_.size(), 0),
        last_received_(processes_.size(), 0),
        tell_(options.tell) {}

  Report run() {
    for (int process = 0; process < processes_.size(); ++process) start(process);
    while (!ready_.empty() && !findings_.any()) {
      if (tell_) tell_("messages", static_cast<int64_t>(records_.size()), 0);
      Context& next = contexts_[ready_.front()];
      ready_.pop_front();
      advance(next);
    }
    if (!findings_.any()) check_progress(contexts_, findings_);
    if (!findings_.any()) memory_.finish();
    if (!findings_.any()) check_barrier(contexts_, findings_);
    if (!findings_.any()) account();
    report_.violation = findings_.violation;
    return report_;
  }

  // The walk calls these four. They gather the statements of a step, which run when the step is posted. Statements
  // outside steps run at once.
  void message(const MessageHead& head) {
    gathered_.push_back({head, peer_of(head), static_cast<int>(pieces_.size()), 0});
  }
  void piece(const PieceValue& piece) {
    ++gathered_.back().count;
    pieces_.push_back(piece);
  }
  void copy(const PieceValue& from, const PieceValue& to) { local({std::nullopt, from, to}); }
  void reduce(Side side, const PieceValue& from, const PieceValue& into) {
    local({side, from, into});
  }

 private:
  struct Local {
    std::optional<Side> combine_on;  // empty for a copy
    PieceValue from, to;
  };

  void fail(Property property, const Context& context, const std::vector<int64_t>& others,
            const std::string& detail) {
    std::vector<int64_t> involved = {context.process};
    involved.insert(involved.end(), others.begin(), others.end());
    findings_.add(property, context.key, involved, detail);
  }

  void start(int process) {
    const Place place = processes_.place(process);
    Context& context = contexts_[process];
    context.process = process;
    context.registers.resize(code_.registers());
    if (program_.collective == Collective::kBarrier)
      context.barrier.emplace(process, has_overlapping_steps(program_));
    code_.start(bindings_[place.group], place.rank, context.walker, context.registers.data());
    ready_.push_back(process);
  }

  Use use(const Context& context, bool in_step) const {
    Use use{context.process, context.epoch, context.key, {}, in_step};
    if (context.walker.has_after) use.after = context.walker.after;
    return use;
  }

  // Runs the rank until it waits.
  void advance(Context& context) {
    const Binding& binding = bindings_[processes_.place(context.process).group];
    current_ = &context;
    in_step_ = false;
    complete(context);
    while (!findings_.any()) {
      const Pause pause =
          code_.run<PauseAtAll>(binding, context.walker, context.registers.data(), *this);
      switch (pause) {
        case Pause::kStep: enter(context); break;
        case Pause::kStepEnd:
          if (context.barrier) context.barrier->begin(use(context, true).after);
          post(context);
          if (context.unmatched > 0) return;
          complete(context);
          break;
        case Pause::kOutside: ++context.epoch; break;
        case Pause::kLoop: break;
        case Pause::kEnd: return;
        case Pause::kUndefined:
          return findings_.add(kUndefinedValue, context.key, {context.process}, context.walker.why);
      }
    }
  }

  void enter(Context& context) {
    const int64_t key = context.walker.key;
    if (context.key && key <= *context.key)
      return findings_.add(kKeyOutOfOrder, context.key, {context.process}, key);
    context.key = key;
    gathered_.clear();
    pieces_.clear();
    locals_.clear();
    in_step_ = true;
    note_window(context);
  }

  // Notes how many steps may be in flight when this one starts: those with keys above its `after`, itself included.
  void note_window(const Context& context) {
    if (!context.walker.has_after) {
      sequential_ = true;
      return;
    }
    accounting_.overlapping_step();
    std::vector<int64_t>& keys = keys_[context.process];
    keys.push_back(*context.key);
    const auto first = std::upper_bound(keys.begin(), keys.end(), context.walker.after);
    if (first == keys.begin()) return;
    // The step itself is always in flight, even if `after` is its own key.
    report_.limit_window(std::max<int64_t>(1, keys.end() - first));
  }

  void local(const Local& local) {
    if (in_step_) return locals_.push_back(local);
    run_locals(*current_, {local});
  }

  // Runs consecutive copies and reductions in the order of the text.
  void run_locals(const Context& context, const std::vector<Local>& locals) {
    const Use use = this->use(context, in_step_);
    for (const Local& local : locals) {
      if (findings_.any()) return;
      Part result = memory_.read(use, local.from);
      if (local.combine_on && !findings_.any())
        result = memory_.combine(use, result, memory_.read(use, local.to), *local.combine_on);
      memory_.write(use, local.to, result, true);
      memory_.note_length(use, local.to, result, true);
      account(context.key.value_or(0), context.process, context.process, in_step_);
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

  // Returns the process that a message names, or -1 if there is none.
  int peer_of(const MessageHead& head) const {
    const Place place = processes_.place(current_->process);
    if (head.peer < 0 || head.peer >= (head.remote ? place.remote_ranks : place.ranks)) return -1;
    return processes_.index(head.remote ? 1 - place.group : place.group, head.peer);
  }

  // Posts a message, and matches it if its other end is posted.
  void enqueue(Context& context, Posted& message) {
    const MessageHead& head = message.head;
    if (!check_peer(context, message)) return;
    message.waits = true;
    ++context.unmatched;
    Context& peer = contexts_[message.peer];
    const bool send = head.direction == Direction::kSend;
    Posted* const other =
        peer.waiting(context.process, send ? Direction::kReceive : Direction::kSend);
    if (!other) return;
    send ? match(context, message, peer, *other) : match(peer, *other, context, message);
  }

  bool check_peer(const Context& context, const Posted& message) {
    const Place place = processes_.place(context.process);
    const bool send = message.head.direction == Direction::kSend;
    if (message.peer == context.process) {
      findings_.add(kSendsToItself, context.key, {context.process});
    } else if (message.peer < 0) {
      findings_.add(kNoSuchRank, context.key, {context.process}, message.head.peer,
                    message.head.remote ? place.remote_ranks : place.ranks);
    } else if (is_bystander(program_.collective, place)) {
      fail(Property::kRole, context, {},
           "has a message, though MPI does not tell it who the root of its group is");
    } else if (int64_t& last = (send ? last_sent_ : last_received_)[message.peer]; last == posts_) {
      findings_.add(kTwoMessages, context.key, {context.process, message.peer},
                    Named{message.peer});
    } else {
      last = posts_;
      return true;
    }
    return false;
  }

  void match(Context& sender, Posted& sent, Context& receiver, Posted& received) {
    check_agreement(sender, sent, receiver, received);
    for (int i = 0; i < sent.count && !findings_.any(); ++i) {
      const Part& part = sender.parts[sent.first + i];
      Part& target = receiver.parts[received.first + i];
      accounting_.carry(sender.process, receiver.process, part.length);
      memory_.note_length(receiver.use, target.piece, part, received.head.sized);
      if (receiver.combines)
        target = {target.piece, part.length, part.fragments};
      else
        memory_.write(receiver.use, target.piece, part, false);
    }
    single_ &= sent.count == 0 || (sent.count == 1 && !sender.parts[sent.first].piece.ranged);
    account(*sender.key, sender.process, receiver.process, sent.count > 0 || sender.barrier);
    if (receiver.barrier) receiver.barrier->receive(sender.barrier->sent());
    sent.waits = received.waits = false;
    for (Context* context : {&sender, &receiver})
      if (--context->unmatched == 0 && context != current_) ready_.push_back(context->process);
  }

  // Completes a step. If one of its receives combines, writes all received data now, in the order of the statements.
  void complete(Context& context) {
    if (context.barrier && context.key) context.barrier->complete(*context.key);
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

  void check_agreement(const Context& sender, const Posted& sent, const Context& receiver,
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
      return findings_.add(kLengthsAheadAtOneEnd, sender.key, {sender.process, receiver.process},
                           Named{receiver.process});
    for (int i = 0; i < sent.count; ++i) {
      const int64_t length = sender.parts[sent.first + i].length;
      const int64_t wanted = receiver.parts[received.first + i].length;
      if (wanted >= 0 && wanted != length)
        return disagree(Property::kLength, fmt::format("sends {} as piece {}, {} receives {}",
                                                       length, i, peer(), wanted));
    }
  }

  void account(int64_t key, int source, int target, bool block) {
    records_.push_back({key, static_cast<uint32_t>(source), static_cast<uint32_t>(target), block});
  }

  // Gives all messages and copies to the accounting in ascending order of keys, as check_key_order() does.
  void account() {
    std::stable_sort(records_.begin(), records_.end(),
                     [](const Record& a, const Record& b) { return a.key < b.key; });
    for (size_t i = 0; i < records_.size() && !findings_.any(); ++i) {
      account(records_[i]);
      if (i + 1 == records_.size() || records_[i + 1].key != records_[i].key) accounting_.end_key();
    }
    accounting_.finish(report_, single_);
    if (sequential_) report_.safe_window = 1;
    report_.in_place = memory_.in_place();
    report_.uneven = memory_.uneven();
    report_.volumes = accounting_.volumes();
  }

  void account(const Record& record) {
    const auto source = static_cast<int32_t>(record.source);
    const auto target = static_cast<int32_t>(record.target);
    if (record.source == record.target)
      return record.block ? accounting_.copy(source) : accounting_.copy_outside(source);
    (record.block ? report_.messages : report_.tokens) += 1;
    accounting_.message(source, target, record.block);
    if (!accounting_.conflict()) return;
    findings_.add(port_overused(processes_, record.key, source, target, accounting_.port_per_node(),
                                accounting_.conflict()->unit));
  }

  const Program& program_;
  const std::vector<Binding>& bindings_;
  const Code code_;
  const Processes processes_;
  Findings findings_;
  const bool knows_counts_;
  Memory memory_;
  PortAccounting accounting_;

  std::vector<Context> contexts_;  // by process
  std::deque<int> ready_;
  // By process: the keys of its steps with `after` so far.
  std::unordered_map<int, std::vector<int64_t>> keys_;

  Context* current_ = nullptr;
  bool in_step_ = false;
  std::vector<Posted> gathered_;
  std::vector<PieceValue> pieces_;
  std::vector<Local> locals_;
  int64_t posts_ = 0;                               // steps posted so far
  std::vector<int64_t> last_sent_, last_received_;  // by peer: step of its last message

  std::vector<Record> records_;
  const Tell& tell_;
  bool sequential_ = false;
  bool single_ = true;  // every message carries exactly one whole block
  Report report_;
};

}  // namespace

Report execute(const Program& program, const Job& job, const Call& call,
               const std::vector<Binding>& bindings, const CheckOptions& options) {
  return Executor(program, job, call, bindings, options).run();
}

}  // namespace quadrille::verifier
