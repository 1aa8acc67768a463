// Tested by tests/generator/candidates_test.cc.
#include "generator/candidates.h"

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

#include "cli/progress.h"
#include "schedule/evaluate.h"
#include "schedule/traverse.h"

namespace quadrille {
namespace {

constexpr int64_t kAllAtOnce = kMaxRanks * 2;  // a block_count above every number of rounds
// fit_model() multiplies or divides the machine's alpha by at most this. A block size grows like the root of alpha.
constexpr int64_t kMostAlphas = 4 * 4 * 4 * 4;

// Returns the radices to try: all if ranks are few. Else, for each number of digits, the least radix that needs no
// more digits, for all ranks and for the ranks of the largest node.
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

// True if `time` exceeds `least` by no more than the error of the model.
bool is_alike(int64_t time, int64_t least) { return time - least <= least / kAlike; }

// True if the program serves counts that differ, or has no such counts.
bool serves_uneven_counts(const Program& program, const Job& job) {
  if (!uses_counts(program) || has_one_count(program.collective)) return true;
  Workload uneven{program.collective, job.groups};
  for (const Topology& topology : job.groups) {
    uneven.counts.emplace_back();
    for (int64_t rank = 0; rank < topology.ranks(); ++rank) uneven.counts.back().push_back(rank);
  }
  const Result<Call> call = call_of(program, job, uneven);
  return call.ok() && takes(program, job, *call);
}

// Returns the costs between nodes if there are several. Alpha is at least the gap: `calibrate` may find no latency.
LinearModel block_model(const Workload& workload) {
  const Machine& machine = workload.machine;
  const bool one_node = workload.groups.size() == 1 && workload.groups[0].nodes() == 1;
  LinearModel model = one_node ? machine.inside : machine.between;
  const int64_t gap = one_node ? machine.gap_inside_ns : machine.gap_ns;
  model.alpha_ns = std::max({model.alpha_ns, gap, int64_t{1}});
  return model;
}

// Returns the job of these numbers. `block`: the block size; 0: calls choose it by the model.
Job job_of(const Algorithm& algorithm, const Program& program, const std::vector<int64_t>& numbers,
           const LinearModel& model, int64_t block, const Workload& workload) {
  Job job{workload.groups, {}, {}};
  for (const Parameter& parameter : program.parameters) {
    job.parameters.push_back(parameter.at_call && block > 0 ? block : kRuleAuto);
    job.models.push_back(parameter.at_call && block == 0 ? model : LinearModel{});
    for (size_t i = 0; i < numbers.size(); ++i)
      if (algorithm.numbers[i].name == parameter.name.text) job.parameters.back() = numbers[i];
  }
  return job;
}

// Searches the numbers with which one algorithm takes the least time in a workload.
class Search {
 public:
  Search(const Algorithm& algorithm, const Workload& workload, const Fixed& fixed)
      : algorithm_(algorithm),
        workload_(workload),
        fixed_(fixed),
        program_(make_program(algorithm, all_choices(algorithm)[0])) {}

  // Returns the best candidate. Nothing if the algorithm does not serve the workload with the fixed numbers.
  std::optional<Candidate> best() const {
    if (workload_.ordered && program_.commutative) return std::nullopt;
    for (const auto& [name, value] : fixed_)
      if (std::ranges::count(algorithm_.numbers, name, &Number::name) == 0) return std::nullopt;
    std::vector<std::vector<int64_t>> all = {{}};
    for (const Number& number : algorithm_.numbers) all = longer(all, number);
    std::optional<Candidate> best;
    for (const std::vector<int64_t>& numbers : all)
      take_better(best, measured(numbers, block_model(workload_)));
    if (!best) return best;
    for (size_t i = 0; i < best->numbers.size(); ++i)
      if (algorithm_.numbers[i].kind == NumberKind::kBatch &&
          !fixed_.contains(algorithm_.numbers[i].name))
        choose_batch(*best, i);
    // Where nothing is sent, all block sizes take as long.
    if (best->block_size > 0 && best->work.between + best->work.inside > 0) {
      fit_model(best);
      halve_blocks(best);
    }
    return best;
  }

 private:
  static void take_better(std::optional<Candidate>& best, std::optional<Candidate> other) {
    if (other && (!best || other->time < best->time)) best = std::move(other);
  }

  // Returns the values to try. A batch number is kAllAtOnce until choose_batch() sets it.
  std::set<int64_t> values_of(const Number& number) const {
    const Topology& topology = workload_.groups[0];
    if (const auto fixed = fixed_.find(number.name); fixed != fixed_.end()) return {fixed->second};
    if (number.kind == NumberKind::kRadix) return radices(topology);
    if (number.kind == NumberKind::kBatch) return {kAllAtOnce};
    std::set<int64_t> result = {number.least()};
    if (number.kind == NumberKind::kLanes)
      for (int64_t lanes = 2; lanes <= topology.runs().front().size; lanes *= 2)
        result.insert(lanes);
    if (number.kind == NumberKind::kNodes)
      for (int64_t nodes = 1; nodes < topology.nodes(); nodes *= 2) result.insert(nodes);
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

  std::optional<Candidate> measured(const std::vector<int64_t>& numbers, const LinearModel& model,
                                    int64_t block = 0) const {
    const Job job = job_of(algorithm_, program_, numbers, model, block, workload_);
    if (!serves_uneven_counts(program_, job)) return std::nullopt;
    Result<Estimate> found = estimate(program_, job, workload_);
    if (!found.ok()) return std::nullopt;
    Candidate candidate{*std::move(found),    &algorithm_,        numbers, {}, 0,
                        program_.commutative, is_direct(program_)};
    const Call call = call_of(program_, job, workload_).value();
    if (call.parameters.empty()) return candidate;
    candidate.model = model;
    candidate.block_size = call.parameters[0];
    candidate.has_fixed_block = block > 0;
    return candidate;
  }

  // Sets a batch number, which stands for all rounds at once, to the least power of two with which the call takes about
  // as long as with the best one. Without congestion no batch takes less than all rounds at once.
  void choose_batch(Candidate& best, size_t number) const {
    std::vector<Candidate> all;
    std::vector<int64_t> numbers = best.numbers;
    int64_t least = best.time;
    for (numbers[number] = 1; numbers[number] < workload_.groups[0].ranks(); numbers[number] *= 2) {
      std::optional<Candidate> smaller = measured(numbers, best.model);
      if (!smaller) continue;
      least = std::min(least, smaller->time);
      all.push_back(*std::move(smaller));
      if (workload_.machine.beta_congestion_ps == 0 && is_alike(all.back().time, best.time)) break;
    }
    best.numbers[number] = numbers[number];  // all at once
    all.push_back(best);
    best =
        *std::ranges::find_if(all, [&](const Candidate& one) { return is_alike(one.time, least); });
  }

  // Measures other blocks. Nothing if their time would be extrapolated, unlike that of the best so far.
  std::optional<Candidate> with_blocks(const Candidate& best, const LinearModel& model,
                                       int64_t block = 0) const {
    std::optional<Candidate> other = measured(best.numbers, model, block);
    return other && other->is_fitted && !best.is_fitted ? std::nullopt : other;
  }

  void fit_model(std::optional<Candidate>& best) const {
    const LinearModel model = best->model;
    std::set<int64_t> tried = {best->block_size};
    for (int64_t factor = 4; factor <= kMostAlphas; factor *= 4)
      for (const int64_t alpha : {model.alpha_ns * factor, model.alpha_ns / factor})
        if (alpha <= kMaxCost) {
          std::optional<Candidate> other = with_blocks(*best, {alpha, model.beta_ps});
          if (other && tried.insert(other->block_size).second) take_better(best, std::move(other));
        }
  }

  // Tries smaller blocks, until one takes longer. The rule makes one block of each contribution if all are equal, whatever
  // the model. Smaller blocks may take less time if nodes forward them.
  void halve_blocks(std::optional<Candidate>& best) const {
    for (int64_t block = best->block_size / 2; block > 0; block /= 2) {
      std::optional<Candidate> smaller = with_blocks(*best, best->model, block);
      if (!smaller || !is_alike(smaller->time, best->time)) return;
      if (!is_alike(best->time, smaller->time)) best = std::move(smaller);
    }
  }

  const Algorithm& algorithm_;
  const Workload& workload_;
  const Fixed& fixed_;
  const Program program_;
};

// Compares candidates of about the same time, less is better: the bytes that a rank sends and copies, then whether
// operators must commute, then whether the proof is missing, then the place in the registry.
std::tuple<int64_t, bool, bool, const Algorithm*> drawbacks(const Candidate& candidate) {
  const Work& work = candidate.work;
  return {work.bytes_between + work.bytes_inside + work.bytes_copied, candidate.commutative,
          candidate.algorithm->proof == nullptr, candidate.algorithm};
}

// True if the messages are so long that their bytes decide, and not their number.
bool has_long(const Work& work) {
  return work.bytes_between + work.bytes_inside >= kLong * (work.between + work.inside);
}

// Returns the simplest of the candidates that `may` be chosen and that are within 1 / kAlike of the fastest of these.
// `all` is in the order of times.
using Position = std::vector<Candidate>::iterator;
Position simplest(std::vector<Candidate>& all, const std::function<bool(const Candidate&)>& may) {
  const Position fastest = std::ranges::find_if(all, may);
  Position best = fastest;
  for (Position each = fastest; each != all.end() && is_alike(each->time, fastest->time); ++each)
    if (may(*each) && drawbacks(*each) < drawbacks(*best)) best = each;
  return best;
}

}  // namespace

std::string candidate_text(const Candidate& candidate) {
  std::string text = candidate.algorithm->name;
  for (size_t i = 0; i < candidate.numbers.size(); ++i)
    text +=
        ", " + candidate.algorithm->numbers[i].name + " = " + std::to_string(candidate.numbers[i]);
  if (candidate.block_size > 0)
    text += ", blocks of " + std::to_string(candidate.block_size) + " bytes";
  return candidate.commutative ? text + " (for operators that commute)" : text;
}

bool is_direct(const Program& program) {
  bool forwards = false;
  for_each_statement(program.body, [&](const Statement& statement) {
    const auto* message = std::get_if<Message>(&statement.kind);
    if (!message || message->direction != Direction::kSend) return;
    for_each_statement(message->pieces, [&](const Statement& part) {
      const auto* transfer = std::get_if<Transfer>(&part.kind);
      forwards |= transfer && transfer->piece.buffer != Buffer::kSend;
    });
  });
  return !forwards;
}

Job job_of(const Candidate& candidate, const Workload& workload) {
  const Algorithm& algorithm = *candidate.algorithm;
  return job_of(algorithm, make_program(algorithm, all_choices(algorithm)[0]), candidate.numbers,
                candidate.model, candidate.has_fixed_block ? candidate.block_size : 0, workload);
}

std::optional<Candidate> best_candidate(const Algorithm& algorithm, const Workload& workload,
                                        const Fixed& fixed) {
  return Search(algorithm, workload, fixed).best();
}

void put_choice_first(std::vector<Candidate>& candidates) {
  if (candidates.empty()) return;
  std::ranges::stable_sort(candidates, {}, &Candidate::time);
  const auto least = static_cast<double>(candidates[0].time);
  Position first = simplest(
      candidates, [](const Candidate& each) { return each.direct && has_long(each.work); });
  if (first == candidates.end() || static_cast<double>(first->time) > kRicher * least)
    first = simplest(candidates, [](const Candidate&) { return true; });
  std::rotate(candidates.begin(), first, first + 1);
}

std::vector<Candidate> best_candidates(const Workload& workload, const std::string& name,
                                       const Fixed& fixed) {
  cli::Progress progress;  // with many ranks this takes minutes
  std::vector<Candidate> result;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.collective != workload.collective ||
        algorithm.groups != static_cast<int>(workload.groups.size()))
      continue;
    if (!name.empty() && algorithm.name != name) continue;
    progress.say("trying " + algorithm.name);
    if (std::optional<Candidate> best = best_candidate(algorithm, workload, fixed))
      result.push_back(*std::move(best));
  }
  put_choice_first(result);
  return result;
}

}  // namespace quadrille
