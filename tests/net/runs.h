// Calls one after the other on one binding, in all ways: each byte and each post is compared with what it must be.
#ifndef QUADRILLE_TESTS_NET_RUNS_H_
#define QUADRILLE_TESTS_NET_RUNS_H_

#include <cstdint>
#include <vector>

#include "tests/net/jobs.h"

namespace quadrille::net {

// One call, or one that is persistent and starts three times, or two persistent ones in flight at once.
enum class How { kOnce, kThreeStarts, kTwoAtOnce };
struct Run {
  CollectiveCall call;
  Ways ways;  // the schedule is bound anew where they are others than those of the call before
  How how = How::kOnce;
};

// False where a byte was wrong, or a post. Posts are compared of all-to-alls and allgathers on fixed nodes.
bool expect_runs(const Scheduled& scheduled, const std::vector<Run>& runs);

// Ascending node sizes of so many ranks at least and at most, all of them; or so many drawn ones.
std::vector<std::vector<int64_t>> all_sizes(int64_t least, int64_t most);
std::vector<std::vector<int64_t>> random_sizes(int count, int64_t least, int64_t most);

// Windows of 1, 2, 3 and 16 steps, synchronous or not, rendezvous and eager: in each, so many calls one after the
// other, of kinds that go on from one way to the next, at another seed. Of the ways, one in `thinning`, which is odd,
// is taken; with EVERY_CASE in the environment, all.
void expect_all_ways(const Scheduled& scheduled, int calls, int thinning);
void expect_all_ways(Collective collective, const std::vector<std::vector<int64_t>>& all_sizes,
                     int calls, int thinning);

// Calls with other counts, and again with the first ones, of blocks that stay where they are: what a binding keeps of
// a call does not outlive its counts.
void expect_changing_counts(const Scheduled& scheduled);

}  // namespace quadrille::net

#endif  // QUADRILLE_TESTS_NET_RUNS_H_
