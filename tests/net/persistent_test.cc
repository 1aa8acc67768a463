// Persistent calls of every collective, on one group and on two. If one rank has a wrong argument, all ranks get an
// error. collectives_test.cc tests the results of right calls.
#include <fmt/core.h>

#include <cstdlib>
#include <random>

#include "tests/net/jobs.h"

namespace quadrille::net::persistent_test {

class PersistentCollectives : public OfEachProgram {};
FOR_EACH_PROGRAM(PersistentCollectives);

unsigned next_seed = 1;

constexpr quadrille_request kUntouched = 77;

// A call in which one rank makes a mistake, followed by right calls.
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
  // Returns the class of the error. Lengths that do not match may give either of two classes.
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

// Returns a rank whose arguments are significant: the root, or a rank other than it in a gather or a scatter.
int victim_of(const CollectiveCall& call) {
  if (call.collective != Collective::kGather && call.collective != Collective::kScatter)
    return call.root;
  if (call.groups.remote == 0) return (call.root + 1) % call.groups.ranks;
  return call.groups.group_of(call.root) ? 0 : call.groups.ranks;
}

// So no rank waits for a message that another rank does not send, even if groups exchange their counts. With
// QUADRILLE_DEBUG, plain calls whose counts all ranks know behave in this way, too.
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
      if (mistake == Mistake::kTooLarge) call.seed |= 1;  // the seed gives a broadcast's form
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
    const CollectiveCall call{.collective = program.program.collective,
                              .groups = {4, 0},
                              .form = 1,
                              .root = 1,
                              .types = 2};
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

}  // namespace quadrille::net::persistent_test
