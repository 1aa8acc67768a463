// quadrille_alltoall and quadrille_alltoallv against a reference, byte by byte: every schedule,
// every kind of datatype on either side, counts of every kind, and what lies between the blocks.
#include "tests/mpi/exchange.h"
#include "tests/support/effort.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace quadrille::mpi {
namespace {

const int windows[] = {0, 1, 2, 3, 8, 65536};

std::vector<std::string> all_paths() {
  std::vector<std::string> paths = schedule_paths(ranks_of(MPI_COMM_WORLD));
  for (std::string& path : schedule_paths(ranks_of(MPI_COMM_WORLD), "forward"))
    paths.push_back(std::move(path));
  return paths;
}

// All schedules for the world, bound as they come: window, synchronous sends, entry point and seed
// change from one to the next.
template <typename Body>
void with_every_schedule(const Body& body) {
  unsigned seed = 0;
  for (const std::string& path : all_paths()) {
    if (!takes_next_of_many() && ++seed) continue;
    SCOPED_TRACE(path);
    const Schedule schedule(path);
    const quadrille_bind_options options = trusted(windows[seed % 6], seed % 2);
    ASSERT_EQ(quadrille_bind(schedule, MPI_COMM_WORLD, &options), MPI_SUCCESS);
    body(Exchange{schedule, MPI_COMM_WORLD, seed, seed % 2 ? Entry::kLarge : Entry::kInt});
    ++seed;
  }
}

// Each rank sends another shape, so that each block is described by two types.
const Shape& turn(const std::vector<Shape>& shapes, size_t start) {
  return shapes[(start + static_cast<size_t>(rank_in(MPI_COMM_WORLD))) % shapes.size()];
}

std::vector<Counts> all_counts(int ranks, unsigned seed) {
  const auto any = [seed](int s, int t) {
    return static_cast<int>((static_cast<unsigned>(s) * 7 + static_cast<unsigned>(t) * 13 + seed) %
                            6);
  };
  return {
      {"nothing at all", [](int, int) { return 0; }},
      {"any counts", any},
      {"some pairs nothing", [any](int s, int t) { return (s + 2 * t) % 3 ? any(s, t) : 0; }},
      {"a rank that receives nothing",
       [=](int s, int t) { return t == ranks / 2 ? 0 : any(s, t); }},
      {"a rank that sends nothing", [=](int s, int t) { return s == ranks - 1 ? 0 : any(s, t); }},
      {"one way only", [any](int s, int t) { return s < t ? any(s, t) : 0; }},
      {"one large block", [=](int s, int t) { return s == 0 && t == ranks - 1 ? 900 : 0; }},
      {"skewed", [=](int s, int t) { return s == t ? 0 : s * s * 17 / (t + 1); }},
  };
}

TEST(Reference, NoticesOneWrongByteInABlockAndOneBesideBlocks) {
  EXPECT_TRUE(notices_a_wrong_byte(false));
  EXPECT_TRUE(notices_a_wrong_byte(true));
}

TEST(Alltoall, MovesEveryShapeToEveryShapeOfItsSignature) {
  with_every_schedule([](Exchange e) {
    const std::vector<Shape>& shapes = integer_shapes();
    for (size_t i = 0; i < shapes.size(); ++i, ++e.seed)
      expect_alltoall(e, turn(shapes, i), turn(shapes, i * 3 + e.seed), 1 + static_cast<int>(i));
    for (size_t i = 0; i < 2; ++i)
      expect_alltoall(e, turn(mixed_shapes(), i), turn(mixed_shapes(), e.seed), 5);
  });
}

TEST(Alltoall, OfNothingTouchesNothing) {
  with_every_schedule([](const Exchange& e) {
    expect_alltoall(e, integer_shapes()[0], integer_shapes()[4], 0);
    expect_alltoall_in_place(e, integer_shapes()[2], 0);
  });
}

TEST(Alltoall, MovesBlocksLargerThanAnEagerMessage) {
  with_every_schedule([](const Exchange& e) {
    expect_alltoall(e, integer_shapes()[0], integer_shapes()[6], 3000);
    // One, two and three blocks that just fit in a message with their lengths, or do not.
    for (const int units : {682, 683, 1024, 1025, 2048, 2049})
      expect_alltoall(e, integer_shapes()[0], integer_shapes()[1], units);
  });
}

TEST(Alltoall, InPlaceExchangesBlocksOfEveryShape) {
  with_every_schedule([](Exchange e) {
    for (size_t i = 0; i < integer_shapes().size(); ++i, ++e.seed)
      expect_alltoall_in_place(e, turn(integer_shapes(), i), 4);
    expect_alltoall_in_place(e, turn(mixed_shapes(), 0), 4);
    expect_alltoall_in_place(e, integer_shapes()[0], 3000);
  });
}

TEST(Alltoallv, MovesEveryKindOfCountsAtAnyDisplacements) {
  with_every_schedule([](Exchange e) {
    for (const Counts& counts : all_counts(ranks_of(MPI_COMM_WORLD), e.seed)) {
      expect_alltoallv(e, turn(integer_shapes(), e.seed), turn(integer_shapes(), e.seed / 3 + 1),
                       counts);
      expect_alltoallv(e, turn(mixed_shapes(), e.seed), turn(mixed_shapes(), e.seed / 2), counts);
      ++e.seed;
    }
  });
}

TEST(Alltoallv, InPlaceExchangesBlocksWhoseCountsDifferFromPairToPair) {
  with_every_schedule([](Exchange e) {
    for (const Counts& counts : all_counts(ranks_of(MPI_COMM_WORLD), e.seed)) {
      const auto symmetric = [&](int s, int t) {
        return counts.units(std::min(s, t), std::max(s, t));
      };
      expect_alltoallv_in_place(e, turn(integer_shapes(), e.seed), {counts.name, symmetric});
      ++e.seed;
    }
  });
}

TEST(Alltoallw, MovesBlocksOfAShapeEach) {
  with_every_schedule([](Exchange e) {
    const std::vector<Counts> counts = all_counts(ranks_of(MPI_COMM_WORLD), e.seed);
    for (const size_t which : {1, 6}) {
      expect_alltoallw(e, integer_shapes(), counts[which]);
      expect_alltoallw(e, mixed_shapes(), counts[which]);
      // All of them bytes as they lie.
      expect_alltoallw(e, {integer_shapes()[0], integer_shapes()[1]}, counts[which]);
      ++e.seed;
    }
  });
}

TEST(Alltoallw, InPlaceExchangesBlocksOfAShapeEach) {
  with_every_schedule([](Exchange e) {
    const auto symmetric = [&](int s, int t) { return (s + t + static_cast<int>(e.seed)) % 4; };
    for (int i = 0; i < 2; ++i, ++e.seed)
      expect_alltoallw_in_place(e, integer_shapes(), {"symmetric", symmetric});
  });
}

TEST(Persistent, MovesBlocksThatAreEquallyLongOrOfAShapeEach) {
  with_every_schedule([](Exchange e) {
    e.entry = Entry::kPersistent;
    const auto symmetric = [&](int s, int t) { return (s + t + static_cast<int>(e.seed)) % 4; };
    expect_alltoall(e, turn(integer_shapes(), e.seed), turn(integer_shapes(), e.seed / 3 + 1), 3);
    expect_alltoall_in_place(e, turn(integer_shapes(), e.seed), 2);
    expect_alltoallw(e, mixed_shapes(), {"symmetric", symmetric});
    expect_alltoallw_in_place(e, integer_shapes(), {"symmetric", symmetric});
  });
}

TEST(Persistent, MovesEveryKindOfCountsAtAnyDisplacements) {
  with_every_schedule([](Exchange e) {
    e.entry = Entry::kPersistent;
    const std::vector<Counts> counts = all_counts(ranks_of(MPI_COMM_WORLD), e.seed);
    for (const size_t which : {2, 6}) {
      expect_alltoallv(e, turn(integer_shapes(), e.seed), turn(integer_shapes(), e.seed / 3 + 1),
                       counts[which]);
      ++e.seed;
    }
    expect_alltoallv(e, turn(mixed_shapes(), e.seed), turn(mixed_shapes(), e.seed / 2), counts[1]);
    expect_alltoallv(e, integer_shapes()[0], integer_shapes()[1],
                     {"long", [](int s, int t) { return 1000 * s + 2000 * t; }});
    const auto symmetric = [&](int s, int t) { return (s + t + static_cast<int>(e.seed)) % 4; };
    expect_alltoallv_in_place(e, turn(integer_shapes(), e.seed), {"symmetric", symmetric});
  });
}

// Every window beside the ones that the tests above came by.
TEST(Alltoall, IsTheSameInEveryWindowWithAndWithoutSynchronousSends) {
  for (const std::string& path : all_paths()) {
    if (!takes_next_of_many()) continue;
    const Schedule schedule(path);
    unsigned seed = 0;
    for (const int window : windows)
      for (const int synchronous : {0, 1}) {
        const quadrille_bind_options options = trusted(window, synchronous);
        ASSERT_EQ(quadrille_bind(schedule, MPI_COMM_WORLD, &options), MPI_SUCCESS);
        expect_works(schedule, MPI_COMM_WORLD, ++seed);
      }
  }
}

TEST(Alltoallv, ReportsABlockThatIsLongerThanItsReceiverHasRoomFor) {
  const int ranks = ranks_of(MPI_COMM_WORLD), own = rank_in(MPI_COMM_WORLD);
  const Schedule schedule(schedule_paths(ranks)[0]);
  const quadrille_bind_options options = trusted();
  ASSERT_EQ(quadrille_bind(schedule, MPI_COMM_WORLD, &options), MPI_SUCCESS);
  std::vector<int> from(static_cast<size_t>(2 * ranks), own),
      to(static_cast<size_t>(ranks) + 1, -1);
  std::vector<int> two(static_cast<size_t>(ranks), 2), one(static_cast<size_t>(ranks), 1), twice,
      once;
  for (int r = 0; r < ranks; ++r) {
    twice.push_back(2 * r);
    once.push_back(r);
  }
  // Rank 0 makes room for half of what it is sent.
  const int code =
      own == 0 ? quadrille_alltoallv(schedule, from.data(), two.data(), twice.data(), MPI_INT,
                                     to.data(), one.data(), once.data(), MPI_INT, MPI_COMM_WORLD)
               : MPI_SUCCESS;
  if (own != 0) {
    std::vector<int> room(from.size());
    EXPECT_EQ(quadrille_alltoallv(schedule, from.data(), two.data(), twice.data(), MPI_INT,
                                  room.data(), two.data(), twice.data(), MPI_INT, MPI_COMM_WORLD),
              MPI_SUCCESS);
    return;
  }
  // Of what it sends itself, the runtime knows how much that is.
  expect_error(code, MPI_ERR_TRUNCATE,
               ranks == 1 ? "which has room for 4" : "more than this rank has room for");
  EXPECT_EQ(to.back(), -1);
}

}  // namespace
}  // namespace quadrille::mpi
