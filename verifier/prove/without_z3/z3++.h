// Stands for the header of Z3 where that is missing (Makefile). Terms are empty, and every question throws. So the verifier
// can be built without Z3. Then it refuses to prove.
#ifndef QUADRILLE_VERIFIER_PROVE_WITHOUT_Z3_Z3_H_
#define QUADRILLE_VERIFIER_PROVE_WITHOUT_Z3_Z3_H_

// clang-format off
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#define QUADRILLE_WITHOUT_Z3

enum { Z3_OP_UNINTERPRETED, Z3_OP_ITE, Z3_OP_AND, Z3_OP_IMPLIES };

namespace z3 {

struct exception : std::runtime_error {
  using runtime_error::runtime_error;
  const char* msg() const { return what(); }
};
enum check_result { unsat, sat, unknown };

// Stands for every class of Z3: terms, contexts, solvers and models.
struct object {
  object() = default;
  template <class First, class... Others>
  object(const First& /*part*/, const Others&... /*parts*/) {}

#define RETURNS(result, name) template <class... Any> result name(const Any&...) const { return {}; }
#define TERM(name) RETURNS(object, name)
  TERM(operator()) TERM(arg) TERM(bool_const) TERM(bool_val) TERM(bv_const) TERM(bv_val) TERM(decl) TERM(eval) TERM(function)
  TERM(get_model) TERM(get_sort) TERM(int_const) TERM(int_sort) TERM(int_val) TERM(mk_solver) TERM(name) TERM(add) TERM(set)
  TERM(push) TERM(pop) RETURNS(std::string, str) RETURNS(std::string, to_string) RETURNS(std::vector<object>, unsat_core)
  RETURNS(bool, is_and) RETURNS(bool, is_app) RETURNS(bool, is_implies) RETURNS(bool, is_numeral) RETURNS(bool, is_true)
  RETURNS(unsigned, decl_kind) RETURNS(unsigned, id) RETURNS(unsigned, num_args) RETURNS(int64_t, get_numeral_int64)
#undef RETURNS
#undef TERM
  template <class... Any> check_result check(const Any&...) { throw exception("Z3 was left out of this build"); }
  static object simple() { return {}; }
  object& ctx() const {
    static object context;
    return context;
  }
};
using context = object;
using expr = object;
using func_decl = object;
using model = object;
using params = object;
using solver = object;
using sort = object;
using tactic = object;
struct expr_vector : std::vector<object> {
  explicit expr_vector(object& /*context*/) {}
  static object& ctx() { return object().ctx(); }
};

#define MAKES(name) template <class... Any> object name(const object& /*one*/, const Any&...) { return {}; }
#define JOINS(sign) inline object operator sign(const object& /*one*/, const object& /*other*/) { return {}; }
MAKES(ashr) MAKES(implies) MAKES(ite) MAKES(lshr) MAKES(mk_and) MAKES(shl) MAKES(sum) MAKES(udiv) MAKES(ule) MAKES(ult) MAKES(urem)
JOINS(+) JOINS(-) JOINS(*) JOINS(/) JOINS(<) JOINS(<=) JOINS(>) JOINS(>=) JOINS(==) JOINS(!=) JOINS(&&) JOINS(||) JOINS(&) JOINS(|) JOINS(^)
#undef MAKES
#undef JOINS
inline object operator!(const object& /*one*/) { return {}; }

}  // namespace z3

inline z3::object Z3_translate(const z3::object& /*from*/, const z3::object& one, const z3::object& /*to*/) { return one; }
inline std::string Z3_get_full_version() { return ""; }

#endif  // QUADRILLE_VERIFIER_PROVE_WITHOUT_Z3_Z3_H_
