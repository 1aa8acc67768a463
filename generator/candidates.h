// The algorithms for a collective, each with the numbers that take the least time.
#ifndef QUADRILLE_GENERATOR_CANDIDATES_H_
#define QUADRILLE_GENERATOR_CANDIDATES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "generator/estimate.h"
#include "generator/registry.h"

namespace quadrille {

// An algorithm with its default options, and the numbers of its file.
struct Candidate : Estimate {
  const Algorithm* algorithm = nullptr;
  std::vector<int64_t> numbers = {};  // in the order of algorithm->numbers
  // If the algorithm has a block size: the model by which calls choose it, and the size in this call, in bytes.
  LinearModel model = {};
  int64_t block_size = 0;
  bool commutative = false;  // for commutative operators
  bool direct = false;
  bool has_fixed_block = false;  // the file has the block size, whatever the call
};

// "tuna, radix = 4".
std::string candidate_text(const Candidate& candidate);

// Whether each block travels straight from its owner: no message holds what its sender has received.
bool is_direct(const Program& program);

// The given numbers, by name.
using Fixed = std::map<std::string, int64_t>;

// The best candidate of an algorithm, with the fixed numbers. Nothing if it does not serve these nodes, or not all counts.
//
// A batch number is the least power of two that takes at most 1 / kAlike longer than all at once. Calls choose their block
// size by the model of the workload's machine. Its alpha is fitted to this call: it is multiplied by the best power of four.
// If half of that size takes less by more than 1 / kAlike, or a quarter, and so on, the file has that size for all calls.
std::optional<Candidate> best_candidate(const Algorithm& algorithm, const Workload& workload,
                                        const Fixed& fixed);

// The nodes, numbers and model of its file.
Job job_of(const Candidate& candidate, const Workload& workload);

// Puts the candidates in the order of their times, and the one to choose first.
//
// Simple schedules lose less where a machine differs from its model. So a direct one comes first, if none takes less than
// 1 / kRicher of its time and its messages have at least kLong bytes on the average. With shorter ones, schedules that forward
// are faster on real machines even where the model sees little difference. Of all others within 1 / kAlike of the least time,
// the first is the one whose ranks move and copy the fewest bytes, preferably one for all operators, and a proven one.
void put_choice_first(std::vector<Candidate>& candidates);

// The best candidates of all algorithms of the collective, or of the one with that name; the one to choose is first.
std::vector<Candidate> best_candidates(const Workload& workload, const std::string& name,
                                       const Fixed& fixed);
inline constexpr double kRicher = 1.15;
inline constexpr int64_t kLong = 2048;
// Below a table with times of which is_fitted holds.
inline constexpr const char* kFittedWords =
    "\n~ follows from simulations on fewer ranks, since these calls have too many messages\n";
inline constexpr int64_t kAlike = 64;

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_CANDIDATES_H_
