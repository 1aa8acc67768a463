// Persistent calls of other collectives than an all-to-all, beside what collectives_test.cc asks of every schedule.
#include <gtest/gtest.h>

#include "tests/mpi/settings.h"

namespace quadrille::mpi {
namespace {

// What it was made with is gone when it starts.
TEST(PersistentCollectives, OutliveTheirCommunicatorScheduleAndTypes) {
  const int ranks = ranks_of(MPI_COMM_WORLD), own = rank_in(MPI_COMM_WORLD);
  const Kind& kind = kinds()[1];
  for (const std::string& path : collective_paths(1)) {
    Schedule schedule(path);
    quadrille_schedule_info info;
    info.size = sizeof info;
    ASSERT_EQ(quadrille_info(schedule, &info), MPI_SUCCESS);
    const bool gathers = info.collective == std::string("gather");
    if (!gathers && info.collective != std::string("allreduce")) continue;
    if (info.commutative || (info.ranks > 0 && info.ranks != ranks)) continue;
    SCOPED_TRACE(path);
    Communicator comm(MPI_COMM_WORLD, 0, own);
    MPI_Datatype type;
    MPI_Type_dup(kind.type, &type);
    Displaced d = displaced(
        ranks, [](int r) { return 2 + r; }, 1);
    const int count = gathers ? 2 + own : 40;
    const Bytes from = elements(kind, count, static_cast<unsigned>(own));
    Bytes ours = noise(static_cast<size_t>((gathers ? d.room : count) * kind.extent), 1);
    Bytes theirs = ours;
    EXPECT_EQ(gathers
                  ? MPI_Gatherv(from.data(), count, type, theirs.data(), d.counts.data(),
                                d.displacements.data(), type, 0, comm)
                  : MPI_Allreduce(from.data(), theirs.data(), count, type, kind.operation, comm),
              MPI_SUCCESS);
    quadrille_request request;
    ASSERT_EQ(gathers ? quadrille_gatherv_init(schedule, from.data(), count, type, ours.data(),
                                               d.counts.data(), d.displacements.data(), type, 0,
                                               comm, MPI_INFO_NULL, &request)
                      : quadrille_allreduce_init(schedule, from.data(), ours.data(), count, type,
                                                 kind.operation, comm, MPI_INFO_NULL, &request),
              MPI_SUCCESS);
    MPI_Type_free(&type);
    d.counts.assign(d.counts.size(), -1);
    schedule.free();
    comm.free();
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(quadrille_start(request), MPI_SUCCESS);
      EXPECT_EQ(quadrille_wait(request), MPI_SUCCESS);
      EXPECT_TRUE(ours == theirs) << "start " << i << ", rank " << own;
    }
    EXPECT_EQ(quadrille_free_request(&request), MPI_SUCCESS);
  }
}

// And not by the handler of MPI_COMM_WORLD, which ends the program: also with MPI's own kinds of datatypes.
TEST(PersistentCollectives, AreRefusedWhereMpiHasNotThatOperator) {
  const int ranks = ranks_of(MPI_COMM_WORLD), own = rank_in(MPI_COMM_WORLD);
  int asked = 0;
  for (const std::string& path : collective_paths(1)) {
    Schedule schedule(path);
    quadrille_schedule_info info;
    info.size = sizeof info;
    ASSERT_EQ(quadrille_info(schedule, &info), MPI_SUCCESS);
    if (info.collective != std::string("allreduce")) continue;
    if (info.ranks > 0 && info.ranks != ranks) continue;
    SCOPED_TRACE(path);
    Communicator comm(MPI_COMM_WORLD, 0, own);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    const double from = 1;
    double to = 0;
    quadrille_request request;
    const auto call = [&](MPI_Op operation) {
      return quadrille_allreduce_init(schedule, &from, &to, 1, MPI_DOUBLE, operation, comm,
                                      MPI_INFO_NULL, &request);
    };
    expect_error(call(MPI_BAND), MPI_ERR_OP, "not for elements of that datatype");
    expect_error(quadrille_allreduce(schedule, &from, &to, 1, MPI_DOUBLE, MPI_BAND, comm),
                 MPI_ERR_OP, "not for elements of that datatype");
    ASSERT_EQ(call(MPI_SUM), MPI_SUCCESS);
    EXPECT_EQ(quadrille_free_request(&request), MPI_SUCCESS);
    ++asked;
  }
  EXPECT_GT(asked, 0);
}

}  // namespace
}  // namespace quadrille::mpi
