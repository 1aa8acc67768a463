// Consecutive calls on one binding, in all ways. Every byte is compared with the expected one.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/net/jobs.h"

namespace quadrille::net {

// A call, a persistent call with three starts, or two persistent calls in flight at once, once with a plain one.
enum class How { kOnce, kThreeStarts, kTwoAtOnce };
struct Run {
  CollectiveCall call;
  Ways ways;  // if they differ from the ways of the call before, the schedule is bound again
  How how = How::kOnce;
};

void expect_runs(const Scheduled& scheduled, const std::vector<Run>& runs);

// Return lists of ascending node sizes whose sum is in [least, most]: all of them, or `count` random ones.
std::vector<std::vector<int64_t>> all_sizes(int64_t least, int64_t most);
std::vector<std::vector<int64_t>> random_sizes(int count, int64_t least, int64_t most);

// Runs with windows of 1, 2, 3 and 16 steps, with synchronous sends or not, rendezvous and eager. Each way has a seed
// of its own and `calls` consecutive calls, whose kinds continue from way to way. One way in `thinning` runs, which
// must be odd; with EVERY_CASE in the environment all run.
void expect_all_ways(const Scheduled& scheduled, int calls, int thinning);
void expect_all_ways(Collective collective, const std::vector<std::vector<int64_t>>& all_sizes,
                     int calls, int thinning);

// Runs calls with other counts, and then again with the first counts, on blocks at the same addresses. Data that a
// binding keeps of a call must not be used for other counts.
void expect_changing_counts(const Scheduled& scheduled);

}  // namespace quadrille::net
