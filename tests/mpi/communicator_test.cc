// Calls that might receive each other's messages or the user's, and bindings that outlive their handle or end with
// their communicator.
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <thread>

#include "tests/mpi/calls.h"
#include "tests/mpi/world.h"

namespace quadrille::mpi {
namespace {

void bind(const Schedule& schedule, MPI_Comm comm, int window = 0) {
  const quadrille_bind_options options = trusted(window);
  EXPECT_EQ(quadrille_bind(schedule, comm, &options), MPI_SUCCESS);
}

// Runs the body for an all-to-all and for an allgather.
template <typename Body>
void with_schedules(int ranks, const Body& body) {
  for (const std::string& path : {schedule_paths(ranks).front(),
                                  std::string("tests/mpi/any_allgather/blocked-ring_any.qs")}) {
    SCOPED_TRACE(path);
    body(Schedule(path));
  }
}

TEST(Calls, BackToBackDoNotMeetHoweverLateARankIs) {
  with_schedules(all(), [](const Schedule& schedule) {
    bind(schedule, MPI_COMM_WORLD, 1);
    for (unsigned seed = 0; seed < 24; ++seed) {
      if (static_cast<int>(seed) % all() == own()) usleep(500);
      expect_works(schedule, MPI_COMM_WORLD, seed);
    }
  });
}

TEST(Communicators, TakeTurnsInAnyRankOrder) {
  const Communicator same(MPI_COMM_WORLD, 0, own()), reversed(MPI_COMM_WORLD, 0, -own()),
      mixed(MPI_COMM_WORLD, 0, own() * 5 % 7);
  const MPI_Comm comms[] = {reversed, MPI_COMM_WORLD, mixed, same};
  with_schedules(all(), [&](const Schedule& schedule) {
    for (const MPI_Comm comm : comms) bind(schedule, comm, 2);
    for (unsigned turn = 0; turn < 4; ++turn)
      for (const MPI_Comm comm : comms) expect_works(schedule, comm, turn);
  });
}

TEST(Communicators, OfHalvesOfTheRanksWorkAtOnce) {
  const Communicator half(MPI_COMM_WORLD, own() % 2, own());
  with_schedules(ranks_of(half), [&](const Schedule& schedule) {
    bind(schedule, half);
    for (unsigned seed = 0; seed < 10; ++seed) expect_works(schedule, half, seed);
  });
}

TEST(Communicators, OfTwoThreadsWorkAtOnce) {
  int level = 0;
  MPI_Query_thread(&level);
  ASSERT_EQ(level, MPI_THREAD_MULTIPLE);
  const Schedule schedule(schedule_paths(all())[0]);
  const Communicator mine(MPI_COMM_WORLD, 0, own()), other(MPI_COMM_WORLD, 0, -own());
  bind(schedule, mine);
  bind(schedule, other);
  integer_shapes();
  std::thread thread([&] {
    for (unsigned i = 0; i < 10; ++i) expect_works(schedule, other, i);
  });
  for (unsigned i = 0; i < 10; ++i) expect_works(schedule, mine, 100 + i);
  thread.join();
}

TEST(Communicators, KeepSeveralSchedulesApart) {
  std::vector<std::unique_ptr<Schedule>> schedules;
  const Communicator comm(MPI_COMM_WORLD, 0, own());
  for (const std::string& path : schedule_paths(all())) {
    schedules.push_back(std::make_unique<Schedule>(path));
    bind(*schedules.back(), comm, 2);
  }
  for (unsigned turn = 0; turn < 3; ++turn)
    for (const auto& schedule : schedules) expect_works(*schedule, comm, turn);
}

// A schedule that fits no machine: every rank on its own node, unless there is only one rank.
std::string scattered_schedule() {
  return schedule_path(all() == 2 ? "hierarchical-factor_1-1_self-loops-drop.qs"
                                  : "hierarchical-factor_1-2-3.qs");
}

TEST(Bindings, AreNotCopiedWithTheirCommunicator) {
  const Schedule schedule(scattered_schedule());
  const Communicator original(MPI_COMM_WORLD, 0, own());
  bind(schedule, original);
  MPI_Comm copy;
  ASSERT_EQ(MPI_Comm_dup(original, &copy), MPI_SUCCESS);
  expect_works(schedule, original);
  // The copy binds by itself. It finds ranks that share memory, which form one node.
  int buffer[16] = {0}, received[16];
  expect_error(quadrille_alltoall(schedule, buffer, 1, MPI_INT, received, 1, MPI_INT, copy),
               MPI_ERR_TOPOLOGY, "the schedule is for nodes ");
  const quadrille_bind_options options = trusted();
  EXPECT_EQ(quadrille_bind(schedule, copy, &options), MPI_SUCCESS);
  expect_works(schedule, copy);
  MPI_Comm_free(&copy);
  expect_works(schedule, original);
}

TEST(Bindings, OutliveTheirHandle) {
  const Communicator comm(MPI_COMM_WORLD, 0, own());
  {
    const Schedule schedule(scattered_schedule());
    bind(schedule, comm);
  }
  // The same file again uses the existing binding. A new one would fail, as the ranks share memory.
  const Schedule again(scattered_schedule());
  expect_works(again, comm);
}

TEST(Bindings, AreNotReachedByAHandleThatWasFreed) {
  const Communicator comm(MPI_COMM_WORLD, 0, own());
  Schedule schedule(schedule_paths(all())[0]);
  bind(schedule, comm);
  expect_works(schedule, comm);
  const quadrille_schedule stale = schedule;
  schedule.free();
  int buffer[16] = {0}, received[16];
  expect_error(quadrille_alltoall(stale, buffer, 1, MPI_INT, received, 1, MPI_INT, comm),
               MPI_ERR_ARG, "null or was freed");
  // A new handle takes the slot. The old handle stays invalid.
  const Schedule next(schedule_paths(all())[0]);
  EXPECT_NE(static_cast<quadrille_schedule>(next), stale);
  expect_error(quadrille_bind(stale, comm, nullptr), MPI_ERR_ARG, "null or was freed");
  expect_works(next, comm);
}

TEST(Bindings, GoWithTheirCommunicatorHoweverOftenThatIs) {
  const Schedule schedule(schedule_paths(all())[0]);
#ifdef OPEN_MPI
  constexpr unsigned kTimes = 150;  // it has plenty of communicators
#else
  constexpr unsigned kTimes = 2100;  // MPICH has 2048: a leak of one per call uses them up
#endif
  for (unsigned i = 0; i < kTimes; ++i) {
    MPI_Comm comm;
    ASSERT_EQ(MPI_Comm_dup(MPI_COMM_WORLD, &comm), MPI_SUCCESS) << i;
    bind(schedule, comm);
    if (i % 50 == 0) expect_works(schedule, comm, i);
    ASSERT_EQ(MPI_Comm_free(&comm), MPI_SUCCESS) << i;
    if (HasFailure()) return;
  }
}

TEST(Bindings, CanBeMadeAgainWithAnotherWindow) {
  const Schedule schedule(schedule_paths(all())[0]);
  const Communicator comm(MPI_COMM_WORLD, 0, own());
  for (unsigned turn = 0; turn < 6; ++turn) {
    bind(schedule, comm, static_cast<int>(turn % 3) * 7 + 1);
    expect_works(schedule, comm, turn);
  }
}

TEST(Messages, OfTheUserWithTheSameTagsAreNotOurs) {
  const Schedule schedule(schedule_paths(all())[0]);
  const Communicator comm(MPI_COMM_WORLD, 0, own());
  bind(schedule, comm);
  int received[2] = {-1, -1};
  MPI_Request requests[2];
  for (int& value : received)
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[&value - received]);
  expect_works(schedule, comm, 1);
  expect_works(schedule, comm, 2);
  int complete = 1;
  MPI_Testall(2, requests, &complete, MPI_STATUSES_IGNORE);
  EXPECT_EQ(complete, 0);
  MPI_Barrier(comm);
  const int right = (own() + 1) % all();
  for (const int tag : {0, 1}) {
    const int value = 100 * own() + tag;
    MPI_Send(&value, 1, MPI_INT, right, tag, comm);
  }
  expect_works(schedule, comm, 3);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  const int left = (own() + all() - 1) % all();
  EXPECT_EQ(received[0], 100 * left);
  EXPECT_EQ(received[1], 100 * left + 1);
}

MPI_Comm doomed;
void free_doomed(MPI_Comm*, int*, ...) {
  if (doomed != MPI_COMM_NULL) MPI_Comm_free(&doomed);
}

// The sanitizer finds what is read after that.
TEST(Bindings, EndWhenAnErrorHandlerFreesTheirCommunicator) {
  const Schedule schedule("tests/mpi/any_allgather/blocked-ring_any.qs");
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(free_doomed, &handler);
  MPI_Comm_dup(MPI_COMM_WORLD, &doomed);
  MPI_Comm_set_errhandler(doomed, handler);
  MPI_Errhandler_free(&handler);
  bind(schedule, doomed);
  const std::vector<int> sent(2);
  std::vector<int> received(static_cast<size_t>(all()));
  EXPECT_EQ(quadrille_error_class(quadrille_allgather(schedule, sent.data(), 2, MPI_INT,
                                                      received.data(), 1, MPI_INT, doomed)),
            MPI_ERR_COUNT);
  EXPECT_EQ(doomed, MPI_COMM_NULL);
}

// Bindings, handles and communicators that the program never frees: MPI_Finalize must still return.
TEST(Bindings, MayBeLeftToMpiFinalize) {
  quadrille_schedule schedule;
  ASSERT_EQ(quadrille_load_file(schedule_paths(all())[0].c_str(), &schedule), MPI_SUCCESS);
  MPI_Comm left;
  MPI_Comm_dup(MPI_COMM_WORLD, &left);
  const quadrille_bind_options options = trusted();
  EXPECT_EQ(quadrille_bind(schedule, left, &options), MPI_SUCCESS);
  EXPECT_EQ(quadrille_bind(schedule, MPI_COMM_WORLD, &options), MPI_SUCCESS);
  EXPECT_EQ(quadrille_bind(Schedule(schedule_path("factor_1.qs")), MPI_COMM_SELF, &options),
            MPI_SUCCESS);
  expect_works(schedule, left);
}

}  // namespace
}  // namespace quadrille::mpi
