// Counterexamples: the smallest job on which a claim is false, or on which a program goes wrong.
#ifndef QUADRILLE_VERIFIER_PROVE_REFUTE_H_
#define QUADRILLE_VERIFIER_PROVE_REFUTE_H_

#include <optional>
#include <string>

#include "schedule/binding.h"
#include "verifier/prove/obligations.h"
#include "verifier/verdict.h"

namespace quadrille::verifier {

inline constexpr int64_t kRanksTried = 8;  // the limit of the search
// A proven program is also checked on all nodes of up to this many ranks, with counts at the limits.
inline constexpr int64_t kRanksChecked = 6;

// "nodes 1,2: phase = 1, u = 1, v = 2". Empty if there is none on jobs of few ranks.
std::optional<std::string> find_counterexample(const Program& program, const FalseClaim& claim);

struct FailingJob {
  Job job;
  Call call;
  Violation violation;

  std::string text() const;  // "1,2", or if the call matters "1,2, counts 0,2,1, B = 2"
};
// The smallest job of up to `most_ranks` ranks on which the checker refutes the program. If the program requires more
// ranks, the search tries the smallest number that it admits. If counts matter, it tries all counts up to 2 on up to 4
// ranks. If asked for, it also tries counts of 0 and at the limit on up to 6 ranks, unless their loops take too long.
// *walked becomes the number of ranks of the largest jobs tried; 0 if the program requires more than 12.
std::optional<FailingJob> find_failing_job(const Program& program, int64_t most_ranks = kRanksTried,
                                           bool with_large_counts = false,
                                           int64_t* walked = nullptr);

// The smallest job on which these conditions hold on every rank and the checker sees the program deadlock.
std::optional<FailingJob> find_deadlock(const Program& program,
                                        const std::vector<Expression>& given);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_REFUTE_H_
