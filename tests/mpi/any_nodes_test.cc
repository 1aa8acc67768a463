// Schedules for any nodes. One file binds to every communicator, on whatever nodes its ranks are, and to several at
// once. If it cannot bind, all ranks report the same error. This program itself answers which ranks share memory, so
// that one machine acts as many.
#include <algorithm>
#include <filesystem>

#include "tests/mpi/calls.h"
#include "tests/mpi/refused.h"
#include "tests/support/reseal.h"

namespace {

std::vector<int> node_of_rank;  // by rank in MPI_COMM_WORLD; empty: MPI's own answer

}  // namespace

extern "C" int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                                    MPI_Comm* result) {
  if (type != MPI_COMM_TYPE_SHARED || node_of_rank.empty())
    return MPI_Comm_split_type(comm, type, key, info, result);
  const int rank = quadrille::mpi::rank_in(MPI_COMM_WORLD);
  return PMPI_Comm_split(comm, node_of_rank[static_cast<size_t>(rank)], key, result);
}

namespace quadrille::mpi {
namespace {

const std::string kAlltoalls = "tests/mpi/any/", kAllgathers = "tests/mpi/any_allgather/";

std::vector<std::string> paths() {
  std::vector<std::string> found;
  for (const std::string& folder : {kAlltoalls, kAllgathers})
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      found.push_back(folder + entry.path().filename().string());
  std::sort(found.begin(), found.end());
  return found;
}

// The algorithm's requirement that this number of ranks does not meet; empty if it serves them.
std::string unmet(const std::string& path, int ranks) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const bool even = ranks % 2 == 0, power = (ranks & (ranks - 1)) == 0;
  if (name.starts_with("xor") && !power) return "xor needs a power of two of ranks";
  for (const std::string algorithm : {"factor-even", "neighbor-exchange"})
    if (name.starts_with(algorithm) && !even) return algorithm + " needs an even number of ranks";
  return "";
}

class AnyNodes : public Refused {
 protected:
  void TearDown() override {
    node_of_rank.clear();
    Refused::TearDown();
  }
};

TEST_F(AnyNodes, OneFileServesWhateverNodesThereAre) {
  ASSERT_EQ(paths().size(), 27u);
  int served = 0, refused = 0;
  for (int nodes = 1; nodes <= std::min(all(), 3); ++nodes) {
    // Ranks in turn on that many nodes. The last node takes the rest.
    for (int r = 0; r < all(); ++r) node_of_rank.push_back(std::min(r % (nodes + 1), nodes - 1));
    for (const std::string& path : paths()) {
      SCOPED_TRACE(path);
      const Schedule schedule(path);
      const std::string why = unmet(path, all());
      if (why.empty()) {
        const Communicator comm(MPI_COMM_WORLD, 0, own());
        ASSERT_EQ(quadrille_bind(schedule, comm, nullptr), MPI_SUCCESS);
        expect_works(schedule, comm);
        ++served;
        continue;
      }
      expect_refusal_everywhere(quadrille_bind(schedule, comm_, nullptr), MPI_ERR_TOPOLOGY,
                                why + "; the communicator has " + std::to_string(all()));
      ++refused;
    }
    node_of_rank.clear();
  }
  EXPECT_GT(served, 0);
  EXPECT_EQ(refused > 0, all() % 2 == 1 || all() == 6);
}

// Communicators of two sizes and of all ranks, with calls in turn.
TEST_F(AnyNodes, OneHandleIsBoundToCommunicatorsOfSeveralSizesAtOnce) {
  for (int r = 0; r < all(); ++r) node_of_rank.push_back(r % 2);
  const int cut = (all() + 1) / 3;
  const Communicator part(MPI_COMM_WORLD, own() < cut, -own()), whole(MPI_COMM_WORLD, 0, own()),
      alone(MPI_COMM_WORLD, own(), 0);
  for (const std::string& path : paths()) {
    bool serves = true;
    for (const int ranks : {cut, all() - cut, all(), 1}) serves &= unmet(path, ranks).empty();
    if (!serves) continue;
    SCOPED_TRACE(path);
    const Schedule schedule(path);
    for (int turn = 0; turn < 3; ++turn)
      for (const Communicator* comm : {&part, &whole, &alone}) expect_works(schedule, *comm);
  }
}

TEST_F(AnyNodes, PersistentCallsOfOneScheduleAreInFlightOnTwoCommunicatorsAtOnce) {
  const Communicator part(MPI_COMM_WORLD, own() % 2, own()), whole(MPI_COMM_WORLD, 0, own());
  for (const char* name : {"hierarchical-factor_any.qs", "tuna-coalesced_any_radix-sqrt.qs"}) {
    SCOPED_TRACE(name);
    const Schedule schedule(kAlltoalls + name);
    struct Call {
      std::vector<int> counts, places, from, to;
      quadrille_request request;
    } calls[2];
    for (const int i : {0, 1}) {
      const MPI_Comm comm = i == 0 ? part : whole;
      Call& call = calls[i];
      for (int r = 0; r < ranks_of(comm); ++r) {
        call.counts.push_back(1);
        call.places.push_back(r);
        call.from.push_back(100 * rank_in(comm) + r);
      }
      call.to.assign(call.from.size(), -1);
      ASSERT_EQ(
          quadrille_alltoallv_init(schedule, call.from.data(), call.counts.data(),
                                   call.places.data(), MPI_INT, call.to.data(), call.counts.data(),
                                   call.places.data(), MPI_INT, comm, MPI_INFO_NULL, &call.request),
          MPI_SUCCESS);
    }
    for (const Call& call : calls) ASSERT_EQ(quadrille_start(call.request), MPI_SUCCESS);
    for (const Call& call : calls) ASSERT_EQ(quadrille_wait(call.request), MPI_SUCCESS);
    for (const int i : {0, 1}) {
      const MPI_Comm comm = i == 0 ? part : whole;
      for (int r = 0; r < ranks_of(comm); ++r)
        EXPECT_EQ(calls[i].to[static_cast<size_t>(r)], 100 * r + rank_in(comm));
      quadrille_free_request(&calls[i].request);
    }
  }
}

// The bindings keep the data that they need.
TEST_F(AnyNodes, BindingsOutliveTheHandle) {
  const Communicator part(MPI_COMM_WORLD, own() % 2, own()), whole(MPI_COMM_WORLD, 0, own());
  const std::string path = kAllgathers + "blocked-ring-nodes_any.qs";
  const Schedule later(path);
  {
    const Schedule first(path);
    expect_works(first, part);
    expect_works(first, whole);
  }
  expect_works(later, whole);
  expect_works(later, part);
}

TEST_F(AnyNodes, ATrustedOrderIsRefusedWhereNodesMatterAndNotOtherwise) {
  const quadrille_bind_options options = trusted();
  for (const std::string& name :
       {kAlltoalls + "hierarchical-factor_any.qs", kAlltoalls + "tuna-coalesced_any.qs",
        kAllgathers + "blocked-ring-nodes_any.qs"}) {
    const Schedule schedule(name);
    expect_refusal_everywhere(quadrille_bind(schedule, comm_, &options), MPI_ERR_TOPOLOGY,
                              "a schedule for any nodes does not say how many ranks a node has; "
                              "bind with QUADRILLE_LAYOUT_SHARED, or generate one for your nodes");
    EXPECT_EQ(quadrille_bind(schedule, comm_, nullptr), MPI_SUCCESS);
    expect_works(schedule, comm_);
  }
  const Schedule flat(kAlltoalls + "tuna_any.qs");
  EXPECT_EQ(quadrille_bind(flat, comm_, &options), MPI_SUCCESS);
  expect_works(flat, comm_);
}

// A file with the limit 2, where the others have no limit.
TEST_F(AnyNodes, MoreRanksThanAreProvenAreRefused) {
  Bytes file = read_bytes(kAllgathers + "recursive-doubling_any.qs");
  const Bytes job = {'J', 'O', 'B', 1, 2, 0, 0};
  const auto at = std::search(file.begin(), file.end(), job.begin(), job.end());
  ASSERT_NE(at, file.end());
  at[6] = 2;
  quadrille_reseal(file.data(), file.size());
  const Schedule schedule(file);
  const int code = quadrille_bind(schedule, comm_, nullptr);
  if (all() <= 2)
    EXPECT_EQ(code, MPI_SUCCESS);
  else
    expect_refusal_everywhere(code, MPI_ERR_TOPOLOGY,
                              "recursive-doubling is proven for up to 2 ranks, the communicator "
                              "has " +
                                  std::to_string(all()) + "; generate one for its nodes");
}

TEST_F(AnyNodes, InfoSaysThatNoRanksAndNodesAreGiven) {
  quadrille_schedule_info info{};
  info.size = sizeof info;
  const Schedule schedule(kAlltoalls + "hierarchical-factor_any.qs");
  expect_works(schedule, comm_);
  ASSERT_EQ(quadrille_info(schedule, &info), MPI_SUCCESS);
  EXPECT_EQ(info.ranks, 0);
  EXPECT_EQ(info.nodes, 0);
  EXPECT_STREQ(info.algorithm, "hierarchical-factor");
}

}  // namespace
}  // namespace quadrille::mpi
