// Two groups of ranks, and operators, in the simulation.
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "tests/mpi/buffer.h"
#include "tests/net/simulation.h"

namespace quadrille::net {
namespace {

using mpi::Element;
using mpi::elements;

Machine machine(int ranks, int remote, unsigned seed = 1) {
  Machine machine;
  machine.ranks = ranks;
  machine.remote = remote;
  machine.seed = seed;
  return machine;
}

void expect_problem(const Outcome& outcome, const std::string& part) {
  EXPECT_NE(outcome.text().find(part), std::string::npos)
      << "no problem says '" << part << "', but: " << outcome.text();
}

TEST(SimulatedGroups, KnowTheirRanksAndReachThoseOfTheOther) {
  const Outcome outcome = simulate(machine(5, 3), [](MPI_Comm comm) {
    const bool is_high = this_rank() >= 2;
    int inter = 0, rank = -1, ranks = -1, remote = -1;
    MPI_Comm_test_inter(comm, &inter);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_remote_size(comm, &remote);
    EXPECT_EQ((std::array{inter, rank, ranks, remote}),
              (std::array{1, this_rank() - 2 * is_high, is_high ? 3 : 2, is_high ? 2 : 3}));
    int out = 100 + this_rank(), in = -1;
    if (rank < 2)
      MPI_Sendrecv(&out, 1, MPI_INT, rank, 0, &in, 1, MPI_INT, rank, 0, comm, MPI_STATUS_IGNORE);
    EXPECT_EQ(in, rank == 2 ? -1 : 100 + rank + (is_high ? 0 : 2));
  });
  EXPECT_EQ(outcome.text(), "");
}

TEST(SimulatedGroups, ReduceToEachOther) {
  const Outcome outcome = simulate(machine(5, 3), [](MPI_Comm comm) {
    const int own = 1 << this_rank();
    int all = 0;
    MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_SUM, comm);
    EXPECT_EQ(all, this_rank() < 2 ? 4 + 8 + 16 : 1 + 2);
  });
  EXPECT_EQ(outcome.text(), "");
}

// In either order if both groups give the same value.
TEST(SimulatedGroups, MergeInTheOrderThatTheySay) {
  for (const int high_first : {0, 1}) {
    std::set<int> firsts;
    for (unsigned seed = 0; seed < 20; ++seed) {
      const Outcome outcome = simulate(machine(3, 1, seed), [&](MPI_Comm comm) {
        MPI_Comm merged;
        int rank = -1;
        MPI_Intercomm_merge(comm, high_first ? this_rank() < 2 : 0, &merged);
        MPI_Comm_rank(merged, &rank);
        if (rank == 0) firsts.insert(this_rank());
        MPI_Comm_free(&merged);
      });
      EXPECT_EQ(outcome.text(), "");
    }
    EXPECT_EQ(firsts, high_first ? std::set<int>{2} : (std::set<int>{0, 2}));
  }
}

TEST(SimulatedGroups, WhoseRanksDisagreeOnTheOrderAreAProblem) {
  expect_problem(simulate(machine(3, 1),
                          [](MPI_Comm comm) {
                            MPI_Comm merged;
                            MPI_Intercomm_merge(comm, this_rank() == 0, &merged);
                            MPI_Comm_free(&merged);
                          }),
                 "disagree on whether it is the high one");
}

TEST(SimulatedOperators, CombineWhatDatatypesNameWithTheLeftOnTheLeft) {
  elements();
  const Outcome outcome = simulate(machine(1, 0), [](MPI_Comm) {
    for (const Element& element : elements()) {
      int commutes = -1;
      MPI_Op_commutative(element.operation, &commutes);
      EXPECT_EQ(commutes, element.commutes);
      std::array<uint8_t, 32> left, right;
      for (size_t i = 0; i < left.size(); ++i) {
        left[i] = static_cast<uint8_t>(3 * i + 1);
        right[i] = static_cast<uint8_t>(5 * i + 2);
      }
      std::array<uint8_t, 32> expected = right;
      for (int i = 0; i < 2; ++i) {
        uint8_t a[8], b[8];
        const auto at = [&](size_t k) {
          return static_cast<size_t>(i * element.shape.extent + element.shape.offsets[k]);
        };
        for (size_t k = 0; k < element.shape.offsets.size(); ++k) {
          a[k] = left[at(k)];
          b[k] = right[at(k)];
        }
        element.combine(a, b);
        for (size_t k = 0; k < element.shape.offsets.size(); ++k) expected[at(k)] = b[k];
      }
      MPI_Reduce_local(left.data(), right.data(), 2, element.shape.type, element.operation);
      EXPECT_EQ(right, expected) << element.shape.name;
    }
  });
  EXPECT_EQ(outcome.text(), "");
}

TEST(SimulatedOperators, AreForTypesOfTheirOwnAndBuffersApart) {
  elements();
  expect_problem(simulate(machine(1, 0),
                          [](MPI_Comm) {
                            std::array<int, 3> three{};
                            MPI_Reduce_local(three.data(), &three[1], 2, MPI_INT, MPI_SUM);
                          }),
                 "buffers that overlap");
  expect_problem(simulate(machine(1, 0),
                          [](MPI_Comm) {
                            std::array<uint8_t, 16> a{}, b{};
                            MPI_Reduce_local(a.data(), b.data(), 1, elements()[2].shape.type,
                                             MPI_SUM);
                          }),
                 "a datatype that it is not for");
}

}  // namespace
}  // namespace quadrille::net
