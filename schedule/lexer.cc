// Splits lines into tokens, and reads expressions from tokens. Precedence, lowest first: c ? a : b; or; and; comparisons;
// + -; * div mod xor. a > b is read as b < a. Tested by tests/schedule/text_test.cc.
#include "schedule/lexer.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>

#include "schedule/limits.h"

namespace quadrille {
namespace {

constexpr std::array<std::string_view, 4> kLongSymbols = {"..", "<=", ">=", "!="};
constexpr size_t kMaxTokens = 1000;  // of a statement; this bounds the recursion of its reader
// The magnitude of INT64_MIN. It is too great for a positive number, so it is only read after a minus.
constexpr uint64_t kGreatestMagnitude = uint64_t{1} << 63;
constexpr std::string_view kSymbols = "=<>+-*?:()[],@";

// What other languages write, and what stands for it here. Of symbols that begin alike, the longer one comes first.
struct Habit {
  std::string_view foreign, here;
};
constexpr auto kForeignSymbols = std::to_array<Habit>({
    {"==", "write '='"},
    {"=>", "write '>='"},
    {"=<", "write '<='"},
    {"<>", "write '!='"},
    {"<<", "multiply by an entry of 'table pow = powers(2, ranks)'"},
    {">>", "write 'div', with an entry of 'table pow = powers(2, ranks)'"},
    {":=", "write '='"},
    {"->", "write 'to'"},
    {"&&", "write 'and'"},
    {"||", "write 'or'"},
    {"**", "declare 'table t = powers(r, m)', whose entries are 1, r, r*r, .."},
    {"//", "write 'div', or '--' before a comment"},
    {"/*", "write '--' before a comment"},
    {"%", "write 'mod'"},
    {"/", "write 'div', which rounds down"},
    {"#", "write '--' before a comment"},
    {"!", "write the opposite comparison, such as '!=' or '<='"},
    {"~", "write the opposite comparison, such as '!=' or '<='"},
    {"^", "write 'xor', or declare 'table t = powers(r, m)'"},
    {"&", "write 'and'; 'mod' and 'div' take digits"},
    {"|", "write 'or'; 'xor' works on bits"},
    {"{", "indent what is inside"},
    {"}", "indent what is inside"},
    {"\t", "write spaces, not a tab"},
    {".", "numbers are integers, and '..' stands between bounds"},
    {"\"", "names stand without quotes"},
    {"'", "names stand without quotes"},
});
constexpr auto kForeignWords = std::to_array<Habit>({
    {"not", "write the opposite comparison, such as '!=' or '<='"},
    {"true", "write '0 = 0'"},
    {"false", "write '0 = 1'"},
    {"size", "write 'ranks'"},
    {"np", "write 'ranks'"},
    {"nprocs", "write 'ranks'"},
    {"p", "write 'ranks', or declare it"},
    {"n", "write 'ranks', or declare it"},
    {"me", "write 'rank'"},
    {"my_rank", "write 'rank'"},
    {"myrank", "write 'rank'"},
    {"log", "take 'locate(pow, x)' of 'table pow = powers(2, ranks)'"},
    {"log2", "take 'locate(pow, x)' of 'table pow = powers(2, ranks)'"},
    {"pow", "declare 'table pow = powers(2, ranks)', and write pow[i]"},
    {"ceil", "write '(a + b - 1) div b'"},
    {"floor", "write 'div', which rounds down"},
    {"abs", "write 'max(x, 0 - x)'"},
    {"sum", "declare 'table s = prefix(t)'"},
    {"range", "write 'for i in 0 .. n'"},
    {"then", "write 'c ? a : b'"},
    {"while", "write 'for i in a .. b'"},
    {"elif", "write 'else', and 'if' in a line below it, indented"},
    {"elseif", "write 'else', and 'if' in a line below it, indented"},
    {"end", "indentation says where a body ends"},
    {"endif", "indentation says where a body ends"},
    {"done", "indentation says where a body ends"},
    {"break", "let the bounds of 'for' end the loop"},
    {"continue", "write 'if' around the rest of the body"},
    {"return", "write 'if' around the rest of the body"},
    {"isend", "write 'send', which never blocks"},
    {"irecv", "write 'receive', which never blocks"},
    {"wait", "a step waits for earlier ones; 'after' says for which"},
    {"barrier", "a step waits for earlier ones; 'after' says for which"},
    {"sendrecv", "write 'send' and 'receive' in one step"},
    {"round", "write 'step', with its key"},
    {"var", "write 'let'"},
    {"int", "write 'let'"},
    {"def", "write 'let' for a value"},
    {"memcpy", "write 'copy'"},
});

// Returns the token that starts at text[at], if one does.
std::optional<Token> token_at(std::string_view text, size_t at) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  size_t end = at;
  while (end < text.size() && is_word(text[end])) ++end;
  if (end > at) {
    Token token{Token::Kind::kWord, std::string(text.substr(at, end - at))};
    if (!std::isdigit(static_cast<unsigned char>(text[at]))) return token;
    token.kind = Token::Kind::kNumber;
    uint64_t number = 0;
    const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, number);
    if (error != std::errc() || stop != text.data() + end || number > kGreatestMagnitude)
      return std::nullopt;
    token.number = static_cast<int64_t>(number);
    return token;
  }
  for (std::string_view symbol : kLongSymbols)
    if (text.substr(at, 2) == symbol) return Token{Token::Kind::kSymbol, std::string(symbol)};
  for (const Habit& habit : kForeignSymbols)
    if (text.substr(at).starts_with(habit.foreign)) return std::nullopt;
  if (kSymbols.find(text[at]) == std::string_view::npos) return std::nullopt;
  return Token{Token::Kind::kSymbol, std::string(1, text[at])};
}

// Returns the first `most` bytes of the text, or a few more so that no UTF-8 character is cut. "..." marks a cut.
std::string shortened(std::string_view text, size_t most) {
  size_t end = std::min(text.size(), most);
  while (end < text.size() && (text[end] & 0xc0) == 0x80) ++end;
  return std::string(text.substr(0, end)) + (end < text.size() ? "..." : "");
}

// Returns the error message for a number that is too great.
std::string too_great(std::string_view number) {
  return fmt::format("{} is too great; the greatest number is {}", shortened(number, 24),
                     INT64_MAX);
}

// Returns an error message that says why no token starts at text[at].
std::string why_no_token(std::string_view text, size_t at) {
  for (const Habit& habit : kForeignSymbols)
    if (text.substr(at).starts_with(habit.foreign))
      return fmt::format("{} is no part of the language; {}",
                         habit.foreign == "\t" ? "a tab" : fmt::format("'{}'", habit.foreign),
                         habit.here);
  const size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
  const std::string_view number = text.substr(at, end - at);
  const bool is_word = end < text.size() &&
                       (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_');
  if (!number.empty() && !is_word) return too_great(number);
  return fmt::format("'{}' is no part of the language; see docs/language.md",
                     shortened(text.substr(at), 12));
}

// Splits one line of text into statements at `;`. Each has the indentation of the line.
std::optional<Error> split_line(std::string_view text, int number, const std::string& source,
                                std::vector<Line>& lines) {
  text = text.substr(0, text.find("--"));
  const size_t indent = text.find_first_not_of(' ');
  if (indent == std::string_view::npos) return std::nullopt;
  Line line{number, static_cast<int>(indent), 0, {}};
  for (size_t at = indent; at < text.size();) {
    if (text[at] == ' ' || text[at] == '\r') {
      ++at;
    } else if (text[at] == ';') {
      if (!line.tokens.empty()) lines.push_back(line);
      line.tokens.clear();
      ++at;
    } else {
      std::optional<Token> token = token_at(text, at);
      if (!token)
        return Error{fmt::format("{}:{}:{}: {}", source, number, at + 1, why_no_token(text, at))};
      token->column = static_cast<int>(at) + 1;
      at += token->text.size();
      line.end = static_cast<int>(at) + 1;
      line.tokens.push_back(std::move(*token));
      if (line.tokens.size() > kMaxTokens)
        return Error{fmt::format("{}:{}:{}: more than {} words in a statement; split it with let",
                                 source, number, line.tokens.back().column, kMaxTokens)};
    }
  }
  if (!line.tokens.empty()) lines.push_back(std::move(line));
  return std::nullopt;
}

Expression read_choice(LineReader& reader, const Scope& scope);

std::vector<Expression> read_arguments(LineReader& reader, const Scope& scope) {
  std::vector<Expression> arguments;
  reader.expect("(");
  if (reader.accept(")")) return arguments;
  do arguments.push_back(read_choice(reader, scope));
  while (reader.accept(",") && !reader.failed());
  reader.expect(")");
  return arguments;
}

int64_t read_table(LineReader& reader, const Scope& scope) {
  const std::string name = reader.word("a table");
  const auto index = scope.table(name);
  if (!index) reader.fail(fmt::format("'{}' is not a table; declare it with 'table'", name));
  return index.value_or(0);
}

// Reads the arguments of function `name`, of the language or the scope. Returns nothing if there is no such function.
std::optional<Expression> read_function(LineReader& reader, const Scope& scope,
                                        const std::string& name) {
  static const std::map<std::string, Operator, std::less<>> kFunctions = {
      {"min", Operator::kMinimum}, {"max", Operator::kMaximum}, {"wrap", Operator::kWrap}};
  if (name == "length" || name == "locate") {
    reader.expect("(");
    const int64_t table = read_table(reader, scope);
    Expression result = leaf(Operator::kLength, table);
    if (name == "locate") {
      reader.expect(",");
      result = apply(Operator::kLocate, {read_choice(reader, scope)}, table);
    }
    reader.expect(")");
    return result;
  }
  std::vector<Expression> arguments = read_arguments(reader, scope);
  if (const auto known = kFunctions.find(name); known != kFunctions.end()) {
    if (arguments.size() != 2) reader.fail(fmt::format("{}() takes two operands", name));
    return apply(known->second, std::move(arguments));
  }
  return scope.call ? scope.call(name, std::move(arguments)) : std::nullopt;
}

Expression read_primary(LineReader& reader, const Scope& scope) {
  static const std::map<std::string, Operator, std::less<>> kNullary = {
      {"rank", Operator::kRank},
      {"ranks", Operator::kRanks},
      {"remote_ranks", Operator::kRemoteRanks},
      {"group", Operator::kGroup},
      {"root", Operator::kRoot}};
  if (reader.accept("(")) {
    Expression inner = read_choice(reader, scope);
    reader.expect(")");
    return inner;
  }
  const Token token = reader.take();
  if (token.kind == Token::Kind::kNumber) {
    if (token.number < 0) reader.fail(too_great(token.text));
    return constant(token.number);
  }
  if (token.text == "-" && reader.peek().kind == Token::Kind::kNumber)
    return constant(static_cast<int64_t>(-static_cast<uint64_t>(reader.take().number)));
  if (token.kind == Token::Kind::kEnd) {
    reader.fail_next("a value is wanted before the end of the line");
    return constant(0);
  }
  if (token.kind != Token::Kind::kWord) {
    reader.fail(fmt::format("'{}' stands where a value is wanted{}", token.text,
                            token.text == "-" ? "; write '0 - x'" : ""));
    return constant(0);
  }
  if (const auto nullary = kNullary.find(token.text); nullary != kNullary.end())
    return leaf(nullary->second);
  if (reader.peek().text == "(") {
    if (auto result = read_function(reader, scope, token.text)) return *std::move(result);
    reader.fail_at(
        token.column,
        unknown_word(token.text, "is not a function; there are min, max, wrap, length and locate"));
    return constant(0);
  }
  if (reader.accept("[")) {
    const auto table = scope.table(token.text);
    if (!table)
      reader.fail(fmt::format("'{}' is not a table; declare it with 'table'", token.text));
    Expression index = read_choice(reader, scope);
    reader.expect("]");
    return apply(Operator::kElement, {std::move(index)}, table.value_or(0));
  }
  if (auto named = scope.name(token.text)) return *std::move(named);
  if (token.text == "if") reader.fail("'if' begins a statement; in a value, write 'c ? a : b'");
  if (is_reserved(token.text))
    reader.fail(
        fmt::format("'{}' stands where a value is wanted; functions have parentheses", token.text));
  reader.fail(
      unknown_word(token.text, "is not defined here; name a variable in scope or a parameter"));
  return constant(0);
}

// Reads operands with `next`, joined from the left by operators of one precedence.
template <class Next>
Expression read_chain(LineReader& reader,
                      const std::map<std::string, Operator, std::less<>>& operators, Next next) {
  Expression left = next();
  for (;;) {
    const auto found = operators.find(reader.peek().text);
    if (found == operators.end() || reader.failed()) return left;
    reader.take();
    left = apply(found->second, {std::move(left), next()});
  }
}

Expression read_product(LineReader& reader, const Scope& scope) {
  static const std::map<std::string, Operator, std::less<>> kOperators = {
      {"*", Operator::kMultiply},
      {"div", Operator::kDivide},
      {"mod", Operator::kModulo},
      {"xor", Operator::kXor}};
  return read_chain(reader, kOperators, [&] { return read_primary(reader, scope); });
}

Expression read_comparison(LineReader& reader, const Scope& scope) {
  Expression left = read_sum(reader, scope);
  const std::string symbol = reader.peek().text;
  const auto compare = [&](Operator op, bool swapped) {
    reader.take();
    Expression right = read_sum(reader, scope);
    return swapped ? apply(op, {std::move(right), std::move(left)})
                   : apply(op, {std::move(left), std::move(right)});
  };
  if (symbol == "=") return compare(Operator::kEqual, false);
  if (symbol == "!=") return compare(Operator::kNotEqual, false);
  if (symbol == "<") return compare(Operator::kLess, false);
  if (symbol == "<=") return compare(Operator::kLessEqual, false);
  if (symbol == ">") return compare(Operator::kLess, true);
  if (symbol == ">=") return compare(Operator::kLessEqual, true);
  return left;
}

Expression read_conjunction(LineReader& reader, const Scope& scope) {
  static const std::map<std::string, Operator, std::less<>> kAnd = {{"and", Operator::kAnd}};
  return read_chain(reader, kAnd, [&] { return read_comparison(reader, scope); });
}

Expression read_choice(LineReader& reader, const Scope& scope) {
  Expression condition = read_conjunction(reader, scope);
  while (!reader.failed() && reader.accept("or"))
    condition = either(std::move(condition), read_conjunction(reader, scope));
  if (!reader.accept("?")) return condition;
  Expression chosen = read_choice(reader, scope);
  reader.expect(":");
  return apply(Operator::kChoose,
               {std::move(condition), std::move(chosen), read_choice(reader, scope)});
}

}  // namespace

Result<std::vector<Line>> split_lines(std::string_view text, const std::string& source) {
  std::vector<Line> lines;
  int number = 0;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    if (auto error = split_line(text.substr(start, end - start), ++number, source, lines))
      return *error;
    start = end + 1;
  }
  return lines;
}

const Token& LineReader::peek(size_t ahead) const {
  static const Token kEnd;
  return next_ + ahead < line_.tokens.size() ? line_.tokens[next_ + ahead] : kEnd;
}

Token LineReader::take() {
  Token token = peek();
  if (next_ < line_.tokens.size()) ++next_;
  return token;
}

bool LineReader::accept(std::string_view text) {
  if (peek().kind == Token::Kind::kEnd || peek().text != text) return false;
  take();
  return true;
}

void LineReader::expect(std::string_view text) {
  if (!accept(text)) fail_next(fmt::format("expected '{}' before {}", text, next_text()));
}

std::string LineReader::word(const char* what) {
  if (peek().kind != Token::Kind::kWord)
    fail_next(fmt::format("expected {} before {}", what, next_text()));
  return take().text;
}

void LineReader::finish() {
  if (peek().kind != Token::Kind::kEnd)
    fail_next(fmt::format("{} is left over; a statement ends before it{}", next_text(),
                          peek().text == ":"    ? ", without ':'"
                          : peek().text == "if" ? ", and 'if' begins a line of its own"
                                                : ""));
}

std::string LineReader::next_text() const {
  return peek().kind == Token::Kind::kEnd ? "the end of the line"
                                          : fmt::format("'{}'", shortened(peek().text, 40));
}

void LineReader::fail(const std::string& message) {
  fail_at(line_.tokens[next_ == 0 ? 0 : next_ - 1].column, message);
}

void LineReader::fail_next(const std::string& message) {
  fail_at(peek().kind == Token::Kind::kEnd ? line_.end : peek().column, message);
}

void LineReader::fail_at(int column, const std::string& message) {
  if (error_) return;
  error_ = Error{fmt::format("{}:{}:{}: {}", source_, line_.number, column, message)};
  error_column_ = column;
}

Expression read_expression(LineReader& reader, const Scope& scope) {
  return read_choice(reader, scope);
}

Expression read_sum(LineReader& reader, const Scope& scope) {
  static const std::map<std::string, Operator, std::less<>> kOperators = {
      {"+", Operator::kAdd}, {"-", Operator::kSubtract}};
  return read_chain(reader, kOperators, [&] { return read_product(reader, scope); });
}

std::string unknown_word(std::string_view word, std::string_view otherwise) {
  const auto* const habit = std::ranges::find(kForeignWords, word, &Habit::foreign);
  return habit == kForeignWords.end()
             ? fmt::format("'{}' {}", word, otherwise)
             : fmt::format("'{}' is no word of the language; {}", word, habit->here);
}

bool is_reserved(std::string_view word) {
  return std::string_view(QD_RESERVED_WORDS).find(fmt::format(" {} ", word)) !=
         std::string_view::npos;
}

}  // namespace quadrille
