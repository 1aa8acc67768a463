// Makes the plans of a traced call. The runtime's builder makes them from the schedule file, and from the nodes,
// counts and options that the processes noted.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/any_nodes.h"
#include "simulate/script.h"
#include "trace/check.h"

namespace quadrille::trace {
namespace {

// Returns the notes of the first process that made the call.
const Noted& first_of(const TracedCall& call) {
  return *std::ranges::find_if(call.ranks,
                               [](const Noted& noted) { return noted.setup != nullptr; });
}

std::vector<int64_t> all_counts(const std::vector<int64_t>& counts, int64_t ranks) {
  return counts.size() == 1 ? std::vector<int64_t>(static_cast<size_t>(ranks), counts[0]) : counts;
}

// Returns the counts that a process surely knows. Between groups, they are those of the other group.
const std::vector<int64_t>& known_counts(const SetupSection& setup) {
  return setup.remote_counts.empty() ? setup.counts : setup.remote_counts;
}

// Returns what two processes of a call disagree on, or null.
const char* contradiction(const SetupSection& one, const SetupSection& other) {
  const qd_trace_setup &a = one.head, &b = other.head;
  if (a.root != b.root) return "the root";
  if (a.window != b.window) return "the window";
  if (a.whole != b.whole || a.has_block_size != b.has_block_size) return "the options";
  if (one.parameters != other.parameters) return "the parameters";
  if (a.unit != b.unit) return "the length of an element";
  return a.group == b.group && known_counts(one) != known_counts(other) ? "the counts" : nullptr;
}

bool is_same(const SetupSection* one, const SetupSection* other) {
  if (!one || !other || one == other) return one == other;
  return one->head.group == other->head.group && one->head.in_place == other->head.in_place &&
         one->counts == other->counts && !contradiction(*one, *other);
}

// Returns the counts of each group of the schedule. Empty if only the two ends of messages know lengths.
std::vector<std::vector<int64_t>> counts_of(const TracedCall& call, const Job& job) {
  std::vector<std::vector<int64_t>> counts(job.groups.size());
  for (const Noted& noted : call.ranks) {
    if (!noted.setup || known_counts(*noted.setup).empty()) continue;
    const auto own = static_cast<size_t>(noted.setup->head.group);
    const size_t group = job.groups.size() == 2 ? 1 - own : 0;
    counts[group] = all_counts(known_counts(*noted.setup), job.groups[group].ranks());
  }
  return counts[0].empty() ? std::vector<std::vector<int64_t>>() : counts;
}

// Returns the bytes of a block, if all ranks note that all blocks have this length; else -1.
int64_t block_of(const TracedCall& call) {
  const int64_t block = first_of(call).parts.front()->head.block;
  for (const Noted& noted : call.ranks)
    if (noted.setup && noted.parts.front()->head.block != block) return -1;
  return block;
}

bool has_same_plans(const TracedCall& one, const TracedCall& other) {
  for (size_t rank = 0; rank < one.ranks.size(); ++rank)
    if (!is_same(one.ranks[rank].setup, other.ranks[rank].setup)) return false;
  return block_of(one) == block_of(other);
}

// Returns the job of the schedule on the nodes of the run.
Result<Job> job_of(const verifier::ScheduleFile& file, const BindingSection& section,
                   int32_t group) {
  const verifier::Schedule& schedule = file.schedule;
  if (!serves_any_nodes(schedule.job)) return schedule.job;
  std::vector<Topology> groups;
  for (int32_t g = 0; g < schedule.program.groups; ++g) {
    Result<Topology> nodes = Topology::from_runs(g == group ? section.runs : section.remote_runs);
    if (!nodes.ok()) return nodes.error();
    groups.push_back(std::move(nodes).value());
  }
  return on_nodes(schedule.program, schedule.job, groups);
}

// Finds the process of each rank of the communicator. Returns whether the call is in place.
Result<bool> place_ranks(const TracedCall& call, const Bound& bound, Planned& planned) {
  const Noted& first = first_of(call);
  const size_t first_rank = static_cast<size_t>(&first - call.ranks.data());
  const int64_t ranks = planned.job.groups[0].ranks();
  int64_t all = 0;
  for (const Topology& group : planned.job.groups) all += group.ranks();
  if (all != static_cast<int64_t>(call.ranks.size()))
    return Error{
        fmt::format("the schedule has {} ranks, and the communicator {}", all, call.ranks.size())};
  bool in_place = false;
  std::vector<bool> is_taken(static_cast<size_t>(all));
  for (size_t rank = 0; rank < call.ranks.size(); ++rank) {
    const SetupSection* setup = call.ranks[rank].setup;
    if (const char* what = setup ? contradiction(*setup, *first.setup) : nullptr)
      return Error{
          fmt::format("ranks {} and {} have different values of {}", first_rank, rank, what + 4)};
    in_place |= setup && setup->head.in_place != 0;
    // An idle rank is in the root's group, which is the first.
    const int64_t process =
        bound.ranks[rank]->head.rank + (setup && setup->head.group == 1 ? ranks : 0);
    if (process >= all || is_taken[static_cast<size_t>(process)])
      return Error{fmt::format("two processes say that they are rank {} of the schedule", process)};
    is_taken[static_cast<size_t>(process)] = true;
    planned.process.push_back(static_cast<int32_t>(process));
  }
  return in_place;
}

}  // namespace

Result<std::shared_ptr<const Planned>> Checker::plan(const TracedCall& call) {
  Kept& kept = kept_[call.bound];
  if (kept.call && has_same_plans(*kept.call, call)) return kept.planned;
  Result<Planned> made = make(call);
  if (!made.ok())
    return Error{fmt::format("call {}, {}: {}", &call - run_.calls.data() + 1,
                             run_.bound[call.bound].name(), made.error().message)};
  kept = {&call, std::make_shared<const Planned>(std::move(made).value())};
  return kept.planned;
}

Result<Planned> Checker::make(const TracedCall& call) const {
  const Bound& bound = run_.bound[call.bound];
  const auto file = std::ranges::find_if(
      schedules_, [&](const auto& schedule) { return schedule.schedule.hash == bound.hash; });
  if (file == schedules_.end())
    return Error{fmt::format(
        "none of the files is its schedule, of hash {}; give the one that the run loaded, or "
        "generate it with the same options",
        bound.hash)};
  const Noted& first = first_of(call);
  const size_t first_rank = static_cast<size_t>(&first - call.ranks.data());
  Planned planned;
  planned.file = &*file;
  const Program& program = file->schedule.program;
  Result<Job> job = job_of(*file, *bound.ranks[first_rank], first.setup->head.group);
  if (!job.ok()) return job.error();
  planned.job = std::move(job).value();
  const Result<bool> placed = place_ranks(call, bound, planned);
  if (!placed.ok()) return placed.error();
  const qd_trace_setup& head = first.setup->head;
  planned.call.counts = counts_of(call, planned.job);
  for (size_t i = 0; i < program.parameters.size() && i < first.setup->parameters.size(); ++i)
    if (program.parameters[i].at_call)
      planned.call.parameters.push_back(first.setup->parameters[i]);
  planned.call.root = head.root;
  const int64_t block = block_of(call);
  BlockLengths lengths(std::max<int64_t>(0, block));
  lengths.leaves_out_empty = false;  // the run notes empty messages, too
  Result<std::optional<Scripts>> scripts =
      scripts_of(file->bytes, program, planned.job, planned.call, lengths,
                 {.window = head.window,
                  .in_place = *placed,
                  .whole = head.whole != 0,
                  .unit = head.unit,
                  .has_block_size = head.has_block_size != 0});
  if (!scripts.ok()) return scripts.error();
  if (!*scripts) return Error{"the call has too many messages to be checked"};
  planned.scripts = **std::move(scripts);
  planned.knows_bytes = block >= 0 || !planned.call.counts.empty();
  return planned;
}

}  // namespace quadrille::trace
