// quadrille rules FILE...: checks rules files of the preload library, and prints or writes their rules. Converts
// files of the old form, JSON, to lines. The library's own reader reads the lines.
//
// Exit codes: 0 done, 2 bad input. Tested by tests/cli/rules_test.sh.
#include "preload/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/command_line.h"
#include "cli/files.h"

namespace quadrille {
namespace {

using cli::bad_input;
using cli::ExitCode;
using nlohmann::json;

// ---- The old form: {"schema": 1, "rules": [{"collective": "bcast", "bytes": [16, null], "algorithm": "binomial"}]}

// Converts 16, [16, 63] or [16, null] to 16, 16..63 or 16..
std::string range_text(const json& range) {
  if (!range.is_array()) return range.dump();
  return range.at(0).dump() + ".." + (range.at(1).is_null() ? "" : range.at(1).dump());
}

// Returns the words for a member of a rule, or "" for those that line_of writes. The reader of lines checks them.
std::string word_of(const std::string& name, const json& value) {
  for (const char* elsewhere : {"collective", "algorithm", "time", "native_time", "calls"})
    if (name == elsewhere) return "";
  if (name == "even") return value.get<bool>() ? " even=yes" : " even=no";
  return fmt::format(" {}={}", name == "ranks_a_node" ? "ranks-a-node" : name, range_text(value));
}

std::string line_of(const json& rule) {
  std::string line = rule.at("collective").get<std::string>();
  for (const auto& [name, value] : rule.items()) line += word_of(name, value);
  line += " use=" + rule.at("algorithm").get<std::string>();
  const double time = rule.value("time", 0.0), native = rule.value("native_time", 0.0);
  if (time > 0 && native > 0)
    line +=
        fmt::format("  # {:.2f} of native, {:.0f} calls", time / native, rule.value("calls", 0.0));
  return line + '\n';
}

// Writes one line for each rule.
Result<std::string> lines_of(const std::string& path, const std::string& text) {
  std::string lines;
  int number = 0;
  try {
    const json document = json::parse(text);
    for (const json& rule : document.at("rules")) {
      number++;
      lines += line_of(rule);
    }
  } catch (const json::exception&) {
    return Error{
        number == 0 ? path + ": this is neither lines nor JSON as earlier versions wrote it"
                    : fmt::format("{}: rule {} is not as earlier versions wrote it", path, number)};
  }
  return lines;
}

// ---- Lines

// A line of a rules file, and its rule if it has one.
struct Line {
  std::string text;
  std::optional<preload_rule> rule;
  std::string library = "";  // of the line with the origin of the rules
};

// Finds the line with a rule for the same calls, or with the origin. Returns the end if there is none.
std::vector<Line>::iterator find_same(std::vector<Line>& lines, const Line& line) {
  return std::ranges::find_if(lines, [&](const Line& one) {
    return (one.rule && line.rule && preload_are_for_same_calls(&*one.rule, &*line.rule)) ||
           (!one.library.empty() && !line.library.empty());
  });
}

// Adds a line of a later file. Its rule replaces an earlier rule for the same calls.
void add(std::vector<Line>& lines, Line line) {
  const auto earlier = find_same(lines, line);
  if (earlier == lines.end())
    lines.push_back(std::move(line));
  else
    *earlier = std::move(line);
}

Result<bool> read(const std::string& path, std::vector<Line>& lines) {
  const Result<std::vector<uint8_t>> bytes = cli::read_file(path);
  if (!bytes.ok()) return bytes.error();
  std::string text(bytes->begin(), bytes->end()), where = path + ":";
  const size_t start = text.find_first_not_of(" \t\r\n");
  if (start != std::string::npos && text[start] == '{') {
    const Result<std::string> converted = lines_of(path, text);
    if (!converted.ok()) return converted.error();
    text = *converted;
    where = path + ": rule ";
  }
  // If a file has two rules for the same calls, the library follows the first.
  std::vector<Line> own;
  int64_t number = 1;
  for (size_t at = 0, end; at < text.size(); at = end + 1, number++) {
    end = std::min(text.find('\n', at), text.size());
    Line line{text.substr(at, end - at), std::nullopt};
    preload_rule rule;
    char error[PRELOAD_TEXT];
    preload_origin origin{};
    const int found = preload_read_rule(line.text.data(), line.text.size(), &rule, &origin, error);
    if (found == 0) return Error{fmt::format("{}{}: {}", where, number, error)};
    if (found > 0) line.rule = rule;
    line.library = origin.library;
    const auto earlier = find_same(lines, line);
    if (earlier != lines.end() && earlier->library != line.library)
      return Error{
          fmt::format("{}{}: these rules are of {}, and those before of {}; keep them in two files",
                      where, number, line.library, earlier->library)};
    if (find_same(own, line) == own.end()) own.push_back(std::move(line));
  }
  for (Line& line : own) add(lines, std::move(line));
  return true;
}

int run(int argc, char** argv) {
  cli::Command program(cli::program_name("rules"), "Check rules files of the preload library.");
  program.footer("Exit codes: 0 done, 2 bad input.");
  cli::Command command =
      program.command("rules",
                      "Check rules files of the preload library and print their lines, those of a "
                      "later file in place of earlier rules for the same calls. A file in JSON, as "
                      "earlier versions wrote it, becomes lines.");
  std::vector<std::string> files;
  std::string out;
  command.require("files", "FILE...", &files, "rules files");
  command.add("--out", "FILE", &out,
              "write the lines to this file, which may be one of those that are read");
  command.example("rules monday.txt tuesday.txt --out rules.txt");
  if (const auto code = program.parse(argc, argv)) return *code;
  std::vector<Line> lines;
  for (const std::string& file : files) {
    const Result<bool> done = read(file, lines);
    if (!done.ok()) return bad_input("rules", done.error().message);
  }
  std::string text;
  for (const Line& line : lines) text += line.text + '\n';
  const int code = cli::print_or_write("rules", out, text);
  if (out.empty() || code != ExitCode::kVerified) return code;
  const auto rules =
      std::ranges::count_if(lines, [](const Line& line) { return line.rule.has_value(); });
  fmt::print("{}: {} rule{}\n", out, rules, rules == 1 ? "" : "s");
  return 0;
}

}  // namespace
}  // namespace quadrille

int main(int argc, char** argv) {
  return quadrille::cli::run_main("rules", quadrille::run, argc, argv);
}
