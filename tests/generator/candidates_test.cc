// The choices of the model, against a search over all numbers, and against known results.
#include "generator/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/property.h"
#include "tests/support/topologies.h"

namespace quadrille {
namespace {

const Algorithm& algorithm(const std::string& name) {
  return *find_algorithm(Collective::kAlltoall, name);
}

std::vector<Traffic> traffic_of(const std::string& name, const std::vector<int64_t>& sizes,
                                std::vector<int64_t> numbers) {
  const Program program = make_program(algorithm(name), all_choices(algorithm(name))[0]);
  const Job job{{topology_of(sizes)}, std::move(numbers), {}};
  return traffic(program, job, bind(program, job, {}, 0).value());
}

// All-to-alls of one group.
std::vector<Candidate> best_candidates(const Topology& topology, int64_t bytes,
                                       const Machine& machine, const std::string& name,
                                       const Fixed& fixed) {
  return quadrille::best_candidates({Collective::kAlltoall, {topology}, bytes, {}, machine}, name,
                                    fixed);
}

constexpr int64_t kAllAtOnce = 1 << 20;  // as a block_count

// The traffic of an algorithm with each radix.
std::vector<std::vector<Traffic>> all_traffic(const std::string& name,
                                              const std::vector<int64_t>& sizes) {
  std::vector<std::vector<Traffic>> all;
  for (int64_t radix = 2; radix <= std::max<int64_t>(2, topology_of(sizes).ranks()); ++radix) {
    std::vector<int64_t> numbers = {radix, kAllAtOnce};
    numbers.resize(algorithm(name).numbers.size());
    all.push_back(traffic_of(name, sizes, numbers));
  }
  return all;
}

int64_t least_time(const std::vector<std::vector<Traffic>>& all, int64_t bytes,
                   const Machine& machine) {
  int64_t least = INT64_MAX;
  for (const std::vector<Traffic>& each : all)
    least = std::min(least, call_time(machine, each, bytes));
  return least;
}

Machine drawn_machine() {
  return {{drawn(0, 50000), drawn(0, 50000)},
          {drawn(0, 9000), drawn(0, 900)},
          {drawn(0, 500), drawn(0, 900)},
          drawn(0, 5000),
          drawn(0, 5000),
          drawn_of(PortScope::kNode, PortScope::kRank)};
}

TEST(Choice, IsNearTheBestOfAllRadices) {
  EXPECT_TRUE(holds("within 1.1", [] {
    const auto sizes = drawn_list(drawn(1, 6), 1, 12);
    const Machine machine = drawn_machine();
    const int64_t bytes = int64_t{1} << drawn(0, 20);
    const auto name = drawn_of<std::string>("tuna", "tuna-coalesced", "tuna-staggered");
    Fixed fixed;
    if (name != "tuna") fixed["block_count"] = kAllAtOnce;
    const std::vector<Candidate> best =
        best_candidates(topology_of(sizes), bytes, machine, name, fixed);
    REQUIRE(best.size() == 1u);
    const int64_t least = least_time(all_traffic(name, sizes), bytes, machine);
    REQUIRE(10 * best[0].time <= 11 * least);
    REQUIRE(best[0].time >= least);
  }));
}

TEST(Choice, IsNearTheBestOfAllRadicesOnManyRanks) {
  for (const int64_t ranks : {60, 128}) {
    const std::vector<std::vector<Traffic>> all = all_traffic("tuna", {ranks});
    for (int64_t bytes = 8; bytes <= 1 << 16; bytes *= 2) {
      const int64_t least = least_time(all, bytes, {});
      const int64_t found = best_candidates(topology_of({ranks}), bytes, {}, "tuna", {})[0].time;
      EXPECT_LE(10 * found, 11 * least) << ranks << " ranks, " << bytes << " bytes";
      EXPECT_GE(found, least);
    }
  }
}

TEST(Choice, IsOfAGreaterRadixForLargerBlocks) {
  for (const std::string name : {"tuna", "tuna-coalesced"}) {
    int64_t radix = 2;
    for (int64_t bytes = 1; bytes <= 1 << 20; bytes *= 4) {
      const std::vector<Candidate> best =
          best_candidates(topology_of({16, 16, 16, 16, 16, 16, 16, 16}), bytes, {}, name, {});
      EXPECT_GE(best[0].numbers[0], radix) << name << ", " << bytes << " bytes";
      radix = best[0].numbers[0];
    }
    EXPECT_GE(radix, 16) << name;
  }
}

TEST(Choice, SendsSmallBlocksInFewMessagesAndLargeOnesStraight) {
  const Topology topology = topology_of({8, 8, 4, 12});
  const std::vector<Candidate> short_ones = best_candidates(topology, 16, {}, "", {});
  for (const Traffic& each : short_ones[0].traffic)
    EXPECT_LT(each.total().between + each.total().inside, 31);
  EXPECT_EQ(best_candidates(topology, 1 << 20, {}, "", {})[0].algorithm->name, "factor");
}

TEST(Choice, OfTimesThatAreAlikeMovesTheFewestBlocks) {
  const Topology topology = topology_of({8, 8, 8, 8});
  Machine machine{{0, 100}, {0, 0}, {0, 0}, 0, 0, PortScope::kNode};
  // Only bytes between nodes count, and every algorithm that moves blocks once sends equally many.
  EXPECT_EQ(best_candidates(topology, 1000, machine, "", {})[0].algorithm->name, "factor");
  // A message costs 1 % of a block more, then 2 %.
  machine.gap_ns = 1;
  EXPECT_EQ(best_candidates(topology, 1000, machine, "", {})[0].algorithm->name, "factor");
  machine.gap_ns = 2;
  const std::vector<Candidate> best = best_candidates(topology, 1000, machine, "", {});
  EXPECT_LT(best[0].traffic[0].total().between, 24);
  // The choice comes first. It may take 1/64 longer than the fastest of the others, which follow in order.
  EXPECT_LE(best[0].time, best[1].time + best[1].time / 64);
  for (size_t i = 2; i < best.size(); ++i) EXPECT_LE(best[i - 1].time, best[i].time);
}

TEST(Choice, HasNoMoreUnderWayThanItMust) {
  const auto block_count = [](const std::vector<int64_t>& sizes, int64_t bytes) {
    const Fixed fixed = {{"radix", 2}};
    return best_candidates(topology_of(sizes), bytes, {}, "tuna-staggered", fixed)[0].numbers[1];
  };
  const std::vector<int64_t> ones(64, 1), pairs(32, 2);
  EXPECT_EQ(block_count(ones, 16), 64);    // all 63 messages
  EXPECT_EQ(block_count(ones, 4096), 16);  // 64 KiB
  EXPECT_EQ(block_count(ones, 1 << 20), 1);
  EXPECT_EQ(block_count(pairs, 16), 64);
  EXPECT_EQ(block_count(pairs, 1 << 20), 32);  // that many travel inside nodes anyway
}

TEST(Choice, KeepsToWhatIsFixedAndToWhatServesTheNodes) {
  for (const Candidate& candidate : best_candidates(topology_of({3}), 64, {}, "", {{"radix", 3}})) {
    EXPECT_EQ(candidate.algorithm->numbers[0].name, "radix");
    EXPECT_EQ(candidate.numbers[0], 3);
  }
  for (const Candidate& candidate : best_candidates(topology_of({3}), 64, {}, "", {}))
    EXPECT_TRUE(candidate.algorithm->name != "xor" && candidate.algorithm->name != "factor-even");
  EXPECT_TRUE(best_candidates(topology_of({3}), 64, {}, "xor", {}).empty());
}

// Nodes of the first group, and of the second if there is one.
Workload workload_of(Collective collective, const std::vector<int64_t>& first,
                     const std::vector<int64_t>& second, int64_t bytes) {
  Workload workload{collective, {topology_of(first)}, bytes};
  if (!second.empty()) workload.groups.push_back(topology_of(second));
  return workload;
}

std::string chosen(const Workload& workload) {
  const std::vector<Candidate> best = best_candidates(workload, "", {});
  return best.empty() ? "nothing" : best[0].algorithm->name;
}

TEST(Choice, IsMadeForEveryCollective) {
  for (int i = 0; i < kCollectiveCount; ++i) {
    const auto collective = static_cast<Collective>(i);
    for (const std::vector<int64_t>& second : {std::vector<int64_t>{}, {2, 1}}) {
      if (!second.empty() && !exists_between_groups(collective)) continue;
      for (const int64_t bytes : {1, 1000, 1000000}) {
        const Workload workload = workload_of(collective, {3, 2}, second, bytes);
        const std::vector<Candidate> all = best_candidates(workload, "", {}, true);
        ASSERT_FALSE(all.empty()) << name_of(collective);
        for (const Candidate& candidate : all)
          EXPECT_GE(candidate.time, least_time(workload)) << candidate_text(candidate);
        // Candidates that are given up early are not the best.
        EXPECT_EQ(chosen(workload), all[0].algorithm->name) << name_of(collective);
      }
    }
  }
}

TEST(Choice, IsOfFewMessagesForShortOnesAndOfFewBytesForLongOnes) {
  const auto on_nodes = [](int64_t nodes, Collective collective, int64_t bytes) {
    return chosen(workload_of(collective, std::vector<int64_t>(nodes, 1), {}, bytes));
  };
  EXPECT_EQ(on_nodes(128, Collective::kAllreduce, 8), "recursive-multiplying");
  EXPECT_EQ(on_nodes(16, Collective::kAllreduce, 1 << 24), "lanes");
  EXPECT_EQ(on_nodes(16, Collective::kBroadcast, 8), "binomial");
  EXPECT_EQ(on_nodes(16, Collective::kBroadcast, 1 << 24), "hypercube");
  const auto between = [](Collective collective, int64_t bytes) {
    const std::vector<int64_t> ones(16, 1);
    return chosen(workload_of(collective, ones, ones, bytes));
  };
  EXPECT_EQ(between(Collective::kAllgather, 8), "subgroup-bruck");
  EXPECT_EQ(between(Collective::kAllgather, 1 << 24), "segment-map-v");
  EXPECT_EQ(between(Collective::kReduce, 8), "leader");
  EXPECT_EQ(between(Collective::kReduce, 1 << 24), "segments");
}

TEST(Choice, IsOfWhatServesAllCountsAndKeepsTheOrderWhereThatIsWanted) {
  const std::vector<int64_t> ones(4, 1);
  for (const Candidate& candidate :
       best_candidates(workload_of(Collective::kAllgather, ones, ones, 1000), "", {}, true))
    EXPECT_NE(candidate.algorithm->name, "segment-map");
  Workload uneven = workload_of(Collective::kReduceScatter, ones, {}, 0);
  uneven.counts = {{1 << 24, 0, 0, 0}};
  EXPECT_EQ(chosen(uneven), "blocked-ring");
  uneven.ordered = true;
  EXPECT_NE(chosen(uneven), "blocked-ring");
  for (const Candidate& candidate : best_candidates(uneven, "", {}, true))
    EXPECT_FALSE(candidate.commutative);
}

TEST(Estimates, OfAReduceScatterBetweenGroupsAreOfVectorsOfOneLength) {
  // Ranks of the first group receive 225 of 900 bytes from each of two ranks. Those of the second receive 450.
  const std::vector<Candidate> all = best_candidates(
      workload_of(Collective::kReduceScatter, {1, 1, 1, 1}, {1, 1}, 300), "direct", {});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].work.bytes_between, 4 * 450);
}

TEST(Estimates, AreTheMeanOfARootInEitherGroup) {
  for (const bool turned : {false, true}) {
    const std::vector<int64_t> one = {1}, eight(8, 1);
    const Workload workload =
        workload_of(Collective::kGather, turned ? eight : one, turned ? one : eight, 1000);
    const std::vector<Candidate> all = best_candidates(workload, "linear", {});
    ASSERT_EQ(all.size(), 1u);
    // Eight to one, or one to one of eight.
    EXPECT_EQ(all[0].time, 2000 + (8 + 1) * (50 + 100) / 2);
    EXPECT_EQ(all[0].work.between, 8);
    EXPECT_EQ(least_time(workload), 2000 + (8 + 1) * 100 / 2);
  }
}

// If ranks behave alike and no two send to one rank at a time, the two models agree.
TEST(Estimates, OfAnAllToAllAreTheSameFromAFewRanksAndFromAll) {
  Machine machine;
  machine.copy = {0, 0};
  for (const std::string name : {"xor", "pairwise", "spread-out"})
    for (const PortScope port : {PortScope::kNode, PortScope::kRank}) {
      machine.port = port;
      const Program program = make_program(algorithm(name), all_choices(algorithm(name))[0]);
      const Job job = job_of(std::vector<int64_t>(8, 1));
      const std::vector<Binding> bindings = {bind(program, job, {}, 0).value()};
      EXPECT_EQ(call_timing(program, job, {}, bindings, 1000, machine)->time,
                call_time(machine, traffic(program, job, bindings[0]), 1000))
          << name;
    }
}

TEST(LeastTime, IsOfWhatPassesTheBusiestPort) {
  const Machine machine{{2000, 100}, {500, 50}, {50, 50}, 0, 0, PortScope::kNode};
  Workload workload = workload_of(Collective::kGather, {2, 4}, {}, 1000);
  workload.machine = machine;
  EXPECT_EQ(least_time(workload), 2000 + 4 * 100);  // to the node of rank 0
  workload.machine.port = PortScope::kRank;
  EXPECT_EQ(least_time(workload), 500 + 5 * 50);
  workload.groups = {topology_of({6})};
  EXPECT_EQ(least_time(workload), 500 + 5 * 50);
  workload.groups = {topology_of({1})};
  EXPECT_EQ(least_time(workload), 0);
}

// An all-to-all with any numbers that the algorithm accepts.
Job drawn_job(const Algorithm& algorithm, const Topology& topology) {
  Job job{{topology}, {}, {}};
  for (const Number& number : algorithm.numbers)
    job.parameters.push_back(
        number.kind == NumberKind::kRadix   ? drawn(2, std::max<int64_t>(3, topology.ranks() + 1))
        : number.kind == NumberKind::kNodes ? drawn(0, topology.nodes())
                                            : drawn(1, 2 * topology.ranks() + 1));
  return job;
}

PROPERTY(LeastTime, IsNoMoreThanAnyAllToAllTakes) {
  Workload workload = workload_of(Collective::kAlltoall, drawn_list(drawn(1, 7), 1, 24), {},
                                  int64_t{1} << drawn(0, 21));
  workload.machine = drawn_machine();
  const int64_t least = least_time(workload);
  int64_t looked_at = 0;
  for (const Algorithm& each : algorithms()) {
    if (each.collective != Collective::kAlltoall || each.groups != 1) continue;
    const std::vector<Choices> choices = all_choices(each);
    const Program program =
        make_program(each, choices[drawn(0, static_cast<int64_t>(choices.size()))]);
    const Result<Estimate> found = estimate(program, drawn_job(each, workload.groups[0]), workload);
    if (!found.ok()) continue;
    ++looked_at;
    REQUIRE(found->time >= least);
  }
  REQUIRE(looked_at >= 10);
}

// The ranks of a node behave differently.
TEST(LeastTime, IsNoMoreThanAnAllToAllTakesWhereRanksOfANodeDiffer) {
  for (const std::vector<int64_t>& sizes :
       {std::vector<int64_t>{1, 9}, {1, 6, 3, 4}, {2, 2, 12}, {70, 100}, {1, 300}}) {
    const Workload workload = workload_of(Collective::kAlltoall, sizes, {}, 8192);
    for (const Candidate& candidate : quadrille::best_candidates(workload, "", {}, true))
      EXPECT_GE(candidate.time, least_time(workload)) << candidate_text(candidate);
  }
}

// The order of the measurements, and the time limits that follow from it, do not change the choice.
TEST(Choice, IsTheSameWhereAllAreMeasuredToTheEnd) {
  for (const Collective collective : {Collective::kAllgather, Collective::kBroadcast,
                                      Collective::kAllreduce, Collective::kReduceScatter})
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{4, 4, 4, 4}, {1, 2, 3}, {1, 1, 1, 1, 1, 1, 1, 1}, {5}})
      for (const int64_t bytes : {8, 1000, 20000, 1000000})
        for (const PortScope port : {PortScope::kNode, PortScope::kRank}) {
          Workload workload{collective, {topology_of(sizes)}, bytes};
          workload.machine.port = port;
          const Candidate chosen = quadrille::best_candidates(workload, "", {})[0];
          const Candidate first = quadrille::best_candidates(workload, "", {}, true)[0];
          EXPECT_EQ(candidate_text(chosen), candidate_text(first)) << bytes;
          EXPECT_EQ(chosen.time, first.time);
        }
}

}  // namespace
}  // namespace quadrille
