// Expressions of the language as terms of a solver.
//
// Everything is linear for the solver. A number is a polynomial over atoms (variables, table entries, choices,
// quotients), so that products distribute. A product of unknowns is an uninterpreted function of its factors. The
// solver knows only that it commutes, and the instances of `monotone` that a proof asks for. A table is an
// uninterpreted function, too: axioms.cc states the facts about tables, and instantiates them for the terms that
// occur. No query has a quantifier.
#ifndef QUADRILLE_VERIFIER_PROVE_LOGIC_H_
#define QUADRILLE_VERIFIER_PROVE_LOGIC_H_

#include <z3++.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "schedule/program.h"

namespace quadrille::verifier {

// Coefficients by monomial, of 64 bits. A monomial is a sorted list of atoms, empty for the constant. A polynomial
// that would grow too large throws z3::exception.
class Polynomial {
 public:
  using Monomial = std::vector<int>;

  Polynomial() = default;
  Polynomial(int64_t value) { add({}, value); }
  static Polynomial constant(int64_t value) { return value; }
  static Polynomial atom(int number) {
    Polynomial result;
    result.add({number}, 1);
    return result;
  }

  Polynomial operator+(const Polynomial& other) const;
  Polynomial operator-(const Polynomial& other) const;
  Polynomial operator*(const Polynomial& other) const;

  const std::map<Monomial, int64_t>& terms() const { return terms_; }
  bool is_constant() const {
    return terms_.empty() || (terms_.size() == 1 && terms_.begin()->first.empty());
  }
  int64_t constant_value() const { return terms_.empty() ? 0 : terms_.begin()->second; }

 private:
  void add(const Monomial& monomial, int64_t coefficient);
  std::map<Monomial, int64_t> terms_;
};

// One use of an expression: the group whose ranks and tables it means, and the values of `rank` and of the variables.
struct Instance {
  int group;
  Polynomial rank;
  std::vector<Polynomial> variables;
};

class Logic {
 public:
  // All queries of a run share one context: making one takes longer than most queries.
  Logic(z3::context& context, const Program& program);

  z3::context& context() { return context_; }

  Polynomial fresh(const std::string& name);  // an unknown integer
  Polynomial number(const Expression& expression, const Instance& instance);
  z3::expr condition(const Expression& expression, const Instance& instance);

  z3::expr term(const Polynomial& polynomial);
  z3::expr less(const Polynomial& a, const Polynomial& b) { return term(a) < term(b); }
  z3::expr less_equal(const Polynomial& a, const Polynomial& b) { return term(a) <= term(b); }
  z3::expr equal(const Polynomial& a, const Polynomial& b) { return term(a) == term(b); }
  z3::expr truth(bool value) { return context_.bool_val(value); }

  // A table as ranks of a group know it.
  struct TableOf {
    int64_t index;
    int group;
    auto operator<=>(const TableOf&) const = default;
  };
  Polynomial element(TableOf table, const Polynomial& index) {
    return is_one_count(table.index) ? one_count() : applied(Operator::kElement, table, index);
  }
  Polynomial located(TableOf table, const Polynomial& x) {
    return applied(Operator::kLocate, table, x);
  }
  Polynomial length(TableOf table);
  // The solver's name for the table.
  std::string symbol(TableOf table) const;
  // The count of a rank of a group, in bytes or elements. It is an entry of the program's table of counts, if there is
  // one. Some collectives have one count for all ranks of both groups.
  Polynomial count(int group, const Polynomial& rank);
  Polynomial ranks(int group) {
    return atom(context_.int_const(group == 0 ? "qd_ranks" : "qd_ranks_1"));
  }

  // From now on the table entry, or the location, `left` is written as `right`. The caller must have shown them equal.
  void rewrite(const Expression& left, const Expression& right, const Instance& instance);

  Polynomial root() { return fresh("root"); }

  // Forgets the facts about sums of a table of expressions, until its entries are shown to be at least 1.
  void doubt_sums() { sums_known_ = false; }

  // No count of the call is greater.
  void bound_counts(int64_t limit) { greatest_count_ = limit; }

  // The facts about all terms made so far: definitions of quotients, commutativity, and the axioms of tables.
  std::vector<z3::expr> knowledge();

 private:
  // An operator, its table, and its argument's identity.
  using Place = std::tuple<Operator, TableOf, unsigned>;

  struct Application {
    TableOf table;
    Polynomial argument, result;
  };

  Polynomial atom(const z3::expr& expression);
  z3::expr product(const Polynomial::Monomial& monomial);
  Polynomial product(const Expression& a, const Expression& b, const Instance& instance);
  Polynomial binary(const Expression& expression, const Instance& instance);
  Polynomial quotient(const Polynomial& dividend, const Polynomial& divisor);
  Polynomial choice(const z3::expr& condition, const Polynomial& yes, const Polynomial& no);
  const Table& definition(TableOf table) const { return program_.tables[table.index]; }
  // Of two tables that are the same, such as the one's counts and the other's remote counts, the one of the lesser index
  // stands for both.
  TableOf same(TableOf table) const { return same_.at(table); }
  TableOf source(TableOf table) const { return same({definition(table).source, table.group}); }
  // One text for all tables that are the same.
  std::string meaning(TableOf table) const;
  std::string meaning(const Expression& expression, int group) const;
  // An entry to state facts about. It gets no facts of its own.
  Polynomial entry(TableOf table, const Polynomial& index) {
    return atom(apply(symbol(table), term(index)));
  }
  // The term for a place. A new one is remembered, for the facts about it.
  Polynomial applied(Operator op, TableOf table, const Polynomial& x);
  // A table whose entries all equal one count.
  bool is_one_count(int64_t table) const {
    return is_counts(program_.tables[table].kind) && has_one_count(program_.collective);
  }
  Polynomial one_count();
  // The ranks of the group that a table of nodes or counts, or one made from it, is about.
  Polynomial ranks_of(TableOf table);
  bool made_of_nodes(TableOf table) const;
  // Whether a table holds prefix sums of entries of at least 1: of nodes, or of a table of expressions, where an
  // obligation shows it.
  bool adds_up(TableOf table) const;
  bool sums_counts(TableOf table) const;
  z3::expr apply(const std::string& name, const z3::expr& argument);

  void know(const z3::expr& fact) { known_.push_back(fact); }
  void know(const z3::expr& guard, const z3::expr& fact) { know(z3::implies(guard, fact)); }
  // axioms.cc
  void know_element(const Application& application);
  Polynomial next_element(TableOf table, const Polynomial& index);
  void know_location(const Application& application);
  void know_pairs(TableOf table);
  void know_table(TableOf table);

  const Program& program_;
  z3::context& context_;
  std::vector<z3::expr> atoms_;
  std::map<unsigned, int> atom_numbers_;  // by the identity of the solver's term
  z3::func_decl multiply_;
  std::vector<z3::expr> known_;
  std::map<TableOf, TableOf> same_;
  std::vector<TableOf> tables_;  // each once, sources before the tables made from them
  std::vector<Application> elements_, locations_;
  std::map<unsigned, bool> seen_products_;
  bool sums_known_ = true;
  std::optional<int64_t> greatest_count_;
  std::map<Place, Polynomial> places_;
  std::map<unsigned, Polynomial> choices_;  // the name of each
  std::vector<z3::expr> kept_;              // terms keep their identity while they live
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_LOGIC_H_
