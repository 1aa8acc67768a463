// Calls on several communicators, by one schedule or several. Bindings outlive their handle, and end with their
// communicator. Each simulation reports communicators that are not freed.
#include <gtest/gtest.h>

#include <memory>

#include "tests/net/jobs.h"

namespace quadrille::net::communicators_test {

using mpi::Communicator;
using mpi::expect_works;

constexpr int kRanks = 6;

// Runs on two nodes, whose ranks alternate.
void on_nodes(const std::function<void(MPI_Comm, int own)>& body, int ranks = kRanks) {
  Machine machine{.ranks = ranks};
  for (int r = 0; r < ranks; ++r) machine.node_of.push_back(r % 2);
  for (const unsigned seed : {1, 2, 3}) {
    machine.seed = seed;
    expect_no_problem(machine, [&](MPI_Comm comm) { body(comm, this_rank()); });
  }
}

// One file binds to every communicator, whatever nodes its ranks are on, and to several at once. These have the ranks
// in any order, a part of them, or one rank.
TEST(Communicators, OfSeveralSizesAndOrdersTakeTurnsWithOneSchedule) {
  int served = 0;
  for (const Scheduled& program : all_programs()) {
    const Collective collective = program.program.collective;
    if (program.program.groups == 2 ||
        (collective != Collective::kAlltoall && collective != Collective::kAllgather))
      continue;
    constexpr int kCut = 2;
    bool serves = true;
    for (const int ranks : {1, kCut, kRanks - kCut, kRanks}) serves &= program.serves({ranks, 0});
    if (!serves) continue;
    testing::ScopedTrace trace(__FILE__, __LINE__, program.name);
    on_nodes([&](MPI_Comm comm, int own) {
      const Schedule schedule(program.file);
      const Communicator part(comm, own < kCut, -own), whole(comm, 0, own), reversed(comm, 0, -own),
          mixed(comm, 0, own * 5 % 7), alone(comm, own, 0);
      for (unsigned turn = 0; turn < 3; ++turn)
        for (const Communicator* each : {&part, &whole, &alone, &reversed, &mixed})
          expect_works(schedule, *each, turn);
    });
    ++served;
  }
  EXPECT_GT(served, 20);
}

TEST(Communicators, KeepSeveralSchedulesApart) {
  on_nodes([](MPI_Comm comm, int) {
    std::vector<std::unique_ptr<Schedule>> schedules;
    for (const char* const name : {"factor", "linear", "hierarchical-factor", "spread-out"})
      schedules.push_back(std::make_unique<Schedule>(exchanging(name, {3, 3}).file));
    schedules.push_back(std::make_unique<Schedule>(gathering("linear-ring", {3, 3}).file));
    for (unsigned turn = 0; turn < 3; ++turn)
      for (const auto& schedule : schedules) expect_works(*schedule, comm, turn);
  });
}

TEST(Communicators, HavePersistentCallsOfOneScheduleInFlightAtOnce) {
  for (const char* const name : {"alltoall hierarchical-factor", "alltoall tuna-coalesced"})
    on_nodes([&](MPI_Comm comm, int own) {
      const Schedule schedule(program_named(name).file);
      const Communicator part(comm, own % 2, own);
      const CollectiveCall of_part{
          Collective::kAlltoall, {kRanks / 2, 0}, LengthKind::kUneven, 3, 1},
          of_all{Collective::kAlltoall, {kRanks, 0}, LengthKind::kUneven, 4, 1};
      Persistent one(of_part, own / 2), other(of_all, own);
      expect_success(one.make(schedule, part), name);
      expect_success(other.make(schedule, comm), name);
      one.start(1);
      other.start(2);
      one.wait("of a part");
      other.wait("of all");
      one.free();
      other.free();
    });
}

// The schedule is for one rank per node. These ranks share a node, so the schedule binds only if it is trusted.
std::vector<uint8_t> scattered() { return exchanging("hierarchical-factor", {1, 1, 1}).file; }

TEST(Bindings, AreNotCopiedWithTheirCommunicator) {
  expect_no_problem({.ranks = 3}, [](MPI_Comm comm) {
    const Schedule schedule(scattered());
    const quadrille_bind_options options = mpi::trusted();
    expect_success(quadrille_bind(schedule, comm, &options), "bind");
    MPI_Comm copy;
    MPI_Comm_dup(comm, &copy);
    expect_works(schedule, comm);
    int sent[3] = {0}, received[3];
    mpi::expect_error(quadrille_alltoall(schedule, sent, 1, MPI_INT, received, 1, MPI_INT, copy),
                      MPI_ERR_TOPOLOGY, "the schedule is for nodes ");
    expect_success(quadrille_bind(schedule, copy, &options), "bind");
    expect_works(schedule, copy);
    MPI_Comm_free(&copy);
    expect_works(schedule, comm);
  });
}

TEST(Bindings, OutliveTheirHandle) {
  expect_no_problem({.ranks = 3}, [](MPI_Comm comm) {
    {
      const Schedule schedule(scattered());
      const quadrille_bind_options options = mpi::trusted();
      expect_success(quadrille_bind(schedule, comm, &options), "bind");
    }
    // This file is bound already, and the call uses that binding. A new binding would fail.
    expect_works(Schedule(scattered()), comm);
  });
  on_nodes([](MPI_Comm comm, int own) {
    const std::vector<uint8_t>& file = program_named("allgather blocked-ring-nodes").file;
    const Communicator part(comm, own % 2, own);
    const Schedule later(file);
    {
      const Schedule first(file);
      expect_works(first, part);
      expect_works(first, comm);
    }
    expect_works(later, comm);
    expect_works(later, part);
  });
}

std::vector<MPI_Comm> doomed;  // one for each rank

void free_doomed(MPI_Comm*, int*, ...) {
  MPI_Comm& own = doomed[static_cast<size_t>(this_rank())];
  if (own != MPI_COMM_NULL) MPI_Comm_free(&own);
}

// The sanitizer notices if anything reads the freed binding.
TEST(Bindings, EndWhenAnErrorHandlerFreesTheirCommunicator) {
  doomed.assign(3, MPI_COMM_NULL);
  expect_no_problem({.ranks = 3}, [](MPI_Comm comm) {
    MPI_Comm& own = doomed[static_cast<size_t>(this_rank())];
    const Schedule schedule(program_named("allgather blocked-ring").file);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(free_doomed, &handler);
    MPI_Comm_dup(comm, &own);
    MPI_Comm_set_errhandler(own, handler);
    MPI_Errhandler_free(&handler);
    expect_success(quadrille_bind(schedule, own, nullptr), "bind");
    const int sent[2] = {0};
    int received[3];
    const int code = quadrille_allgather(schedule, sent, 2, MPI_INT, received, 1, MPI_INT, own);
    EXPECT_EQ(quadrille_error_class(code), MPI_ERR_COUNT);
    EXPECT_EQ(own, MPI_COMM_NULL);
  });
}

}  // namespace quadrille::net::communicators_test
