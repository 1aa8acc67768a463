// Tested by tests/cli/generator_test.sh.
#include "generator/choose.h"

#include <fmt/core.h>

#include <algorithm>

#include "generator/block_size.h"
#include "schedule/depth.h"

namespace quadrille {
namespace {

std::string groups_text(size_t groups) {
  return fmt::format("{} group{}", groups, groups == 1 ? "" : "s");
}

// Reads one count for each rank. All must be equal if the collective has one count for all ranks.
Result<verifier::Counts> read_counts(const std::string& text, const Workload& workload) {
  Result<verifier::Counts> counts = verifier::read_counts(text);
  if (!counts.ok()) return counts;
  const auto wrong = [&](const std::string& what) {
    return Error{fmt::format("--counts: '{}' {}", text, what)};
  };
  if (counts->size() != workload.groups.size())
    return wrong(fmt::format("is for {}, and there {}; give one list a group",
                             groups_text(counts->size()),
                             workload.groups.size() == 1 ? "is 1" : "are 2"));
  for (size_t group = 0; group < counts->size(); ++group) {
    const std::vector<int64_t>& all = (*counts)[group];
    const int64_t ranks = workload.groups[group].ranks();
    if (static_cast<int64_t>(all.size()) != ranks)
      return wrong(fmt::format("has {} counts for {} ranks; give each one", all.size(), ranks));
    for (const int64_t count : all)
      if (count < 0 || count > INT32_MAX)
        return wrong(fmt::format("has {}; counts are bytes from 0 to {}", count, INT32_MAX));
      else if (has_one_count(workload.collective) && count != (*counts)[0][0])
        return wrong(fmt::format("has {} and {}; all ranks of {} have one count", (*counts)[0][0],
                                 count, in_words(workload.collective)));
  }
  return counts;
}

// Reads --bytes or --counts. `calibrate` prints --bytes, so this flag may be given even if it has no effect.
Result<bool> read_lengths(const std::string& bytes, const std::string& counts, Workload& workload) {
  const std::string name = in_words(workload.collective);
  if (!bytes.empty()) {
    const Result<int64_t> read = read_bytes("--bytes", bytes, 1);
    if (!read.ok()) return read.error();
    workload.bytes = *read;
  }
  if (workload.collective == Collective::kBarrier) {
    if (counts.empty()) return true;
    return Error{fmt::format("--counts: {} moves nothing; leave them out", name)};
  }
  if (!has_counts(workload.collective) && !counts.empty())
    return Error{fmt::format(
        "--counts: all blocks of {} have one length in the model; give --bytes, their average",
        name)};
  if (!counts.empty()) {
    Result<verifier::Counts> all = read_counts(counts, workload);
    if (!all.ok()) return all.error();
    workload.counts = std::move(all).value();
    return true;
  }
  if (!bytes.empty()) return true;
  return Error{fmt::format("give the bytes of a block, on the average, with --bytes{}",
                           has_counts(workload.collective) ? ", or of all with --counts" : "")};
}

std::string in(const Unit& unit, int64_t nanoseconds) {
  return fmt::format("{:12.1f}", static_cast<double>(nanoseconds) / unit.nanoseconds);
}

std::string row(const std::string& name, const Estimate& found, const Unit& unit) {
  const Work& work = found.work;
  return fmt::format("{}{} {:>8} {:>8}  {:>11} {:>11}  {:>11}  {}\n", in(unit, found.time),
                     found.is_fitted ? '~' : ' ', work.between, work.inside, work.bytes_between,
                     work.bytes_inside, work.bytes_copied, name);
}

std::string heading(const Unit& unit) {
  return fmt::format("{:>12}  {:>17}  {:>23}  {:>11}\n{:>12}  {:>8} {:>8}  {:>11} {:>11}  {:>11}\n",
                     "time", "messages a rank", "bytes a rank", "bytes", unit.name, "between",
                     "inside", "between", "inside", "copied");
}

bool has_several_nodes(const Workload& workload) {
  return workload.groups.size() > 1 || workload.groups[0].nodes() > 1;
}

}  // namespace

Result<std::vector<int64_t>> read_sizes(const std::string& text) {
  const size_t dots = text.find("..");
  const Result<int64_t> low = read_bytes("--bytes", text.substr(0, dots), 1);
  if (!low.ok()) return low.error();
  if (dots == std::string::npos) return std::vector<int64_t>{*low};
  const Result<int64_t> high = read_bytes("--bytes", text.substr(dots + 2), 1);
  if (!high.ok()) return high.error();
  if (*low > *high)
    return Error{fmt::format("--bytes: '{}' has no sizes; give LOW..HIGH, as in 8..1MiB", text)};
  std::vector<int64_t> sizes;
  for (int64_t size = *low; size < *high; size *= 4) sizes.push_back(size);
  sizes.push_back(*high);
  return sizes;
}

Result<Workload> read_workload(const MachineArguments& arguments, const std::string& counts,
                               Collective collective, std::vector<Topology> groups) {
  Workload workload{collective, std::move(groups)};
  const bool inside = !arguments.alpha_inside.empty() || !arguments.beta_inside.empty() ||
                      !arguments.gap_inside.empty();
  if (inside && arguments.machine.empty() && arguments.alpha.empty() && arguments.beta.empty() &&
      has_several_nodes(workload))
    return Error{
        "--alpha and --beta are missing, for messages between the nodes; calibrate on two nodes or "
        "more"};
  const Result<bool> lengths = read_lengths(arguments.bytes, counts, workload);
  if (!lengths.ok()) return lengths.error();
  const Result<Machine> machine = read_machine(arguments);
  if (!machine.ok()) return machine.error();
  workload.machine = *machine;
  return workload;
}

Unit unit_for(int64_t nanoseconds) {
  if (nanoseconds < 100'000'000) return {"us", 1e3};
  if (nanoseconds < 100'000'000'000) return {"ms", 1e6};
  return {"s", 1e9};
}

std::string workload_text(const Workload& workload) {
  if (workload.collective == Collective::kBarrier) return "without blocks";
  return workload.counts.empty() ? fmt::format("with blocks of {} bytes", workload.bytes)
                                 : "with these counts";
}

namespace {

// Returns the depth of a schedule. Empty if it was not counted.
std::optional<int64_t> depth_of(const verifier::Schedule& schedule, const Workload& workload,
                                const std::vector<std::string>& parameters) {
  const Result<Call> call = call_of(schedule.program, schedule.job, workload, parameters);
  if (!call.ok()) return std::nullopt;
  return depth(schedule.program, schedule.job, *call);
}

// Returns the algorithm of a file with its parameters, "hypercube, B=4096". Those of the call are as given.
std::string name_of_file(const verifier::Schedule& schedule,
                         const std::vector<std::string>& parameters) {
  std::string name = schedule.program.algorithm.text;
  for (size_t i = 0; i < schedule.program.parameters.size(); ++i) {
    const auto given = std::ranges::find_if(parameters, [&](const std::string& text) {
      return text.starts_with(schedule.program.parameters[i].name.text + "=");
    });
    name += ", " + (given == parameters.end() ? parameter_text(schedule.program, schedule.job, i)
                                              : *given);
  }
  return name;
}

}  // namespace

Result<std::string> explain(const verifier::Schedule& schedule, const Workload& workload,
                            const std::vector<std::string>& parameters) {
  const Result<Estimate> own = estimate(schedule.program, schedule.job, workload, parameters);
  if (!own.ok()) return own.error();
  const Unit unit = unit_for(own->time);
  const Machine& machine = workload.machine;
  std::string text = fmt::format(
      "{}; a message takes {} ns and a byte {} ps between nodes, the next one {} ns; inside {} ns "
      "and {} ps, the next one {} ns; a block that is copied {} ns and {} ps; {}; a byte of a "
      "message alone in a node takes {} ps; messages of up to {} bytes leave before their receiver "
      "is there\n\n{}",
      workload_text(workload), machine.between.alpha_ns, machine.between.beta_ps, machine.gap_ns,
      machine.inside.alpha_ns, machine.inside.beta_ps, machine.gap_inside_ns, machine.copy.alpha_ns,
      machine.copy.beta_ps,
      machine.port == PortScope::kNode ? "the ranks of a node share its port and its memory"
                                       : "each rank has a port of its own",
      std::max(machine.beta_alone_ps, machine.inside.beta_ps), machine.eager, heading(unit));
  text += row(name_of_file(schedule, parameters) + " (this file)", *own, unit);
  bool has_fitted = own->is_fitted;
  for (const Candidate& candidate : best_candidates(workload, "", {})) {
    text += row(candidate_text(candidate), candidate, unit);
    has_fitted |= candidate.is_fitted;
  }
  text += fmt::format("{}  no schedule takes less\n", in(unit, least_time(workload)));
  if (has_fitted)
    text += std::string(kFittedWords) +
            "  Messages and bytes in these rows are those of the largest simulated call.\n";
  if (const auto messages = depth_of(schedule, workload, parameters))
    text += fmt::format(
        "\ndepth of this file: {}, the messages in the longest chain in which each waits for the "
        "one before\n",
        *messages);
  return text;
}

}  // namespace quadrille
