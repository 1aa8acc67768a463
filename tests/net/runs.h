// Consecutive calls on one binding, in all ways. Each byte and each post is compared with the expected one.
#ifndef QUADRILLE_TESTS_NET_RUNS_H_
#define QUADRILLE_TESTS_NET_RUNS_H_

#include <cstdint>
#include <vector>

#include "tests/net/jobs.h"

namespace quadrille::net {

// One call, or a persistent one that starts three times, or two persistent ones in flight at once, also with a plain one.
enum class How { kOnce, kThreeStarts, kTwoAtOnce };
struct Run {
  CollectiveCall call;
  Ways ways;  // the schedule is bound again if they differ from those of the previous call
  How how = How::kOnce;
};

// Returns false if a byte or a post was wrong. Posts are compared for all-to-alls and allgathers on fixed nodes.
bool expect_runs(const Scheduled& scheduled, const std::vector<Run>& runs);

// All ascending node sizes with at least and at most that many ranks; or that many drawn ones.
std::vector<std::vector<int64_t>> all_sizes(int64_t least, int64_t most);
std::vector<std::vector<int64_t>> random_sizes(int count, int64_t least, int64_t most);

// Windows of 1, 2, 3 and 16 steps, synchronous or not, rendezvous and eager. Each way has that many consecutive calls,
// of kinds that continue from one way to the next, and another seed. One way in `thinning`, which is odd, is taken;
// all with EVERY_CASE in the environment.
void expect_all_ways(const Scheduled& scheduled, int calls, int thinning);
void expect_all_ways(Collective collective, const std::vector<std::vector<int64_t>>& all_sizes,
                     int calls, int thinning);

// Calls with other counts, and then again with the first ones, on blocks at the same addresses. Data that a binding
// keeps from a call must not outlive its counts.
void expect_changing_counts(const Scheduled& scheduled);

}  // namespace quadrille::net

#endif  // QUADRILLE_TESTS_NET_RUNS_H_
