// Tested by tests/cli/schemas_test.py.
#include "verifier/report_json.h"

namespace quadrille::verifier {
namespace {

using cli::Json;
using Members = Json::Members;

// Returns the arguments of a call. Its parameters are only those that the call gives.
Members call_members(const Program& program, const Call& call) {
  Members parameters;
  size_t at_call = 0;
  for (const Parameter& parameter : program.parameters)
    if (parameter.at_call && at_call < call.parameters.size())
      parameters.emplace_back(parameter.name.text, call.parameters[at_call++]);
  return {{"counts", call.counts},
          {"parameters", parameters},
          {"root", rooted(program.collective) ? std::optional(call.root) : std::nullopt}};
}

// Returns the nodes of each group: ["1,2,3"]. The list is empty if there are no groups.
Json nodes_json(const std::vector<Topology>& groups) {
  std::vector<std::string> texts;
  for (const Topology& group : groups) texts.push_back(group.text());
  return texts;
}

// Returns the parameters of a job. Each has a value, or the rule by which a call chooses it.
Members parameters_of(const Schedule& schedule) {
  Members parameters;
  for (size_t i = 0; i < schedule.program.parameters.size(); ++i) {
    const std::string& name = schedule.program.parameters[i].name.text;
    const std::string text = parameter_text(schedule.program, schedule.job, i);
    parameters.emplace_back(name,
                            text.starts_with(name + " = ") ? text.substr(name.size() + 3) : text);
  }
  return parameters;
}

std::string_view port_word(PortVerdict port) {
  switch (port) {
    case PortVerdict::kNotClaimed: return "none";
    case PortVerdict::kLockStep: return "lock-step";
    case PortVerdict::kEveryTiming: break;
  }
  return "every timing";
}

Json volume_json(const Volume& volume) { return {{"in", volume.in}, {"out", volume.out}}; }

Json checked_json(const Program& program, const CheckedCall& checked) {
  const Report& report = checked.report;
  Members call = call_members(program, checked.call);
  call.emplace_back("right", !report.violation);
  if (report.violation) return call;
  const auto number_if = [](bool is_there, int64_t number) {
    return is_there ? std::optional(number) : std::nullopt;
  };
  const auto& volumes = report.volumes;
  return std::move(call) +
         Members{{"steps", report.steps},
                 {"copy_steps", report.copy_steps},
                 {"messages", report.messages},
                 {"tokens", report.tokens},
                 {"depth", checked.depth},
                 {"time", number_if(report.timed, report.time)},
                 {"least_time", number_if(report.timed, report.lower_bound)},
                 {"temporary_blocks", report.temporary_blocks},
                 {"window", number_if(report.safe_window > 0, report.safe_window)},
                 {"in_place", report.in_place},
                 {"any_counts", !report.uneven},
                 {"port", port_word(report.port)},
                 {"rank_volume", volumes ? volume_json(volumes->first) : Json()},
                 {"node_volume", volumes ? volume_json(volumes->second) : Json()}};
}

Members program_members(const char* what, const std::string& file, const char* verdict,
                        const Program& program) {
  return {{what, file},
          {"verdict", verdict},
          {"algorithm", program.algorithm.text},
          {"collective", name_of(program.collective)},
          {"groups", program.groups}};
}

Members schedule_members(const std::string& file, const char* verdict, const Schedule& schedule,
                         int64_t bytes) {
  const ProvenProgram* const proof = find_proof(schedule);
  return program_members("file", file, verdict, schedule.program) +
         Members{{"nodes", nodes_json(schedule.job.groups)},
                 {"parameters", parameters_of(schedule)},
                 {"bytes", bytes},
                 {"hash", schedule.hash},
                 {"proof", proof ? Json{{"name", proof->name}, {"scope", proof->scope}} : Json()}};
}

Json violation_json(const Violation& violation) {
  std::vector<Json> processes;
  for (const Process& process : violation.processes)
    processes.push_back({{"group", process.group}, {"rank", process.rank}});
  return {{"property", property_name(violation.property)},
          {"meaning", property_text(violation.property)},
          {"step", violation.key},
          {"processes", processes},
          {"detail", violation.detail}};
}

}  // namespace

Json failing_json(const Program& program, const std::optional<FailingJob>& failing) {
  if (!failing) return {};
  Members parameters;
  for (size_t i = 0; i < program.parameters.size(); ++i)
    if (!program.parameters[i].at_call)
      parameters.emplace_back(program.parameters[i].name.text, failing->job.parameters[i]);
  return {{"nodes", nodes_json(failing->job.groups)},
          {"parameters", parameters},
          {"call", call_members(program, failing->call)},
          {"violation", violation_json(failing->violation)}};
}

Json error_json(const std::string& file, const std::string& why) {
  return {{"file", file}, {"verdict", "bad input"}, {"error", why}};
}

Json check_json(const std::string& file, const Schedule& schedule, int64_t bytes,
                const std::vector<CheckedCall>& checked, const PlansVerdict& plans,
                double seconds) {
  const std::optional<Violation>& violation = checked.back().report.violation;
  std::vector<Json> calls;
  for (const CheckedCall& each : checked) calls.push_back(checked_json(schedule.program, each));
  return schedule_members(file, violation || !plans.lawful ? "refuted" : "verified", schedule,
                          bytes) +
         Members{{"calls", calls},
                 {"violation", violation ? violation_json(*violation) : Json()},
                 {"plans_lawful", plans.checked ? std::optional(plans.lawful) : std::nullopt},
                 {"plans", plans.text},
                 {"seconds", Json::decimal(seconds)}};
}

Json proof_json(const std::string& file, const Schedule& schedule, int64_t bytes) {
  return schedule_members(file, is_proven(schedule) ? "proven" : "unknown", schedule, bytes);
}

Json all_topologies_json(const std::string& file, const Program& program, int64_t up_to,
                         const AllTopologies& all, double seconds) {
  const char* const verdict = all.failing ? "refuted" : all.checked == 0 ? "unknown" : "verified";
  return program_members("program", file, verdict, program) +
         Members{{"up_to", up_to},
                 {"topologies", all.checked},
                 {"refused_topologies", all.refused},
                 {"calls", all.calls},
                 {"failing", failing_json(program, all.failing)},
                 {"seconds", Json::decimal(seconds)}};
}

}  // namespace quadrille::verifier
