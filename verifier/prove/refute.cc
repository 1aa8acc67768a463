// All searches go through the topologies in ascending order of ranks, so the first job found is the smallest.
#include "verifier/prove/refute.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "schedule/walk.h"
#include "verifier/check.h"

namespace quadrille::verifier {
namespace {

// Adds all topologies that begin with `runs`, with `ranks` more ranks on nodes of ascending sizes from `least`.
void add_topologies(int64_t ranks, int64_t least, std::vector<Run>& runs, Groups& all) {
  if (ranks == 0) all.push_back(Topology::from_runs(runs).value());
  for (int64_t size = least; size <= ranks; ++size) {
    if (size != ranks && ranks - size < size) continue;
    runs.push_back({1, size});
    add_topologies(ranks - size, size, runs, all);
    runs.pop_back();
  }
}

Groups topologies_of(int64_t ranks) {
  Groups all;
  std::vector<Run> runs;
  add_topologies(ranks, 1, runs, all);
  return all;
}

// If the program's requirements exclude all jobs within the limit, find_failing_job() tries the smallest number of
// ranks that they admit, up to this number.
constexpr int64_t kMostRanksTried = 12;

// The values to try for counts, and for parameters that are given at each call.
struct Calls {
  std::vector<int64_t> counts, parameters;
  int64_t most_ranks;  // not tried on larger jobs, which have too many combinations of counts
};
constexpr CountsTried kTried{};
const Calls kSmall = {{0, 1, 2}, {1, 2}, kTried.ranks_of_small};
const Calls kLarge = {
    {0, kMaxCount - 1, kMaxCount}, {kMaxCount / 2, kMaxCount}, kTried.ranks_of_great};

// Calls visit with every combination of parameters, counts and root, until it returns true or the limit of cases is
// reached. Returns whether visit returned true.
bool each_case(const Program& program, const Groups& groups, const Calls& calls,
               const std::function<bool(const Job&, const Call&)>& visit) {
  const int64_t ranks = ranks_of(groups);
  const bool one_count = has_one_count(program.collective);
  const size_t counts = !uses_counts(program) ? 0 : one_count ? 1 : ranks;
  if (static_cast<int64_t>(counts) > calls.most_ranks) return false;
  std::vector<int64_t> of_job(std::max<int64_t>(2, ranks));
  std::iota(of_job.begin(), of_job.end(), 1);
  std::vector<int64_t> roots(rooted(program.collective) ? groups[0].ranks() : 1);
  std::iota(roots.begin(), roots.end(), 0);
  // Goes through all combinations like an odometer, with a wheel for each parameter and count, and one for the root.
  std::vector<const std::vector<int64_t>*> values;
  for (const Parameter& parameter : program.parameters)
    values.push_back(parameter.at_call ? &calls.parameters : &of_job);
  values.resize(values.size() + counts, &calls.counts);
  values.push_back(&roots);
  std::vector<size_t> wheels(values.size());
  constexpr size_t kMostKept = 16;
  std::map<std::vector<int64_t>, Job> jobs;  // by parameters
  for (int64_t cases = 0; cases < kTried.cases; ++cases) {
    Job job{groups, {}};
    Call call;
    if (counts > 0) call.counts.resize(groups.size());
    call.root = roots[wheels.back()];
    for (size_t i = 0; i + 1 < values.size(); ++i) {
      const int64_t value = (*values[i])[wheels[i]];
      const bool is_count = i >= program.parameters.size();
      const bool at_call = !is_count && program.parameters[i].at_call;
      if (!is_count) job.parameters.push_back(at_call ? kRuleNone : value);
      if (at_call) call.parameters.push_back(value);
      if (!is_count) continue;
      for (size_t group = 0; group < groups.size() && one_count; ++group)
        call.counts[group].assign(groups[group].ranks(), value);
      if (one_count) continue;
      const bool second = static_cast<int64_t>(call.counts[0].size()) == groups[0].ranks();
      call.counts[second].push_back(value);
    }
    if (jobs.size() == kMostKept && !jobs.contains(job.parameters)) jobs.clear();
    const auto [known, is_new] = jobs.try_emplace(job.parameters);
    if (is_new) known->second = with_fixed_tables(program, job);
    if (visit(known->second, call)) return true;
    size_t wheel = 0;
    for (; wheel < wheels.size() && wheels[wheel] + 1 == values[wheel]->size(); ++wheel)
      wheels[wheel] = 0;
    if (wheel == wheels.size()) break;
    ++wheels[wheel];
  }
  return false;
}

using Values = std::vector<int64_t>;  // the values of all variables

bool holds(const Formula& condition, const Binding& binding, const Values& values,
           bool if_undefined) {
  Undefined why = Undefined::kNone;
  const auto value = condition.value(binding, values, &why);
  return value ? *value != 0 : if_undefined;
}

std::vector<Formula> compiled(const std::vector<Expression>& conditions, size_t variables) {
  std::vector<Formula> all;
  for (const Expression& condition : conditions)
    all.emplace_back(condition, static_cast<int>(variables));
  return all;
}

// Tries all values from 0 to the number of ranks for the variables. Returns a counterexample: "u = 1, v = 2".
std::optional<std::string> counterexample(const FalseClaim& claim, const Binding& binding) {
  const std::vector<Formula> given = compiled(claim.given, claim.variables.size());
  const Formula show(claim.show, static_cast<int>(claim.variables.size()));
  Values found(claim.variables.size(), 0);
  const auto is_counterexample = [&] {
    return std::all_of(given.begin(), given.end(),
                       [&](const Formula& one) { return holds(one, binding, found, false); }) &&
           !holds(show, binding, found, true);
  };
  while (!is_counterexample()) {
    size_t wheel = 0;
    while (wheel < found.size() && found[wheel] == binding.place.ranks) found[wheel++] = 0;
    if (wheel == found.size()) return std::nullopt;
    ++found[wheel];
  }
  std::vector<std::string> values;
  for (size_t i = 0; i < claim.variables.size(); ++i)
    values.push_back(fmt::format("{} = {}", claim.variables[i], found[i]));
  return fmt::format("{}", fmt::join(values, ", "));
}

// Returns "1,2" (node sizes), or with a call's arguments "1,2, counts 0,2,1, parameter 2".
std::string job_text(const Job& job, const Call& call) {
  std::string text = job.groups[0].text();
  if (job.groups.size() > 1) text += " and " + job.groups[1].text();
  for (size_t group = 0; group < call.counts.size(); ++group)
    text +=
        fmt::format("{}{}", group == 0 ? ", counts " : " and ", fmt::join(call.counts[group], ","));
  for (const int64_t parameter : job.parameters)
    if (parameter != kRuleNone) text += fmt::format(", parameter {}", parameter);
  for (const int64_t parameter : call.parameters) text += fmt::format(", parameter {}", parameter);
  if (call.root != 0) text += fmt::format(", root {}", call.root);
  return text;
}

std::optional<FailingJob> failure(const Program& program, const Job& job, Call call) {
  const Result<Report> report = check_all_sizes(program, job, call, {});
  if (!report.ok() || !report->violation) return std::nullopt;
  return FailingJob{job, call, *report->violation};
}

struct NoSink : SinkOf<NoSink> {};

// A loop's bounds may depend on counts, which may mean more iterations than a user waits for. The search skips calls
// with more iterations per rank than this.
constexpr int64_t kIterationsTried = 1 << 16;

bool takes_too_long(const Program& program, const Result<Code>& code, const Job& job,
                    const Call& call) {
  for (int group = 0; group < program.groups; ++group) {
    const Result<Binding> binding = bind(program, job, call, group);
    if (!code.ok() || !binding.ok()) return false;
    std::vector<int64_t> registers(code->registers());
    for (int64_t rank = 0; rank < binding->place.ranks; ++rank) {
      Walker walker;
      NoSink nobody;
      code->start(*binding, rank, walker, registers.data());
      walker.iterations = std::min(walker.iterations, kIterationsTried);
      while (code->run<PauseAtSteps>(*binding, walker, registers.data(), nobody) < Pause::kEnd) {
      }
      if (walker.why == Undefined::kEndless) return true;
    }
  }
  return false;
}

bool hold_everywhere(const std::vector<Expression>& conditions, Binding binding) {
  const std::vector<Formula> all = compiled(conditions, 0);
  for (int64_t& rank = binding.place.rank; rank < binding.place.ranks; ++rank)
    for (const Formula& condition : all)
      if (!holds(condition, binding, {}, false)) return false;
  return true;
}

}  // namespace

void each_topology(int groups, int64_t least_ranks, int64_t most_ranks, int64_t ranks_a_group,
                   const std::function<bool(const Groups&)>& visit) {
  for (int64_t ranks = least_ranks; ranks <= most_ranks; ++ranks) {
    if (groups == 1)
      for (const Topology& topology : topologies_of(ranks))
        if (visit({topology})) return;
    for (int64_t first = 1; first < ranks && groups == 2; ++first)
      if (std::max(first, ranks - first) <= ranks_a_group)
        for (const Topology& one : topologies_of(first))
          for (const Topology& two : topologies_of(ranks - first))
            if (visit({one, two})) return;
  }
}

CountsTried counts_tried(const Program& program, int64_t up_to) {
  const int64_t great = std::min(up_to, kTried.ranks_of_great);
  return {has_one_count(program.collective) ? great : std::min(great, kTried.ranks_of_small),
          great};
}

std::optional<std::string> find_counterexample(const Program& program, const FalseClaim& claim) {
  std::optional<std::string> found;
  each_topology(program.groups, 1, kRanksTried, kTried.ranks_of_a_group, [&](const Groups& groups) {
    return each_case(program, groups, kSmall, [&](const Job& job, const Call& call) {
      const Result<Binding> binding = bind(program, job, call, 0);
      if (binding.ok()) found = counterexample(claim, *binding);
      if (found) *found = fmt::format("nodes {}: {}", job_text(job, call), *found);
      return found.has_value();
    });
  });
  return found;
}

std::optional<FailingJob> find_failing_job(const Program& program, int64_t most_ranks,
                                           bool with_large_counts, Walked* walked) {
  const Result<Code> code = Code::compile(program);
  std::optional<FailingJob> found;
  Walked all;
  const auto fails = [&](const Job& job, const Call& call) {
    if (takes(program, job, call))
      all.ranks = std::max(all.ranks, ranks_of(job.groups));
    else if (all.ranks == 0 && !all.refuses_calls)
      all.refuses_calls = takes_some_call(program, job);
    found = failure(program, job, call);
    return found.has_value();
  };
  const auto soon_fails = [&](const Job& job, const Call& call) {
    return !takes_too_long(program, code, job, call) && fails(job, call);
  };
  const auto visit = [&](const Groups& groups) {
    return each_case(program, groups, kSmall, fails) ||
           (with_large_counts && uses_counts(program) &&
            each_case(program, groups, kLarge, soon_fails));
  };
  each_topology(program.groups, 1, most_ranks, kTried.ranks_of_a_group, visit);
  for (int64_t ranks = 2; ranks <= kMostRanksTried && all.ranks == 0 && !found; ++ranks)
    each_topology(program.groups, ranks, ranks, kMostRanksTried, visit);
  if (walked) *walked = all;
  return found;
}

std::optional<FailingJob> find_deadlock(const Program& program,
                                        const std::vector<Expression>& given) {
  std::optional<FailingJob> found;
  const auto deadlocks = [&](const Job& job, const Call& call) {
    const Result<Binding> binding = bind(program, job, call, 0);
    if (!binding.ok() || !hold_everywhere(given, *binding)) return false;
    found = failure(program, job, call);
    if (found && found->violation.property != Property::kProgress) found.reset();
    return found.has_value();
  };
  each_topology(program.groups, 1, kRanksTried, kTried.ranks_of_a_group, [&](const Groups& groups) {
    return each_case(program, groups, kSmall, deadlocks);
  });
  return found;
}

std::string FailingJob::text() const { return job_text(job, call); }

}  // namespace quadrille::verifier
