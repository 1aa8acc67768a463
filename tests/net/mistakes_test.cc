// Calls in which ranks disagree, or ask for something that MPI does not have. All ranks get the same error. The call
// must not wait forever, read outside buffers, or end the program.
#include <array>
#include <cstring>

#include "schedule/text.h"
#include "tests/net/jobs.h"
#include "tests/support/topologies.h"

namespace quadrille::net::mistakes_test {

constexpr int kMost = 8;
using Integers = std::array<int, kMost>;

// Runs one rank's call, which may be a persistent one to make. Returns its error code.
using Making = std::function<int(quadrille_schedule, MPI_Comm, quadrille_request*)>;

// Expects this error on every rank. The first of two groups has the communicator's first `groups.ranks` ranks.
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

// ---- Roots

// This holds for any counts, even if no rank contributes anything.
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

// The groups have two and three ranks. They name no root, two roots, a root that the other group does not mean, a
// root in each group, a root that one leaf rank does not name, or none at any rank.
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

// ---- Conditions of one group

// Returns a program between a group of two ranks and a group of three.
Scheduled between_two_and_three(const std::string& text) {
  const Result<Program> program = parse_program(text, "program");
  check(program.ok(), program.ok() ? "" : program.error().message.c_str());
  return {"between", *program, {{topology_of({2}), topology_of({3})}, {}}};
}

// Runs an allgather with counts of 2 and 3 in the first group, and of 2 in the second.
int gather_of_each_other(quadrille_schedule schedule, MPI_Comm comm) {
  const bool is_first = this_rank() < 2;
  const Integers from{};
  Integers to{};
  const std::array<int, 3> counts = {2, is_first ? 2 : 3, 2}, places = {0, 2, 5};
  return quadrille_allgatherv(schedule, from.data(), this_rank() == 1 ? 3 : 2, MPI_BYTE, to.data(),
                              counts.data(), places.data(), MPI_BYTE, comm);
}

TEST(ConditionOfOneGroup, IsRefusedByBoth) {
  const std::string start = "algorithm a for allgather between groups\ntable r = remote_counts\n";
  const std::string steps =
      "step 0\n  for d in 0 .. remote_ranks\n    send send[0] to remote d\n"
      "    receive recv[d] from remote d\n";
  const auto classes = [&](const std::string& declarations) {
    return outcomes(between_two_and_three(start + declarations + steps), {}, gather_of_each_other);
  };
  EXPECT_EQ(classes("require r[0] < 3\n"), std::vector<int>(5, MPI_SUCCESS));
  for (const std::string declarations :
       {"require r[0] = r[1]\n", "table m = counts\nrequire group*m[0] <= 1\n",
        "table m = counts\nrequire m[0] = m[1]\n",
        "table m = counts\ntable d[i in 0 .. 2] = 100 div (2 - group*m[0])\nrequire d[0] < 500\n",
        "table d[i in 0 .. 2] = 100 div (3 - r[1])\n", "require 0 <= 100 div (3 - r[1])\n",
        "table d[i in 0 .. (r[1] - 2)*100000000] = 1\n"}) {
    testing::ScopedTrace trace(__FILE__, __LINE__, declarations);
    EXPECT_EQ(classes(declarations), std::vector<int>(5, MPI_ERR_ARG));
  }
}

// In the root's group, ranks other than the root take no part.
TEST(ConditionOfOneGroup, IsRefusedByTheRootAndTheOtherGroup) {
  for (const std::string declaration :
       {"require group*root = 0\n", "require (1 - group)*root = 0\n"}) {
    testing::ScopedTrace trace(__FILE__, __LINE__, declaration);
    const Scheduled program = between_two_and_three(
        "algorithm a for gather between groups\n" + declaration +
        "step 0\n  if group = 1\n    send send[0] to remote root\n  else\n    if rank = root\n"
        "      for k in 0 .. remote_ranks\n        receive recv[k] from remote k\n");
    const auto classes = [&](int root) {
      return outcomes(program, {}, [&](quadrille_schedule schedule, MPI_Comm comm) {
        const Integers from{};
        Integers to{};
        const int said = this_rank() >= 2 ? root : this_rank() == root ? MPI_ROOT : MPI_PROC_NULL;
        return quadrille_gather(schedule, from.data(), 1, MPI_INT, to.data(), 1, MPI_INT, said,
                                comm);
      });
    };
    EXPECT_EQ(classes(0), std::vector<int>(5, MPI_SUCCESS));
    EXPECT_EQ(classes(1),
              (std::vector<int>{MPI_SUCCESS, MPI_ERR_ARG, MPI_ERR_ARG, MPI_ERR_ARG, MPI_ERR_ARG}));
  }
}

// ---- Operators

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

// Rank 3 is alone on its node. This node is the first in the schedule.
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

// One rank has as many elements as the others, but longer ones.
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

// An element reaches into later ones, unless the extent is 12 and the first offset 0.
TEST(MistakenDatatype, WhoseElementsReachIntoEachOtherIsRefusedWhereTheyAreCombined) {
  for (const MPI_Aint extent : {4, 12})
    for (const MPI_Aint first : {0, -4}) {
      const bool is_within = extent == 12 && first == 0;
      expect_refused("allreduce doubling", {3, 0}, is_within ? MPI_SUCCESS : MPI_ERR_TYPE,
                     is_within ? "" : "elements of the datatype reach into each other",
                     [&](quadrille_schedule schedule, MPI_Comm comm, quadrille_request*) {
                       std::array<int, 4 * kMost> from{}, to{};
                       const std::array<int, 2> ones = {1, 1};
                       const std::array<MPI_Aint, 2> places = {first, 8};
                       MPI_Datatype apart, type;
                       MPI_Type_create_hindexed(2, ones.data(), places.data(), MPI_INT, &apart);
                       MPI_Type_create_resized(apart, 0, extent, &type);
                       MPI_Type_commit(&type);
                       const MPI_Op left = take_left();
                       const int code = quadrille_allreduce(schedule, from.data() + kMost,
                                                            to.data() + kMost, 2, type, left, comm);
                       MPI_Type_free(&apart);
                       MPI_Type_free(&type);
                       return code;
                     });
    }
}

// ---- Counts and buffers

// The groups exchange their counts. If they were wrong, a rank would read beyond its send buffer.
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

// In a reduce-scatter, a rank that receives nothing still contributes.
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

// The message numbers the ranks of each group from 0, as the call does.
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

}  // namespace quadrille::net::mistakes_test
