// Defines what operators compute, in exact 64-bit arithmetic, and the reasons why an expression has no value.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedule/expression.h"

namespace quadrille {

enum class Undefined : uint8_t { kNone, kOverflow, kDivisor, kIndex, kWrap, kEndless, kRegisters };
const char* describe(Undefined reason);

// Returns the result of an operator on two integers. Empty if it has none; *why then holds the reason.
std::optional<int64_t> apply_operator(Operator op, int64_t left, int64_t right, Undefined* why);
// Returns the index of the last entry that is not above x, or -1 if there is none.
int64_t locate(std::span<const int64_t> ascending, int64_t x);

}  // namespace quadrille
