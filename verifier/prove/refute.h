// Counterexamples: the smallest job on which a claim is false, or on which a program goes wrong.
#ifndef QUADRILLE_VERIFIER_PROVE_REFUTE_H_
#define QUADRILLE_VERIFIER_PROVE_REFUTE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "schedule/binding.h"
#include "verifier/prove/obligations.h"
#include "verifier/verdict.h"

namespace quadrille::verifier {

inline constexpr int64_t kRanksTried = 8;  // the limit of the search
// A proven program is also checked on all nodes of up to this many ranks, with counts at the limits.
inline constexpr int64_t kRanksChecked = 6;

using Groups = std::vector<Topology>;  // the nodes of each group of a job

// Calls visit with every topology of so many ranks, those of fewer ranks first, until it returns true. Between two groups
// neither has more than `ranks_a_group`, and both orders of two different groups come.
void each_topology(int groups, int64_t least_ranks, int64_t most_ranks, int64_t ranks_a_group,
                   const std::function<bool(const Groups&)>& visit);

// Within these limits find_failing_job() tries all counts up to 2, and all of 0 and the two greatest.
struct CountsTried {
  int64_t ranks_of_small = 4, ranks_of_great = kRanksChecked;  // of both groups together
  int64_t ranks_of_a_group = 3;                                // between groups
  int64_t cases = 5000;                                        // of each kind, on one topology
};
// The same for a search that goes up to so many ranks. Programs of one count have few cases, on all of these.
CountsTried counts_tried(const Program& program, int64_t up_to);

// "nodes 1,2: phase = 1, u = 1, v = 2". Empty if there is none on jobs of few ranks.
std::optional<std::string> find_counterexample(const Program& program, const FalseClaim& claim);

struct FailingJob {
  Job job;
  Call call;
  Violation violation;

  std::string text() const;  // "1,2", or if the call matters "1,2, counts 0,2,1, B = 2"
};
struct Walked {
  int64_t ranks = 0;  // of the largest jobs that the program takes; 0 if it takes none of up to 12
  bool refuses_calls = false;  // then: on some nodes it refuses the calls that are tried
};
// The smallest job of up to `most_ranks` ranks on which the checker refutes the program. If the program requires more
// ranks, the search tries the smallest number that it admits. If counts matter, it tries all counts up to 2 on up to 4
// ranks. If asked for, it also tries counts of 0 and at the limit on up to 6 ranks, unless their loops take too long.
std::optional<FailingJob> find_failing_job(const Program& program, int64_t most_ranks = kRanksTried,
                                           bool with_large_counts = false,
                                           Walked* walked = nullptr);

// The smallest job on which these conditions hold on every rank and the checker sees the program deadlock.
std::optional<FailingJob> find_deadlock(const Program& program,
                                        const std::vector<Expression>& given);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_REFUTE_H_
