// Shortage of memory on one rank, at each of its allocations in turn (shortage.h).
#include <fmt/core.h>

#include <algorithm>

#include "tests/net/shortage.h"
#include "tests/support/effort.h"

namespace quadrille::net {
namespace {

// ---- every program

// The difference between the call that is short of memory and the one before.
enum class Change { kFirst, kLonger, kRoot, kTypes, kNothing };

CollectiveCall call_of(const Scheduled& program, const Groups& groups, LengthKind lengths) {
  CollectiveCall call;
  call.collective = program.program.collective;
  call.groups = groups;
  call.lengths = lengths;
  call.form = program.allowed().equal_counts ? 0 : 1;
  call.types = reduces(call.collective) ? (program.program.commutative ? 2 : 3) : 1;
  call.length_seed = 1;  // so that some are not empty
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
    // Elements with gaps and a commutative operator, so that starts need no memory.
    if (reduces(collective_))
      for (CollectiveCall& call : s.calls) call.types = 2;
    s.is_persistent = true;
    if (takes_next_way(83)) {
      EXPECT_GT(expect_no_harm(s), 10);
    }
    if (HasFailure()) return;
  }
}

// Starts of a call that is planned in parts take none, either.
TEST_P(MemoryOfEachProgram, IsTakenWhenAPersistentCallIsMadeAndNoneLater) {
  if (!program_.serves(groups_)) return;
  for (const int64_t block_size : {0, 2}) {
    CollectiveCall call = call_of(program_, groups_, LengthKind::kLong);
    // Elements with gaps and a commutative operator: contributions of others are kept aside until they are combined.
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

// One program of each kind, in all ways: with temporary blocks, with lengths that travel, with counts from the other
// group.
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

// ---- all-to-alls and allgathers of each kind, with and without gaps in their types

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

// They need little or no memory once they are bound.
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

// The error to prevent: the rank refuses the schedule on every later call, and its peers wait forever. With gaps in
// the type, only the packed copy may lack memory.
TEST(Memory, ThatRunsOutInAnAllgatherHangsNobodyAndIsForgotten) {
  for (const bool in_place : {false, true})
    expect_more_than(-1,
                     {{.of = gathering("linear-ring", {4}), .in_place = in_place},
                      {.of = gathering("bruck", {4}, {2}), .in_place = in_place},
                      {.of = gathering("blocked-ring", {4}, {kRuleNone}), .in_place = in_place},
                      {.of = gathering("neighbor-exchange", {4}), .in_place = in_place}},
                     {1, 2, 16});
}

// The error to prevent: the rank omits messages, or, if it forwards blocks, refuses before its peers know. Then they
// wait forever.
TEST(Memory, ThatRunsOutInAnAllToAllInPlaceHangsNobody) {
  expect_more_than(-1,
                   {{.of = exchanging("factor", {4}), .in_place = true},
                    {.of = exchanging("spread-out", {4}), .in_place = true},
                    {.of = exchanging("tuna", {5}, {2}), .in_place = true, .is_long = true}},
                   {1, 16});
}

}  // namespace
}  // namespace quadrille::net
