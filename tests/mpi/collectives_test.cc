// Every schedule brings every byte to its place over a real MPI library, in random calls on one group and on each
// split of MPI_COMM_WORLD in two. tests/net/collectives_test.cc tests every kind of call over the simulated MPI, with
// all windows and timings.
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "tests/mpi/calls.h"
#include "tests/mpi/handles.h"
#include "tests/support/effort.h"

namespace quadrille::mpi {
namespace {

constexpr int kCalls = 30;
constexpr int kWindows[] = {0, 1, 2, 3, 8, 65536};
constexpr int64_t kBlockSizes[] = {8, 1, 100, 3, 1 << 20, 0};  // 0: the schedule chooses

std::vector<std::string> all_paths(int groups) {
  std::vector<std::string> found;
  const std::vector<std::string> folders =
      groups == 2 ? std::vector<std::string>{"collectives_between"}
                  : std::vector<std::string>{"schedules", "gather", "collectives"};
  for (const std::string& folder : folders)
    for (const auto& entry : std::filesystem::recursive_directory_iterator("tests/mpi/" + folder))
      if (entry.path().extension() == ".qs") found.push_back(entry.path().string());
  std::ranges::sort(found);
  return found;
}

bool serves(const quadrille_schedule_info& info, const Groups& groups) {
  const std::string algorithm = info.algorithm;
  const bool is_halving = algorithm == "halving" && info.collective == std::string("allreduce");
  if ((algorithm == "xor" || is_halving) && (groups.ranks & (groups.ranks - 1)) != 0) return false;
  if ((algorithm == "factor-even" || algorithm == "neighbor-exchange") && groups.ranks % 2 != 0)
    return false;
  return info.ranks == 0 ||
         (info.ranks == groups.ranks && (info.groups == 1 || info.remote_ranks == groups.remote));
}

// Runs random calls with one schedule. Now and then some rank is late.
void run(const std::string& path, MPI_Comm comm, const Groups& groups, int place, unsigned seed) {
  SCOPED_TRACE(path + ", " + std::to_string(groups.ranks) + " + " + std::to_string(groups.remote));
  const Schedule schedule(path);
  const quadrille_schedule_info info = info_of(schedule);
  // Ranks wait longer than they work if they outnumber the cores. So many ranks run one in several schedules.
  if (!serves(info, groups) || !takes_next_of_many(kSanitized || groups.all() > 3)) return;
  // Only schedules of allgathers take a block size.
  const bool takes_block_size = path.find("gather/blocked-ring") != std::string::npos ||
                                path.find("gather/hypercube") != std::string::npos;
  const bool is_given = info.ranks > 0 && groups.remote == 0;
  const quadrille_bind_options options = {
      sizeof options, is_given ? QUADRILLE_LAYOUT_TRUSTED : QUADRILLE_LAYOUT_SHARED,
      kWindows[seed % 6], static_cast<int>(seed % 2), takes_block_size ? kBlockSizes[seed % 6] : 0};
  ASSERT_EQ(quadrille_bind(schedule, comm, &options), MPI_SUCCESS);
  std::mt19937 random(seed);
  const Allowed allowed{info.commutative != 0, info.algorithm == std::string("segment-map"),
                        takes_block_size || path.find("blocked") != std::string::npos};
  std::vector<CollectiveCall> calls =
      draw_calls(*collective_named(info.collective), groups, allowed, random, kCalls);
  for (int i = 0; i < kCalls && !testing::Test::HasFailure(); ++i) {
    CollectiveCall& call = calls[static_cast<size_t>(i)];
    // Long blocks take many messages if they are cut into a few bytes.
    if (takes_block_size && call.lengths >= LengthKind::kLone) call.lengths = LengthKind::kUneven;
#ifndef OPEN_MPI
    // MPICH 4.0 over UCX is too slow if a long message of bytes arrives as elements of several basic types. The
    // runtime sends bytes if it stages or forwards a block.
    if (!reduces(call.collective) && call.lengths >= LengthKind::kLone && call.types % 5 == 4 &&
        (call.in_place || path.find("/schedules/") == std::string::npos))
      call.types = 1;
#endif
    // A schedule for two groups of different sizes has its root in the first group.
    if (info.ranks != info.remote_ranks && info.ranks > 0) call.root %= groups.ranks;
    const std::string what = call.text() + ", place " + std::to_string(place);
    CollectivePart part(call, place);
    if ((call.seed / 8) % 8 == static_cast<unsigned>(place)) usleep(500);
    int all_but_this = groups.all() - 1;
    EXPECT_EQ(i % 3 == 2 ? part.run_persistent(schedule, comm, 3)
                         : part.run(schedule, comm, all_but_this),
              MPI_SUCCESS)
        << what << ": " << last_error();
    EXPECT_TRUE(part.is_right()) << what;
    part.expect_rest_untouched(what);
  }
}

TEST(Collectives, OfOneGroupBringEveryByteWhereItBelongs) {
  unsigned seed = 0;
  const Communicator comm(MPI_COMM_WORLD, 0, own());
  for (const std::string& path : all_paths(1)) run(path, comm, {all(), 0}, own(), ++seed);
}

TEST(Collectives, BetweenGroupsBringEveryByteWhereItBelongs) {
  unsigned seed = 0;
  for (int first = 1; first < all(); ++first) {
    MPI_Comm between = between_groups(first);
    for (const std::string& path : all_paths(2))
      run(path, between, {first, all() - first}, own(), ++seed);
    MPI_Comm_free(&between);
  }
}

// The communicator's error handler gets the error. The handler of MPI_COMM_WORLD would end the program. Predefined
// datatypes are checked, too.
TEST(Collectives, AreRefusedWhereMpiHasNotThatOperator) {
  const Schedule schedule("tests/mpi/collectives/allreduce/doubling_any.qs");
  const Communicator comm(MPI_COMM_WORLD, 0, own());
  const double from = 1;
  double to = 0;
  quadrille_request request;
  const auto make = [&](MPI_Op operation) {
    return quadrille_allreduce_init(schedule, &from, &to, 1, MPI_DOUBLE, operation, comm,
                                    MPI_INFO_NULL, &request);
  };
  expect_error(make(MPI_BAND), MPI_ERR_OP, "not for elements of that datatype");
  expect_error(quadrille_allreduce(schedule, &from, &to, 1, MPI_DOUBLE, MPI_BAND, comm), MPI_ERR_OP,
               "not for elements of that datatype");
  ASSERT_EQ(make(MPI_SUM), MPI_SUCCESS);
  EXPECT_EQ(quadrille_free_request(&request), MPI_SUCCESS);
}

// MPI itself says so: all ranks of this machine share its memory.
TEST(Layout, OfOneMachineIsOneNode) {
  const Communicator reversed(MPI_COMM_WORLD, 0, -own());
  expect_works(Schedule("tests/mpi/schedules/hierarchical-factor_" + std::to_string(all()) + ".qs"),
               reversed);
}

// MPI_Finalize must return although the program frees no binding, handle or communicator.
TEST(Bindings, MayBeLeftToMpiFinalize) {
  quadrille_schedule schedule;
  ASSERT_EQ(quadrille_load_file("tests/mpi/collectives/alltoall/factor_any.qs", &schedule),
            MPI_SUCCESS);
  MPI_Comm left;
  MPI_Comm_dup(MPI_COMM_WORLD, &left);
  for (const MPI_Comm comm : {left, MPI_COMM_WORLD, MPI_COMM_SELF})
    EXPECT_EQ(quadrille_bind(schedule, comm, nullptr), MPI_SUCCESS);
  expect_works(schedule, left);
}

}  // namespace
}  // namespace quadrille::mpi
