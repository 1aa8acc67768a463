// Every program on given nodes, in all ways.
#ifndef QUADRILLE_TESTS_NET_PROGRAMS_H_
#define QUADRILLE_TESTS_NET_PROGRAMS_H_

#include <cstdint>
#include <vector>

#include "tests/net/jobs.h"

namespace quadrille::net {

// Ascending node sizes of so many ranks at least and at most, all of them; or so many drawn ones.
std::vector<std::vector<int64_t>> all_sizes(int64_t least, int64_t most);
std::vector<std::vector<int64_t>> random_sizes(int count, int64_t least, int64_t most);

// Windows of 1, 2, 3 and 16 steps, synchronous or not, rendezvous and eager: in each, so many calls one after the
// other, of kinds that go on from one way to the next, at another seed. Of the ways, one in `thinning`, which is odd,
// is taken; with EVERY_CASE in the environment, all.
void expect_all_ways(const Scheduled& scheduled, int calls, int thinning);
void expect_all_ways(Collective collective, const std::vector<int64_t>& sizes, int calls,
                     int thinning);
// Prints how many ways of how many were taken since the last time.
void tell_ways();

// Calls with other counts, and again with the first ones, of blocks that stay where they are: what a binding keeps of
// a call does not outlive its counts.
void expect_changing_counts(const Scheduled& scheduled);
void expect_changing_counts(Collective collective, const std::vector<int64_t>& sizes);

}  // namespace quadrille::net

#endif  // QUADRILLE_TESTS_NET_PROGRAMS_H_
