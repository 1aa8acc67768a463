// The time of a walk is proportional to the blocks of its rank. So a few nodes represent all: nodes of one size behave
// alike, and other sizes lie between the least and the largest. But the ranks of a node may differ: one of them may
// send everything for another node. So all ranks of a node are walked. The blocks that leave the largest node are
// counted exactly, so no time is below that bound. If there is only one node, nothing leaves it, and its ranks behave
// alike by rotation. Tested by tests/generator/cost_test.cc and, against the lower bound, by candidates_test.cc.
#include "generator/cost.h"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "schedule/evaluate.h"
#include "schedule/walk.h"

namespace quadrille {
namespace {

constexpr int64_t kWalkedRanks = 32;  // the most of a node: more take too long
constexpr int64_t kAlikeRanks = 4;    // the most ranks sampled on a single node

struct Step {
  int64_t key, over;  // it waits for all steps with keys up to this one
  Load load;
};

// The sink of one rank's walk.
class Counter : public SinkOf<Counter> {
 public:
  Counter(int64_t first, int64_t end) : first_(first), end_(end) {}

  void step(const Walker& walker) {
    const int64_t over = walker.has_after ? walker.after : walker.key - 1;
    for (; !under_way_.empty() && under_way_.front().key <= over; under_way_.pop_front())
      blocks_ -= under_way_.front().blocks;
    under_way_.push_back({walker.key, 0});
    steps.push_back({walker.key, over, {}});
    steps.back().load.copied = std::exchange(copied_before_, 0);
  }
  // Every algorithm copies the rank's own block once, which is not counted. Others pass through temporary blocks.
  void copy(const PieceValue& from, const PieceValue& to) {
    if (from.buffer == Buffer::kTemporary || to.buffer == Buffer::kTemporary)
      ++(steps.empty() ? copied_before_ : steps.back().load.copied);
  }
  void message(const MessageHead& head) {
    head_ = head;
    pieces_ = 0;
    temporary_ = false;
  }
  void piece(const PieceValue& piece) {
    ++pieces_;
    temporary_ |= piece.buffer == Buffer::kTemporary;
  }
  void message_end() {
    Load& load = steps.back().load;
    if (pieces_ > 1 || temporary_) load.copied += pieces_;
    if (head_.direction == Direction::kReceive) return;
    const bool inside = first_ <= head_.peer && head_.peer < end_;
    (inside ? load.inside : load.between) += 1;
    (inside ? load.blocks_inside : load.blocks_between) += pieces_;
    under_way_.back().blocks += pieces_;
    blocks_ += pieces_;
    in_flight = std::max(in_flight, blocks_);
  }

  std::vector<Step> steps;
  int64_t in_flight = 0;

 private:
  struct Sent {
    int64_t key, blocks;
  };
  const int64_t first_, end_;  // the ranks of this rank's node
  MessageHead head_{};
  int64_t pieces_ = 0;
  bool temporary_ = false;
  std::deque<Sent> under_way_;
  int64_t copied_before_ = 0;  // before the first step
  int64_t blocks_ = 0;         // the blocks sent to or received from those ranks
};

Counter walked(const Code& code, const Binding& binding, int64_t rank, int64_t first,
               int64_t size) {
  Walker walker;
  std::vector<int64_t> registers(code.registers());
  code.start(binding, rank, walker, registers.data());
  Counter counter(first, first + size);
  for (;;) {
    const Pause pause = code.run<PauseAtSteps>(binding, walker, registers.data(), counter);
    if (pause == Pause::kEnd) return counter;
    check(pause == Pause::kStep, "an all-to-all has steps only");
    counter.step(walker);
  }
}

constexpr int64_t Load::*kLoads[] = {&Load::between, &Load::inside, &Load::blocks_between,
                                     &Load::blocks_inside, &Load::copied};

// A stage ends if a step waits for all steps up to there and for no others.
std::vector<Stage> stages_of(const std::vector<Step>& steps) {
  std::set<int64_t> ends;
  for (const Step& step : steps) ends.insert(step.over);
  std::vector<Stage> stages;
  std::vector<int64_t> first_keys;  // the least key of each stage
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto needed = std::upper_bound(first_keys.begin(), first_keys.end(), steps[i].over);
    const auto needs = static_cast<size_t>(needed - first_keys.begin());
    const auto end = i == 0 ? ends.end() : ends.lower_bound(steps[i - 1].key);
    const bool ended = end != ends.end() && *end < steps[i].key;
    if (i == 0 || ended || needs != stages.back().needs) {
      stages.push_back({needs, needs == 0 ? 0 : stages[needs - 1].round + 1, {}, {}});
      first_keys.push_back(steps[i].key);
    }
    for (const auto each : kLoads) stages.back().most.*each += steps[i].load.*each;
  }
  for (Stage& stage : stages) stage.sum = stage.most;
  return stages;
}

void take(Traffic& all, const std::vector<Stage>& stages) {
  if (all.stages.size() < stages.size()) all.stages.resize(stages.size());
  for (size_t i = 0; i < stages.size(); ++i) {
    Stage& into = all.stages[i];
    into.needs = std::max(into.needs, stages[i].needs);
    into.round = std::max(into.round, stages[i].round);
    for (const auto each : kLoads) {
      into.most.*each = std::max(into.most.*each, stages[i].most.*each);
      into.sum.*each += stages[i].sum.*each;
    }
  }
}

// A rank has blocks for all ranks of other nodes. If the ranks that were walked send fewer blocks than the average,
// the rest is added at the end.
void add_unseen(Traffic& all, int64_t others) {
  int64_t unseen = all.samples * others;
  for (const Stage& stage : all.stages) unseen -= stage.sum.blocks_between;
  if (all.samples == all.node_ranks || unseen <= 0) return;
  Stage& last = all.stages.back();
  last.sum.blocks_between += unseen;
  last.most.between = std::max<int64_t>(last.most.between, 1);
}

std::set<size_t> rounds_of(const std::vector<Stage>& stages, int64_t Load::*messages) {
  std::set<size_t> rounds;
  for (const Stage& stage : stages)
    if (stage.most.*messages > 0) rounds.insert(stage.round);
  return rounds;
}

using Wide = __int128;  // picoseconds

// A node, or a rank of it, during a call.
class Clock {
 public:
  Clock(const Machine& machine, const Traffic& traffic, int64_t bytes)
      : machine_(machine), traffic_(traffic), bytes_(bytes) {}

  Wide end() {
    std::vector<Wide> done = {0};  // done[i]: when the first i stages are complete
    for (const Stage& stage : traffic_.stages)
      done.push_back(std::max(done.back(), done_at(stage, done[stage.needs])));
    return done.back();
  }

 private:
  Wide done_at(const Stage& stage, Wide after) {
    begun_ = std::max(begun_, after) + stage.most.copied * cost(machine_.copy);
    Wide end = begun_;
    if (stage.most.between > 0)
      end = std::max(end, queued(port_, machine_.between, machine_.gap_ns, stage, &Load::between,
                                 &Load::blocks_between));
    if (stage.most.inside > 0)
      end =
          std::max(end, queued(shared() ? memory_ : port_, machine_.inside, machine_.gap_inside_ns,
                               stage, &Load::inside, &Load::blocks_inside));
    return end;
  }

  Wide cost(const LinearModel& model) const {
    return Wide{1000} * model.alpha_ns + Wide{bytes_} * model.beta_ps;
  }
  bool shared() const { return machine_.port == PortScope::kNode; }

  // The time at which the stage's messages of one kind have arrived.
  Wide queued(Wide& free, const LinearModel& model, int64_t gap_ns, const Stage& stage,
              int64_t Load::*messages, int64_t Load::*blocks) const {
    const auto busy = [&](const Load& load) {
      return Wide{1000} * gap_ns * (load.*messages) + Wide{bytes_} * model.beta_ps * (load.*blocks);
    };
    free = std::max(free, begun_) +
           (shared() ? busy(stage.sum) * traffic_.node_ranks / traffic_.samples : busy(stage.most));
    return free + Wide{1000} * model.alpha_ns;
  }

  const Machine& machine_;
  const Traffic& traffic_;
  const int64_t bytes_;
  Wide begun_ = 0;              // the start of the last stage
  Wide port_ = 0, memory_ = 0;  // when they have sent all messages so far
};

}  // namespace

std::vector<Traffic> traffic(const Program& program, const Job& job, const Binding& binding) {
  const Code code = Code::compile(program).value();
  const std::vector<int64_t> sizes = job.groups[0].sizes();
  std::vector<Traffic> result;
  int64_t first = 0;
  for (size_t node = 0; node < sizes.size(); first += sizes[node++]) {
    if (node != 0 && node != sizes.size() / 2 && node + 1 != sizes.size()) continue;
    if (!result.empty() && result.back().node_ranks == sizes[node]) continue;
    const int64_t most = sizes.size() == 1 ? kAlikeRanks : kWalkedRanks;
    Traffic all{sizes[node], std::min(most, sizes[node]), {}, 0};
    for (int64_t i = 0; i < all.samples; ++i) {
      const int64_t rank = first + i * sizes[node] / all.samples;
      const Counter counter = walked(code, binding, rank, first, sizes[node]);
      take(all, stages_of(counter.steps));
      all.in_flight = std::max(all.in_flight, counter.in_flight);
    }
    add_unseen(all, job.groups[0].ranks() - sizes[node]);
    result.push_back(all);
  }
  return result;
}

Load Traffic::total() const {
  Load total;
  for (const Stage& stage : stages)
    for (const auto each : kLoads) total.*each += stage.most.*each;
  return total;
}

int64_t Traffic::rounds_between() const {
  return static_cast<int64_t>(rounds_of(stages, &Load::between).size());
}

int64_t Traffic::rounds_inside() const {
  const std::set<size_t> between = rounds_of(stages, &Load::between);
  const std::set<size_t> inside = rounds_of(stages, &Load::inside);
  return std::count_if(inside.begin(), inside.end(),
                       [&](size_t round) { return !between.contains(round); });
}

int64_t call_time(const Machine& machine, const std::vector<Traffic>& traffic, int64_t bytes) {
  Wide longest = 0;
  for (const Traffic& each : traffic)
    longest = std::max(longest, Clock(machine, each, bytes).end());
  return static_cast<int64_t>(std::min<Wide>(longest / 1000, INT64_MAX));
}

}  // namespace quadrille
