// Both searches go over all node sizes in ascending order of ranks, so the first hit is the
// smallest.
#include "verifier/prove/refute.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/evaluate.h"
#include "verifier/check.h"

namespace quadrille::verifier {
namespace {

constexpr int64_t kMostRanks = 8;

// All topologies of so many ranks: partitions, smallest part first.
void partitions(int64_t ranks, int64_t least, std::vector<Run>& runs,
                const std::function<bool(const Topology&)>& visit, bool& stop) {
  if (ranks == 0) {
    stop = visit(Topology::from_runs(runs).value());
    return;
  }
  for (int64_t size = least; size <= ranks && !stop; ++size) {
    if (size != ranks && ranks - size < size) continue;
    runs.push_back({1, size});
    partitions(ranks - size, size, runs, visit, stop);
    runs.pop_back();
  }
}

// Calls visit with ever larger topologies until it returns true.
void each_topology(const std::function<bool(const Topology&)>& visit) {
  bool stop = false;
  for (int64_t ranks = 1; ranks <= kMostRanks && !stop; ++ranks) {
    std::vector<Run> runs;
    partitions(ranks, 1, runs, visit, stop);
  }
}

// Calls visit with every value of the parameters and every call of small counts until it returns true.
// More ranks than a few have too many.
bool each_case(const Program& program, const Topology& topology,
               const std::function<bool(const Job&, const Call&)>& visit) {
  constexpr int64_t kMostCount = 2, kMostRanksWithCounts = 4;
  const size_t counts = uses_counts(program) ? topology.ranks() : 0;
  if (counts > kMostRanksWithCounts) return false;
  // An odometer of parameters, from 1, and counts, from 0.
  std::vector<int64_t> least, most;
  for (const Parameter& parameter : program.parameters) {
    least.push_back(1);
    most.push_back(parameter.at_call ? 2 : std::max<int64_t>(2, topology.ranks()));
  }
  least.resize(least.size() + counts, 0);
  most.resize(least.size(), kMostCount);
  for (std::vector<int64_t> wheels = least;;) {
    Job job{{topology}, {}};
    Call call;
    const size_t parameters = program.parameters.size();
    for (size_t i = 0; i < parameters; ++i) {
      job.parameters.push_back(program.parameters[i].at_call ? kRuleNone : wheels[i]);
      if (program.parameters[i].at_call) call.parameters.push_back(wheels[i]);
    }
    if (counts > 0) call.counts = {{wheels.begin() + parameters, wheels.end()}};
    if (visit(job, call)) return true;
    size_t wheel = 0;
    for (; wheel < wheels.size() && wheels[wheel] == most[wheel]; ++wheel)
      wheels[wheel] = least[wheel];
    if (wheel == wheels.size()) return false;
    ++wheels[wheel];
  }
}

bool holds(const Expression& condition, const Environment& environment, bool if_undefined) {
  Undefined why = Undefined::kNone;
  const auto value = evaluate(condition, environment, &why);
  return value ? *value != 0 : if_undefined;
}

// Whether these values are within the claim's conditions and against what it shows.
bool is_counterexample(const FalseClaim& claim, const Environment& environment) {
  for (const Expression& given : claim.given)
    if (!holds(given, environment, false)) return false;
  return !holds(claim.show, environment, true);
}

// Of every variable every value from 0 to the number of ranks, like an odometer: "u = 1, v = 2".
std::optional<std::string> counterexample(const FalseClaim& claim, const Binding& binding) {
  Environment environment{binding.place, binding.parameters, binding.tables,
                          std::vector<int64_t>(claim.variables.size(), 0)};
  for (;;) {
    if (is_counterexample(claim, environment)) break;
    size_t wheel = 0;
    while (wheel < environment.variables.size() &&
           environment.variables[wheel] == binding.place.ranks)
      environment.variables[wheel++] = 0;
    if (wheel == environment.variables.size()) return std::nullopt;
    ++environment.variables[wheel];
  }
  std::vector<std::string> values;
  for (size_t i = 0; i < claim.variables.size(); ++i)
    values.push_back(fmt::format("{} = {}", claim.variables[i], environment.variables[i]));
  return fmt::format("{}", fmt::join(values, ", "));
}

// "1,2", and where the call matters "1,2, counts 0,2,1, parameter 2".
std::string job_text(const Job& job, const Call& call) {
  std::string text = job.groups[0].text();
  for (const std::vector<int64_t>& counts : call.counts)
    text += fmt::format(", counts {}", fmt::join(counts, ","));
  for (const int64_t parameter : job.parameters)
    if (parameter != kRuleNone) text += fmt::format(", parameter {}", parameter);
  for (const int64_t parameter : call.parameters) text += fmt::format(", parameter {}", parameter);
  return text;
}

}  // namespace

std::optional<std::string> find_counterexample(const Program& program, const FalseClaim& claim) {
  std::optional<std::string> found;
  each_topology([&](const Topology& topology) {
    return each_case(program, topology, [&](const Job& job, const Call& call) {
      const Result<Binding> binding = bind(program, job, call, 0);
      if (binding.ok()) found = counterexample(claim, *binding);
      if (found) *found = fmt::format("nodes {}: {}", job_text(job, call), *found);
      return found.has_value();
    });
  });
  return found;
}

std::optional<FailingJob> find_failing_job(const Program& program) {
  std::optional<FailingJob> found;
  each_topology([&](const Topology& topology) {
    return each_case(program, topology, [&](const Job& job, const Call& call) {
      const Result<Report> report = check_schedule(program, job, call, {});
      if (!report.ok() || !report->violation) return false;
      found = FailingJob{job, call, *report->violation};
      return true;
    });
  });
  return found;
}

std::string FailingJob::text() const { return job_text(job, call); }

}  // namespace quadrille::verifier
