// A plain MPI program, which knows nothing of schedules. It runs collectives on communicators of all kinds and checks
// their results. With FILE in the environment, it uses more than MPI_COMM_WORLD, and makes that file.
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "tests/mpi/calls.h"
#include "tests/mpi/handles.h"

namespace quadrille::mpi {
namespace {

MPI_Comm duplicate() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  return comm;
}

// Makes a call with the first and the last root, in place and not.
void expect_right_every_way(CollectiveCall call, const Member& at) {
  for (const int root : {0, at.groups.ranks - 1})
    for (const bool in_place : {false, true}) {
      if (root > 0 && (!rooted(call.collective) || at.groups.remote > 0)) continue;
      if (in_place && !can_be_in_place(call.collective, at.groups)) continue;
#ifndef OPEN_MPI
      // MPICH 4.0 sends from MPI_IN_PLACE.
      if (in_place && root > 0 && call.collective == Collective::kReduce) continue;
#endif
      call.root = root;
      call.in_place = in_place;
      ++call.seed;
      expect_right(call, at, call.text());
    }
}

void keep_first(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; i++)
    if (static_cast<int*>(in)[i] != 0) static_cast<int*>(inout)[i] = static_cast<int*>(in)[i];
}

// Uses an operator that does not commute, and sums that are rounded.
void expect_right_operators(const Member& at) {
  const int peers = at.groups.size(at.groups.peers_of(at.groups.group_of(at.place)));
  int has = at.place + 1, got = 0;
  double mine = 0.1 * (rank_in(at.comm) + 1), sum = 0;
  MPI_Op op;
  MPI_Op_create(keep_first, 0, &op);
  if (at.groups.remote == 0) {
    MPI_Allreduce(&has, &got, 1, MPI_INT, op, at.comm);
    EXPECT_EQ(got, 1);
  }
  MPI_Op_free(&op);
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, at.comm);
  EXPECT_NEAR(sum, 0.05 * peers * (peers + 1), 1e-9);
}

// The program gets the errors that MPI reports.
void expect_mistakes_told(const Member& at) {
  const struct {
    Collective collective;
    int form;
    Mistake mistake;
    int error_class;
  } all[] = {{Collective::kAlltoall, 0, Mistake::kNegative, MPI_ERR_COUNT},
             {Collective::kAlltoall, 1, Mistake::kType, MPI_ERR_TYPE},
             {Collective::kAllreduce, 0, Mistake::kOperation, MPI_ERR_OP}};
  const Communicator comm(at.comm, 0, at.place);
  for (const auto& wrong : all) {
    CollectiveCall call{wrong.collective, at.groups, LengthKind::kOne};
    call.form = wrong.form;
    CollectivePart part(call, at.place);
    int entered = 0, found = MPI_SUCCESS;
    part.mistake(wrong.mistake);
    MPI_Error_class(part.run(QUADRILLE_SCHEDULE_NULL, comm, entered), &found);
    EXPECT_EQ(found, wrong.error_class) << call.text();
  }
}

class Collectives : public testing::Test {
 protected:
  Collectives() {
    MPI_Aint size = own() == 0 ? all() * static_cast<MPI_Aint>(sizeof(int)) : 0;
    int unit = sizeof(int);
    MPI_Win_allocate_shared(size, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &entered_, &window_);
    MPI_Win_shared_query(window_, 0, &size, &unit, &entered_);
  }
  ~Collectives() override { MPI_Win_free(&window_); }

  // No rank leaves a barrier before all ranks have entered it.
  void expect_right_barriers(const Member& at) {
    int mine = own(), theirs = mine, ours = mine;
    MPI_Allreduce(&mine, &theirs, 1, MPI_INT, MPI_MIN, at.comm);
    MPI_Allreduce(&theirs, &ours, 1, MPI_INT, MPI_MIN, at.comm);
    std::atomic_ref<int> entered(entered_[std::min(theirs, ours)]);
    const int before = entered;
    MPI_Allreduce(&mine, &theirs, 1, MPI_INT, MPI_MIN, at.comm);
    constexpr int kRounds = 50;  // enough for QUADRILLE=learn to compare all schedules
    for (int round = 1; round <= kRounds; round++) {
      if ((own() + round) % 5 == 0) usleep(200);
      ++entered;
      MPI_Barrier(at.comm);
      EXPECT_GE(entered - before, round * at.groups.all());
    }
    MPI_Allreduce(&mine, &theirs, 1, MPI_INT, MPI_MIN, at.comm);
  }

  void expect_all_right(const Member& at) {
    for (const LengthKind lengths : {LengthKind::kNone, LengthKind::kOne, LengthKind::kEqual})
      for (CollectiveCall call : each_function(at.groups)) {
        const bool is_last = lengths == LengthKind::kEqual;
        call.length_seed = 8;  // draws blocks of 40 bytes or more
        call.lengths = is_last && call.form > 0 ? LengthKind::kUneven : lengths;
        if (is_last && !reduces(call.collective)) call.types = kUnitsAreElements + 1;  // with gaps
        expect_right_every_way(call, at);
      }
    expect_right_operators(at);
    expect_right_barriers(at);
    if (at.groups.remote == 0) expect_mistakes_told(at);
  }

  MPI_Win window_;
  // A counter for each communicator, by the least of its ranks, in memory that all ranks share.
  int* entered_;
};

TEST_F(Collectives, AreRightOnAllRanks) { expect_all_right(of_one_group(MPI_COMM_WORLD)); }

class CollectivesElsewhere : public Collectives {
 protected:
  void SetUp() override {
    if (!std::getenv("FILE")) GTEST_SKIP() << "FILE is not set, so only MPI_COMM_WORLD is used";
  }
};

TEST_F(CollectivesElsewhere, AreRightOnOneRank) { expect_all_right(of_one_group(MPI_COMM_SELF)); }

TEST_F(CollectivesElsewhere, AreRightOnADuplicate) {
  expect_all_right(of_one_group(Communicator(duplicate())));
}

TEST_F(CollectivesElsewhere, AreRightOnEveryOtherRankBackwards) {
  expect_all_right(of_one_group(Communicator(MPI_COMM_WORLD, own() % 2, -own())));
}

TEST_F(CollectivesElsewhere, AreRightOnAGrid) {
  const int ranks = all(), is_periodic = 1;
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &is_periodic, 1, &grid);
  expect_all_right(of_one_group(Communicator(grid)));
}

TEST_F(CollectivesElsewhere, AreRightBetweenGroups) {
  const int first = (all() + 1) / 2;
  if (all() > 1)
    expect_all_right({Communicator(between_groups(first)), {first, all() - first}, own()});
}

TEST_F(CollectivesElsewhere, AreRightOnShortLivedCommunicators) {
  for (int i = 0; i < 20; i++) {
    const Communicator comm(duplicate());
    for (int calls = 0; calls < 3; calls++)
      expect_right(each_function({all(), 0})[0], of_one_group(comm), "short-lived");
  }
}

TEST_F(CollectivesElsewhere, AreRightWhenBlocksGrow) {
  constexpr int kApart = 40;
  const Communicator comm(duplicate());
  const auto ranks = static_cast<size_t>(all());
  std::vector<int> counts(ranks), places(ranks), sent(ranks * kApart, own()), received(sent);
  for (int call = 0; call < 49; call++) {
    for (int r = 0; r < all(); r++) {
      counts[static_cast<size_t>(r)] = (call < 17 ? 1 : 30) + (own() + r) % 2;
      places[static_cast<size_t>(r)] = kApart * r;
    }
    MPI_Alltoallv(sent.data(), counts.data(), places.data(), MPI_INT, received.data(),
                  counts.data(), places.data(), MPI_INT, comm);
    for (int r = 0; r < all(); r++) {
      const auto first = received.begin() + kApart * r;
      const int count = counts[static_cast<size_t>(r)];
      EXPECT_EQ(std::count(first, first + count, r), count);
    }
  }
}

TEST_F(CollectivesElsewhere, AreThoseOfAFile) {
  const MPI_Offset at = own() * static_cast<MPI_Offset>(sizeof(int));
  MPI_File file;
  int mine = own(), got = -1;
  MPI_File_open(MPI_COMM_WORLD, std::getenv("FILE"),
                MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  MPI_File_write_at_all(file, at, &mine, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_read_at_all(file, at, &got, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  EXPECT_EQ(got, own());
}

}  // namespace
}  // namespace quadrille::mpi
