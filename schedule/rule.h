// How a parameter is chosen that is given at the call, where the call does not give it: a block
// size, from the counts that all ranks know. The numbers are part of the file format
// (runtime/program/table_format.h); the arithmetic is runtime/block_size.h.
#ifndef QUADRILLE_SCHEDULE_RULE_H_
#define QUADRILLE_SCHEDULE_RULE_H_

#include <cstdint>
#include <optional>
#include <string>

namespace quadrille {

// A value of 1 or more is always that; others are these.
enum Rule : int64_t {
  kRuleNone = 0,    // nothing is chosen
  kRuleLeast = -1,  // the least count that is not 0
  kRuleModel = -2,  // the optimum of the linear model, in closed form
  kRuleAuto = -3,   // the best of the linear model, rounds counted exactly
};

// What the linear model says of a message: it takes alpha + beta * bytes.
struct LinearModel {
  int64_t alpha_ns = 0;  // a message
  int64_t beta_ps = 0;   // a byte
  friend bool operator==(const LinearModel&, const LinearModel&) = default;
};
// No part of a model is greater.
inline constexpr int64_t kMaxCost = 1000000000;

inline bool uses_model(int64_t rule) { return rule == kRuleModel || rule == kRuleAuto; }

// "min", "model", "auto", "4096"; kRuleNone is "none", which no text names.
std::string rule_text(int64_t rule);
// The rule of this name: "min", "model" or "auto". Nothing where it is none of them.
std::optional<int64_t> rule_named(const std::string& text);

}  // namespace quadrille

#endif  // QUADRILLE_SCHEDULE_RULE_H_
