// Tested by tests/verifier/bounds_test.cc against all subsets of nodes and the optima of small
// topologies.
#include "verifier/bounds.h"

#include <algorithm>
#include <vector>

namespace quadrille::verifier {

int64_t alltoall_lower_bound(const Topology& topology) {
  const std::vector<int64_t> sizes = topology.sizes();
  const int64_t ranks = topology.ranks();
  int64_t bound = 0;
  for (const Run& run : topology.runs())
    bound = std::max(bound, 2 * run.size * (ranks - run.size) + run.size * run.size);
  // The `taken` largest nodes: their ranks, and the pairs of ranks on different ones of them.
  int64_t taken = 0, inside = 0, pairs = 0;
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
    pairs += inside * *size;
    inside += *size;
    ++taken;
    if (taken % 2 == 0 || taken < 3) continue;
    const int64_t at_a_time = (taken - 1) / 2;
    bound = std::max(bound, 2 * ((pairs + at_a_time - 1) / at_a_time));
  }
  return bound;
}

}  // namespace quadrille::verifier
