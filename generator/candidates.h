// The algorithms for an all-to-all, each with the numbers that take least by the model of generator/cost.h.
#ifndef QUADRILLE_GENERATOR_CANDIDATES_H_
#define QUADRILLE_GENERATOR_CANDIDATES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "generator/cost.h"
#include "generator/registry.h"

namespace quadrille {

// An algorithm with its default options and the numbers of its file.
struct Candidate {
  const Algorithm* algorithm = nullptr;
  std::vector<int64_t> numbers;  // in the order of algorithm->numbers
  std::vector<Traffic> traffic;
  int64_t time = 0;
};

// "tuna, radix = 4".
std::string candidate_text(const Candidate& candidate);

// Numbers that are not to be chosen, by name.
using Fixed = std::map<std::string, int64_t>;

// The best of each algorithm for alltoall that serves this topology and has those numbers, in the order of
// their times; of equals the one that the registry has first, with the least numbers. But before all goes,
// of those within a sixty-fourth of the least time, as the model is no more exact, the one whose ranks
// send and copy the fewest blocks, best a proven one. Only `name` where that is not empty. block_count is
// chosen last: a power of two, the least with which there are no fewer rounds, but not so great that a rank
// has more than kInFlightBytes under way where it would have less with another.
std::vector<Candidate> best_candidates(const Topology& topology, int64_t bytes,
                                       const Machine& machine, const std::string& name,
                                       const Fixed& fixed);
inline constexpr int64_t kInFlightBytes = 1 << 16;

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_CANDIDATES_H_
