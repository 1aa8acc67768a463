// Evaluates terms by plain recursion. Numbers have 128 bits, so those of small jobs never overflow.
#include "tests/prove/terms.h"

#include <algorithm>

namespace quadrille {
namespace {

__int128 floor_quotient(__int128 a, __int128 b) {
  const __int128 quotient = a / b;
  return a % b < 0 ? quotient - 1 : quotient;
}

}  // namespace

Interpretation::Interpretation(const Job& job, int64_t seed)
    : ranks_(job.groups[0].ranks()), seed_(seed) {
  const std::vector<int64_t> sizes = job.groups[0].sizes();
  std::vector<int64_t> sums = {0}, distinct = {0};
  for (const int64_t size : sizes) {
    sums.push_back(sums.back() + size);
    if (distinct.back() != size) distinct.push_back(size);
  }
  tables_ = {{"nodes", sizes}, {"prefix_nodes", sums}, {"distinct_nodes", distinct}};
}

void Interpretation::define(const std::vector<z3::expr>& facts) {
  for (const z3::expr& fact : facts) {
    if (!fact.is_eq() || !fact.arg(0).is_const()) continue;
    const std::string name = fact.arg(0).decl().name().str();
    if (name.starts_with("qd_choice_")) defined_.emplace(name, fact.arg(1));
  }
}

__int128 Interpretation::anything(const std::string& name, __int128 a, __int128 b) const {
  const size_t mixed = std::hash<std::string>()(name) + 31 * static_cast<size_t>(a) +
                       977 * static_cast<size_t>(b) + 7919 * static_cast<size_t>(seed_);
  return static_cast<int64_t>(std::hash<std::string>()(std::to_string(mixed)) % 41) - 20;
}

__int128 Interpretation::symbol(const z3::expr& term) const {
  const std::string name = term.decl().name().str();
  if (const auto known = unknowns_.find(name); known != unknowns_.end()) return known->second;
  if (const auto known = defined_.find(name); known != defined_.end()) return number(known->second);
  if (name == "qd_ranks") return ranks_;
  const __int128 a = term.num_args() > 0 ? number(term.arg(0)) : 0;
  const __int128 b = term.num_args() > 1 ? number(term.arg(1)) : 0;
  if (name == "qd_times") return a * b;
  if (name == "qd_xor") return static_cast<int64_t>(a) ^ static_cast<int64_t>(b);
  if (name == "qd_quotient") return b > 0 ? floor_quotient(a, b) : anything(name, a, b);
  for (const auto& [table, entries] : tables_) {
    const auto size = static_cast<int64_t>(entries.size());
    if (name == "qd_length_" + table) return size;
    if (name == "qd_locate_" + table)
      return std::ranges::count_if(entries, [&](int64_t e) { return e <= a; }) - 1;
    if (name == "qd_" + table)
      return a >= 0 && a < size ? entries[static_cast<size_t>(a)] : anything(name, a, b);
  }
  check(false, ("no meaning: " + name).c_str());
  return 0;
}

__int128 Interpretation::number(const z3::expr& term) const {
  if (term.is_numeral()) return term.get_numeral_int64();
  const auto operand = [&](unsigned i) { return number(term.arg(i)); };
  switch (term.decl().decl_kind()) {
    case Z3_OP_UNINTERPRETED: return symbol(term);
    case Z3_OP_UMINUS: return -operand(0);
    case Z3_OP_IDIV: return floor_quotient(operand(0), operand(1));
    case Z3_OP_ITE: return holds(term.arg(0)) ? operand(1) : operand(2);
    default: break;
  }
  __int128 result = operand(0);
  for (unsigned i = 1; i < term.num_args(); ++i) switch (term.decl().decl_kind()) {
      case Z3_OP_ADD: result += operand(i); break;
      case Z3_OP_SUB: result -= operand(i); break;
      case Z3_OP_MUL: result *= operand(i); break;
      default: check(false, ("no number: " + term.to_string()).c_str());
    }
  return result;
}

bool Interpretation::holds(const z3::expr& condition) const {
  const auto each = [&](bool wanted) {
    for (unsigned i = 0; i < condition.num_args(); ++i)
      if (holds(condition.arg(i)) == wanted) return true;
    return false;
  };
  switch (condition.decl().decl_kind()) {
    case Z3_OP_TRUE: return true;
    case Z3_OP_FALSE: return false;
    case Z3_OP_AND: return !each(false);
    case Z3_OP_OR: return each(true);
    case Z3_OP_NOT: return !holds(condition.arg(0));
    case Z3_OP_IMPLIES: return !holds(condition.arg(0)) || holds(condition.arg(1));
    case Z3_OP_ITE: return holds(condition.arg(holds(condition.arg(0)) ? 1 : 2));
    default: break;
  }
  if (condition.decl().decl_kind() == Z3_OP_DISTINCT || condition.decl().decl_kind() == Z3_OP_EQ) {
    const bool equal = condition.arg(0).is_bool()
                           ? holds(condition.arg(0)) == holds(condition.arg(1))
                           : number(condition.arg(0)) == number(condition.arg(1));
    return equal == (condition.decl().decl_kind() == Z3_OP_EQ);
  }
  const __int128 a = number(condition.arg(0)), b = number(condition.arg(1));
  switch (condition.decl().decl_kind()) {
    case Z3_OP_LE: return a <= b;
    case Z3_OP_LT: return a < b;
    case Z3_OP_GE: return a >= b;
    case Z3_OP_GT: return a > b;
    default: check(false, ("no condition: " + condition.to_string()).c_str());
  }
  return false;
}

}  // namespace quadrille
