#include "simulate/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>

#include "runtime/plan/plan.h"
#include "simulate/queue.h"

namespace quadrille {
namespace {

constexpr int32_t kNone = -1;
constexpr int64_t kNotIdle = -1;
enum State : uint8_t { kSendPosted = 1, kReceivePosted = 2, kSent = 4, kArrived = 8 };

// How far a process is in its script. It counts the messages that it has posted, and those that it has waited for.
struct Process {
  size_t turn = 0;
  Turn left;  // what it still has to do in this turn
  int32_t receives_posted = 0, sends_posted = 0, receives_done = 0, sends_done = 0;
  int32_t receive_awaited = kNone, send_awaited = kNone;
  bool is_busy = false;   // until an event
  bool has_paid = false;  // it has spent the time that posting the next send takes
  bool has_ended = false;
  bool is_reading = false;   // it reads lengths as they arrive
  int32_t next_to_read = 0;  // the receive whose lengths it reads next
  int64_t idle_since = kNotIdle;
  // Like the executor, it posts sends of a later turn when the receives of that turn have arrived (send_early).
  size_t early_turn = 0;
  int32_t early_receive = 0, early_received = 0, early_sent = 0, early_posted = 0;
};

struct Ready {
  int64_t time;
  int32_t process;
};

// True if every sum of times is below 2^61 picoseconds.
bool is_short_enough(const Scripts& scripts, const Machine& machine) {
  __int128 bytes = 0, parts = 0, congestion = 0;
  std::vector<std::pair<__int128, __int128>> to(
      scripts.all.size());  // bytes and messages to a port
  for (size_t i = 0; i < scripts.all.size(); ++i) {
    const Script& script = scripts.all[i];
    auto& [bytes_to, messages_to] = to[machine.port == PortScope::kNode ? scripts.node[i] : i];
    messages_to += static_cast<int64_t>(script.receives.size());
    for (const Post& message : script.receives) bytes_to += message.bytes;
    for (const std::vector<Post>* messages : {&script.sends, &script.receives})
      for (const Post& message : *messages) {
        bytes += message.bytes;
        parts += 1 + message.parts;
      }
    for (const Turn& turn : script.turns) {
      bytes += turn.copied;
      parts += turn.copies;
    }
  }
  const __int128 byte = __int128{machine.between.beta_ps} + machine.inside.beta_ps +
                        machine.beta_alone_ps + machine.copy.beta_ps + machine.overhead.beta_ps +
                        machine.memory_ps.value_or(0);
  const __int128 part = __int128{machine.between.alpha_ns} + machine.inside.alpha_ns +
                        machine.copy.alpha_ns + machine.gap_ns + machine.gap_inside_ns +
                        machine.overhead.alpha_ns + 50 * __int128{machine.noise_ns};
  for (const auto& [bytes_to, messages_to] : to)
    congestion += bytes_to * messages_to * machine.beta_congestion_ps / 1000;
  return bytes * byte + congestion + parts * part * kNanosecond < __int128{1} << 61;
}

// A message that noise delays.
struct Late {
  int64_t time;
  Flow flow;
};

class Engine {
 public:
  Engine(const Scripts& scripts, const Machine& machine, const Tell& tell, Trace* trace,
         PortUse* use)
      : scripts_(scripts),
        machine_(machine),
        tell_(tell),
        trace_(trace),
        processes_(scripts.all.size()) {
    first_send_.reserve(processes_.size() + 1);
    for (const Script& script : scripts.all) {
      first_send_.push_back(outcome_.messages);
      outcome_.messages += static_cast<int64_t>(script.sends.size());
      for (const Post& send : script.sends) outcome_.bytes += send.bytes;
    }
    first_send_.push_back(outcome_.messages);
    if (trace_) {
      *trace_ = {};
      for (const Script& script : scripts.all) trace_->messages.emplace_back(script.sends.size());
      trace_->waits.resize(processes_.size());
      trace_->busy.resize(processes_.size());
    }
    states_.resize(static_cast<size_t>(outcome_.messages));
    outcome_.ends.resize(processes_.size());
    const bool by_node = machine.port == PortScope::kNode;
    network_ =
        make_network(machine, by_node ? scripts.nodes : static_cast<int32_t>(processes_.size()));
    if (trace_) network_->note_waits(&trace_->queued);
    network_->note_use(use);
  }

  Result<Outcome> run() {
    for (size_t i = 0; i < processes_.size(); ++i) {
      begin_turn(processes_[i], scripts_.all[i]);
      follow(static_cast<int32_t>(i));
    }
    std::vector<Sent> arrived;
    while (true) {
      const int64_t ready = ready_.time(), late = late_.time(), moved = network_->next();
      now_ = std::min({ready, late, moved});
      if (now_ == std::numeric_limits<int64_t>::max()) break;
      while (late_.time() == now_) network_->start(late_.pop().flow, now_);
      if (moved == now_) {
        network_->advance(now_, arrived);
        constexpr size_t kAhead = 8;
        for (size_t i = 0; i < arrived.size(); ++i) {
          if (i + kAhead < arrived.size()) prefetch_ends(arrived[i + kAhead]);
          arrive(arrived[i]);
        }
        arrived.clear();
      }
      while (ready_.time() == now_) {
        if (const Ready* soon = ready_.soon()) prefetch(soon->process);
        const int32_t process = ready_.pop().process;
        ++outcome_.events;
        processes_[process].is_busy = false;
        follow(process);
      }
    }
    outcome_.events += network_->events();
    for (size_t i = 0; i < processes_.size(); ++i)
      if (!processes_[i].has_ended)
        return Error{
            fmt::format("process {} waits for ever: the plans deadlock without buffers", i)};
    return std::move(outcome_);
  }

 private:
  // Loads the data of a coming event into the cache. Each event concerns another process.
  void prefetch(int32_t process) const {
    __builtin_prefetch(&processes_[process]);
    __builtin_prefetch(&scripts_.all[process]);
  }
  void prefetch_ends(const Sent& sent) const {
    const Post* send = &scripts_.all[sent.process].sends[sent.index];
    __builtin_prefetch(send);
    __builtin_prefetch(&states_[static_cast<size_t>(first_send_[sent.process] + sent.index)]);
    prefetch(sent.process);
  }

  // Returns the state of the process's `index`-th send.
  uint8_t& state(int32_t process, int32_t index) {
    return states_[static_cast<size_t>(first_send_[process] + index)];
  }
  bool is_sent(int32_t process, int32_t index) { return (state(process, index) & kSent) != 0; }
  bool has_arrived(int32_t process, int32_t index) {
    const Post& receive = scripts_.all[process].receives[index];
    return (state(receive.peer, receive.partner) & kArrived) != 0;
  }

  // Makes the process busy for this time. Returns false if the time is 0.
  bool spend(int32_t process, int64_t duration) {
    if (duration == 0) return false;
    processes_[process].is_busy = true;
    if (trace_) trace_->busy[process].push_back({now_, now_ + duration});
    ready_.push({now_ + duration, process});
    return true;
  }

  int64_t work(const Post& message) const {
    return cost(machine_.overhead, 1, message.bytes) +
           (message.parts > 0 ? cost(machine_.copy, message.parts, message.copied()) : 0);
  }

  static int64_t cost(const LinearModel& model, int64_t parts, int64_t bytes) {
    return parts * model.alpha_ns * kNanosecond + bytes * model.beta_ps;
  }

  static void begin_turn(Process& p, const Script& script) {
    p.left = p.turn < script.turns.size() ? script.turns[p.turn] : Turn{};
  }

  // Follows the script until the process has to wait, is busy, or ends.
  void follow(int32_t process) {
    go_on(process);
    if (!trace_) return;
    Process& p = processes_[process];
    p.idle_since = p.is_busy || p.has_ended ? kNotIdle : now_;
  }

  void go_on(int32_t process) {
    Process& p = processes_[process];
    const Script& script = scripts_.all[process];
    p.receive_awaited = p.send_awaited = kNone;
    p.is_reading = false;
    for (; p.turn < script.turns.size(); ++p.turn, begin_turn(p, script)) {
      if (p.left.copies > 0) {
        const int64_t duration = cost(machine_.copy, p.left.copies, p.left.copied);
        p.left.copies = 0;
        if (spend(process, duration)) return;
      }
      if (!wait_for_receives(process, p, script) || !wait_for_sends(process, p, script)) return;
      for (; p.left.receives_posted > 0; --p.left.receives_posted) post_receive(process, p);
      for (; p.left.sends_posted > 0 && p.early_posted > 0; --p.left.sends_posted) --p.early_posted;
      for (; p.left.sends_posted > 0; --p.left.sends_posted)
        if (!post_send(process, p, script)) return;
    }
    if (p.has_ended) return;
    p.has_ended = true;
    outcome_.ends[process] = now_;
    outcome_.time = std::max(outcome_.time, now_);
  }

  bool wait_for_receives(int32_t process, Process& p, const Script& script) {
    while (p.left.receives_done > 0) {
      // While it waits for data, it reads the lengths of later messages.
      if (script.receives[p.receives_done].kind == Kind::kData) read_lengths(process, p, script);
      if (!has_arrived(process, p.receives_done)) {
        p.receive_awaited = p.receives_done;
        return false;
      }
      --p.left.receives_done;
      if (spend(process, work(script.receives[p.receives_done++]))) return false;
    }
    return true;
  }

  bool wait_for_sends(int32_t process, Process& p, const Script& script) {
    for (; p.left.sends_done > 0; --p.left.sends_done, ++p.sends_done) {
      if (is_sent(process, p.sends_done)) continue;
      p.send_awaited = p.sends_done;
      if (script.reads_lengths) read_lengths(process, p, script);
      if (script.window > 0 && script.sends[p.sends_done].bytes >= QD_LONG_SEND)
        send_early(process, p, script);
      return false;
    }
    return true;
  }

  // Reads the lengths that have arrived, in the order of the receives, and posts the receives of the data that follows them.
  void read_lengths(int32_t process, Process& p, const Script& script) {
    p.is_reading = true;
    for (; p.next_to_read < p.receives_posted; ++p.next_to_read) {
      if (script.receives[p.next_to_read].kind == Kind::kData) continue;
      if (!has_arrived(process, p.next_to_read)) return;
      if (script.receives[p.next_to_read].kind == Kind::kLengths)
        note_receive(process, script.receives[p.next_to_read + 1]);
    }
  }

  // Posts sends of later turns whose receives have arrived, while a send is in flight (executor.c, may_send_early).
  void send_early(int32_t process, Process& p, const Script& script) {
    if (p.early_turn <= p.turn) {
      p.early_turn = p.turn + 1;
      p.early_receive = p.receives_done;
      p.early_received = p.early_sent = 0;
    }
    for (; p.early_turn < script.turns.size();
         ++p.early_turn, p.early_received = p.early_sent = 0) {
      const Turn& more = script.turns[p.early_turn];
      if (more.copies > 0 || (more.sends_done > 0 && more.sends_posted > 0)) return;
      const int32_t sends = more.sends_posted - p.early_sent;
      if (p.early_posted + sends > QD_SENT_AHEAD ||
          p.sends_posted - p.sends_done + sends > script.window)
        return;
      for (; p.early_received < more.receives_done; ++p.early_received, ++p.early_receive) {
        if (p.early_receive >= p.receives_posted || script.receives[p.early_receive].parts > 0)
          return;
        if (has_arrived(process, p.early_receive)) continue;
        p.receive_awaited = p.early_receive;
        return;
      }
      for (int32_t n = 0; n < sends; ++n)
        if (script.sends[p.sends_posted + n].parts > 0) return;
      for (; p.early_sent < more.sends_posted; ++p.early_sent, ++p.early_posted)
        if (!post_send(process, p, script)) return;
    }
  }

  void post_receive(int32_t process, Process& p) {
    const Post& receive = scripts_.all[process].receives[p.receives_posted++];
    if (receive.kind != Kind::kData) note_receive(process, receive);
  }

  void note_receive(int32_t process, const Post& receive) {
    uint8_t& now = state(receive.peer, receive.partner);
    now |= kReceivePosted;
    if (trace_) trace_->messages[receive.peer][receive.partner].receive_posted = now_;
    if ((now & kSendPosted) != 0 && receive.bytes > machine_.eager)
      start(receive.peer, receive.partner, process, receive.bytes);
  }

  // Returns whether the process may go on at once.
  bool post_send(int32_t process, Process& p, const Script& script) {
    const Post& send = script.sends[p.sends_posted];
    if (!p.has_paid && spend(process, work(send))) {
      p.has_paid = true;
      return false;
    }
    p.has_paid = false;
    const int32_t index = p.sends_posted++;
    const bool is_eager = send.bytes <= machine_.eager;
    uint8_t& now = state(process, index);
    if (trace_) trace_->messages[process][index].send_posted = now_;
    now |= is_eager ? kSendPosted | kSent : kSendPosted;
    if (is_eager || (now & kReceivePosted) != 0) start(process, index, send.peer, send.bytes);
    return true;
  }

  void start(int32_t from, int32_t index, int32_t to, int64_t bytes) {
    const int32_t node = scripts_.node[from], other = scripts_.node[to];
    const bool by_node = machine_.port == PortScope::kNode;
    const Flow flow = {{from, index}, by_node ? node : from, by_node ? other : to, node, other,
                       bytes};
    if (machine_.noise_ns == 0) return network_->start(flow, now_);
    late_.push({now_ + noise(flow.sent), flow});
  }

  // Returns a random delay in picoseconds. It depends on the seed and the message, not on the order of events.
  int64_t noise(const Sent& sent) const {
    std::seed_seq seed{static_cast<uint32_t>(machine_.seed),
                       static_cast<uint32_t>(machine_.seed >> 32),
                       static_cast<uint32_t>(sent.process), static_cast<uint32_t>(sent.index)};
    std::minstd_rand random(seed);
    const double uniform =
        static_cast<double>(random()) / static_cast<double>(std::minstd_rand::max());
    return std::llround(-std::log(uniform) * static_cast<double>(machine_.noise_ns * kNanosecond));
  }

  void arrive(const Sent& sent) {
    if (tell_ && (++arrived_ & 0xfffff) == 0) tell_(arrived_, outcome_.messages);
    state(sent.process, sent.index) |= kArrived | kSent;
    if (trace_) trace_->messages[sent.process][sent.index].arrived = now_;
    const Post& send = scripts_.all[sent.process].sends[sent.index];
    if (processes_[sent.process].send_awaited == sent.index) wake(sent.process, sent);
    const Process& receiver = processes_[send.peer];
    if (receiver.receive_awaited == send.partner ||
        (receiver.is_reading && receiver.next_to_read == send.partner))
      wake(send.peer, sent);
  }

  void wake(int32_t process, const Sent& sent) {
    const Process& p = processes_[process];
    if (p.is_busy) return;
    if (trace_ && p.idle_since < now_) trace_->waits[process].push_back({p.idle_since, now_, sent});
    follow(process);
  }

  const Scripts& scripts_;
  const Machine& machine_;
  const Tell& tell_;
  Trace* const trace_;
  std::vector<int64_t> first_send_;  // by process: the number of its first send in states_
  std::vector<uint8_t> states_;      // of messages, by sender and its send
  std::vector<Process> processes_;
  std::unique_ptr<Network> network_;
  Queue<Ready> ready_;
  Queue<Late> late_;
  Outcome outcome_;
  int64_t now_ = 0, arrived_ = 0;
};

}  // namespace

Result<Outcome> simulate(const Scripts& scripts, const Machine& machine, const Tell& tell,
                         Trace* trace, PortUse* use) {
  if (!is_short_enough(scripts, machine))
    return Error{
        "the bytes of all messages, one after another, take longer than 26 days on this machine; "
        "the simulation ends there"};
  return Engine(scripts, machine, tell, trace, use).run();
}

}  // namespace quadrille
