// Reads the flags of a call; bind() judges their values. Tested by tests/cli/verifier_test.sh.
#include "verifier/call.h"

#include <fmt/core.h>
#include <filesystem>

#include <algorithm>
#include <set>

#include "cli/command_line.h"
#include "cli/files.h"
#include "cli/numbers.h"
#include "runtime/program/block_size.h"
#include "schedule/any_nodes.h"
#include "verifier/certificate.h"

namespace quadrille::verifier {
namespace {

// Appends "3", or "4x7" for four times 7, to the list. Returns false for anything else.
bool read_counts_item(const std::string& item, std::vector<int64_t>& counts) {
  const size_t cross = item.find('x');
  const bool repeated = cross != std::string::npos;
  const auto count = cli::whole_number(repeated ? item.substr(cross + 1) : item);
  const auto times = repeated ? cli::whole_number(item.substr(0, cross)) : 1;
  if (!count || !times || *times < 1) return false;
  if (*times > kMaxRanks - static_cast<int64_t>(counts.size())) return false;
  counts.insert(counts.end(), *times, *count);
  return true;
}

Result<std::vector<int64_t>> read_counts_of_a_group(const std::string& text) {
  std::vector<int64_t> counts;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    if (!read_counts_item(text.substr(start, end - start), counts))
      return Error{fmt::format(
          "--counts: '{}' is not a list of numbers like 3,0,5 or 4x7, four times 7", text)};
    start = end + 1;
  }
  return counts;
}

// Returns the value that the schedule's rule chooses from the counts of the last group, in elements of `element`
// bytes. If the collective has one contribution, one count is enough. Returns nothing if the schedule has no rule,
// and 1 if bind() will refuse the counts anyway.
std::optional<int64_t> chosen(const Schedule& schedule, size_t parameter, const Call& call,
                              int64_t element) {
  const int64_t rule = schedule.job.parameters[parameter];
  const LinearModel& model = schedule.job.models[parameter];
  if (rule == kRuleNone) return std::nullopt;
  const int64_t ranks = schedule.job.groups.back().ranks();
  if (call.counts.size() != schedule.job.groups.size() ||
      static_cast<int64_t>(call.counts.back().size()) != ranks)
    return 1;
  const std::vector<int64_t>& counts = call.counts.back();
  const int64_t contributions = has_one_contribution(schedule.program.collective) ? 1 : ranks;
  int64_t sum = 0;
  for (int64_t i = 0; i < contributions; ++i)
    if (counts[i] < 0 || __builtin_add_overflow(sum, counts[i], &sum)) return 1;
  const int64_t beta = model.beta_ps > kMaxCost / element ? kMaxCost : model.beta_ps * element;
  const int64_t size = qd_block_size(rule, model.alpha_ns, beta, counts.data(), contributions,
                                     ranks, schedule.program.parameters[parameter].over_trees);
  return rule <= 0 ? size : std::max<int64_t>(1, size / element);
}

Result<int64_t> parameter_value(const CallArguments& arguments, const Schedule& schedule,
                                size_t index, const Call& call) {
  const std::string wanted = schedule.program.parameters[index].name.text + "=";
  const auto given = std::ranges::find_if(
      arguments.parameters, [&](const std::string& text) { return text.starts_with(wanted); });
  if (given == arguments.parameters.end()) {
    if (const std::optional<int64_t> value = chosen(schedule, index, call, arguments.element))
      return *value;
    return Error{fmt::format("--parameter {}N is needed", wanted)};
  }
  const auto value = cli::whole_number(std::string_view(*given).substr(wanted.size()));
  if (!value) return Error{fmt::format("--parameter: '{}' is not one number", *given)};
  return *value;
}

Result<Schedule> on_nodes_of(const CallArguments& arguments, Schedule schedule,
                             const std::string& file) {
  if (arguments.nodes.empty() && arguments.remote_nodes.empty()) return schedule;
  if (!schedule.any_nodes)
    return Error{fmt::format(
        "{}: {} is for nodes {}; only a schedule that was made with --nodes any is put on others",
        arguments.nodes.empty() ? "--remote-nodes" : "--nodes", file,
        schedule.job.groups[0].text())};
  if (schedule.program.groups == 1 && !arguments.remote_nodes.empty())
    return Error{fmt::format("--remote-nodes: {} is for one group; leave it out", file)};
  if (arguments.nodes.empty() || (schedule.program.groups == 2 && arguments.remote_nodes.empty()))
    return wants_nodes(file, schedule);
  std::vector<Topology> groups;
  for (const auto& [flag, text] :
       {std::pair("--nodes", arguments.nodes), {"--remote-nodes", arguments.remote_nodes}}) {
    if (text.empty()) continue;
    Result<Topology> nodes = parse_nodes(text, flag);
    if (!nodes.ok()) return nodes.error();
    groups.push_back(std::move(nodes).value());
  }
  Result<Job> job = on_nodes(schedule.program, schedule.job, groups);
  if (!job.ok()) return Error{fmt::format("{}: {}", file, job.error().message)};
  schedule.job = std::move(job).value();
  return schedule;
}

// Returns the great count of the third standard call. A block size that the file fixes cuts it into 4,096 blocks at most.
int64_t great_count(const Schedule& schedule, int64_t element) {
  constexpr int64_t kMostBlocks = 1 << 12;
  int64_t count = 1 << 20;
  for (size_t i = 0; i < schedule.job.parameters.size(); ++i)
    if (const int64_t rule = schedule.job.parameters[i];
        schedule.program.parameters[i].at_call && rule > 0)
      count = std::min(count, kMostBlocks * std::max<int64_t>(1, rule / element));
  return count;
}

// Returns the counts of the four standard calls. In the third, one rank alone contributes, if ranks have counts of their own.
std::vector<Counts> standard_counts(const Schedule& schedule, int64_t element) {
  const Counts uneven = uneven_counts(schedule.job.groups);
  const int64_t great = great_count(schedule, element);
  if (has_one_count(schedule.program.collective)) {
    std::vector<Counts> all;
    for (const int64_t count : {int64_t{1}, int64_t{0}, great, uneven[0][0]})
      all.push_back(equal_counts(schedule.job.groups, count));
    return all;
  }
  Counts one = equal_counts(schedule.job.groups, 0);
  for (std::vector<int64_t>& counts : one) counts[counts.size() / 2] = great;
  return {equal_counts(schedule.job.groups, 1), equal_counts(schedule.job.groups, 0), one, uneven};
}

// Returns all roots of a small job. In a larger one: the first two, the middle one and the last.
std::set<int64_t> roots_to_check(int64_t ranks) {
  if (ranks > kMostRanksInFull) return {0, 1, (ranks - 1) / 2, ranks - 1};
  std::set<int64_t> all;
  for (int64_t root = 0; root < ranks; ++root) all.insert(root);
  return all;
}

std::string counts_text(const std::vector<int64_t>& counts) {
  std::string text;
  for (size_t i = 0; i < counts.size();) {
    const size_t first = i;
    while (i < counts.size() && counts[i] == counts[first]) ++i;
    const std::string times = i - first > 1 ? fmt::format("{}x", i - first) : "";
    text += fmt::format("{}{}{}", text.empty() ? "" : ",", times, counts[first]);
  }
  return text;
}

std::string shortened(const std::string& text, size_t longest) {
  return text.size() <= longest ? text : text.substr(0, longest) + "...";
}

}  // namespace

void add_call(cli::Command& command, CallArguments& arguments) {
  command.add("--counts", "LIST", &arguments.counts,
              "the counts of the call, one for each rank: 3,0,5, or 4x7 for four times 7; for two "
              "groups 3,0,5/4,4. If the collective has one count for all ranks, give that");
  command.add(
      "--parameter", "NAME=VALUE", &arguments.parameters,
      "the value of a parameter that the call gives; without it the schedule's rule chooses");
  command.add("--root", "RANK", &arguments.root,
              "the root of a collective that has one; without it, check tries several roots, and "
              "other commands take 0");
  command.add("--nodes", "LIST", &arguments.nodes,
              "the nodes of a schedule that serves any nodes: 1,2,3 or 4x8");
  command.add("--remote-nodes", "LIST", &arguments.remote_nodes,
              "between two groups: the nodes of the other group");
}

Counts equal_counts(const std::vector<Topology>& groups, int64_t count) {
  Counts counts;
  for (const Topology& group : groups) counts.emplace_back(group.ranks(), count);
  return counts;
}

Counts average_counts(Collective collective, const std::vector<Topology>& groups, int64_t count) {
  Counts counts = equal_counts(groups, count);
  if (collective != Collective::kReduceScatter || groups.size() != 2) return counts;
  const int64_t all = count * (groups[0].ranks() + groups[1].ranks()) / 2;
  for (size_t group = 0; group < 2; ++group)
    for (int64_t& each : counts[group])
      each = count > 0 ? std::max<int64_t>(1, all / groups[group].ranks()) : 0;
  return counts;
}

Result<int> read_window(const std::optional<int64_t>& window) {
  if (!window) return 0;
  if (*window >= 1 && *window <= kMaxWindow) return static_cast<int>(*window);
  return Error{
      fmt::format("--window: {} is not a number of steps from 1 to {}", *window, kMaxWindow)};
}

Error wants_nodes(const std::string& file, const Schedule& schedule) {
  return Error{fmt::format("{} serves any nodes; say on which with --nodes 1,2,3{}", file,
                           schedule.program.groups == 2 ? " --remote-nodes 2,2" : "")};
}

Result<ScheduleFile> open_schedule(const std::string& path, const CallArguments& arguments) {
  Result<std::vector<uint8_t>> bytes = cli::read_file(path);
  if (!bytes.ok()) return bytes.error();
  Result<Schedule> schedule = decode(*bytes, path);
  if (schedule.ok()) schedule = on_nodes_of(arguments, std::move(schedule).value(), path);
  if (!schedule.ok()) return schedule.error();
  const std::string certificate =
      arguments.certificate.empty() ? path + kCertificateEnd : arguments.certificate;
  if (std::error_code none; !arguments.certificate.empty() ||
                            std::filesystem::exists(cli::user_path(certificate), none)) {
    Result<std::string> found = read_certificate(certificate, schedule->program);
    if (!found.ok()) return found.error();
    schedule->certificate = std::move(found).value();
  }
  return ScheduleFile{std::move(bytes).value(), std::move(schedule).value()};
}

Result<Counts> read_counts(const std::string& text) {
  Counts counts;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find('/', start), text.size());
    Result<std::vector<int64_t>> of_group = read_counts_of_a_group(text.substr(start, end - start));
    if (!of_group.ok()) return of_group.error();
    counts.push_back(std::move(of_group).value());
    start = end + 1;
  }
  return counts;
}

Result<Call> call_with(Counts counts, const CallArguments& arguments, const Schedule& schedule) {
  if (arguments.root && !rooted(schedule.program.collective))
    return Error{
        fmt::format("--root: {} has no root; leave it out", in_words(schedule.program.collective))};
  Call call{std::move(counts), {}, arguments.root.value_or(0)};
  const std::vector<Parameter>& parameters = schedule.program.parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].at_call) continue;
    const Result<int64_t> value = parameter_value(arguments, schedule, i, call);
    if (!value.ok()) return value.error();
    call.parameters.push_back(*value);
  }
  return call;
}

Result<Call> read_call(const CallArguments& arguments, const Schedule& schedule) {
  const Program& program = schedule.program;
  const std::string collective = in_words(program.collective);
  if (!arguments.counts.empty() && program.collective == Collective::kBarrier)
    return Error{fmt::format("--counts: {} moves nothing; leave them out", collective)};
  Counts all_counts;
  if (!arguments.counts.empty()) {
    Result<Counts> counts = read_counts(arguments.counts);
    if (!counts.ok()) return counts.error();
    all_counts = std::move(counts).value();
  }
  if (static_cast<int>(all_counts.size()) > program.groups)
    return Error{fmt::format(
        "--counts: '{}' is for {} groups, and the schedule for {}; give one list a group",
        arguments.counts, all_counts.size(), program.groups)};
  if (has_one_count(program.collective) && all_counts.size() == 1 && all_counts[0].size() == 1) {
    all_counts = equal_counts(schedule.job.groups, all_counts[0][0]);
  }
  const std::vector<Parameter>& parameters = program.parameters;
  std::set<std::string> given;
  for (const std::string& text : arguments.parameters) {
    if (std::ranges::none_of(parameters, [&](const Parameter& known) {
          return known.at_call && text.starts_with(known.name.text + "=");
        }))
      return Error{
          fmt::format("--parameter: '{}' is not NAME=VALUE of a parameter of its call", text)};
    const std::string name = text.substr(0, text.find('='));
    if (!given.insert(name).second)
      return Error{fmt::format("--parameter: '{}' is given twice", name)};
  }
  return call_with(std::move(all_counts), arguments, schedule);
}

Result<std::vector<Call>> calls_to_check(const CallArguments& arguments, const Schedule& schedule) {
  Result<Call> given = read_call(arguments, schedule);
  if (!given.ok()) return given.error();
  const Program& program = schedule.program;
  std::set<int64_t> roots = {given->root};
  const int64_t last = schedule.job.groups[0].ranks() - 1;
  if (rooted(program.collective) && !arguments.root) roots = roots_to_check(last + 1);
  std::vector<Counts> lists = {given->counts};
  if (given->counts.empty() && (uses_counts(program) || names_parts_of_blocks(program)))
    lists = standard_counts(schedule, arguments.element);
  std::vector<Call> calls;
  for (const int64_t root : roots)
    for (const Counts& counts : lists) {
      Result<Call> call = call_with(counts, arguments, schedule);
      if (!call.ok()) return call.error();
      calls.push_back(std::move(call).value());
      calls.back().root = root;
    }
  const auto refused = std::stable_partition(calls.begin(), calls.end(), [&](const Call& call) {
    return takes(program, schedule.job, call);
  });
  // If the program refuses all of them, binding the first one says what it requires.
  if (refused == calls.begin() || refused == calls.end()) return calls;
  calls.erase(refused, calls.end());
  const bool moves = std::ranges::any_of(calls, [](const Call& call) {
    return std::ranges::any_of(call.counts, [](const auto& of_group) {
      return std::ranges::any_of(of_group, [](int64_t count) { return count > 0; });
    });
  });
  if (lists.size() > 1 && !moves)
    return Error{fmt::format(
        "{} takes none of the calls that check tries but empty ones; give one with --counts",
        program.algorithm.text)};
  return calls;
}

std::string call_text(const Program& program, const Call& call, size_t longest) {
  std::string text;
  for (const std::vector<int64_t>& counts : call.counts)
    text += (text.empty() ? "counts " : "/") + shortened(counts_text(counts), longest);
  size_t at_call = 0;
  for (const Parameter& parameter : program.parameters)
    if (parameter.at_call)
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", parameter.name.text,
                          call.parameters[at_call++]);
  if (rooted(program.collective))
    text += fmt::format("{}root {}", text.empty() ? "" : ", ", call.root);
  return text;
}

std::string call_flags(const Program& program, const Call& call) {
  std::string text;
  for (const std::vector<int64_t>& counts : call.counts)
    text += (text.empty() ? " --counts " : "/") + counts_text(counts);
  size_t at_call = 0;
  for (const Parameter& parameter : program.parameters)
    if (parameter.at_call && at_call < call.parameters.size())
      text += fmt::format(" --parameter {}={}", parameter.name.text, call.parameters[at_call++]);
  return call.root == 0 ? text : text + fmt::format(" --root {}", call.root);
}

}  // namespace quadrille::verifier
