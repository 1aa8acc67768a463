// Reads the lines of a proof's statements, which may use the names that are known at a place of the program.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "verifier/prove/axioms.h"
#include "verifier/prove/proof.h"
#include "verifier/prove/sites.h"

namespace quadrille::verifier {

// The names that an expression of a proof may use: unknowns, which become variables 0, 1, ... of the expression, and
// names of expressions over them.
struct View {
  std::vector<std::string> unknowns;
  Names names;  // expressions over the unknowns, and over `rank` if has_rank
  bool has_rank = false;
};

// Returns the view of a site, step or loop body: its loop variables are the unknowns.
View view_of(const std::vector<std::string>& variables, const Names& names);

struct Lemma {
  std::string name;
  size_t variables;
  std::vector<Expression> given;
  Expression show;
  // Induction over one variable, from low to high inclusive. `low` and `high` do not name it.
  struct Induction {
    int variable;
    Expression low, high;
  };
  std::optional<Induction> induction;
};

// A `with` line: a site, the values of its loop variables, and the condition under which the witness applies.
struct Witness {
  Site::Kind kind;
  int64_t number;
  std::vector<std::pair<std::string, Expression>> values;
  std::optional<Expression> condition;
};

class ProofLines {
 public:
  ProofLines(const Proof& proof, const Anatomy& anatomy) : proof_(proof), anatomy_(anatomy) {}

  // What an expression must be: a condition, a number, or a bound of an induction (a number, before "to").
  enum class Wanted { kCondition, kNumber, kBound };

  // Read what follows the first word of a line. An error's message names the line.
  Result<Expression> expression(const Line& line, const View& view, Wanted wanted) const;
  Result<Witness> witness(const Line& line, const View& view) const;
  // "induction x from LOW to HIGH"
  Result<Lemma::Induction> induction(const Line& line, const View& view) const;

  // Adds the fact of a `use` line, as a condition over the view's unknowns. Adds nothing if the view lacks a name in
  // the line, or if `facts` has the fact already.
  void use(const Line& line, const View& view, std::vector<Expression>& facts) const;

  // Returns the first `use` line so far whose fact, or an argument of it, had more than kMostParts parts; or null.
  const Line* too_large() const { return too_large_use_; }

  // take_up() notes that an expression or fact of a line is used. why_unused() returns an error for other lines.
  void take_up(const Line& line) const { taken_up_.insert(&line); }
  std::optional<std::string> why_unused(const Line& line) const;
  // Returns the error message of a `use` or `rewrite` line that brought no fact in some view so far.
  std::optional<std::string> why_left_out(const Line& line) const;

  // A `rewrite` line's lemma: the conditions that must be shown, and the two sides of its equation.
  struct Rewrite {
    std::vector<Expression> given;
    Expression left, right;
    friend bool operator==(const Rewrite&, const Rewrite&) = default;
  };
  std::optional<Rewrite> rewrite(const Line& line, const View& view) const;

  void add_lemma(Lemma lemma) { lemmas_.push_back(std::move(lemma)); }
  void define(const std::string& name, size_t variables, Expression value) {
    defined_[name] = {std::move(value), static_cast<int>(variables)};
  }
  static Expression instance(const Lemma& lemma, const std::vector<Expression>& arguments);

 private:
  struct Call {
    std::string name;
    std::vector<AxiomArgument> arguments;
  };

  Scope scope(const View& view) const;
  Expression read(LineReader& reader, const View& view, Wanted wanted) const;
  Expression put_in(const Expression& expression, const std::vector<Expression>& arguments,
                    const Expression& rank) const;
  static std::vector<Expression> values_of(const Call& call);
  static bool fits(const Lemma& lemma, const std::vector<Expression>& arguments);
  std::optional<Call> call(const Line& line, const View& view) const;
  const Lemma* find_lemma(const Call& call) const;
  std::optional<Expression> fact(const Line& line, const View& view) const;
  void leave_out(const Line& line, int column, const std::string& why) const;

  const Proof& proof_;
  const Anatomy& anatomy_;
  std::vector<Lemma> lemmas_;
  std::map<std::string, Definition> defined_;  // by `define`
  mutable bool too_large_ = false;             // whether the last expression read is too large
  mutable const Line* too_large_use_ = nullptr;
  mutable std::set<const Line*> taken_up_;
  // Why a `use` line brought no fact. Of several views, this keeps the one that could read the line furthest.
  struct LeftOut {
    int column = 0;
    std::string why;
  };
  mutable std::map<const Line*, LeftOut> left_out_;
};

// Returns "all of `given` imply `show`" as an expression.
Expression implication(const std::vector<Expression>& given, const Expression& show);

}  // namespace quadrille::verifier
