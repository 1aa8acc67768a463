// Refused allgather calls and bindings, and schedules that prove broken.
#include <climits>

#include "tests/mpi/calls.h"
#include "tests/mpi/refused.h"

namespace quadrille::mpi {
namespace {

std::string path(const std::string& folder, const std::string& name) {
  return "tests/mpi/" + folder + "/" + name + "_" + std::to_string(all()) + ".qs";
}

class AllgatherRefused : public Refused {
 protected:
  void TearDown() override {
    Refused::TearDown();
    expect_works(ring_, comm_);
  }

  void expect_unbound(const Schedule& schedule, quadrille_bind_options options, int error_class,
                      const std::string& part) {
    SCOPED_TRACE(part);
    expect_refusal_everywhere(quadrille_bind(schedule, comm_, &options), error_class, part);
  }

  const Schedule ring_{path("gather", "linear-ring")}, blocked_{path("gather", "blocked-ring")};
};

TEST_F(AllgatherRefused, BlockSizesThatAreNone) {
  for (const int64_t size : {int64_t{-1}, int64_t{INT_MAX} + 1, INT64_MAX, INT64_MIN})
    expect_unbound(blocked_, trusted(0, 0, size), MPI_ERR_ARG,
                   "the block size is negative or larger than an int can hold; give 1 or more");
  expect_unbound(blocked_, trusted(0, 0, own() == 0 ? -1 : 8), MPI_ERR_ARG,
                 own() == 0 ? "the block size is negative" : "another rank");
  const quadrille_bind_options largest = trusted(0, 0, INT_MAX);
  ASSERT_EQ(quadrille_bind(blocked_, comm_, &largest), MPI_SUCCESS);
  expect_works(blocked_, comm_);
}

TEST_F(AllgatherRefused, BlockSizesThatDiffer) {
  expect_unbound(blocked_, trusted(0, 0, own() == 0 ? 8 : 9), MPI_ERR_ARG,
                 "ranks bind with different block sizes; give the same everywhere");
}

TEST_F(AllgatherRefused, BlockSizeWhereThereIsNone) {
  expect_unbound(ring_, trusted(0, 0, 8), MPI_ERR_ARG, "the schedule takes no block size");
}

TEST_F(AllgatherRefused, NoBlockSizeWhereNothingChooses) {
  const Schedule schedule(path("broken", "no_rule"));
  expect_unbound(schedule, trusted(), MPI_ERR_ARG,
                 "does not say how its block size is chosen; bind with the option block_size");
  const quadrille_bind_options options = trusted(0, 0, 8);
  ASSERT_EQ(quadrille_bind(schedule, comm_, &options), MPI_SUCCESS);
  expect_works(schedule, comm_);
  // The binding is unchanged.
  expect_unbound(schedule, trusted(), MPI_ERR_ARG, "bind with the option block_size");
  expect_works(schedule, comm_);
}

TEST_F(AllgatherRefused, NumberOfRanksThatTheAlgorithmCannotServe) {
  const Schedule even(path("broken", "even"));
  const quadrille_bind_options options = trusted();
  if (all() % 2 == 0)
    EXPECT_EQ(quadrille_bind(even, comm_, &options), MPI_SUCCESS);
  else
    expect_unbound(
        even, options, MPI_ERR_TOPOLOGY,
        "even does not serve " + std::to_string(all()) +
            " ranks with its parameters and these counts: its condition 1 does not hold; "
            "`quadrille show` prints the conditions, one behind each 'require'");
}

TEST_F(AllgatherRefused, SchedulesThatAreBrokenForAllCounts) {
  const std::pair<const char*, const char*> why[] = {
      {"beyond", "it names a range that is not in its block"},
      {"block_too_many", "it names a block that is not there"},
      {"downwards", "its steps are not in order"},
      {"endless",
       "its loops take too many iterations: they do not end, or its block size is too small"},
      {"foreign_copy", "it copies over this rank's own contribution"},
      {"over_own", "it receives over this rank's own contribution"},
      {"over_own_once", "it receives over this rank's own contribution"},
      {"to_itself", "it sends to, or receives from, a rank that is not there"}};
  for (const auto& [name, part] : why)
    expect_unbound(Schedule(path("broken", name)), trusted(), MPI_ERR_INTERN,
                   "the schedule is broken: " + std::string(part) + "; verify it");
}

// The same class of error on all ranks, with the message of the rank that found it.
TEST_F(AllgatherRefused, SchedulesThatAreBrokenAtSomeRanks) {
  const bool last = own() == all() - 1;
  expect_unbound(Schedule(path("broken", "foreign_rank")), trusted(), MPI_ERR_INTERN,
                 last ? "it sends to, or receives from, a rank that is not there" : "another rank");
  expect_unbound(Schedule(path("broken", "foreign_block")), trusted(), MPI_ERR_INTERN,
                 own() > 0 ? "it names a block that is not there" : "another rank");
  if (all() > 2)
    expect_unbound(Schedule(path("broken", "disorder")), trusted(), MPI_ERR_INTERN,
                   "its steps are not in order");
}

// No rank waits, and the binding remembers the error.
TEST_F(AllgatherRefused, ScheduleThatIsBrokenForSomeCounts) {
  const Schedule schedule(path("broken", "long_range"));
  const quadrille_bind_options options = trusted();
  ASSERT_EQ(quadrille_bind(schedule, comm_, &options), MPI_SUCCESS);
  std::vector<int> to(static_cast<size_t>(all()));
  for (int i = 0; i < 2; ++i) {
    const int code = quadrille_allgather(schedule, &i, 1, MPI_INT, to.data(), 1, MPI_INT, comm_);
    if (own() < 2)
      expect_refusal(code, MPI_ERR_INTERN, "it names a range that is not in its block; verify it");
    else
      EXPECT_EQ(code, MPI_SUCCESS);
  }
}

// A rank that refused its long loop would leave the others waiting.
TEST_F(AllgatherRefused, NoCallForItsLoops) {
  const Schedule schedule(path("broken", "long_loops"));
  const quadrille_bind_options options = trusted();
  ASSERT_EQ(quadrille_bind(schedule, comm_, &options), MPI_SUCCESS);
  std::vector<int> to(static_cast<size_t>(all()));
  const int mine = own();
  ASSERT_EQ(quadrille_allgather(schedule, &mine, 1, MPI_INT, to.data(), 1, MPI_INT, comm_),
            MPI_SUCCESS);
  for (int rank = 0; rank < all(); ++rank) EXPECT_EQ(to[static_cast<size_t>(rank)], rank);
}

TEST_F(AllgatherRefused, OtherCollectivesThanTheSchedulesOwn) {
  const quadrille_bind_options options = trusted();
  ASSERT_EQ(quadrille_bind(ring_, comm_, &options), MPI_SUCCESS);
  std::vector<int> from(static_cast<size_t>(all())), to = from;
  expect_refusal(quadrille_alltoall(ring_, from.data(), 1, MPI_INT, to.data(), 1, MPI_INT, comm_),
                 MPI_ERR_ARG, "the schedule is for allgather; call the functions of that name");
  const Schedule other(schedule_paths(all()).front());
  ASSERT_EQ(quadrille_bind(other, comm_, &options), MPI_SUCCESS);
  expect_refusal(quadrille_allgather(other, from.data(), 1, MPI_INT, to.data(), 1, MPI_INT, comm_),
                 MPI_ERR_ARG, "the schedule is for alltoall; call the functions of that name");
}

// Each rank refuses such arguments without the others.
TEST_F(AllgatherRefused, ArgumentsOfACall) {
  int from[16] = {0}, to[16], counts[16] = {0}, places[16] = {0};
  const auto v = [&](const void* send, int count, MPI_Datatype type, void* receive,
                     const int* receive_counts, const int* displacements) {
    return quadrille_allgatherv(ring_, send, count, type, receive, receive_counts, displacements,
                                MPI_INT, comm_);
  };
  expect_refusal(v(from, -1, MPI_INT, to, counts, places), MPI_ERR_COUNT, "a count is negative");
  expect_refusal(v(from, 0, MPI_DATATYPE_NULL, to, counts, places), MPI_ERR_TYPE,
                 "MPI_DATATYPE_NULL");
  expect_refusal(v(from, 0, MPI_INT, MPI_IN_PLACE, counts, places), MPI_ERR_BUFFER,
                 "it belongs in place of the send buffer");
  expect_refusal(v(from, 0, MPI_INT, to, nullptr, places), MPI_ERR_ARG, "the counts are NULL");
  expect_refusal(v(from, 0, MPI_INT, to, counts, nullptr), MPI_ERR_ARG,
                 "the displacements are NULL");
  counts[all() - 1] = -3;
  expect_refusal(v(from, 0, MPI_INT, to, counts, places), MPI_ERR_COUNT, "a count is negative");
  for (const MPI_Count most : {INT64_MAX / 4, (int64_t{1} << 38) + 1}) {
    std::vector<MPI_Count> large(static_cast<size_t>(all()), most);
    const std::vector<MPI_Aint> large_places(large.size());
    expect_refusal(quadrille_allgatherv_c(ring_, from, 0, MPI_INT, to, large.data(),
                                          large_places.data(), MPI_INT, comm_),
                   MPI_ERR_COUNT, "the counts are more bytes than there can be");
  }
}

// The others are served with as many bytes as fit.
TEST_F(AllgatherRefused, ContributionThatIsNotWhatTheCountsSay) {
  const std::vector<int> mine(4, 10 + own());
  for (const int count : {1, 4}) {
    std::vector<int> to(static_cast<size_t>(2 * all() + 1), -1);
    const int sent = own() == 0 ? count : 2;
    const int code =
        quadrille_allgather(ring_, mine.data(), sent, MPI_INT, to.data(), 2, MPI_INT, comm_);
    if (own() == 0)
      expect_refusal(code, MPI_ERR_COUNT,
                     "this rank contributes " + std::to_string(4 * count) +
                         " bytes, but its own entry of the receive counts is 8 bytes");
    else
      EXPECT_EQ(code, MPI_SUCCESS);
    for (int r = 1; r < all(); ++r) EXPECT_EQ(to[static_cast<size_t>(2 * r + 1)], 10 + r);
    EXPECT_EQ(to[0], 10);
    EXPECT_EQ(to.back(), -1);
  }
}

}  // namespace
}  // namespace quadrille::mpi
