// Compares the algorithms for a collective, each with the numbers with which it takes the least time.
#pragma once

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
  bool commutative = false;      // only for operators that commute
  bool direct = false;           // is_direct()
  bool has_fixed_block = false;  // the file has the block size, whatever the call
};

// Describes a candidate: "tuna, radix = 4".
std::string candidate_text(const Candidate& candidate);

// True if each block travels straight from its owner: all messages are sent from the send buffer.
bool is_direct(const Program& program);

// The numbers that the user gives, by name.
using Fixed = std::map<std::string, int64_t>;

// Returns the best candidate of an algorithm with the fixed numbers. Nothing if it does not serve these nodes, or
// serves only some counts.
//
// A batch number is the least power of two that takes at most 1 / kAlike longer than the best one. Calls choose
// their block size by the machine's model, with alpha multiplied by the power of four that is best for this call.
// Then the size is halved until the time rises by more than 1 / kAlike. A halved size is in the file, for all calls.
std::optional<Candidate> best_candidate(const Algorithm& algorithm, const Workload& workload,
                                        const Fixed& fixed);

// Returns the job of the candidate's file: nodes, numbers and models.
Job job_of(const Candidate& candidate, const Workload& workload);

// Puts the candidates in the order of their times, and the one to choose first.
//
// Simple schedules lose less if a machine differs from its model. So a direct one comes first if its messages have at
// least kLong bytes on average and no schedule takes less than 1 / kRicher of its time. With shorter messages,
// schedules that forward are faster on real machines, even if the model shows little difference. Otherwise the choice
// is among those within 1 / kAlike of the least time: fewest bytes sent and copied, then any operator, then proven.
void put_choice_first(std::vector<Candidate>& candidates);

// Returns the best candidate of each algorithm of the collective, or of the one with that name. The choice is first.
std::vector<Candidate> best_candidates(const Workload& workload, const std::string& name,
                                       const Fixed& fixed);
inline constexpr double kRicher = 1.15;
inline constexpr int64_t kLong = 2048;
// Stands below a table in which some times are extrapolated (is_fitted).
inline constexpr const char* kFittedWords =
    "\n~ follows from simulations on fewer ranks, since these calls are too large\n";
inline constexpr int64_t kAlike = 64;

}  // namespace quadrille
