// Walks all ranks in the order of keys. Both ends of a message are in steps of one key, and a step waits only for
// steps of lower keys. So everything that a key waits for is known when the walk reaches it. Tested by
// tests/schedule/depth_test.cc.
#include "schedule/depth.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "schedule/walk.h"

namespace quadrille {
namespace {

// The level of each step of one rank: the number of messages in the longest chain up to the end of that step.
class Levels {
 public:
  // Returns the greatest level of all steps so far.
  int64_t last() const { return levels_.empty() ? 0 : levels_.back().second; }
  // Returns the greatest level of the steps with keys <= key.
  int64_t up_to(int64_t key) const {
    const auto above =
        std::upper_bound(levels_.begin(), levels_.end(), key,
                         [](int64_t wanted, const auto& level) { return wanted < level.first; });
    return above == levels_.begin() ? 0 : std::prev(above)->second;
  }
  void add(int64_t key, int64_t level) {
    if (level > last()) levels_.emplace_back(key, level);
  }

 private:
  std::vector<std::pair<int64_t, int64_t>> levels_;  // both ascending
};

struct Process {
  int64_t group = 0, rank = 0;
  Walker walker;
  std::vector<int64_t> registers;
  Levels levels;
  int64_t floor = 0;           // the lowest level at which steps after a copy outside steps start
  int64_t start = 0, end = 0;  // levels of the step at the current key
  bool outside = false;        // a copy outside steps precedes the next step
};

class DepthCounter : public SinkOf<DepthCounter> {
 public:
  DepthCounter(const Program& program, const std::vector<Binding>& bindings, Code code,
               int64_t most)
      : bindings_(bindings), code_(std::move(code)), most_(most) {
    for (int64_t group = 0; group < program.groups; ++group) {
      first_.push_back(static_cast<int64_t>(processes_.size()));
      for (int64_t rank = 0; rank < bindings[group].place.ranks; ++rank) {
        Process& process = processes_.emplace_back();
        process.group = group;
        process.rank = rank;
        process.registers.resize(code_.registers());
        code_.start(bindings[group], rank, process.walker, process.registers.data());
      }
    }
  }

  std::optional<int64_t> run() {
    for (size_t i = 0; i < processes_.size() && is_right_; ++i) go_on(i);
    while (is_right_ && !next_.empty()) take_key();
    if (!is_right_) return std::nullopt;
    int64_t deepest = 0;
    for (const Process& process : processes_) deepest = std::max(deepest, process.levels.last());
    return deepest;
  }

  // The walk calls these two functions (SinkOf).
  void block_message(const MessageHead& head, Buffer, int64_t) { message(head); }
  void message(const MessageHead& head) {
    if (head.direction == Direction::kReceive) return;  // each message counts once, at its sender
    const Process& sender = processes_[current_];
    const int64_t group = head.remote ? 1 - sender.group : sender.group;
    is_right_ &= group < static_cast<int64_t>(first_.size()) && head.peer >= 0 &&
                 head.peer < bindings_[group].place.ranks && ++count_ <= most_;
    if (is_right_) messages_.emplace_back(current_, first_[group] + head.peer);
  }

 private:
  // Walks a process to its next step, and queues the key of that step.
  void go_on(size_t i) {
    Process& process = processes_[i];
    current_ = i;
    for (;;) {
      switch (code_.run<PauseAtOutside>(bindings_[process.group], process.walker,
                                        process.registers.data(), *this)) {
        case Pause::kStep: return next_.emplace(process.walker.key, i);
        case Pause::kOutside: process.outside = true; break;
        case Pause::kEnd: return;
        default: is_right_ = false; return;
      }
    }
  }

  void take_key() {
    const int64_t key = next_.top().first;
    standing_.clear();
    messages_.clear();
    for (; !next_.empty() && next_.top().first == key; next_.pop())
      standing_.push_back(next_.top().second);
    for (const size_t i : standing_) {
      Process& process = processes_[i];
      const Walker& walker = process.walker;
      if (std::exchange(process.outside, false)) process.floor = process.levels.last();
      process.start = walker.has_after ? process.levels.up_to(walker.after) : process.levels.last();
      process.start = process.end = std::max(process.start, process.floor);
    }
    for (const size_t i : standing_) {
      go_on(i);
      if (is_right_ && !next_.empty() && next_.top().first <= key) is_right_ = false;
      if (!is_right_) return;
    }
    for (const auto& [sender, receiver] : messages_) {
      Process &from = processes_[sender], &to = processes_[receiver];
      const int64_t level = 1 + std::max(from.start, to.start);
      from.end = std::max(from.end, level);
      to.end = std::max(to.end, level);
    }
    for (const size_t i : standing_) processes_[i].levels.add(key, processes_[i].end);
  }

  const std::vector<Binding>& bindings_;
  const Code code_;
  const int64_t most_;
  std::vector<int64_t> first_;  // the number of each group's first process
  std::vector<Process> processes_;
  std::priority_queue<std::pair<int64_t, size_t>, std::vector<std::pair<int64_t, size_t>>,
                      std::greater<>>
      next_;                      // (key of its next step, process)
  std::vector<size_t> standing_;  // processes at the current key
  std::vector<std::pair<size_t, size_t>> messages_;
  size_t current_ = 0;
  int64_t count_ = 0;
  bool is_right_ = true;
};

}  // namespace

std::optional<int64_t> depth(const Program& program, const Job& job, const Call& call,
                             int64_t most) {
  Result<Code> code = Code::compile(program);
  if (!code.ok()) return std::nullopt;
  std::vector<Binding> bindings;
  for (int64_t group = 0; group < program.groups; ++group) {
    Result<Binding> binding = bind(program, job, call, group);
    if (!binding.ok()) return std::nullopt;
    bindings.push_back(std::move(binding).value());
  }
  return DepthCounter(program, bindings, std::move(code).value(), most).run();
}

}  // namespace quadrille
