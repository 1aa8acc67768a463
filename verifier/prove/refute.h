// Searches for counterexamples: the smallest job on which a claim is false, or on which a program goes wrong.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "schedule/binding.h"
#include "verifier/prove/obligations.h"
#include "verifier/verdict.h"

namespace quadrille::verifier {

inline constexpr int64_t kRanksTried = 8;  // the searches stop at jobs of this many ranks
// A proven program is also checked on all topologies of up to this many ranks, with counts at the limits.
inline constexpr int64_t kRanksChecked = 6;

using Groups = std::vector<Topology>;  // the nodes of each group of a job

// Calls visit with every topology of `least_ranks` to `most_ranks` ranks, in ascending order, until it returns true.
// With two groups, neither has more than `ranks_a_group` ranks. Two different groups are visited in both orders.
void each_topology(int groups, int64_t least_ranks, int64_t most_ranks, int64_t ranks_a_group,
                   const std::function<bool(const Groups&)>& visit);

// Limits within which find_failing_job() tries small counts (0, 1, 2) and great counts (0 and the two greatest).
struct CountsTried {
  int64_t ranks_of_small = 4, ranks_of_great = kRanksChecked;  // most ranks in all groups
  int64_t ranks_of_a_group = 3;  // most ranks of a group, if a job has two
  int64_t cases = 5000;          // most cases on one topology, small and great each
};
// Returns the limits of a search up to `up_to` ranks. If all ranks share one count, small counts go further.
CountsTried counts_tried(const Program& program, int64_t up_to);

// Returns the first counterexample, such as "nodes 1,2: phase = 1, u = 1, v = 2"; nullopt if the search finds none.
std::optional<std::string> find_counterexample(const Program& program, const FalseClaim& claim);

struct FailingJob {
  Job job;
  Call call;
  Violation violation;

  std::string text() const;  // "1,2", or with a call's arguments "1,2, counts 0,2,1, parameter 2"
};
struct Walked {
  int64_t ranks = 0;  // of the largest job tried that the program accepts; 0 if it accepts none
  bool refuses_calls = false;  // if ranks is 0: whether it accepts some job, but no call tried
};
// Returns the smallest job of up to `most_ranks` ranks on which the checker refutes the program; nullopt if all pass.
// If the program requires more ranks, it tries the smallest number that the program admits, up to 12. It tries small
// counts; `with_large_counts` also great ones, unless their loops take too long. It fills in `walked`, if given.
std::optional<FailingJob> find_failing_job(const Program& program, int64_t most_ranks = kRanksTried,
                                           bool with_large_counts = false,
                                           Walked* walked = nullptr);

// Returns the smallest job on which `given` holds at every rank and the checker finds a deadlock; nullopt if none.
std::optional<FailingJob> find_deadlock(const Program& program,
                                        const std::vector<Expression>& given);

}  // namespace quadrille::verifier
