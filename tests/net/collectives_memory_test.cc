// Memory that runs out at one rank, at each of its allocations in turn, in collectives other than an all-to-all on one
// group: no rank waits for ever; where memory ran out, the call says so or all is right all the same; whoever says
// that it is well has every byte; nothing beside the blocks is touched; the next call is right.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "tests/net/collective_programs.h"
#include "tests/net/failures.h"
#include "tests/support/effort.h"

namespace quadrille::net {
namespace {

constexpr long kMostAllocations = 500;

// The calls on one binding, of which one is short of memory.
struct ShortCalls {
  const CollectiveProgram& program;
  Groups groups;
  CollectiveWays ways;
  std::vector<CollectiveCall> calls;
  size_t at = 0;
  bool is_persistent = false;  // that call
  std::string text() const {
    std::string text =
        program.name + ", " + ways.text() + (is_persistent ? ", persistent\n" : "\n");
    for (size_t i = 0; i < calls.size(); ++i)
      text += calls[i].text() + (i == at ? ": short of memory\n" : "\n");
    return text;
  }
};

struct Failing {
  int victim;
  long allocation;
  bool happened = false;
  std::vector<int> classes = {};  // by place
  std::vector<int> entered = {};
  bool is_refused = false;  // a persistent call could not be made
};

int run_persistent(CollectivePart& part, quadrille_schedule schedule, MPI_Comm comm,
                   Failing& failing) {
  quadrille_request request;
  int code = part.make(schedule, comm, &request);
  if (code != MPI_SUCCESS) {
    char text[256];
    quadrille_last_error(text, sizeof text);
    EXPECT_NE(std::string(text).find("memory"), std::string::npos) << text;
    failing.is_refused = true;
    return code;
  }
  EXPECT_EQ(quadrille_start(request), MPI_SUCCESS);
  code = quadrille_wait(request);
  EXPECT_EQ(quadrille_free_request(&request), MPI_SUCCESS);
  return code;
}

void at_rank(const ShortCalls& s, MPI_Comm comm, Failing& failing) {
  const int place = this_rank();
  const std::string what =
      fmt::format("allocation {} of {}, place {}", failing.allocation, failing.victim, place);
  quadrille_schedule schedule;
  quadrille_load_memory(s.program.file.data(), s.program.file.size(), &schedule);
  const quadrille_bind_options options = options_of(s.program, s.ways);
  EXPECT_EQ(quadrille_bind(schedule, comm, &options), MPI_SUCCESS);
  for (size_t i = 0; i < s.calls.size(); ++i) {
    CollectivePart part(s.calls[i], place);
    const bool is_short = i == s.at, is_victim = is_short && place == failing.victim;
    if (is_victim) arm(failing.allocation);
    const int code = quadrille_error_class(is_short && s.is_persistent
                                               ? run_persistent(part, schedule, comm, failing)
                                               : part.run(schedule, comm, failing.entered[i]));
    if (is_victim) failing.happened = disarm();
    if (is_short)
      failing.classes[static_cast<size_t>(place)] = code;
    else
      EXPECT_EQ(code, MPI_SUCCESS) << what << ", call " << i;
    EXPECT_TRUE(mark(static_cast<int>(i))) << what << ": requests are left";
    part.expect_rest_untouched(what);
    EXPECT_TRUE(code != MPI_SUCCESS || part.is_right()) << what << ", call " << i;
    MPI_Barrier(comm);
  }
  EXPECT_EQ(quadrille_free(&schedule), MPI_SUCCESS);
}

void expect_classes(const Failing& failing, bool is_persistent) {
  const int own = failing.classes[static_cast<size_t>(failing.victim)];
  EXPECT_TRUE(own == MPI_SUCCESS || own == MPI_ERR_NO_MEM) << "class " << own;
  EXPECT_TRUE(!is_persistent || own == MPI_SUCCESS || failing.is_refused)
      << "memory runs out after a persistent call was made";
  for (size_t place = 0; place < failing.classes.size(); ++place) {
    const int other = failing.classes[place];
    EXPECT_TRUE(other == own ||
                (!failing.is_refused && (other == MPI_SUCCESS || other == MPI_ERR_OTHER)))
        << "place " << place << ": class " << other;
    EXPECT_TRUE(own != MPI_SUCCESS || other == MPI_SUCCESS)
        << "place " << place << " fails, and not the one that lacks memory";
  }
}

// How many allocations there were, at most.
long expect_survival(const ShortCalls& s) {
  testing::ScopedTrace trace(__FILE__, __LINE__, s.text());
  long most = 0;
  for (int victim = 0; victim < s.groups.all(); ++victim)
    for (long n = 1; n < kMostAllocations; ++n) {
      Failing failing{victim, n};
      failing.classes.assign(static_cast<size_t>(s.groups.all()), -1);
      failing.entered.assign(s.calls.size(), 0);
      CollectiveWays ways = s.ways;
      ways.seed += static_cast<unsigned>(n);
      const CountedAllocations counted(s.groups.all());
      const Outcome outcome = simulate(machine_of(s.program, s.groups, ways),
                                       [&](MPI_Comm comm) { at_rank(s, comm, failing); });
      const bool ended = outcome.problems.empty();
      EXPECT_TRUE(ended) << "allocation " << n << " of " << victim << ": " << outcome.text();
      if (ended) expect_classes(failing, s.is_persistent);
      most = std::max(most, n - 1);
      if (!failing.happened || testing::Test::HasFailure()) break;
    }
  return most;
}

// What the call that is short of memory has that the one before had not.
enum class Change { kFirst, kLonger, kRoot, kTypes, kNothing };

CollectiveCall call_of(const CollectiveProgram& program, const Groups& groups, LengthKind lengths) {
  elements();  // make datatypes, which belong to no simulation
  CollectiveCall call;
  call.collective = program.program.collective;
  call.groups = groups;
  call.lengths = lengths;
  call.form = 1;
  call.types = reduces(call.collective) ? 3 : 1;
  if (program.program.commutative) call.types = 2;
  return call;
}

ShortCalls shortage(const CollectiveProgram& program, const Groups& groups, Change change,
                    const CollectiveWays& ways) {
  CollectiveCall before = call_of(program, groups, LengthKind::kUneven);
  // So that not all are empty.
  before.length_seed = 1;
  CollectiveCall call = before;
  call.seed = 5;
  if (change == Change::kLonger) call.lengths = LengthKind::kLong;
  if (change == Change::kRoot) call.root = groups.all() - 1;
  if (change == Change::kTypes) before.types = reduces(call.collective) ? 0 : 3;
  CollectiveCall after = call;
  after.seed = 6;
  if (change == Change::kFirst) return {program, groups, ways, {call, after, before}, 0};
  return {program, groups, ways, {before, call, after, before}, 1};
}

size_t way_number = 0;

void expect_survival_of(const CollectiveProgram& program, const Groups& groups, Change change,
                        size_t stride) {
  for (const bool is_eager : {false, true})
    for (const int window : {1, 16}) {
      if (way_number++ % (one_in(stride) * kThinning) != 0) continue;
      expect_survival(shortage(program, groups, change, {window, false, is_eager}));
      if (testing::Test::HasFailure()) return;
    }
}

class CollectiveMemory : public testing::TestWithParam<size_t> {};

INSTANTIATE_TEST_SUITE_P(All, CollectiveMemory,
                         testing::Range<size_t>(0, collective_programs().size()),
                         [](const auto& each) { return test_name(each.param); });

Groups groups_of(const CollectiveProgram& program) {
  return program.program.groups == 2 ? Groups{2, 2} : Groups{4, 0};
}

TEST_P(CollectiveMemory, ThatRunsOutHangsNobody) {
  const CollectiveProgram& program = collective_programs()[GetParam()];
  if (program.takes_equal_counts || program.program.collective == Collective::kBarrier) return;
  for (const Change change : {Change::kFirst, Change::kLonger, Change::kTypes, Change::kNothing})
    expect_survival_of(program, groups_of(program), change, 29);
}

TEST_P(CollectiveMemory, ThatRunsOutWhereTheRootChangesHangsNobody) {
  const CollectiveProgram& program = collective_programs()[GetParam()];
  if (rooted(program.program.collective))
    expect_survival_of(program, groups_of(program), Change::kRoot, 3);
}

TEST_P(CollectiveMemory, ThatRunsOutWhileAPersistentCallIsMadeIsOneErrorEverywhere) {
  const CollectiveProgram& program = collective_programs()[GetParam()];
  const Groups groups = groups_of(program);
  if (!program.serves(groups)) return;
  for (const Change change : {Change::kLonger, Change::kRoot}) {
    ShortCalls s = shortage(program, groups, change, {2});
    for (CollectiveCall& call : s.calls) {
      call.form *= !program.takes_equal_counts;
      // Elements with gaps, whose operator commutes: so that starts need no memory.
      if (reduces(call.collective)) call.types = 2;
    }
    s.is_persistent = true;
    if (way_number++ % (one_in(41) * kThinning) == 0) {
      EXPECT_GT(expect_survival(s), 10);
    }
    if (HasFailure()) return;
  }
}

// Nor do starts of a call that is planned in parts.
TEST_P(CollectiveMemory, IsTakenWhenAPersistentCallIsMadeAndNoneLater) {
  const CollectiveProgram& program = collective_programs()[GetParam()];
  const Groups groups = groups_of(program);
  if (!program.serves(groups)) return;
  for (const int64_t block_size : {0, 2}) {
    CollectiveCall call = call_of(program, groups, LengthKind::kLong);
    // Elements with gaps, whose operator commutes: another one's contributions are kept aside while it combines.
    call.types = 2;
    call.length_seed = 1;
    call.form *= !program.takes_equal_counts;
    const CollectiveWays ways{.window = 2, .block_size = block_size};
    testing::ScopedTrace trace(__FILE__, __LINE__, program.name + ", " + ways.text());
    const CountedAllocations counted(groups.all());
    const Outcome outcome = simulate(machine_of(program, groups, ways), [&](MPI_Comm comm) {
      quadrille_schedule schedule;
      quadrille_request request;
      quadrille_load_memory(program.file.data(), program.file.size(), &schedule);
      const quadrille_bind_options options = options_of(program, ways);
      EXPECT_EQ(quadrille_bind(schedule, comm, &options), MPI_SUCCESS);
      CollectivePart part(call, this_rank());
      EXPECT_EQ(part.make(schedule, comm, &request), MPI_SUCCESS);
      for (unsigned seed = 1; seed < 3; ++seed) {
        part.fill(seed);
        arm(1);
        EXPECT_EQ(quadrille_start(request), MPI_SUCCESS);
        EXPECT_EQ(quadrille_wait(request), MPI_SUCCESS);
        EXPECT_FALSE(disarm());
        EXPECT_TRUE(part.is_right());
      }
      EXPECT_EQ(quadrille_free_request(&request), MPI_SUCCESS);
      EXPECT_EQ(quadrille_free(&schedule), MPI_SUCCESS);
    });
    EXPECT_TRUE(outcome.problems.empty()) << outcome.text();
    if (!program.takes_block_size || HasFailure()) return;
  }
}

// One of each kind in all ways: with temporary blocks, with lengths that travel, with counts that the other group tells.
TEST(CollectiveMemoryOfEachKind, IsNoticedWhereItRunsOut) {
  for (const char* const name :
       {"reduce binomial", "gather binomial", "allgather between groups segment-map-v"}) {
    const CollectiveProgram& program = collective_program(name);
    long most = 0;
    for (const Change change : {Change::kFirst, Change::kLonger, Change::kTypes})
      most = std::max(most, expect_survival(shortage(program, groups_of(program), change, {2})));
    EXPECT_GT(most, 0) << name;
  }
}

}  // namespace
}  // namespace quadrille::net
