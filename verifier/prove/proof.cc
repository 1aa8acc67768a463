// Reads a proof's lines into statements. The planner reads what they say, as it knows the names in them.
#include "verifier/prove/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "verifier/decode.h"

namespace quadrille::verifier {
namespace {

// "00 15 ..." appended to bytes; false where it is not hexadecimal.
bool append_bytes(std::string_view text, std::vector<uint8_t>& bytes) {
  for (size_t at = 0; at < text.size(); at += 3) {
    uint8_t byte = 0;
    const char* first = text.data() + at;
    if (text.size() - at < 2 || (text.size() - at > 2 && first[2] != ' ')) return false;
    const auto [end, error] = std::from_chars(first, first + 2, byte, 16);
    if (error != std::errc() || end != first + 2) return false;
    bytes.push_back(byte);
  }
  return true;
}

// The first words of the lines of each kind of statement.
const std::map<std::string, std::set<std::string>>& line_words() {
  static const std::map<std::string, std::set<std::string>> kWords = {
      {"define", {"as"}},
      {"lemma", {"given", "show", "induction", "use"}},
      {"theorem", {"given", "show", "induction", "use"}},
      {"refute", {"given", "show"}},
      {"match", {"with", "use", "rewrite"}},
      {"held", {"with", "use", "rewrite"}},
      {"base", {"with", "use"}},
      {"combine", {"use"}},
      {"used", {"with", "use"}},
      {"carries", {"source", "number", "target", "remote"}},
      {"apart", {"use", "rewrite"}},
      {"cover", {"with", "use"}},
      {"once", {"use", "rewrite"}},
      {"copies", {"with", "use"}},
      {"keys", {"from", "to", "use"}},
      {"order", {"use"}},
      {"defined", {"use"}},
      {"fits", {"use"}},
      {"deadlock", {"given", "with", "use"}},
      {"port", {"use", "inside"}}};
  return kWords;
}

bool may_hold(const std::string& kind, const std::string& word) {
  return line_words().at(kind).count(word) > 0;
}

class ProofReader {
 public:
  // `program`: what is proven, or null where the proof brings it.
  ProofReader(const Program* program, std::string_view text, const std::string& source)
      : known_(program), text_(text), source_(source) {
    proof_.source = source;
    if (program) proof_.program = *program;
  }

  Result<Proof> run() {
    if (!known_ || text_.starts_with("proof ")) heading();
    if (error_.empty()) statements();
    if (!error_.empty()) return Error{error_};
    return std::move(proof_);
  }

 private:
  void fail(int line, const std::string& message) {
    if (error_.empty()) error_ = fmt::format("{}:{}: {}", source_, line, message);
  }

  // The lines before the first empty one; `text_` is left with the rest.
  void heading() {
    std::vector<uint8_t> names;
    while (error_.empty() && !text_.empty()) {
      const size_t end = std::min(text_.find('\n'), text_.size());
      const std::string_view line = text_.substr(0, end);
      text_.remove_prefix(std::min(end + 1, text_.size()));
      ++line_;
      if (line.empty()) break;
      const size_t space = std::min(line.find(' '), line.size());
      const std::string_view word = line.substr(0, space),
                             rest = line.substr(std::min(space + 1, line.size()));
      if (line_ == 1 && line != "proof 1")
        fail(line_, "not a proof that this verifier reads; the first line is 'proof 1'");
      if (word != "proof" && word != "algorithm" && word != "code" && word != "names")
        fail(line_, fmt::format("'{}' is no line of a proof's heading", word));
      if ((word == "code" && !append_bytes(rest, proof_.code)) ||
          (word == "names" && !append_bytes(rest, names)))
        fail(line_, "bytes are two hexadecimal digits each, with a space between");
    }
    if (!error_.empty()) return;
    Result<Program> program = decode_program(proof_.code, names, source_);
    if (!program.ok()) {
      error_ = program.error().message;
      return;
    }
    if (known_ && *known_ != *program)
      return fail(line_, "the code above is another program's; leave the heading out");
    proof_.program = std::move(program).value();
  }

  void statements() {
    // Behind empty lines in place of the heading, lines have the numbers that they have in the file.
    const std::string rest = std::string(line_, '\n') + std::string(text_);
    Result<std::vector<Line>> lines = split_lines(rest, source_);
    if (!lines.ok()) {
      error_ = lines.error().message;
      return;
    }
    for (Line& line : *lines) {
      if (line.indent > 0) {
        if (proof_.statements.empty())
          return fail(line.number, "indented without a statement before it");
        ProofStatement& statement = proof_.statements.back();
        if (!may_hold(statement.kind, line.tokens[0].text))
          return fail(line.number,
                      fmt::format("'{}' is no line of '{}'", line.tokens[0].text, statement.kind));
        statement.lines.push_back(std::move(line));
        continue;
      }
      LineReader reader(line, source_);
      ProofStatement statement;
      statement.line = line.number;
      statement.kind = reader.word("a statement");
      if (statement.kind == "include" || statement.kind == "fragment")
        return fail(line.number, "only the generator knows fragments; write their lines out here");
      if (line_words().count(statement.kind) == 0)
        return fail(line.number, fmt::format("'{}' is not a statement", statement.kind));
      subject(reader, statement);
      if (!reader.failed()) reader.finish();
      if (reader.failed()) {
        error_ = reader.error().message;
        return;
      }
      proof_.statements.push_back(std::move(statement));
    }
  }

  static void subject(LineReader& reader, ProofStatement& statement) {
    const std::string& kind = statement.kind;
    if (kind == "define" || kind == "lemma" || kind == "theorem" || kind == "refute") {
      statement.subject = reader.word("a name");
      reader.expect("(");
      while (!reader.failed() && !reader.accept(")")) {
        if (!statement.variables.empty()) reader.expect(",");
        statement.variables.push_back(reader.word("a variable"));
      }
    } else if (kind == "match" || kind == "held" || kind == "base" || kind == "combine" ||
               kind == "used" || kind == "once" || kind == "carries" || kind == "apart") {
      statement.subject = reader.word("send, receive, copy or reduce");
      statement.subject += " " + reader.take().text;
    } else if (kind == "keys") {
      statement.subject = reader.word("a loop");
    }
  }

  const Program* known_;
  std::string_view text_;
  const std::string& source_;
  int line_ = 0;
  Proof proof_;
  std::string error_;
};

}  // namespace

Result<Proof> parse_proof(std::string_view text, const std::string& source) {
  return ProofReader(nullptr, text, source).run();
}

Result<Proof> parse_proof_of(const Program& program, std::string_view text,
                             const std::string& source) {
  return ProofReader(&program, text, source).run();
}

}  // namespace quadrille::verifier
