// quadrille rules check | show | merge: rules files of the preload library, which the library's own reader reads.
//
// Exit codes: 0 done, 2 bad input. Tested by tests/cli/rules_test.sh.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "cli/command_line.h"
#include "cli/files.h"
#include "preload/rules.h"

namespace quadrille {
namespace {

using cli::bad_input;

// The rules of files, merged or one after another.
class Rules {
 public:
  Rules() { settings_.mode = PRELOAD_LEARN; }  // which may begin with a file without rules
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;
  ~Rules() { std::free(settings_.rules); }

  // Errors name the file and the line.
  Result<bool> read(const std::string& path) {
    const Result<std::vector<uint8_t>> text = cli::read_file(path);
    if (!text.ok()) return text.error();
    if (!preload_read_rules(path.c_str(), reinterpret_cast<const char*>(text->data()), text->size(),
                            &settings_))
      return Error{settings_.error};
    return true;
  }

  Result<bool> merge(const Rules& others) {
    for (const preload_rule& rule : others.all())
      if (!preload_merge_rule(&settings_, &rule)) return Error{"memory ran out"};
    return true;
  }

  std::span<const preload_rule> all() const {
    return {settings_.rules, static_cast<size_t>(settings_.rule_count)};
  }

  // The document.
  std::string text() const {
    char* text = nullptr;
    size_t size = 0;
    FILE* const file = open_memstream(&text, &size);
    if (!file) throw std::bad_alloc();
    preload_print_rules(file, &settings_);
    std::fclose(file);
    std::string result(text, size);
    std::free(text);
    return result;
  }

 private:
  struct preload_settings settings_ = {};
};

std::string range_text(const preload_range& range) {
  if (range.least == 0 && range.most == INT64_MAX) return "any";
  if (range.least == range.most) return fmt::format("{}", range.least);
  if (range.most == INT64_MAX) return fmt::format("{}..", range.least);
  return fmt::format("{}..{}", range.least, range.most);
}

std::string ranks_text(const preload_rule& rule) {
  std::string text = range_text(rule.ranks_a_node);
  if (rule.even >= 0) text += rule.even ? ", even" : ", uneven";
  return text;
}

std::string row_text(const preload_rule& rule) {
  char algorithm[PRELOAD_TEXT];
  preload_print_algorithm(&rule, algorithm, sizeof algorithm);
  std::string text =
      fmt::format("{:<21}{:>6}  {:>8}  {:>12}  {:>8}  {:>20}  {:<36}",
                  preload_collectives[rule.collective].name, rule.groups, range_text(rule.nodes),
                  ranks_text(rule), range_text(rule.ranks), range_text(rule.bytes), algorithm);
  if (rule.time > 0 && rule.native_time > 0)
    text += fmt::format("{:>10.1f}  {:>10.1f}  {:>6.2f}", 1e6 * rule.time, 1e6 * rule.native_time,
                        rule.native_time / rule.time);
  if (rule.calls > 0) text += fmt::format("  {:>9}", rule.calls);
  return text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
}

std::string counted(size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// The schedules that are in files.
void print_schedules() {
  for (int i = 0; i < preload_schedule_count(); i++) {
    const char* const hash = preload_schedule_hash(i);
    if (!hash) continue;
    const std::string name = preload_schedule_name(i);
    fmt::print("{}: hash {}; `{} check {}` says whether it is right\n", name, hash,
               cli::typed("verifier"), cli::shell_word(name.substr(std::strlen(PRELOAD_FILE))));
  }
}

int check(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    Rules rules;
    const Result<bool> read = rules.read(file);
    if (!read.ok()) return bad_input("rules check", read.error().message);
    const size_t count = rules.all().size();
    fmt::print("{}: {}\n", file, counted(count, "rule"));
    print_schedules();
    preload_forget_schedules();  // each file may name as many as the library takes
  }
  return 0;
}

int show(const std::string& file) {
  Rules rules;
  const Result<bool> read = rules.read(file);
  if (!read.ok()) return bad_input("rules show", read.error().message);
  fmt::print("{:<21}{:>6}  {:>8}  {:>12}  {:>8}  {:>20}  {:<36}{:>10}  {:>10}  {:>6}  {:>9}\n",
             "collective", "groups", "nodes", "ranks a node", "ranks", "bytes", "algorithm",
             "time/us", "native/us", "gain", "calls");
  for (const preload_rule& rule : rules.all()) fmt::print("{}", row_text(rule));
  return 0;
}

int merge(const std::vector<std::string>& files, const std::string& out) {
  Rules merged;
  for (const std::string& file : files) {
    Rules rules;
    Result<bool> done = rules.read(file);
    if (done.ok()) done = merged.merge(rules);
    if (!done.ok()) return bad_input("rules merge", done.error().message);
  }
  const Result<bool> written = cli::write_file(out, merged.text());
  if (!written.ok()) return bad_input("rules merge", "--out: " + written.error().message);
  fmt::print("{}: {} of {}\n", out, counted(merged.all().size(), "rule"),
             counted(files.size(), "file"));
  return 0;
}

int run(int argc, char** argv) {
  const std::string name = cli::program_name("rules");
  cli::Command program(name == "rules" ? name : name + " rules",
                       "Check, show and merge rules files of the preload library.");
  program.footer("Exit codes: 0 done, 2 bad input.");
  std::vector<std::string> files;
  std::string file, out;
  cli::Command checks =
      program.command("check", "Say whether the preload library takes the files.");
  checks.require("files", "FILE...", &files, "rules files");
  cli::Command shows = program.command("show", "Print the rules of a file as a table.");
  shows.require("file", "FILE", &file, "a rules file");
  cli::Command merges = program.command("merge",
                                        "Make one file of several. If rules for the same calls "
                                        "name one algorithm, their times are averaged, "
                                        "weighted by calls. Otherwise the algorithm stays that has "
                                        "saved more time. A rule without times "
                                        "is not replaced, and replaces none.");
  merges.require("files", "FILE...", &files, "rules files");
  merges.require("--out", "FILE", &out,
                 "the file that is written; it may be one of those that are read");
  merges.example("merge monday.json tuesday.json --out rules.json");
  if (const auto code = program.parse(argc, argv)) return *code;
  if (checks.is_named()) return check(files);
  return shows.is_named() ? show(file) : merge(files, out);
}

}  // namespace
}  // namespace quadrille

int main(int argc, char** argv) {
  return quadrille::cli::run_main("rules", quadrille::run, argc, argv);
}
