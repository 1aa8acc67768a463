// Compares the model's choices with a search over all numbers, and with known results.
#include "generator/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "simulate/flags.h"
#include "tests/support/property.h"
#include "tests/support/topologies.h"

namespace quadrille::candidates_test {

const Algorithm& algorithm(const std::string& name) {
  return *find_algorithm(Collective::kAlltoall, name);
}

// Returns the candidates for an all-to-all of one group.
std::vector<Candidate> best_candidates(const Topology& topology, int64_t bytes,
                                       const Machine& machine, const std::string& name,
                                       const Fixed& fixed) {
  return quadrille::best_candidates({Collective::kAlltoall, {topology}, bytes, {}, machine}, name,
                                    fixed);
}

constexpr int64_t kAllAtOnce = 1 << 20;  // a block_count that never limits a batch

// Returns the least time of an algorithm over all radices. Batches send all their blocks at once.
int64_t least_time(const std::string& name, const std::vector<int64_t>& sizes, int64_t bytes,
                   const Machine& machine) {
  const Algorithm& each = algorithm(name);
  const Program program = make_program(each, all_choices(each)[0]);
  const Workload workload{Collective::kAlltoall, {topology_of(sizes)}, bytes, {}, machine};
  int64_t least = INT64_MAX;
  for (int64_t radix = 2; radix <= std::max<int64_t>(2, workload.groups[0].ranks()); ++radix) {
    std::vector<int64_t> numbers = {radix, kAllAtOnce};
    numbers.resize(each.numbers.size());
    least = std::min(least, estimate(program, {workload.groups, numbers, {}}, workload)->time);
  }
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
    const auto sizes = drawn_list(drawn(1, 6), 1, 6);
    const Machine machine = drawn_machine();
    const int64_t bytes = int64_t{1} << drawn(0, 20);
    const auto name = drawn_of<std::string>("tuna", "tuna-coalesced", "tuna-staggered");
    Fixed fixed;
    if (name != "tuna") fixed["block_count"] = kAllAtOnce;
    const std::vector<Candidate> best =
        best_candidates(topology_of(sizes), bytes, machine, name, fixed);
    REQUIRE(best.size() == 1u);
    const int64_t least = least_time(name, sizes, bytes, machine);
    REQUIRE(10 * best[0].time <= 11 * least);
    REQUIRE(best[0].time >= least);
  }));
}

TEST(Choice, IsNearTheBestOfAllRadicesOnManyRanks) {
  for (const int64_t bytes : {8, 512, 1 << 14}) {
    const int64_t least = least_time("tuna", {100}, bytes, {});
    const int64_t found = best_candidates(topology_of({100}), bytes, {}, "tuna", {})[0].time;
    EXPECT_LE(10 * found, 11 * least) << bytes << " bytes";
    EXPECT_GE(found, least);
  }
}

TEST(Choice, TakesSmallBatchesWhereMessagesOnTheWayToAPortSlowItDown) {
  Machine congested;
  const auto batch = [&](int64_t bytes) {
    return best_candidates(topology_of({4, 4, 4, 4}), bytes, congested, "tuna-staggered", {})[0]
        .numbers[1];
  };
  EXPECT_GE(batch(8), 8);
  EXPECT_GE(batch(512), 8);
  congested.beta_congestion_ps = 100'000;
  EXPECT_GE(batch(8), 8);
  EXPECT_LE(batch(512), 2);
}

// The radix may fall a little where several radices take equally long.
TEST(Choice, IsOfAGreaterRadixForLargerBlocks) {
  for (const std::string name : {"tuna", "tuna-coalesced"}) {
    int64_t radix = 2;
    for (int64_t bytes = 1; bytes <= 1 << 20; bytes *= 4) {
      const std::vector<Candidate> best =
          best_candidates(topology_of({16, 16, 16, 16, 16, 16, 16, 16}), bytes, {}, name, {});
      EXPECT_GE(4 * best[0].numbers[0], 3 * radix) << name << ", " << bytes << " bytes";
      radix = best[0].numbers[0];
    }
    EXPECT_GE(radix, 16) << name;
  }
}

TEST(Choice, SendsSmallBlocksInFewMessagesAndLargeOnesStraight) {
  const Topology topology = topology_of({8, 8, 4, 12});
  const Candidate of_short_ones = best_candidates(topology, 16, {}, "", {})[0];
  EXPECT_LT(of_short_ones.work.between + of_short_ones.work.inside, 31);
  const Algorithm& of_long_ones = *best_candidates(topology, 1 << 20, {}, "", {})[0].algorithm;
  EXPECT_TRUE(is_direct(make_program(of_long_ones, all_choices(of_long_ones)[0])));
}

TEST(Choice, IsOfADirectScheduleIfNoOtherTakesMuchLess) {
  const Topology topology = topology_of({8, 8, 8, 8});
  Machine machine{{0, 100}, {0, 0}, {0, 0}, 0, 0, PortScope::kNode};
  // Only bytes between nodes take time at first. A longer gap favors schedules that forward blocks inside nodes.
  bool is_direct_first = true;
  for (const int64_t gap : {0, 4, 16, 64, 256, 1024}) {
    machine.gap_ns = gap;
    const std::vector<Candidate> all = best_candidates(topology, kLong, machine, "", {});
    const Algorithm& first = *all[0].algorithm;
    const bool is_direct_now = is_direct(make_program(first, all_choices(first)[0]));
    EXPECT_TRUE(is_direct_first || !is_direct_now) << gap;
    is_direct_first = is_direct_now;
    for (size_t i = 2; i < all.size(); ++i) EXPECT_LE(all[i - 1].time, all[i].time);
    if (is_direct_now)
      EXPECT_LE(all[0].time, 1.15 * all[1].time) << gap;
    else
      EXPECT_LE(all[0].time, all[1].time + all[1].time / kAlike) << gap;
  }
  EXPECT_FALSE(is_direct_first);
}

// `calibrate` measured this machine with blocks of 573 bytes. Direct schedules took 1.1 to 1.8 times as long as
// others.
TEST(Choice, OfShortBlocksForwardsEvenIfTheModelSeesLittleDifference) {
  MachineArguments measured;
  measured.machine = "tests/generator/calibrated.json";
  const Result<Machine> machine = read_machine(measured);
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  for (const std::vector<int64_t>& nodes :
       {std::vector<int64_t>{2, 2, 2, 2, 2}, {5, 5, 5}, {1, 6, 3, 4}}) {
    const auto chosen = [&](int64_t bytes) {
      return best_candidates(topology_of(nodes), bytes, *machine, "", {})[0];
    };
    for (const int64_t bytes : {512, 573}) EXPECT_FALSE(chosen(bytes).direct) << bytes;
    EXPECT_TRUE(chosen(32768).direct);
  }
}

TEST(Choice, HasNoMoreAtOnceThanItMust) {
  const auto block_count = [](int64_t gap) {
    Machine machine;
    machine.gap_ns = gap;
    const Fixed fixed = {{"radix", 2}};
    return best_candidates(topology_of(std::vector<int64_t>(16, 1)), 16, machine, "tuna-staggered",
                           fixed)[0]
        .numbers[1];
  };
  EXPECT_EQ(block_count(1'000'000), 1);  // the port is busy all the time anyway
  EXPECT_GE(block_count(0), 8);
}

// Alpha times any power of four makes the rule slower, and half the fitted size is no faster. The file has that size.
TEST(Choice, FitsTheModelOfBlockSizes) {
  Workload workload{Collective::kBroadcast, {topology_of({4, 4, 4, 4})}, 1 << 20};
  const Candidate best = quadrille::best_candidates(workload, "pipeline-nodes", {})[0];
  const Program program = make_program(*best.algorithm, all_choices(*best.algorithm)[0]);
  std::set<int64_t> times;
  for (int64_t alpha = workload.machine.between.alpha_ns / 64; alpha < 1'000'000; alpha *= 4) {
    const Job job{workload.groups, {kRuleAuto}, {{alpha, workload.machine.between.beta_ps}}};
    times.insert(estimate(program, job, workload)->time);
  }
  EXPECT_GT(times.size(), 3u);
  EXPECT_LT(best.time, *times.begin() - *times.begin() / kAlike);
  EXPECT_TRUE(best.has_fixed_block);
  const auto time = [&](const Job& job) { return estimate(program, job, workload)->time; };
  EXPECT_EQ(time(job_of(best, workload)), best.time);
  EXPECT_GE(time({workload.groups, {best.block_size / 2}, {{}}}), best.time - best.time / kAlike);
}

TEST(Choice, LeavesTheBlockSizeToTheRuleIfSmallerBlocksGainNothing) {
  const Workload workload{Collective::kAllgather, {topology_of({1, 1, 1, 1})}, 1000};
  const Candidate best = quadrille::best_candidates(workload, "blocked-ring", {})[0];
  EXPECT_FALSE(best.has_fixed_block);
  EXPECT_EQ(best.block_size, 1000);
}

// The measured wire passes some KiB at once and shows no latency.
TEST(Choice, MakesNoTinyBlocksWhereCalibrateFoundNoLatency) {
  Workload workload{Collective::kReduceScatter, {topology_of({2, 2, 4, 8})}, 131072};
  workload.machine = {{0, 40669}, {79760, 157}, {23, 249}, 18582, 3765, PortScope::kNode};
  for (const Candidate& each : quadrille::best_candidates(workload, "", {})) {
    EXPECT_FALSE(each.is_fitted) << candidate_text(each);
    EXPECT_TRUE(each.block_size == 0 || each.block_size >= 1000) << candidate_text(each);
  }
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

// Returns a workload on nodes of these sizes. An empty `second` means one group.
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
        const std::vector<Candidate> all = best_candidates(workload, "", {});
        ASSERT_FALSE(all.empty()) << name_of(collective);
        for (const Candidate& candidate : all)
          EXPECT_GE(candidate.time, least_time(workload)) << candidate_text(candidate);
      }
    }
  }
}

TEST(Choice, IsOfFewMessagesForShortOnesAndOfFewBytesForLongOnes) {
  const auto on_nodes = [](int64_t nodes, Collective collective, int64_t bytes) {
    return chosen(workload_of(collective, std::vector<int64_t>(nodes, 1), {}, bytes));
  };
  EXPECT_EQ(on_nodes(128, Collective::kAllreduce, 8), "recursive-multiplying");
  EXPECT_EQ(on_nodes(16, Collective::kAllreduce, 1 << 24), "segments");
  EXPECT_EQ(on_nodes(16, Collective::kBroadcast, 8), "tree-nodes");
  EXPECT_EQ(on_nodes(16, Collective::kBroadcast, 1 << 24), "pipeline");
  const auto between = [](Collective collective, int64_t bytes) {
    const std::vector<int64_t> ones(16, 1);
    return chosen(workload_of(collective, ones, ones, bytes));
  };
  EXPECT_EQ(between(Collective::kAllgather, 8), "linear-nodes");
  EXPECT_EQ(between(Collective::kAllgather, 1 << 24), "segment-map-v");
  EXPECT_EQ(between(Collective::kReduce, 8), "linear-nodes");
  EXPECT_EQ(between(Collective::kReduce, 1 << 24), "segments");
}

TEST(Choice, IsOfWhatServesAllCountsAndKeepsTheOrderWhereThatIsWanted) {
  const std::vector<int64_t> ones(4, 1);
  for (const Candidate& candidate :
       best_candidates(workload_of(Collective::kAllgather, ones, ones, 1000), "", {}))
    EXPECT_NE(candidate.algorithm->name, "segment-map");
  Workload uneven = workload_of(Collective::kReduceScatter, ones, {}, 0);
  uneven.counts = {{1 << 24, 0, 0, 0}};
  EXPECT_EQ(chosen(uneven), "hypercube");
  uneven.ordered = true;
  EXPECT_EQ(chosen(uneven), "halving");
  for (const Candidate& candidate : best_candidates(uneven, "", {}))
    EXPECT_FALSE(candidate.commutative);
}

TEST(Estimates, OfAReduceScatterBetweenGroupsAreOfVectorsOfOneLength) {
  // Each rank of the first group receives 225 of 900 bytes from each of two ranks; each of the second receives 450.
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
    // A root that is alone in its group receives eight messages. A root in the group of eight receives one.
    EXPECT_EQ(all[0].time, 2000 + (8 + 1) * (50 + 100) / 2);
    EXPECT_EQ(all[0].work.between, 8);
    EXPECT_EQ(least_time(workload), 2000 + (8 + 1) * 100 / 2);
  }
}

// A ring of one rank a node takes p - 1 messages, one after the other.
TEST(Estimates, OfLargeCallsFollowFromThoseOnFewerNodes) {
  const Algorithm& ring = *find_algorithm(Collective::kAllgather, "linear-ring");
  const Program program = make_program(ring, all_choices(ring)[0]);
  for (const int64_t ranks : {500, 1500, 6000}) {
    const Workload workload{
        Collective::kAllgather, {topology_of(std::vector<int64_t>(ranks, 1))}, 1000};
    const Result<Estimate> found = estimate(program, {workload.groups, {}, {}}, workload);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(found->is_fitted, ranks > 500);
    const double expected = static_cast<double>(ranks - 1) * (2000 + 50 + 100);
    EXPECT_NEAR(static_cast<double>(found->time), expected, 0.03 * expected) << ranks;
  }
}

// Each rank goes through a ring of all ranks, though a byte makes few messages.
TEST(Estimates, OfLongLoopsFollowFromThoseOnFewerNodes) {
  const Algorithm& ring = *find_algorithm(Collective::kReduce, "ring");
  const Program program = make_program(ring, all_choices(ring)[0]);
  for (const int64_t ranks : {1000, 16000}) {
    const Workload workload{Collective::kReduce, {topology_of(std::vector<int64_t>(ranks, 1))}, 1};
    const Result<Estimate> found = estimate(program, {workload.groups, {}, {}}, workload);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(found->is_fitted, ranks > 1000);
    const double expected = static_cast<double>(ranks - 1) * 2000;
    EXPECT_NEAR(static_cast<double>(found->time), expected, 0.1 * expected) << ranks;
  }
}

// Each rank of a chain adds the same time. The rule would cut other blocks on fewer ranks.
TEST(Estimates, OfLongChainsFollowFromShorterOnesWithTheSameBlocks) {
  const Algorithm& chain = *find_algorithm(Collective::kScan, "pipeline");
  const Program program = make_program(chain, all_choices(chain)[0]);
  const auto time_on = [&](int64_t ranks, const std::vector<std::string>& parameters) {
    const Workload workload{
        Collective::kScan, {topology_of(std::vector<int64_t>(ranks, 1))}, 1 << 20};
    const Job job{workload.groups, {kRuleAuto}, {{100, 100}}};
    const Result<Estimate> found = estimate(program, job, workload, parameters);
    EXPECT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(found->is_fitted, ranks > 128);
    return static_cast<double>(found->time);
  };
  const std::vector<std::string> blocks = {"B=2048"};
  const double added = time_on(128, blocks) - time_on(64, blocks);
  const double expected = time_on(128, blocks) + 14 * added;
  EXPECT_NEAR(time_on(1024, blocks), expected, 0.02 * expected);
  EXPECT_GT(time_on(1024, {}), 1023 * 2000);  // the latencies alone
}

// The estimate halves the ranks of each node, so a port passes a quarter of the bytes. It keeps the nodes: one node
// alone has no port, and half of the nodes exchange other bytes.
TEST(Estimates, OfLargeCallsOnFewNodesFollowFromThoseWithFewerRanks) {
  const Algorithm& linear = *find_algorithm(Collective::kAlltoall, "linear");
  const Program program = make_program(linear, all_choices(linear)[0]);
  const auto time_on = [&](const std::vector<int64_t>& sizes, bool is_fitted) {
    const Workload workload{Collective::kAlltoall, {topology_of(sizes)}, 10000};
    const Result<Estimate> found = estimate(program, {workload.groups, {}, {}}, workload);
    EXPECT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(found->is_fitted, is_fitted);
    EXPECT_GE(found->time, least_time(workload));
    return static_cast<double>(found->time);
  };
  const double two = time_on({200, 200}, false);
  EXPECT_NEAR(time_on({400, 400}, true), 4 * two, 0.4 * two);
  const double four = time_on({128, 128, 128, 128}, false);
  EXPECT_NEAR(time_on({256, 256, 256, 256}, true), 4 * four, 0.4 * four);
}

TEST(LeastTime, IsOfWhatPassesTheBusiestPort) {
  const Machine machine{{2000, 100}, {500, 50}, {50, 50}, 0, 0, PortScope::kNode};
  Workload workload = workload_of(Collective::kGather, {2, 4}, {}, 1000);
  workload.machine = machine;
  EXPECT_EQ(least_time(workload), 2000 + 4 * 100);  // all messages enter the node of rank 0
  workload.machine.port = PortScope::kRank;
  // Rank 0 receives from its own node and through its port at once, at 20 and 10 bytes a nanosecond.
  EXPECT_EQ(least_time(workload), 500 + 5000 / 30);
  workload.groups = {topology_of({6})};
  EXPECT_EQ(least_time(workload), 500 + 50);  // from all other ranks at once
  workload.groups = {topology_of({1})};
  EXPECT_EQ(least_time(workload), 0);
}

// A node that knows the root's byte at t tells others by t + 2100, t + 2200, and so on.
TEST(LeastTime, OfShortCallsIsThatOfThePostalModel) {
  const auto least = [](Collective collective, int64_t nodes, int64_t ports, int64_t others) {
    Workload workload =
        workload_of(collective, std::vector<int64_t>(nodes, 3),
                    others > 0 ? std::vector<int64_t>(others, 1) : std::vector<int64_t>{}, 1);
    workload.machine = {{2000, 0}, {500, 0}, {0, 0}, 100, 0, PortScope::kNode};
    workload.machine.ports = ports;
    return least_time(workload);
  };
  for (const Collective collective :
       {Collective::kBroadcast, Collective::kReduce, Collective::kAlltoall, Collective::kBarrier}) {
    EXPECT_EQ(least(collective, 2, 1, 0), 2100);
    EXPECT_EQ(least(collective, 21, 1, 0), 4000);
    // At 4200 the root's 22nd message arrives, and the first of the node that knew at 2100.
    EXPECT_EQ(least(collective, 22, 1, 0), 4100);
    EXPECT_EQ(least(collective, 24, 1, 0), 4200);
    EXPECT_EQ(least(collective, 25, 1, 0), 4300);
    EXPECT_EQ(least(collective, 21, 4, 0), 2500);
    // Calls with a root count with a root in either group.
    const bool has_root = collective == Collective::kBroadcast || collective == Collective::kReduce;
    EXPECT_EQ(least(collective, 3, 1, 5), has_root ? (2500 + 2300) / 2 : 2500);
  }
}

// Three nodes send to two of the other group. The others take no part.
TEST(LeastTime, CountsNodesThatTakePart) {
  Workload workload = workload_of(Collective::kAllgather, std::vector<int64_t>(10, 1), {1, 1}, 1);
  workload.machine = {{2000, 0}, {500, 0}, {0, 0}, 100, 0, PortScope::kNode};
  workload.counts = {{1, 1, 1, 0, 0, 0, 0, 0, 0, 0}, {0, 0}};
  EXPECT_EQ(least_time(workload), 2300);
}

// A port moves 10 bytes a nanosecond in each direction, and a node's memory 20.
TEST(LeastTime, IsOfWhatPassesThePortsAndTheMemoryOfANode) {
  const Machine machine{{2000, 100}, {500, 50}, {50, 50}, 0, 0, PortScope::kNode};
  Workload workload = workload_of(Collective::kBroadcast, {2, 4}, {}, 90000);
  workload.machine = machine;
  EXPECT_EQ(least_time(workload), 500 + 4 * 90000 / 30);  // four ranks receive 90,000 bytes each
  workload.collective = Collective::kAllreduce;
  EXPECT_EQ(least_time(workload),
            500 + 2 * 4 * 90000 / 40);  // eight messages, through both directions
  workload.machine.memory_ps = 0;
  EXPECT_EQ(least_time(workload), 2000 + 9000);
}

// Sends and receives share an exclusive port. So the bound adds what one node sends and receives.
TEST(LeastTime, OfExclusivePortsIsThatOfOneNode) {
  Workload workload = workload_of(Collective::kBroadcast, {1, 1}, {}, 1000);
  workload.machine = {{2000, 1000}, {500, 50}, {50, 50}, 0, 0, PortScope::kNode};
  workload.machine.exclusive = true;
  EXPECT_EQ(least_time(workload), 2000 + 1000);
  workload.collective = Collective::kAlltoall;
  EXPECT_EQ(least_time(workload), 2000 + 1000);
  workload.bytes = 5000;
  EXPECT_EQ(least_time(workload), 2 * 5000);  // longer than a latency and the bytes one way
}

PROPERTY(LeastTime, IsNoMoreThanAnyCallTakes) {
  const std::vector<Algorithm>& all = algorithms();
  const Algorithm& each = all[static_cast<size_t>(drawn(0, static_cast<int64_t>(all.size())))];
  Workload workload = workload_of(
      each.collective, drawn_list(drawn(1, 5), 1, 6),
      each.groups == 2 ? drawn_list(drawn(1, 4), 1, 6) : std::vector<int64_t>{}, drawn(1, 20000));
  workload.machine = drawn_machine();
  workload.machine.exclusive = drawn_bool();
  workload.machine.ports = drawn(1, 4);
  workload.machine.sharing = drawn_of(Sharing::kFair, Sharing::kInTurn);
  if (drawn_bool()) workload.machine.memory_ps = drawn(0, 900);
  if (drawn(0, 4) == 0) workload.machine.inside.beta_ps = 0;
  if (each.collective == Collective::kAllgather || each.collective == Collective::kReduceScatter)
    for (const Topology& group : workload.groups) {
      workload.counts.push_back(drawn_list(group.ranks(), 0, 20000));
      const int64_t zeros = drawn(0, 3);  // of three blocks
      for (int64_t& count : workload.counts.back())
        if (drawn(0, 3) < zeros) count = 0;
    }
  const std::optional<Candidate> found = best_candidate(each, workload, {});
  if (found) REQUIRE(found->time >= least_time(workload));
}

// Ranks of one node have different work here.
TEST(LeastTime, IsNoMoreThanAnAllToAllTakesWhereRanksOfANodeDiffer) {
  for (const std::vector<int64_t>& sizes :
       {std::vector<int64_t>{1, 9}, {1, 6, 3, 4}, {2, 2, 12}, {20, 30}, {1, 300}}) {
    const Workload workload = workload_of(Collective::kAlltoall, sizes, {}, 8192);
    for (const Candidate& candidate : quadrille::best_candidates(workload, "", {}))
      EXPECT_GE(candidate.time, least_time(workload)) << candidate_text(candidate);
  }
}

}  // namespace quadrille::candidates_test
