// Evaluates expressions by recursion over their tree. This is the oracle of every other evaluator.
#pragma once

#include "schedule/evaluate.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedule/binding.h"
#include "schedule/collective.h"

namespace quadrille {

struct Environment {
  Place place;
  std::span<const int64_t> parameters;
  std::span<const Entries> tables;
  std::vector<int64_t> variables;  // outermost first
};

// Returns the value; booleans are 0 and 1. Returns nullopt if there is no value, with the reason in *why.
inline std::optional<int64_t> evaluate(const Expression& e, const Environment& environment,
                                       Undefined* why) {
  const auto operand = [&](int i) { return evaluate(e.operands[i], environment, why); };
  const auto undefined = [&](Undefined reason) {
    *why = reason;
    return std::optional<int64_t>();
  };
  switch (e.op) {
    case Operator::kConstant: return e.value;
    case Operator::kParameter: return environment.parameters[e.value];
    case Operator::kVariable: return environment.variables[e.value];
    case Operator::kRank: return environment.place.rank;
    case Operator::kRanks: return environment.place.ranks;
    case Operator::kRemoteRanks: return environment.place.remote_ranks;
    case Operator::kGroup: return environment.place.group;
    case Operator::kRoot: return environment.place.root;
    case Operator::kLength: return static_cast<int64_t>(environment.tables[e.value].size());
    case Operator::kAnd: {
      const auto left = operand(0);
      return left && *left ? operand(1) : left;
    }
    case Operator::kChoose: {
      const auto condition = operand(0);
      if (!condition) return std::nullopt;
      return operand(*condition ? 1 : 2);
    }
    case Operator::kElement: {
      const Entries& table = environment.tables[e.value];
      const auto index = operand(0);
      if (!index) return std::nullopt;
      if (*index < 0 || *index >= static_cast<int64_t>(table.size()))
        return undefined(Undefined::kIndex);
      return table[*index];
    }
    case Operator::kLocate: {
      const auto x = operand(0);
      if (!x) return std::nullopt;
      return locate(environment.tables[e.value], *x);
    }
    default: break;
  }
  const auto left = operand(0);
  if (!left) return std::nullopt;
  const auto right = operand(1);
  if (!right) return std::nullopt;
  return apply_operator(e.op, *left, *right, why);
}

}  // namespace quadrille
