// One rank has less room for a block than its sender says.
#include <gtest/gtest.h>

#include "tests/net/failures.h"

namespace quadrille::net {
namespace {

constexpr int kNarrow = 1, kFrom = 2;

// What each rank comes to; units to and from all ranks, but for that one block.
void expect_truncation(const Scheduled& scheduled, const Ways& ways, Entrance entrance,
                       size_t shape, int units) {
  testing::ScopedTrace trace(__FILE__, __LINE__, scheduled.name + ", " + ways.text());
  const Attempt::Units described = {
      [=](int, int) { return units; },
      [=](int source, int target) { return target == kNarrow && source == kFrom ? 1 : units; }};
  const std::vector<int> classes =
      outcomes(scheduled, ways, [&](quadrille_schedule schedule, MPI_Comm comm) {
        Attempt attempt(Collective::kAlltoall, entrance, comm, ways.seed, mpi::integer_shapes()[0],
                        mpi::integer_shapes()[shape], described);
        const int error_class = attempt.call(schedule);
        attempt.expect_rest_untouched("rank " + std::to_string(this_rank()));
        EXPECT_TRUE(error_class != MPI_SUCCESS || attempt.is_right());
        MPI_Barrier(comm);
        return error_class;
      });
  for (int rank = 0; rank < scheduled.ranks; ++rank)
    EXPECT_EQ(classes[static_cast<size_t>(rank)],
              rank == kNarrow || entrance == Entrance::kPersistent ? MPI_ERR_TRUNCATE : MPI_SUCCESS)
        << "rank " << rank;
}

class Truncation : public testing::TestWithParam<std::tuple<int, bool, size_t>> {
 protected:
  Ways ways() const {
    return {.window = std::get<0>(GetParam()), .is_eager = std::get<1>(GetParam()), .seed = 3};
  }
  void expect_all(const Scheduled& scheduled, Entrance entrance) {
    for (const int units : {2, 2100})
      for (unsigned seed = 1; seed < 6; ++seed) {
        Ways seeded = ways();
        seeded.seed = seed;
        expect_truncation(scheduled, seeded, entrance, std::get<2>(GetParam()), units);
      }
  }
};

INSTANTIATE_TEST_SUITE_P(All, Truncation,
                         testing::Combine(testing::Values(1, 2, 16), testing::Bool(),
                                          testing::Values(0, 2)));

TEST_P(Truncation, OfABlockThatTravelsStraightIsAnErrorOfItsReceiver) {
  expect_all(exchanging("factor", {4}), Entrance::kCounted);
  expect_all(exchanging("linear", {3}), Entrance::kCounted);
  expect_all(exchanging("hierarchical-factor", {1, 2}), Entrance::kCounted);
}

TEST_P(Truncation, OfABlockThatIsForwardedIsAnErrorOfItsReceiver) {
  expect_all(exchanging("tuna", {5}, {2}), Entrance::kCounted);
  expect_all(exchanging("tuna-coalesced", {1, 2}, {2, 1}), Entrance::kCounted);
  expect_all(exchanging("hierarchical-overlapped", {1, 3}, {0}), Entrance::kCounted);
}

TEST_P(Truncation, OfAPersistentCallIsAnErrorEverywhereWhenItIsMade) {
  expect_all(exchanging("tuna", {5}, {2}), Entrance::kPersistent);
  expect_all(exchanging("factor", {4}), Entrance::kPersistent);
}

}  // namespace
}  // namespace quadrille::net
