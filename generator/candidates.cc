// Each candidate is bound, and all or a few of its ranks are walked. Tested by tests/generator/candidates_test.cc.
#include "generator/candidates.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "cli/progress.h"
#include "schedule/evaluate.h"
#include "simulate/bound.h"

namespace quadrille {
namespace {

constexpr int64_t kAllAtOnce = kMaxRanks * 2;  // as a block_count
constexpr int64_t kAlike = 64;                 // the model is exact to this part of a time

// All radices if ranks are few. Else, for each number of digits, the least radix that needs no more. It is taken for
// the number of all ranks and for that of the largest node.
std::set<int64_t> radices(const Topology& topology) {
  constexpr int64_t kFewRanks = 96;
  std::set<int64_t> result = {2};
  if (topology.ranks() <= kFewRanks) {
    for (int64_t radix = 3; radix <= topology.ranks(); ++radix) result.insert(radix);
    return result;
  }
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

// The longest time that the model cannot tell from this one.
int64_t alike(int64_t time) { return time > INT64_MAX / 2 ? INT64_MAX : time + time / kAlike; }

// Nodes of one size behave alike, so few represent all.
bool is_alike(const Workload& workload) {
  return workload.collective == Collective::kAlltoall && workload.groups.size() == 1;
}

bool has_counts(Collective collective) {
  return collective != Collective::kAlltoall && collective != Collective::kBarrier;
}

verifier::Counts counts_of(const Workload& workload) {
  if (!has_counts(workload.collective)) return {};
  if (!workload.counts.empty()) return workload.counts;
  // MPI has vectors of one length in both groups of a reduce-scatter.
  const bool divided =
      workload.collective == Collective::kReduceScatter && workload.groups.size() == 2;
  int64_t ranks = 0;
  for (const Topology& topology : workload.groups) ranks += topology.ranks();
  verifier::Counts counts;
  for (const Topology& topology : workload.groups)
    counts.emplace_back(topology.ranks(), divided ? std::max<int64_t>(1, workload.bytes * ranks /
                                                                             2 / topology.ranks())
                                                  : workload.bytes);
  return counts;
}

// Block sizes are chosen like in the runtime.
Result<Call> call_of(const Program& program, const Job& job, const verifier::Counts& counts,
                     const verifier::CallArguments& given = {}) {
  verifier::Schedule schedule;
  schedule.program = program;
  schedule.job = job;
  return verifier::call_with(counts, given, schedule);
}

// Whether the program serves counts that differ.
bool serves_uneven_counts(const Program& program, const Job& job) {
  if (!uses_counts(program) || has_one_count(program.collective)) return true;
  verifier::Counts counts;
  for (const Topology& topology : job.groups) {
    counts.emplace_back();
    for (int64_t rank = 0; rank < topology.ranks(); ++rank) counts.back().push_back(rank);
  }
  const Result<Call> call = call_of(program, job, counts);
  return call.ok() && takes(program, job, *call);
}

// Between groups the root may be in either.
bool has_two_directions(const Workload& workload) {
  return workload.groups.size() == 2 && rooted(workload.collective) && !workload.root;
}
int64_t mean(int64_t one, int64_t other) { return one / 2 + other / 2; }
Workload turned(Workload workload) {
  std::swap(workload.groups[0], workload.groups[1]);
  if (!workload.counts.empty()) std::swap(workload.counts[0], workload.counts[1]);
  return workload;
}

// Binds each group in the call of the workload.
Result<std::vector<Binding>> bind_all(const Program& program, const Job& job, const Call& call) {
  std::vector<Binding> bindings;
  for (int group = 0; group < program.groups; ++group) {
    Result<Binding> binding = bind(program, job, call, group);
    if (!binding.ok()) return binding.error();
    bindings.push_back(std::move(binding).value());
  }
  return bindings;
}

// 0 if the program does not serve the workload.
double rough_time(const Program& program, const Job& job, const Workload& workload) {
  const Result<Call> call = call_of(program, job, counts_of(workload));
  if (!call.ok()) return 0;
  const Result<std::vector<Binding>> bindings = bind_all(program, job, *call);
  if (!bindings.ok()) return 0;
  return rough_timing(program, job, *call, *bindings, workload.bytes, workload.machine);
}

Result<Estimate> estimate_as_it_is(const Program& program, const Job& job, const Workload& workload,
                                   int64_t longest, const std::vector<std::string>& parameters) {
  Estimate found;
  verifier::CallArguments given;
  given.parameters = parameters;
  given.root = workload.root;
  const Result<Call> call = call_of(program, job, counts_of(workload), given);
  if (!call.ok()) return call.error();
  Job called = job;  // the call sets the parameters, so no rule applies
  if (!parameters.empty()) called.models.assign(job.models.size(), {});
  const Result<std::vector<Binding>> bound = bind_all(program, job, *call);
  if (!bound.ok()) return bound.error();
  const std::vector<Binding>& bindings = *bound;
  if (is_alike(workload)) {
    found.traffic = traffic(program, job, bindings[0]);
    found.time = call_time(workload.machine, found.traffic, workload.bytes);
    return found;
  }
  const Result<Timing> timing =
      call_timing(program, called, *call, bindings, workload.bytes, workload.machine, longest);
  if (!timing.ok()) return timing.error();
  found.time = timing->time;
  found.work = timing->most;
  return found;
}

int64_t least_time_as_it_is(const Workload& workload) {
  const Call call{counts_of(workload), {}, workload.root.value_or(0)};
  const __int128 time =
      least_time(workload.collective, workload.groups, call,
                 has_counts(workload.collective) ? 1 : workload.bytes, workload.machine);
  return static_cast<int64_t>(std::min<__int128>(time / 1000, INT64_MAX));
}

class Search {
 public:
  Search(const Workload& workload, const Fixed& fixed, bool all)
      : workload_(workload), topology_(workload.groups[0]), fixed_(fixed), all_(all) {}

  // One way to run an algorithm.
  struct Trial {
    const Algorithm* algorithm;
    std::vector<int64_t> numbers;
    double rough_time;
  };

  // Empty if the algorithm does not have the fixed numbers.
  std::vector<Trial> trials(const Algorithm& algorithm) {
    const Program& program = programs_[&algorithm] =
        make_program(algorithm, all_choices(algorithm)[0]);
    if (workload_.ordered && program.commutative) return {};
    for (const auto& [name, value] : fixed_)
      if (std::none_of(algorithm.numbers.begin(), algorithm.numbers.end(),
                       [&wanted = name](const Number& number) { return number.name == wanted; }))
        return {};
    std::vector<std::vector<int64_t>> numbers = {{}};
    for (const Number& number : algorithm.numbers) numbers = longer(numbers, number);
    std::vector<Trial> result;
    for (const std::vector<int64_t>& each : numbers) {
      const Job job = job_of(algorithm, each);
      result.push_back(
          {&algorithm, each, is_alike(workload_) ? 0 : rough_time(program, job, workload_)});
    }
    return result;
  }

  // The best of each algorithm that serves the topology, in the order of the trials. If not all are wanted, the likely
  // winners are measured first: their times limit those of the others.
  std::vector<Candidate> best(const std::vector<Trial>& trials) {
    cli::Progress progress;  // with many ranks the walks take minutes
    std::vector<size_t> order(trials.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return trials[a].rough_time < trials[b].rough_time;
    });
    std::vector<std::optional<Candidate>> found(trials.size());
    for (const size_t i : order) {
      progress.say("trying " + trials[i].algorithm->name);
      found[i] = measured(*trials[i].algorithm, trials[i].numbers);
      if (found[i] && !all_) longest_ = std::min(longest_, alike(found[i]->time));
    }
    std::vector<Candidate> result;
    for (std::optional<Candidate>& each : found) {
      if (!each) continue;
      if (result.empty() || result.back().algorithm != each->algorithm)
        result.push_back(*std::move(each));
      else if (each->time < result.back().time)
        result.back() = *std::move(each);
    }
    for (Candidate& each : result)
      for (size_t i = 0; i < each.algorithm->numbers.size(); ++i)
        if (each.algorithm->numbers[i].kind == NumberKind::kBatch &&
            !fixed_.contains(each.algorithm->numbers[i].name))
          choose_last(each, i);
    return result;
  }

 private:
  // The values to try. A batch has all at once until it is chosen.
  std::set<int64_t> values_of(const Number& number) const {
    if (const auto fixed = fixed_.find(number.name); fixed != fixed_.end()) return {fixed->second};
    if (number.kind == NumberKind::kRadix) return radices(topology_);
    if (number.kind == NumberKind::kBatch) return {kAllAtOnce};
    std::set<int64_t> result = {number.least()};
    if (number.kind == NumberKind::kLanes)
      for (int64_t lanes = 2; lanes <= topology_.runs().front().size; lanes *= 2)
        result.insert(lanes);
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

  Job job_of(const Algorithm& algorithm, const std::vector<int64_t>& numbers) const {
    Job job{workload_.groups, {}, {}};
    for (const Parameter& parameter : programs_.at(&algorithm).parameters) {
      job.parameters.push_back(kRuleAuto);
      job.models.push_back(parameter.at_call ? block_model(workload_) : LinearModel{});
      for (size_t i = 0; i < numbers.size(); ++i)
        if (algorithm.numbers[i].name == parameter.name.text) job.parameters.back() = numbers[i];
    }
    return job;
  }

  std::optional<Candidate> measured(const Algorithm& algorithm,
                                    const std::vector<int64_t>& numbers) const {
    const Program& program = programs_.at(&algorithm);
    const Job job = job_of(algorithm, numbers);
    if (!serves_uneven_counts(program, job)) return std::nullopt;
    Result<Estimate> found = estimate(program, job, workload_, longest_);
    if (!found.ok()) return std::nullopt;
    return Candidate{*std::move(found), &algorithm, numbers, program.commutative};
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

  // Doubles a batch number as long as that saves rounds and does not add too much data in flight.
  void choose_last(Candidate& best, size_t number) const {
    std::vector<int64_t> least = best.numbers;
    least[number] = best.algorithm->numbers[number].least();
    const std::optional<Candidate> smallest = measured(*best.algorithm, least);
    if (!smallest) return;  // it takes longer than another algorithm
    best = *smallest;
    const int64_t enough = std::max(kInFlightBytes / workload_.bytes, most(best, in_flight));
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

  const Workload& workload_;
  const Topology& topology_;  // of the first group
  const Fixed& fixed_;
  const bool all_;
  std::map<const Algorithm*, Program> programs_;
  int64_t longest_ = INT64_MAX;  // the limit for the first of all
};

// Candidates with the same time are compared by these: the blocks or bytes that a rank sends and copies, then whether
// they lack a proof.
std::pair<int64_t, bool> drawbacks(const Candidate& candidate) {
  const Work& work = candidate.work;
  int64_t most = work.bytes_between + work.bytes_inside + work.bytes_copied;
  for (const Traffic& each : candidate.traffic) {
    const Load total = each.total();
    most = std::max(most, total.blocks_between + total.blocks_inside + total.copied);
  }
  return {most, candidate.algorithm->proof == nullptr};
}

}  // namespace

Result<Estimate> estimate(const Program& program, const Job& job, const Workload& workload,
                          int64_t longest, const std::vector<std::string>& parameters) {
  if (!has_two_directions(workload))
    return estimate_as_it_is(program, job, workload, longest, parameters);
  const int64_t twice =
      longest > INT64_MAX / 2 ? INT64_MAX : 2 * longest;  // the other direction may be short
  Result<Estimate> found = estimate_as_it_is(program, job, workload, twice, parameters);
  if (!found.ok()) return found;
  Job turned_job = job;
  std::swap(turned_job.groups[0], turned_job.groups[1]);
  Result<Estimate> other =
      estimate_as_it_is(program, turned_job, turned(workload), twice, parameters);
  if (!other.ok()) return other;
  if (found->time < other->time) found->work = other->work;
  found->time = mean(found->time, other->time);
  return found;
}

int64_t least_time(const Workload& workload) {
  const int64_t time = least_time_as_it_is(workload);
  return has_two_directions(workload) ? mean(time, least_time_as_it_is(turned(workload))) : time;
}

LinearModel block_model(const Workload& workload) {
  const bool one_node = workload.groups.size() == 1 && workload.groups[0].nodes() == 1;
  return one_node ? workload.machine.inside : workload.machine.between;
}

std::string candidate_text(const Candidate& candidate) {
  std::string text = candidate.algorithm->name;
  for (size_t i = 0; i < candidate.numbers.size(); ++i)
    text +=
        ", " + candidate.algorithm->numbers[i].name + " = " + std::to_string(candidate.numbers[i]);
  return candidate.commutative ? text + " (for operators that commute)" : text;
}

std::vector<Candidate> best_candidates(const Workload& workload, const std::string& name,
                                       const Fixed& fixed, bool all) {
  Search search(workload, fixed, all);
  std::vector<Search::Trial> trials;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.collective != workload.collective ||
        algorithm.groups != static_cast<int>(workload.groups.size()))
      continue;
    if (!name.empty() && algorithm.name != name) continue;
    const std::vector<Search::Trial> of_one = search.trials(algorithm);
    trials.insert(trials.end(), of_one.begin(), of_one.end());
  }
  std::vector<Candidate> result = search.best(trials);
  std::stable_sort(result.begin(), result.end(),
                   [](const Candidate& a, const Candidate& b) { return a.time < b.time; });
  const auto slower = std::find_if(result.begin(), result.end(), [&](const Candidate& each) {
    return each.time > alike(result[0].time);
  });
  const auto first = std::min_element(
      result.begin(), slower,
      [](const Candidate& a, const Candidate& b) { return drawbacks(a) < drawbacks(b); });
  if (first != slower) std::rotate(result.begin(), first, first + 1);
  return result;
}

}  // namespace quadrille
