// Refused bindings and calls. Every rank gets an error of the same class, with one sentence, and one call of the
// communicator's error handler. Afterwards the communicator works as before.
#include <climits>

#include "tests/net/refused.h"
#include "tests/support/topologies.h"

namespace quadrille::net::refusals_test {

const quadrille_bind_options kTrusted = mpi::trusted();

std::vector<uint8_t> exchange(int ranks) { return exchanging("factor", {ranks}).file; }
std::vector<uint8_t> ring(int ranks) { return gathering("linear-ring", {ranks}).file; }
std::vector<uint8_t> program(const std::string& name, int ranks) {
  return of_file("tests/net/programs/" + name + ".txt", {ranks}, {}).file;
}

void expect_bound(quadrille_schedule schedule, MPI_Comm comm,
                  const quadrille_bind_options& options = kTrusted) {
  expect_success(quadrille_bind(schedule, comm, &options), "bind");
}

// ---- Handles

TEST(RefusedBinding, OfAScheduleForAnotherNumberOfRanks) {
  on_ranks([](Place& here) {
    const Schedule eight(exchange(8));
    for (const auto* options : {static_cast<const quadrille_bind_options*>(nullptr), &kTrusted})
      here.expect_unbound(
          eight, options, MPI_ERR_TOPOLOGY,
          "the schedule is for 8 ranks, the communicator has " + std::to_string(here.all));
  });
}

TEST(RefusedBinding, OfNoScheduleAndOfGarbageAsAHandle) {
  on_ranks([](Place& here) {
    const Schedule good(exchange(here.all));
    here.expect_unbound(QUADRILLE_SCHEDULE_NULL, nullptr, MPI_ERR_ARG, "the schedule is null");
    for (const quadrille_schedule garbage :
         {quadrille_schedule{77}, ~quadrille_schedule{0}, quadrille_schedule{1} << 32,
          quadrille_schedule{good} + (quadrille_schedule{1} << 40)})
      here.expect_unbound(garbage, nullptr, MPI_ERR_ARG, "the schedule is null or was freed");
    here.expect_unbound(here.is_last() ? QUADRILLE_SCHEDULE_NULL : quadrille_schedule{good},
                        nullptr, MPI_ERR_ARG, here.at(here.all - 1, "the schedule is null"));
  });
}

TEST(RefusedBinding, OfFilesThatCouldNotBeLoaded) {
  on_ranks([](Place& here) {
    const Schedule good(exchange(here.all));
    quadrille_schedule missing, damaged;
    EXPECT_EQ(quadrille_error_class(quadrille_load_file("no/such/file.qs", &missing)),
              MPI_ERR_NO_SUCH_FILE);
    EXPECT_NE(quadrille_load_memory("not a schedule", 14, &damaged), MPI_SUCCESS);
    here.expect_unbound(here.own == 0 ? missing : quadrille_schedule{good}, nullptr,
                        MPI_ERR_NO_SUCH_FILE, here.at(0, "no/such/file.qs: No such file"));
    here.expect_unbound(damaged, nullptr, MPI_ERR_FILE, "not a schedule file");
    // If ranks have different reasons, all get one of the errors.
    const int code =
        quadrille_bind(here.own == 0 ? damaged : QUADRILLE_SCHEDULE_NULL, here, nullptr);
    const int own = quadrille_error_class(code);
    int least = 0;
    MPI_Allreduce(&own, &least, 1, MPI_INT, MPI_MIN, here);
    here.expect_refused(code, least, "");
    EXPECT_EQ(quadrille_free(&missing), MPI_SUCCESS);
    EXPECT_EQ(quadrille_free(&damaged), MPI_SUCCESS);
  });
}

TEST(RefusedBinding, OfDifferentSchedules) {
  on_ranks([](Place& here) {
    const Schedule good(exchange(here.all)), other(exchanging("linear", {here.all}).file);
    here.expect_unbound(here.own == 0 ? other : good, nullptr, MPI_ERR_ARG,
                        "ranks bring different schedules; load the same file everywhere");
  });
}

TEST(RefusedBinding, StandsBesideABindingThatStays) {
  on_ranks([](Place& here) {
    const Schedule good(exchange(here.all)), eight(exchange(8));
    expect_bound(good, here);
    here.expect_unbound(eight, nullptr, MPI_ERR_TOPOLOGY, "the schedule is for 8 ranks");
    mpi::expect_works(good, here, 4);
  });
}

TEST(RefusedBinding, OfNoCommunicator) {
  on_ranks([](Place& here) {
    const Schedule good(exchange(here.all));
    int from[16] = {0}, to[16];
    mpi::expect_error(quadrille_bind(good, MPI_COMM_NULL, nullptr), MPI_ERR_COMM, "MPI_COMM_NULL");
    mpi::expect_error(quadrille_alltoall(good, from, 1, MPI_INT, to, 1, MPI_INT, MPI_COMM_NULL),
                      MPI_ERR_COMM, "MPI_COMM_NULL");
  });
}

// ---- Options

TEST(RefusedBinding, OfOptionsThatMakeNoSense) {
  on_ranks([](Place& here) {
    const Schedule good(exchange(here.all));
    const auto refused = [&](const quadrille_bind_options& options, const std::string& part) {
      here.expect_unbound(good, &options, MPI_ERR_ARG, part);
    };
    quadrille_bind_options options = kTrusted;
    options.size = 0;
    refused(options, "the size field");
    options = kTrusted;
    options.layout = 7;
    refused(options, "the layout is neither");
    for (const int window : {-1, 1 << 30})
      refused(mpi::trusted(window), "the window is negative or more than 65536 steps");
    refused(mpi::trusted(here.own == 0 ? -5 : 1), here.at(0, "the window is negative"));
    options.layout = here.own == 0 ? QUADRILLE_LAYOUT_SHARED : QUADRILLE_LAYOUT_TRUSTED;
    refused(options, "ranks bind with different layouts");
  });
}

TEST(RefusedBinding, OfBlockSizesThatAreNoneOrDiffer) {
  on_ranks([](Place& here) {
    const Schedule blocked(gathering("blocked-ring", {here.all}, {kRuleNone}).file),
        without(ring(here.all));
    const auto refused = [&](const Schedule& schedule, int64_t size, const std::string& part) {
      const quadrille_bind_options options = mpi::trusted(0, 0, size);
      here.expect_unbound(schedule, &options, MPI_ERR_ARG, part);
    };
    for (const int64_t size : {int64_t{-1}, int64_t{INT_MAX} + 1, INT64_MAX, INT64_MIN})
      refused(blocked, size,
              "the block size is negative or larger than an int can hold; give 1 or more");
    refused(blocked, here.own == 0 ? -1 : 8, here.at(0, "the block size is negative"));
    expect_bound(blocked, here, mpi::trusted(0, 0, INT_MAX));
    mpi::expect_works(blocked, here);
    refused(blocked, here.own == 0 ? 8 : 9,
            "ranks bind with different block sizes; give the same everywhere");
    refused(without, 8, "the schedule takes no block size");
  });
}

TEST(RefusedBinding, WithoutABlockSizeWhereNothingChoosesOne) {
  on_ranks([](Place& here) {
    const Schedule schedule(
        of_file("tests/net/programs/no_rule.txt", {here.all}, {kRuleNone}).file);
    here.expect_unbound(schedule, &kTrusted, MPI_ERR_ARG,
                        "does not say how its block size is chosen; bind with the option "
                        "block_size");
    expect_bound(schedule, here, mpi::trusted(0, 0, 8));
    mpi::expect_works(schedule, here);
    // The binding stays as it was.
    here.expect_unbound(schedule, &kTrusted, MPI_ERR_ARG, "bind with the option block_size");
    mpi::expect_works(schedule, here);
  });
}

// ---- Numbers of ranks, and nodes

TEST(RefusedBinding, WhereTheAlgorithmDoesNotServeThatNumberOfRanks) {
  on_ranks([](Place& here) {
    const Schedule even(program("even", here.all));
    if (here.all % 2 == 0)
      expect_bound(even, here);
    else
      here.expect_unbound(even, &kTrusted, MPI_ERR_TOPOLOGY,
                          "even does not serve " + std::to_string(here.all) +
                              " ranks with its parameters and these counts: its condition 1 does "
                              "not hold; `quadrille show` prints the conditions, one behind each "
                              "'require'");
  });
}

TEST(RefusedBinding, OfAScheduleForAnyNodesWhereTheyDoNotMeetItsNeeds) {
  on_ranks([](Place& here) {
    const bool is_even = here.all % 2 == 0, is_power = here.all == 2;
    for (const auto& [name, needs, is_served] :
         {std::tuple("alltoall xor", "xor needs a power of two of ranks", is_power),
          {"alltoall factor-even", "factor-even needs an even number of ranks", is_even},
          {"allgather neighbor-exchange", "neighbor-exchange needs an even number of ranks",
           is_even}}) {
      const Schedule schedule(program_named(name).file);
      if (is_served)
        mpi::expect_works(schedule, here);
      else
        here.expect_refused(
            quadrille_bind(schedule, here, nullptr), MPI_ERR_TOPOLOGY,
            std::string(needs) + "; the communicator has " + std::to_string(here.all));
    }
  });
}

TEST(RefusedBinding, OfMoreRanksThanAreProven) {
  on_ranks([](Place& here) {
    const Scheduled& any = program_named("allgather recursive-doubling");
    Job job = any.job;
    job.most_ranks = 2;
    const Schedule schedule(Scheduled(any.name, any.program, job).file);
    const int code = quadrille_bind(schedule, here, nullptr);
    if (here.all <= 2)
      EXPECT_EQ(code, MPI_SUCCESS);
    else
      here.expect_refused(code, MPI_ERR_TOPOLOGY,
                          "recursive-doubling is proven for up to 2 ranks, the communicator has " +
                              std::to_string(here.all) + "; generate one for its nodes");
  });
}

TEST(RefusedBinding, InATrustedOrderWhereNodesMatterAndNotOtherwise) {
  on_ranks([](Place& here) {
    for (const char* const name : {"alltoall hierarchical-factor", "alltoall tuna-coalesced",
                                   "allgather blocked-ring-nodes"}) {
      const Schedule schedule(program_named(name).file);
      here.expect_unbound(schedule, &kTrusted, MPI_ERR_TOPOLOGY,
                          "a schedule for any nodes does not say how many ranks a node has; bind "
                          "with QUADRILLE_LAYOUT_SHARED, or generate one for your nodes");
      mpi::expect_works(schedule, here);
    }
    const Schedule flat(program_named("alltoall tuna").file);
    expect_bound(flat, here);
    mpi::expect_works(flat, here);
  });
}

// The sentence names nodes in the notation of users.
TEST(RefusedBinding, OnOtherNodesUnlessTheyAreTrusted) {
  struct Nodes {
    std::vector<int64_t> sizes;
    const char* text;
  };
  for (const Nodes& given : {Nodes{{1, 1}, "2x1"},
                             {{2}, "2"},
                             {{1, 2}, "1,2"},
                             {{3}, "3"},
                             {{1, 2, 3}, "1,2,3"},
                             {{6}, "6"}})
    for (const Nodes& found : {Nodes{{1, 1}, "2x1"},
                               {{2}, "2"},
                               {{1, 2}, "1,2"},
                               {{1, 1, 1}, "3x1"},
                               {{3}, "3"},
                               {{1, 5}, "1,5"},
                               {{3, 3}, "2x3"},
                               {{6}, "6"},
                               {{1, 1, 1, 1, 1, 1}, "6x1"}}) {
      const Scheduled scheduled = exchanging("hierarchical-factor", given.sizes);
      const Topology nodes = topology_of(found.sizes);
      if (nodes.ranks() != scheduled.groups.ranks || std::string(given.text) == found.text)
        continue;
      std::vector<int> node_of;
      for (size_t node = 0; node < found.sizes.size(); ++node)
        node_of.insert(node_of.begin(), static_cast<size_t>(found.sizes[node]),
                       static_cast<int>(node));
      on_ranks(
          static_cast<int>(nodes.ranks()),
          [&](Place& here) {
            const Schedule schedule(scheduled.file);
            here.expect_unbound(schedule, nullptr, MPI_ERR_TOPOLOGY,
                                "the schedule is for nodes " + std::string(given.text) +
                                    ", the communicator has " + found.text +
                                    "; generate one for these or for any, or bind with "
                                    "QUADRILLE_LAYOUT_TRUSTED");
            expect_bound(schedule, here);
            mpi::expect_works(schedule, here);
          },
          node_of);
    }
}

// ---- Two groups

TEST(RefusedBinding, OfAnIntercommunicatorForOneGroup) {
  expect_no_problem({.ranks = 3, .remote = 1}, [](MPI_Comm comm) {
    const Schedule good(exchange(3));
    mpi::expect_error(quadrille_bind(good, comm, nullptr), MPI_ERR_COMM,
                      "the communicator is an intercommunicator");
    expect_one_sentence();
    mpi::expect_error(quadrille_bind_groups(good, comm, 1, nullptr), MPI_ERR_COMM,
                      "the communicator has two groups of its own");
  });
}

// The groups are two ranges of ranks of one communicator.
TEST(RefusedBinding, OfGroupsThatCannotBe) {
  on_ranks([](Place& here) {
    const Schedule good(exchange(here.all)),
        between(program_named("alltoall between groups direct").file);
    const auto refused = [&](quadrille_schedule schedule, int first, int error_class,
                             const std::string& part) {
      here.expect_refused(quadrille_bind_groups(schedule, here, first, nullptr), error_class, part);
    };
    for (const int first : {-1, 0, here.all, here.all + 1})
      refused(between, first, MPI_ERR_ARG, "the first group has less than one");
    refused(good, 1, MPI_ERR_COMM, "the schedule is for one group");
    here.expect_unbound(between, nullptr, MPI_ERR_COMM, "bind with quadrille_bind_groups");
    if (here.all > 2)
      refused(between, here.own == 0 ? 1 : 2, MPI_ERR_ARG, "first groups of different sizes");
    for (int turn = 0; turn < 2; ++turn)
      expect_success(quadrille_bind_groups(between, here, 1, nullptr), "bind");
    if (here.all > 2) refused(between, 2, MPI_ERR_COMM, "bound to other groups");
    CollectiveCall call{Collective::kAlltoall, {1, here.all - 1}};
    CollectivePart part(call, here.own);
    int others = here.all - 1;
    expect_success(part.run(between, here, others), "call");
    EXPECT_TRUE(part.is_right());
    part.expect_rest_untouched("groups");
  });
}

// ---- Calls of broken programs

// No rank waits forever, and the second call gives the same error.
TEST(RefusedCall, OfAScheduleThatIsBrokenForSomeCounts) {
  on_ranks([](Place& here) {
    const Schedule schedule(program("long_range", here.all));
    expect_bound(schedule, here);
    std::vector<int> to(static_cast<size_t>(here.all));
    for (int i = 0; i < 2; ++i) {
      const int code =
          quadrille_allgather(schedule, &here.own, 1, MPI_INT, to.data(), 1, MPI_INT, here);
      if (here.own < 2)
        here.expect_refused(code, MPI_ERR_INTERN,
                            "it names a range that is not in its block; verify it");
      else
        EXPECT_EQ(code, MPI_SUCCESS);
    }
  });
}

// If a rank refused its long loop, the other ranks would wait.
TEST(RefusedCall, IsNoneForItsLoops) {
  on_ranks([](Place& here) {
    const Schedule schedule(program("long_loops", here.all));
    expect_bound(schedule, here);
    mpi::expect_works(schedule, here);
  });
}

// ---- Arguments, which each rank refuses by itself

TEST(RefusedCall, OfAnotherCollectiveThanTheSchedulesOwn) {
  on_ranks([](Place& here) {
    const Schedule gather(ring(here.all)), other(exchange(here.all));
    const std::vector<int> from(static_cast<size_t>(here.all));
    std::vector<int> to(from.size());
    expect_bound(gather, here);
    expect_bound(other, here);
    here.expect_refused(
        quadrille_alltoall(gather, from.data(), 1, MPI_INT, to.data(), 1, MPI_INT, here),
        MPI_ERR_ARG, "the schedule is for allgather; call the functions of that name");
    here.expect_refused(
        quadrille_allgather(other, from.data(), 1, MPI_INT, to.data(), 1, MPI_INT, here),
        MPI_ERR_ARG, "the schedule is for alltoall; call the functions of that name");
  });
}

constexpr const char* kCounts = "the counts are NULL";
constexpr const char* kPlaces = "the displacements are NULL";
constexpr const char* kNegative = "a count is negative";
constexpr const char* kInPlace = "it belongs in place of the send buffer";

TEST(RefusedCall, OfAnAllgatherForItsArguments) {
  on_ranks([](Place& here) {
    const Schedule gather(ring(here.all));
    int from[16] = {0}, to[16], counts[16] = {0}, places[16] = {0};
    const auto refused = [&](int count, MPI_Datatype type, void* receive, const int* receive_counts,
                             const int* displacements, int error_class, const char* part) {
      here.expect_refused(quadrille_allgatherv(gather, from, count, type, receive, receive_counts,
                                               displacements, MPI_INT, here),
                          error_class, part);
    };
    refused(-1, MPI_INT, to, counts, places, MPI_ERR_COUNT, kNegative);
    refused(0, MPI_DATATYPE_NULL, to, counts, places, MPI_ERR_TYPE, "MPI_DATATYPE_NULL");
    refused(0, MPI_INT, MPI_IN_PLACE, counts, places, MPI_ERR_BUFFER, kInPlace);
    refused(0, MPI_INT, to, nullptr, places, MPI_ERR_ARG, kCounts);
    refused(0, MPI_INT, to, counts, nullptr, MPI_ERR_ARG, kPlaces);
    counts[here.all - 1] = -3;
    refused(0, MPI_INT, to, counts, places, MPI_ERR_COUNT, kNegative);
    for (const MPI_Count most : {INT64_MAX / 4, (int64_t{1} << 38) + 1}) {
      const std::vector<MPI_Count> large(static_cast<size_t>(here.all), most);
      const std::vector<MPI_Aint> large_places(large.size());
      here.expect_refused(quadrille_allgatherv_c(gather, from, 0, MPI_INT, to, large.data(),
                                                 large_places.data(), MPI_INT, here),
                          MPI_ERR_COUNT, "the counts are more bytes than there can be");
    }
  });
}

TEST(RefusedCall, OfAnAllToAllForItsArguments) {
  on_ranks([](Place& here) {
    const Schedule good(exchange(here.all));
    int from[16] = {0}, to[16], counts[16] = {0}, places[16] = {0};
    const auto one = [&](int count, void* receive, MPI_Datatype type) {
      return quadrille_alltoall(good, from, count, MPI_INT, receive, 1, type, here);
    };
    here.expect_refused(one(-1, to, MPI_INT), MPI_ERR_COUNT, kNegative);
    here.expect_refused(one(1, to, MPI_DATATYPE_NULL), MPI_ERR_TYPE, "MPI_DATATYPE_NULL");
    here.expect_refused(one(1, MPI_IN_PLACE, MPI_INT), MPI_ERR_BUFFER, kInPlace);
    const auto many = [&](const int* sent, const int* received, const int* displacements) {
      return quadrille_alltoallv(good, from, sent, places, MPI_INT, to, received, displacements,
                                 MPI_INT, here);
    };
    here.expect_refused(many(nullptr, counts, places), MPI_ERR_ARG, kCounts);
    here.expect_refused(many(counts, counts, nullptr), MPI_ERR_ARG, kPlaces);
    const std::vector<MPI_Datatype> types(static_cast<size_t>(here.all), MPI_INT);
    const auto typed = [&](const MPI_Datatype* send, const MPI_Datatype* receive) {
      return quadrille_alltoallw(good, from, counts, places, send, to, counts, places, receive,
                                 here);
    };
    here.expect_refused(typed(nullptr, types.data()), MPI_ERR_TYPE, "the datatypes are NULL");
    here.expect_refused(typed(types.data(), nullptr), MPI_ERR_TYPE, "the datatypes are NULL");
    std::vector<MPI_Datatype> one_missing = types;
    one_missing.back() = MPI_DATATYPE_NULL;
    counts[here.all - 1] = 1;
    here.expect_refused(typed(types.data(), one_missing.data()), MPI_ERR_TYPE,
                        "a datatype is not valid");
    counts[here.all - 1] = -3;
    here.expect_refused(many(counts, places, places), MPI_ERR_COUNT, kNegative);
  });
}

// The other ranks get as many bytes as fit.
TEST(RefusedCall, OfAContributionThatIsNotWhatTheCountsSay) {
  on_ranks([](Place& here) {
    const Schedule gather(ring(here.all));
    const std::vector<int> mine(4, 10 + here.own);
    for (const int count : {1, 4}) {
      std::vector<int> to(static_cast<size_t>(2 * here.all + 1), -1);
      const int sent = here.own == 0 ? count : 2;
      const int code =
          quadrille_allgather(gather, mine.data(), sent, MPI_INT, to.data(), 2, MPI_INT, here);
      if (here.own == 0)
        here.expect_refused(code, MPI_ERR_COUNT,
                            "this rank contributes " + std::to_string(4 * count) +
                                " bytes, but its own entry of the receive counts is 8 bytes");
      else
        EXPECT_EQ(code, MPI_SUCCESS);
      for (int r = 1; r < here.all; ++r) EXPECT_EQ(to[static_cast<size_t>(2 * r + 1)], 10 + r);
      EXPECT_EQ(to[0], 10);
      EXPECT_EQ(to.back(), -1);
    }
  });
}

// ---- Persistent calls, whose functions have no communicator and so no error handler

TEST(RefusedRequest, OutOfTurnChangesNothing) {
  on_ranks([](Place& here) {
    const Schedule schedule(exchanging("tuna", {here.all}, {2}).file);
    const CollectiveCall call{Collective::kAlltoall, {here.all, 0}, LengthKind::kEqual, 0, 1};
    CollectivePart part(call, here.own);
    quadrille_request request;
    expect_bound(schedule, here);
    expect_success(part.make(schedule, here, &request), "make");
    const auto refused = [](int code, const std::string& part) {
      mpi::expect_error(code, MPI_ERR_REQUEST, part);
      expect_one_sentence();
    };
    const auto finish = [&] {
      expect_success(quadrille_wait(request), "wait");
      EXPECT_TRUE(part.is_right());
    };
    refused(quadrille_wait(request), "the call was not started; start it first");
    expect_success(quadrille_start(request), "start");
    refused(quadrille_start(request), "the call was started before; wait for it");
    const quadrille_request before = request;
    refused(quadrille_free_request(&request), "the call is in flight; wait for it first");
    EXPECT_EQ(request, before);
    finish();
    refused(quadrille_wait(request), "the call was not started");
    part.fill(2);
    expect_success(quadrille_start(request), "start again");
    finish();
    expect_success(quadrille_free_request(&request), "free");
    for (quadrille_request stale : {before, QUADRILLE_REQUEST_NULL, before + 1000}) {
      refused(quadrille_start(stale), "the request is null or was freed");
      refused(quadrille_wait(stale), "the request is null or was freed");
      refused(quadrille_free_request(&stale), "the request is null or was freed");
    }
    refused(quadrille_free_request(nullptr), "the request to free is NULL");
  });
}

}  // namespace quadrille::net::refusals_test
