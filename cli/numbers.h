// Reads the values of flags: whole numbers, lists of them, and ranges of steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/result.h"

namespace quadrille::cli {

// Returns nothing if the text is not a whole number of 64 bits.
std::optional<int64_t> whole_number(std::string_view text);

// Reads "3,0,5". Errors begin with `flag`.
Result<std::vector<int64_t>> read_numbers(const std::string& flag, const std::string& text);

// The steps from `low` up to, not including, `high`. A missing end is open.
struct StepRange {
  std::optional<int64_t> low, high;
};
// Reads "LOW..HIGH", where either or both may be missing. An empty text means all steps. Errors begin with --steps.
Result<StepRange> read_steps(const std::string& text);

}  // namespace quadrille::cli
