// Calls in which ranks disagree, or ask for something that MPI does not have. The result is an error, the same on all
// ranks. The call must not wait forever, read outside buffers, or end the program.
#include <array>
#include <cstring>

#include "tests/net/jobs.h"

namespace quadrille::net {
namespace {

constexpr int kMost = 8;
using Integers = std::array<int, kMost>;

// One rank's action: makes a persistent call, or runs another, and returns its code.
using Making = std::function<int(quadrille_schedule, MPI_Comm, quadrille_request*)>;

// The first `groups.ranks` ranks of one communicator are the first group.
void expect_refused(const std::string& name, const Groups& groups, int error_class,
                    const std::string& part, const Making& body) {
  const Scheduled& program = program_named(name);
  const Ways ways{.are_ranges = groups.remote > 0};
  testing::ScopedTrace trace(__FILE__, __LINE__, name);
  expect_no_problem(machine_of(program, groups, ways), [&](MPI_Comm comm) {
    const Bound bound(program, groups, ways, comm);
    quadrille_request request = 77;
    EXPECT_EQ(quadrille_error_class(body(bound, comm, &request)), error_class)
        << "rank " << this_rank();
    EXPECT_NE(last_error().find(part), std::string::npos) << last_error();
  });
}

// ---- roots

// Whatever the counts, even if no rank contributes anything.
TEST(MistakenRoot, IsRefusedWhereRanksOfOneGroupDisagree) {
  for (const char* const name : {"gather binomial", "scatter binomial", "broadcast binomial"})
    for (const int count : {0, 2})
      expect_refused(
          name, {3, 0}, MPI_ERR_ROOT, "rank 0 says 0 and rank 1 says 1",
          [&](quadrille_schedule schedule, MPI_Comm comm, quadrille_request* request) {
            Integers from{}, to{};
            const int root = this_rank() == 1;
            const std::string collective = name;
            if (collective == "gather binomial")
              return quadrille_gather_init(schedule, from.data(), count, MPI_INT, to.data(), count,
                                           MPI_INT, root, comm, MPI_INFO_NULL, request);
            if (collective == "scatter binomial")
              return quadrille_scatter_init(schedule, from.data(), count, MPI_INT, to.data(), count,
                                            MPI_INT, root, comm, MPI_INFO_NULL, request);
            return quadrille_bcast_init(schedule, to.data(), count, MPI_INT, root, comm,
                                        MPI_INFO_NULL, request);
          });
}

// The roots that two groups of two and three ranks give: no root; two of them; a root other than the one that the
// other group names; one in each group; a leaf rank that names none; no rank at all.
TEST(MistakenRoot, IsRefusedWhereTwoGroupsDisagree) {
  const int root = MPI_ROOT, none = MPI_PROC_NULL;
  const std::array<std::array<int, 5>, 6> all = {{{none, none, 0, 0, 0},
                                                  {root, root, 0, 0, 0},
                                                  {none, root, 0, 0, 0},
                                                  {root, none, root, none, none},
                                                  {root, none, 0, none, 0},
                                                  {none, none, none, none, none}}};
  for (const char* const name : {"gather between groups tree", "broadcast between groups leader"})
    for (const auto& said : all)
      for (const int count : {0, 2})
        expect_refused(name, {2, 3}, MPI_ERR_ROOT, "the ranks disagree on the root",
                       [&](quadrille_schedule schedule, MPI_Comm comm, quadrille_request* request) {
                         std::array<int, 2 * kMost> from{}, to{};
                         const int own = said[static_cast<size_t>(this_rank())];
                         return name[0] == 'g'
                                    ? quadrille_gather_init(schedule, from.data(), count, MPI_INT,
                                                            to.data(), count, MPI_INT, own, comm,
                                                            MPI_INFO_NULL, request)
                                    : quadrille_bcast_init(schedule, to.data(), count, MPI_INT, own,
                                                           comm, MPI_INFO_NULL, request);
                       });
}

// ---- operators

TEST(MistakenOperator, IsRefusedWhereMpiHasItNotForThatDatatype) {
  for (const bool is_persistent : {false, true})
    expect_refused("allreduce doubling", {3, 0}, MPI_ERR_OP, "not for elements of that datatype",
                   [&](quadrille_schedule schedule, MPI_Comm comm, quadrille_request* request) {
                     Integers from{}, to{};
                     MPI_Datatype pair;
                     MPI_Type_contiguous(2, MPI_INT, &pair);
                     MPI_Type_commit(&pair);
                     const auto call = [&](MPI_Datatype type) {
                       return is_persistent ? quadrille_allreduce_init(schedule, from.data(),
                                                                       to.data(), 2, type, MPI_SUM,
                                                                       comm, MPI_INFO_NULL, request)
                                            : quadrille_allreduce(schedule, from.data(), to.data(),
                                                                  2, type, MPI_SUM, comm);
                     };
                     EXPECT_EQ(call(MPI_INT), MPI_SUCCESS);
                     if (is_persistent) {
                       EXPECT_EQ(quadrille_free_request(request), MPI_SUCCESS);
                     }
                     const int first = call(pair), again = call(pair);
                     EXPECT_EQ(quadrille_error_class(first), quadrille_error_class(again));
                     MPI_Type_free(&pair);
                     return again;
                   });
}

MPI_Op take_left() {
  MPI_Op made;
  MPI_Op_create(
      [](void* in, void* inout, int* count, MPI_Datatype*) {
        std::memcpy(inout, in, sizeof(int) * static_cast<size_t>(*count));
      },
      0, &made);
  return made;
}

// Rank 3 is alone on its node, which comes first in the schedule.
TEST(MistakenOperator, IsRefusedWhereItDoesNotCommuteAndTheScheduleHasAnotherOrder) {
  for (const std::string name : {"doubling", "lanes", "hierarchical"}) {
    const Scheduled& program = program_named("allreduce " + name);
    Machine machine = machine_of(program, {4, 0}, {});
    machine.node_of = {0, 0, 0, 1};
    testing::ScopedTrace trace(__FILE__, __LINE__, name);
    expect_no_problem(machine, [&](MPI_Comm comm) {
      const Bound bound(program, {4, 0}, {}, comm);
      const int from = this_rank() + 1;
      int to = 0;
      EXPECT_EQ(quadrille_allreduce(bound, &from, &to, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
      EXPECT_EQ(to, 10);
      const MPI_Op left = take_left();
      const int code = quadrille_allreduce(bound, &from, &to, 1, MPI_INT, left, comm);
      EXPECT_EQ(quadrille_keeps_order(bound, comm), name == "doubling");
      if (name == "doubling") {
        EXPECT_EQ(code, MPI_SUCCESS);
        EXPECT_EQ(to, 1);
      } else {
        EXPECT_EQ(quadrille_error_class(code), MPI_ERR_OP);
        EXPECT_NE(last_error().find(name == "lanes" ? "not that of the communicator"
                                                    : "for operators that commute"),
                  std::string::npos)
            << last_error();
      }
    });
  }
}

// As many elements as on all others, but longer ones.
TEST(MistakenDatatype, OfOneRankAloneIsRefusedWhereElementsAreCombined) {
  expect_refused("allreduce doubling", {3, 0}, MPI_ERR_TYPE,
                 "an element is 4 bytes at rank 0 and 8 bytes at rank 1",
                 [&](quadrille_schedule schedule, MPI_Comm comm, quadrille_request* request) {
                   Integers from{}, to{};
                   return quadrille_allreduce_init(schedule, from.data(), to.data(), 2,
                                                   this_rank() == 1 ? MPI_INT64_T : MPI_INT,
                                                   MPI_SUM, comm, MPI_INFO_NULL, request);
                 });
}

// ---- counts and buffers

// Each group sends its counts to the other one. Wrong counts would make it read beyond its send buffers.
TEST(MistakenCounts, OfTwoGroupsThatDoNotComeToTheSameAreRefused) {
  for (const bool is_persistent : {false, true})
    expect_refused("reduce-scatter between groups direct", {2, 3}, MPI_ERR_COUNT,
                   "the results of both groups are not of one length",
                   [&](quadrille_schedule schedule, MPI_Comm comm, quadrille_request* request) {
                     Integers from{}, to{};
                     Integers counts{1, 1, 1};
                     return is_persistent
                                ? quadrille_reduce_scatter_init(schedule, from.data(), to.data(),
                                                                counts.data(), MPI_INT, MPI_SUM,
                                                                comm, MPI_INFO_NULL, request)
                                : quadrille_reduce_scatter(schedule, from.data(), to.data(),
                                                           counts.data(), MPI_INT, MPI_SUM, comm);
                   });
}

// A rank that receives nothing in a reduce-scatter still contributes.
TEST(MistakenBuffer, OfARankThatReceivesNothingIsRefused) {
  for (const bool in_place : {false, true})
    expect_refused(
        "reduce-scatter pairwise", {3, 0}, MPI_ERR_BUFFER, "",
        [&](quadrille_schedule schedule, MPI_Comm comm, quadrille_request* request) {
          Integers from{}, to{};
          const Integers counts{0, 2, 2};
          void* const given = this_rank() == 0 ? nullptr : in_place ? to.data() : from.data();
          return quadrille_reduce_scatter_init(schedule, in_place ? MPI_IN_PLACE : given,
                                               in_place ? given : to.data(), counts.data(), MPI_INT,
                                               MPI_SUM, comm, MPI_INFO_NULL, request);
        });
}

// The words are those of the call, which numbers the ranks of each group from 0.
TEST(MistakenLengths, BetweenGroupsAreToldByTheRanksOfEach) {
  const Scheduled& program = program_named("alltoall between groups alltoall-between-aside");
  const Groups groups{2, 2};
  const Ways ways{.are_ranges = true};
  expect_no_problem(machine_of(program, groups, ways), [&](MPI_Comm comm) {
    const Bound bound(program, groups, ways, comm);
    Integers from{}, to{};
    const Integers ones{1, 1}, places{0, 1};
    Integers sent = ones;
    sent[1] += this_rank() == 0;
    const int code = quadrille_alltoallv(bound, from.data(), sent.data(), places.data(), MPI_INT,
                                         to.data(), ones.data(), places.data(), MPI_INT, comm);
    EXPECT_EQ(quadrille_error_class(code), this_rank() == 3 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    if (this_rank() == 3) {
      EXPECT_NE(last_error().find("rank 0 sends 8 bytes to rank 1"), std::string::npos)
          << last_error();
    }
  });
}

}  // namespace
}  // namespace quadrille::net
