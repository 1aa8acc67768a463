// The simulated MPI behaves as MPI specifies, and reports each kind of misuse.
#include "tests/net/simulation.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <set>

#include "tests/mpi/buffer.h"

namespace quadrille::net::simulation_test {

using mpi::Element;
using mpi::elements;

Machine machine(int ranks, bool is_eager = false, unsigned seed = 1) {
  return {.ranks = ranks, .seed = seed, .is_eager = is_eager};
}

int rank_of(MPI_Comm comm) {
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

void expect_quiet(const Machine& machine, const std::function<void(MPI_Comm)>& body) {
  EXPECT_EQ(simulate(machine, body).text(), "");
}

void expect_problem(const Machine& machine, const std::string& part,
                    const std::function<void(MPI_Comm)>& body) {
  const std::string text = simulate(machine, body).text();
  EXPECT_NE(text.find(part), std::string::npos)
      << "no problem says '" << part << "', but: " << text;
}

TEST(Simulation, MessagesOfAPairAreMatchedInTheirOrderAndByTag) {
  for (const bool is_eager : {false, true})
    for (unsigned seed = 0; seed < 20; ++seed) {
      expect_quiet(machine(2, is_eager, seed), [](MPI_Comm comm) {
        std::array<int, 3> values = {10, 11, 12};
        const std::array<int, 3> tags = {5, 6, 5};
        std::array<MPI_Request, 3> requests;
        for (size_t i = 0; i < 3; ++i)
          if (rank_of(comm) == 0) MPI_Isend(&values[i], 1, MPI_INT, 1, tags[i], comm, &requests[i]);
        if (rank_of(comm) == 1) {
          values = {};
          for (const size_t i : {1, 0, 2})
            MPI_Irecv(&values[i], 1, MPI_INT, 0, tags[i], comm, &requests[i]);
        }
        EXPECT_EQ(MPI_Waitall(3, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
        EXPECT_EQ(values, (std::array<int, 3>{10, 11, 12}));
      });
    }
}

TEST(Simulation, NothingIsBufferedInRendezvousModeAndEverythingInEagerMode) {
  const auto both_send_first = [](MPI_Comm comm) {
    int out = rank_of(comm), in = -1;
    MPI_Send(&out, 1, MPI_INT, 1 - rank_of(comm), 0, comm);
    MPI_Recv(&in, 1, MPI_INT, 1 - rank_of(comm), 0, comm, MPI_STATUS_IGNORE);
    EXPECT_EQ(in, 1 - out);
  };
  expect_quiet(machine(2, true), both_send_first);
  for (const char* const part :
       {"nobody can go on", "rank 1 waits for send of 4 bytes to rank 0 with tag 0"})
    expect_problem(machine(2), part, both_send_first);
}

TEST(Simulation, ASynchronousSendWaitsForItsReceiveInEagerModeToo) {
  expect_problem(machine(2, true), "nobody can go on", [](MPI_Comm comm) {
    int value = 0;
    MPI_Ssend(&value, 1, MPI_INT, 1 - rank_of(comm), 0, comm);
  });
}

TEST(Simulation, DifferentSeedsDeliverInDifferentOrders) {
  std::set<std::string> orders;
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::string order;
    const auto run = [&](MPI_Comm comm) {
      std::array<char, 3> out = {'a', 'b', 'c'}, in{};
      std::array<MPI_Request, 6> requests;
      int index = 0;
      for (int i = 0; i < 3; ++i) {
        MPI_Irecv(&in[static_cast<size_t>(i)], 1, MPI_CHAR, 1 - rank_of(comm), i, comm,
                  &requests[static_cast<size_t>(i)]);
        MPI_Isend(&out[static_cast<size_t>(i)], 1, MPI_CHAR, 1 - rank_of(comm), i, comm,
                  &requests[static_cast<size_t>(i) + 3]);
      }
      for (int i = 0; i < 6; ++i) {
        MPI_Waitany(6, requests.data(), &index, MPI_STATUS_IGNORE);
        order += static_cast<char>('0' + index + 6 * rank_of(comm));
      }
    };
    expect_quiet(machine(2, false, seed), run);
    const std::string first = std::exchange(order, "");
    simulate(machine(2, false, seed), run);
    EXPECT_EQ(order, first) << "one seed is one run";
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 10u);
}

TEST(Simulation, AMessageThatIsTooLongIsAnErrorAndWritesNothingBeyond) {
  expect_quiet(machine(2), [](MPI_Comm comm) {
    std::array<int, 4> out = {1, 2, 3, 4}, in = {7, 7, 7, 7};
    if (rank_of(comm) == 0) {
      MPI_Send(out.data(), 4, MPI_INT, 1, 0, comm);
      return;
    }
    MPI_Request request;
    MPI_Irecv(in.data(), 2, MPI_INT, 0, 0, comm, &request);
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    EXPECT_EQ(in, (std::array<int, 4>{1, 2, 7, 7}));
  });
}

TEST(Simulation, AShortMessageLeavesTheRestOfTheBufferAsItWas) {
  expect_quiet(machine(2), [](MPI_Comm comm) {
    std::array<int, 3> in = {7, 8, 9};
    const int out = 1;
    MPI_Status status;
    int count = 0;
    if (rank_of(comm) == 0) {
      MPI_Send(&out, 1, MPI_INT, 1, 3, comm);
      return;
    }
    MPI_Recv(in.data(), 3, MPI_INT, MPI_ANY_SOURCE, 3, comm, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    EXPECT_EQ(count, 1);
    EXPECT_EQ(status.MPI_SOURCE, 0);
    EXPECT_EQ(in, (std::array<int, 3>{1, 8, 9}));
  });
}

TEST(Simulation, WaitsRaiseErrorsThroughTheWorldWhichMayEndTheJob) {
  Machine strict = machine(2);
  strict.world_returns_errors = false;
  expect_problem(strict, "the job ends by an error handler of MPI_COMM_WORLD", [](MPI_Comm comm) {
    std::array<int, 2> values{};
    MPI_Request request;
    if (rank_of(comm) == 0) MPI_Isend(values.data(), 2, MPI_INT, 1, 0, comm, &request);
    if (rank_of(comm) == 1) MPI_Irecv(values.data(), 1, MPI_INT, 0, 0, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
}

TEST(Simulation, TellsOfReceivesThatOverlapWhatIsUnderWay) {
  for (const bool sends : {false, true})
    expect_problem(machine(2),
                   sends ? "the buffer of a send of 4 bytes to rank 1"
                         : "overlaps that of a receive of 8 bytes",
                   [sends](MPI_Comm comm) {
                     std::array<char, 12> buffer{};
                     std::array<MPI_Request, 2> requests;
                     const int peer = 1 - rank_of(comm);
                     std::array<char, 8> other{};
                     if (rank_of(comm) == 0) {
                       MPI_Irecv(buffer.data(), 8, MPI_CHAR, peer, 0, comm, &requests[0]);
                       sends
                           ? MPI_Isend(buffer.data() + 7, 4, MPI_CHAR, peer, 1, comm, &requests[1])
                           : MPI_Irecv(buffer.data() + 7, 4, MPI_CHAR, peer, 1, comm, &requests[1]);
                     } else {
                       MPI_Isend(other.data(), 8, MPI_CHAR, peer, 0, comm, &requests[0]);
                       sends ? MPI_Irecv(buffer.data(), 4, MPI_CHAR, peer, 1, comm, &requests[1])
                             : MPI_Isend(buffer.data(), 4, MPI_CHAR, peer, 1, comm, &requests[1]);
                     }
                     MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
                   });
}

TEST(Simulation, TellsOfBuffersThatChangeUnderWay) {
  for (const bool is_eager : {false, true}) {
    expect_problem(machine(2, is_eager), "changed before it was over", [](MPI_Comm comm) {
      int value = 1;
      MPI_Request request;
      if (rank_of(comm) == 0) MPI_Isend(&value, 1, MPI_INT, 1, 0, comm, &request);
      if (rank_of(comm) == 1) MPI_Irecv(&value, 1, MPI_INT, 0, 0, comm, &request);
      if (rank_of(comm) == 0) value = 2;
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
  }
  expect_problem(machine(2), "rank 1 wrote to the buffer of a receive", [](MPI_Comm comm) {
    int value = 1;
    MPI_Request request;
    if (rank_of(comm) == 1) MPI_Irecv(&value, 1, MPI_INT, 0, 0, comm, &request);
    if (rank_of(comm) == 1) value = 5;
    MPI_Barrier(comm);
    if (rank_of(comm) == 0) MPI_Isend(&value, 1, MPI_INT, 1, 0, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
}

TEST(Simulation, TellsOfRequestsThatAreLeftFreedOrWaitedForTwice) {
  expect_problem(machine(2), "rank 0 never waited for its receive of 4 bytes", [](MPI_Comm comm) {
    static int value;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, 1 - rank_of(comm), 0, comm, &request);
  });
  expect_problem(machine(2), "is freed while it is under way", [](MPI_Comm comm) {
    static int value;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, 1 - rank_of(comm), 0, comm, &request);
    MPI_Request_free(&request);
  });
  expect_problem(machine(1), "was waited for, or freed, before", [](MPI_Comm comm) {
    int in = 0, out = 0;
    MPI_Request requests[2];
    MPI_Irecv(&in, 1, MPI_INT, 0, 0, comm, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, 0, 0, comm, &requests[1]);
    MPI_Request copy = requests[0];
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Wait(&copy, MPI_STATUS_IGNORE);
  });
}

TEST(Simulation, TellsOfCommunicatorsAndDatatypesThatAreLeft) {
  expect_problem(machine(2), "did not free a communicator", [](MPI_Comm comm) {
    MPI_Comm other;
    MPI_Comm_dup(comm, &other);
  });
  MPI_Datatype type;
  expect_problem(machine(1), "1 datatypes were not freed",
                 [&](MPI_Comm) { MPI_Type_contiguous(2, MPI_INT, &type); });
  MPI_Type_free(&type);
}

TEST(Simulation, TellsOfTypesThatAreNotCommittedAndOfDifferentCollectives) {
  expect_problem(machine(1), "not committed", [](MPI_Comm comm) {
    int in[2], out[2] = {};
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Sendrecv(out, 1, type, 0, 0, in, 1, type, 0, 0, comm, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
  });
  expect_problem(machine(2), "where another calls", [](MPI_Comm comm) {
    int in = 0, out = 0;
    if (rank_of(comm) == 0)
      MPI_Barrier(comm);
    else
      MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_MAX, comm);
  });
}

TEST(Simulation, RanksOfANodeFindEachOther) {
  Machine nodes = machine(5);
  nodes.node_of = {1, 0, 1, 1, 0};
  expect_quiet(nodes, [](MPI_Comm comm) {
    MPI_Comm node;
    int rank = rank_of(comm), size = 0, least = 0;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &size);
    MPI_Allreduce(&rank, &least, 1, MPI_INT, MPI_MIN, node);
    EXPECT_EQ(size, rank == 1 || rank == 4 ? 2 : 3);
    EXPECT_EQ(least, rank == 1 || rank == 4 ? 1 : 0);
    MPI_Comm_free(&node);
  });
}

TEST(Simulation, DatatypesPackInTheOrderOfTheirMap) {
  const int lengths[2] = {2, 1};
  const MPI_Aint displacements[2] = {6, -2};
  MPI_Datatype inner, type;
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_create_hindexed(2, lengths, displacements, MPI_CHAR, &inner);
  MPI_Type_create_resized(inner, -2, 12, &type);
  MPI_Type_commit(&type);
  MPI_Type_get_true_extent(type, &lower, &extent);
  EXPECT_EQ(lower, -2);
  EXPECT_EQ(extent, 10);
  char memory[] = "0123456789abcdefghijklmnop", packed[6];
  int position = 0;
  EXPECT_EQ(MPI_Pack(memory + 2, 2, type, packed, 6, &position, MPI_COMM_NULL), MPI_SUCCESS);
  EXPECT_EQ(std::string(packed, 6), "890klc");
  position = 0;
  std::memcpy(packed, "ABCDEF", 6);  // NOLINT(bugprone-not-null-terminated-result)
  EXPECT_EQ(MPI_Unpack(packed, 6, &position, memory + 2, 2, type, MPI_COMM_NULL), MPI_SUCCESS);
  EXPECT_STREQ(memory, "C1234567ABabFdefghijDEmnop");
  MPI_Type_free(&inner);
  MPI_Type_free(&type);
}

TEST(Simulation, PersistentRequestsStartAgainAndAgain) {
  expect_quiet(machine(2), [](MPI_Comm comm) {
    int value = -1;
    MPI_Request request;
    if (rank_of(comm) == 0)
      MPI_Send_init(&value, 1, MPI_INT, 1, 0, comm, &request);
    else
      MPI_Recv_init(&value, 1, MPI_INT, 0, 0, comm, &request);
    for (int i = 0; i < 3; ++i) {
      if (rank_of(comm) == 0) value = i;
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      EXPECT_EQ(value, i);
    }
    MPI_Request_free(&request);
  });
}

TEST(Simulation, AttributesGoWithTheirCommunicatorAndAreNotCopiedByDup) {
  static int gone = 0;
  gone = 0;
  int keyval = 0;
  MPI_Comm_create_keyval(
      MPI_COMM_NULL_COPY_FN, [](MPI_Comm, int, void*, void*) { return ++gone, MPI_SUCCESS; },
      &keyval, nullptr);
  expect_quiet(machine(2), [&](MPI_Comm comm) {
    MPI_Comm a, b;
    int found = 0, value = 3;
    void* attribute = nullptr;
    MPI_Comm_dup(comm, &a);
    MPI_Comm_set_attr(a, keyval, &value);
    MPI_Comm_dup(a, &b);
    MPI_Comm_get_attr(b, keyval, static_cast<void*>(&attribute), &found);
    EXPECT_FALSE(found);
    MPI_Comm_get_attr(a, keyval, static_cast<void*>(&attribute), &found);
    EXPECT_TRUE(found && attribute == &value);
    MPI_Comm_free(&a);
    MPI_Comm_free(&b);
  });
  EXPECT_EQ(gone, 2);
}

// ---- Two groups, and operators

Machine groups(int ranks, int remote, unsigned seed = 1) {
  return {.ranks = ranks, .remote = remote, .seed = seed};
}

TEST(SimulatedGroups, KnowTheirRanksAndReachThoseOfTheOther) {
  expect_quiet(groups(5, 3), [](MPI_Comm comm) {
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
}

TEST(SimulatedGroups, ReduceToEachOther) {
  expect_quiet(groups(5, 3), [](MPI_Comm comm) {
    const int own = 1 << this_rank();
    int all = 0;
    MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_SUM, comm);
    EXPECT_EQ(all, this_rank() < 2 ? 4 + 8 + 16 : 1 + 2);
  });
}

// If both groups give the same value, either order may result.
TEST(SimulatedGroups, MergeInTheOrderThatTheySay) {
  for (const int high_first : {0, 1}) {
    std::set<int> firsts;
    for (unsigned seed = 0; seed < 20; ++seed) {
      expect_quiet(groups(3, 1, seed), [&](MPI_Comm comm) {
        MPI_Comm merged;
        int rank = -1;
        MPI_Intercomm_merge(comm, high_first ? this_rank() < 2 : 0, &merged);
        MPI_Comm_rank(merged, &rank);
        if (rank == 0) firsts.insert(this_rank());
        MPI_Comm_free(&merged);
      });
    }
    EXPECT_EQ(firsts, high_first ? std::set<int>{2} : (std::set<int>{0, 2}));
  }
}

TEST(SimulatedGroups, WhoseRanksDisagreeOnTheOrderAreAProblem) {
  expect_problem(groups(3, 1), "disagree on whether it is the high one", [](MPI_Comm comm) {
    MPI_Comm merged;
    MPI_Intercomm_merge(comm, this_rank() == 0, &merged);
    MPI_Comm_free(&merged);
  });
}

TEST(SimulatedOperators, CombineWhatDatatypesNameWithTheLeftOnTheLeft) {
  elements();
  expect_quiet(machine(1), [](MPI_Comm) {
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
}

TEST(SimulatedOperators, AreForTypesOfTheirOwnAndBuffersApart) {
  elements();
  expect_problem(machine(1), "buffers that overlap", [](MPI_Comm) {
    std::array<int, 3> three{};
    MPI_Reduce_local(three.data(), &three[1], 2, MPI_INT, MPI_SUM);
  });
  expect_problem(machine(1), "a datatype that it is not for", [](MPI_Comm) {
    std::array<uint8_t, 16> a{}, b{};
    MPI_Reduce_local(a.data(), b.data(), 1, elements()[2].shape.type, MPI_SUM);
  });
}

}  // namespace quadrille::net::simulation_test
