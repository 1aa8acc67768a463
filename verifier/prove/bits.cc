// Translates lemmas into terms over bit-vectors. tests/prove/bits_test.cc compares the terms' values with those of
// tests/support/evaluate.h.
#include "verifier/prove/bits.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "schedule/topology.h"

namespace quadrille::verifier {
namespace {

// Z3 multiplies wider numbers too slowly.
constexpr unsigned kMostBits = 48;
// The last entry that tables of powers of two have here, also outside their lengths.
constexpr int64_t kLastPower = 62;
// Each number has room for the lengths of tables of powers, and for ranks.
constexpr int64_t kLeast = kMaxRanks;

bool is_powers_of_two(const Table& table) {
  return table.kind == TableKind::kPowers && table.first == constant(2);
}

unsigned bits_for(const LemmaRanges& ranges) {
  const auto [low, high] = ranges.all;
  return 1 + std::bit_width(static_cast<uint64_t>(std::max({high, ~low, kLeast})));
}

class BitVectors {
 public:
  BitVectors(Query& query, const Program& program, const LemmaRanges& ranges)
      : q_(query), c_(query.context()), program_(program), bits_(bits_for(ranges)) {
    for (size_t v = 0; v < ranges.variables.size(); ++v) {
      const auto [low, high] = ranges.variables[v];
      variables_.push_back(unknown(fmt::format("v{}", v), low, high));
    }
  }

  z3::expr condition(const Expression& e) {
    const auto operand = [&](int i) { return condition(e.operands[i]); };
    if (e.op == Operator::kAnd) return operand(0) && operand(1);
    if (e.op == Operator::kChoose) return z3::ite(operand(0), operand(1), operand(2));
    const z3::expr a = number(e.operands[0]), b = number(e.operands[1]);
    switch (e.op) {
      case Operator::kEqual: return a == b;
      case Operator::kNotEqual: return a != b;
      case Operator::kLess: return a < b;
      default: return a <= b;
    }
  }

 private:
  // A number that is 2^exponent if `valid`, and else 0.
  struct Power {
    z3::expr exponent, valid;
  };

  z3::expr of(int64_t value) const { return c_.bv_val(value, bits_); }
  z3::expr truth(bool value) const { return c_.bool_val(value); }

  // Returns the unknown of this name, with inclusive bounds.
  z3::expr unknown(const std::string& name, int64_t low, int64_t high) {
    z3::expr result = c_.bv_const(("qd_" + name).c_str(), bits_);
    if (!known_.insert(name).second) return result;
    q_.suppose(of(low) <= result && result <= of(high));
    // Says the same of the digits, so that the solver need not compute with those that are 0.
    if (low >= 0) {
      const auto digits = static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(high)));
      q_.suppose(z3::lshr(result, of(digits)) == of(0));
    }
    return result;
  }

  const Table& table(const Expression& e) const { return program_.tables[e.value]; }

  z3::expr number(const Expression& e) {
    switch (e.op) {
      case Operator::kConstant: return of(e.value);
      case Operator::kVariable: return variables_[e.value];
      case Operator::kRanks: return ranks(q_.group);
      case Operator::kRemoteRanks: return ranks(1 - q_.group);
      case Operator::kGroup: return of(q_.group);
      case Operator::kRoot: return root();
      case Operator::kLength: return length(e);
      case Operator::kElement: {
        const Power power = *this->power(e);
        return z3::ite(power.valid, z3::shl(of(1), power.exponent), of(0));
      }
      case Operator::kLocate: return least(highest_digit(number(e.operands[0])), length(e) - of(1));
      case Operator::kChoose:
        return z3::ite(condition(e.operands[0]), number(e.operands[1]), number(e.operands[2]));
      default: return binary(e);
    }
  }

  z3::expr binary(const Expression& e) {
    const Expression& second = e.operands[1];
    const z3::expr a = number(e.operands[0]);
    if (e.op == Operator::kDivide) return quotient(a, second);
    if (e.op == Operator::kModulo) return remainder(a, second);
    if (e.op == Operator::kMultiply) return product(e);
    const z3::expr b = number(second);
    switch (e.op) {
      case Operator::kAdd: return a + b;
      case Operator::kSubtract: return a - b;
      case Operator::kMinimum: return least(a, b);
      case Operator::kMaximum: return z3::ite(a <= b, b, a);
      case Operator::kWrap: return z3::ite(a < of(0), a + b, z3::ite(b <= a, a - b, a));
      default: return a ^ b;
    }
  }

  static z3::expr least(const z3::expr& a, const z3::expr& b) { return z3::ite(a <= b, a, b); }

  z3::expr ranks(int group) { return unknown(group == 0 ? "ranks" : "ranks_1", 1, kMaxRanks); }

  z3::expr root() {
    z3::expr result = unknown("root", 0, kMaxRanks - 1);
    q_.suppose(result < ranks(0));
    return result;
  }

  z3::expr nodes(const Expression& length) {
    z3::expr result = unknown(fmt::format("length_{}", length.value), 1, kMaxRanks);
    const bool own = table(length).kind == TableKind::kNodes;
    q_.suppose(result <= ranks(own ? q_.group : 1 - q_.group));
    return result;
  }

  // Returns the greatest k for which 2^k <= x, or -1.
  z3::expr highest_digit(const z3::expr& x) {
    z3::expr result = of(-1);
    for (unsigned k = 0; k + 1 < bits_; ++k)
      result = z3::ite(of(int64_t{1} << k) <= x, of(k), result);
    return result;
  }

  z3::expr length(const Expression& e) {
    if (is_nodes(table(e).kind)) return nodes(e);
    const z3::expr limit = number(table(e).second);
    return z3::ite(limit <= of(1), of(1), highest_digit(limit - of(1)) + of(2));
  }

  // Returns the exponent of an expression that is a power of two, or a product of some.
  std::optional<Power> power(const Expression& e) {
    if (e.op == Operator::kConstant && e.value > 0) {
      const auto value = static_cast<uint64_t>(e.value);
      if (std::has_single_bit(value)) return Power{of(std::countr_zero(value)), truth(true)};
    }
    if (e.op == Operator::kElement) {
      const z3::expr index = number(e.operands[0]);
      return Power{index, of(0) <= index && index <= of(kLastPower)};
    }
    if (e.op != Operator::kMultiply) return std::nullopt;
    const std::optional<Power> a = power(e.operands[0]), b = power(e.operands[1]);
    if (!a || !b) return std::nullopt;
    return Power{a->exponent + b->exponent, a->valid && b->valid};
  }

  z3::expr product(const Expression& e) {
    const Expression &a = e.operands[0], &b = e.operands[1];
    if (const auto power = this->power(b)) return shifted(number(a), *power);
    if (const auto power = this->power(a)) return shifted(number(b), *power);
    return number(a) * number(b);
  }

  z3::expr shifted(const z3::expr& a, const Power& power) {
    return z3::ite(power.valid, z3::shl(a, power.exponent), of(0));
  }

  // A shift to the right that keeps the sign rounds down.
  z3::expr quotient(const z3::expr& a, const Expression& divisor) {
    if (const auto power = this->power(divisor))
      return z3::ite(power->valid, z3::ashr(a, power->exponent), of(0));
    const z3::expr b = number(divisor), sign = signs(a);
    return z3::ite(of(0) < b, z3::udiv(a ^ sign, b) ^ sign, of(0));
  }

  z3::expr remainder(const z3::expr& a, const Expression& divisor) {
    if (const auto power = this->power(divisor))
      return z3::ite(power->valid, a & (z3::shl(of(1), power->exponent) - of(1)), a);
    const z3::expr b = number(divisor), sign = signs(a);
    const z3::expr rest = z3::urem(a ^ sign, b);
    return z3::ite(of(0) < b, z3::ite(a < of(0), b - of(1) - rest, rest), a);
  }

  // Returns -1 where a < 0, and else 0. Then a xor this is -1 - a or a, which is never negative.
  z3::expr signs(const z3::expr& a) { return z3::ite(a < of(0), of(-1), of(0)); }

  Query& q_;
  z3::context& c_;
  const Program& program_;
  const unsigned bits_;
  std::vector<z3::expr> variables_;
  std::set<std::string> known_;
};

// Returns what bit-vectors do not know, if the expression has it, or the limit of a table of powers that it reads.
std::optional<std::string> unknown_part(const Program& program, const Expression& whole) {
  std::optional<std::string> result;
  any_part(whole, [&](const Expression& e) {
    if (e.op == Operator::kParameter) {
      result = fmt::format("parameter '{}'", program.parameters[e.value].name.text);
    } else if (reads_table(e.op)) {
      const Table& table = program.tables[e.value];
      if (is_powers_of_two(table))
        result = unknown_part(program, table.second);
      else if (e.op != Operator::kLength || !is_nodes(table.kind))
        result = fmt::format("table '{}'", table.name.text);
    }
    return result.has_value();
  });
  return result;
}

}  // namespace

std::optional<std::string> why_not_by_bits(const Program& program, const Lemma& lemma,
                                           const std::vector<std::string>& names,
                                           const LemmaRanges& ranges) {
  if (lemma.induction) return "a lemma by bits has no induction; remove the line, or 'by bits'";
  std::vector<Expression> all = lemma.given;
  all.push_back(lemma.show);
  for (const Expression& e : all)
    if (const auto part = unknown_part(program, e))
      return fmt::format(
          "a lemma by bits knows the tables of powers of two and the length of 'nodes', but not "
          "{}; "
          "make a variable of it, or remove 'by bits'",
          *part);
  for (size_t v = 0; v < names.size(); ++v)
    for (const bool below : {true, false}) {
      const auto [low, high] = ranges.variables[v];
      if (below ? low != INT64_MIN : high != INT64_MAX) continue;
      return fmt::format("a lemma by bits bounds its variables; add a line such as 'given {}'",
                         below ? "0 <= " + names[v] : names[v] + " < ranks");
    }
  if (const unsigned bits = bits_for(ranges); bits > kMostBits)
    return fmt::format(
        "its values may need {} bits, and a lemma by bits has {} at most; bound its variables "
        "more closely, or remove 'by bits'",
        bits, kMostBits);
  return std::nullopt;
}

void ask_by_bits(Query& query, const Program& program, const Lemma& lemma,
                 const LemmaRanges& ranges) {
  query.bit_vectors = true;
  BitVectors bits(query, program, ranges);
  for (const Expression& given : lemma.given) query.suppose(bits.condition(given));
  query.goal = bits.condition(lemma.show);
  query.mutant = !query.goal;
}

}  // namespace quadrille::verifier
