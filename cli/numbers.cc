// Tested by tests/cli/verifier_test.sh and tests/cli/generator_test.sh.
#include "cli/numbers.h"

#include <fmt/core.h>

#include "cli/quantity.h"

namespace quadrille::cli {

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  if (!quantity_whole(text.data(), text.size(), INT64_MIN, INT64_MAX, &value)) return std::nullopt;
  return value;
}

Result<std::vector<int64_t>> read_numbers(const std::string& flag, const std::string& text) {
  std::vector<int64_t> numbers;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    const auto number = whole_number(std::string_view(text).substr(start, end - start));
    if (!number)
      return Error{fmt::format("{}: '{}' is not a list of numbers like 3,0,5", flag, text)};
    numbers.push_back(*number);
    start = end + 1;
  }
  return numbers;
}

Result<StepRange> read_steps(const std::string& text) {
  StepRange range;
  if (text.empty()) return range;
  const auto read = [](const std::string& part, std::optional<int64_t>& end) {
    end = whole_number(part);
    return part.empty() || end.has_value();
  };
  const size_t dots = text.find("..");
  if (dots == std::string::npos || !read(text.substr(0, dots), range.low) ||
      !read(text.substr(dots + 2), range.high))
    return Error{fmt::format("--steps: '{}' is not LOW..HIGH", text)};
  if (range.low && range.high && *range.low >= *range.high)
    return Error{fmt::format("--steps: '{}' has no steps; give a LOW below HIGH", text)};
  return range;
}

}  // namespace quadrille::cli
