// Persistent calls of every collective, on one group and on two. Two of a binding are in flight together, are started
// again with other data, and mix with plain calls. A wrong argument of one rank is an error on all.
#include <fmt/core.h>

#include <cstdlib>
#include <random>

#include "tests/net/jobs.h"
#include "tests/support/effort.h"

namespace quadrille::net {
namespace {

// Two persistent calls, and a plain one between their starts and waits.
struct Three {
  std::vector<CollectiveCall> calls;
  int entered = 0;
};

void at_rank(Three& three, const Scheduled& program, const Ways& ways, MPI_Comm comm) {
  const int place = this_rank();
  Persistent one(three.calls[0], place), other(three.calls[1], place);
  {
    const Bound bound(program, three.calls[0].groups, ways, comm);
    expect_success(one.make(bound, comm), "make");
    expect_success(other.make(bound, comm), "make the other");
    for (unsigned round = 0; round < 3 && !testing::Test::HasFailure(); ++round) {
      const std::string what = fmt::format("round {}, place {}", round, place);
      one.start(ways.seed + 2 * round);
      if (round != 1) other.start(ways.seed + 2 * round + 1);
      if (round == 1) {
        CollectivePart plain(three.calls[2], place);
        expect_success(plain.run(bound, comm, three.entered), "a plain call, " + what);
        EXPECT_TRUE(plain.is_right()) << "a plain call, " << what;
      }
      one.wait(what);
      if (round != 1) other.wait("the other, " + what);
      EXPECT_TRUE(mark(static_cast<int>(round))) << what << ": requests are left";
    }
  }
  other.free();
  one.start(ways.seed + 7);
  one.wait("without its schedule");
  one.free();
}

void expect_right(const Scheduled& program, const Groups& groups, const Ways& ways) {
  std::mt19937 random(ways.seed);
  Three three{draw_calls(program.program.collective, groups, program.allowed(), random, 3)};
  std::string text = program.name + ", " + ways.text() + "\n";
  for (const CollectiveCall& call : three.calls) text += call.text() + "\n";
  testing::ScopedTrace trace(__FILE__, __LINE__, text);
  expect_no_problem(machine_of(program, groups, ways),
                    [&](MPI_Comm comm) { at_rank(three, program, ways, comm); });
}

class PersistentCollectives : public OfEachProgram {};
FOR_EACH_PROGRAM(PersistentCollectives);

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
            if (way_number++ % (one_in(23) * kThinning) != 0) continue;
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
  const Scheduled& program;
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
  // The class of the error. Lengths that do not match give one of two classes.
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
  const Bound schedule(r.program, r.call.groups, {}, comm);
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
}

// A rank whose arguments matter: in a gather or a scatter, not the root.
int victim_of(const CollectiveCall& call) {
  if (call.collective != Collective::kGather && call.collective != Collective::kScatter)
    return call.root;
  if (call.groups.remote == 0) return (call.root + 1) % call.groups.ranks;
  return call.groups.group_of(call.root) ? 0 : call.groups.ranks;
}

// So no rank waits for a message that another does not send, even if groups exchange their counts. With
// QUADRILLE_DEBUG, plain calls whose counts all ranks know behave like this, too.
TEST_P(PersistentCollectives, AreRefusedAtAllRanksForWhatOneAloneCanSee) {
  const bool debugs = std::getenv("QUADRILLE_DEBUG") != nullptr;
  const Groups groups = is_between_ ? Groups{2, 3} : Groups{4, 0};
  const bool leaves_lengths = collective_ == Collective::kAlltoall ||
                              collective_ == Collective::kGather ||
                              collective_ == Collective::kScatter;
  const bool is_barrier = collective_ == Collective::kBarrier;
  if (!program_.serves(groups) || (debugs && (leaves_lengths || is_barrier))) return;
  std::mt19937 random(next_seed++);
  mpi::Allowed allowed = program_.allowed();
  allowed.is_large_rare = true;
  for (const Mistake mistake :
       {Mistake::kRequest, Mistake::kBuffer, Mistake::kType, Mistake::kOperation, Mistake::kRoot,
        Mistake::kNegative, Mistake::kLonger, Mistake::kTooLarge})
    for (int form = 0; form < (allowed.equal_counts ? 1 : 3); ++form) {
      if (mistake == Mistake::kRoot && !rooted(collective_)) continue;
      if (mistake == Mistake::kOperation && !reduces(collective_)) continue;
      if (mistake != Mistake::kRequest && is_barrier) continue;
      if (mistake == Mistake::kRequest && debugs) continue;
      if (mistake == Mistake::kTooLarge && form != 2) continue;
      CollectiveCall call = draw_calls(collective_, groups, allowed, random, 1)[0];
      call.in_place = false;
      call.form = form;
      if (mistake == Mistake::kTooLarge) call.seed |= 1;  // a broadcast takes its form from it
      call.lengths = LengthKind::kEqual;
      Refusal refusal{program_, call, mistake, victim_of(call), !debugs};
      testing::ScopedTrace trace(__FILE__, __LINE__, refusal.text());
      expect_no_problem(machine_of(program_, groups, {.seed = call.seed}),
                        [&](MPI_Comm comm) { refused_at_rank(refusal, comm); });
      EXPECT_EQ(refusal.classes, std::vector<int>(refusal.classes.size(), refusal.expected()));
      if (HasFailure()) return;
    }
}

TEST(PersistentCollective, OutlivesItsCommunicator) {
  for (const char* const name :
       {"allreduce doubling", "gather binomial", "allgather linear-ring", "alltoall tuna"}) {
    const Scheduled& program = program_named(name);
    CollectiveCall call;
    call.collective = program.program.collective;
    call.groups = {4, 0};
    call.form = 1;
    call.root = 1;
    call.types = 2;
    expect_no_problem(machine_of(program, call.groups, {}), [&](MPI_Comm comm) {
      MPI_Comm other;
      MPI_Comm_dup(comm, &other);
      Persistent one(call, this_rank());
      {
        const Bound bound(program, call.groups, {}, other);
        expect_success(one.make(bound, other), name);
        one.start(1);
        MPI_Comm_free(&other);
      }
      one.wait(name);
      one.start(2);
      one.wait(name);
      one.free();
    });
  }
}

}  // namespace
}  // namespace quadrille::net
