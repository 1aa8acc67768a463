// A program taken apart for the prover: where it sends, receives, copies and reduces, under which conditions, and in
// which loops. Lets are replaced by their values. So every expression here names only `rank` and the variables of
// enclosing loops, which are numbered 0, 1, ... from the outermost.
#ifndef QUADRILLE_VERIFIER_PROVE_SITES_H_
#define QUADRILLE_VERIFIER_PROVE_SITES_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "schedule/program.h"

namespace quadrille::verifier {

// What must hold to come to a place: conditions and loop bounds, outermost first.
struct PathElement {
  enum class Kind { kCondition, kNegation, kLoop };
  Kind kind;
  Expression condition;   // kCondition, kNegation
  Expression low, high;   // kLoop: low <= variable < high
  int variable = 0;       // kLoop: its number
  std::string name = {};  // kLoop: as the program calls it
};
using Path = std::vector<PathElement>;

// Where a condition holds, or does not; and the iterations of a loop.
inline PathElement where(const Expression& condition, bool holds = true) {
  return {holds ? PathElement::Kind::kCondition : PathElement::Kind::kNegation, condition, {}, {}};
}
inline PathElement in_loop(std::string name, Expression low, Expression high, int variable) {
  return {PathElement::Kind::kLoop, {}, std::move(low), std::move(high), variable, std::move(name)};
}

// Makes an expression of two.
template <Operator op>
inline constexpr auto kOf = [](const Expression& a, const Expression& b) {
  return apply(op, {a, b});
};
inline constexpr auto both = kOf<Operator::kAnd>;
inline constexpr auto less = kOf<Operator::kLess>;
inline constexpr auto less_equal = kOf<Operator::kLessEqual>;
inline constexpr auto times = kOf<Operator::kMultiply>;

// Names that can be used at a place: loop variables and lets, the latter put in.
using Names = std::map<std::string, Expression>;

// What is read, or written, of a buffer.
struct Access {
  Buffer buffer = Buffer::kSend;
  Expression block;
  std::optional<Range> range = {};  // of the block; none: all of it
};

// A piece of a message, a token, a copy or a reduction.
struct Site {
  enum class Kind { kSend, kReceive, kCopy, kReduce };
  Kind kind;
  int index = 0;  // among all, in the order of the text
  int number;     // among the sites of its kind, from 1, in the order of the program
  Path path;
  std::vector<std::string> variables;  // names of the enclosing loops
  Names names;
  bool remote = false;  // a message of the two groups
  Expression peer;      // of a message
  std::optional<Access> from,
      to;                       // what it reads and writes; a token, but of a barrier, does neither
  std::optional<Side> combine;  // with what is there
  // Of the message that carries the piece: which one, the piece's place in it, and how much of path
  // and variables is the message's; the rest, loops over pieces and conditions, is the piece's.
  int message = -1, piece = 0;
  // The piece's place in the order of the message: pieces one of which is chosen share one.
  int place = 0;
  bool sized = false;  // the message is
  size_t outer_path = 0, outer_variables = 0;
  std::vector<int> inner_loops;  // which loops of the message's body it stands in

  bool is_message() const { return kind == Kind::kSend || kind == Kind::kReceive; }
  // What a piece of a message is of.
  const std::optional<Access>& moved() const { return kind == Kind::kReceive ? to : from; }
  bool in_body() const { return path.size() > outer_path || piece > 0; }
  // Where the message is, also without this piece.
  Path message_path() const { return {path.begin(), path.begin() + outer_path}; }
  int step = -1;           // index of the step it stands in; -1: none, what is done between steps
  std::vector<int> loops;  // around it, or its step: indices, outermost first
  int position = 0;        // of it, or its step, in the order of the text
};

struct StepSite {
  Path path;
  std::vector<int> loops;  // around it: indices, outermost first
  std::vector<std::string> variables;
  Names names;
  Expression key;
  std::optional<Expression> after;
  std::vector<int> sites;  // indices of the sites in it
  int position = 0;        // in the order of the text
};

// A loop around steps.
struct LoopSite {
  std::string name;
  Path path;  // to the loop, without its own bounds
  Expression low, high;
  int variable;
  Names names;                         // in the body
  std::vector<std::string> variables;  // the enclosing ones and its own
};

// What stands in a body, in order: steps and loops around steps, conditions put into their paths.
struct Item {
  bool is_loop;
  int index;  // into loops or steps
  Path path;
};

// An expression and the path to where it is evaluated: for definedness.
struct Place {
  Path path;
  Expression expression;
};

// A let as a function of rank and the variables of its enclosing loops.
struct Definition {
  Expression value;
  int variables;
};

struct Anatomy {
  std::vector<Site> sites;
  std::vector<StepSite> steps;
  std::vector<LoopSite> loops;
  std::vector<std::vector<Item>>
      bodies;  // bodies[0] is the program's, bodies[1 + i] that of loops[i]
  std::vector<Place> places;
  std::map<std::string, Definition> definitions;  // by name; the first of its name
  std::set<int64_t> searched;  // tables of expressions that the program searches: they must ascend
  std::string unsupported;     // what the prover does not know; empty
};

Anatomy take_apart(const Program& program);

// The expression with its variables and `rank` replaced.
Expression substitute(const Expression& expression, const std::vector<Expression>& variables,
                      const Expression& rank);

bool mentions_rank(const Expression& expression);
bool mentions_variable(const Expression& expression, int64_t number);

// How many operators and operands the expression has, and how many it would have after substitute(). kMostParts + 1
// stands for any number above kMostParts, so that nothing larger is ever made.
inline constexpr int64_t kMostParts = 10000;
int64_t parts(const Expression& expression);
int64_t parts_after(const Expression& expression, const std::vector<Expression>& variables,
                    const Expression& rank);

// Whether whatever is on the one path is, in that order, on the other, which then knows at least as much.
bool is_part_of(const Path& part, const Path& path);

// Wherever an expression's operators are partial: what must hold there. `and` and `? :` guard what they do not choose.
void partial_conditions(const Expression& e, Path path, std::vector<Place>& out);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_SITES_H_
