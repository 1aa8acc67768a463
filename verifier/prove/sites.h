// A program taken apart for the prover: where it sends, receives, copies and reduces, under which conditions, and in
// which loops. Lets are replaced by their values. So every expression here names only `rank` and the variables of
// enclosing loops, which are numbered 0, 1, ... from the outermost.
#ifndef QUADRILLE_VERIFIER_PROVE_SITES_H_
#define QUADRILLE_VERIFIER_PROVE_SITES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "schedule/program.h"

namespace quadrille::verifier {

// The conditions and loop bounds on the way to a place, outermost first.
struct PathElement {
  enum class Kind { kCondition, kNegation, kLoop };
  Kind kind;
  Expression condition;   // kCondition, kNegation
  Expression low, high;   // kLoop: low <= variable < high
  int variable = 0;       // kLoop: its number
  std::string name = {};  // kLoop: as the program calls it
};
using Path = std::vector<PathElement>;

// A condition that holds, or does not; and the iterations of a loop.
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

// Names that can be used at a place: loop variables, and lets with their values put in.
using Names = std::map<std::string, Expression>;

// A read or write of a buffer.
struct Access {
  Buffer buffer = Buffer::kSend;
  Expression block;
  std::optional<Range> range = {};  // within the block; none: all of it
};

// A piece of a message, a token, a copy or a reduction.
struct Site {
  enum class Kind { kSend, kReceive, kCopy, kReduce };
  Kind kind;
  int index = 0;  // among all sites, in the order of the text
  int number;     // among the sites of its kind, from 1, in the order of the program
  Path path;
  std::vector<std::string> variables;  // names of the enclosing loops
  Names names;
  bool remote = false;  // a message between the two groups
  Expression peer;      // of a message
  std::optional<Access> from,
      to;                       // what it reads and writes; a token, but of a barrier, does neither
  std::optional<Side> combine;  // with the data there
  // The message that carries the piece, the piece's place in it, and how much of path and variables belongs to the
  // message. The rest, loops over pieces and conditions, belongs to the piece.
  int message = -1, piece = 0;
  // The piece's place in the order of the message. Alternative pieces share a place.
  int place = 0;
  bool sized = false;  // the message is
  size_t outer_path = 0, outer_variables = 0;
  std::vector<int> inner_loops;  // the loops of the message's body that contain it

  bool is_message() const { return kind == Kind::kSend || kind == Kind::kReceive; }
  // The access whose data the piece carries.
  const std::optional<Access>& moved() const { return kind == Kind::kReceive ? to : from; }
  bool in_body() const { return path.size() > outer_path || piece > 0; }
  // The path to the message, without this piece.
  Path message_path() const { return {path.begin(), path.begin() + outer_path}; }
  int step = -1;  // index of the step that contains it; -1: none, the statement is between steps
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

// An element of a body, in order: a step or a loop around steps. Conditions are put into their paths.
struct Item {
  bool is_loop;
  int index;  // into loops or steps
  Path path;
};

inline constexpr size_t kAllChecked = SIZE_MAX;  // of the requirements

// An expression and the path to where it is evaluated, for `defined`.
struct Place {
  Path path;
  Expression expression;
  size_t checked =
      kAllChecked;  // the requirements that were checked before, in the order of Anatomy
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
  std::vector<Expression> requirements;  // in the order in which they are checked
  std::vector<size_t> checked;           // by table: so many are checked before it is filled
  std::map<std::string, Definition> definitions;  // by name; the first of several with that name
  std::set<int64_t> searched;  // tables of expressions that are searched, so they must ascend
  std::string unsupported;     // a feature that the prover does not know; or empty
};

Anatomy take_apart(const Program& program);

// The expression with its variables and `rank` replaced.
Expression substitute(const Expression& expression, const std::vector<Expression>& variables,
                      const Expression& rank);

bool mentions_rank(const Expression& expression);
bool mentions_variable(const Expression& expression, int64_t number);

// The refusal of a program with an unsupported feature.
std::string unknown_feature(const std::string& feature);

// The number of operators and operands that the expression has, or would have after substitute(). kMostParts + 1
// stands for any number above kMostParts, so nothing larger is ever made.
inline constexpr int64_t kMostParts = 10000;
int64_t parts(const Expression& expression);
int64_t parts_after(const Expression& expression, const std::vector<Expression>& variables,
                    const Expression& rank);

// Whether all elements of `part` are on `path`, in that order. Then `path` knows at least as much.
bool is_part_of(const Path& part, const Path& path);

// The conditions under which the expression's partial operators are defined. `and` and `? :` guard the operands that
// they skip.
void partial_conditions(const Expression& e, Path path, std::vector<Place>& out);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_SITES_H_
