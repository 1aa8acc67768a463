// A rank is walked once for each candidate, which takes time in proportion to the blocks that it deals
// with; that is why few ranks stand for all. Ranks of a node do alike, and nodes between the least and
// the largest do what is between. Tested by tests/generator/cost_test.cc.
#include "generator/cost.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <set>

#include "schedule/evaluate.h"
#include "schedule/walk.h"

namespace quadrille {
namespace {

constexpr int64_t kSampledRanks = 4;           // of a node
constexpr int64_t kAllAtOnce = kMaxRanks * 2;  // as a block_count

// The sink of one rank's walk.
class Counter {
 public:
  Counter(int64_t first, int64_t end) : first_(first), end_(end) {}

  void step(const Walker& walker) {
    const int64_t over = walker.has_after ? walker.after : walker.key - 1;
    for (; !under_way_.empty() && under_way_.front().key <= over; under_way_.pop_front())
      blocks_ -= under_way_.front().blocks;
    under_way_.push_back({walker.key, 0});
    const auto next = std::upper_bound(first_keys_.begin(), first_keys_.end(), over);
    round_ = static_cast<size_t>(next - first_keys_.begin());
    if (next != first_keys_.end()) return;
    first_keys_.push_back(walker.key);
    result.rounds.emplace_back();
  }
  void block_message(const MessageHead& head, Buffer buffer, int64_t) {
    message(head);
    pieces_ = 1;
    temporary_ = buffer == Buffer::kTemporary;
    message_end();
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
    Load& load = result.rounds[round_];
    if (pieces_ > 1 || temporary_) load.copied += pieces_;
    if (head_.direction == Direction::kReceive) return;
    const bool inside = first_ <= head_.peer && head_.peer < end_;
    (inside ? load.inside : load.between) += 1;
    (inside ? load.blocks_inside : load.blocks_between) += pieces_;
    under_way_.back().blocks += pieces_;
    blocks_ += pieces_;
    result.in_flight = std::max(result.in_flight, blocks_);
  }
  void copy(const PieceValue&, const PieceValue&) {}
  void reduce(Side, const PieceValue&, const PieceValue&) {}

  Traffic result;

 private:
  struct Sent {
    int64_t key, blocks;
  };
  const int64_t first_, end_;  // the ranks of this one's node
  MessageHead head_{};
  size_t round_ = 0;
  std::vector<int64_t> first_keys_;  // of the rounds
  int64_t pieces_ = 0;
  bool temporary_ = false;
  std::deque<Sent> under_way_;
  int64_t blocks_ = 0;  // of those
};

Traffic traffic_of_rank(const Code& code, const Binding& binding, int64_t rank, int64_t first,
                        int64_t size) {
  Walker walker;
  std::vector<int64_t> registers(code.registers());
  code.start(binding, rank, walker, registers.data());
  Counter counter(first, first + size);
  for (;;) {
    const Pause pause = code.run<PauseAtSteps>(binding, walker, registers.data(), counter);
    if (pause == Pause::kEnd) return counter.result;
    check(pause == Pause::kStep, "an all-to-all has steps only");
    counter.step(walker);
  }
}

constexpr int64_t Load::*kLoads[] = {&Load::between, &Load::inside, &Load::blocks_between,
                                     &Load::blocks_inside, &Load::copied};

void take_most(Traffic& most, const Traffic& traffic) {
  most.in_flight = std::max(most.in_flight, traffic.in_flight);
  if (most.rounds.size() < traffic.rounds.size()) most.rounds.resize(traffic.rounds.size());
  for (size_t i = 0; i < traffic.rounds.size(); ++i)
    for (const auto each : kLoads)
      most.rounds[i].*each = std::max(most.rounds[i].*each, traffic.rounds[i].*each);
}

// For each number of digits the least radix that needs no more, for as many ranks as there are and for
// as many as the largest node has.
std::set<int64_t> radices(const Topology& topology) {
  std::set<int64_t> result = {2};
  for (const int64_t ranks : {topology.ranks(), topology.runs().back().size}) {
    if (ranks > 2) result.insert(ranks);
    for (int64_t radix = 3; radix * radix < 2 * ranks; ++radix) {
      int64_t less = 1, all = 1;  // (radix - 1)^digits, radix^digits
      for (; all < ranks; all *= radix) less *= radix - 1;
      if (less < ranks) result.insert(radix);
    }
  }
  return result;
}

class Search {
 public:
  Search(const Topology& topology, int64_t bytes, const Machine& machine, const Fixed& fixed)
      : topology_(topology), bytes_(bytes), machine_(machine), fixed_(fixed) {}

  // Nothing where the algorithm does not serve the topology, or not with the fixed numbers.
  std::optional<Candidate> best(const Algorithm& algorithm) {
    program_ = make_program(algorithm, all_choices(algorithm)[0]);
    std::optional<Candidate> best;
    for (const auto& [name, value] : fixed_)
      if (std::none_of(algorithm.numbers.begin(), algorithm.numbers.end(),
                       [&wanted = name](const Number& number) { return number.name == wanted; }))
        return best;
    std::vector<std::vector<int64_t>> numbers = {{}};
    for (const Number& number : algorithm.numbers) numbers = longer(numbers, number);
    for (const std::vector<int64_t>& each : numbers) {
      const std::optional<Candidate> candidate = measured(algorithm, each);
      if (candidate && (!best || candidate->time < best->time)) best = candidate;
    }
    for (size_t i = 0; best && i < algorithm.numbers.size(); ++i)
      if (algorithm.numbers[i].kind == NumberKind::kBatch &&
          !fixed_.contains(algorithm.numbers[i].name))
        choose_last(*best, i);
    return best;
  }

 private:
  // Those to be tried; a batch is all at once, as long as it was not chosen.
  std::set<int64_t> values_of(const Number& number) const {
    if (const auto fixed = fixed_.find(number.name); fixed != fixed_.end()) return {fixed->second};
    if (number.kind == NumberKind::kRadix) return radices(topology_);
    std::set<int64_t> result = {number.kind == NumberKind::kBatch ? kAllAtOnce : 0};
    if (number.kind == NumberKind::kNodes)
      for (int64_t nodes = 1; nodes < topology_.nodes(); nodes *= 2) result.insert(nodes);
    return result;
  }

  std::vector<std::vector<int64_t>> longer(const std::vector<std::vector<int64_t>>& all,
                                           const Number& number) const {
    const std::set<int64_t> values = values_of(number);
    std::vector<std::vector<int64_t>> result;
    for (const std::vector<int64_t>& one : all)
      for (const int64_t value : values) {
        result.push_back(one);
        result.back().push_back(value);
      }
    return result;
  }

  std::optional<Candidate> measured(const Algorithm& algorithm,
                                    const std::vector<int64_t>& numbers) const {
    Job job{{topology_}, {}, {}};
    for (const Parameter& parameter : program_.parameters)
      for (size_t i = 0; i < numbers.size(); ++i)
        if (algorithm.numbers[i].name == parameter.name.text) job.parameters.push_back(numbers[i]);
    const Result<Binding> binding = bind(program_, job, {}, 0);
    if (!binding.ok()) return std::nullopt;
    Candidate candidate{&algorithm, numbers, traffic(program_, job, *binding), 0};
    candidate.time = call_time(machine_, candidate.traffic, bytes_);
    return candidate;
  }

  template <typename What>
  static int64_t most(const Candidate& candidate, const What& what) {
    int64_t most = 0;
    for (const Traffic& each : candidate.traffic) most = std::max(most, what(each));
    return most;
  }
  static int64_t in_flight(const Traffic& traffic) { return traffic.in_flight; }
  static int64_t rounds(const Traffic& traffic) {
    return traffic.rounds_between() + traffic.rounds_inside();
  }

  // Doubles a number of what is under way at a time as long as that saves rounds and does not put too
  // much under way that was not there anyway.
  void choose_last(Candidate& best, size_t number) const {
    best.numbers[number] = best.algorithm->numbers[number].least();
    best = *measured(*best.algorithm, best.numbers);
    const int64_t enough = std::max(kInFlightBytes / bytes_, most(best, in_flight));
    for (;;) {
      std::vector<int64_t> numbers = best.numbers;
      numbers[number] *= 2;
      const std::optional<Candidate> larger = measured(*best.algorithm, numbers);
      if (!larger || most(*larger, rounds) == most(best, rounds) ||
          most(*larger, in_flight) > enough)
        return;
      best = *larger;
    }
  }

  const Topology& topology_;
  const int64_t bytes_;
  const Machine& machine_;
  const Fixed& fixed_;
  Program program_;
};

}  // namespace

std::vector<Traffic> traffic(const Program& program, const Job& job, const Binding& binding) {
  const Code code = Code::compile(program).value();
  const std::vector<int64_t> sizes = job.groups[0].sizes();
  std::vector<Traffic> result;
  int64_t first = 0;
  for (size_t node = 0; node < sizes.size(); first += sizes[node++]) {
    if (node != 0 && node != sizes.size() / 2 && node + 1 != sizes.size()) continue;
    Traffic most;
    most.node_ranks = sizes[node];
    const int64_t samples = std::min(kSampledRanks, sizes[node]);
    for (int64_t i = 0; i < samples; ++i)
      take_most(most, traffic_of_rank(code, binding, first + i * sizes[node] / samples, first,
                                      sizes[node]));
    result.push_back(most);
  }
  return result;
}

Load Traffic::total() const {
  Load total;
  for (const Load& round : rounds)
    for (const auto each : kLoads) total.*each += round.*each;
  return total;
}

int64_t Traffic::rounds_between() const {
  return std::count_if(rounds.begin(), rounds.end(),
                       [](const Load& round) { return round.between > 0; });
}

int64_t Traffic::rounds_inside() const {
  return std::count_if(rounds.begin(), rounds.end(),
                       [](const Load& round) { return round.between == 0 && round.inside > 0; });
}

int64_t call_time(const Machine& machine, const std::vector<Traffic>& traffic, int64_t bytes) {
  using Wide = __int128;  // picoseconds
  const bool shared = machine.port == PortScope::kNode;
  Wide longest = 0;
  for (const Traffic& each : traffic) {
    Wide time = 0;
    const int64_t sharing = shared ? each.node_ranks : 1;
    for (const Load& round : each.rounds) {
      const int64_t alpha_ns = round.between > 0  ? machine.between.alpha_ns
                               : round.inside > 0 ? machine.inside.alpha_ns
                                                  : 0;
      const Wide gap = Wide{1000} * machine.gap_ns;
      const Wide network = Wide{bytes} * round.blocks_between * machine.between.beta_ps;
      const Wide memory = gap * (round.between + round.inside) +
                          Wide{bytes} * round.blocks_inside * machine.inside.beta_ps;
      const Wide sent = shared ? std::max(gap * round.between + network, memory) : network + memory;
      time += Wide{1000} * alpha_ns + sharing * sent +
              round.copied * (Wide{1000} * machine.copy_ns + Wide{bytes} * machine.inside.beta_ps);
    }
    longest = std::max(longest, time);
  }
  return static_cast<int64_t>(std::min<Wide>(longest / 1000, INT64_MAX));
}

std::string candidate_text(const Candidate& candidate) {
  std::string text = candidate.algorithm->name;
  for (size_t i = 0; i < candidate.numbers.size(); ++i)
    text +=
        ", " + candidate.algorithm->numbers[i].name + " = " + std::to_string(candidate.numbers[i]);
  return text;
}

std::vector<Candidate> best_candidates(const Topology& topology, int64_t bytes,
                                       const Machine& machine, const std::string& name,
                                       const Fixed& fixed) {
  Search search(topology, bytes, machine, fixed);
  std::vector<Candidate> result;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.collective != Collective::kAlltoall) continue;
    if (!name.empty() && algorithm.name != name) continue;
    if (const std::optional<Candidate> best = search.best(algorithm)) result.push_back(*best);
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Candidate& a, const Candidate& b) { return a.time < b.time; });
  return result;
}

}  // namespace quadrille
