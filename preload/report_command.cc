// quadrille report FILE...: shows what QUADRILLE_REPORT=FILE.json wrote, as a summary, all lines, JSON or a page.
// Adds up several files.
//
// Exit codes: 0 done, 2 bad input. Tested by tests/cli/report_test.sh.
#include "preload/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cli/command_line.h"
#include "cli/files.h"
#include "view/assets.h"
#include "view/pack.h"

namespace quadrille {
namespace {

using cli::bad_input;
using nlohmann::json;

// The lines of all reports that were read, added up.
class Table {
 public:
  Table() = default;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table() { std::free(table_.lines); }

  void add(const preload_line& line) { preload_add_line(&table_, &line); }
  // Adds a run of `seconds`. Returns whether it had as many ranks as the runs before.
  bool add_run(int ranks, double seconds) {
    const bool fits = table_.ranks == 0 || table_.ranks == ranks;
    table_.ranks = ranks;
    table_.seconds += seconds;
    return fits;
  }
  std::span<const preload_line> lines() const {
    return {table_.lines, static_cast<size_t>(table_.count)};
  }
  // Returns the text that `print` writes. Sorts the lines by their seconds, the longest first.
  std::string text(void (*print)(FILE*, preload_table*)) {
    char* text = nullptr;
    size_t size = 0;
    FILE* const file = open_memstream(&text, &size);
    if (!file) throw std::bad_alloc();
    print(file, &table_);
    std::fclose(file);
    std::string result(text, size);
    std::free(text);
    return result;
  }

 private:
  preload_table table_ = {};
};

// ---- Reading

[[noreturn]] void refuse(const char* key, const char* what) {
  throw std::invalid_argument(fmt::format("\"{}\" {}", key, what));
}

// Returns the value of a key. read_into turns all exceptions of these functions into errors.
const json& member(const json& from, const char* key) {
  if (!from.is_object()) throw std::invalid_argument("a call is no object: {...}");
  const auto found = from.find(key);
  if (found == from.end()) refuse(key, "is missing");
  return *found;
}

std::string text_of(const json& from, const char* key) {
  const json& value = member(from, key);
  if (!value.is_string()) refuse(key, "is no text");
  std::string text = value;
  // The library writes no names with these characters.
  if (std::ranges::any_of(text, [](unsigned char c) { return c < ' ' || c == '"' || c == '\\'; }))
    refuse(key, "has a quote, a backslash or a control character");
  return text;
}

template <size_t kSize>
void copy(const json& from, const char* key, char (&text)[kSize]) {
  std::snprintf(text, kSize, "%s", text_of(from, key).c_str());
}

// Reads a number. Its limit leaves room to add up the lines of several reports.
template <typename T>
T number(const json& value, const char* key, bool may_be_negative = false) {
  constexpr double kMost = sizeof(T) < sizeof(int64_t) ? std::numeric_limits<T>::max() : 1e18;
  if (!value.is_number()) refuse(key, "is no number");
  if (std::is_integral_v<T> && !value.is_number_integer()) refuse(key, "is no whole number");
  const double given = value.get<double>();
  if (given < 0 && !may_be_negative) refuse(key, "is negative");
  if (!(std::abs(given) <= kMost)) refuse(key, "is too great");
  return value.get<T>();
}

template <typename T>
T number_of(const json& from, const char* key) {
  return number<T>(member(from, key), key);
}

// Returns the array [LEAST, MOST] of a key.
const json& range_of(const json& from, const char* key) {
  const json& range = member(from, key);
  if (!range.is_array() || range.size() != 2) refuse(key, "is no array of two numbers");
  return range;
}

preload_line line_of(const json& call) {
  preload_line line = {};
  const std::string collective = text_of(call, "collective");
  line.collective = preload_collective_of(collective.c_str());
  if (line.collective < 0)
    throw std::invalid_argument(
        fmt::format("\"collective\" is '{}', which is not served", collective));
  line.size_class = member(call, "bytes").is_null()
                        ? -1
                        : preload_size_class(number<int64_t>(range_of(call, "bytes")[0], "bytes"));
  const json& ranks_a_node = range_of(call, "ranks_a_node");
  line.shape = {.groups = number_of<int>(call, "groups"),
                .ranks = number_of<int>(call, "ranks"),
                .remote_ranks = number_of<int>(call, "remote_ranks"),
                .nodes = number_of<int>(call, "nodes"),
                .least = number<int>(ranks_a_node[0], "ranks_a_node"),
                .most = number<int>(ranks_a_node[1], "ranks_a_node")};
  copy(call, "schedule", line.schedule);
  copy(call, "reason", line.reason);
  line.calls = number_of<int64_t>(call, "calls");
  line.bytes = number_of<int64_t>(call, "all_bytes");
  line.seconds = number_of<double>(call, "seconds");
  line.timed = number_of<int64_t>(call, "timed_calls");
  line.native = number_of<double>(call, "native_seconds");
  line.scheduled = number_of<double>(call, "taken_seconds");
  line.cost = number<double>(member(call, "comparing_seconds"), "comparing_seconds", true);
  return line;
}

Result<bool> read_into(Table& table, const std::string& path) {
  const Result<std::vector<uint8_t>> text = cli::read_file(path);
  if (!text.ok()) return text.error();
  try {
    const json document = json::parse(text->begin(), text->end());
    if (!document.is_object()) throw std::invalid_argument("it is no JSON object");
    if (member(document, "schema") != PRELOAD_REPORT_SCHEMA)
      return Error{fmt::format("{}: \"schema\" is not {}, as in reports of this version", path,
                               static_cast<int>(PRELOAD_REPORT_SCHEMA))};
    const int ranks = number_of<int>(document, "ranks");
    if (ranks == 0) refuse("ranks", "is 0");
    if (!table.add_run(ranks, number_of<double>(document, "seconds")))
      return Error{fmt::format(
          "{}: it is of {} rank{}, unlike the reports before it; add up reports of equal jobs",
          path, ranks, ranks == 1 ? "" : "s")};
    const json& calls = member(document, "calls");
    if (!calls.is_array()) refuse("calls", "is no array");
    for (const json& call : calls) table.add(line_of(call));
  } catch (const json::parse_error& error) {
    const auto end = text->begin() + static_cast<int64_t>(std::min(error.byte, text->size()));
    return Error{
        fmt::format("{}:{}: this is no JSON; let QUADRILLE_REPORT name a file that ends in .json",
                    path, 1 + std::count(text->begin(), end, '\n'))};
  } catch (const json::out_of_range&) {  // thrown by the parser
    return Error{fmt::format(
        "{}: this is no report of the preload library: a number in it is too great", path)};
  } catch (const std::invalid_argument& error) {
    return Error{
        fmt::format("{}: this is no report of the preload library: {}", path, error.what())};
  }
  return true;
}

// ---- The details: one line for each schedule, kind of communicator and class of sizes

std::string shape_text(const preload_shape& shape) {
  if (shape.groups == 2) return fmt::format("{} + {} ranks", shape.ranks, shape.remote_ranks);
  if (shape.nodes == 0) return fmt::format("{} rank{}", shape.ranks, shape.ranks == 1 ? "" : "s");
  if (shape.least == shape.most) return fmt::format("{} x {} ranks", shape.nodes, shape.least);
  return fmt::format("{} x {} to {} ranks", shape.nodes, shape.least, shape.most);
}

std::string bytes_text(int size_class) {
  const preload_range range = preload_class_range(size_class);
  if (size_class < 0) return "-";
  if (range.least == range.most) return fmt::format("{}", range.least);
  return fmt::format("{}..{}", range.least, range.most);
}

// Returns the mean microseconds of a call.
std::string time_text(double seconds, int64_t calls) {
  return calls > 0 ? fmt::format("{:.1f}", 1e6 * seconds / static_cast<double>(calls)) : "-";
}

std::string saved_text(const preload_line& line) {
  return preload_is_measured(&line) ? fmt::format("{:.6f}", preload_saved(&line)) : "-";
}

std::string details(const Table& table) {
  constexpr const char* kColumns =
      "{:<20}  {:<18}  {:>20}  {:<25}  {:>8}  {:>12}  {:>12}  {:>10}  {:>10}  {:>10}  {}\n";
  std::string text =
      "\nquadrille: the calls that rank 0 of each communicator made; -: not measured in this run\n";
  text += fmt::format("{:>127}  {}\n", "with waiting", "--- without waiting --");
  text += fmt::format(kColumns, "collective", "communicator", "bytes", "schedule", "calls",
                      "bytes in all", "seconds", "native/us", "taken/us", "saved/s", "reason");
  for (const preload_line& line : table.lines())
    text += fmt::format(kColumns, preload_collectives[line.collective].name, shape_text(line.shape),
                        bytes_text(line.size_class), line.schedule, line.calls, line.bytes,
                        fmt::format("{:.6f}", line.seconds), time_text(line.native, line.timed),
                        time_text(line.scheduled, line.timed), saved_text(line), line.reason);
  return text;
}

// ---- The page

constexpr const char* kStyle = R"(
body { background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 80em; padding: 0 1em; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .3em .6em; text-align: left; }
td.number, th.number { font-variant-numeric: tabular-nums; text-align: right; }
td.times { min-width: 12em; }
.bar { display: block; height: .5em; margin: .15em 0; }
.native { background: var(--between); }
.taken { background: var(--inside); }
.key { display: inline-block; height: .7em; width: 1.5em; }
@media print { .bar, .key { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
)";

std::string bar(const char* name, double seconds, double longest) {
  return fmt::format(R"(<span class="bar {}" style="width: {:.1f}%" title="{:.6f} s"></span>)",
                     name, longest > 0 ? 100 * seconds / longest : 0, seconds);
}

std::string row(const preload_line& line, double longest) {
  const std::string times =
      line.timed > 0 ? bar("native", line.native, longest) + bar("taken", line.scheduled, longest)
                     : "-";
  return fmt::format(
      R"(<tr><td>{}</td><td>{}</td><td class="number">{}</td><td>{}</td><td class="number">{}</td>)"
      R"(<td class="number">{}</td><td class="number">{:.6f}</td><td class="times">{}</td>)"
      R"(<td class="number">{}</td><td>{}</td></tr>)"
      "\n",
      preload_collectives[line.collective].name, shape_text(line.shape),
      bytes_text(line.size_class), escaped(line.schedule), line.calls, line.bytes, line.seconds,
      times, saved_text(line), escaped(line.reason));
}

// Returns the page as one self-contained HTML file.
std::string page(Table& table) {
  const std::string summary = table.text(preload_print_summary);  // sorts the lines
  const size_t end = summary.find('\n');
  double longest = 0;
  for (const preload_line& line : table.lines())
    longest = std::max({longest, line.native, line.scheduled});
  std::string rows;
  for (const preload_line& line : table.lines()) rows += row(line, longest);
  return fmt::format(
      R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Quadrille: what the schedules gained</title><style>{}{}</style></head><body>
<h1>What the schedules gained</h1><p>{}</p>
<pre>{}</pre>
<p><span class="key native"></span> MPI's own collective <span class="key taken"></span> the schedule: without waiting, measured in this run</p>
<table><thead><tr><th>collective</th><th>communicator</th><th class="number">bytes</th><th>schedule</th><th class="number">calls</th>
<th class="number">bytes in all</th><th class="number">seconds, with waiting</th><th>times, without waiting</th><th class="number">saved/s</th><th>reason</th></tr></thead>
<tbody>
{}</tbody></table></body></html>
)",
      kPaletteCss, kStyle, escaped(summary.substr(0, end)), escaped(summary.substr(end + 1)), rows);
}

int run(int argc, char** argv) {
  cli::Command program(cli::program_name("report"), "Show reports of the preload library.");
  program.footer("Exit codes: 0 done, 2 bad input.");
  cli::Command command =
      program.command("report",
                      "Show what schedules gained under the preload library: times, choices and "
                      "reasons. Reports of several runs with as many ranks are added up.");
  std::vector<std::string> files;
  std::string out, format = "text";
  bool with_details = false;
  command.require("files", "FILE...", &files, "files that QUADRILLE_REPORT=FILE.json named");
  command.add_flag("--details", with_details,
                   "also a line for each schedule, kind of communicator and class of sizes");
  command.add_choice("--format", {"text", "json", "html"}, format, "text, JSON, or a page");
  command.add("--out", "FILE", &out, "write to this file; without it, the text is printed");
  command.example("report report.json --format html --out gains.html",
                  "makes a page, which is one file.");
  if (const auto code = program.parse(argc, argv)) return *code;
  Table table;
  for (const std::string& file : files) {
    if (!out.empty() && cli::same_file(out, file))
      return bad_input("report", cli::same_file_text("--out", out));
    const Result<bool> read = read_into(table, file);
    if (!read.ok()) return bad_input("report", read.error().message);
  }
  std::string text = format == "html"   ? page(table)
                     : format == "json" ? table.text(preload_print_json)
                                        : table.text(preload_print_summary);
  if (format == "text" && with_details) text += details(table);
  return cli::print_or_write("report", out, text);
}

}  // namespace
}  // namespace quadrille

int main(int argc, char** argv) {
  return quadrille::cli::run_main("report", quadrille::run, argc, argv);
}
