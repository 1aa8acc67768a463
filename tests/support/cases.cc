// A case that cannot be read ends the test: it is a mistake in the corpus.
#include "tests/support/cases.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "schedule/result.h"

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

class Reader {
 public:
  Reader(const std::string& path, const Elsewhere& elsewhere) : elsewhere_(elsewhere) {
    std::istringstream text(read_text(path));
    for (std::string line; std::getline(text, line);) read(line);
  }

  const std::vector<TextCase>& cases() const { return cases_; }

 private:
  enum class Part { kKeys, kProgram, kProof };

  void read(const std::string& line) {
    if (line.starts_with(kTitle)) {
      cases_.push_back({line.substr(4), {}, {}, {}});
      part_ = Part::kKeys;
      return;
    }
    if (cases_.empty() || (line.empty() && part_ == Part::kKeys)) return;
    if (line == "proof") {
      part_ = Part::kProof;
      cases_.back().proof.clear();
      return;
    }
    if (part_ == Part::kKeys && (line.starts_with("algorithm ") || line.starts_with("--"))) {
      part_ = Part::kProgram;
      cases_.back().program.clear();
    }
    if (part_ == Part::kKeys) return read_key(line);
    (part_ == Part::kProgram ? cases_.back().program : cases_.back().proof) += line + "\n";
  }

  void read_key(const std::string& line) {
    const size_t colon = line.find(": ");
    require(colon != std::string::npos, "no 'key: value': " + line);
    const std::string key = line.substr(0, colon), value = line.substr(colon + 2);
    TextCase& one = cases_.back();
    if (key == "from") return begin_with(value);
    if (!key.starts_with("change")) return one.expectations.emplace_back(key, value), void();
    const bool all = key.find(" all") != std::string::npos;
    std::string& text = key.ends_with("proof") ? one.proof : one.program;
    text = edited(text, value, all);
  }

  void begin_with(const std::string& name) {
    TextCase& one = cases_.back();
    const auto other = std::find_if(cases_.begin(), cases_.end() - 1, [&](const TextCase& earlier) {
      return earlier.title.starts_with(name);
    });
    if (other != cases_.end() - 1) {
      one.program = other->program;
      one.proof = other->proof;
    } else {
      require(elsewhere_ != nullptr, "no case before it begins with: " + name);
      std::tie(one.program, one.proof) = elsewhere_(name);
    }
  }

  const Elsewhere& elsewhere_;
  std::vector<TextCase> cases_;
  Part part_ = Part::kKeys;
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
  std::sort(paths.begin(), paths.end());
  std::vector<TextCase> result;
  for (const std::string& path : paths) {
    const Reader reader(path, elsewhere);
    result.insert(result.end(), reader.cases().begin(), reader.cases().end());
  }
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
