// Reads corpora. A case that cannot be read is a mistake in the corpus, and ends the test.
#include "tests/support/cases.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "generator/fragments.h"

namespace quadrille {
namespace {

constexpr const char* kTitle = "=== ";

void require(bool condition, const std::string& what) {
  if (!condition) check(false, what.c_str());
}

std::string with_line_ends(std::string text) {
  for (size_t at = 0; (at = text.find("\\n", at)) != std::string::npos; ++at)
    text.replace(at, 2, "\n");
  return text;
}

std::pair<std::string, std::string> split_at(const std::string& text, const std::string& mark) {
  const size_t at = text.find(mark);
  require(at != std::string::npos, "no '" + mark + "': " + text);
  return {text.substr(0, at), text.substr(at + mark.size())};
}

// Applies one edit to the program or the proof. `key` says which edit it is.
void change(TextCase& one, const std::string& key, const std::string& value) {
  std::string& text = key.ends_with("proof") ? one.proof : one.program;
  if (key.find("before the ") != std::string::npos)
    text = with_line_ends(value) + "\n" + text;
  else if (key.find("after the ") != std::string::npos)
    text += with_line_ends(value) + "\n";
  else
    text = edited(text, value, key.starts_with("change all"));
}

// Writes the short forms of a proof out.
std::string written_out(const std::string& proof) {
  const Result<std::string> whole = put_in_fragments({{"a case", proof}});
  require(whole.ok(), whole.ok() ? "" : whole.error().message);
  return *whole;
}

// Reads the cases of one file, and appends them to those of earlier files.
class Reader {
 public:
  Reader(const std::string& path, const Elsewhere& elsewhere, std::vector<TextCase>& cases)
      : elsewhere_(elsewhere), cases_(cases) {
    std::istringstream text(read_text(path));
    for (std::string line; std::getline(text, line);) read(line);
    finish();
  }

 private:
  void read(const std::string& line) {
    if (line.starts_with(kTitle)) {
      finish();
      in_case_ = true;
      one_ = {line.substr(4), {}, whole_.first, whole_.second};
    } else if (in_case_ && !begins_text(line) && !(line.empty() && !text_)) {
      text_ ? add(line) : read_key(line);
    }
  }

  void finish() {
    if (!in_case_) return;
    end_text();
    if (is_whole_) whole_ = {one_.program, one_.proof};
    if (!one_.expectations.empty()) cases_.push_back(one_);
    for (const auto& [key, value] : tries_) try_out(key, value);
    text_ = nullptr;
    is_whole_ = false;
    tries_.clear();
  }

  void try_out(const std::string& key, const std::string& value) {
    auto [edit, expectations] = split_at(value, " ==> ");
    TextCase tried{one_.title + ": " + edit, {}, one_.program, one_.proof};
    change(tried, key, edit);
    for (size_t bar = 0; bar != std::string::npos;) {
      bar = expectations.find(" | ");
      tried.expectations.push_back(split_at(expectations.substr(0, bar), ": "));
      if (bar != std::string::npos) expectations.erase(0, bar + 3);
    }
    cases_.push_back(tried);
  }

  // Returns whether the line begins a text. The lines below it then replace or extend the program or the proof.
  bool begins_text(const std::string& line) {
    const bool whole_program = !text_ && (line.starts_with("algorithm ") || line.starts_with("--"));
    if (!whole_program && line != "proof" && line != "before the proof" &&
        line != "after the program" && line != "after the proof")
      return false;
    end_text();
    is_whole_ |= whole_program;
    if (whole_program) one_.program.clear();
    if (whole_program || line == "proof") one_.proof.clear();
    text_ = whole_program || line == "after the program" ? &one_.program : &one_.proof;
    at_ = line == "before the proof" ? 0 : text_->size();
    if (whole_program) add(line);
    return true;
  }

  // Adds a line to the text. Empty lines count only if another line follows them.
  void add(const std::string& line) {
    if (line.empty()) return empty_lines_.push_back('\n');
    lines_ += empty_lines_ + line + "\n";
    empty_lines_.clear();
  }

  void end_text() {
    if (!lines_.empty()) text_->insert(at_, text_ == &one_.proof ? written_out(lines_) : lines_);
    lines_.clear();
    empty_lines_.clear();
  }

  void read_key(const std::string& line) {
    const auto [key, value] = split_at(line, ": ");
    if (key == "from")
      begin_with(value);
    else if (key.starts_with("change"))
      change(one_, key, value);
    else
      (key.starts_with("try") ? tries_ : one_.expectations).emplace_back(key, value);
  }

  void begin_with(const std::string& name) {
    const auto other = std::ranges::find_if(
        cases_, [&](const TextCase& earlier) { return earlier.title.starts_with(name); });
    require(other != cases_.end() || elsewhere_, "no case before begins with: " + name);
    if (other == cases_.end()) whole_ = elsewhere_(name);
    std::tie(one_.program, one_.proof) =
        other == cases_.end() ? whole_ : std::pair(other->program, other->proof);
  }

  const Elsewhere& elsewhere_;
  std::vector<TextCase>& cases_;
  std::pair<std::string, std::string> whole_;  // the last whole program in the file, and its proof
  TextCase one_;
  bool in_case_ = false, is_whole_ = false;
  std::vector<std::pair<std::string, std::string>> tries_;
  std::string* text_ = nullptr;  // where lines go
  size_t at_ = 0;
  std::string lines_, empty_lines_;
};

}  // namespace

std::vector<std::string> TextCase::values(const std::string& key) const {
  std::vector<std::string> result;
  for (const auto& [name, value] : expectations)
    if (name == key) result.push_back(value);
  return result;
}

std::vector<TextCase> read_cases(const std::string& folder, const Elsewhere& elsewhere) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".cases") paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<TextCase> result;
  for (const std::string& path : paths) Reader(path, elsewhere, result);
  require(!result.empty(), "no cases in " + folder);
  return result;
}

std::string edited(std::string text, const std::string& edit, bool all) {
  const size_t arrow = edit.find(" =>");
  require(arrow != std::string::npos, "no 'A => B': " + edit);
  const std::string from = with_line_ends(edit.substr(0, arrow)),
                    to = with_line_ends(edit.substr(std::min(edit.size(), arrow + 4)));
  size_t at = text.find(from);
  require(at != std::string::npos, "not in the text: " + from);
  do {
    text.replace(at, from.size(), to);
    at = text.find(from, at + to.size());
  } while (all && at != std::string::npos);
  return text;
}

std::string read_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  require(!text.str().empty(), "nothing to read: " + path);
  return text.str();
}

}  // namespace quadrille
