// Every program brings every byte to its place, in plain and persistent calls on one binding. The binding reuses data
// of earlier calls. Between two calls everything may change or nothing, and the schedule may be bound in another way.
#include <gtest/gtest-spi.h>

#include <algorithm>
#include <functional>
#include <random>

#include "tests/net/runs.h"
#include "tests/support/effort.h"

namespace quadrille::net::collectives_test {

std::vector<Run> draw(const Scheduled& program, const Groups& groups, Ways ways) {
  constexpr int64_t kBlockSizes[] = {0, 61, 500, 5000};
  constexpr How kHows[] = {How::kOnce, How::kOnce, How::kThreeStarts, How::kTwoAtOnce};
  std::mt19937 random(ways.seed);
  std::vector<Run> runs;
  mpi::Allowed allowed = program.allowed();
  allowed.commutative |= !ways.keeps_order;
  for (const CollectiveCall& call :
       draw_calls(program.program.collective, groups, allowed, random, 7)) {
    const bool is_first = runs.empty();
    if (is_first || random() % 6 == 0) {
      ways.block_size = kBlockSizes[random() % 4];
      if (!is_first) ways.window = static_cast<int>(1 + random() % 5);
    }
    runs.push_back({call, ways, kHows[random() % 4]});
  }
  return runs;
}

std::vector<Groups> all_groups(int groups) {
  if (groups == 1) return {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}};
  std::vector<Groups> all;
  for (int ranks = 1; ranks <= 3; ++ranks)
    for (int remote = 1; remote <= 3; ++remote) all.push_back({ranks, remote});
  all.insert(all.end(), {{1, 4}, {4, 1}});
  return all;
}

class Collectives : public OfEachProgram {};
FOR_EACH_PROGRAM(Collectives);

unsigned next_seed = 1;
size_t way_number = 0;

TEST_P(Collectives, BringEveryByteWhereItBelongs) {
  for (const Groups& groups : all_groups(program_.program.groups)) {
    if (!program_.serves(groups)) continue;
    for (const int window : {1, 2, 16})
      for (const bool is_synchronous : {false, true})
        for (const bool is_eager : {false, true})
          for (int round = 0; round < 3; ++round) {
            const unsigned seed = next_seed++;
            if (way_number++ % (one_in(83) * kThinning) != 0) continue;
            const bool are_ranges = groups.remote > 0 && seed % 3 == 0;
            const bool keeps_order = seed % 2 == 0;
            expect_runs(program_,
                        draw(program_, groups,
                             {window, is_synchronous, is_eager, 0, seed, are_ranges, keeps_order}));
            if (HasFailure()) return;
          }
  }
}

// ---- All-to-alls and allgathers on fixed nodes
//
// To run all ways: EVERY_CASE=1 bazel run //tests/net:calls_test -- --gtest_filter=FixedNodes.*

TEST(FixedNodes, HaveRightAllToAlls) {
  expect_all_ways(Collective::kAlltoall, all_sizes(1, 6), 2, 31);
  expect_all_ways(Collective::kAlltoall, all_sizes(7, 9), 2, 161);
  expect_all_ways(Collective::kAlltoall, random_sizes(6, 10, 20), 2, 161);
}

TEST(FixedNodes, HaveRightAllgathers) {
  expect_all_ways(Collective::kAllgather, all_sizes(1, 6), 3, 5);
  expect_all_ways(Collective::kAllgather, all_sizes(7, 9), 2, 21);
  expect_all_ways(Collective::kAllgather, random_sizes(6, 10, 20), 2, 31);
}

TEST(FixedNodes, HaveRightCallsIfCountsChangeWhileBlocksStayInPlace) {
  for (const auto& [collective, most] :
       {std::pair(Collective::kAlltoall, 4), std::pair(Collective::kAllgather, 6)})
    for (const auto& sizes : all_sizes(2, most))
      for (const Scheduled& one : scheduled_on(collective, sizes)) expect_changing_counts(one);
}

// ---- Lengths, block sizes and buffers

// The runtime keeps prepared calls, and the program changes the arrays of lengths between its calls.
TEST(CollectiveLengths, OfTheSameArraysAreThoseOfTheMoment) {
  for (const Scheduled& program : {exchanging("factor", {3}), exchanging("tuna", {3}, {2})})
    expect_no_problem(machine_of(program, {}), [&](MPI_Comm comm) {
      const Bound bound(program, {}, comm);
      const int own = this_rank();
      std::vector<int> sent(9), received(9), sends(3), receives(3);
      const std::vector<int> places = {0, 3, 6};
      for (const int longest : {1, 1, 2, 1, 3, 3}) {
        const auto length = [&](int from, int to) { return from < to ? longest : 1; };
        const auto value = [&](int from, int to, int i) {
          return 1000 * longest + 100 * from + 10 * to + i;
        };
        received.assign(9, -1);
        for (int peer = 0; peer < 3; ++peer) {
          sends[peer] = length(own, peer);
          receives[peer] = length(peer, own);
          for (int i = 0; i < 3; ++i) sent[3 * peer + i] = value(own, peer, i);
        }
        EXPECT_EQ(
            quadrille_alltoallv(bound, sent.data(), sends.data(), places.data(), MPI_INT,
                                received.data(), receives.data(), places.data(), MPI_INT, comm),
            MPI_SUCCESS);
        for (int peer = 0; peer < 3; ++peer)
          for (int i = 0; i < 3; ++i)
            EXPECT_EQ(received[3 * peer + i], i < receives[peer] ? value(peer, own, i) : -1);
      }
    });
}

// A rank that forwards passes equal arguments to both calls, but only in the second do the lengths of other ranks
// travel.
TEST(CollectiveLengths, ThatTravelledAreNotTakenForThoseOfTheNextCall) {
  const Scheduled& program = program_named("gather binomial");
  const Groups groups{4, 0};
  expect_no_problem(machine_of(program, groups, {}), [&](MPI_Comm comm) {
    const Bound bound(program, groups, {}, comm);
    const std::vector<int> sent(9, 10 + this_rank()), counts = {2, 2, 2, 9}, places = {0, 2, 4, 6};
    std::vector<int> all(15);
    const std::vector<int> equal = {10, 10, 11, 11, 12, 12, 13, 13};
    for (int round = 0; round < 2; ++round) {
      all.assign(15, -1);
      EXPECT_EQ(quadrille_gather(bound, sent.data(), 2, MPI_INT, all.data(), 2, MPI_INT, 0, comm),
                MPI_SUCCESS);
      EXPECT_TRUE(this_rank() != 0 || std::equal(equal.begin(), equal.end(), all.begin()));
      const int own = counts[static_cast<size_t>(this_rank())];
      EXPECT_EQ(quadrille_gatherv(bound, sent.data(), own, MPI_INT, all.data(), counts.data(),
                                  places.data(), MPI_INT, 0, comm),
                MPI_SUCCESS);
      EXPECT_TRUE(this_rank() != 0 || all.back() == 13);
    }
  });
}

// Returns how many sends rank 1 posts in a call on four ranks.
int64_t sends_of_a_call(const std::string& name, int64_t rule,
                        const std::function<void(Bound&, MPI_Comm)>& call) {
  const Scheduled& program = program_named(name);
  Job job = program.job;
  job.parameters = {rule};
  job.models = {{2000, 100}};
  const Groups groups{4, 0};
  const Scheduled chosen(name, program.program, job);
  const Outcome outcome = simulate(machine_of(chosen, groups, {}), [&](MPI_Comm comm) {
    Bound bound(chosen, groups, {}, comm);
    call(bound, comm);
  });
  EXPECT_EQ(outcome.text(), "");
  return std::ranges::count(outcome.listings[1], Event::Kind::kSend, &Event::kind);
}

// Returns the sends of rank 1 in a broadcast of 1 MiB.
int64_t sends_of_a_broadcast(const std::string& name, int64_t rule) {
  return sends_of_a_call(name, rule, [](Bound& bound, MPI_Comm comm) {
    std::vector<char> bytes(1 << 20, static_cast<char>(this_rank() == 0));
    EXPECT_EQ(quadrille_bcast(bound, bytes.data(), 1 << 20, MPI_BYTE, 0, comm), MPI_SUCCESS);
    EXPECT_EQ(bytes.back(), 1);
  });
}

// For a ring with equal contributions, the rule would choose one block.
TEST(CollectiveBlocks, OfAPipelineAreChosenForAChain) {
  EXPECT_GT(sends_of_a_broadcast("broadcast pipeline", kRuleAuto), 4);
}

// A block passes 3 ranks of these trees, so the model cuts 9 blocks, and rank 1 sends every second. A chain would
// give 12.
TEST(CollectiveBlocks, OfAHypercubeAreChosenForItsTrees) {
  EXPECT_EQ(sends_of_a_broadcast("broadcast hypercube", kRuleModel), 5);
}

// Four contributions have as many bytes together, so there are 9 blocks again. A rank sends in each of 9 + 2 rounds.
TEST(CollectiveBlocks, OfAnAllgatherOverTreesAreChosenForTheSumOfTheContributions) {
  const int64_t sends =
      sends_of_a_call("allgather hypercube", kRuleModel, [](Bound& bound, MPI_Comm comm) {
        const std::vector<char> own(1 << 18, 1);
        std::vector<char> all(1 << 20, 0);
        EXPECT_EQ(quadrille_allgather(bound, own.data(), 1 << 18, MPI_BYTE, all.data(), 1 << 18,
                                      MPI_BYTE, comm),
                  MPI_SUCCESS);
        EXPECT_EQ(all, std::vector<char>(1 << 20, 1));
      });
  EXPECT_EQ(sends, 11);
}

// Returns the sends of rank 1 in a reduction of `bytes` bytes, whose elements have that type.
template <typename Number>
int64_t sends_of_a_reduce(int64_t rule, MPI_Datatype type, int bytes,
                          const std::string& algorithm = "reduce pipeline") {
  return sends_of_a_call(algorithm, rule, [=](Bound& bound, MPI_Comm comm) {
    const int count = bytes / static_cast<int>(sizeof(Number));
    std::vector<Number> numbers(static_cast<size_t>(count), 1), sum(numbers.size());
    EXPECT_EQ(quadrille_reduce(bound, numbers.data(), sum.data(), count, type, MPI_SUM, 0, comm),
              MPI_SUCCESS);
    EXPECT_TRUE(this_rank() != 0 || sum.back() == 4);
  });
}

TEST(CollectiveBlocks, OfAReductionHaveTheSizeInBytesWhateverTheElements) {
  EXPECT_EQ(sends_of_a_reduce<int>(64, MPI_INT, 256), 4);
  EXPECT_EQ(sends_of_a_reduce<int64_t>(64, MPI_INT64_T, 256), 4);
  EXPECT_EQ(sends_of_a_reduce<int64_t>(5, MPI_INT64_T, 256), 32);  // an element is longer than that
  const int64_t sends = sends_of_a_reduce<int>(kRuleAuto, MPI_INT, 1 << 20);
  EXPECT_GT(sends, 4);
  EXPECT_EQ(sends_of_a_reduce<int64_t>(kRuleAuto, MPI_INT64_T, 1 << 20), sends);
}

// The broadcast's trees in the opposite direction: every rank except the root sends each block.
TEST(CollectiveBlocks, OfAReductionAlongTreesAreChosenForThem) {
  EXPECT_EQ(sends_of_a_reduce<int>(kRuleModel, MPI_INT, 1 << 20, "reduce hypercube"), 9);
}

// Shows that the tests here notice a wrong byte.
TEST(Buffers, TellOfOneWrongByteInABlockAndOfOneBesideBlocks) {
  const mpi::Shape& shape = mpi::integer_shapes()[2];
  mpi::Buffer expected(mpi::scattered({&shape, &shape}, {3, 1}, 1));
  expected.fill([](int block) { return mpi::Contents(17, block, 0); });
  mpi::Buffer inside = expected, beside = expected;
  inside.each(0, 1, [](uint8_t& at, size_t) { at ^= 1; });
  beside.raw(3) ^= 1;
  expected.expect_equal(expected, "no byte");
  EXPECT_NONFATAL_FAILURE(inside.expect_equal(expected, "one byte"), "is wrong");
  EXPECT_NONFATAL_FAILURE(beside.expect_equal(expected, "one byte"), "is wrong");
}

}  // namespace quadrille::net::collectives_test
