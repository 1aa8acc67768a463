// Reads the lines of a proof's statements, with the names that are known at a place of the program.
#ifndef QUADRILLE_VERIFIER_PROVE_READER_H_
#define QUADRILLE_VERIFIER_PROVE_READER_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "verifier/prove/axioms.h"
#include "verifier/prove/proof.h"
#include "verifier/prove/sites.h"

namespace quadrille::verifier {

// The meaning of names in an expression of a proof: unknowns, which are the variables of expressions, and names for
// expressions over them.
struct View {
  std::vector<std::string> unknowns;
  Names names;  // values over the unknowns and, where it is defined, `rank`
  bool has_rank = false;
};

// The view of a site, step or loop body: its loop variables are the unknowns.
View view_of(const std::vector<std::string>& variables, const Names& names);

struct Lemma {
  std::string name;
  size_t variables;
  std::vector<Expression> given;
  Expression show;
  // By induction over one variable from low to high; low and high do not name it.
  struct Induction {
    int variable;
    Expression low, high;
  };
  std::optional<Induction> induction;
};

// A `with` line names a site, the values of its loop variables, and when it applies.
struct Witness {
  Site::Kind kind;
  int64_t number;
  std::vector<std::pair<std::string, Expression>> values;
  std::optional<Expression> condition;
};

class ProofLines {
 public:
  ProofLines(const Proof& proof, const Anatomy& anatomy) : proof_(proof), anatomy_(anatomy) {}

  // What an expression must be: a condition, a number, or a number before "to".
  enum class Wanted { kCondition, kNumber, kBound };

  // Each fails with a message that names the line. The first word of the line is skipped.
  Result<Expression> expression(const Line& line, const View& view, Wanted wanted) const;
  Result<Witness> witness(const Line& line, const View& view) const;
  // "induction x from LOW to HIGH"
  Result<Lemma::Induction> induction(const Line& line, const View& view) const;

  // Adds the fact that a `use` line brings, as a condition over the view. Adds nothing if the view does not know a
  // name in it, or if the fact is there already.
  void use(const Line& line, const View& view, std::vector<Expression>& facts) const;

  // The first `use` line so far whose fact, or an argument of it, grew too large in a view that knows its names.
  const Line* too_large() const { return too_large_use_; }

  // A line is used if its expressions were read or its fact was added. Says why a line was not used so far.
  void take_up(const Line& line) const { taken_up_.insert(&line); }
  std::optional<std::string> why_unused(const Line& line) const;
  // Why views left out a `use` or `rewrite` line so far.
  std::optional<std::string> why_left_out(const Line& line) const;

  // A `rewrite` line: a lemma whose conditions must be shown, and the two sides of its equality.
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
  std::map<std::string, Definition> defined_;  // names that the proof defines
  mutable bool too_large_ = false;             // whether the last expression read is
  mutable const Line* too_large_use_ = nullptr;
  mutable std::set<const Line*> taken_up_;
  // The reason why views left out a `use` line. It is that of the view that knew most of its names, up to that column.
  struct LeftOut {
    int column = 0;
    std::string why;
  };
  mutable std::map<const Line*, LeftOut> left_out_;
};

// given... implies show, as an expression.
Expression implication(const std::vector<Expression>& given, const Expression& show);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_READER_H_
