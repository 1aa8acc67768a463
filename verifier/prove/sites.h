// Takes a program apart for the prover: where it sends, receives, copies and reduces, under which conditions, and in
// which loops. Values replace the names of lets. So every expression here names only `rank` and the variables of
// enclosing loops, which are numbered 0, 1, ... from the outermost.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "schedule/program.h"

namespace quadrille::verifier {

// One condition or loop around a place of the program. A path lists them, outermost first.
struct PathElement {
  enum class Kind { kCondition, kNegation, kLoop };
  Kind kind;
  Expression condition;   // kCondition, kNegation
  Expression low, high;   // kLoop: low <= variable < high
  int variable = 0;       // kLoop: its number
  std::string name = {};  // kLoop: of the variable in the program
};
using Path = std::vector<PathElement>;

// Make elements of a path: a condition that holds, or does not hold; and the iterations of a loop.
inline PathElement where(const Expression& condition, bool holds = true) {
  return {holds ? PathElement::Kind::kCondition : PathElement::Kind::kNegation, condition, {}, {}};
}
inline PathElement in_loop(std::string name, Expression low, Expression high, int variable) {
  return {PathElement::Kind::kLoop, {}, std::move(low), std::move(high), variable, std::move(name)};
}

// Applies the operator to two expressions.
template <Operator op>
inline constexpr auto kOf = [](const Expression& a, const Expression& b) {
  return apply(op, {a, b});
};
inline constexpr auto both = kOf<Operator::kAnd>;
inline constexpr auto less = kOf<Operator::kLess>;
inline constexpr auto less_equal = kOf<Operator::kLessEqual>;
inline constexpr auto times = kOf<Operator::kMultiply>;

// The names that may be used at a place, with their values: loop variables and lets.
using Names = std::map<std::string, Expression>;

// A read or write of a buffer.
struct Access {
  Buffer buffer = Buffer::kSend;
  Expression block;
  std::optional<Range> range = {};  // within the block; if absent, the whole block
};

// One place in the program where data moves: a piece of a message, a token, a copy or a reduction.
struct Site {
  enum class Kind { kSend, kReceive, kCopy, kReduce };
  Kind kind;
  int index = 0;       // among all sites, in the order of the text
  int statement = -1;  // its number among the program's statements (ProgramPart)
  int number;          // among the sites of its kind, from 1, in the order of the text
  Path path;
  std::vector<std::string> variables;  // of the enclosing loops
  Names names;
  bool remote = false;  // whether the message goes to the other group
  Expression peer;      // of a message
  std::optional<Access> from,
      to;                       // what it reads and writes; outside barriers a token has neither
  std::optional<Side> combine;  // the side of the old data on which new data is combined
  // The message's number, and the piece's number in it. The first outer_path elements of `path` and outer_variables
  // elements of `variables` lead to the message. The others are conditions and loops inside it, around the piece.
  int message = -1, piece = 0;
  // The piece's position in the message. Pieces of which only one travels share a position.
  int place = 0;
  bool sized = false;  // whether the message is `sized`
  size_t outer_path = 0, outer_variables = 0;
  std::vector<int> inner_loops;  // numbers of the loops inside the message around the piece

  bool is_message() const { return kind == Kind::kSend || kind == Kind::kReceive; }
  // Where the piece's data comes from. For a receive: where it goes to.
  const std::optional<Access>& moved() const { return kind == Kind::kReceive ? to : from; }
  bool in_body() const { return path.size() > outer_path || piece > 0; }
  // The path to the message, without this piece.
  Path message_path() const { return {path.begin(), path.begin() + outer_path}; }
  int step = -1;  // index of the step around the site; -1: the site is a statement between steps
  std::vector<int> loops;  // indices of the loops around its step, or around it if it has none
  int position = 0;        // of its step (or of itself) in the text
};

struct StepSite {
  Path path;
  std::vector<int> loops;  // indices of the loops around the step, outermost first
  std::vector<std::string> variables;
  Names names;
  Expression key;
  std::optional<Expression> after;
  std::vector<int> sites;  // indices of the sites in the step
  int position = 0;        // in the order of the text
};

// A loop around steps.
struct LoopSite {
  int statement;  // its number among the program's statements
  std::string name;
  Path path;  // to the loop, without its own bounds
  Expression low, high;
  int variable;
  Names names;                         // in the body
  std::vector<std::string> variables;  // of the enclosing loops, and its own
};

// A step, or a loop around steps, in a body. The path includes the conditions around the item.
struct Item {
  bool is_loop;
  int index;  // into loops or steps
  Path path;
};

inline constexpr size_t kAllChecked = SIZE_MAX;  // all requirements are known to hold

// An expression, and the path to the place where the program evaluates it.
struct Evaluation {
  Path path;
  Expression expression;
  size_t checked =
      kAllChecked;     // how many of Anatomy's requirements were checked before, and so hold
  int statement = -1;  // the statement that has the expression; -1: a declaration
};

// The value of a let, as a function of `rank` and the variables of the loops around the let.
struct Definition {
  Expression value;
  int variables;
};

struct Anatomy {
  std::vector<Site> sites;
  std::vector<StepSite> steps;
  std::vector<LoopSite> loops;
  std::vector<std::vector<Item>>
      bodies;  // items in order: bodies[0] is the program's body, bodies[1 + i] that of loops[i]
  std::vector<Evaluation> evaluations;
  std::vector<Expression> requirements;  // in the order in which they are checked
  std::vector<size_t> checked;  // by table: how many requirements are checked before it is filled
  std::map<std::string, Definition> definitions;  // by name; the first of several with that name
  std::set<int64_t> searched;  // tables of expressions that `locate` searches, so they must ascend
  std::string unsupported;     // a feature of the program that the prover does not know, or empty
};

// If the program has an unsupported feature, the rest of the result may be incomplete.
Anatomy take_apart(const Program& program);

// Returns the expression with variables[i] for variable i, and `rank` for the rank.
Expression substitute(const Expression& expression, const std::vector<Expression>& variables,
                      const Expression& rank);

bool mentions_rank(const Expression& expression);
bool mentions_variable(const Expression& expression, int64_t number);

// Returns the error message for a program with an unsupported feature.
std::string unknown_feature(const std::string& feature);

// Return the number of operators and operands that the expression has, or would have after substitute(). Any number
// above kMostParts is returned as kMostParts + 1, so that callers can refuse to make such an expression.
inline constexpr int64_t kMostParts = 10000;
int64_t parts(const Expression& expression);
int64_t parts_after(const Expression& expression, const std::vector<Expression>& variables,
                    const Expression& rank);

// Whether all elements of `part` are on `path`, in that order. Then what holds after `part` holds after `path`.
bool is_part_of(const Path& part, const Path& path);

// Adds the conditions under which the expression's partial operators are defined, each with the path to the operator.
// The conditions of `and` and `? :` extend the path to the operands that they may skip.
void partial_conditions(const Expression& e, Path& path, std::vector<Evaluation>& out);

}  // namespace quadrille::verifier
