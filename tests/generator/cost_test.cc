// The model of what a call takes, and what is chosen by it: counts of programs that are known, the sum
// by hand, and choices against a search over all numbers.
#include "generator/cost.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

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

TEST(Traffic, IsThatOfTheProgram) {
  // Messages between nodes and inside, blocks likewise, copied; in flight.
  EXPECT_EQ(traffic_of("factor", {8, 8, 8, 8}, {})[0], (Traffic{8, {{24, 7, 24, 7, 0}}, 31}));
  // Three hops of half the blocks for all four nodes; 3 messages of 8 blocks; sent and received.
  const Load hop = {0, 1, 0, 16, 32};
  EXPECT_EQ(traffic_of("tuna-coalesced", {8, 8, 8, 8}, {2, 64})[0],
            (Traffic{8, {hop, hop, hop, {3, 0, 24, 0, 48}}, 24}));
  const Load node = {1, 0, 8, 0, 16};
  EXPECT_EQ(traffic_of("tuna-coalesced", {8, 8, 8, 8}, {2, 1})[0],
            (Traffic{8, {hop, hop, hop, node, node, node}, 16}));
  // Straight: no block but those for other nodes goes by a temporary block.
  EXPECT_EQ(traffic_of("tuna", {3}, {3})[0], (Traffic{3, {{0, 2, 0, 2, 0}}, 2}));
  // While three blocks go to each other rank of the node, eight go to the next node and come from
  // another; while two times eight go to the others, what has come is spread, a block for each, which a
  // rank takes out of no buffer but sends from one.
  EXPECT_EQ(traffic_of("hierarchical-overlapped", {8, 8, 8, 8}, {1})[0].rounds,
            (std::vector<Load>{{1, 7, 8, 21, 2 * 21 + 2 * 8}, {2, 7, 16, 7, 2 * 16 + 7}}));
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

TEST(CallTime, IsTheSumOverTheRoundsOfTheSlowestRank) {
  const Load inside = {0, 4, 0, 12, 6}, both = {3, 1, 30, 8, 4};
  const Traffic one{4, {inside, both, {}}, 0};
  Machine machine{{2000, 100}, {500, 50}, 400, 50, PortScope::kNode};
  // The alpha of each round, 6*(50 + 0.05*1000) and 4*(..) for copies; of the node's four ranks
  // 4*400 + 12*0.05*1000 a rank in the first, and in the second the greater of 3*400 + 30*0.1*1000
  // at the port and 4*400 + 8*0.05*1000 in memory.
  const int64_t copies = 600 + 400;
  EXPECT_EQ(call_time(machine, {one}, 1000), 2500 + copies + 4 * (1600 + 600) + 4 * (1200 + 3000));
  EXPECT_EQ(call_time(machine, {one, {}}, 1000), 2500 + copies + 4 * 2200 + 4 * 4200);
  // The greater of 3*400 + 30*0.1*100 and 4*400 + 8*0.05*100.
  EXPECT_EQ(call_time(machine, {one}, 100), 2500 + 10 * 55 + 4 * (1600 + 60) + 4 * (1600 + 40));
  // A rank's port does one after the other.
  machine.port = PortScope::kRank;
  EXPECT_EQ(call_time(machine, {one}, 1000), 2500 + copies + 2200 + 1600 + 3000 + 400);
}

TEST(CallTime, IsTheGreatestNumberWhereItIsMore) {
  const int64_t many = 1 << 28;
  const std::vector<Load> rounds(1000, {many, many, many, many, many});
  EXPECT_EQ(
      call_time({{kMaxCost, kMaxCost}, {kMaxCost, kMaxCost}, kMaxCost, kMaxCost, PortScope::kNode},
                {{many, rounds, 0}}, INT32_MAX),
      INT64_MAX);
}

constexpr int64_t kAllAtOnce = 1 << 20;  // as a block_count

// What an algorithm does with each radix.
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

TEST(Choice, IsNearTheBestOfAllRadices) {
  EXPECT_TRUE(rc::check("within 1.1", [] {
    const auto sizes = *rc::gen::container<std::vector<int64_t>>(*rc::gen::inRange<size_t>(1, 6),
                                                                 rc::gen::inRange<int64_t>(1, 12));
    const Machine machine{
        {*rc::gen::inRange<int64_t>(0, 50000), *rc::gen::inRange<int64_t>(0, 50000)},
        {*rc::gen::inRange<int64_t>(0, 9000), *rc::gen::inRange<int64_t>(0, 900)},
        *rc::gen::inRange<int64_t>(0, 5000),
        *rc::gen::inRange<int64_t>(0, 500),
        *rc::gen::element(PortScope::kNode, PortScope::kRank)};
    const int64_t bytes = int64_t{1} << *rc::gen::inRange(0, 20);
    const auto name = *rc::gen::element<std::string>("tuna", "tuna-coalesced", "tuna-staggered");
    Fixed fixed;
    if (name != "tuna") fixed["block_count"] = kAllAtOnce;
    const std::vector<Candidate> best =
        best_candidates(topology_of(sizes), bytes, machine, name, fixed);
    RC_ASSERT(best.size() == 1u);
    const int64_t least = least_time(all_traffic(name, sizes), bytes, machine);
    RC_ASSERT(10 * best[0].time <= 11 * least);
    RC_ASSERT(best[0].time >= least);
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
  EXPECT_EQ(best_candidates(topology, 16, {}, "", {})[0].algorithm->name, "tuna-coalesced");
  EXPECT_EQ(best_candidates(topology, 1 << 20, {}, "", {})[0].algorithm->name, "factor");
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
  EXPECT_EQ(block_count(pairs, 1 << 20), 32);  // so many travel inside nodes anyway
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

}  // namespace
}  // namespace quadrille
