// Memory that runs out at one rank, at each of the runtime's allocations in turn, while a schedule is
// loaded and bound: all ranks return the same error, none waits for another, and what there was
// before still works. The linker sends the runtime's allocations here; MPI's are its own.
#include <gtest/gtest.h>

#include <functional>

#include "tests/mpi/allocations.h"
#include "tests/mpi/gather.h"

namespace quadrille::mpi {
namespace {

int own() { return rank_in(MPI_COMM_WORLD); }

// Fails the n-th allocation of `body` at one rank, for n = 1, 2, ... until there are no more. `body`
// returns what it came to, which must be the same everywhere. How often that was an error.
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
    // Memory that is only given back, or a handle that remembers no failure, for want of room.
    EXPECT_TRUE(code == MPI_SUCCESS || error_class == MPI_ERR_NO_MEM || error_class == MPI_ERR_ARG)
        << error_class;
    errors += code != MPI_SUCCESS;
    if (testing::Test::HasFailure()) return 0;
  }
  return 0;
}

// A direct all-to-all follows a plan, one that forwards a route, an allgather its program.
enum class Kind { kDirect, kForwards, kGathers, kForAnyNodes };

class Memory : public testing::TestWithParam<Kind> {
 protected:
  static std::string path() {
    const int ranks = ranks_of(MPI_COMM_WORLD);
    if (GetParam() == Kind::kForwards)
      return "tests/mpi/forward/tuna_" + std::to_string(ranks) + "_radix-2.qs";
    if (GetParam() == Kind::kForAnyNodes) return "tests/mpi/any/tuna-coalesced_any_radix-sqrt.qs";
    if (GetParam() == Kind::kGathers)
      return "tests/mpi/gather/blocked-ring_" + std::to_string(ranks) + ".qs";
    return schedule_path(ranks == 2 ? "hierarchical-circle_2.qs"
                                    : "hierarchical-factor_3_intra-exchange.qs");
  }
  static void expect_call(quadrille_schedule schedule, MPI_Comm comm) {
    GetParam() == Kind::kGathers ? expect_gathers(schedule, comm) : expect_works(schedule, comm);
  }
};

INSTANTIATE_TEST_SUITE_P(All, Memory,
                         testing::Values(Kind::kDirect, Kind::kForwards, Kind::kGathers,
                                         Kind::kForAnyNodes));

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
  expect_call(Schedule(file), comm);
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
  expect_call(schedule, comm);
}

std::string relay() {
  return "tests/mpi/forward/relay_" + std::to_string(ranks_of(MPI_COMM_WORLD)) + ".qs";
}

TEST(PersistentMemory, ThatRunsOutWhileACallIsMadeIsOneErrorEverywhere) {
  const std::string direct = schedule_paths(ranks_of(MPI_COMM_WORLD))[0];
  for (const std::string& path : {direct, relay()}) {
    const Schedule schedule(path);
    const Communicator comm(MPI_COMM_WORLD, 0, own());
    const quadrille_bind_options options = trusted();
    ASSERT_EQ(quadrille_bind(schedule, comm, &options), MPI_SUCCESS);
    const size_t ranks = static_cast<size_t>(ranks_of(comm));
    std::vector<int> counts(ranks, 20000), places;
    for (size_t r = 0; r < ranks; ++r) places.push_back(static_cast<int>(r) * 20000);
    std::vector<char> from(ranks * 20000), to(from.size());
    const int tried = fail_each_allocation([&] {
      quadrille_request request;
      const int code = quadrille_alltoallv_init(schedule, from.data(), counts.data(), places.data(),
                                                MPI_CHAR, to.data(), counts.data(), places.data(),
                                                MPI_CHAR, comm, MPI_INFO_NULL, &request);
      if (code == MPI_SUCCESS) quadrille_free_request(&request);
      return code;
    });
    EXPECT_GT(tried, 5);
    expect_works(schedule, comm);
  }
}

// Where an allocation fails in a call at the last rank: that rank says so, nobody waits, and whoever
// lacks bytes for it returns an error too. Returns how many allocations there are.
long fail_in_calls(const std::string& file, int window,
                   const std::function<int(quadrille_schedule, MPI_Comm)>& call) {
  const int victim = ranks_of(MPI_COMM_WORLD) - 1;
  int reached = 1;
  for (long n = 1; reached; ++n) {
    SCOPED_TRACE("allocation " + std::to_string(n));
    const Schedule schedule(file);
    const Communicator comm(MPI_COMM_WORLD, 0, own());
    const quadrille_bind_options options = trusted(window);
    EXPECT_EQ(quadrille_bind(schedule, comm, &options), MPI_SUCCESS);
    allocations.count = 0;
    allocations.failing = own() == victim ? n : 0;
    const int code = call(schedule, comm);
    allocations.failing = 0;
    reached = allocations.count >= n;
    MPI_Bcast(&reached, 1, MPI_INT, victim, MPI_COMM_WORLD);
    const int error_class = quadrille_error_class(code);
    if (!reached) {
      EXPECT_EQ(code, MPI_SUCCESS);
      return n - 1;
    }
    if (code != MPI_SUCCESS) {
      EXPECT_EQ(error_class, own() == victim ? MPI_ERR_NO_MEM : MPI_ERR_OTHER);
    }
    EXPECT_EQ(call(schedule, comm), MPI_SUCCESS);
  }
  return 0;
}

// All-to-all of equal blocks, or with counts of which only one end knows.
std::function<int(quadrille_schedule, MPI_Comm)> alltoall_of(const Shape& shape, bool is_equal) {
  return [=](quadrille_schedule schedule, MPI_Comm comm) {
    const size_t ranks = static_cast<size_t>(ranks_of(comm));
    const int count = 2500 * shape.per_unit;
    std::vector<char> from(ranks * static_cast<size_t>(count) * static_cast<size_t>(shape.extent));
    std::vector<char> to(from.size());
    if (is_equal)
      return quadrille_alltoall(schedule, from.data(), count, shape.type, to.data(), count,
                                shape.type, comm);
    std::vector<int> counts(ranks, count), places;
    for (size_t r = 0; r < ranks; ++r) places.push_back(static_cast<int>(r) * count);
    return quadrille_alltoallv(schedule, from.data(), counts.data(), places.data(), shape.type,
                               to.data(), counts.data(), places.data(), shape.type, comm);
  };
}

// Between two ranks, blocks of bytes travel from where they lie to where they belong.
TEST(CallMemory, ThatRunsOutWhileBlocksAreSentOnIsAnErrorWhereItDoes) {
  const int ranks = ranks_of(MPI_COMM_WORLD);
  for (const size_t shape : {size_t{0}, size_t{2}})
    for (const int window : {1, 16})
      for (const bool is_equal : {true, false})
        EXPECT_GE(fail_in_calls(relay(), window, alltoall_of(integer_shapes()[shape], is_equal)),
                  ranks == 2 ? 0 : 1);
}

// The blocks of a direct all-to-all in place, of any type, are saved where they are overwritten.
TEST(CallMemory, ThatRunsOutInPlaceIsAnErrorWhereItDoes) {
  for (const size_t shape : {size_t{0}, size_t{2}}) {
    const Shape& ints = integer_shapes()[shape];
    for (const std::string& path : schedule_paths(ranks_of(MPI_COMM_WORLD))) {
      const auto in_place = [&](quadrille_schedule schedule, MPI_Comm comm) {
        const int count = 5 * ints.per_unit;
        std::vector<char> blocks(static_cast<size_t>(ranks_of(comm) * count * ints.extent));
        return quadrille_alltoall(schedule, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks.data(),
                                  count, ints.type, comm);
      };
      EXPECT_GT(fail_in_calls(path, 16, in_place), 0);
    }
  }
}

// Of a receive type that is not bytes, the whole receive buffer is copied.
TEST(CallMemory, ThatRunsOutInAnAllgatherIsAnErrorWhereItDoes) {
  const Shape& vector = integer_shapes()[2];
  const int ranks = ranks_of(MPI_COMM_WORLD);
  for (const int units : {7, 300}) {
    const auto gather = [&](quadrille_schedule schedule, MPI_Comm comm) {
      const int count = units * vector.per_unit;
      std::vector<char> from(static_cast<size_t>(count * vector.extent));
      std::vector<char> to(from.size() * static_cast<size_t>(ranks));
      return quadrille_allgather(schedule, from.data(), count, vector.type, to.data(), count,
                                 vector.type, comm);
    };
    EXPECT_GT(
        fail_in_calls("tests/mpi/gather/blocked-ring_" + std::to_string(ranks) + ".qs", 16, gather),
        0);
  }
}

}  // namespace
}  // namespace quadrille::mpi
