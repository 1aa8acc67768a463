// quadrille_allgather and quadrille_allgatherv against a reference, byte by byte: every schedule,
// block sizes from one byte up, every kind of datatype on either side, counts of every kind, and
// what lies between the blocks.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/mpi/gather.h"
#include "tests/support/effort.h"

namespace quadrille::mpi {
namespace {

int own() { return rank_in(MPI_COMM_WORLD); }
int all() { return ranks_of(MPI_COMM_WORLD); }

const int windows[] = {0, 1, 2, 3, 8, 65536};
const int64_t block_sizes[] = {8, 1, 100, 3, 1 << 20, 0};  // 0: as the schedule chooses

bool takes_block_size(const std::string& path) {
  return path.find("blocked-ring") != std::string::npos;
}

quadrille_bind_options options_for(const std::string& path, unsigned seed) {
  return trusted(windows[seed % 6], seed % 2, takes_block_size(path) ? block_sizes[seed % 6] : 0);
}

// All schedules for the communicator, bound as they come; a block size for those that take one.
template <typename Body>
void with_every_schedule(MPI_Comm comm, unsigned seed, const Body& body) {
  for (const std::string& path : schedule_paths(ranks_of(comm), "gather")) {
    // More ranks than a machine's cores wait for each other longer than they work.
    if (!takes_next_of_many(kSanitized || ranks_of(comm) > 3) && ++seed) continue;
    SCOPED_TRACE(path);
    const Schedule schedule(path);
    const quadrille_bind_options options = options_for(path, ++seed);
    ASSERT_EQ(quadrille_bind(schedule, comm, &options), MPI_SUCCESS);
    body(Exchange{schedule, comm, seed, seed % 2 ? Entry::kLarge : Entry::kInt});
  }
}

const Shape& turn(const std::vector<Shape>& shapes, size_t start) {
  return shapes[(start + static_cast<size_t>(own())) % shapes.size()];
}

std::vector<Contributions> all_contributions(int ranks, unsigned seed) {
  return {
      {"nothing at all", [](int) { return 0; }},
      {"one each", [](int) { return 1; }},
      {"any", [=](int r) { return static_cast<int>((static_cast<unsigned>(r) * 7 + seed) % 5); }},
      {"all of one rank", [=](int r) { return r == static_cast<int>(seed) % ranks ? 50 : 0; }},
      {"a spike", [=](int r) { return r == ranks / 2 ? 70 : 2; }},
      {"every second", [](int r) { return r % 2 * 6; }},
      {"decreasing", [=](int r) { return 3 * (ranks - r); }},
      {"geometric", [](int r) { return 64 >> r; }},
  };
}

TEST(Allgather, MovesEveryShapeToEveryShapeOfItsSignature) {
  with_every_schedule(MPI_COMM_WORLD, 0, [](Exchange e) {
    const std::vector<Shape>& shapes = integer_shapes();
    for (size_t i = 0; i < shapes.size(); ++i, ++e.seed)
      expect_allgather(e, turn(shapes, i), turn(shapes, i * 3 + e.seed), 1 + static_cast<int>(i));
    for (size_t i = 0; i < 2; ++i)
      expect_allgather(e, turn(mixed_shapes(), i), turn(mixed_shapes(), e.seed), 5);
  });
}

TEST(Allgather, InPlaceGathersEveryShape) {
  with_every_schedule(MPI_COMM_WORLD, 1, [](Exchange e) {
    for (size_t i = 0; i < integer_shapes().size(); ++i, ++e.seed)
      expect_allgather_in_place(e, turn(integer_shapes(), i), 3);
    expect_allgather_in_place(e, turn(mixed_shapes(), e.seed), 2);
  });
}

TEST(Allgatherv, MovesEveryKindOfCountsAtAnyDisplacements) {
  with_every_schedule(MPI_COMM_WORLD, 2, [](Exchange e) {
    for (const Contributions& contributions : all_contributions(all(), e.seed)) {
      expect_allgatherv(e, turn(integer_shapes(), e.seed), turn(integer_shapes(), e.seed / 3 + 1),
                        contributions);
      expect_allgatherv(e, turn(mixed_shapes(), e.seed), turn(mixed_shapes(), e.seed / 2),
                        contributions);
      ++e.seed;
    }
  });
}

TEST(Allgatherv, InPlaceGathersEveryKindOfCounts) {
  with_every_schedule(MPI_COMM_WORLD, 3, [](Exchange e) {
    for (const Contributions& contributions : all_contributions(all(), e.seed)) {
      expect_allgatherv_in_place(e, turn(integer_shapes(), e.seed), contributions);
      ++e.seed;
    }
  });
}

// What is like the call before is not followed again: other bytes, another buffer, other places, other
// counts, another block size.
TEST(Calls, AfterOneAnotherAreEachTheirOwn) {
  with_every_schedule(MPI_COMM_WORLD, 6, [](Exchange e) {
    const std::vector<Contributions> contributions = all_contributions(all(), 3);
    const Shape& ints = integer_shapes()[0];
    for (const size_t which : {2, 2, 4, 4, 2, 5}) {
      for (unsigned same = 0; same < 2; ++same) {
        expect_allgatherv(e, ints, ints, contributions[which]);
        expect_allgather(e, ints, ints, 3);
        expect_allgather({e.schedule, e.comm, e.seed + 1}, ints, ints, 3);
      }
      ++e.seed;
    }
    quadrille_bind_options options = trusted(0, 0, 0);
    ASSERT_EQ(quadrille_bind(e.schedule, e.comm, &options), MPI_SUCCESS);
    expect_allgather(e, ints, ints, 3);
    expect_allgather(e, integer_shapes()[4], ints, 3);
    expect_allgather(e, ints, integer_shapes()[4], 3);
    expect_allgather(e, ints, ints, 3);
  });
}

// Messages of several pieces are copied together up to a length, and described by a type beyond.
TEST(Allgather, MovesBlocksLargerThanAnEagerMessage) {
  for (const std::string& path : schedule_paths(all(), "gather")) {
    const Schedule schedule(path);
    const quadrille_bind_options options = trusted(0, 0, takes_block_size(path) ? 40000 : 0);
    ASSERT_EQ(quadrille_bind(schedule, MPI_COMM_WORLD, &options), MPI_SUCCESS);
    const Shape& ints = integer_shapes()[0];
    for (unsigned seed = 0; seed < 2; ++seed)
      expect_allgather({schedule, MPI_COMM_WORLD, seed}, ints, ints, 30000);
    expect_allgather({schedule, MPI_COMM_WORLD}, ints, integer_shapes()[6], 3000);
  }
}

TEST(Allgather, IsTheSameInEveryWindowWithAndWithoutSynchronousSends) {
  for (const std::string& path : schedule_paths(all(), "gather")) {
    SCOPED_TRACE(path);
    const Schedule schedule(path);
    unsigned seed = 0;
    for (const int window : windows) {
      quadrille_bind_options options = options_for(path, ++seed);
      options.window = window;
      options.synchronous = window % 2 == 0 || window == 1;
      ASSERT_EQ(quadrille_bind(schedule, MPI_COMM_WORLD, &options), MPI_SUCCESS);
      for (int same = 0; same < 2; ++same) expect_gathers(schedule, MPI_COMM_WORLD, seed);
    }
  }
}

TEST(Calls, BackToBackDoNotMeetHoweverLateARankIs) {
  with_every_schedule(MPI_COMM_WORLD, 4, [](Exchange e) {
    for (unsigned i = 0; i < 6; ++i, ++e.seed) {
      if (static_cast<int>(e.seed) % all() == own()) usleep(500);
      const std::vector<Contributions> contributions = all_contributions(all(), e.seed);
      expect_allgatherv(e, integer_shapes()[0], integer_shapes()[0],
                        contributions[(i * 3) % contributions.size()]);
    }
  });
}

TEST(Communicators, TakeTurnsInAnyRankOrder) {
  const Communicator reversed(MPI_COMM_WORLD, 0, -own()), mixed(MPI_COMM_WORLD, 0, own() * 5 % 7);
  const MPI_Comm comms[] = {MPI_COMM_WORLD, reversed, mixed};
  for (const std::string& path : schedule_paths(all(), "gather")) {
    const Schedule schedule(path);
    const quadrille_bind_options options = options_for(path, 7);
    for (const MPI_Comm comm : comms)
      ASSERT_EQ(quadrille_bind(schedule, comm, &options), MPI_SUCCESS);
    for (unsigned seed = 0; seed < 2; ++seed)
      for (const MPI_Comm comm : comms) expect_gathers(schedule, comm, seed);
  }
}

TEST(Communicators, OfHalvesOfTheRanksWorkAtOnce) {
  const Communicator half(MPI_COMM_WORLD, own() % 2, own());
  with_every_schedule(half, 5, [](Exchange e) {
    for (unsigned i = 0; i < 3; ++i) expect_gathers(e.schedule, e.comm, ++e.seed);
  });
}

}  // namespace
}  // namespace quadrille::mpi
