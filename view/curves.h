// Plots times over sizes: one curve for each algorithm, the bound, and measurements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quadrille {

// A curve. `times` has the nanoseconds for each size, or nothing where there is no time.
struct Curve {
  std::string name;
  std::vector<std::optional<int64_t>> times;
  std::vector<bool> fitted = {};  // by size: follows from calls on fewer nodes; empty: none does
};

struct Curves {
  std::string title;
  std::vector<int64_t> bytes;  // the sizes, ascending
  std::vector<Curve> curves;
  std::optional<Curve> bound;   // no schedule takes less
  std::optional<Curve> native;  // measured times of the MPI library's own collective
};

// Returns one SVG with logarithmic axes, or an empty text if there is no time at all.
std::string curves_svg(const Curves& curves);

}  // namespace quadrille
