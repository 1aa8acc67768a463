// The ranks of a schedule for the nodes of a communicator, and how many messages a call sends and has in flight.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <numeric>

extern "C" {
#include "runtime/execute/nodes.h"
}
#include "tests/net/jobs.h"
#include "tests/net/runs.h"

namespace quadrille::net::layout_test {

TEST(Layout, NodesAreSortedBySizeAndLowestRank) {
  const Program& program = exchanging("hierarchical-factor", {1, 2, 2}).program;
  EXPECT_EQ(real_ranks(program, {7, 3, 5, 7, 3}), (std::vector<int>{2, 0, 3, 1, 4}));
  const Program& flat = exchanging("factor", {5}).program;
  EXPECT_EQ(real_ranks(flat, {7, 3, 5, 7, 3}), (std::vector<int>{0, 1, 2, 3, 4}));
}

// Returns the ranks to which each rank sends, in order.
std::vector<std::vector<int>> targets(const Scheduled& scheduled, const Machine& machine) {
  const Outcome outcome =
      simulate(machine, [&](MPI_Comm comm) { mpi::expect_works(Schedule(scheduled.file), comm); });
  EXPECT_EQ(outcome.text(), "");
  std::vector<std::vector<int>> all;
  for (const Listing& listing : outcome.listings) {
    all.emplace_back();
    for (const Event& event : listing)
      if (event.kind == Event::Kind::kSend) all.back().push_back(event.peer);
  }
  return all;
}

TEST(Layout, OfAScheduleForAnyNodesIsThatOfOneForThese) {
  for (const char* const name : {"hierarchical-factor", "hierarchical-circle"})
    for (const auto& sizes : all_sizes(2, 8)) {
      const Scheduled given = exchanging(name, sizes);
      const auto found = targets(given, machine_of(given, {.seed = 40}));
      EXPECT_GE(found[0].size(), static_cast<size_t>(given.groups.ranks - 1));
      EXPECT_EQ(found, targets(program_named("alltoall " + std::string(name)),
                               machine_of(given, {.seed = 40})))
          << given.name;
    }
}

// Lengths that travel with few bytes are in the message of these bytes.
TEST(Messages, OfShortBlocksHaveTheirLengthsInThem) {
  const Scheduled& program = program_named("alltoall tuna");
  const Groups groups{4, 0};
  Job job = program.job;
  job.parameters = {2};
  const Scheduled chosen("tuna", program.program, job);
  const Outcome outcome = simulate(machine_of(chosen, groups, {}), [&](MPI_Comm comm) {
    const Bound bound(chosen, groups, {}, comm);
    std::vector<char> sent(32), received(32);
    const std::vector<int> counts(4, 8), places = {0, 8, 16, 24};
    expect_success(
        quadrille_alltoallv(bound, sent.data(), counts.data(), places.data(), MPI_BYTE,
                            received.data(), counts.data(), places.data(), MPI_BYTE, comm),
        "call");
  });
  EXPECT_EQ(outcome.text(), "");
  EXPECT_EQ(std::ranges::count(outcome.listings[1], Event::Kind::kSend, &Event::kind), 2);
}

// A step of these programs has one send of a rank.
TEST(Window, LimitsTheSendsInFlight) {
  for (const char* const name :
       {"alltoall factor", "allgather linear-ring", "allgather blocked-ring"})
    for (int window = 1; window <= 4; ++window) {
      int most = 0;
      for (unsigned seed = 0; seed < 12; ++seed) {
        const Groups groups{7, 0};
        const Ways ways{.window = window, .is_eager = seed % 2 == 0, .seed = seed};
        const Scheduled& program = program_named(name);
        constexpr int kBytes = 1 << 13;
        const Outcome outcome = simulate(machine_of(program, groups, ways), [&](MPI_Comm comm) {
          const Bound bound(program, groups, ways, comm);
          std::vector<char> sent(7 * kBytes), received(7 * kBytes);
          if (std::string(name).starts_with("alltoall"))
            expect_success(quadrille_alltoall(bound, sent.data(), kBytes, MPI_BYTE, received.data(),
                                              kBytes, MPI_BYTE, comm),
                           name);
          else
            expect_success(quadrille_allgather(bound, sent.data(), kBytes, MPI_BYTE,
                                               received.data(), kBytes, MPI_BYTE, comm),
                           name);
        });
        EXPECT_EQ(outcome.text(), "");
        for (const Listing& listing : outcome.listings)
          for (const Event& event : listing) most = std::max(most, event.sends_in_flight);
      }
      EXPECT_LE(most, window) << name;
      if (std::string(name) == "allgather linear-ring") {
        EXPECT_EQ(most, window) << name;
      }
    }
}

// Counting all ranks for each node would take hours.
TEST(Layout, OfAMillionNodesIsCounted) {
  constexpr int kRanks = 1 << 20;
  std::vector<int> node_of(kRanks), sizes(kRanks, 7);
  std::iota(node_of.begin(), node_of.end(), 0);
  for (const int rank : {2, 5, kRanks - 1}) node_of[static_cast<size_t>(rank)] = 1;
  int nodes = 0, least = 0, most = 0;
  qd_measure_nodes(node_of.data(), kRanks, sizes.data(), &nodes, &least, &most);
  EXPECT_EQ(std::tuple(nodes, least, most), std::tuple(kRanks - 3, 1, 4));
  const std::vector<int> two = {0, 0, 2, 0, 2};
  qd_measure_nodes(two.data(), 5, sizes.data(), &nodes, &least, &most);
  EXPECT_EQ(std::tuple(nodes, least, most), std::tuple(2, 2, 3));
}

}  // namespace quadrille::net::layout_test
