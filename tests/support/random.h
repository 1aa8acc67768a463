// Random draws for tests that make programs.
#pragma once

#include <cstdint>
#include <iterator>
#include <random>

namespace quadrille {

using Random = std::mt19937_64;

inline uint64_t below(Random& random, uint64_t limit) { return random() % limit; }
inline bool one_in(Random& random, uint64_t n) { return below(random, n) == 0; }

template <class List>
const auto& any_of(const List& list, Random& random) {
  return *(std::begin(list) + below(random, std::size(list)));
}

template <class List>
void shuffle(List& list, Random& random) {
  for (size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[below(random, i)]);
}

}  // namespace quadrille
