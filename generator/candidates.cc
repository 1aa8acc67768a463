// Each candidate is bound and a few of its ranks are walked. Tested by tests/generator/candidates_test.cc.
#include "generator/candidates.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "schedule/evaluate.h"

namespace quadrille {
namespace {

constexpr int64_t kAllAtOnce = kMaxRanks * 2;  // as a block_count
constexpr int64_t kAlike = 64;                 // a part of a time that the model is not exact to

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

// By which those of a time are compared: the blocks that a rank sends and copies, then whether nothing of
// it is proven.
std::pair<int64_t, bool> drawbacks(const Candidate& candidate) {
  int64_t most = 0;
  for (const Traffic& each : candidate.traffic) {
    const Load total = each.total();
    most = std::max(most, total.blocks_between + total.blocks_inside + total.copied);
  }
  return {most, candidate.algorithm->proof == nullptr};
}

}  // namespace

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
    if (algorithm.collective != Collective::kAlltoall || algorithm.groups != 1) continue;
    if (!name.empty() && algorithm.name != name) continue;
    if (const std::optional<Candidate> best = search.best(algorithm)) result.push_back(*best);
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Candidate& a, const Candidate& b) { return a.time < b.time; });
  const auto slower = std::find_if(result.begin(), result.end(), [&](const Candidate& each) {
    return each.time - result[0].time > result[0].time / kAlike;
  });
  const auto first = std::min_element(
      result.begin(), slower,
      [](const Candidate& a, const Candidate& b) { return drawbacks(a) < drawbacks(b); });
  if (first != slower) std::rotate(result.begin(), first, first + 1);
  return result;
}

}  // namespace quadrille
