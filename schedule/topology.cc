// Reads lists of nodes in three notations into one sorted, run-length coded form. Tested by
// tests/schedule/topology_test.cc, which has a case for each refusal.
#include "schedule/topology.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

namespace quadrille {
namespace {

std::string_view trim(std::string_view text) {
  const char* blank = " \t\r\n";
  const size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

// Splits at a separator and trims each part. "a,,b" gives an empty middle part.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t start = 0;;) {
    const size_t end = text.find(separator, start);
    parts.push_back(trim(text.substr(start, end - start)));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

// Reads a whole number. One that is too large for 64 bits becomes INT64_MAX, which exceeds the limit of every caller.
std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool too_large = error == std::errc::result_out_of_range && !text.starts_with('-');
  if (too_large) value = std::numeric_limits<int64_t>::max();
  if ((error != std::errc() && !too_large) || end != text.data() + text.size() || text.empty())
    return std::nullopt;
  return value;
}

// Reads "COUNTxSIZE" or "SIZE".
std::optional<Run> list_entry(std::string_view entry) {
  const size_t cross = entry.find('x');
  const bool repeated = cross != std::string_view::npos;
  const auto nodes = repeated ? whole_number(entry.substr(0, cross)) : std::optional<int64_t>(1);
  const auto size = whole_number(repeated ? entry.substr(cross + 1) : entry);
  if (!nodes || !size) return std::nullopt;
  return Run{*nodes, *size};
}

// Reads "SIZE(xCOUNT)" or "SIZE".
std::optional<Run> slurm_entry(std::string_view entry) {
  const size_t open = entry.find("(x");
  if (open == std::string_view::npos) {
    const auto size = whole_number(entry);
    return size ? std::optional<Run>(Run{1, *size}) : std::nullopt;
  }
  if (!entry.ends_with(')')) return std::nullopt;
  const auto size = whole_number(entry.substr(0, open));
  const auto nodes = whole_number(entry.substr(open + 2, entry.size() - open - 3));
  if (!nodes || !size) return std::nullopt;
  return Run{*nodes, *size};
}

template <class EntryParser>
Result<Topology> parse_list(std::string_view text, const char* flag, const char* example,
                            EntryParser parse_entry) {
  std::vector<Run> runs;
  for (std::string_view entry : split(text, ',')) {
    const std::optional<Run> run = parse_entry(entry);
    if (!run)
      return Error{
          fmt::format("{}: '{}' is not a node list; write sizes like {}", flag, text, example)};
    runs.push_back(*run);
  }
  Result<Topology> topology = Topology::from_runs(std::move(runs));
  if (!topology.ok()) return Error{fmt::format("{}: {}", flag, topology.error().message)};
  return topology;
}

// One line of a host file: its hosts, and the number of ranks that each takes.
struct HostLine {
  std::string_view hosts;
  int64_t ranks;
};

std::optional<HostLine> host_line(std::string_view line) {
  const size_t host_end = line.find_first_of(" \t:");
  if (host_end == 0) return std::nullopt;
  HostLine result{line.substr(0, host_end), 1};
  if (host_end == std::string_view::npos) return result;
  std::string_view rest = trim(line.substr(host_end));
  if (rest.starts_with("slots=")) {
    rest.remove_prefix(6);
  } else if (rest.starts_with(":")) {
    rest.remove_prefix(1);
  } else {
    return std::nullopt;
  }
  const auto ranks = whole_number(rest.substr(0, rest.find_first_of(" \t")));
  if (!ranks) return std::nullopt;
  result.ranks = *ranks;
  return result;
}

bool is_host_name(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '.' || c == '_' || c == '-' || c == '@';
  });
}

// The numbers of "01-03" or "7". Host names have them with as many digits as the first.
struct HostRange {
  int64_t low, high;
  size_t digits;
};

std::optional<HostRange> host_range(std::string_view text) {
  const size_t dash = std::min(text.find('-'), text.size());
  const std::string_view first = text.substr(0, dash);
  const auto low = whole_number(first);
  const auto high = dash == text.size() ? low : whole_number(text.substr(dash + 1));
  constexpr size_t kMostDigits = 18;  // fit in 64 bits
  if (!low || !high || *low < 0 || *high < *low || text.size() > 2 * kMostDigits ||
      first.size() > kMostDigits)
    return std::nullopt;
  return HostRange{*low, *high, first.size()};
}

using Hosts = std::vector<std::string>;
// Ends of error messages, which begin with the list of hosts.
constexpr const char* kTooManyHosts = "names more than 1048576 hosts; check the ranges";
static_assert(kMaxRanks == 1048576);
constexpr const char* kNoHostList = "is not a host or a list of hosts like node[01-03,07]";

// Appends each of the numbers of "01-03,07" to each of the hosts.
Result<Hosts> with_numbers(const Hosts& hosts, std::string_view ranges) {
  Hosts longer;
  for (const std::string_view entry : split(ranges, ',')) {
    const std::optional<HostRange> range = host_range(entry);
    if (!range) return Error{kNoHostList};
    if (range->high - range->low >=
        (kMaxRanks - static_cast<int64_t>(longer.size())) / static_cast<int64_t>(hosts.size()))
      return Error{kTooManyHosts};
    for (const std::string& host : hosts)
      for (int64_t number = range->low; number <= range->high; ++number)
        longer.push_back(fmt::format("{}{:0{}}", host, number, range->digits));
  }
  return longer;
}

// Returns the hosts of a list. "rack[1-2]node[01-03,07]" names eight hosts.
Result<Hosts> expand_hosts(std::string_view list) {
  Hosts hosts{""};
  while (!list.empty()) {
    const size_t open = std::min(list.find('['), list.size());
    const std::string_view name = list.substr(0, open);
    if (!is_host_name(name)) return Error{kNoHostList};
    for (std::string& host : hosts) host += name;
    if (open == list.size()) break;
    const size_t close = list.find(']', open);
    if (close == std::string_view::npos) return Error{kNoHostList};
    Result<Hosts> longer = with_numbers(hosts, list.substr(open + 1, close - open - 1));
    if (!longer.ok()) return longer;
    hosts = std::move(longer).value();
    list = list.substr(close + 1);
  }
  return hosts;
}

}  // namespace

Result<Topology> Topology::from_runs(std::vector<Run> runs) {
  std::stable_sort(runs.begin(), runs.end(),
                   [](const Run& a, const Run& b) { return a.size < b.size; });
  Topology topology;
  for (const Run& run : runs) {
    if (run.size < 1)
      return Error{fmt::format("a node of {} ranks; every node has at least 1", run.size)};
    if (run.nodes < 1)
      return Error{fmt::format("{} nodes of {} ranks; a count is at least 1", run.nodes, run.size)};
    // Both factors are bounded before they are multiplied, so that nothing overflows.
    if (run.size > kMaxRanks || run.nodes > kMaxRanks ||
        topology.ranks_ + run.nodes * run.size > kMaxRanks)
      return Error{fmt::format("more than {} ranks; check the counts", kMaxRanks)};
    topology.nodes_ += run.nodes;
    topology.ranks_ += run.nodes * run.size;
    if (!topology.runs_.empty() && topology.runs_.back().size == run.size)
      topology.runs_.back().nodes += run.nodes;
    else
      topology.runs_.push_back(run);
  }
  if (topology.runs_.empty()) return Error{"no nodes; give at least one"};
  return topology;
}

std::vector<int64_t> Topology::sizes() const {
  std::vector<int64_t> sizes;
  sizes.reserve(nodes_);
  for (const Run& run : runs_) sizes.insert(sizes.end(), run.nodes, run.size);
  return sizes;
}

std::string Topology::text() const {
  std::string text;
  for (const Run& run : runs_) {
    if (!text.empty()) text += ',';
    text +=
        run.nodes == 1 ? fmt::format("{}", run.size) : fmt::format("{}x{}", run.nodes, run.size);
  }
  return text;
}

int64_t ranks_of(const std::vector<Topology>& groups) {
  int64_t ranks = 0;
  for (const Topology& group : groups) ranks += group.ranks();
  return ranks;
}

Result<Topology> parse_nodes(std::string_view text, const char* flag) {
  return parse_list(text, flag, "1,2,3 or 4x8 or 512x16,5", list_entry);
}

Result<Topology> parse_slurm(std::string_view text) {
  return parse_list(text, "--slurm", "16(x512),5, as SLURM_TASKS_PER_NODE does", slurm_entry);
}

Result<Topology> parse_hostfile(std::string_view text, const std::string& name) {
  std::map<std::string, int64_t, std::less<>> ranks_of;
  int64_t line_number = 0, all_ranks = 0;
  for (std::string_view line : split(text, '\n')) {
    ++line_number;
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const std::optional<HostLine> entry = host_line(line);
    if (!entry || entry->ranks < 1)
      return Error{fmt::format("{}:{}: '{}' is not a host line; write 'host slots=4' or 'host:4'",
                               name, line_number, line)};
    const Result<Hosts> hosts = expand_hosts(entry->hosts);
    if (!hosts.ok())
      return Error{
          fmt::format("{}:{}: '{}' {}", name, line_number, entry->hosts, hosts.error().message)};
    for (const std::string& host : *hosts) {
      int64_t& ranks = ranks_of[host];
      if (entry->ranks > kMaxRanks - ranks)
        return Error{fmt::format("{}:{}: more than {} ranks on '{}'; check the counts", name,
                                 line_number, kMaxRanks, host)};
      ranks += entry->ranks;
      all_ranks += entry->ranks;
      if (all_ranks > kMaxRanks)
        return Error{fmt::format("{}: more than {} ranks; check the counts", name, kMaxRanks)};
    }
  }
  std::vector<Run> runs;
  for (const auto& [host, ranks] : ranks_of) runs.push_back({1, ranks});
  Result<Topology> topology = Topology::from_runs(std::move(runs));
  if (!topology.ok()) return Error{fmt::format("{}: {}", name, topology.error().message)};
  return topology;
}

}  // namespace quadrille
