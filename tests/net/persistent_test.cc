// Persistent calls of every collective, on one group and on two. Two of a binding are in flight together, are started
// again with other data, and hold among calls that are none; what one rank's arguments are wrong in is an error at all.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/net/collective_programs.h"
#include "tests/support/effort.h"

namespace quadrille::net {
namespace {

std::string last_error() {
  char text[256] = "";
  quadrille_last_error(text, sizeof text);
  return text;
}

void expect_success(int code, const std::string& what) {
  EXPECT_EQ(code, MPI_SUCCESS) << what << ": " << last_error();
}

// A rank's persistent call.
class Persistent {
 public:
  Persistent(const CollectiveCall& call, int place) : part_(call, place) {}
  int make(quadrille_schedule schedule, MPI_Comm comm) {
    return part_.make(schedule, comm, &request_);
  }
  void start(unsigned seed) {
    part_.fill(seed);
    expect_success(quadrille_start(request_), "start");
  }
  void wait(const std::string& what) {
    expect_success(quadrille_wait(request_), what);
    EXPECT_TRUE(part_.is_right()) << what;
    part_.expect_rest_untouched(what);
  }
  void free() { expect_success(quadrille_free_request(&request_), "free"); }

 private:
  CollectivePart part_;
  quadrille_request request_ = QUADRILLE_REQUEST_NULL;
};

// One binding.
struct Run {
  const CollectiveProgram& program;
  Groups groups;
  CollectiveWays ways;
  std::vector<CollectiveCall> calls;  // two persistent ones, and one between their starts and waits
  int entered = 0;

  std::string text() const {
    std::string text = program.name + ", " + ways.text() + "\n";
    for (const CollectiveCall& call : calls) text += call.text() + "\n";
    return text;
  }
};

Run draw(const CollectiveProgram& program, const Groups& groups, const CollectiveWays& ways) {
  std::mt19937 random(ways.seed);
  const Allowed allowed{program.program.commutative, program.takes_equal_counts,
                        program.takes_block_size};
  return {program, groups, ways,
          draw_calls(program.program.collective, groups, allowed, random, 3)};
}

void at_rank(Run& run, MPI_Comm comm) {
  const int place = this_rank();
  quadrille_schedule schedule;
  expect_success(quadrille_load_memory(run.program.file.data(), run.program.file.size(), &schedule),
                 "load");
  const quadrille_bind_options options = options_of(run.program, run.ways);
  expect_success(run.ways.are_ranges
                     ? quadrille_bind_groups(schedule, comm, run.groups.ranks, &options)
                     : quadrille_bind(schedule, comm, &options),
                 "bind");
  Persistent one(run.calls[0], place), other(run.calls[1], place);
  expect_success(one.make(schedule, comm), "make");
  expect_success(other.make(schedule, comm), "make the other");
  const unsigned seed = run.ways.seed;
  for (unsigned round = 0; round < 3 && !testing::Test::HasFailure(); ++round) {
    const std::string what = fmt::format("round {}, place {}", round, place);
    one.start(seed + 2 * round);
    if (round != 1) other.start(seed + 2 * round + 1);
    if (round == 1) {
      CollectivePart plain(run.calls[2], place);
      expect_success(plain.run(schedule, comm, run.entered), "a plain call, " + what);
      EXPECT_TRUE(plain.is_right()) << "a plain call, " << what;
    }
    one.wait(what);
    if (round != 1) other.wait("the other, " + what);
    EXPECT_TRUE(mark(static_cast<int>(round))) << what << ": requests are left";
  }
  EXPECT_EQ(quadrille_free(&schedule), MPI_SUCCESS);
  other.free();
  one.start(seed + 7);
  one.wait("without its schedule");
  one.free();
}

void expect_right(const CollectiveProgram& program, const Groups& groups,
                  const CollectiveWays& ways) {
  Run run = draw(program, groups, ways);
  testing::ScopedTrace trace(__FILE__, __LINE__, run.text());
  const Outcome outcome =
      simulate(machine_of(program, groups, ways), [&](MPI_Comm comm) { at_rank(run, comm); });
  EXPECT_TRUE(outcome.problems.empty()) << outcome.text();
}

class PersistentCollectives : public testing::TestWithParam<size_t> {
 protected:
  const CollectiveProgram& program_ = collective_programs()[GetParam()];
  const bool is_between_ = program_.program.groups == 2;
  const Collective collective_ = program_.program.collective;
};

INSTANTIATE_TEST_SUITE_P(All, PersistentCollectives,
                         testing::Range<size_t>(0, collective_programs().size()),
                         [](const auto& each) { return test_name(each.param); });

unsigned next_seed = 1;
size_t way_number = 0;

TEST_P(PersistentCollectives, BringEveryByteWhereItBelongsAgainAndAgain) {
  const std::vector<Groups> all = is_between_
                                      ? std::vector<Groups>{{1, 1}, {1, 3}, {2, 2}, {3, 2}, {4, 1}}
                                      : std::vector<Groups>{{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}};
  for (const Groups& groups : all) {
    if (!program_.serves(groups)) continue;
    for (const int window : {1, 2, 16})
      for (const bool is_synchronous : {false, true})
        for (const bool is_eager : {false, true})
          for (const int64_t block_size : {0, 61, 5000}) {
            const unsigned seed = next_seed++;
            if (way_number++ % (one_in(13) * kThinning) != 0) continue;
            const bool are_ranges = groups.remote > 0 && seed % 3 == 0;
            expect_right(program_, groups,
                         {window, is_synchronous, is_eager, block_size, seed, are_ranges});
            if (HasFailure()) return;
          }
  }
}

constexpr quadrille_request kUntouched = 77;

// A call with a mistake of one rank, and one without.
struct Refusal {
  const CollectiveProgram& program;
  CollectiveCall call;
  Mistake mistake;
  int victim;
  bool is_persistent;
  std::vector<int> classes = std::vector<int>(static_cast<size_t>(call.groups.all()), -1);
  int entered = 0, entered_next = 0;

  std::string text() const {
    return fmt::format("{}, mistake {} of {}, {}{}", program.name, static_cast<int>(mistake),
                       victim, is_persistent ? "persistent, " : "", call.text());
  }
  // The class of the error; that of lengths which do not fit is one of two.
  int expected() const {
    switch (mistake) {
      case Mistake::kRequest: return MPI_ERR_ARG;
      case Mistake::kBuffer: return MPI_ERR_BUFFER;
      case Mistake::kType: return MPI_ERR_TYPE;
      case Mistake::kOperation: return MPI_ERR_OP;
      case Mistake::kRoot: return MPI_ERR_ROOT;
      case Mistake::kNegative: return MPI_ERR_COUNT;
      default: return classes[0] == MPI_ERR_TRUNCATE ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT;
    }
  }
};

void refused_at_rank(Refusal& r, MPI_Comm comm) {
  const int place = this_rank();
  quadrille_schedule schedule;
  quadrille_load_memory(r.program.file.data(), r.program.file.size(), &schedule);
  CollectivePart part(r.call, place), next(r.call, place);
  if (place == r.victim) part.mistake(r.mistake);
  quadrille_request request = kUntouched;
  r.classes[static_cast<size_t>(place)] = quadrille_error_class(
      r.is_persistent ? part.make(schedule, comm, &request) : part.run(schedule, comm, r.entered));
  EXPECT_EQ(request, !r.is_persistent || (place == r.victim && r.mistake == Mistake::kRequest)
                         ? kUntouched
                         : QUADRILLE_REQUEST_NULL);
  part.expect_rest_untouched("refused");
  expect_success(next.run(schedule, comm, r.entered_next), "the next call");
  EXPECT_TRUE(next.is_right());
  EXPECT_EQ(quadrille_free(&schedule), MPI_SUCCESS);
}

// One whose arguments mean something: of a gather or a scatter, not the root.
int victim_of(const CollectiveCall& call) {
  if (call.collective != Collective::kGather && call.collective != Collective::kScatter)
    return call.root;
  if (call.groups.remote == 0) return (call.root + 1) % call.groups.ranks;
  return call.groups.group_of(call.root) ? 0 : call.groups.ranks;
}

// So that no rank waits for what another does not do, also where groups tell each other their counts. Where
// QUADRILLE_DEBUG asks for it, plain calls of which all ranks know the counts are like this, too.
TEST_P(PersistentCollectives, AreRefusedAtAllRanksForWhatOneAloneCanSee) {
  const bool debugs = std::getenv("QUADRILLE_DEBUG") != nullptr;
  const Groups groups = is_between_ ? Groups{2, 3} : Groups{4, 0};
  const bool leaves_lengths = collective_ == Collective::kAlltoall ||
                              collective_ == Collective::kGather ||
                              collective_ == Collective::kScatter;
  const bool is_barrier = collective_ == Collective::kBarrier;
  if (!program_.serves(groups) || (debugs && (leaves_lengths || is_barrier))) return;
  std::mt19937 random(next_seed++);
  const Allowed allowed{program_.program.commutative, program_.takes_equal_counts, true};
  for (const Mistake mistake :
       {Mistake::kRequest, Mistake::kBuffer, Mistake::kType, Mistake::kOperation, Mistake::kRoot,
        Mistake::kNegative, Mistake::kLonger})
    for (int form = 0; form < (program_.takes_equal_counts ? 1 : 3); ++form) {
      if (mistake == Mistake::kRoot && !rooted(collective_)) continue;
      if (mistake == Mistake::kOperation && !reduces(collective_)) continue;
      if (mistake != Mistake::kRequest && is_barrier) continue;
      if (mistake == Mistake::kRequest && debugs) continue;
      CollectiveCall call = draw_calls(collective_, groups, allowed, random, 1)[0];
      call.in_place = false;
      call.form = form;
      call.lengths = LengthKind::kEqual;
      Refusal refusal{program_, call, mistake, victim_of(call), !debugs};
      testing::ScopedTrace trace(__FILE__, __LINE__, refusal.text());
      const Outcome outcome = simulate(machine_of(program_, groups, {.seed = call.seed}),
                                       [&](MPI_Comm comm) { refused_at_rank(refusal, comm); });
      EXPECT_TRUE(outcome.problems.empty()) << outcome.text();
      EXPECT_EQ(refusal.classes, std::vector<int>(refusal.classes.size(), refusal.expected()));
      if (HasFailure()) return;
    }
}

TEST(PersistentCollective, OutlivesItsCommunicator) {
  for (const char* const name :
       {"allreduce doubling", "gather binomial", "allgather linear-ring"}) {
    const CollectiveProgram& program = collective_program(name);
    const Groups groups{4, 0};
    CollectiveCall call;
    call.collective = program.program.collective;
    call.groups = groups;
    call.form = 1;
    call.root = 1;
    call.types = 2;
    elements();
    const Outcome outcome = simulate(machine_of(program, groups, {}), [&](MPI_Comm comm) {
      quadrille_schedule schedule;
      quadrille_load_memory(program.file.data(), program.file.size(), &schedule);
      MPI_Comm other;
      MPI_Comm_dup(comm, &other);
      Persistent one(call, this_rank());
      expect_success(one.make(schedule, other), name);
      one.start(1);
      MPI_Comm_free(&other);
      quadrille_free(&schedule);
      one.wait(name);
      one.start(2);
      one.wait(name);
      one.free();
    });
    EXPECT_EQ(outcome.text(), "") << name;
  }
}

}  // namespace
}  // namespace quadrille::net
