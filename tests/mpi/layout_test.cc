// Ranks over nodes by MPI_COMM_TYPE_SHARED. This program itself answers that query, so that one machine acts as many.
// It records the ranks that the runtime sends to, in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <tuple>

#include "tests/mpi/calls.h"

#include "tests/mpi/world.h"
extern "C" {
#include "runtime/execute/nodes.h"
}

namespace {

std::vector<int> node_of_rank;  // by rank in MPI_COMM_WORLD; empty: MPI's own answer
bool recording;
std::vector<int> sends;  // to ranks in MPI_COMM_WORLD

void record(int target, MPI_Comm comm) {
  if (!recording) return;
  MPI_Group group, world;
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int translated = -1;
  MPI_Group_translate_ranks(group, 1, &target, world, &translated);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  sends.push_back(translated);
}

}  // namespace

extern "C" int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                                    MPI_Comm* result) {
  if (type != MPI_COMM_TYPE_SHARED || node_of_rank.empty())
    return MPI_Comm_split_type(comm, type, key, info, result);
  const int rank = quadrille::mpi::rank_in(MPI_COMM_WORLD);
  return PMPI_Comm_split(comm, node_of_rank[static_cast<size_t>(rank)], key, result);
}

extern "C" int PMPI_Isend(const void* buffer, int count, MPI_Datatype type, int target, int tag,
                          MPI_Comm comm, MPI_Request* request) {
  record(target, comm);
  return MPI_Isend(buffer, count, type, target, tag, comm, request);
}

extern "C" int PMPI_Issend(const void* buffer, int count, MPI_Datatype type, int target, int tag,
                           MPI_Comm comm, MPI_Request* request) {
  record(target, comm);
  return MPI_Issend(buffer, count, type, target, tag, comm, request);
}

namespace quadrille::mpi {
namespace {

// The nodes in a file's name: "hierarchical-factor_1-2-3_..." has nodes of 1, 2 and 3 ranks.
std::vector<int> nodes_of(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  std::string text = name.substr(name.find('_') + 1);
  text = text.substr(0, text.find_first_of("_."));
  std::vector<int> sizes;
  const size_t times = text.find('x');
  if (times != std::string::npos)
    return std::vector<int>(std::stoul(text), std::stoi(text.substr(times + 1)));
  for (size_t at = 0; at < text.size(); at = std::min(text.find('-', at), text.size() - 1) + 1)
    sizes.push_back(std::stoi(text.substr(at)));
  return sizes;
}

std::vector<std::string> paths_for_nodes() {
  std::vector<std::string> paths = schedule_paths(all());
  std::erase_if(paths,
                [](const std::string& p) { return p.find("hierarchical") == std::string::npos; });
  EXPECT_FALSE(paths.empty());
  return paths;
}

// Scatters ranks over nodes of these sizes, the same way on all ranks.
std::vector<int> scatter(const std::vector<int>& sizes, unsigned seed) {
  std::vector<int> node_of;
  for (size_t node = 0; node < sizes.size(); ++node)
    node_of.insert(node_of.end(), static_cast<size_t>(sizes[node]), static_cast<int>(node));
  std::srand(seed);
  for (size_t i = node_of.size(); i > 1; --i)
    std::swap(node_of[i - 1], node_of[static_cast<size_t>(std::rand()) % i]);
  return node_of;
}

// This rank's place by the rule: nodes by size, then by lowest rank; within a node by rank.
int place(const std::vector<int>& node_of) {
  std::map<int, std::vector<int>> ranks_on;
  for (size_t r = 0; r < node_of.size(); ++r) ranks_on[node_of[r]].push_back(static_cast<int>(r));
  std::vector<std::vector<int>> nodes;
  for (const auto& [node, ranks] : ranks_on) nodes.push_back(ranks);
  std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) {
    return std::pair(a.size(), a[0]) < std::pair(b.size(), b[0]);
  });
  int next = 0;
  for (const auto& node : nodes)
    for (const int rank : node) {
      if (rank == own()) return next;
      ++next;
    }
  return -1;
}

std::vector<int> sends_of_a_call(quadrille_schedule schedule, MPI_Comm comm) {
  sends.clear();
  recording = true;
  expect_works(schedule, comm);
  recording = false;
  return sends;
}

class Layout : public testing::Test {
 protected:
  void TearDown() override { node_of_rank.clear(); }
};

TEST_F(Layout, OfRanksInAnyOrderIsThatOfTheSchedule) {
  unsigned seed = 1;
  for (const std::string& path : paths_for_nodes())
    for (int turn = 0; turn < 4; ++turn) {
      SCOPED_TRACE(path);
      node_of_rank = scatter(nodes_of(path), ++seed);
      const Schedule schedule(path);
      const Communicator shared(MPI_COMM_WORLD, 0, own());
      ASSERT_EQ(quadrille_bind(schedule, shared, nullptr), MPI_SUCCESS);
      // The same ranks in that order: every rank must behave the same there.
      const Communicator sorted(MPI_COMM_WORLD, 0, place(node_of_rank));
      const quadrille_bind_options options = trusted();
      ASSERT_EQ(quadrille_bind(schedule, sorted, &options), MPI_SUCCESS);
      const std::vector<int> expected = sends_of_a_call(schedule, sorted);
      EXPECT_EQ(sends_of_a_call(schedule, shared), expected);
      EXPECT_GE(expected.size(), static_cast<size_t>(all() - 1));
      for (unsigned i = 0; i < 3; ++i) expect_works(schedule, shared, seed + i);
    }
}

// If a schedule for these nodes binds, one for any nodes sends to the same ranks in the same order.
TEST_F(Layout, OfAScheduleForAnyNodesIsThatOfOneForThese) {
  int compared = 0;
  unsigned seed = 40;
  for (const std::string& path : paths_for_nodes()) {
    const std::string name = path.substr(path.rfind('/') + 1);
    const std::string algorithm = name.substr(0, name.find('_'));
    // Only files without options.
    if (std::count(name.begin(), name.end(), '_') > 1) continue;
    SCOPED_TRACE(path);
    node_of_rank = scatter(nodes_of(path), ++seed);
    const Schedule given(path), any("tests/mpi/any/" + algorithm + "_any.qs");
    const Communicator comm(MPI_COMM_WORLD, 0, own());
    ASSERT_EQ(quadrille_bind(given, comm, nullptr), MPI_SUCCESS);
    ASSERT_EQ(quadrille_bind(any, comm, nullptr), MPI_SUCCESS);
    const std::vector<int> expected = sends_of_a_call(given, comm);
    EXPECT_EQ(sends_of_a_call(any, comm), expected);
    EXPECT_GE(expected.size(), static_cast<size_t>(all() - 1));
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

TEST_F(Layout, OnOtherNodesIsRefusedEverywhereUnlessTrusted) {
  int refused = 0;
  for (const std::string& path : paths_for_nodes())
    for (const std::vector<int>& sizes :
         {std::vector<int>{all()}, std::vector<int>(static_cast<size_t>(all()), 1),
          std::vector<int>{1, all() - 1}, std::vector<int>{all() / 2, all() - all() / 2}}) {
      if (sizes == nodes_of(path)) continue;
      SCOPED_TRACE(path);
      node_of_rank = scatter(sizes, 3);
      const Schedule schedule(path);
      const Communicator comm(MPI_COMM_WORLD, 0, own());
      const int code = quadrille_bind(schedule, comm, nullptr);
      expect_error(code, MPI_ERR_TOPOLOGY, ", the communicator has ");
      expect_error_everywhere(MPI_COMM_WORLD, code, MPI_ERR_TOPOLOGY);
      const quadrille_bind_options options = trusted();
      EXPECT_EQ(quadrille_bind(schedule, comm, &options), MPI_SUCCESS);
      expect_works(schedule, comm);
      ++refused;
    }
  EXPECT_GT(refused, 0);
}

// A count of all ranks for each node would take hours.
TEST_F(Layout, OfAMillionNodesIsCounted) {
  constexpr int kRanks = 1 << 20;
  std::vector<int> node_of(kRanks), sizes(kRanks, 7);
  std::iota(node_of.begin(), node_of.end(), 0);
  for (const int rank : {2, 5, kRanks - 1}) node_of[static_cast<size_t>(rank)] = 1;
  int nodes = 0, least = 0, most = 0;
  qd_measure_nodes(node_of.data(), kRanks, sizes.data(), &nodes, &least, &most);
  EXPECT_EQ(std::tuple(nodes, least, most), std::tuple(kRanks - 3, 1, 4));
  const std::vector<int> two = {0, 0, 2, 0, 2};
  qd_measure_nodes(two.data(), 5, sizes.data(), &nodes, &least, &most);
  EXPECT_EQ(std::tuple(nodes, least, most), std::tuple(2, 2, 3));
}

TEST_F(Layout, ThatIsRefusedIsSaidAsNodesAreWritten) {
  const std::map<int, std::pair<std::string, std::string>> told = {
      {2, {"hierarchical-factor_1-1_self-loops-drop.qs", "nodes 2x1, the communicator has 2;"}},
      {3, {"hierarchical-factor_1-2.qs", "nodes 1,2, the communicator has 3;"}},
      {6, {"hierarchical-factor_1-2-3.qs", "nodes 1,2,3, the communicator has 6;"}},
      {8, {"hierarchical-circle_4x2.qs", "nodes 4x2, the communicator has 8;"}}};
  node_of_rank.assign(static_cast<size_t>(all()), 5);
  const Schedule schedule(schedule_path(told.at(all()).first));
  expect_error(quadrille_bind(schedule, MPI_COMM_WORLD, nullptr), MPI_ERR_TOPOLOGY,
               "the schedule is for " + told.at(all()).second +
                   " generate one for these or for any, or bind with QUADRILLE_LAYOUT_TRUSTED");
}

// MPI's own answer: all ranks of this machine share its memory.
TEST_F(Layout, OfOneMachineIsOneNode) {
  const std::map<int, std::string> one_node = {{1, "hierarchical-factor_1.qs"},
                                               {2, "hierarchical-circle_2.qs"},
                                               {3, "hierarchical-factor_3_intra-exchange.qs"},
                                               {8, "hierarchical-factor_8.qs"}};
  const Communicator some(MPI_COMM_WORLD, own() / 3, -own());
  ASSERT_TRUE(one_node.count(ranks_of(some)));
  const Schedule schedule(schedule_path(one_node.at(ranks_of(some))));
  expect_works(schedule, some);
}

// A schedule that does not depend on nodes runs on any.
TEST_F(Layout, MattersToSchedulesOfNodesOnly) {
  node_of_rank = scatter({1, all() - 1}, 9);
  const std::vector<std::string> paths = schedule_paths(all());
  const Schedule flat(paths[0]);
  ASSERT_NE(paths[0].find("/factor"), std::string::npos);
  const Communicator comm(MPI_COMM_WORLD, 0, own());
  EXPECT_EQ(quadrille_bind(flat, comm, nullptr), MPI_SUCCESS);
  expect_works(flat, comm);
}

}  // namespace
}  // namespace quadrille::mpi
