// Counts the rounds of TuNA.
#ifndef QUADRILLE_TESTS_VERIFIER_HOPS_H_
#define QUADRILLE_TESTS_VERIFIER_HOPS_H_

#include <cstdint>

namespace quadrille {

// Returns the number of distances z*radix^x below `ranks`, with 1 <= z < radix. Each is a round of TuNA, in which
// every rank sends one message.
inline int64_t one_hop_distances(int64_t ranks, int64_t radix) {
  int64_t distances = 0;
  for (int64_t power = 1; power < ranks; power *= radix)
    for (int64_t z = 1; z < radix && z * power < ranks; ++z) ++distances;
  return distances;
}

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_VERIFIER_HOPS_H_
