// Evaluates terms of Z3 without Z3, for given values of their unknowns. The symbols of logic.h mean what the language
// says.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "schedule/binding.h"
#include "verifier/prove/logic.h"

namespace quadrille {

class Interpretation {
 public:
  // Tables `nodes`, `prefix_nodes` and `distinct_nodes` are those of the job. An entry outside a table, or a division
  // by a number below 1, has an arbitrary value, which depends on `seed`.
  Interpretation(const Job& job, int64_t seed);

  // Sets a table of the call, such as "table_0" or "prefix_table_1".
  void set_table(const std::string& name, std::vector<int64_t> entries) {
    tables_[name] = std::move(entries);
  }
  // Sets the value of an unknown, such as "v0_x".
  void set(const std::string& name, int64_t value) { unknowns_["qd_" + name] = value; }
  // If a fact equates a choice (qd_choice_...) to a term, the choice gets the value of that term.
  void define(const std::vector<z3::expr>& facts);

  __int128 number(const z3::expr& term) const;
  bool holds(const z3::expr& condition) const;

 private:
  __int128 symbol(const z3::expr& term) const;
  __int128 anything(const std::string& name, __int128 a, __int128 b) const;

  std::map<std::string, std::vector<int64_t>> tables_;
  int64_t ranks_, seed_;
  std::map<std::string, int64_t> unknowns_;
  std::map<std::string, z3::expr> defined_;
};

}  // namespace quadrille
