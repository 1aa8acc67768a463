// Tested by tests/cli/compare_test.sh.
#include "generator/sizes.h"

#include <fmt/core.h>

#include "simulate/flags.h"

namespace quadrille {

Result<std::vector<int64_t>> read_sizes(const std::string& text) {
  const size_t dots = text.find("..");
  const Result<int64_t> low = read_bytes("--bytes", text.substr(0, dots), 1);
  if (!low.ok()) return low.error();
  if (dots == std::string::npos) return std::vector<int64_t>{*low};
  const Result<int64_t> high = read_bytes("--bytes", text.substr(dots + 2), 1);
  if (!high.ok()) return high.error();
  if (*low > *high)
    return Error{fmt::format("--bytes: '{}' has no sizes; give LOW..HIGH, as in 8..1MiB", text)};
  std::vector<int64_t> sizes;
  for (int64_t size = *low; size < *high; size *= 4) sizes.push_back(size);
  sizes.push_back(*high);
  return sizes;
}

}  // namespace quadrille
