// Tested by tests/generator/candidates_test.cc.
#include "generator/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "generator/encode.h"
#include "simulate/bound.h"
#include "simulate/engine.h"
#include "simulate/script.h"

namespace quadrille {
namespace {

verifier::Counts counts_of(const Workload& workload) {
  if (workload.collective == Collective::kBarrier) return {};
  if (!workload.counts.empty()) return workload.counts;
  return verifier::average_counts(workload.collective, workload.groups, workload.bytes);
}

// True if the root may be in either of two groups, so that estimate() takes the mean of both.
bool has_two_directions(const Workload& workload) {
  return workload.groups.size() == 2 && rooted(workload.collective) && !workload.root;
}
int64_t mean(int64_t one, int64_t other) { return one / 2 + other / 2; }
Workload turned(Workload workload) {
  std::swap(workload.groups[0], workload.groups[1]);
  if (!workload.counts.empty()) std::swap(workload.counts[0], workload.counts[1]);
  return workload;
}

int64_t least_time_as_it_is(const Workload& workload) {
  const bool counted = has_counts(workload.collective);
  const Call call{
      counted ? counts_of(workload) : verifier::Counts{}, {}, workload.root.value_or(0)};
  const __int128 time = least_time(workload.collective, workload.groups, call,
                                   counted ? 1 : workload.bytes, workload.machine);
  return static_cast<int64_t>(std::min<__int128>(time / kNanosecond, INT64_MAX));
}

void add(Work& work, const Scripts& scripts, int32_t process, const std::vector<Post>& messages) {
  for (const Post& message : messages) {
    const bool inside = scripts.node[process] == scripts.node[message.peer];
    (inside ? work.inside : work.between) += 1;
    (inside ? work.bytes_inside : work.bytes_between) += message.bytes;
    if (message.parts > 0) work.bytes_copied += message.bytes;
  }
}

void take_greater(Work& into, const Work& from) {
  for (const auto each : {&Work::between, &Work::inside, &Work::bytes_between, &Work::bytes_inside})
    into.*each = std::max(into.*each, from.*each);
}

Work work_of(const Scripts& scripts) {
  Work most;
  for (size_t i = 0; i < scripts.all.size(); ++i) {
    const Script& script = scripts.all[i];
    Work sent, received;
    add(sent, scripts, static_cast<int32_t>(i), script.sends);
    add(received, scripts, static_cast<int32_t>(i), script.receives);
    int64_t copied = sent.bytes_copied + received.bytes_copied;
    for (const Turn& turn : script.turns) copied += turn.copied;
    take_greater(most, sent);
    take_greater(most, received);
    most.bytes_copied = std::max(most.bytes_copied, copied);
  }
  return most;
}

// Simulates the call. Nothing if it is too large.
Result<std::optional<Estimate>> simulated(const Program& program, const Job& job,
                                          const Workload& workload,
                                          const std::vector<std::string>& parameters) {
  const Result<Call> call = call_of(program, job, workload, parameters);
  if (!call.ok()) return call.error();
  Job called = job;  // the call sets the parameters, so no rule applies
  if (!parameters.empty()) called.models.assign(job.models.size(), {});
  for (int64_t group = 0; group < program.groups; ++group)
    if (const Result<Binding> bound = bind(program, called, *call, group); !bound.ok())
      return bound.error();
  const Result<std::optional<Scripts>> scripts =
      scripts_of(encode(program, called), program, called, *call, BlockLengths(workload.bytes),
                 {0, false, false, 1}, {}, {kMostSimulated, kMostSimulated, kMostIterations});
  if (!scripts.ok()) return scripts.error();
  if (!*scripts) return std::optional<Estimate>{};
  Machine machine = workload.machine;
  if (messages(**scripts) <= kMostShared) machine.sharing = Sharing::kFair;
  const Result<Outcome> outcome = simulate(**scripts, machine);
  if (!outcome.ok()) return outcome.error();
  return std::optional<Estimate>{{outcome->time / kNanosecond, false, work_of(**scripts)}};
}

// Returns every second element.
template <typename List>
List halved(const List& all) {
  List half;
  for (size_t i = 0; i < all.size(); i += 2) half.push_back(all[i]);
  return half;
}

// Returns half of a topology, or the whole topology if it cannot be halved in this way.
using Halve = Topology (*)(const Topology&);

// Keeps every second node, but never fewer than two, so that there still are messages between nodes.
Topology half_of_the_nodes(const Topology& topology) {
  if (topology.nodes() <= 2) return topology;
  std::vector<Run> runs;
  for (const int64_t size : halved(topology.sizes())) runs.push_back({1, size});
  return Topology::from_runs(std::move(runs)).value();
}

Topology half_of_each_node(const Topology& topology) {
  std::vector<Run> runs;
  for (const int64_t size : topology.sizes()) runs.push_back({1, (size + 1) / 2});
  return Topology::from_runs(std::move(runs)).value();
}

// Halves each group of a workload. The counts become those of every second rank.
Workload halved(const Workload& workload, Halve halve) {
  Workload half = workload;
  for (size_t group = 0; group < workload.groups.size(); ++group) {
    half.groups[group] = halve(workload.groups[group]);
    if (workload.counts.empty()) continue;
    half.counts[group] = halved(workload.counts[group]);
    half.counts[group].resize(half.groups[group].ranks(), half.counts[group][0]);
  }
  if (half.root) half.root = std::min(*half.root, half.groups[0].ranks() - 1);
  return half;
}

Result<std::optional<Estimate>> simulated_on(const Program& program, const Job& job,
                                             const Workload& workload,
                                             const std::vector<std::string>& parameters) {
  Job there = job;
  there.groups = workload.groups;
  // Radices and the like are at most the number of ranks.
  for (size_t i = 0; i < there.parameters.size(); ++i)
    if (!program.parameters[i].at_call)
      there.parameters[i] =
          std::min(there.parameters[i], std::max<int64_t>(2, workload.groups[0].ranks()));
  return simulated(program, there, workload, parameters);
}

// Returns the time after this number of doublings of the call that takes times[0]. The calls of times[1] and times[2]
// have half and a quarter of its size. Each doubling adds more than the one before by the same factor, 1 or more. That
// factor is 1 for the levels of a tree, 2 for a chain, and 4 if all send to all.
int64_t extrapolated(const std::array<int64_t, 3>& times, int64_t doublings) {
  constexpr auto kLongest = static_cast<double>(INT64_MAX / 4);
  const auto before = static_cast<double>(times[1] - times[2]);
  auto added = static_cast<double>(std::max<int64_t>(0, times[0] - times[1]));
  const double factor = before > 0 ? std::clamp(added / before, 1.0, 4.0) : 1;
  auto time = static_cast<double>(times[0]);
  for (int64_t i = 0; i < doublings; ++i) time += added *= factor;
  return static_cast<int64_t>(std::min(time, kLongest));
}

// Extrapolates from the three largest halved calls that can be simulated. Nothing if there are no three.
std::optional<Estimate> extrapolated(const Program& program, const Job& job,
                                     const Workload& workload,
                                     const std::vector<std::string>& parameters, Halve halve) {
  Workload part = workload;
  std::optional<Estimate> largest;
  std::array<int64_t, 3> times{};
  int64_t halvings = 0;
  for (size_t found_so_far = 0; found_so_far < times.size();) {
    const std::vector<Topology> before = part.groups;
    part = halved(part, halve);
    if (part.groups == before) return std::nullopt;
    const Result<std::optional<Estimate>> found = simulated_on(program, job, part, parameters);
    if (!found.ok()) return std::nullopt;  // the program does not serve these nodes
    if (!largest) ++halvings;
    if (!*found) continue;
    if (!largest) largest = **found;
    times[found_so_far++] = (*found)->time;
  }
  largest->time = std::max(extrapolated(times, halvings), least_time_as_it_is(workload));
  largest->is_fitted = true;
  return largest;
}

Result<Estimate> estimate_as_it_is(const Program& program, const Job& job, const Workload& workload,
                                   const std::vector<std::string>& parameters) {
  const Result<std::optional<Estimate>> whole = simulated(program, job, workload, parameters);
  if (!whole.ok()) return whole.error();
  if (*whole) return **whole;
  // A rule would choose other blocks on fewer ranks.
  std::vector<std::string> fixed;
  const std::vector<int64_t> chosen = call_of(program, job, workload, parameters)->parameters;
  for (const Parameter& parameter : program.parameters)
    if (parameter.at_call)
      fixed.push_back(fmt::format("{}={}", parameter.name.text, chosen[fixed.size()]));
  for (const Halve halve : {half_of_the_nodes, half_of_each_node})
    if (const auto found = extrapolated(program, job, workload, fixed, halve)) return *found;
  return Error{"the call is too large to simulate, even on few ranks"};
}

}  // namespace

bool has_counts(Collective collective) {
  return collective != Collective::kBarrier && !only_ends_know_lengths(collective);
}

Result<Call> call_of(const Program& program, const Job& job, const Workload& workload,
                     const std::vector<std::string>& parameters) {
  verifier::Schedule schedule;
  schedule.program = program;
  schedule.job = job;
  verifier::CallArguments given;
  given.parameters = parameters;
  given.root = workload.root;
  return verifier::call_with(counts_of(workload), given, schedule);
}

Result<Estimate> estimate(const Program& program, const Job& job, const Workload& workload,
                          const std::vector<std::string>& parameters) {
  Result<Estimate> found = estimate_as_it_is(program, job, workload, parameters);
  if (!found.ok() || !has_two_directions(workload)) return found;
  Job turned_job = job;
  std::swap(turned_job.groups[0], turned_job.groups[1]);
  Result<Estimate> other = estimate_as_it_is(program, turned_job, turned(workload), parameters);
  if (!other.ok()) return other;
  if (found->time < other->time) found->work = other->work;
  found->time = mean(found->time, other->time);
  found->is_fitted |= other->is_fitted;
  return found;
}

int64_t least_time(const Workload& workload) {
  const int64_t time = least_time_as_it_is(workload);
  return has_two_directions(workload) ? mean(time, least_time_as_it_is(turned(workload))) : time;
}

}  // namespace quadrille
