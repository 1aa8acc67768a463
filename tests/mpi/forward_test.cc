// All-to-all schedules that forward blocks, beside what exchange_test.cc asks of every schedule: lengths
// that do not fit together, and memory. The linker sends the runtime's allocations here.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/mpi/allocations.h"
#include "tests/mpi/exchange.h"

namespace quadrille::mpi {
namespace {

int own() { return rank_in(MPI_COMM_WORLD); }
int all() { return ranks_of(MPI_COMM_WORLD); }

template <typename Body>
void with_every_schedule(const Body& body) {
  for (const std::string& path : schedule_paths(all(), "forward")) {
    SCOPED_TRACE(path);
    const Schedule schedule(path);
    const quadrille_bind_options options = trusted();
    ASSERT_EQ(quadrille_bind(schedule, MPI_COMM_WORLD, &options), MPI_SUCCESS);
    body(schedule);
  }
}

// Bytes for each rank, blocks one after the other, with a byte between them that belongs to nobody.
struct Blocks {
  explicit Blocks(std::vector<int> lengths, char fill) : counts(std::move(lengths)) {
    for (const int count : counts) {
      places.push_back(static_cast<int>(bytes.size()));
      bytes.resize(bytes.size() + static_cast<size_t>(count), fill);
      bytes.push_back('|');
    }
  }
  std::vector<int> counts, places;
  std::vector<char> bytes;
};

int call(quadrille_schedule schedule, const Blocks& from, Blocks& to) {
  return quadrille_alltoallv(schedule, from.bytes.data(), from.counts.data(), from.places.data(),
                             MPI_CHAR, to.bytes.data(), to.counts.data(), to.places.data(),
                             MPI_CHAR, MPI_COMM_WORLD);
}

// Rank 0 expects another length than the last rank sends: it alone is told, and nobody waits.
void expect_mismatch(quadrille_schedule schedule, int length, int expected) {
  const Blocks from(std::vector<int>(static_cast<size_t>(all()), length), 's');
  std::vector<int> lengths(static_cast<size_t>(all()), length);
  if (own() == 0) lengths.back() = expected;
  Blocks to(lengths, 'r');
  const int code = call(schedule, from, to);
  std::vector<char> wanted = Blocks(lengths, 's').bytes;
  if (own() == 0) {
    expect_error(code, MPI_ERR_TRUNCATE,
                 "rank " + std::to_string(all() - 1) + " sends " + std::to_string(length) +
                     " bytes to rank 0, which has room for " + std::to_string(expected));
    std::fill(wanted.end() - 1 - expected, wanted.end() - 1, 'r');
  } else {
    EXPECT_EQ(code, MPI_SUCCESS);
  }
  EXPECT_TRUE(to.bytes == wanted);
}

TEST(Lengths, ThatAreNotWhatTheReceiverExpectsAreNamed) {
  with_every_schedule([](quadrille_schedule schedule) {
    for (const auto& [length, expected] :
         {std::pair(8, 4), std::pair(8, 0), std::pair(5, 12), std::pair(70000, 69999)})
      expect_mismatch(schedule, length, expected);
    expect_works(schedule, MPI_COMM_WORLD);
  });
}

TEST(Lengths, OfMoreBytesThanThereCanBeAreRefused) {
  with_every_schedule([](quadrille_schedule schedule) {
    const std::vector<MPI_Count> large(static_cast<size_t>(all()), INT64_MAX / 2);
    const std::vector<MPI_Aint> places(large.size());
    char sent = 0, received = 0;
    expect_error(
        quadrille_alltoallv_c(schedule, &sent, large.data(), places.data(), MPI_CHAR, &received,
                              large.data(), places.data(), MPI_CHAR, MPI_COMM_WORLD),
        MPI_ERR_COUNT, "more bytes than there can be");
  });
}

// A call, and calls with blocks that are no longer, which take no memory.
void expect_memory_once(quadrille_schedule schedule, int length) {
  const Blocks from(std::vector<int>(static_cast<size_t>(all()), length), 's');
  const Blocks shorter(std::vector<int>(static_cast<size_t>(all()), length / 3), 's');
  Blocks to(from.counts, 'r'), to_shorter(shorter.counts, 'r');
  allocations.bytes = 0;
  EXPECT_EQ(call(schedule, from, to), MPI_SUCCESS);
  // A message that arrives, one that leaves and the blocks between them, each once at the most.
  EXPECT_LE(allocations.bytes, 6L * all() * (length + 100));
  for (int i = 0; i < 3; ++i) {
    allocations.count = 0;
    const int code = i == 1 ? call(schedule, shorter, to_shorter) : call(schedule, from, to);
    EXPECT_EQ(allocations.count, 0);
    EXPECT_EQ(code, MPI_SUCCESS);
  }
}

TEST(Memory, IsTakenWhenBlocksAreLongerThanBefore) {
  with_every_schedule([](quadrille_schedule schedule) {
    for (const int window : {1, 16}) {
      const quadrille_bind_options options = trusted(window);
      ASSERT_EQ(quadrille_bind(schedule, MPI_COMM_WORLD, &options), MPI_SUCCESS);
      for (const int length : {4099, 30011}) expect_memory_once(schedule, length);
    }
  });
}

// tuna of radix 2 on 6 ranks has messages of 3, 2 and 2 blocks in each direction.
TEST(Memory, OfAPersistentCallIsNoMoreThanItsMessages) {
  if (all() != 6) return;
  const int length = 40960;
  const Schedule schedule("tests/mpi/forward/tuna_6_radix-2.qs");
  const Blocks from(std::vector<int>(6, length), 's');
  Blocks to(from.counts, 'r');
  for (const int window : {1, 0}) {
    const quadrille_bind_options options = trusted(window);
    ASSERT_EQ(quadrille_bind(schedule, MPI_COMM_WORLD, &options), MPI_SUCCESS);
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
