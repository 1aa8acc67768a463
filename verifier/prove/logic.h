// Translates expressions of the language into terms of Z3.
//
// Z3 gets linear arithmetic only. A number is a polynomial over atoms (variables, table entries, choices, quotients),
// so that products distribute here. A product of atoms is an uninterpreted function. Z3 knows that it commutes, and
// the instances of the axiom `monotone` that a proof asks for. A table is an uninterpreted function, too: axioms.cc
// states facts about it for the terms that occur. No query has a quantifier.
#pragma once

#include <z3++.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "schedule/program.h"

namespace quadrille::verifier {

// A polynomial with 64-bit coefficients. A monomial is a sorted list of atoms' numbers; the constant's is empty.
// Operators throw z3::exception if the result has too many terms or factors, or a coefficient leaves 64 bits.
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

// The context in which an expression is evaluated: a group, a rank of it, and the values of the variables.
struct Instance {
  int group;
  Polynomial rank;
  std::vector<Polynomial> variables;
};

class Logic {
 public:
  // `context` and `program` must outlive this. Queries share a context: making one takes longer than most queries.
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

  // A table of the program, with the entries that it has at the ranks of one group.
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
  // The name of the table's uninterpreted function, without its prefix.
  std::string symbol(TableOf table) const;
  // The count of a rank of a group, in bytes or elements. If the program has a table of counts, this is the table's
  // entry. Some collectives have one count for all ranks of both groups.
  Polynomial count(int group, const Polynomial& rank);
  Polynomial ranks(int group) {
    return atom(context_.int_const(group == 0 ? "qd_ranks" : "qd_ranks_1"));
  }

  // Replaces `left`, a table entry or a locate, by `right` in all later terms. The caller must have shown them equal.
  void rewrite(const Expression& left, const Expression& right, const Instance& instance);

  Polynomial root() { return fresh("root"); }

  // Leaves out the facts about prefix sums of tables of expressions. They hold only if all entries are at least 1.
  void doubt_sums() { sums_known_ = false; }

  // Brings `monotone` for every two products with a common factor that occur in the query (axioms.h).
  void compare_products() { compares_products_ = true; }

  // Assumes that no count of the call exceeds the limit.
  void bound_counts(int64_t limit) { greatest_count_ = limit; }

  // Returns the facts about all terms made so far: quotients, choices, commuting products, and the axioms of tables.
  std::vector<z3::expr> knowledge();

 private:
  // An operator (entry or locate), its table, and Z3's number of its argument's term.
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
  // Returns the table that stands for all equal ones: the one of the lowest index. One group's counts equal the other
  // group's remote counts.
  TableOf same(TableOf table) const { return same_.at(table); }
  TableOf source(TableOf table) const { return same({definition(table).source, table.group}); }
  // Returns a text that describes a table or expression. Tables with equal texts are equal.
  std::string meaning(TableOf table) const;
  std::string meaning(const Expression& expression, int group) const;
  // Returns a table's entry for use in a fact. Unlike element(), this does not bring further facts about the entry.
  Polynomial entry(TableOf table, const Polynomial& index) {
    return atom(apply(symbol(table), term(index)));
  }
  // Returns the term of a table's entry or locate. knowledge() states facts about each one.
  Polynomial applied(Operator op, TableOf table, const Polynomial& x);
  // Whether the table holds counts of a collective in which all ranks have the same count.
  bool is_one_count(int64_t table) const {
    return is_counts(program_.tables[table].kind) && has_one_count(program_.collective);
  }
  Polynomial one_count();
  // Returns the number of ranks that a table of nodes or counts, or a table made from one, describes.
  Polynomial ranks_of(TableOf table);
  bool made_of_nodes(TableOf table) const;
  // Whether a table holds prefix sums of entries of at least 1: of node sizes, or of a table of expressions, for
  // which an obligation shows this.
  bool adds_up(TableOf table) const;
  bool sums_counts(TableOf table) const;
  z3::expr apply(const std::string& name, const z3::expr& argument);

  void know(const z3::expr& fact) { known_.push_back(fact); }
  void know(const z3::expr& guard, const z3::expr& fact) { know(z3::implies(guard, fact)); }
  // Defined in axioms.cc:
  void know_element(const Application& application);
  Polynomial next_element(TableOf table, const Polynomial& index);
  void know_location(const Application& application);
  void know_pairs(TableOf table);
  void know_table(TableOf table);
  void know_products();

  const Program& program_;
  z3::context& context_;
  std::vector<z3::expr> atoms_;
  std::map<unsigned, int> atom_numbers_;  // by Z3's number of the term
  z3::func_decl multiply_;
  std::vector<z3::expr> known_;
  std::map<TableOf, TableOf> same_;
  std::vector<TableOf> tables_;  // one of each set of equal ones, after its source
  std::vector<Application> elements_, locations_;
  std::map<unsigned, bool> seen_products_;
  std::set<Polynomial::Monomial> products_;  // of two atoms or more, in all terms so far
  bool sums_known_ = true, compares_products_ = false;
  std::optional<int64_t> greatest_count_;
  std::map<Place, Polynomial> places_;
  std::map<unsigned, Polynomial> choices_;  // the unknown that stands for each choice
  std::vector<z3::expr> kept_;  // keeps terms alive, so that Z3 does not reuse their numbers
};

}  // namespace quadrille::verifier
