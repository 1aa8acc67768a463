// Counts for allgatherv: the six distributions of Traeff et al. 2008, and others that provoke errors.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace quadrille {

struct Distribution {
  std::string name;
  // Returns one count for each of `ranks` ranks. Their sum is about `total`.
  std::function<std::vector<int64_t>(int64_t ranks, int64_t total)> counts;
};

inline const std::vector<Distribution>& distributions() {
  using Counts = std::vector<int64_t>;
  static const std::vector<Distribution> kAll = {
      {"regular", [](int64_t p, int64_t m) { return Counts(p, m / p); }},
      {"broadcast",
       [](int64_t p, int64_t m) {
         Counts counts(p, 0);
         counts[p / 2] = m;
         return counts;
       }},
      {"spike",
       [](int64_t p, int64_t m) {
         Counts counts(p, m / (2 * p));
         counts[0] += m / 2;
         return counts;
       }},
      {"half",
       [](int64_t p, int64_t m) {
         Counts counts(p, 0);
         for (int64_t i = 0; i < (p + 1) / 2; ++i) counts[i] = 2 * m / (p + 1);
         return counts;
       }},
      {"decreasing",
       [](int64_t p, int64_t m) {
         Counts counts(p, 0);
         for (int64_t i = 0; i < p; ++i) counts[i] = 2 * m * (p - i) / (p * (p + 1));
         return counts;
       }},
      {"geometric",
       [](int64_t p, int64_t m) {
         Counts counts(p, 0);
         for (int64_t i = 0; i < p; ++i) counts[i] = m /= 2;
         return counts;
       }},
      {"zero", [](int64_t p, int64_t) { return Counts(p, 0); }},
      {"giant at the end",
       [](int64_t p, int64_t m) {
         Counts counts(p, 1);
         counts[p - 1] = m;
         return counts;
       }},
      {"alternating",
       [](int64_t p, int64_t m) {
         Counts counts(p, 0);
         for (int64_t i = 1; i < p; i += 2) counts[i] = 2 * m / p;
         return counts;
       }},
  };
  return kAll;
}

}  // namespace quadrille
