// Refused binding. It fails on every rank, with the same class of error, one sentence, and one call of the
// communicator's own handler. Afterwards the communicator works as before.
#include "tests/mpi/calls.h"
#include "tests/mpi/refused.h"

namespace quadrille::mpi {
namespace {

class Refusal : public Refused {
 protected:
  void TearDown() override {
    Refused::TearDown();
    // The refusal has left nothing behind.
    expect_works(good_, comm_);
  }

  // Binds a schedule. This must fail alike on all ranks, with `part` in the message here.
  void expect_refused(quadrille_schedule schedule, const quadrille_bind_options* options,
                      int error_class, const std::string& part) {
    expect_refusal_everywhere(quadrille_bind(schedule, comm_, options), error_class, part);
    // The collective calls bind as well, with no options.
    if (options != nullptr) return;
    int from[16] = {0}, to[16];
    expect_refusal_everywhere(quadrille_alltoall(schedule, from, 1, MPI_INT, to, 1, MPI_INT, comm_),
                              error_class, part);
  }

  const Schedule good_{schedule_paths(all()).front()};
};

TEST_F(Refusal, OfAScheduleForAnotherNumberOfRanks) {
  const Schedule eight(schedule_path("hierarchical-factor_1-1-2-4_pacing-token.qs"));
  const std::string sentence =
      "the schedule is for 8 ranks, the communicator has " + std::to_string(all());
  expect_refused(eight, nullptr, MPI_ERR_TOPOLOGY, sentence);
  const quadrille_bind_options options = trusted();
  expect_refused(eight, &options, MPI_ERR_TOPOLOGY, sentence);
}

TEST_F(Refusal, OfNoScheduleAtEveryRank) {
  expect_refused(QUADRILLE_SCHEDULE_NULL, nullptr, MPI_ERR_ARG, "the schedule is null");
}

TEST_F(Refusal, OfGarbageAsAHandle) {
  for (const quadrille_schedule garbage :
       {quadrille_schedule{77}, ~quadrille_schedule{0}, quadrille_schedule{1} << 32,
        quadrille_schedule{good_} + (quadrille_schedule{1} << 40)})
    expect_refused(garbage, nullptr, MPI_ERR_ARG, "the schedule is null or was freed");
}

TEST_F(Refusal, OfNoScheduleAtOneRank) {
  expect_refused(own() == all() - 1 ? QUADRILLE_SCHEDULE_NULL : quadrille_schedule{good_}, nullptr,
                 MPI_ERR_ARG, own() == all() - 1 ? "the schedule is null" : "another rank");
}

TEST_F(Refusal, OfAFileThatOneRankCouldNotLoad) {
  quadrille_schedule missing;
  const int code = quadrille_load_file("no/such/file.qs", &missing);
  EXPECT_EQ(quadrille_error_class(code), MPI_ERR_NO_SUCH_FILE);
  expect_refused(own() == 0 ? missing : quadrille_schedule{good_}, nullptr, MPI_ERR_NO_SUCH_FILE,
                 own() == 0 ? "no/such/file.qs: No such file" : "another rank");
  EXPECT_EQ(quadrille_free(&missing), MPI_SUCCESS);
}

TEST_F(Refusal, OfAFileThatNoRankCouldLoad) {
  quadrille_schedule damaged;
  EXPECT_NE(quadrille_load_memory("not a schedule", 14, &damaged), MPI_SUCCESS);
  expect_refused(damaged, nullptr, MPI_ERR_FILE, "not a schedule file");
  EXPECT_EQ(quadrille_free(&damaged), MPI_SUCCESS);
}

TEST_F(Refusal, OfDifferentReasonsIsOneErrorEverywhere) {
  quadrille_schedule damaged;
  quadrille_load_memory("not a schedule", 14, &damaged);
  const int code = quadrille_bind(own() == 0 ? damaged : QUADRILLE_SCHEDULE_NULL, comm_, nullptr);
  expect_error_everywhere(MPI_COMM_WORLD, code, quadrille_error_class(code));
  EXPECT_EQ(handled(), 1);
  quadrille_free(&damaged);
}

TEST_F(Refusal, OfDifferentSchedules) {
  const Schedule other(schedule_paths(all()).back());
  expect_refused(own() == 0 ? other : good_, nullptr, MPI_ERR_ARG,
                 "ranks bring different schedules; load the same file everywhere");
}

TEST_F(Refusal, OfSchedulesThatForwardWhatIsNotThere) {
  const std::tuple<const char*, int, const char*> why[] = {
      {"beyond_blocks", MPI_ERR_INTERN, "it names a block that is not there"},
      {"beyond_temporaries", MPI_ERR_INTERN, "it names a temporary block that is not there"},
      {"from_nowhere", MPI_ERR_INTERN, "it sends a temporary block that nothing was received in"},
      {"from_received", MPI_ERR_UNSUPPORTED_OPERATION, "go on from where they were received"}};
  for (const auto& [name, error_class, part] : why) {
    const Schedule schedule("tests/mpi/misrouted/" + std::string(name) + "_" +
                            std::to_string(all()) + ".qs");
    expect_refused(schedule, nullptr, error_class, part);
  }
}

TEST_F(Refusal, OfSchedulesThatWouldWalkForHours) {
  for (const std::string name : {"loops", "messages", "steps"}) {
    const Schedule schedule("tests/mpi/endless/endless_" + name + "_" + std::to_string(all()) +
                            ".qs");
    expect_refused(schedule, nullptr, MPI_ERR_INTERN, "its loops take too many iterations");
  }
}

TEST_F(Refusal, OfOptionsThatMakeNoSense) {
  quadrille_bind_options options = trusted();
  options.size = 0;
  expect_refused(good_, &options, MPI_ERR_ARG, "the size field");
  options = trusted();
  options.layout = 7;
  expect_refused(good_, &options, MPI_ERR_ARG, "the layout is neither");
  options = trusted(-1);
  expect_refused(good_, &options, MPI_ERR_ARG, "the window is negative or more than 65536 steps");
  options = trusted(1 << 30);
  expect_refused(good_, &options, MPI_ERR_ARG, "the window is negative or more than 65536 steps");
}

TEST_F(Refusal, OfOptionsThatMakeNoSenseAtOneRank) {
  quadrille_bind_options options = trusted(own() == 0 ? -5 : 1);
  expect_refused(good_, &options, MPI_ERR_ARG,
                 own() == 0 ? "the window is negative" : "another rank");
}

TEST_F(Refusal, OfLayoutsThatDiffer) {
  quadrille_bind_options options = trusted();
  if (own() == 0) options.layout = QUADRILLE_LAYOUT_SHARED;
  expect_refused(good_, &options, MPI_ERR_ARG, "ranks bind with different layouts");
}

TEST_F(Refusal, StandsBesideABindingThatStays) {
  const quadrille_bind_options options = trusted();
  ASSERT_EQ(quadrille_bind(good_, comm_, &options), MPI_SUCCESS);
  const Schedule eight(schedule_path("hierarchical-factor_8.qs"));
  expect_refused(eight, nullptr, MPI_ERR_TOPOLOGY, "the schedule is for 8 ranks");
  expect_works(good_, comm_, 4);
}

TEST_F(Refusal, OfAnIntercommunicator) {
  const Communicator half(MPI_COMM_WORLD, own() == 0, own());
  MPI_Comm inter;
  ASSERT_EQ(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, own() == 0 ? 1 : 0, 5, &inter),
            MPI_SUCCESS);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  const int code = quadrille_bind(good_, inter, nullptr);
  expect_error(code, MPI_ERR_COMM, "the communicator is an intercommunicator");
  expect_one_sentence();
  expect_error(quadrille_bind_groups(good_, inter, 1, nullptr), MPI_ERR_COMM,
               "the communicator has two groups of its own");
  MPI_Comm_free(&inter);
}

// Two ranges of the ranks of one communicator.
TEST_F(Refusal, OfGroupsThatCannotBe) {
  const Schedule between("tests/mpi/collectives_between/alltoall/direct_any_remote-nodes-any.qs");
  const auto expect_refused_groups = [&](quadrille_schedule schedule, MPI_Comm comm, int first,
                                         int error_class, const std::string& part) {
    expect_refusal_everywhere(quadrille_bind_groups(schedule, comm, first, nullptr), error_class,
                              part);
  };
  for (const int first : {-1, 0, all(), all() + 1})
    expect_refused_groups(between, comm_, first, MPI_ERR_ARG, "the first group has less than one");
  expect_refused_groups(good_, comm_, 1, MPI_ERR_COMM, "the schedule is for one group");
  expect_refused(between, nullptr, MPI_ERR_COMM, "bind with quadrille_bind_groups");
  if (all() > 2)
    expect_refused_groups(between, comm_, own() == 0 ? 1 : 2, MPI_ERR_ARG,
                          "first groups of different sizes");
  ASSERT_EQ(quadrille_bind_groups(between, comm_, 1, nullptr), MPI_SUCCESS);
  EXPECT_EQ(quadrille_bind_groups(between, comm_, 1, nullptr), MPI_SUCCESS);
  if (all() > 2) expect_refused_groups(between, comm_, 2, MPI_ERR_COMM, "bound to other groups");
  std::vector<int> from(static_cast<size_t>(all())), to(from.size(), -1);
  for (int& sent : from) sent = 100 * own();
  const int peers = own() == 0 ? all() - 1 : 1;
  EXPECT_EQ(quadrille_alltoall(between, from.data(), 1, MPI_INT, to.data(), 1, MPI_INT, comm_),
            MPI_SUCCESS);
  for (int i = 0; i < all(); ++i)
    EXPECT_EQ(to[static_cast<size_t>(i)], i >= peers ? -1 : own() == 0 ? 100 * (i + 1) : 0);
}

TEST_F(Refusal, OfNoCommunicator) {
  int from[16] = {0}, to[16];
  expect_error(quadrille_bind(good_, MPI_COMM_NULL, nullptr), MPI_ERR_COMM, "MPI_COMM_NULL");
  expect_error(quadrille_alltoall(good_, from, 1, MPI_INT, to, 1, MPI_INT, MPI_COMM_NULL),
               MPI_ERR_COMM, "MPI_COMM_NULL");
}

// Each rank refuses such arguments without the others.
TEST_F(Refusal, OfArgumentsOfACall) {
  int from[16] = {0}, to[16], counts[16] = {0}, places[16] = {0};
  const auto refused = [&](int code, int error_class, const std::string& part) {
    expect_refusal_everywhere(code, error_class, part);
  };
  refused(quadrille_alltoall(good_, from, -1, MPI_INT, to, 1, MPI_INT, comm_), MPI_ERR_COUNT,
          "a count is negative");
  refused(quadrille_alltoall(good_, from, 1, MPI_INT, to, 1, MPI_DATATYPE_NULL, comm_),
          MPI_ERR_TYPE, "MPI_DATATYPE_NULL");
  refused(quadrille_alltoall(good_, from, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm_),
          MPI_ERR_BUFFER, "it belongs in place of the send buffer");
  refused(quadrille_alltoallv(good_, from, nullptr, places, MPI_INT, to, counts, places, MPI_INT,
                              comm_),
          MPI_ERR_ARG, "the counts are NULL");
  refused(quadrille_alltoallv(good_, from, counts, places, MPI_INT, to, counts, nullptr, MPI_INT,
                              comm_),
          MPI_ERR_ARG, "the displacements are NULL");
  std::vector<MPI_Datatype> types(static_cast<size_t>(all()), MPI_INT);
  const auto typed = [&](const MPI_Datatype* send, const MPI_Datatype* receive) {
    return quadrille_alltoallw(good_, from, counts, places, send, to, counts, places, receive,
                               comm_);
  };
  refused(typed(nullptr, types.data()), MPI_ERR_TYPE, "the datatypes are NULL");
  refused(typed(types.data(), nullptr), MPI_ERR_TYPE, "the datatypes are NULL");
  std::vector<MPI_Datatype> one_missing = types;
  one_missing.back() = MPI_DATATYPE_NULL;
  counts[all() - 1] = 1;
  refused(typed(types.data(), one_missing.data()), MPI_ERR_TYPE, "a datatype is not valid");
  counts[all() - 1] = -3;
  refused(
      quadrille_alltoallv(good_, from, counts, places, MPI_INT, to, places, places, MPI_INT, comm_),
      MPI_ERR_COUNT, "a count is negative");
}

}  // namespace
}  // namespace quadrille::mpi
