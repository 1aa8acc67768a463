// Splits the text form into indented lines and tokens, and reads expressions. Programs and proof files both use it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/expression.h"
#include "schedule/result.h"

namespace quadrille {

struct Token {
  enum class Kind { kWord, kNumber, kSymbol, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;
  int64_t number = 0;
  int column = 0;  // from 1
};

// One statement. `;` separates statements of one line of text; "--" starts a comment.
struct Line {
  int number = 0;  // from 1
  int indent = 0;  // in spaces
  int end = 0;     // the column after the last token
  std::vector<Token> tokens;
};

Result<std::vector<Line>> split_lines(std::string_view text, const std::string& source);

// Reads one line from the left. It keeps the first error; reading on after it is harmless. Errors name source, line
// and column.
class LineReader {
 public:
  LineReader(const Line& line, const std::string& source) : line_(line), source_(source) {}

  const Token& peek(size_t ahead = 0) const;
  Token take();
  bool accept(std::string_view text);  // takes the token if it is this word or symbol
  void expect(std::string_view text);
  std::string word(const char* what);  // takes a word; the error for any other token names `what`
  void finish();                       // fails if tokens are left

  void fail(const std::string& message);       // the error is at the token that was taken last
  void fail_next(const std::string& message);  // the error is at the next token
  void fail_at(int column, const std::string& message);
  bool failed() const { return error_.has_value(); }
  const Error& error() const { return *error_; }
  int error_column() const { return error_column_; }

 private:
  std::string next_text() const;  // "'word'", or a text for the end of the line

  const Line& line_;
  const std::string& source_;
  size_t next_ = 0;
  std::optional<Error> error_;
  int error_column_ = 0;
};

// Resolves the names in an expression. Each function returns nothing for an unknown name.
struct Scope {
  std::function<std::optional<Expression>(const std::string& name)> name;
  std::function<std::optional<int64_t>(const std::string& name)> table;
  // Resolves f(arguments) if f is no function of the language. May be empty.
  std::function<std::optional<Expression>(const std::string& name,
                                          std::vector<Expression> arguments)>
      call;
};

// read_expression() reads any expression, also "c ? a : b". read_sum() reads only operators from + and - upwards, so
// it stops before "..".
Expression read_expression(LineReader& reader, const Scope& scope);
Expression read_sum(LineReader& reader, const Scope& scope);

// Returns the error for a word that means nothing where it stands: "'word' OTHERWISE", or the right word if another language
// has this one.
std::string unknown_word(std::string_view word, std::string_view otherwise);

// True for words that cannot name a variable, a parameter or a table.
bool is_reserved(std::string_view word);

}  // namespace quadrille
