// Reads the text form. Statements are lines, and blocks are indented. Names become indices as they are read, so the
// result equals what a decoder makes from bytes. Every error names the line. Tested by tests/schedule/text_test.cc
// (round trip, every refusal).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "schedule/lexer.h"
#include "schedule/text.h"

namespace quadrille {
namespace {

class ProgramReader {
 public:
  ProgramReader(std::vector<Line> lines, const std::string& source)
      : lines_(std::move(lines)), source_(source) {
    scope_.name = [this](const std::string& name) { return named(name); };
    scope_.table = [this](const std::string& name) { return table_named(name); };
  }

  Result<Program> run() {
    program_.temporary_blocks = constant(0);
    if (lines_.empty()) return Error{fmt::format("{}: no program in it", source_)};
    with_line([this](LineReader& reader) { heading(reader); });
    while (!failed() && next_ < lines_.size() && is_declaration(lines_[next_].tokens[0].text))
      with_line([this](LineReader& reader) { declaration(reader); });
    if (!failed()) program_.body = block(-1);
    if (failed()) return *error_;
    if (const std::optional<Flaw> flaw = find_flaw(program_)) return error_at(*flaw);
    return program_;
  }

  std::vector<int> lines_of_statements() const {
    std::vector<int> numbers;
    if (const auto found = places_.find(ProgramPart::kStatement); found != places_.end())
      for (const Line* line : found->second) numbers.push_back(line->number);
    return numbers;
  }

 private:
  bool failed() const { return error_.has_value(); }

  // Remembers that the current line holds a part of the program.
  void mark(ProgramPart part) { places_[part].push_back(&lines_[next_ - 1]); }

  Error error_at(const Flaw& flaw) const {
    const Line& line = *places_.at(flaw.part).at(flaw.index);
    return Error{
        fmt::format("{}:{}:{}: {}", source_, line.number, line.tokens[0].column, flaw.message)};
  }

  // Runs `read` over the next line and takes its error.
  template <class Read>
  void with_line(Read read) {
    const Line& line = lines_[next_++];
    LineReader reader(line, source_);
    read(reader);
    if (!reader.failed()) reader.finish();
    if (reader.failed()) error_ = reader.error();
  }

  static bool is_declaration(const std::string& word) {
    static const std::vector<std::string> kWords = {"port",    "in_place", "commutative",
                                                    "sums",    "window",   "parameter",
                                                    "require", "table",    "temporary"};
    return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
  }

  // Reads words that are joined by "-" and "+", such as "hierarchical-factor".
  static std::string hyphenated(LineReader& reader, const char* what) {
    std::string name = reader.word(what);
    while (reader.peek().text == "-" || reader.peek().text == "+") {
      name += reader.take().text;
      name += reader.word(what);
    }
    refuse_long(reader, name);
    return name;
  }

  static void refuse_long(LineReader& reader, const std::string& name) {
    if (name.size() > kMaxNameLength)
      reader.fail(fmt::format("a name has at most {} letters; this one has {}", kMaxNameLength,
                              name.size()));
  }

  static std::string collective_names() {
    std::string names;
    for (int i = 0; i < kCollectiveCount; ++i)
      names += fmt::format("{}{}", i ? ", " : "", name_of(static_cast<Collective>(i)));
    return names;
  }

  void heading(LineReader& reader) {
    mark(ProgramPart::kHeading);
    reader.expect("algorithm");
    program_.algorithm.text = hyphenated(reader, "a name");
    if (program_.algorithm.text.starts_with('_') || program_.algorithm.text.ends_with('_'))
      reader.fail("the name of an algorithm starts and ends with a letter or a digit");
    reader.expect("for");
    const std::string name = hyphenated(reader, "a collective");
    const auto collective = collective_named(name);
    if (!collective)
      reader.fail(
          fmt::format("'{}' is not a collective; choose one of {}", name, collective_names()));
    program_.collective = collective.value_or(Collective::kAlltoall);
    if (reader.accept("between")) {
      reader.expect("groups");
      program_.groups = 2;
    }
  }

  void declaration(LineReader& reader) {
    const std::string word = reader.word("a declaration");
    const bool stands_once = word != "parameter" && word != "require" && word != "table";
    if (stands_once && !words_.insert(word).second)
      reader.fail(fmt::format("'{}' is declared twice", word));
    if (word == "parameter") mark(ProgramPart::kParameter);
    if (word == "table") mark(ProgramPart::kTable);
    if (word == "require") mark(ProgramPart::kRequirement);
    if (word == "temporary") mark(ProgramPart::kTemporary);
    if (word == "port") return port(reader);
    if (word == "in_place") program_.in_place = true;
    if (word == "commutative") program_.commutative = true;
    if (word == "sums") {
      reader.expect("canonical");
      program_.canonical = true;
    }
    if (word == "window") program_.window = window(reader);
    if (word == "parameter") {
      Parameter parameter{{fresh_declaration(reader)}};
      if (reader.accept("at")) {
        reader.expect("call");
        parameter.at_call = true;
        parameter.over_trees = reader.accept("over");
        if (parameter.over_trees) reader.expect("trees");
      }
      program_.parameters.push_back(std::move(parameter));
    }
    if (word == "require") program_.requirements.push_back(read_expression(reader, scope_));
    if (word == "table") table(reader);
    if (word == "temporary") {
      program_.temporary_blocks = read_expression(reader, scope_);
      reader.expect("blocks");
    }
  }

  // Reads the name of a new parameter or table. Fails if it has been declared already.
  std::string fresh_declaration(LineReader& reader) {
    std::string name = fresh(reader);
    if (!declared_.insert(name).second) reader.fail(fmt::format("'{}' is declared twice", name));
    return name;
  }

  void port(LineReader& reader) {
    const std::string kind = hyphenated(reader, "a kind of port");
    const std::string first =
        program_.parameters.empty() ? "one" : program_.parameters[0].name.text;
    program_.port.kind = kind == "exchange"            ? PortKind::kExchange
                         : kind == "one+one"           ? PortKind::kSendReceive
                         : kind == first + "+" + first ? PortKind::kParameter
                                                       : PortKind::kNone;
    if (program_.port.kind == PortKind::kNone)
      reader.fail(
          "a port is 'exchange', 'one+one', or 'k+k' for the first parameter k, declared above");
    reader.expect("per");
    program_.port.per = reader.accept("node") ? PortScope::kNode : PortScope::kRank;
    if (program_.port.per == PortScope::kRank) reader.expect("rank");
  }

  int64_t window(LineReader& reader) {
    const Expression steps = read_expression(reader, scope_);
    if (steps.op != Operator::kConstant || steps.value < 1 || steps.value > kMaxWindow)
      reader.fail(fmt::format("a window is a number of steps, from 1 to {}", kMaxWindow));
    return steps.value;
  }

  void table(LineReader& reader) {
    Table table;
    table.name.text = fresh_declaration(reader);
    if (reader.accept("[")) {
      map_table(reader, table);
    } else {
      reader.expect("=");
      table_source(reader, table);
    }
    program_.tables.push_back(std::move(table));
  }

  // Reads what follows "[" in: table b[i in 0 .. n] = expression of i
  void map_table(LineReader& reader, Table& table) {
    table.kind = TableKind::kMap;
    table.index.text = fresh(reader);
    reader.expect("in");
    if (reader.take().text != "0") reader.fail("the index of a table starts at 0");
    reader.expect("..");
    table.first = read_sum(reader, scope_);
    reader.expect("]");
    reader.expect("=");
    variables_.push_back(table.index.text);
    table.second = read_expression(reader, scope_);
    variables_.pop_back();
  }

  void table_source(LineReader& reader, Table& table) {
    static const std::vector<std::pair<std::string, TableKind>> kSources = {
        {"nodes", TableKind::kNodes},       {"remote_nodes", TableKind::kRemoteNodes},
        {"counts", TableKind::kCounts},     {"remote_counts", TableKind::kRemoteCounts},
        {"prefix", TableKind::kPrefix},     {"distinct", TableKind::kDistinct},
        {"greatest", TableKind::kGreatest}, {"powers", TableKind::kPowers}};
    if (reader.peek().kind != Token::Kind::kWord) return literals(reader, table);
    const std::string source = reader.word("what the table is made of");
    const auto known = std::find_if(kSources.begin(), kSources.end(),
                                    [&](const auto& each) { return each.first == source; });
    if (known == kSources.end())
      return reader.fail(fmt::format("'{}' does not make a table; write numbers, or one of {}",
                                     source, fmt::join(std::views::keys(kSources), ", ")));
    table.kind = known->second;
    if (table.kind < TableKind::kPrefix) return;
    reader.expect("(");
    if (table.kind == TableKind::kPowers) {
      table.first = read_expression(reader, scope_);
      reader.expect(",");
      table.second = read_expression(reader, scope_);
    } else {
      const std::string name = reader.word("a table");
      const auto index = table_named(name);
      if (!index) reader.fail(fmt::format("'{}' is not a table; declare it with 'table'", name));
      table.source = index.value_or(0);
    }
    reader.expect(")");
  }

  // Reads the numbers of: table t = 3, -1, 2
  void literals(LineReader& reader, Table& table) {
    table.kind = TableKind::kLiteral;
    do {
      const Expression entry = read_sum(reader, scope_);
      if (entry.op != Operator::kConstant)
        reader.fail("an entry of a table of numbers is a number");
      table.entries.push_back(entry.value);
    } while (reader.accept(",") && !reader.failed());
  }

  // Reads the statements that are indented deeper than `outer`.
  Body block(int outer) {
    Body body;
    if (next_ >= lines_.size() || lines_[next_].indent <= outer) return body;
    const int indent = lines_[next_].indent;
    const size_t scope = variables_.size();
    while (!failed() && next_ < lines_.size() && lines_[next_].indent == indent)
      body.push_back(statement(indent));
    if (!failed() && next_ < lines_.size() && lines_[next_].indent > outer)
      error_ = Error{fmt::format("{}:{}:{}: indented unlike the statements before it", source_,
                                 lines_[next_].number, lines_[next_].indent + 1)};
    variables_.resize(scope);
    return body;
  }

  Statement statement(int indent) {
    Statement result;
    const std::string word = lines_[next_].tokens[0].text;
    with_line([&](LineReader& reader) {
      mark(ProgramPart::kStatement);
      reader.take();
      result = read_statement(reader, word);
    });
    if (failed()) return result;
    if (auto* loop = std::get_if<For>(&result.kind)) {
      variables_.push_back(loop->name.text);
      loop->body = block(indent);
      variables_.pop_back();
    } else if (auto* step = std::get_if<Step>(&result.kind)) {
      step->body = block(indent);
    } else if (auto* message = std::get_if<Message>(&result.kind)) {
      if (message->pieces.empty())
        message->pieces = block(indent);
      else
        places_[ProgramPart::kStatement].push_back(places_[ProgramPart::kStatement].back());
    } else if (auto* choice = std::get_if<If>(&result.kind)) {
      choice->then = block(indent);
      alternative(*choice, indent);
    } else if (auto* let = std::get_if<Let>(&result.kind)) {
      variables_.push_back(let->name.text);
    }
    return result;
  }

  bool next_is(int indent, std::string_view word) const {
    return !failed() && next_ < lines_.size() && lines_[next_].indent == indent &&
           lines_[next_].tokens[0].text == word;
  }

  void alternative(If& choice, int indent) {
    if (!next_is(indent, "else")) return;
    with_line([](LineReader& reader) { reader.take(); });
    choice.otherwise = block(indent);
  }

  Statement read_statement(LineReader& reader, const std::string& word) {
    if (word == "let") {
      Let let{{fresh(reader)}, {}};
      reader.expect("=");
      let.value = read_expression(reader, scope_);
      return {let};
    }
    if (word == "for") {
      For loop{{fresh(reader)}, {}, {}, {}};
      reader.expect("in");
      loop.low = read_sum(reader, scope_);
      reader.expect("..");
      loop.high = read_sum(reader, scope_);
      return {loop};
    }
    if (word == "if") return {If{read_expression(reader, scope_), {}, {}}};
    if (word == "step") return {step(reader)};
    if (word == "copy") {
      Copy copy{piece(reader), {}};
      reader.expect("to");
      copy.to = piece(reader);
      return {copy};
    }
    if (word == "reduce") return {reduce(reader)};
    return transfer(reader, word);
  }

  Step step(LineReader& reader) {
    Step step{read_expression(reader, scope_), std::nullopt, {}};
    if (reader.accept("after")) step.after = read_expression(reader, scope_);
    return step;
  }

  Reduce reduce(LineReader& reader) {
    Reduce reduce;
    reduce.side = reader.accept("right") ? Side::kRight : Side::kLeft;
    if (reduce.side == Side::kLeft) reader.expect("left");
    reduce.from = piece(reader);
    reader.expect("into");
    reduce.into = piece(reader);
    return reduce;
  }

  // Reads a message, or a piece in the body of one.
  Statement transfer(LineReader& reader, const std::string& word) {
    const bool message = word == "receive" || (word == "send" && reader.peek().text != "[");
    if (message)
      return {this->message(reader, word == "send" ? Direction::kSend : Direction::kReceive)};
    Transfer transfer;
    if (word == "recv" && reader.peek().text != "[")
      reader.fail("'recv' names a buffer; write 'receive' for a message");
    else if (reader.peek().text == "=")
      reader.fail(fmt::format("a value gets its name by 'let {} = ..'", word));
    else if (!piece_of(reader, word, transfer.piece))
      reader.fail(unknown_word(word, "does not start a statement; see docs/language.md"));
    return {transfer};
  }

  Message message(LineReader& reader, Direction direction) {
    Message message{direction, false, false, {}, {}};
    message.sized = reader.accept("sized");
    if (reader.accept("left"))
      message.combine = Side::kLeft;
    else if (reader.accept("right"))
      message.combine = Side::kRight;
    const std::string preposition = direction == Direction::kSend ? "to" : "from";
    if (!reader.accept("nothing") && reader.peek().text != preposition)
      message.pieces.push_back({Transfer{piece(reader)}});
    reader.expect(preposition);
    message.remote = reader.accept("remote");
    message.peer = read_expression(reader, scope_);
    return message;
  }

  Piece piece(LineReader& reader) {
    Piece piece;
    const std::string word = reader.word("a block");
    if (!piece_of(reader, word, piece))
      reader.fail(fmt::format("'{}' is not send, recv or temp", word));
    return piece;
  }

  bool piece_of(LineReader& reader, const std::string& word, Piece& piece) {
    if (word != "send" && word != "recv" && word != "temp") return false;
    piece.buffer = word == "send"   ? Buffer::kSend
                   : word == "recv" ? Buffer::kReceive
                                    : Buffer::kTemporary;
    reader.expect("[");
    piece.block = read_expression(reader, scope_);
    if (reader.peek().text == "..")
      reader.fail_next(fmt::format("a range stands behind its block: {}[0]@a..b", word));
    reader.expect("]");
    if (reader.accept("@")) {
      Expression low = read_sum(reader, scope_);
      reader.expect("..");
      piece.range = Range{std::move(low), read_sum(reader, scope_)};
    }
    return true;
  }

  std::string fresh(LineReader& reader) {
    std::string name = reader.word("a name");
    refuse_long(reader, name);
    if (is_reserved(name))
      reader.fail(fmt::format("'{}' is a word of the language; choose another name", name));
    return name;
  }

  std::optional<Expression> named(const std::string& name) const {
    const auto variable_at = std::find(variables_.rbegin(), variables_.rend(), name);
    if (variable_at != variables_.rend()) return variable(variables_.rend() - variable_at - 1);
    for (size_t i = 0; i < program_.parameters.size(); ++i)
      if (program_.parameters[i].name.text == name) return leaf(Operator::kParameter, i);
    return std::nullopt;
  }

  std::optional<int64_t> table_named(const std::string& name) const {
    for (size_t i = program_.tables.size(); i-- > 0;)
      if (program_.tables[i].name.text == name) return i;
    return std::nullopt;
  }

  std::vector<Line> lines_;
  const std::string& source_;
  size_t next_ = 0;
  Program program_;
  Scope scope_;
  std::vector<std::string> variables_;  // in scope, outermost first
  std::set<std::string> words_;         // that begin declarations and may stand once
  std::set<std::string> declared_;
  std::map<ProgramPart, std::vector<const Line*>> places_;
  std::optional<Error> error_;
};

}  // namespace

Result<Program> parse_program(std::string_view text, const std::string& source,
                              std::vector<int>* lines_of_statements) {
  Result<std::vector<Line>> lines = split_lines(text, source);
  if (!lines.ok()) return lines.error();
  ProgramReader reader(std::move(lines).value(), source);
  Result<Program> program = reader.run();
  if (lines_of_statements) *lines_of_statements = reader.lines_of_statements();
  return program;
}

}  // namespace quadrille
