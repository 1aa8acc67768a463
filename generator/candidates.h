// The algorithms for a collective, each with the numbers that take the least time.
#ifndef QUADRILLE_GENERATOR_CANDIDATES_H_
#define QUADRILLE_GENERATOR_CANDIDATES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "generator/estimate.h"
#include "generator/registry.h"

namespace quadrille {

// An algorithm with its default options, and the numbers of its file.
struct Candidate : Estimate {
  const Algorithm* algorithm = nullptr;
  std::vector<int64_t> numbers = {};  // in the order of algorithm->numbers
  // By which calls choose their block size, if the algorithm has one; and the size in this call, in bytes.
  LinearModel model = {};
  int64_t block_size = 0;
  bool commutative = false;  // for commutative operators
};

// "tuna, radix = 4".
std::string candidate_text(const Candidate& candidate);

// Whether each block travels straight from its owner: no message holds what its sender has received.
bool is_direct(const Program& program);

// The given numbers, by name.
using Fixed = std::map<std::string, int64_t>;

// The best candidate of each algorithm for the collective that serves these nodes and all counts, with the fixed
// numbers. They are in the order of their times. Of equals, the first is the algorithm that comes first in the
// registry, with the least numbers. If `name` is not empty, only that algorithm is tried.
//
// Simple schedules lose less where a machine differs from its model. So a direct one comes first, if none takes less than
// 1 / kRicher of its time. Of all others within 1 / kAlike of the least time, the first is the one whose ranks move and copy
// the fewest bytes, preferably a proven one.
//
// A batch number is the least power of two that takes no longer. Calls choose their block size by the model of the workload's
// machine, with an alpha that is fitted: in this call, no other power of four times alpha takes less.
std::vector<Candidate> best_candidates(const Workload& workload, const std::string& name,
                                       const Fixed& fixed);
inline constexpr double kRicher = 1.15;
inline constexpr int64_t kAlike = 64;

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_CANDIDATES_H_
