// A fragment is expanded where it is defined, with the fragments above it. So none can include itself, and an include
// only has to insert its arguments. Tested by tests/generator/fragments_test.cc. A wrong expansion makes the proof
// fail, as the verifier reads only the result.
#include "generator/fragments.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>
#include <string_view>

namespace quadrille {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kComment = "--", kInclude = "include ", kFragment = "fragment ",
                           kBoth = "both ", kKeys = "keys ";
constexpr size_t kIndent = 2;

struct Fragment {
  std::vector<std::string> parameters;
  Lines lines;
};

// In "hits(rank, at(w, x))": the name, and the texts between the commas that are not in inner parentheses.
struct Heading {
  std::string name;
  std::vector<std::string> arguments;
};

Heading heading_of(const std::string& text) {
  const size_t open = text.find('('), close = text.rfind(')');
  Heading heading = {text.substr(0, open), {}};
  if (open == std::string::npos || close == std::string::npos || close == open + 1) return heading;
  int depth = 0;
  std::string argument;
  for (const char c : text.substr(open + 1, close - open - 1)) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      heading.arguments.push_back(std::move(argument));
      argument.clear();
    } else if (c != ' ' || !argument.empty()) {
      argument += c;
    }
  }
  heading.arguments.push_back(argument);
  return heading;
}

// Returns the line with each "{name}" replaced by its value. The error is a name without a value.
Result<std::string> put_in(std::string_view line, const std::vector<std::string>& names,
                           const std::vector<std::string>& values) {
  std::string result;
  for (size_t open; (open = line.find('{')) != std::string::npos;) {
    const size_t close = std::min(line.find('}', open), line.size());
    const std::string name(line.substr(open + 1, close - open - 1));
    const auto found = std::ranges::find(names, name);
    if (found == names.end() || close == line.size())
      return Error{fmt::format("it has no parameter '{}'", name)};
    result += line.substr(0, open);
    result += values[static_cast<size_t>(found - names.begin())];
    line.remove_prefix(close + 1);
  }
  return result + std::string(line);
}

// Splits "used receive 1, receive 2" into "used receive 1" and "used receive 2". Returns any other line as it is.
Lines statements_of(const std::string& line) {
  const size_t space = line.find(' ');
  const bool is_heading = !line.empty() && std::islower(static_cast<unsigned char>(line[0])) != 0;
  if (!is_heading || space == std::string::npos || line.find('(') != std::string::npos)
    return {line};
  Lines statements;
  std::istringstream sites(line.substr(space));
  for (std::string site; std::getline(sites, site, ',');)
    statements.push_back(line.substr(0, space) + site);
  return statements;
}

// Returns "match send 2" and "match receive 3", each with the lines of `body`, for "2 3 where k = k".
Lines both_ends(const std::string& text, const Lines& body) {
  const size_t where = std::min(text.find(" where "), text.size()), space = text.find(' ');
  const std::string send = "send " + text.substr(0, space);
  const std::string receive =
      "receive " +
      (space < where ? text.substr(space + 1, where - space - 1) : text.substr(0, where));
  Lines lines;
  for (const auto& [own, other] : {std::pair(send, receive), {receive, send}}) {
    lines.push_back("match " + own);
    for (const std::string& hint : body) lines.push_back(std::string(kIndent, ' ') + hint);
    lines.push_back(std::string(kIndent, ' ') + "with " + other + text.substr(where));
  }
  return lines;
}

// Returns the statement "keys k" with `from` and `to`.
Lines key_interval(const std::string& statement, const Lines& body) {
  std::string from = statement.substr(kKeys.size()), to;
  Lines hints;
  for (const std::string& line : body)
    if (line.starts_with("from "))
      from = line.substr(5);
    else if (line.starts_with("to "))
      to = line.substr(3);
    else
      hints.push_back("  " + line);
  Lines lines = {statement, "  from " + from, "  to " + (to.empty() ? from + " + 1" : to)};
  lines.insert(lines.end(), hints.begin(), hints.end());
  return lines;
}

// True if the last statement of `lines` already has this hint, for all its witnesses or for the last one.
bool is_known_hint(const Lines& lines, const std::string& hint) {
  const size_t indent = hint.find_first_not_of(' ');
  if (!hint.substr(indent).starts_with("use ")) return false;
  bool for_all = false, for_last = false, in_witness = false;
  for (const std::string& line : lines) {
    if (line.find_first_not_of(' ') < indent) {
      for_all = for_last = in_witness = false;
    } else if (line.substr(indent).starts_with("with ")) {
      in_witness = true;
      for_last = false;
    } else if (line == hint) {
      (in_witness ? for_last : for_all) = true;
    }
  }
  return for_all || for_last;
}

class Expansion {
 public:
  Result<Lines> run(const Lines& lines, int first_line) {
    Lines expanded;
    for (size_t i = 0; i < lines.size();) {
      const std::string& line = lines[i];
      const int number = first_line + static_cast<int>(i++);
      const size_t indent = std::min(line.find_first_not_of(' '), line.size());
      const bool has_body = i < lines.size() && is_indented(lines[i]);
      const Lines statements = has_body ? statements_of(line) : Lines{line};
      std::string error;
      if (line.starts_with(kComment)) {
        continue;
      } else if (line.starts_with(kFragment)) {
        error = define(line.substr(kFragment.size()), body_of(lines, i), number);
      } else if (line.substr(indent).starts_with(kInclude)) {
        error = include(line.substr(indent + kInclude.size()), indent, number, expanded);
      } else if (line.starts_with(kBoth) || line.starts_with(kKeys)) {
        const Result<Lines> body = run(body_of(lines, i), number + 1);
        if (!body.ok()) return body.error();
        const Lines written = line.starts_with(kBoth) ? both_ends(line.substr(kBoth.size()), *body)
                                                      : key_interval(line, *body);
        expanded.insert(expanded.end(), written.begin(), written.end());
      } else if (statements.size() > 1) {
        const Result<Lines> body = run(body_of(lines, i), number + 1);
        if (!body.ok()) return body.error();
        for (const std::string& statement : statements) {
          expanded.push_back(statement);
          for (const std::string& part : *body)
            expanded.push_back(std::string(kIndent, ' ') + part);
        }
      } else {
        expanded.push_back(line);
      }
      if (!error.empty()) return Error{error};
    }
    return expanded;
  }

 private:
  static bool is_indented(const std::string& line) {
    return line.starts_with(std::string(kIndent, ' '));
  }

  // Returns the indented lines from line i on, without their indentation. Moves i past them.
  static Lines body_of(const Lines& lines, size_t& i) {
    Lines body;
    for (; i < lines.size() && is_indented(lines[i]); ++i) body.push_back(lines[i].substr(kIndent));
    return body;
  }

  std::string define(const std::string& text, const Lines& body, int line) {
    const Heading heading = heading_of(text);
    if (body.empty()) return fmt::format("{}: fragment '{}' has no lines", line, heading.name);
    Result<Lines> lines = run(body, line + 1);
    if (!lines.ok()) return lines.error().message;
    for (const std::string& part : *lines) {
      const Result<std::string> tried = put_in(part, heading.arguments, heading.arguments);
      if (!tried.ok())
        return fmt::format("{}: fragment '{}': {}", line, heading.name, tried.error().message);
    }
    const bool is_new =
        fragments_.try_emplace(heading.name, Fragment{heading.arguments, *lines}).second;
    return is_new ? "" : fmt::format("{}: there is a fragment '{}' already", line, heading.name);
  }

  std::string include(const std::string& text, size_t indent, int line, Lines& expanded) {
    const Heading heading = heading_of(text);
    const auto found = fragments_.find(heading.name);
    if (found == fragments_.end())
      return fmt::format("{}: no fragment '{}' stands above", line, heading.name);
    const Fragment& fragment = found->second;
    if (fragment.parameters.size() != heading.arguments.size())
      return fmt::format("{}: fragment '{}' takes {} arguments, not {}", line, heading.name,
                         fragment.parameters.size(), heading.arguments.size());
    for (const std::string& part : fragment.lines) {
      const std::string added =
          std::string(indent, ' ') + *put_in(part, fragment.parameters, heading.arguments);
      if (!is_known_hint(expanded, added)) expanded.push_back(added);
    }
    return "";
  }

  std::map<std::string, Fragment> fragments_;
};

}  // namespace

Result<std::string> put_in_fragments(const std::vector<TextFile>& files) {
  Expansion expansion;
  std::string result;
  for (const TextFile& file : files) {
    std::istringstream stream(file.text);
    Lines lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    const Result<Lines> expanded = expansion.run(lines, 1);
    if (!expanded.ok()) return Error{file.name + ":" + expanded.error().message};
    result.clear();
    for (const std::string& line : *expanded) result += line + "\n";
  }
  return result;
}

}  // namespace quadrille
