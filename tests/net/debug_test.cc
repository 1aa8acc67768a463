// With QUADRILLE_DEBUG=1, calls that do not fit together give an error of one class on every rank, with the message
// of the rank that is wrong. Without it they could wait for each other forever. The library also prints each rank's
// number in the schedule.
#include <cstdlib>

#include "tests/net/refused.h"

namespace quadrille::net {
namespace {

// Sets the variable before the library reads it.
const bool is_set = setenv("QUADRILLE_DEBUG", "1", 1) == 0;

// One rank's part of an allgather to which each rank contributes two ints.
struct Gathering {
  Gathering(Place& place, quadrille_schedule schedule) : here(place), schedule(schedule) {
    for (int r = 0; r < here.all; ++r) {
      counts.push_back(2);
      places.push_back(3 * r);
    }
  }
  int call(int contributed = 2, MPI_Datatype type = MPI_INT) {
    return quadrille_allgatherv(schedule, from, contributed, MPI_INT, to, counts.data(),
                                places.data(), type, here);
  }
  void refused(int code, int error_class, const std::string& part) {
    here.expect_refused(code, error_class, part);
  }

  Place& here;
  quadrille_schedule schedule;
  std::vector<int> counts, places;
  int from[32] = {0}, to[32];
};

void on_ranks(const std::function<void(Gathering&)>& body) {
  ASSERT_TRUE(is_set);
  for (const int ranks : {2, 3})
    net::on_ranks(ranks, [&](Place& here) {
      const Schedule schedule(gathering("blocked-ring", {ranks}, {kRuleNone}).file);
      const quadrille_bind_options options = mpi::trusted(0, 0, 8);
      expect_success(quadrille_bind(schedule, here, &options), "bind");
      Gathering gather(here, schedule);
      body(gather);
      mpi::expect_works(schedule, here);
    });
}

TEST(AllgatherDebug, LetsCallsThatFitTogetherPass) {
  on_ranks([](Gathering& g) {
    EXPECT_EQ(g.call(), MPI_SUCCESS);
    g.places.assign(g.places.size(), 0);
    g.counts.assign(g.counts.size(), 0);
    EXPECT_EQ(g.call(0), MPI_SUCCESS) << "empty blocks may lie anywhere";
    for (int r = 0; r < g.here.all; ++r) {
      g.counts[static_cast<size_t>(r)] = 2;
      g.places[static_cast<size_t>(r)] = 2 * (g.here.all - 1 - r);
    }
    EXPECT_EQ(g.call(), MPI_SUCCESS) << "blocks that touch";
    if (g.here.own == 0) g.counts.assign(g.counts.size(), 1);
    EXPECT_EQ(g.call(2, g.here.own == 0 ? MPI_DOUBLE : MPI_INT), MPI_SUCCESS) << "alike in bytes";
  });
}

TEST(AllgatherDebug, NamesTheRanksWhoseCountsDiffer) {
  on_ranks([](Gathering& g) {
    if (g.here.own == 0) {
      g.counts[1] = 4;
      g.places = {0, 4, 12};
    }
    g.refused(g.call(), MPI_ERR_COUNT,
              "the ranks disagree: rank 1's contribution is 8 bytes at rank 1 and 16 bytes at rank "
              "0; call with the same counts everywhere");
    const int last = g.here.all - 1, count = g.here.is_last() ? 3 : 2;
    g.refused(
        quadrille_allgather(g.schedule, g.from, count, MPI_INT, g.to, count, MPI_INT, g.here),
        MPI_ERR_COUNT,
        "the ranks disagree: rank 0's contribution is 8 bytes at rank 0 and 12 bytes at rank " +
            std::to_string(last));
  });
}

TEST(AllgatherDebug, NamesTheMistakeOfOneRank) {
  on_ranks([](Gathering& g) {
    const bool is_wrong = g.here.own == 0;
    const auto said = [&](const std::string& part) {
      return is_wrong ? part : "another rank's arguments are wrong; its own message";
    };
    g.refused(g.call(is_wrong ? 1 : 2), MPI_ERR_COUNT,
              said("this rank contributes 4 bytes, but its own entry of the receive counts is 8 "
                   "bytes; they must be equal"));
    if (is_wrong) g.counts[1] = -1;
    g.refused(g.call(), MPI_ERR_COUNT, said("a count is negative"));
    g.counts[1] = 2;
    if (is_wrong) g.places[1] = 1;
    g.refused(g.call(), MPI_ERR_BUFFER,
              said("the blocks of ranks 0 and 1 overlap in the receive buffer; correct the "
                   "displacements"));
  });
}

// Elements with gaps between them. Another block may use the bytes of a gap, but not those of an element.
TEST(AllgatherDebug, BlocksOfElementsThatLieApart) {
  on_ranks([](Gathering& g) {
    MPI_Datatype spread;
    MPI_Type_create_resized(MPI_INT, 0, 8, &spread);
    MPI_Type_commit(&spread);
    for (int r = 0; r < g.here.all; ++r) g.places[static_cast<size_t>(r)] = 2 * r;
    EXPECT_EQ(g.call(2, spread), MPI_SUCCESS);
    if (g.here.own == 1) g.places[0] = 1;
    g.refused(g.call(2, spread), MPI_ERR_BUFFER,
              g.here.own == 1 ? "the blocks of ranks 0 and 1 overlap"
                              : "another rank's arguments are wrong");
    MPI_Type_free(&spread);
  });
}

TEST(AlltoallDebug, NamesTheRanksWhoseLengthsDiffer) {
  for (const int ranks : {2, 3})
    for (const Scheduled& program :
         {exchanging("factor", {ranks}), exchanging("tuna", {ranks}, {2})})
      net::on_ranks(ranks, [&](Place& here) {
        const Schedule schedule(program.file);
        std::vector<int> sent(static_cast<size_t>(ranks), 2), received = sent, places;
        for (int r = 0; r < ranks; ++r) places.push_back(3 * r);
        int from[9] = {0}, to[9];
        const auto call = [&] {
          return quadrille_alltoallv(schedule, from, sent.data(), places.data(), MPI_INT, to,
                                     received.data(), places.data(), MPI_INT, here);
        };
        EXPECT_EQ(call(), MPI_SUCCESS);
        // With length 0, a schedule that sends blocks directly would wait forever.
        for (const int expected : {1, 3, 0}) {
          if (here.own == 0) received.back() = expected;
          here.expect_refused(call(), MPI_ERR_TRUNCATE,
                              here.own == 0 ? "rank " + std::to_string(ranks - 1) +
                                                  " sends 8 bytes to rank 0, which has room for " +
                                                  std::to_string(4 * expected)
                                            : "another rank's arguments are wrong");
        }
        mpi::expect_works(schedule, here);
      });
}

// A node of 2 ranks and one of 1 change places. Equal nodes keep theirs.
TEST(LayoutDebug, SaysWhichRankOfTheScheduleARankIs) {
  for (const int ranks : {2, 3}) {
    Machine machine{.ranks = ranks, .node_of = {0, 0, 0}};
    machine.node_of[static_cast<size_t>(ranks - 1)] = 1;
    testing::internal::CaptureStderr();
    expect_no_problem(machine, [](MPI_Comm comm) {
      const Schedule schedule(program_named("alltoall hierarchical-factor").file);
      expect_success(quadrille_bind(schedule, comm, nullptr), "bind");
    });
    const std::string said = testing::internal::GetCapturedStderr();
    for (int own = 0; own < 3; ++own)
      EXPECT_EQ(said.find("rank " + std::to_string(own) + " is rank " +
                          std::to_string((own + 1) % 3) + " of the schedule") != std::string::npos,
                ranks > 2)
          << said;
    EXPECT_EQ(said.find("of the schedule") != std::string::npos, ranks > 2) << said;
  }
}

}  // namespace
}  // namespace quadrille::net
