// The coloring of `optimal`: every two nodes meet once for each pair of their ranks, in (lower bound) / 2 rounds.
#include "verifier/prove/coloring.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/support/topologies.h"
#include "verifier/port_accounting.h"

namespace quadrille::verifier::coloring_test {

void expect_least_time(const std::vector<int64_t>& nodes) {
  const Topology topology = topology_of(nodes);
  SCOPED_TRACE(topology.text());
  const Result<Coloring> coloring = best_coloring(topology);
  ASSERT_TRUE(coloring.ok()) << coloring.error().message;
  EXPECT_EQ(coloring->time, alltoall_lower_bound(topology));
  const std::vector<int64_t> sizes = topology.sizes();
  std::map<std::pair<int64_t, int64_t>, int64_t> met;
  int64_t rounds = 0;
  for (const Meetings& meetings : coloring->meetings) {
    rounds += meetings.rounds;
    for (int64_t a = 0; a < topology.nodes(); ++a) {
      const int64_t b = meetings.meets[a];
      EXPECT_EQ(meetings.meets[b], a);
      met[{a, b}] += meetings.rounds;
    }
  }
  EXPECT_EQ(rounds, coloring->time / 2);
  for (int64_t a = 0; a < topology.nodes(); ++a)
    for (int64_t b = 0; b < a; ++b) EXPECT_EQ((met[{a, b}]), sizes[a] * sizes[b]);
}

TEST(Coloring, TakesTheLowerBoundOnNodesOfAtMostSixRanksAndOnRandomOnes) {
  for (const std::vector<int64_t>& sizes : ascending_node_vectors(6)) expect_least_time(sizes);
  std::mt19937 random(7);
  for (int i = 0; i < 5; ++i) {
    std::vector<int64_t> sizes(2 + i);
    for (int64_t& size : sizes) size = 1 + random() % 60;
    expect_least_time(sizes);
  }
}

TEST(Coloring, IsRefusedForMoreNodesAndIfItTakesTooMuchWork) {
  EXPECT_EQ(best_coloring(topology_of(std::vector<int64_t>(9, 1))).error().message,
            "a schedule of the least time is known for up to 8 nodes; these are 9");
  EXPECT_EQ(best_coloring(topology_of({1, 2, 3, 4}), 10).error().message,
            "Z3 finds no schedule of time 64, the lower bound, on nodes 1,2,3,4 within its limit");
}

}  // namespace quadrille::verifier::coloring_test
