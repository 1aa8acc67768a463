// The model of a call's time: the traffic of known programs, and times computed by hand.
#include "generator/cost.h"

#include <gtest/gtest.h>

#include "generator/registry.h"

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

// All ranks behave alike.
std::vector<Stage> alike(int64_t samples, std::vector<Stage> stages) {
  for (Stage& stage : stages) {
    const Load& load = stage.most;
    stage.sum = {samples * load.between, samples * load.inside, samples * load.blocks_between,
                 samples * load.blocks_inside, samples * load.copied};
  }
  return stages;
}

TEST(Traffic, IsThatOfTheProgram) {
  // Messages between nodes and inside, blocks between nodes and inside, copied blocks; then blocks in flight.
  EXPECT_EQ(traffic_of("factor", {8, 8, 8, 8}, {})[0],
            (Traffic{8, 8, alike(8, {{0, 0, {24, 7, 24, 7, 0}, {}}}), 31}));
  // Three hops of half the blocks for all four nodes; then 3 messages of 8 blocks. Blocks are copied when sent and
  // when received.
  const Load hop = {0, 1, 0, 16, 32}, all = {3, 0, 24, 0, 48}, node = {1, 0, 8, 0, 16};
  EXPECT_EQ(
      traffic_of("tuna-coalesced", {8, 8, 8, 8}, {2, 64})[0],
      (Traffic{8, 8, alike(8, {{0, 0, hop, {}}, {1, 1, hop, {}}, {2, 2, hop, {}}, {3, 3, all, {}}}),
               24}));
  EXPECT_EQ(traffic_of("tuna-coalesced", {8, 8, 8, 8}, {2, 1})[0],
            (Traffic{8, 8,
                     alike(8, {{0, 0, hop, {}},
                               {1, 1, hop, {}},
                               {2, 2, hop, {}},
                               {3, 3, node, {}},
                               {4, 4, node, {}},
                               {5, 5, node, {}}}),
                     16}));
  // Direct: only blocks for other nodes pass through a temporary block.
  EXPECT_EQ(traffic_of("tuna", {3}, {3})[0],
            (Traffic{3, 3, alike(3, {{0, 0, {0, 2, 0, 2, 0}, {}}}), 2}));
}

TEST(Traffic, TellsWhatNeedsNotWait) {
  // Three blocks go to each other rank of the node. Meanwhile eight go to the next node, and eight arrive from
  // another. When the first have arrived, two times eight go to the other nodes. When the second have, too, they are
  // spread, one block for each rank. A rank sends these directly from a buffer, without a copy.
  const Load gather = {0, 7, 0, 21, 2 * 21}, early = {1, 0, 8, 0, 2 * 8},
             late = {2, 0, 16, 0, 2 * 16}, spread = {0, 7, 0, 7, 7};
  const std::vector<Stage> expected =
      alike(8, {{0, 0, gather, {}}, {0, 0, early, {}}, {1, 1, late, {}}, {2, 1, spread, {}}});
  EXPECT_EQ(traffic_of("hierarchical-overlapped", {8, 8, 8, 8}, {1})[0].stages, expected);
}

TEST(Traffic, IsThatOfTheLeastTheMiddleAndTheLargestNode) {
  const std::vector<Traffic> all = traffic_of("factor", {1, 2, 3, 4, 5}, {});
  ASSERT_EQ(all.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(all[i].node_ranks, 1 + 2 * static_cast<int64_t>(i));
    EXPECT_EQ(all[i].total().between, 15 - all[i].node_ranks);
    EXPECT_EQ(all[i].total().inside, all[i].node_ranks - 1);
  }
}

TEST(Traffic, IsThatOfAllRanksOfANodeAsTheyMayDiffer) {
  // Rank 0 has blocks for nine others. The rank that serves it has all of them for it, and the others none.
  const std::vector<Traffic> all = traffic_of("hierarchical-overlapped", {1, 9}, {0});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].samples, 9);
  int64_t leave = 0;
  for (const Stage& stage : all[1].stages) leave += stage.sum.blocks_between;
  EXPECT_EQ(leave, 9);
  EXPECT_EQ(all[1].total().blocks_between, 9);
}

TEST(Traffic, HasAllThatMustLeaveANodeOfWhichNotAllRanksWereLookedAt) {
  // The last rank sends all data that leaves, and is not sampled.
  const Traffic large = traffic_of("hierarchical-overlapped", {1, 300}, {0})[1];
  EXPECT_EQ(large.samples, 32);
  EXPECT_EQ(large.stages.back().sum.blocks_between, 32);
  const Machine machine{{2000, 100}, {0, 0}, {0, 0}, 0, 0, PortScope::kNode};
  EXPECT_EQ(call_time(machine, {large}, 1000), 300 * 100 + 2000);
}

TEST(Traffic, IsThatOfOneNodeOfASizeAndOfFewRanksWhereNothingLeaves) {
  EXPECT_EQ(traffic_of("factor", {2, 2, 2}, {}).size(), 1u);
  EXPECT_EQ(traffic_of("factor", {2, 2, 5, 5}, {}).size(), 2u);
  EXPECT_EQ(traffic_of("factor", {9}, {})[0].samples, 4);
}

TEST(Traffic, CountsRoundsOfWhatWaitsForEachOther) {
  const Traffic overlapped = traffic_of("hierarchical-overlapped", {8, 8, 8, 8}, {1})[0];
  EXPECT_EQ(overlapped.rounds_between(), 2);
  EXPECT_EQ(overlapped.rounds_inside(), 0);
  const Traffic coalesced = traffic_of("tuna-coalesced", {8, 8, 8, 8}, {2, 2})[0];
  EXPECT_EQ(coalesced.rounds_between(), 2);
  EXPECT_EQ(coalesced.rounds_inside(), 3);
}

TEST(CallTime, IsWhenTheLastStageIsDone) {
  const Load inside = {0, 4, 0, 12, 6}, between = {3, 0, 30, 0, 4}, both = {1, 2, 2, 2, 0};
  const auto time = [&](size_t needs, const Machine& machine) {
    const Traffic traffic{
        4, 1, alike(1, {{0, 0, inside, {}}, {0, 0, between, {}}, {needs, 1, both, {}}}), 0};
    return call_time(machine, {traffic}, 1000);
  };
  Machine machine{{2000, 100}, {500, 50}, {50, 60}, 400, 300, PortScope::kNode};
  // The first begins after six copies of 50 + 0.06*1000 ns. Then four ranks send four messages with twelve blocks in
  // memory. The second begins after four more copies, and uses the port meanwhile.
  const int64_t first = 660, second = first + 440;
  const int64_t memory = first + 4 * (4 * 300 + 12 * 50), port = second + 4 * (3 * 400 + 30 * 100);
  // The third waits only for the first, whose messages arrive before the port has sent the second's.
  ASSERT_LT(memory + 500, port);
  EXPECT_EQ(time(1, machine), port + 4 * (400 + 2 * 100) + 2000);
  EXPECT_EQ(time(2, machine), port + 2000 + 4 * (400 + 2 * 100) + 2000);
  // A rank's port takes one message after another.
  machine.port = PortScope::kRank;
  const int64_t own = first + 4 * 300 + 12 * 50 + 3 * 400 + 30 * 100;
  EXPECT_EQ(time(1, machine), own + 400 + 2 * 100 + 2000);
  EXPECT_EQ(time(2, machine), own + 2000 + 400 + 2 * 100 + 2000);
  machine.inside.alpha_ns =
      5000;  // the message inside is behind the other at the port, and takes longer
  EXPECT_EQ(time(2, machine), own + 2000 + 400 + 2 * 100 + 2 * 300 + 2 * 50 + 5000);
}

TEST(CallTime, OfANodeIsByTheMeanOfItsRanksAndOfARankByTheSlowest) {
  const Traffic one{6, 2, {{0, 0, {3, 0, 3, 0, 0}, {4, 0, 4, 0, 0}}}, 0};
  Machine machine{{2000, 100}, {500, 50}, {50, 50}, 400, 300, PortScope::kNode};
  EXPECT_EQ(call_time(machine, {one}, 1000), 6 * 2 * (400 + 100) + 2000);
  EXPECT_EQ(call_time(machine, {one, {}}, 1000), 6 * 2 * (400 + 100) + 2000);
  machine.port = PortScope::kRank;
  EXPECT_EQ(call_time(machine, {one}, 1000), 3 * (400 + 100) + 2000);
}

TEST(CallTime, IsTheGreatestNumberWhereItIsMore) {
  const int64_t many = 1 << 28;
  const Load load = {many, many, many, many, many};
  const std::vector<Stage> stages(1000, {0, 0, load, load});
  const LinearModel most = {kMaxCost, kMaxCost};
  EXPECT_EQ(call_time({most, most, most, kMaxCost, kMaxCost, PortScope::kNode},
                      {{many, 1, stages, 0}}, INT32_MAX),
            INT64_MAX);
}

}  // namespace
}  // namespace quadrille
