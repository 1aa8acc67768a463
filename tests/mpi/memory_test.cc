// Shortage of memory on one rank, at each of the runtime's allocations in turn, and the amount of memory taken. While
// a schedule is loaded and bound, all ranks return the same error, none waits for another, and everything that existed
// before still works. This is only a sample of calls: tests/net/memory_test.cc tests every program. The linker
// redirects the runtime's allocations here; MPI's are not affected.
#include <gtest/gtest.h>

#include "tests/mpi/allocations.h"
#include "tests/mpi/calls.h"
#include "tests/mpi/world.h"

namespace quadrille::mpi {
namespace {

// Fails the n-th allocation of `body` on one rank, for n = 1, 2, ... until there are no more. `body` returns its error
// code, which must be the same on all ranks. Returns how often that was an error.
template <typename Body>
int fail_each_allocation(const Body& body) {
  int errors = 0;
  const int victim = ranks_of(MPI_COMM_WORLD) - 1;
  for (long n = 1; n < 1000; ++n) {
    SCOPED_TRACE("allocation " + std::to_string(n));
    allocations.count = 0;
    allocations.failing = own() == victim ? n : 0;
    const int code = body();
    allocations.failing = 0;
    int reached = allocations.count >= n;
    MPI_Bcast(&reached, 1, MPI_INT, victim, MPI_COMM_WORLD);
    if (!reached) {
      EXPECT_EQ(code, MPI_SUCCESS);
      return errors;
    }
    const int error_class = quadrille_error_class(code);
    int victims = error_class;
    MPI_Bcast(&victims, 1, MPI_INT, victim, MPI_COMM_WORLD);
    EXPECT_EQ(error_class, victims);
    // The allocation may only have shrunk memory. Or a handle may have had no room to remember the failure.
    EXPECT_TRUE(code == MPI_SUCCESS || error_class == MPI_ERR_NO_MEM || error_class == MPI_ERR_ARG)
        << error_class;
    errors += code != MPI_SUCCESS;
    if (testing::Test::HasFailure()) return 0;
  }
  return 0;
}

// For a direct all-to-all, one that forwards blocks, an allgather, and a schedule for any nodes.
class Memory : public testing::TestWithParam<const char*> {
 protected:
  static std::string path() {
    std::string name = GetParam();
    if (const size_t ranks = name.find('N'); ranks != std::string::npos)
      name.replace(ranks, 1, std::to_string(all()));
    return "tests/mpi/" + name + ".qs";
  }
};

INSTANTIATE_TEST_SUITE_P(All, Memory,
                         testing::Values("schedules/hierarchical-factor_N_intra-exchange",
                                         "forward/tuna_N_radix-2", "gather/blocked-ring_N",
                                         "any/tuna-coalesced_any_radix-sqrt"));

TEST_P(Memory, ThatRunsOutWhileLoadingAndBindingIsOneErrorEverywhere) {
  const Communicator comm(MPI_COMM_WORLD, 0, own());
  const std::string file = path();
  const int tried = fail_each_allocation([&] {
    quadrille_schedule schedule;
    quadrille_load_file(file.c_str(), &schedule);
    const int code = quadrille_bind(schedule, comm, nullptr);
    if (schedule != QUADRILLE_SCHEDULE_NULL) quadrille_free(&schedule);
    return code;
  });
  EXPECT_GT(tried, 10);
  expect_works(Schedule(file), comm);
}

TEST_P(Memory, ThatRunsOutWhileBindingAgainLeavesTheBinding) {
  const Communicator comm(MPI_COMM_WORLD, 0, own());
  const Schedule schedule(path());
  ASSERT_EQ(quadrille_bind(schedule, comm, nullptr), MPI_SUCCESS);
  int window = 64;
  long allocated = 0;
  fail_each_allocation([&] {
    const quadrille_bind_options options = {sizeof options, QUADRILLE_LAYOUT_SHARED, window *= 2, 0,
                                            0};
    const int code = quadrille_bind(schedule, comm, &options);
    allocated += allocations.count;
    return code;
  });
  EXPECT_GT(allocated, 0);
  expect_works(schedule, comm);
}

// ---- the memory of schedules that forward blocks

// Bytes for each rank, one block after another.
struct Blocks {
  explicit Blocks(int length)
      : counts(static_cast<size_t>(all()), length),
        bytes(static_cast<size_t>(all() * length), 's') {
    for (int r = 0; r < all(); ++r) places.push_back(r * length);
  }
  std::vector<int> counts, places;
  std::vector<char> bytes;
};

int call(quadrille_schedule schedule, const Blocks& from, Blocks& to) {
  return quadrille_alltoallv(schedule, from.bytes.data(), from.counts.data(), from.places.data(),
                             MPI_CHAR, to.bytes.data(), to.counts.data(), to.places.data(),
                             MPI_CHAR, MPI_COMM_WORLD);
}

// The second kind of call has shorter blocks, and is kept beside the first. Further calls take no memory.
TEST(MuchMemory, IsTakenWhenBlocksAreLongerThanBefore) {
  for (const std::string& path : schedule_paths(all(), "forward"))
    for (const int window : {1, 16}) {
      SCOPED_TRACE(path);
      const Schedule schedule(path);
      const quadrille_bind_options options = trusted(window);
      ASSERT_EQ(quadrille_bind(schedule, MPI_COMM_WORLD, &options), MPI_SUCCESS);
      for (const int length : {4099, 30011}) {
        const Blocks from(length), shorter(length / 3);
        Blocks to(length), to_shorter(length / 3);
        allocations.bytes = 0;
        EXPECT_EQ(call(schedule, from, to), MPI_SUCCESS);
        // At most one arriving message, one leaving message and the blocks between them.
        EXPECT_LE(allocations.bytes, 6L * all() * (length + 100));
        for (int i = 0; i < 5; ++i) {
          allocations.count = 0;
          const bool is_shorter = i % 2 != 0;
          const int code =
              is_shorter ? call(schedule, shorter, to_shorter) : call(schedule, from, to);
          EXPECT_TRUE(allocations.count == 0 || i == 1) << i;
          EXPECT_EQ(code, MPI_SUCCESS);
        }
      }
    }
}

// tuna of radix 2 on 6 ranks has messages of 3, 2 and 2 blocks in each direction.
TEST(MuchMemory, OfAPersistentCallIsNoMoreThanItsMessages) {
  if (all() != 6) return;
  const int length = 40960;
  const Schedule schedule("tests/mpi/forward/tuna_6_radix-2.qs");
  const Blocks from(length);
  Blocks to(length);
  for (const int window : {1, 0}) {
    const quadrille_bind_options options = trusted(window);
    ASSERT_EQ(quadrille_bind(schedule, MPI_COMM_WORLD, &options), MPI_SUCCESS);
    to.bytes.assign(to.bytes.size(), 'r');
    allocations.bytes = 0;
    quadrille_request request;
    ASSERT_EQ(quadrille_alltoallv_init(schedule, from.bytes.data(), from.counts.data(),
                                       from.places.data(), MPI_CHAR, to.bytes.data(),
                                       to.counts.data(), to.places.data(), MPI_CHAR, MPI_COMM_WORLD,
                                       MPI_INFO_NULL, &request),
              MPI_SUCCESS);
    EXPECT_GE(allocations.bytes, (3 + 3) * length);
    EXPECT_LE(allocations.bytes, 2 * (3 + 2 + 2) * length + (4 << 16));
    allocations.count = 0;
    EXPECT_EQ(quadrille_start(request), MPI_SUCCESS);
    EXPECT_EQ(quadrille_wait(request), MPI_SUCCESS);
    EXPECT_EQ(allocations.count, 0);
    EXPECT_TRUE(to.bytes == from.bytes);
    EXPECT_EQ(quadrille_free_request(&request), MPI_SUCCESS);
  }
}

}  // namespace
}  // namespace quadrille::mpi
