// One rank runs out of memory, at each of its allocations in turn (shortage.h).
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "tests/net/shortage.h"
#include "tests/support/effort.h"

namespace quadrille::net {
namespace {

// ---- Every program

// How the call that runs out of memory differs from the call before it.
enum class Change { kFirst, kLonger, kRoot, kTypes, kNothing };

CollectiveCall call_of(const Scheduled& program, const Groups& groups, LengthKind lengths) {
  CollectiveCall call;
  call.collective = program.program.collective;
  call.groups = groups;
  call.lengths = lengths;
  call.form = program.allowed().equal_counts ? 0 : 1;
  call.types = reduces(call.collective) ? (program.program.commutative ? 2 : 3) : 1;
  call.length_seed = 1;  // so that some blocks are not empty
  return call;
}

Shortage shortage(const Scheduled& program, const Groups& groups, Change change, const Ways& ways) {
  CollectiveCall before = call_of(program, groups, LengthKind::kUneven);
  CollectiveCall call = before;
  call.seed = 5;
  if (change == Change::kLonger) call.lengths = LengthKind::kLong;
  if (change == Change::kRoot) call.root = groups.all() - 1;
  if (change == Change::kTypes) before.types = reduces(call.collective) ? 0 : 3;
  CollectiveCall after = call;
  after.seed = 6;
  if (change == Change::kFirst) return {program, ways, {call, after, before}, 0};
  return {program, ways, {before, call, after, before}, 1};
}

size_t way_number = 0;

bool takes_next_way(size_t stride) { return way_number++ % (one_in(stride) * kThinning) == 0; }

void expect_no_harm_of(const Scheduled& program, const Groups& groups, Change change,
                       size_t stride) {
  for (const bool is_eager : {false, true})
    for (const int window : {1, 16}) {
      if (!takes_next_way(stride)) continue;
      expect_no_harm(shortage(program, groups, change, {window, false, is_eager}));
      if (testing::Test::HasFailure()) return;
    }
}

class MemoryOfEachProgram : public OfEachProgram {
 protected:
  const Groups groups_ = is_between_ ? Groups{2, 2} : Groups{4, 0};
};

FOR_EACH_PROGRAM(MemoryOfEachProgram);

TEST_P(MemoryOfEachProgram, ThatRunsOutHangsNobody) {
  if (program_.allowed().equal_counts || collective_ == Collective::kBarrier) return;
  for (const Change change : {Change::kFirst, Change::kLonger, Change::kTypes, Change::kNothing})
    expect_no_harm_of(program_, groups_, change, 127);
}

TEST_P(MemoryOfEachProgram, ThatRunsOutWhereTheRootChangesHangsNobody) {
  if (rooted(collective_)) expect_no_harm_of(program_, groups_, Change::kRoot, 13);
}

TEST_P(MemoryOfEachProgram, ThatRunsOutWhileAPersistentCallIsMadeIsOneErrorEverywhere) {
  if (!program_.serves(groups_)) return;
  for (const Change change : {Change::kLonger, Change::kRoot}) {
    Shortage s = shortage(program_, groups_, change, {2});
    // Elements with gaps and a commutative operator: starts of such a call need no memory.
    if (reduces(collective_))
      for (CollectiveCall& call : s.calls) call.types = 2;
    s.is_persistent = true;
    if (takes_next_way(83)) {
      EXPECT_GT(expect_no_harm(s), 10);
    }
    if (HasFailure()) return;
  }
}

// Starts take no memory, even if the call's plan is made in parts.
TEST_P(MemoryOfEachProgram, IsTakenWhenAPersistentCallIsMadeAndNoneLater) {
  if (!program_.serves(groups_)) return;
  for (const int64_t block_size : {0, 2}) {
    CollectiveCall call = call_of(program_, groups_, LengthKind::kLong);
    // Elements with gaps and a commutative operator: contributions of other ranks are staged until they are combined.
    call.types = 2;
    const Ways ways{.window = 2, .block_size = block_size};
    testing::ScopedTrace trace(__FILE__, __LINE__, program_.name + ", " + ways.text());
    const CountedAllocations counted(groups_.all());
    expect_no_problem(machine_of(program_, groups_, ways), [&](MPI_Comm comm) {
      quadrille_request request;
      const Bound bound(program_, groups_, ways, comm);
      CollectivePart part(call, this_rank());
      EXPECT_EQ(part.make(bound, comm, &request), MPI_SUCCESS);
      for (unsigned seed = 1; seed < 3; ++seed) {
        part.fill(seed);
        arm(1);
        EXPECT_EQ(quadrille_start(request), MPI_SUCCESS);
        EXPECT_EQ(quadrille_wait(request), MPI_SUCCESS);
        EXPECT_FALSE(disarm());
        EXPECT_TRUE(part.is_right());
      }
      EXPECT_EQ(quadrille_free_request(&request), MPI_SUCCESS);
    });
    if (!program_.takes_block_size || HasFailure()) return;
  }
}

// One program of each kind: with temporary blocks, with lengths that travel, with counts from the other group.
TEST(MemoryOfEachKind, IsNoticedWhereItRunsOut) {
  for (const char* const name :
       {"reduce binomial", "gather binomial", "allgather between groups segment-map-v"}) {
    const Scheduled& program = program_named(name);
    const Groups groups = program.program.groups == 2 ? Groups{2, 2} : Groups{4, 0};
    long most = 0;
    for (const Change change : {Change::kFirst, Change::kLonger, Change::kTypes})
      most = std::max(most, expect_no_harm(shortage(program, groups, change, {2})));
    EXPECT_GT(most, 0) << name;
  }
}

TEST(MemoryOfEachKind, RunsOutBeforeAnEmptyMessageOfTheSameRank) {
  const Scheduled& program = program_named("allreduce circulant");
  const Groups groups = {3, 0};
  for (const bool is_eager : {false, true}) {
    CollectiveCall call = call_of(program, groups, LengthKind::kOne), after = call;
    after.seed = 6;
    EXPECT_GT(expect_no_harm({program, {16, false, is_eager}, {call, after}, 0}), 0);
  }
}

// ---- All-to-alls and allgathers of each kind, with and without gaps in their types

struct Case {
  Scheduled of;
  bool in_place = false, is_persistent = false, is_long = false, while_binding = false;
};

long expect_no_harm_of(const Case& c, const Ways& ways, unsigned types) {
  CollectiveCall call =
      call_of(c.of, c.of.groups, c.is_long ? LengthKind::kLong : LengthKind::kUneven);
  call.in_place = c.in_place;
  call.types = types;
  CollectiveCall after = call;
  after.seed = 6;
  return expect_no_harm({c.of, ways, {call, after}, 0, c.is_persistent, c.while_binding});
}

constexpr unsigned kIntegers = 0, kWithGaps = 1;

void expect_more_than(long least, const std::vector<Case>& cases, const std::vector<int>& windows) {
  for (const Case& c : cases)
    for (const bool is_eager : {false, true})
      for (const int window : windows)
        for (const unsigned types : {kIntegers, kWithGaps}) {
          EXPECT_GT(expect_no_harm_of(c, {window, false, is_eager, 5}, types), least);
          if (testing::Test::HasFailure()) return;
        }
}

TEST(Memory, ThatRunsOutWhileBindingIsOneErrorEverywhere) {
  for (const Scheduled& one :
       {exchanging("hierarchical-factor", {1, 2}), exchanging("tuna-coalesced", {1, 2}, {2, 1}),
        gathering("blocked-ring-nodes", {1, 2}, {kRuleNone})})
    EXPECT_GT(
        expect_no_harm_of({.of = one, .while_binding = true}, {2, false, false, 5}, kIntegers), 10);
}

TEST(Memory, ThatRunsOutWhileBindingAgainLeavesTheBinding) {
  for (const Scheduled& one :
       {exchanging("hierarchical-factor", {3}), exchanging("tuna", {3}, {2}),
        gathering("blocked-ring", {3}, {kRuleNone}), program_named("alltoall tuna-coalesced")})
    for (int n = 1; n < 100; ++n) {
      testing::ScopedTrace trace(__FILE__, __LINE__, fmt::format("{}, {}", one.name, n));
      const CountedAllocations counted(3);
      int failed = 0;
      std::array<int, 3> classes;
      expect_no_problem({.ranks = 3}, [&](MPI_Comm comm) {
        const int own = this_rank();
        const Bound bound(one, {3, 0}, {.block_size = 8}, comm);
        if (own == 2) arm(n);
        classes[static_cast<size_t>(own)] =
            quadrille_error_class(bind(bound, one, {3, 0}, {.window = 128, .block_size = 8}, comm));
        if (own == 2) failed = disarm();
        mpi::expect_works(bound, comm);
      });
      EXPECT_TRUE(classes[0] == MPI_SUCCESS || (failed && classes[0] == MPI_ERR_NO_MEM));
      EXPECT_EQ(classes, (std::array{classes[0], classes[0], classes[0]}));
      EXPECT_TRUE(failed || n > 1) << "no memory is taken";
      if (!failed || HasFailure()) break;
    }
}

// These schedules need little or no memory once they are bound.
TEST(Memory, ThatRunsOutInADirectAllToAllHangsNobody) {
  expect_more_than(-1,
                   {{.of = exchanging("spread-out", {4})},
                    {.of = exchanging("scattered", {5}, {2})},
                    {.of = exchanging("hierarchical-factor", {1, 3})}},
                   {2});
}

TEST(Memory, ThatRunsOutWhileForwardingHangsNobody) {
  expect_more_than(1,
                   {{.of = exchanging("tuna", {5}, {2}), .is_long = true},
                    {.of = exchanging("tuna-coalesced", {2, 2}, {2, 1}), .is_long = true}},
                   {1, 2, 16});
}

TEST(Memory, ThatRunsOutWhileAPersistentCallIsMadeIsOneErrorEverywhere) {
  for (const bool in_place : {false, true})
    expect_more_than(
        5,
        {{.of = exchanging("tuna", {4}, {2}), .in_place = in_place, .is_persistent = true},
         {.of = exchanging("factor", {4}), .in_place = in_place, .is_persistent = true}},
        {2});
}

// Without care, the rank would refuse the schedule on every later call, and its peers would wait forever. If the type
// has gaps, only the packed copy may lack memory.
TEST(Memory, ThatRunsOutInAnAllgatherHangsNobodyAndIsForgotten) {
  for (const bool in_place : {false, true})
    expect_more_than(-1,
                     {{.of = gathering("linear-ring", {4}), .in_place = in_place},
                      {.of = gathering("bruck", {4}, {2}), .in_place = in_place},
                      {.of = gathering("blocked-ring", {4}, {kRuleNone}), .in_place = in_place},
                      {.of = gathering("neighbor-exchange", {4}), .in_place = in_place}},
                     {1, 2, 16});
}

// Without care, a rank would omit messages, or refuse a call before its peers know. They would then wait forever.
TEST(Memory, ThatRunsOutInAnAllToAllInPlaceHangsNobody) {
  expect_more_than(-1,
                   {{.of = exchanging("factor", {4}), .in_place = true},
                    {.of = exchanging("spread-out", {4}), .in_place = true},
                    {.of = exchanging("tuna", {5}, {2}), .in_place = true, .is_long = true}},
                   {1, 16});
}

// ---- How much memory forwarding schedules take

// Returns a call whose blocks all have one length.
CollectiveCall of_length(const Scheduled& scheduled, LengthKind lengths) {
  return {Collective::kAlltoall, scheduled.groups, lengths, 2, 0};
}

// Calls alternate between long and short blocks. The runtime keeps one of each, so that later calls take no memory.
TEST(MuchMemory, IsTakenWhenBlocksAreLongerThanBefore) {
  for (const Scheduled& one : {exchanging("tuna", {6}, {2}), exchanging("tuna", {6}, {3}),
                               exchanging("tuna-bundled", {1, 2, 3}, {2, 1}),
                               exchanging("tuna-coalesced", {1, 2, 3}, {2, 1}),
                               exchanging("hierarchical-overlapped", {1, 2, 3}, {64})})
    for (const auto& [window, long_ones] :
         {std::pair(1, LengthKind::kLong), {16, LengthKind::kLong}, {1, LengthKind::kVeryLong}}) {
      const Ways ways{.window = window};
      testing::ScopedTrace trace(__FILE__, __LINE__, one.name + ", " + ways.text());
      const CountedAllocations counted(6);
      expect_no_problem(machine_of(one, ways), [&](MPI_Comm comm) {
        const Bound bound(one, ways, comm);
        for (int i = 0; i < 7; ++i) {
          const CollectiveCall call = of_length(one, i % 2 ? LengthKind::kEqual : long_ones);
          CollectivePart part(call, this_rank());
          const int64_t length = bytes_between(call, 0, 1);
          const bool is_long = i % 2 == 0;
          EXPECT_EQ(length > 4000, is_long);
          int entered = 0;
          arm(0);
          expect_success(part.run(bound, comm, entered), "call");
          // At most one message that arrives, one that leaves, and the blocks between them.
          EXPECT_TRUE(!is_long || allocations.bytes <= 6L * 6 * (length + 100));
          EXPECT_TRUE(allocations.count == 0 || i < 2) << i;  // later calls take none
          EXPECT_TRUE(part.is_right());
        }
      });
    }
}

// On 6 ranks, tuna of radix 2 has messages of 3, 2 and 2 blocks in each direction.
TEST(MuchMemory, OfAPersistentCallIsNoMoreThanItsMessages) {
  const Scheduled one = exchanging("tuna", {6}, {2});
  for (const int window : {1, 0}) {
    const Ways ways{.window = window};
    const CountedAllocations counted(6);
    expect_no_problem(machine_of(one, ways), [&](MPI_Comm comm) {
      const Bound bound(one, ways, comm);
      const CollectiveCall call = of_length(one, LengthKind::kVeryLong);
      const int64_t length = bytes_between(call, 0, 1);
      CollectivePart part(call, this_rank());
      quadrille_request request;
      arm(0);
      expect_success(part.make(bound, comm, &request), "make");
      EXPECT_GE(allocations.bytes, (3 + 3) * length);
      EXPECT_LE(allocations.bytes, 2 * (3 + 2 + 2) * length + (4 << 16));
      expect_success(quadrille_free_request(&request), "free");
    });
  }
}

}  // namespace
}  // namespace quadrille::net
