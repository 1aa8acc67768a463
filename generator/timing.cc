// All ranks proceed key by key: every rank begins its steps of a key before any rank completes them. So a message is
// sent before it is awaited. Tested by tests/generator/timing_test.cc.
#include "generator/timing.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "schedule/walk.h"

namespace quadrille {
namespace {

using Time = __int128;  // picoseconds
constexpr Time kNanosecond = 1000;
// The least number of a rank's last steps whose ends are kept, if a step waits for others than the previous one. A
// step whose end was dropped counts as complete.
constexpr size_t kRemembered = 256;

struct Done {
  int64_t key;
  Time at;  // of all steps up to that one
};

struct Port {
  Time out = 0, in = 0;  // when it is free again
};

struct Process {
  int64_t group = 0, rank = 0;
  size_t node = 0;  // numbered through all groups
  Walker walker = {};
  int64_t* registers = nullptr;
  Pause pause = Pause::kEnd;
  Time begun = 0;              // start of the last step
  Time left = 0, arrived = 0;  // times of its messages
  Time taking = 0;             // time for copies and reductions of the arrived data
  Time done = 0;               // end of all steps so far
  std::vector<Done> steps = {};
  Port port = {};
  Work sent = {}, received = {};
};

void take_greater(Work& into, const Work& from) {
  for (const auto each : {&Work::between, &Work::inside, &Work::bytes_between, &Work::bytes_inside,
                          &Work::bytes_copied})
    into.*each = std::max(into.*each, from.*each);
}

// Whether a rank waits for its sends before it proceeds.
bool awaits_sends(const Program& program, const Job& job) {
  if (program.collective != Collective::kAllgather && program.collective != Collective::kBroadcast)
    return true;
  return std::any_of(job.models.begin(), job.models.end(),
                     [](const LinearModel& model) { return model.beta_ps > 0; });
}

// The lengths of the blocks of the receive buffer, for an allgather of one group; null for others.
const std::vector<int64_t>* gathered(const Program& program, const Call& call) {
  const bool is_one = program.collective == Collective::kAllgather && program.groups == 1;
  return is_one && !call.counts.empty() ? call.counts.data() : nullptr;
}

// The sink of all walks, of one process after another.
class Execution {
 public:
  Execution(const Program& program, const Job& job, const Call& call,
            const std::vector<Binding>& bindings, int64_t bytes, const Machine& machine)
      : program_(program),
        call_(call),
        bindings_(bindings),
        machine_(machine),
        code_(Code::compile(program).value()),
        overlapping_(has_overlapping_steps(program)),
        awaits_sends_(awaits_sends(program, job)),
        gathered_(gathered(program, call)),
        averages_(job.groups.size(), bytes),
        temporaries_(job.groups.size()) {
    for (size_t group = 0; group < job.groups.size(); ++group) {
      if (!call.counts.empty()) {
        const std::vector<int64_t>& counts = call.counts[group];
        averages_[group] = std::accumulate(counts.begin(), counts.end(), int64_t{0}) /
                           static_cast<int64_t>(counts.size());
      }
      first_of_group_.push_back(processes_.size());
      int64_t rank = 0;
      for (const int64_t size : job.groups[group].sizes()) {
        for (int64_t i = 0; i < size; ++i)
          processes_.push_back({static_cast<int64_t>(group), rank++, ports_.size()});
        ports_.emplace_back();
        memories_.push_back(0);
      }
    }
    registers_.resize(processes_.size() * code_.registers());
  }

  Result<Timing> run(int64_t longest) {
    for (size_t i = 0; i < processes_.size(); ++i) {
      Process& process = processes_[i];
      process.registers = registers_.data() + i * code_.registers();
      code_.start(bindings_[process.group], process.rank, process.walker, process.registers);
      go_on(process);
      until_step(process);
    }
    while (!waiting_.empty()) {
      const auto node = waiting_.extract(waiting_.begin());
      for (Process* process : node.mapped()) process->left = process->arrived = process->taking = 0;
      const auto takes_too_long = [&] {
        return longest < INT64_MAX && end_ / kNanosecond > longest;
      };
      for (auto each = node.mapped().begin(); each != node.mapped().end() && !takes_too_long();
           ++each)
        begin(**each);
      if (!takes_too_long())
        for (Process* process : node.mapped()) finish(*process);
      if (!wrong_.empty()) return Error{wrong_};
      if (takes_too_long()) return Error{fmt::format("a call takes more than {} ns", longest)};
    }
    if (!wrong_.empty()) return Error{wrong_};
    Timing timing{static_cast<int64_t>(std::min<Time>(end_ / kNanosecond, INT64_MAX)), {}};
    for (const Process& process : processes_) {
      take_greater(timing.most, process.sent);
      take_greater(timing.most, process.received);
    }
    return timing;
  }

  // The messages that one rank sends.
  Result<Work> sent_by(int64_t group, int64_t rank) {
    Process& process = processes_[first_of_group_[group] + rank];
    process.registers = registers_.data();
    code_.start(bindings_[group], rank, process.walker, process.registers);
    for (go_on(process), until_step(process); process.pause == Pause::kStep; until_step(process)) {
      waiting_.clear();
      begin(process);
    }
    if (!wrong_.empty()) return Error{wrong_};
    return process.sent;
  }

  void block_message(const MessageHead& head, Buffer buffer, int64_t block) {
    message(head);
    piece({buffer, block, false, 0, 0});
    message_end();
  }
  void message(const MessageHead& head) {
    head_ = head;
    pieces_ = bytes_ = 0;
  }
  void piece(const PieceValue& piece) {
    ++pieces_;
    bytes_ += length(piece);
  }
  void message_end() {
    if (pieces_ > 0 && bytes_ == 0) return;  // empty messages are not sent
    const bool receives = head_.direction == Direction::kReceive;
    const Time work = pieces_ > 1 || head_.combine ? copies(pieces_, bytes_) : 0;
    if (receives)
      now_->taking += work;
    else
      send(work);
  }
  void copy(const PieceValue& from, const PieceValue& to) {
    if (to.buffer == Buffer::kTemporary && !to.ranged) remember_length(to.block, length(from));
    const bool is_one = has_one_buffer(program_.collective, program_.groups) &&
                        from.buffer == Buffer::kSend && to.buffer == Buffer::kReceive;
    if (!is_one) now_->begun += copies(1, length(from));
  }
  void reduce(Side, const PieceValue& from, const PieceValue&) {
    now_->begun += copies(1, length(from));
  }

 private:
  void go_on(Process& process) {
    now_ = &process;
    process.pause = code_.run<PauseAtOutside>(bindings_[process.group], process.walker,
                                              process.registers, *this);
    if (process.pause == Pause::kUndefined)
      wrong_ = fmt::format("rank {} meets {}", process.rank, describe(process.walker.why));
  }

  // Waits for all earlier steps, after a statement outside steps.
  void until_step(Process& process) {
    while (process.pause == Pause::kOutside) {
      process.begun = std::max(process.begun, process.done);
      go_on(process);
    }
    process.done = std::max(process.done, process.begun);
    end_ = std::max(end_, process.done);
    if (process.pause == Pause::kStep) waiting_[process.walker.key].push_back(&process);
  }

  void begin(Process& process) {
    const Walker& walker = process.walker;
    key_ = walker.key;
    process.begun = std::max(process.begun,
                             walker.has_after ? done_up_to(process, walker.after) : process.done);
    process.left = process.begun;
    go_on(process);
  }

  static Time done_up_to(const Process& process, int64_t key) {
    const auto behind =
        std::upper_bound(process.steps.begin(), process.steps.end(), key,
                         [](int64_t wanted, const Done& step) { return wanted < step.key; });
    return behind == process.steps.begin() ? 0 : std::prev(behind)->at;
  }

  void finish(Process& process) {
    const Time there = process.arrived + process.taking;
    process.done = std::max({process.done, process.begun, process.left, there});
    if (overlapping_) remember(process);
    until_step(process);
  }

  void remember(Process& process) const {
    std::vector<Done>& steps = process.steps;
    steps.push_back({key_, process.done});
    if (steps.size() == 2 * kRemembered) steps.erase(steps.begin(), steps.begin() + kRemembered);
  }

  void send(Time work) {
    Process& from = *now_;
    const Place& place = bindings_[from.group].place;
    if (head_.peer < 0 || head_.peer >= (head_.remote ? place.remote_ranks : place.ranks)) {
      wrong_ = fmt::format("rank {} sends to rank {}, which there is not", from.rank, head_.peer);
      return;
    }
    const size_t group = head_.remote ? 1 - from.group : from.group;
    Process& to = processes_[first_of_group_[group] + head_.peer];
    const bool inside = from.node == to.node;
    const LinearModel& model = inside ? machine_.inside : machine_.between;
    const Time busy = kNanosecond * (inside ? machine_.gap_inside_ns : machine_.gap_ns) +
                      Time{bytes_} * model.beta_ps;
    const bool shared = machine_.port == PortScope::kNode;
    from.begun += work;
    Time arrived = 0;
    if (inside && shared) {
      Time& memory = memories_[from.node];
      memory = std::max(memory, from.begun) + busy;
      const Time out = std::max(memory, from.begun + Time{bytes_} * machine_.beta_alone_ps);
      from.left = std::max(from.left, out);
      arrived = out + kNanosecond * model.alpha_ns;
    } else {
      Time& out = (shared ? ports_[from.node] : from.port).out;
      Time& in = (shared ? ports_[to.node] : to.port).in;
      const Time starts = std::max(out, from.begun);
      out = starts + busy;
      from.left = std::max(from.left, out);
      in = std::max(in, starts + kNanosecond * model.alpha_ns) + busy;
      arrived = in;
    }
    if (awaits_sends_ && bytes_ > machine_.eager) from.left = std::max(from.left, arrived);
    to.arrived = std::max(to.arrived, arrived);
    end_ = std::max(end_, arrived);
    for (Work* each : {&from.sent, &to.received}) {
      each->*(inside ? &Work::inside : &Work::between) += 1;
      each->*(inside ? &Work::bytes_inside : &Work::bytes_between) += bytes_;
    }
  }

  // The time to copy that many pieces.
  Time copies(int64_t pieces, int64_t bytes) {
    now_->sent.bytes_copied += bytes;
    return pieces * kNanosecond * machine_.copy.alpha_ns + Time{bytes} * machine_.copy.beta_ps;
  }

  // Records the length of a temporary block that a copy fills. If all ranks of the group copy the same length to it,
  // one number serves all.
  void remember_length(int64_t block, int64_t bytes) {
    if (call_.counts.empty()) return;
    const auto [known, is_new] = temporaries_[now_->group].emplace(block, bytes);
    if (!is_new && known->second != bytes) known->second = kDiffer;
  }

  int64_t length(const PieceValue& piece) {
    if (piece.ranged) return piece.high - piece.low;
    // The most frequent pieces: blocks that an allgather has gathered.
    if (gathered_ && piece.buffer == Buffer::kReceive && 0 <= piece.block &&
        piece.block < static_cast<int64_t>(gathered_->size()))
      return (*gathered_)[piece.block];
    Place place = bindings_[now_->group].place;
    const auto& known = temporaries_[now_->group];
    if (const auto found = known.find(piece.block);
        piece.buffer == Buffer::kTemporary && found != known.end() && found->second != kDiffer)
      return found->second;
    if (piece.buffer == Buffer::kTemporary || call_.counts.empty()) {
      const bool of_others =
          place.intercommunicator() && program_.collective == Collective::kReduceScatter;
      return averages_[of_others ? 1 - now_->group : now_->group];
    }
    place.rank = now_->rank;
    const LengthSource source =
        length_source(program_.collective, piece.buffer, place, Block{piece.block});
    const std::vector<int64_t>& counts =
        call_.counts[source.remote ? 1 - now_->group : now_->group];
    if (source.index >= 0 && source.index < static_cast<int64_t>(counts.size()))
      return counts[source.index];
    wrong_ = fmt::format("rank {} names block {}, which there is not", now_->rank, piece.block);
    return 0;
  }

  const Program& program_;
  const Call& call_;
  const std::vector<Binding>& bindings_;
  const Machine& machine_;
  const Code code_;
  const bool overlapping_;
  const bool awaits_sends_;
  const std::vector<int64_t>* const gathered_;
  static constexpr int64_t kDiffer = -1;
  std::vector<int64_t> averages_;                                  // lengths, per group
  std::vector<std::unordered_map<int64_t, int64_t>> temporaries_;  // lengths by block, per group
  std::vector<Process> processes_;
  std::vector<int64_t> registers_;
  std::vector<size_t> first_of_group_;
  std::vector<Port> ports_;                           // of nodes
  std::vector<Time> memories_;                        // also per node: when they are free again
  std::map<int64_t, std::vector<Process*>> waiting_;  // by the key of their next step
  Time end_ = 0;
  std::string wrong_;  // an error of the program

  Process* now_ = nullptr;
  int64_t key_ = 0;
  MessageHead head_{};
  int64_t pieces_ = 0, bytes_ = 0;
};

// An estimate for such a rank: the times of its messages, added up. Only for comparisons.
double rough_time(const Machine& machine, const Topology& nodes, const Work& work) {
  const auto time = [](int64_t number, int64_t each) {
    return static_cast<double>(number) * static_cast<double>(each);
  };
  const int64_t sharing = machine.port == PortScope::kNode ? nodes.runs().back().size : 1;
  return 1e3 * time(work.between, machine.between.alpha_ns) +
         1e3 * time(work.inside, machine.inside.alpha_ns) +
         time(work.bytes_between, machine.between.beta_ps * sharing) +
         time(work.bytes_inside, machine.inside.beta_ps * sharing) +
         time(work.bytes_copied, machine.copy.beta_ps);
}

}  // namespace

Result<Timing> call_timing(const Program& program, const Job& job, const Call& call,
                           const std::vector<Binding>& bindings, int64_t bytes,
                           const Machine& machine, int64_t longest) {
  return Execution(program, job, call, bindings, bytes, machine).run(longest);
}

double rough_timing(const Program& program, const Job& job, const Call& call,
                    const std::vector<Binding>& bindings, int64_t bytes, const Machine& machine) {
  double most = 0;
  for (int group = 0; group < program.groups; ++group)
    for (const int64_t rank : {int64_t{0}, job.groups[group].ranks() / 2}) {
      const Result<Work> work =
          Execution(program, job, call, bindings, bytes, machine).sent_by(group, rank);
      if (work.ok()) most = std::max(most, rough_time(machine, job.groups[group], *work));
    }
  return most;
}

}  // namespace quadrille
