// Topologies come in ascending order of ranks, so the first that fails is a smallest one. Tested by
// tests/verifier/all_topologies_test.cc and tests/cli/check_program_test.sh.
#include "verifier/all_topologies.h"

#include <fmt/format.h>

#include <algorithm>

#include "verifier/call.h"
#include "verifier/check.h"

namespace quadrille::verifier {
namespace {

class Search {
 public:
  Search(const Program& program, std::optional<int64_t> ports) : program_(program), ports_(ports) {}

  Result<AllTopologies> run(int64_t up_to, const TellTopology& tell) {
    const std::vector<Groups> all = all_topologies(program_.groups, up_to);
    std::optional<FailingJob> known;  // fails with the lists of counts_tried()
    if (uses_counts(program_)) {
      if (tell) tell(0, all.size(), "those of few ranks, with many lists of counts");
      known = find_failing_job(program_, std::min(up_to, kRanksChecked), true);
      // The search goes on to more ranks if the program requires them.
      if (known && ranks_of(known->job.groups) > up_to) known.reset();
    }
    for (const Groups& groups : all) {
      if (known && ranks_of(groups) > ranks_of(known->job.groups)) break;
      if (tell) tell(result_.checked + result_.refused, all.size(), nodes_text(groups));
      const Result<bool> served = walk(groups);
      if (!served.ok()) return served.error();
      ++(*served ? result_.checked : result_.refused);
      if (result_.failing) return result_;
    }
    result_.failing = std::move(known);
    return result_;
  }

 private:
  // Returns whether the program serves the topology.
  Result<bool> walk(const Groups& groups) {
    const int64_t greatest = std::max<int64_t>(2, ranks_of(groups));
    Job job{groups, {}, std::vector<LinearModel>(program_.parameters.size())};
    for (const Parameter& parameter : program_.parameters)
      job.parameters.push_back(parameter.at_call ? int64_t{kRuleLeast} : 0);
    bool served = false;
    do {
      const Result<bool> taken = walk(job);
      if (!taken.ok()) return taken.error();
      served |= *taken;
    } while (!result_.failing && next(job, greatest));
    return served;
  }

  // Sets the parameters of the file to their next values, up to the greatest. Returns false after the last.
  bool next(Job& job, int64_t greatest) const {
    for (size_t i = 0; i < job.parameters.size(); ++i) {
      if (program_.parameters[i].at_call) continue;
      if (++job.parameters[i] <= greatest) return true;
      job.parameters[i] = 0;
    }
    return false;
  }

  // Returns the job of a finding. It has no values for parameters of the call, since the call has them.
  Job of_the_file(Job job) const {
    for (size_t i = 0; i < job.parameters.size(); ++i)
      if (program_.parameters[i].at_call) job.parameters[i] = kRuleNone;
    return job;
  }

  Result<bool> walk(const Job& given) {
    const Job job = with_fixed_tables(program_, given);
    Schedule schedule;
    schedule.program = program_;
    schedule.job = job;
    Result<std::vector<Call>> calls = calls_to_check({}, schedule);
    if (!calls.ok())
      return Error{fmt::format(
          "on nodes {} the program takes no call that is tried but empty ones; generate a schedule "
          "for these nodes, and check that with --counts",
          nodes_text(job.groups))};
    bool served = false;
    for (Call& call : *calls) {
      if (!takes(program_, job, call)) continue;
      const Result<Report> report = check_all_sizes(program_, job, call, {ports_});
      if (!report.ok())
        return Error{
            fmt::format("on nodes {}: {}", nodes_text(job.groups), report.error().message)};
      served = true;
      ++result_.calls;
      if (!report->violation) continue;
      result_.failing = FailingJob{of_the_file(job), call, *report->violation};
      return served;
    }
    result_.refuses_calls |= !served && takes_some_call(program_, job);
    return served;
  }

  const Program& program_;
  const std::optional<int64_t> ports_;
  AllTopologies result_;
};

}  // namespace

std::vector<Groups> all_topologies(int groups, int64_t up_to) {
  std::vector<Groups> all;
  each_topology(groups, 1, up_to, up_to, [&](const Groups& one) {
    all.push_back(one);
    return false;
  });
  return all;
}

std::string nodes_text(const Groups& groups) {
  std::string text;
  for (const Topology& group : groups) text += (text.empty() ? "" : " and ") + group.text();
  return text;
}

Result<AllTopologies> check_all_topologies(const Program& program, int64_t up_to,
                                           std::optional<int64_t> ports, const TellTopology& tell) {
  return Search(program, ports).run(up_to, tell);
}

}  // namespace quadrille::verifier
