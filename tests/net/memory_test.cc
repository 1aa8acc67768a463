// One rank runs out of memory, at each of its allocations in turn. The linker redirects the runtime's allocations to
// this file. It counts those of the process, so a rank's count is saved while another rank runs. MPI's own allocations
// are not counted.
#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <ctime>

#include "tests/net/jobs.h"
#include "tests/support/effort.h"

using std::size_t;

namespace quadrille::net {
namespace {

// What the runtime allocates at the running rank.
struct Allocations {
  long count = 0;
  long failing = 0;  // number of the allocation that fails, from 1; 0 for none
  long bytes = 0;    // in all allocations
};
Allocations allocations;

}  // namespace

bool fails(size_t size) {
  allocations.bytes += static_cast<long>(size);
  return ++allocations.count == allocations.failing;
}

namespace {

constexpr long kMostAllocations = 2000;
std::vector<Allocations> allocations_of_rank;

void keep_allocations(int from, int to) {
  if (from >= 0) allocations_of_rank[static_cast<size_t>(from)] = allocations;
  allocations = to >= 0 ? allocations_of_rank[static_cast<size_t>(to)] : Allocations{};
}

// While this object exists, each of the simulation's `ranks` ranks has its own count of allocations.
class CountedAllocations {
 public:
  explicit CountedAllocations(int ranks) {
    allocations_of_rank.assign(static_cast<size_t>(ranks), {});
    on_switch = keep_allocations;
  }
  CountedAllocations(const CountedAllocations&) = delete;
  CountedAllocations& operator=(const CountedAllocations&) = delete;
  ~CountedAllocations() { on_switch = nullptr; }
};

// In a simulation, arm() lets this rank's n-th allocation from now on fail. disarm() returns whether it has failed.
void arm(long n) { allocations = {0, n, 0}; }

bool disarm() {
  const bool failed = allocations.count >= allocations.failing;
  allocations.failing = 0;
  return failed;
}

// Calls on one binding. The call number `at` runs out of memory.
struct Shortage {
  const Scheduled& scheduled;
  Ways ways;
  std::vector<CollectiveCall> calls;
  size_t at = 0;
  bool is_persistent = false;  // whether that call is persistent
  bool while_binding = false;  // a second binding, before the calls, runs out of memory instead

  std::string text() const {
    std::string text =
        fmt::format("{}, {}{}{}\n", scheduled.name, ways.text(),
                    is_persistent ? ", persistent" : "", while_binding ? ", while binding" : "");
    for (size_t i = 0; i < calls.size(); ++i)
      text += calls[i].text() + (i == at ? ": short of memory\n" : "\n");
    return text;
  }
};

// The outcome of a simulation in which one allocation fails.
struct Shortfall {
  int victim;
  long allocation;
  bool happened = false;
  std::vector<int> classes, entered;
};

int bind_once(const Shortage& s, const Groups& groups, MPI_Comm comm) {
  quadrille_schedule schedule;
  quadrille_load_memory(s.scheduled.file.data(), s.scheduled.file.size(), &schedule);
  const int code = bind(schedule, s.scheduled, groups, s.ways, comm);
  if (schedule != QUADRILLE_SCHEDULE_NULL) quadrille_free(&schedule);
  return code;
}

void at_rank(const Shortage& s, MPI_Comm comm, Shortfall& result) {
  const int place = this_rank();
  const Groups& groups = s.calls[0].groups;
  const auto short_of = [&](const auto& body) {
    const bool is_victim = place == result.victim;
    if (is_victim) arm(result.allocation);
    const int code = quadrille_error_class(body());
    if (is_victim && disarm()) result.happened = true;
    return result.classes[static_cast<size_t>(place)] = code;
  };
  if (s.while_binding) short_of([&] { return bind_once(s, groups, comm); });
  const Bound bound(s.scheduled, groups, s.ways, comm);
  for (size_t i = 0; i < s.calls.size(); ++i) {
    const std::string what = fmt::format("call {}, place {}", i, place);
    CollectivePart part(s.calls[i], place);
    const auto call = [&] {
      return s.is_persistent && i == s.at ? part.run_persistent(bound, comm)
                                          : part.run(bound, comm, result.entered[i]);
    };
    int code = MPI_SUCCESS;
    if (!s.while_binding && i == s.at)
      code = short_of(call);
    else
      expect_success(call(), what);
    EXPECT_TRUE(mark(static_cast<int>(i))) << what << ": requests are left";
    part.expect_rest_untouched(what);
    EXPECT_TRUE(code != MPI_SUCCESS || part.is_right()) << what;
    MPI_Barrier(comm);
  }
}

void expect_classes(const Shortage& s, const Shortfall& result) {
  const int own = result.classes[static_cast<size_t>(result.victim)];
  EXPECT_TRUE(own == MPI_SUCCESS ||
              (own == MPI_ERR_NO_MEM && (s.while_binding || s.is_persistent)) ||
              (own == MPI_ERR_ARG && s.while_binding))
      << "class " << own;
  for (size_t place = 0; place < result.classes.size(); ++place)
    EXPECT_EQ(result.classes[place], own) << "place " << place;
}

// Each rank is the victim in turn. No rank may wait forever. If a call runs out of memory, it must end the job or
// still be correct. Binding and making a persistent call may instead return one error at all ranks; then no buffer is
// touched, and later calls are correct. Returns the greatest number of allocations.
long expect_no_harm(const Shortage& s) {
  testing::ScopedTrace trace(__FILE__, __LINE__, s.text());
  const Groups& groups = s.calls[0].groups;
  long most = 0;
  for (int victim = 0; victim < groups.all(); ++victim)
    for (long n = 1; n < kMostAllocations; ++n) {
      testing::ScopedTrace which(__FILE__, __LINE__, fmt::format("allocation {} of {}", n, victim));
      Shortfall result{victim, n, false, std::vector<int>(static_cast<size_t>(groups.all()), -1),
                       std::vector<int>(s.calls.size())};
      Ways ways = s.ways;
      ways.seed += static_cast<unsigned>(n);
      const CountedAllocations counted(groups.all());
      const Outcome outcome =
          simulate(s.scheduled.groups.ranks > 0 ? machine_of(s.scheduled, ways)
                                                : machine_of(s.scheduled, groups, ways),
                   [&](MPI_Comm comm) { at_rank(s, comm, result); });
      const bool has_ended =
          outcome.text() ==
          fmt::format("rank {}: the job is aborted with code {}", victim, MPI_ERR_NO_MEM);
      EXPECT_EQ(has_ended ? "" : outcome.text(), "");
      EXPECT_FALSE(has_ended && s.while_binding);
      if (outcome.problems.empty()) expect_classes(s, result);
      result.happened |= has_ended;
      most = std::max(most, n - 1);
      if (!result.happened || testing::Test::HasFailure()) break;
    }
  return most;
}

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
      expect_no_problem(machine_of(one, ways), [&, longer = long_ones](MPI_Comm comm) {
        const Bound bound(one, ways, comm);
        for (int i = 0; i < 7; ++i) {
          const CollectiveCall call = of_length(one, i % 2 ? LengthKind::kEqual : longer);
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

// The linker requires these names.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier)
void* __real_malloc(size_t size);
void* __real_calloc(size_t count, size_t size);
void* __real_realloc(void* old, size_t size);
void* __real_mmap(void* at, size_t size, int protection, int flags, int file, off_t offset);
void* __wrap_malloc(size_t size) {
  return quadrille::net::fails(size) ? nullptr : __real_malloc(size);
}
void* __wrap_calloc(size_t count, size_t size) {
  return quadrille::net::fails(count * size) ? nullptr : __real_calloc(count, size);
}
void* __wrap_realloc(void* old, size_t size) {
  return quadrille::net::fails(size) ? nullptr : __real_realloc(old, size);
}
void* __wrap_mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
  return quadrille::net::fails(size) ? MAP_FAILED
                                     : __real_mmap(at, size, protection, flags, file, offset);
}
// The runtime waits before it ends the job. Here it does not.
int __wrap_nanosleep(const timespec*, timespec*) { return 0; }
// NOLINTEND(bugprone-reserved-identifier)
}
