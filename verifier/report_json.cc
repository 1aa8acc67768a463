// Tested by tests/cli/schemas_test.py.
#include "verifier/report_json.h"

#include <fmt/format.h>

#include "cli/json.h"

namespace quadrille::verifier {
namespace {

using cli::JsonObject;

std::string numbers_json(const std::vector<int64_t>& numbers) {
  std::vector<std::string> values;
  for (const int64_t number : numbers) values.push_back(std::to_string(number));
  return cli::json_list(values);
}

// Returns the arguments of a call. Its parameters are only those that the call gives.
JsonObject call_object(const Program& program, const Call& call) {
  std::vector<std::string> counts;
  for (const std::vector<int64_t>& of_group : call.counts) counts.push_back(numbers_json(of_group));
  JsonObject parameters;
  size_t at_call = 0;
  for (const Parameter& parameter : program.parameters)
    if (parameter.at_call && at_call < call.parameters.size())
      parameters.number(parameter.name.text, call.parameters[at_call++]);
  JsonObject object;
  object.value("counts", cli::json_list(counts)).value("parameters", parameters.str());
  object.number("root", rooted(program.collective) ? std::optional(call.root) : std::nullopt);
  return object;
}

// Returns the parameters of a job. Each has a value, or the rule by which a call chooses it.
std::string parameters_json(const Schedule& schedule) {
  JsonObject parameters;
  for (size_t i = 0; i < schedule.program.parameters.size(); ++i) {
    const std::string text = parameter_text(schedule.program, schedule.job, i);
    parameters.text(schedule.program.parameters[i].name.text,
                    text.starts_with(schedule.program.parameters[i].name.text + " = ")
                        ? text.substr(schedule.program.parameters[i].name.text.size() + 3)
                        : text);
  }
  return parameters.str();
}

std::string_view port_word(PortVerdict port) {
  switch (port) {
    case PortVerdict::kNotClaimed: return "none";
    case PortVerdict::kLockStep: return "lock-step";
    case PortVerdict::kEveryTiming: break;
  }
  return "every timing";
}

std::string volume_json(const Volume& volume) {
  return JsonObject().number("in", volume.in).number("out", volume.out).str();
}

std::string checked_json(const Program& program, const CheckedCall& checked) {
  const Report& report = checked.report;
  JsonObject object = call_object(program, checked.call);
  if (report.violation) return object.truth("right", false).str();
  const auto if_timed = [&](int64_t time) {
    return report.timed ? std::optional(time) : std::nullopt;
  };
  object.truth("right", true)
      .number("steps", report.steps)
      .number("copy_steps", report.copy_steps)
      .number("messages", report.messages)
      .number("tokens", report.tokens)
      .number("depth", checked.depth)
      .number("time", if_timed(report.time))
      .number("least_time", if_timed(report.lower_bound))
      .number("temporary_blocks", report.temporary_blocks)
      .number("window", report.safe_window > 0 ? std::optional(report.safe_window) : std::nullopt)
      .truth("in_place", report.in_place)
      .truth("any_counts", !report.uneven)
      .text("port", port_word(report.port));
  object.value("rank_volume", report.volumes ? volume_json(report.volumes->first) : "null");
  object.value("node_volume", report.volumes ? volume_json(report.volumes->second) : "null");
  return object.str();
}

JsonObject begin(const char* what, const std::string& file, const char* verdict) {
  return JsonObject().text(what, file).text("verdict", verdict);
}

void add_program(JsonObject& object, const Program& program) {
  object.text("algorithm", program.algorithm.text)
      .text("collective", name_of(program.collective))
      .number("groups", program.groups);
}

void add_schedule(JsonObject& object, const Schedule& schedule, int64_t bytes) {
  add_program(object, schedule.program);
  object.value("nodes", nodes_json(schedule.job.groups))
      .value("parameters", parameters_json(schedule))
      .number("bytes", bytes)
      .text("hash", schedule.hash);
  const ProvenProgram* const proof = find_proof(schedule);
  object.value(
      "proof",
      !proof ? "null" : JsonObject().text("name", proof->name).text("scope", proof->scope).str());
}

}  // namespace

std::string violation_json(const std::optional<Violation>& violation) {
  if (!violation) return "null";
  std::vector<std::string> processes;
  for (const Process& process : violation->processes)
    processes.push_back(
        JsonObject().number("group", process.group).number("rank", process.rank).str());
  return JsonObject()
      .text("property", property_name(violation->property))
      .text("meaning", property_text(violation->property))
      .number("step", violation->key)
      .value("processes", cli::json_list(processes))
      .text("detail", violation->detail)
      .str();
}

std::string nodes_json(const std::vector<Topology>& groups) {
  std::vector<std::string> texts;
  for (const Topology& group : groups) texts.push_back(group.text());
  return cli::json_texts(texts);
}

std::string failing_json(const Program& program, const FailingJob& failing) {
  JsonObject parameters;
  for (size_t i = 0; i < program.parameters.size(); ++i)
    if (!program.parameters[i].at_call)
      parameters.number(program.parameters[i].name.text, failing.job.parameters[i]);
  return JsonObject()
      .value("nodes", nodes_json(failing.job.groups))
      .value("parameters", parameters.str())
      .value("call", call_object(program, failing.call).str())
      .value("violation", violation_json(failing.violation))
      .str();
}

std::string error_json(const std::string& file, const std::string& why) {
  return begin("file", file, "bad input").text("error", why).str();
}

std::string check_json(const std::string& file, const Schedule& schedule, int64_t bytes,
                       const std::vector<CheckedCall>& checked, const PlansVerdict& plans,
                       double seconds) {
  const std::optional<Violation>& violation = checked.back().report.violation;
  JsonObject object = begin("file", file, violation || !plans.lawful ? "refuted" : "verified");
  add_schedule(object, schedule, bytes);
  std::vector<std::string> calls;
  for (const CheckedCall& each : checked) calls.push_back(checked_json(schedule.program, each));
  object.value("calls", cli::json_list(calls)).value("violation", violation_json(violation));
  if (plans.checked)
    object.truth("plans_lawful", plans.lawful);
  else
    object.null("plans_lawful");
  return object.text("plans", plans.text).decimal("seconds", seconds).str();
}

std::string proof_json(const std::string& file, const Schedule& schedule, int64_t bytes) {
  JsonObject object = begin("file", file, is_proven(schedule) ? "proven" : "unknown");
  add_schedule(object, schedule, bytes);
  return object.str();
}

std::string all_topologies_json(const std::string& file, const Program& program, int64_t up_to,
                                const AllTopologies& all, double seconds) {
  JsonObject object = begin("program", file,
                            all.failing        ? "refuted"
                            : all.checked == 0 ? "unknown"
                                               : "verified");
  add_program(object, program);
  return object.number("up_to", up_to)
      .number("topologies", all.checked)
      .number("refused_topologies", all.refused)
      .number("calls", all.calls)
      .value("failing", all.failing ? failing_json(program, *all.failing) : "null")
      .decimal("seconds", seconds)
      .str();
}

std::string results_json(const std::vector<std::string>& results) {
  return JsonObject().number("schema", 1).value("results", cli::json_lines(results)).str();
}

}  // namespace quadrille::verifier
