// Tested by tests/cli/compare_test.sh.
#include "generator/compare.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "cli/command_line.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "generator/encode.h"
#include "generator/text_program.h"
#include "simulate/export.h"

namespace quadrille {
namespace {

using cli::bad_input;

// The first line of CSV. Then the names of the bound and of MPI's own collective, in CSV and in words.
constexpr const char* kCsvHeading = "algorithm,bytes,nanoseconds";
constexpr const char *kBound = "bound", *kBoundWords = "no schedule takes less";
constexpr const char *kNative = "native", *kNativeWords = "MPI's own";

// The best candidates at each size.
using Grid = std::vector<std::vector<Candidate>>;

// `own`: the user's own algorithm, if there is one.
Grid grid_of(Workload workload, const std::vector<int64_t>& sizes,
             const std::optional<OwnAlgorithm>& own) {
  Grid grid;
  for (const int64_t bytes : sizes) {
    workload.bytes = bytes;
    grid.push_back(best_candidates(workload, "", {}));
    if (!own) continue;
    if (auto candidate = best_candidate(own->algorithm, workload, own->numbers))
      grid.back().push_back(*std::move(candidate));
  }
  return grid;
}

enum class Source { kSimulated, kMeasured };

// Returns a curve for each algorithm, in the order of the registry, and then for the user's own. `time` gives the time of a
// candidate at a size.
template <typename Time>
std::vector<Curve> curves_of(const Grid& grid, const std::optional<OwnAlgorithm>& own,
                             Source source, const Time& time) {
  std::vector<Curve> curves;
  std::vector<const Algorithm*> all;
  for (const Algorithm& algorithm : algorithms()) all.push_back(&algorithm);
  if (own) all.push_back(&own->algorithm);
  for (const Algorithm* algorithm : all) {
    Curve curve{algorithm->name, {}};
    bool has_time = false;
    for (size_t i = 0; i < grid.size(); ++i) {
      const auto found = std::ranges::find(grid[i], algorithm, &Candidate::algorithm);
      curve.times.push_back(found == grid[i].end() ? std::nullopt : time(*found, i));
      curve.fitted.push_back(source == Source::kSimulated && found != grid[i].end() &&
                             found->is_fitted);
      has_time |= curve.times.back().has_value();
    }
    if (has_time) curves.push_back(std::move(curve));
  }
  return curves;
}

std::string title_of(const Workload& workload) {
  std::string nodes;
  for (const Topology& topology : workload.groups)
    nodes += (nodes.empty() ? "" : " and ") + topology.text();
  return fmt::format("{} on nodes {}",
                     purpose_of(workload.collective, static_cast<int>(workload.groups.size())),
                     nodes);
}

Curve bound_of(Workload workload, const std::vector<int64_t>& sizes) {
  Curve bound{kBoundWords, {}};
  for (const int64_t bytes : sizes) {
    workload.bytes = bytes;
    bound.times.push_back(least_time(workload));
  }
  return bound;
}

Curves simulated(const Workload& workload, const std::vector<int64_t>& sizes, const Grid& grid,
                 const std::optional<OwnAlgorithm>& own) {
  Curves curves{title_of(workload), sizes, {}, bound_of(workload, sizes), {}};
  curves.curves = curves_of(grid, own, Source::kSimulated, [](const Candidate& candidate, size_t) {
    return std::optional<int64_t>(candidate.time);
  });
  return curves;
}

// ---- Real times

// A temporary folder for the schedule files that are measured. Its destructor removes it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "quadrille-XXXXXX").string();
    path_ = mkdtemp(name.data()) ? name : "";
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The times that `run` prints: "  factor   123.4 us  (100.1 to 180.9)", and MPI's own below.
struct Times {
  int64_t ours = 0, native = 0;  // nanoseconds
};

Result<Times> times_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (!pipe) return Error{fmt::format("--measure: '{}' cannot be started", command)};
  std::vector<int64_t> times;
  std::array<char, 512> line{};
  while (fgets(line.data(), static_cast<int>(line.size()), pipe.get())) {
    const std::string text(line.data());
    const size_t unit = text.find(" us  (");
    if (unit == std::string::npos) continue;
    const size_t blank = text.find_last_of(' ', unit - 1);
    double microseconds = 0;
    if (blank != std::string::npos && std::sscanf(text.c_str() + blank, "%lf", &microseconds) == 1)
      times.push_back(std::llround(1e3 * microseconds));
  }
  if (times.size() == 2) return Times{times[0], times[1]};
  return Error{fmt::format(
      "--measure: '{}' printed no two times; give a command that starts `quadrille run` on as many "
      "ranks, such as 'mpirun -n 16 quadrille run'",
      command)};
}

Result<Curves> measured(const Workload& workload, const std::vector<int64_t>& sizes,
                        const Grid& grid, const std::optional<OwnAlgorithm>& own,
                        const std::string& command) {
  const Folder folder;
  if (folder.path().empty()) return Error{"--measure: no temporary folder can be made"};
  Curves curves{title_of(workload) + ", measured", sizes, {}, {}, Curve{kNativeWords, {}}};
  std::vector<std::vector<int64_t>> native(sizes.size());
  std::optional<Error> wrong;
  cli::Progress progress;
  curves.curves =
      curves_of(grid, own, Source::kMeasured, [&](const Candidate& candidate, size_t i) {
        if (wrong) return std::optional<int64_t>{};
        progress.say(fmt::format("{} of {} bytes", candidate.algorithm->name, sizes[i]));
        const std::string file = folder.path() + "/" + candidate.algorithm->name + ".qs";
        const Program program =
            make_program(*candidate.algorithm, all_choices(*candidate.algorithm)[0]);
        const Result<bool> written =
            cli::write_file(file, encode(program, job_of(candidate, workload)));
        const Result<Times> times = written.ok()
                                        ? times_of(fmt::format("{} {} --bytes {}", command,
                                                               cli::shell_word(file), sizes[i]))
                                        : Result<Times>(written.error());
        if (!times.ok()) {
          wrong = times.error();
          return std::optional<int64_t>{};
        }
        native[i].push_back(times->native);
        return std::optional<int64_t>(times->ours);
      });
  if (wrong) return *wrong;
  for (std::vector<int64_t>& all : native) {
    std::ranges::sort(all);
    curves.native->times.push_back(all.empty() ? std::nullopt
                                               : std::optional<int64_t>(all[all.size() / 2]));
  }
  return curves;
}

// ---- Output

std::string microseconds(const std::optional<int64_t>& time) {
  return time ? fmt::format("{:.1f}", static_cast<double>(*time) / 1e3) : "-";
}

std::string table(const Curves& curves) {
  std::string text = curves.title + "; microseconds, the least of ours with a star\n";
  bool has_fitted = false;
  size_t width = 24;
  for (const Curve& curve : curves.curves) width = std::max(width, curve.name.size());
  const auto add = [&](const Curve& curve, const std::vector<int64_t>& least) {
    text += fmt::format("{:<{}}", curve.name, width);
    for (size_t i = 0; i < curve.times.size(); ++i) {
      const bool is_best = !least.empty() && curve.times[i] && *curve.times[i] == least[i];
      const bool is_fitted = i < curve.fitted.size() && curve.fitted[i];
      has_fitted |= is_fitted;
      text += fmt::format(" {:>11}{}", (is_fitted ? "~" : "") + microseconds(curve.times[i]),
                          is_best ? '*' : ' ');
    }
    if (text.back() == ' ') text.pop_back();
    text += '\n';
  };
  std::vector<int64_t> least(curves.bytes.size(), INT64_MAX);
  for (const Curve& curve : curves.curves)
    for (size_t i = 0; i < least.size(); ++i)
      if (curve.times[i]) least[i] = std::min(least[i], *curve.times[i]);
  text += fmt::format("{:<{}}", "", width);
  for (const int64_t bytes : curves.bytes) text += fmt::format(" {:>11} ", size_text(bytes));
  text.back() = '\n';
  for (const Curve& curve : curves.curves) add(curve, least);
  if (curves.bound) add(*curves.bound, {});
  if (curves.native) add(*curves.native, {});
  if (has_fitted) text += kFittedWords;
  return text;
}

std::string csv(const Curves& curves) {
  std::string text = std::string(kCsvHeading) + '\n';
  const auto add = [&](const Curve& curve, const std::string& name) {
    for (size_t i = 0; i < curve.times.size(); ++i)
      if (curve.times[i]) text += fmt::format("{},{},{}\n", name, curves.bytes[i], *curve.times[i]);
  };
  for (const Curve& curve : curves.curves) add(curve, curve.name);
  if (curves.bound) add(*curves.bound, kBound);
  if (curves.native) add(*curves.native, kNative);
  return text;
}

// Returns JSON as cli/schemas/compare.json describes it.
std::string json(const Curves& curves, const CompareArguments& arguments) {
  const auto times = [](const std::optional<Curve>& one) {
    return one ? cli::Json(one->times) : cli::Json();
  };
  std::vector<cli::Json> all;
  for (const Curve& each : curves.curves)
    all.push_back({{"algorithm", each.name}, {"nanoseconds", each.times}, {"fitted", each.fitted}});
  return cli::Json{{"schema", 1},
                   {"collective", arguments.collective},
                   {"title", curves.title},
                   {"measured", !arguments.measure.empty()},
                   {"bytes", curves.bytes},
                   {"curves", cli::Json::lines(all)},
                   {"bound", times(curves.bound)},
                   {"native", times(curves.native)}}
             .text() +
         "\n";
}

Result<Curves> curves_for(const CompareArguments& arguments) {
  const Result<Collective> collective = read_collective(arguments);
  if (!collective.ok()) return collective.error();
  const Result<bool> ordered = refuse_ordered(arguments, *collective);
  if (!ordered.ok()) return ordered.error();
  const Result<std::vector<Topology>> groups = read_groups(arguments);
  if (!groups.ok()) return groups.error();
  if (groups->empty()) return Error{"--nodes any: give the nodes to compare on, such as 4x8"};
  const Result<std::vector<int64_t>> sizes = read_sizes(arguments.machine.bytes);
  if (!sizes.ok()) return sizes.error();
  const Result<Machine> machine = read_machine(arguments.machine);
  if (!machine.ok()) return machine.error();
  Workload workload{*collective, *groups};
  workload.machine = *machine;
  workload.ordered = arguments.ordered;
  std::optional<OwnAlgorithm> own;
  if (!arguments.program.empty()) {
    Result<OwnAlgorithm> read = read_own_algorithm(arguments);
    if (!read.ok()) return read.error();
    own = std::move(read).value();
  }
  const Grid grid = grid_of(workload, *sizes, own);
  const auto serves = [&](const std::vector<Candidate>& all) {
    return std::ranges::count(all, &own->algorithm, &Candidate::algorithm) > 0;
  };
  if (own && std::ranges::none_of(grid, serves))
    return Error{fmt::format(
        "--program: {} serves none of these calls; `generate` or `check --program` says why",
        arguments.program)};
  if (arguments.measure.empty()) return simulated(workload, *sizes, grid, own);
  return measured(workload, *sizes, grid, own, arguments.measure);
}

}  // namespace

Result<Curves> read_curves(const std::string& path) {
  const Result<std::vector<uint8_t>> file = cli::read_file(path);
  if (!file.ok()) return file.error();
  std::istringstream text(std::string(file->begin(), file->end()));
  std::map<std::string, std::map<int64_t, int64_t>> times;  // by name and size
  std::vector<std::string> names;                           // in the order of the file
  std::set<int64_t> sizes;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    if (number == 1 && line == kCsvHeading) continue;
    const size_t first = line.find(','), last = line.rfind(',');
    const auto bytes =
        cli::whole_number(line.substr(std::min(first + 1, line.size()), last - first - 1));
    const auto time = cli::whole_number(line.substr(std::min(last + 1, line.size())));
    if (first == last || !bytes || !time || *bytes < 1 || *time < 0)
      return Error{fmt::format(
          "{}:{}: no line 'algorithm,bytes,nanoseconds' of compare --format csv", path, number)};
    const std::string name = line.substr(0, first);
    if (!times.contains(name)) names.push_back(name);
    times[name][*bytes] = *time;
    sizes.insert(*bytes);
  }
  if (sizes.empty())
    return Error{fmt::format("{}: has no times; write it with compare --format csv", path)};
  Curves curves;
  curves.bytes.assign(sizes.begin(), sizes.end());
  for (const std::string& name : names) {
    Curve curve{name, {}};
    for (const int64_t size : curves.bytes) {
      const auto found = times[name].find(size);
      curve.times.push_back(found == times[name].end() ? std::nullopt
                                                       : std::optional<int64_t>(found->second));
    }
    if (name == kBound)
      curves.bound = Curve{kBoundWords, curve.times};
    else if (name == kNative)
      curves.native = Curve{kNativeWords, curve.times};
    else
      curves.curves.push_back(std::move(curve));
  }
  return curves;
}

cli::Command add_compare(cli::Command& program, CompareArguments& arguments) {
  cli::Command command =
      program.command("compare", "Show the times of all algorithms for a collective over sizes.");
  command.require("collective", "COLLECTIVE", &arguments.collective, collective_names(", "));
  add_program(command, arguments,
              "your own program beside the algorithms: a text as `show` prints it");
  add_nodes(command, arguments, false);
  arguments.machine.bytes = "8..1MiB";
  add_machine(command, arguments.machine, "");
  command.add_flag("--ordered", arguments.ordered, "leave out what needs operators to commute");
  command.add("--measure", "COMMAND", &arguments.measure,
              "measure instead of simulating: the command that starts `quadrille run` on these "
              "nodes, 'mpirun -n 16 quadrille run'");
  command.add_choice("--format", {"table", "csv", "json", "svg"}, arguments.format,
                     "what is printed");
  command.add("--out", "FILE", &arguments.out, "write to this file instead of the terminal");
  command.example("compare alltoall --nodes 4x16 --bytes 8..1MiB --format svg --out times.svg",
                  "--bytes LOW..HIGH: LOW, then four times as much each time, and HIGH. Each "
                  "algorithm has its best parameters at each size.");
  return command;
}

int compare(const CompareArguments& arguments) {
  if (const std::optional<Error> wrong = refuse_without_program(arguments))
    return bad_input("compare", wrong->message);
  const Result<Curves> curves = curves_for(arguments);
  if (!curves.ok()) return bad_input("compare", curves.error().message);
  const std::string text = arguments.format == "svg"    ? curves_svg(*curves)
                           : arguments.format == "csv"  ? csv(*curves)
                           : arguments.format == "json" ? json(*curves, arguments)
                                                        : table(*curves);
  return cli::print_or_write("compare", arguments.out, text);
}

}  // namespace quadrille
