// Reads a proof's lines into statements. The planner, which knows the names in them, interprets them later.
#include "verifier/prove/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "schedule/reverse.h"
#include "schedule/sequence.h"
#include "verifier/decode.h"

namespace quadrille::verifier {
namespace {

// Appends "00 15 ..." to bytes. Returns false if it is not hexadecimal.
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

// For a kind of statement: what it names after its first word, and the first words that its lines may have.
struct StatementKind {
  ProofSubject subject;
  std::set<std::string> words;
};

const std::map<std::string, StatementKind> kKinds = {
    {"define", {ProofSubject::kName, {"as"}}},
    {"lemma", {ProofSubject::kName, {"given", "show", "induction", "use"}}},
    {"theorem", {ProofSubject::kName, {"given", "show", "induction", "use"}}},
    {"refute", {ProofSubject::kName, {"given", "show"}}},
    {"match", {ProofSubject::kSite, {"with", "use", "rewrite"}}},
    {"held", {ProofSubject::kSite, {"with", "use", "rewrite"}}},
    {"base", {ProofSubject::kSite, {"with", "use"}}},
    {"combine", {ProofSubject::kSite, {"use"}}},
    {"used", {ProofSubject::kSite, {"with", "use"}}},
    {"carries", {ProofSubject::kSite, {"source", "number", "target", "remote", "contributors"}}},
    {"apart", {ProofSubject::kSite, {"use", "rewrite"}}},
    {"once", {ProofSubject::kSite, {"use", "rewrite"}}},
    {"keys", {ProofSubject::kLoop, {"from", "to", "use"}}},
    {"cover", {ProofSubject::kNone, {"with", "use"}}},
    {"copies", {ProofSubject::kNone, {"with", "use"}}},
    {"products", {ProofSubject::kNone, {"compare"}}},
    {"order", {ProofSubject::kNone, {"use"}}},
    {"defined", {ProofSubject::kNone, {"use"}}},
    {"fits", {ProofSubject::kNone, {"use"}}},
    {"deadlock", {ProofSubject::kNone, {"given", "with", "use"}}},
    {"port", {ProofSubject::kNone, {"use", "inside", "lane"}}}};

class ProofReader {
 public:
  // `program` is the program to prove, or null if the proof's heading brings it. `line` lines stand above the text.
  ProofReader(const Program* program, std::string_view text, const std::string& source,
              int line = 0)
      : known_(program), text_(text), source_(source), first_(line + 1), line_(line) {
    proof_.source = source;
    if (program) proof_.program = *program;
  }

  Result<Proof> run() {
    if (!known_ || text_.starts_with(kFirstWord)) heading();
    if (error_.empty() && text_.starts_with(kFirstWord))
      halves();
    else if (error_.empty())
      statements();
    if (!error_.empty()) return Error{error_};
    return std::move(proof_);
  }

 private:
  static constexpr std::string_view kFirstWord = "proof ";

  void fail(int line, const std::string& message) {
    if (error_.empty()) error_ = fmt::format("{}:{}: {}", source_, line, message);
  }

  // Reads the lines before the first empty one, and leaves the rest in `text_`.
  void heading() {
    std::vector<uint8_t> names, original, original_names;
    const std::map<std::string_view, std::vector<uint8_t>*> sections = {
        {"code", &proof_.code},
        {"names", &names},
        {"original", &original},
        {"original-names", &original_names}};
    while (error_.empty() && !text_.empty()) {
      const size_t end = std::min(text_.find('\n'), text_.size());
      std::string_view line = text_.substr(0, end);
      text_.remove_prefix(std::min(end + 1, text_.size()));
      ++line_;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.empty()) break;
      const size_t space = std::min(line.find(' '), line.size());
      const std::string_view word = line.substr(0, space),
                             rest = line.substr(std::min(space + 1, line.size()));
      if (line_ == first_ && line != "proof 1")
        fail(line_, "not a proof that this verifier reads; the first line is 'proof 1'");
      const auto section = sections.find(word);
      if (section == sections.end() && word != "proof" && word != "algorithm")
        fail(line_, fmt::format("'{}' is no line of a proof's heading", word));
      if (section != sections.end() && !append_bytes(rest, *section->second))
        fail(line_, "bytes are two hexadecimal digits each, with a space between");
    }
    if (!error_.empty()) return;
    proof_.program = decoded(proof_.code, names);
    if (error_.empty() && known_ && *known_ != proof_.program)
      return fail(line_, "the code above is another program's; leave the heading out");
    if (original.empty() || !error_.empty()) return;
    proof_.reversal = std::exchange(proof_.program, decoded(original, original_names));
    if (!error_.empty()) return;
    const Result<Program> reversal = reverse(proof_.program);
    if (!reversal.ok()) return fail(line_, reversal.error().message);
    if (*reversal != *proof_.reversal)
      fail(line_, "the code above is not the reversal of the original");
  }

  Program decoded(const std::vector<uint8_t>& code, const std::vector<uint8_t>& names) {
    Result<Program> program = decode_program(code, names, source_);
    if (program.ok()) return std::move(program).value();
    error_ = program.error().message;
    return {};
  }

  // Reads the proofs of the two programs of a sequence.
  void halves() {
    const size_t end = text_.find("\n\nproof ");
    if (end == std::string_view::npos)
      return fail(line_ + 1, "a proof of one program; give that of the second below it");
    const std::string_view first = text_.substr(0, end + 1), second = text_.substr(end + 2);
    const auto lines = static_cast<int>(std::ranges::count(first, '\n'));
    if (second.find("\n\nproof ") != std::string_view::npos)
      return fail(line_ + 1, "more than two proofs; a sequence has two programs");
    Result<Proof> one = ProofReader(nullptr, first, source_, line_).run();
    Result<Proof> other = ProofReader(nullptr, second, source_, line_ + lines + 1).run();
    for (const Result<Proof>* read : {&one, &other})
      if (!read->ok() && error_.empty()) error_ = read->error().message;
    if (!error_.empty()) return;
    Result<Proof> both = sequence_proof(std::move(*one), std::move(*other));
    if (!both.ok()) return fail(line_, both.error().message);
    if (both->program != proof_.program)
      return fail(line_, "the code above is not the sequence of the two programs below");
    proof_.halves = std::move(both->halves);
  }

  void statements() {
    // Puts empty lines in place of the heading, so that line numbers are those of the file.
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
        if (kKinds.at(statement.kind).words.count(line.tokens[0].text) == 0)
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
      const auto kind = kKinds.find(statement.kind);
      if (kind == kKinds.end())
        return fail(line.number, fmt::format("'{}' is not a statement", statement.kind));
      statement.about = kind->second.subject;
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
    switch (statement.about) {
      case ProofSubject::kNone: return;
      case ProofSubject::kLoop: statement.subject = reader.word("a loop"); return;
      case ProofSubject::kSite:
        statement.subject = reader.word("send, receive, copy or reduce");
        statement.subject += " " + reader.take().text;
        return;
      case ProofSubject::kName: break;
    }
    statement.subject = reader.word("a name");
    reader.expect("(");
    while (!reader.failed() && !reader.accept(")")) {
      if (!statement.variables.empty()) reader.expect(",");
      const std::string name = reader.word("a variable");
      if (std::count(statement.variables.begin(), statement.variables.end(), name) > 0)
        reader.fail(fmt::format("a second '{}'", name));
      statement.variables.push_back(name);
    }
    const bool is_lemma = statement.kind == "lemma" || statement.kind == "theorem";
    statement.by_bits = is_lemma && !reader.failed() && reader.accept("by");
    if (statement.by_bits) reader.expect("bits");
  }

  const Program* known_;
  std::string_view text_;
  const std::string& source_;
  const int first_;  // the number of the first line
  int line_;
  Proof proof_;
  std::string error_;
};

}  // namespace

Result<Proof> parse_proof(std::string_view text, const std::string& source) {
  return ProofReader(nullptr, text, source).run();
}

Result<Proof> sequence_proof(Proof first, Proof second) {
  Result<Program> program = sequence(first.to_prove(), second.to_prove());
  if (!program.ok()) return program.error();
  first.half = Half::kFirst;
  second.half = Half::kSecond;
  Proof both;
  both.source = first.source;
  both.program = std::move(program).value();
  both.halves = {std::move(first), std::move(second)};
  return both;
}

Result<Proof> parse_proof_of(const Program& program, std::string_view text,
                             const std::string& source) {
  return ProofReader(&program, text, source).run();
}

}  // namespace quadrille::verifier
