// Writes one line for each property, with what the check found. Tested by tests/cli/verifier_test.sh.
#include "verifier/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "cli/files.h"
#include "schedule/any_nodes.h"
#include "schedule/depth.h"
#include "verifier/call.h"

namespace quadrille::verifier {
namespace {

std::string job_text(const Schedule& schedule) {
  std::string text = schedule.any_nodes ? "any nodes" : "";
  for (const Topology& topology : schedule.job.groups)
    text += fmt::format("{}{} ({})",
                        &topology != &schedule.job.groups[0] ? " and nodes "
                        : schedule.any_nodes                 ? ", here "
                                                             : "nodes ",
                        topology.text(), ranks_text(topology.ranks()));
  for (size_t i = 0; i < schedule.program.parameters.size(); ++i)
    text += ", " + parameter_text(schedule.program, schedule.job, i);
  return text;
}

std::string port_text(const Program& program, const Report& report) {
  if (report.port == PortVerdict::kNotClaimed) return "none claimed";
  const char* const when =
      report.port == PortVerdict::kEveryTiming ? "for every timing" : "where steps keep step";
  if (report.partners && program.port.kind == PortKind::kParameter)
    return fmt::format("at most {0} send{1} and {0} receive{1} at a time per node, {2}",
                       *report.partners, *report.partners == 1 ? "" : "s", when);
  if (report.partners)
    return fmt::format("at most {} partner{} at a time per node, {}", *report.partners,
                       *report.partners == 1 ? "" : "s", when);
  const char* kind =
      program.port.kind == PortKind::kSendReceive ? "one send and one receive" : "one exchange";
  const char* scope = program.port.per == PortScope::kNode ? "node" : "rank";
  return fmt::format("{} at a time per {}, {}", kind, scope, when);
}

std::string first_line(const Schedule& schedule, int64_t bytes) {
  return fmt::format("  {} for {} on {}, {} bytes, hash {}\n", schedule.program.algorithm.text,
                     purpose_of(schedule.program.collective, schedule.program.groups),
                     job_text(schedule), bytes, schedule.hash);
}

// Returns example flags that give nodes to a schedule for any nodes.
std::string example_nodes(const Schedule& schedule) {
  return schedule.program.groups == 2 ? "--nodes 1,2,3 --remote-nodes 2,2" : "--nodes 1,2,3";
}

std::string proof_text(const Schedule& schedule, const std::string& if_unknown) {
  const ProvenProgram* const program = find_proof(schedule);
  return program ? fmt::format("this code is {}, proven for {}", program->name, program->scope)
         : schedule.certificate.empty() ? if_unknown
                                        : "this program is " + schedule.certificate;
}

std::string scope_text(const Schedule& schedule, const std::vector<CheckedCall>& checked) {
  const char* const calls = checked.size() > 1 ? "and these calls "
                            : !call_text(schedule.program, checked[0].call, 1).empty()
                                ? "and this call "
                                : "";
  return proof_text(
      schedule,
      fmt::format("verified for this topology {}alone: no proof of this code is known", calls));
}

std::string steps_text(const CheckedCall& checked) {
  const Report& report = checked.report;
  return fmt::format(
      "{}{}, {} messages{}, depth {}", report.steps,
      report.copy_steps ? fmt::format(" (and {} with copies only)", report.copy_steps) : "",
      report.messages, report.tokens ? fmt::format(", {} tokens", report.tokens) : "",
      checked.depth ? std::to_string(*checked.depth)
                    : fmt::format("not counted: more than {} messages", kMostMessagesOfDepth));
}

std::string window_text(int64_t window) {
  return window == 0 ? "any number of steps may be in flight"
                     : fmt::format("at most {} step{} in flight", window, window == 1 ? "" : "s");
}

// Joins the reports of all calls. A property holds for all calls if it holds for each of them.
Report joined(const std::vector<CheckedCall>& checked) {
  Report all = checked[0].report;
  for (const CheckedCall& one : checked) {
    const Report& report = one.report;
    all.limit_window(report.safe_window);
    all.in_place &= report.in_place;
    all.port = std::min(all.port, report.port);
    all.temporary_blocks = std::max(all.temporary_blocks, report.temporary_blocks);
  }
  return all;
}

// Returns words for the schedule's volume, and for the least volume of any schedule.
std::string volume_text(const Schedule& schedule, const CheckedCall& checked) {
  const Program& program = schedule.program;
  const LeastVolume least(program.collective, schedule.job, checked.call);
  const char* const unit = checked.call.counts.empty()   ? "blocks"
                           : reduces(program.collective) ? "elements"
                                                         : "bytes";
  const auto& [rank, node] = *checked.report.volumes;
  const Volume of_rank = least.of_a_rank(), of_node = least.of_a_node();
  std::string text = fmt::format(
      "at most {} {} enter a rank and {} leave one, with no schedule less than {} and {}", rank.in,
      unit, rank.out, of_rank.in, of_rank.out);
  if (schedule.job.groups.size() == 2 || schedule.job.groups[0].nodes() > 1)
    text += fmt::format("; {} and {} a node, with none less than {} and {}", node.in, node.out,
                        of_node.in, of_node.out);
  return text;
}

// Returns the call whose least volume is greatest, among those whose volume was counted; null if there is none.
const CheckedCall* largest(const Schedule& schedule, const std::vector<CheckedCall>& checked) {
  const CheckedCall* found = nullptr;
  int64_t most = 0;
  for (const CheckedCall& each : checked) {
    const LeastVolume least(schedule.program.collective, schedule.job, each.call);
    const Volume rank = least.of_a_rank();
    if (!each.report.volumes || rank.in + rank.out <= most) continue;
    most = rank.in + rank.out;
    found = &each;
  }
  return found;
}

std::set<int64_t> roots_of(const std::vector<CheckedCall>& checked) {
  std::set<int64_t> roots;
  for (const CheckedCall& one : checked) roots.insert(one.call.root);
  return roots;
}

// Returns whether there are too many roots to print each.
bool has_many_roots(const std::vector<CheckedCall>& checked) {
  constexpr size_t kToldOneByOne = 4;
  return roots_of(checked).size() > kToldOneByOne;
}

// Returns the roots that were walked: "all 9", or "0, 1, 128, 256 of 257".
std::string roots_text(const Schedule& schedule, const std::vector<CheckedCall>& checked) {
  const std::set<int64_t> roots = roots_of(checked);
  const int64_t ranks = schedule.job.groups[0].ranks();
  if (static_cast<int64_t>(roots.size()) == ranks) return fmt::format("all {}", ranks);
  return fmt::format("{} of {}", fmt::join(roots, ", "), ranks);
}

std::string verified_text(const Schedule& schedule, const std::vector<CheckedCall>& checked) {
  const Program& program = schedule.program;
  const Report report = joined(checked);
  std::string text;
  const auto line = [&](const char* what, const std::string& found) {
    text += report_line(what, found);
  };
  constexpr size_t kLongest = 60;
  for (const CheckedCall& one : checked) {
    if (has_many_roots(checked) && one.call.root != checked[0].call.root) continue;
    const std::string given = call_text(program, one.call, kLongest);
    if (checked.size() > 1)
      line("call", fmt::format("{}: steps {}", given, steps_text(one)));
    else if (!given.empty())
      line("call", given);
  }
  if (rooted(program.collective) && checked.size() > 1)
    line("roots", roots_text(schedule, checked));
  const std::string_view name = name_of(program.collective);
  if (program.collective == Collective::kBarrier)
    line("barrier", std::string(property_text(Property::kBarrier)));
  else if (blocks_may_differ(program.collective) && checked[0].call.counts.empty())
    line("blocks", fmt::format("each arrives once where it belongs, whatever its size ({})",
                               program.collective == Collective::kReduceScatter
                                   ? std::string(name)
                                   : fmt::format("{0}, {0}v", name)));
  else
    line("blocks", uses_counts(program)
                       ? "every byte arrives once where it belongs, and no empty block travels"
                       : "each arrives once where it belongs");
  if (program.canonical) line("sums", std::string(property_text(Property::kSums)));
  line("progress",
       "with synchronous sends, no buffering at all; keys increase, every send meets its receive");
  line("port", port_text(program, report));
  if (checked.size() == 1) line("steps", steps_text(checked[0]));
  if (report.timed)
    line("time",
         fmt::format("{}, no schedule takes less than {}", report.time, report.lower_bound));
  if (const CheckedCall* call = largest(schedule, checked); call && !report.timed) {
    if (checked.size() > 1) line("volume", "of " + call_text(program, call->call, kLongest));
    line(checked.size() > 1 ? "" : "volume", volume_text(schedule, *call));
  }
  line("window", window_text(report.safe_window));
  if (report.temporary_blocks > 0)
    line("temporary",
         fmt::format("at most {} block{} a rank: none is overwritten before it was used, or used "
                     "before it was written",
                     report.temporary_blocks, report.temporary_blocks == 1 ? "" : "s"));
  const bool in_place = report.in_place && program.collective != Collective::kReduceScatter;
  if (program.groups == 1 && program.collective != Collective::kBarrier)
    line("in place", in_place ? "each block is sent no later than it is overwritten"
                              : "blocks to be sent are copied first");
  line("scope", scope_text(schedule, checked));
  return text;
}

}  // namespace

const ProvenProgram* find_proof(const Schedule& schedule) {
  for (const ProvenProgram& program : proven_programs())
    if (std::equal(program.code.begin(), program.code.end(), schedule.code.begin(),
                   schedule.code.end()))
      return &program;
  return nullptr;
}

// A replay shows only one group, so the command names only processes in the group of the first process.
std::string replay_command(const std::string& file, const Program& program, const Call& call,
                           const Violation& violation) {
  const int64_t group = violation.processes.empty() ? 0 : violation.processes[0].group;
  std::string ranks;
  for (const Process& process : violation.processes)
    if (process.group == group && std::to_string(process.rank).size() + ranks.size() < 60)
      ranks += fmt::format("{}{}", ranks.empty() ? "" : ",", process.rank);
  std::string command =
      fmt::format("{} replay {} --ranks {}", cli::typed("verifier"), cli::shell_word(file), ranks);
  if (group != 0) command += fmt::format(" --group {}", group);
  // No number is above the greatest key, so its range stays open.
  if (violation.key)
    command += *violation.key == INT64_MAX
                   ? fmt::format(" --steps {}..", *violation.key)
                   : fmt::format(" --steps {}..{}", *violation.key, *violation.key + 1);
  return command + call_flags(program, call);
}

bool has_more_roots(const Schedule& schedule, const std::vector<CheckedCall>& checked) {
  const auto walked = static_cast<int64_t>(roots_of(checked).size());
  return rooted(schedule.program.collective) && walked < schedule.job.groups[0].ranks();
}

std::string check_report(const std::string& file, const Schedule& schedule, int64_t bytes,
                         const std::vector<CheckedCall>& checked, bool lawful) {
  const Call& call = checked.back().call;
  const Report& report = checked.back().report;
  const char* const verified = !lawful ? "REFUTED: the program is right, its plans are not"
                               : uses_counts(schedule.program) && !is_proven(schedule)
                                   ? "verified for these counts"
                                   : "verified";
  const std::string which = has_more_roots(schedule, checked) && !is_proven(schedule)
                                ? fmt::format(", roots {} alone", roots_text(schedule, checked))
                                : "";
  std::string text = fmt::format("{}: {}{}\n{}", file, report.violation ? "REFUTED" : verified,
                                 report.violation ? "" : which, first_line(schedule, bytes));
  if (!report.violation) return text + verified_text(schedule, checked);
  const Violation& violation = *report.violation;
  text += violation_text(violation);
  std::string nodes;
  if (schedule.any_nodes)
    for (const Topology& topology : schedule.job.groups)
      nodes += fmt::format(" --{}nodes {}", nodes.empty() ? "" : "remote-", topology.text());
  return text + fmt::format("  to see it: {}{}\n",
                            replay_command(file, schedule.program, call, violation), nodes);
}

std::string violation_text(const Violation& violation) {
  return fmt::format("  {}: {}\n  but {}{}\n", property_name(violation.property),
                     property_text(violation.property),
                     violation.key ? fmt::format("in step {}, ", *violation.key) : "",
                     violation.detail);
}

std::string report_line(const char* what, const std::string& found) {
  return fmt::format("  {:<10}{}\n", what, found);
}

std::string proof_report(const std::string& file, const Schedule& schedule, int64_t bytes) {
  const Program& program = schedule.program;
  const bool proven = is_proven(schedule);
  std::string text =
      fmt::format("{}: {}\n{}", file, proven ? "proven" : "UNKNOWN: not proven for all sizes",
                  first_line(schedule, bytes));
  const auto line = [&](const char* what, const std::string& found) {
    text += report_line(what, found);
  };
  const int64_t most = schedule.job.most_ranks;
  line("serves",
       fmt::format("{}{}{}", most > 0 ? "up to " + ranks_text(most) : "any number of ranks",
                   program.groups == 2 ? " in each group" : "",
                   uses_nodes(program) ? ", on nodes of any sizes" : ""));
  for (const Expression& requirement : program.requirements)
    line("requires", formula_text(program, requirement));
  for (size_t i = 0; i < program.parameters.size(); ++i)
    if (!program.parameters[i].at_call && !has_value_on_all_nodes(schedule.job.formulas[i]))
      line("requires", "a value of " + parameter_text(program, schedule.job, i));
  line("scope",
       proof_text(schedule,
                  fmt::format("no proof of this code is known; {} walks every rank of those",
                              example_nodes(schedule))));
  if (proven)
    line("checked",
         fmt::format("on no nodes; {} walks every rank of those, and tells steps, time and window",
                     example_nodes(schedule)));
  return text;
}

}  // namespace quadrille::verifier
