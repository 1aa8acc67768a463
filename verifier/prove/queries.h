// The vocabulary in which obligations are written: what holds along a path, what a witness names,
// and "these guards imply these facts", each added to a query or made a condition of it.
#ifndef QUADRILLE_VERIFIER_PROVE_QUERIES_H_
#define QUADRILLE_VERIFIER_PROVE_QUERIES_H_

#include <optional>
#include <vector>

#include "verifier/prove/obligations.h"
#include "verifier/prove/reader.h"

namespace quadrille::verifier {

using Uses = std::vector<Expression>;
using Rewrites = std::vector<ProofLines::Rewrite>;

// A witness with the values of all variables of its site, in order.
struct Choice {
  int site;
  std::vector<Expression> values;
  std::optional<Expression> condition;
};

// ---- Hypotheses

void in_range(Query& q, const Instance& instance);
void assume(Query& q, const std::vector<Expression>& conditions, const Instance& instance);
void apply_rewrites(Query& q, const Rewrites& rewrites, const Instance& instance);

// ---- Conditions

// 0 <= number < end
std::vector<z3::expr> within(Query& q, const Polynomial& number, const Polynomial& end);
// What holds on the path, from that element of it on.
std::vector<z3::expr> along(Query& q, const Path& path, const Instance& instance, size_t from = 0);
void append(std::vector<z3::expr>& to, const std::vector<z3::expr>& more);
z3::expr all(Query& q, const std::vector<z3::expr>& conditions);
z3::expr negated(Query& q, const Expression& condition, const Instance& instance);

// ---- Witnesses

// That choice k of a list applies, the earlier ones not.
std::vector<z3::expr> applies(Query& q, const std::vector<Choice>& list, size_t k,
                              const Instance& instance);
// The site's instance that a choice names, at that rank.
Instance chosen(Query& q, const Choice& choice, const Instance& instance, const Polynomial& rank);
// That a list of choices, asked at `asked`, names this instance of this site and no other.
z3::expr names_instance(Query& q, const std::vector<Choice>& list, const Instance& asked, int site,
                        const Instance& instance);

// ---- Goals

// The goal: guards imply facts. Its mutant: guards imply `mutant`.
void show(Query& q, const std::vector<z3::expr>& guards, const std::vector<z3::expr>& facts,
          const z3::expr& mutant);
// The same where the guards may never hold: nothing can be said of a mutant.
void show(Query& q, const std::vector<z3::expr>& guards, const std::vector<z3::expr>& facts);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_QUERIES_H_
