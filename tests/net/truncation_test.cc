// One rank's buffer for a block is shorter or longer than what its sender sends.
#include <array>

#include "tests/net/jobs.h"

namespace quadrille::net::truncation_test {

constexpr int kNarrow = 1;

// Expects the right error on each rank. One rank has room for `room` units of a block that has more or fewer.
void expect_truncation(const Scheduled& scheduled, const Ways& ways, bool is_persistent,
                       unsigned types, LengthKind lengths, int room) {
  const CollectiveCall call{.collective = Collective::kAlltoall,
                            .groups = scheduled.groups,
                            .lengths = lengths,
                            .length_seed = 2,
                            .form = 1,
                            .types = types,
                            .layout = 1,  // all blocks have one type
                            .seed = ways.seed,
                            .narrow = kNarrow,
                            .narrow_units = room};
  const int from = (kNarrow + 1) % call.groups.ranks;
  const int64_t sent = bytes_between(call, from, kNarrow);
  testing::ScopedTrace trace(__FILE__, __LINE__, call.text());
  const std::vector<int> classes =
      outcomes(scheduled, ways, [&](quadrille_schedule schedule, MPI_Comm comm) {
        int entered = 0;
        CollectivePart part(call, this_rank());
        const int code =
            is_persistent ? part.run_persistent(schedule, comm) : part.run(schedule, comm, entered);
        part.expect_rest_untouched("rank " + std::to_string(this_rank()));
        EXPECT_TRUE(code != MPI_SUCCESS || part.is_right());
        if (this_rank() == kNarrow) {
          const std::string wanted =
              scheduled.forwards || is_persistent
                  ? "rank " + std::to_string(from) + " sends " + std::to_string(sent) +
                        " bytes to rank 1, which has room for " + std::to_string(8 * room)
                  : "more than this rank has room for";
          EXPECT_NE(last_error().find(wanted), std::string::npos) << last_error();
        }
        MPI_Barrier(comm);
        return code;
      });
  for (int rank = 0; rank < scheduled.groups.ranks; ++rank)
    EXPECT_EQ(classes[static_cast<size_t>(rank)],
              rank == kNarrow || is_persistent ? MPI_ERR_TRUNCATE : MPI_SUCCESS)
        << "rank " << rank;
}

class Truncation : public testing::TestWithParam<std::tuple<int, bool, unsigned>> {
 protected:
  // A room of 1 unit is shorter than the data. Rooms of 0 and 2100 units are tried only if lengths travel or are
  // compared: otherwise one end of the message would not exist.
  void expect_all(const Scheduled& scheduled, bool is_persistent) {
    const auto [window, is_eager, types] = GetParam();
    for (const LengthKind lengths : {LengthKind::kEqual, LengthKind::kEdge})
      for (const int room : {1, 0, 2100})
        for (unsigned seed = 1; seed < 6; ++seed)
          if (room == 1 || scheduled.forwards || is_persistent)
            expect_truncation(scheduled, {.window = window, .is_eager = is_eager, .seed = seed},
                              is_persistent, types, lengths, room);
  }
};

INSTANTIATE_TEST_SUITE_P(All, Truncation,
                         testing::Combine(testing::Values(1, 2, 16), testing::Bool(),
                                          testing::Values(0, 1)));

TEST_P(Truncation, OfABlockThatTravelsStraightIsAnErrorOfItsReceiver) {
  expect_all(exchanging("factor", {4}), false);
  expect_all(exchanging("linear", {3}), false);
  expect_all(exchanging("hierarchical-factor", {1, 2}), false);
}

TEST_P(Truncation, OfABlockThatIsForwardedIsAnErrorOfItsReceiver) {
  expect_all(exchanging("tuna", {5}, {2}), false);
  expect_all(exchanging("tuna-coalesced", {1, 2}, {2, 1}), false);
  expect_all(exchanging("hierarchical-overlapped", {1, 3}, {0}), false);
}

TEST_P(Truncation, OfAPersistentCallIsAnErrorEverywhereWhenItIsMade) {
  expect_all(exchanging("tuna", {5}, {2}), true);
  expect_all(exchanging("factor", {4}), true);
}

// Each rank sends `count` numbers to each rank, and has room for `room` from each.
int exchange(quadrille_schedule schedule, MPI_Comm comm, int count, int room) {
  constexpr int kRanks = 4, kMost = 8;
  std::array<int, size_t{kRanks * kMost}> from, to{};
  for (int i = 0; i < kRanks * kMost; ++i) from[static_cast<size_t>(i)] = 100 * this_rank() + i;
  const int code =
      quadrille_alltoall(schedule, from.data(), count, MPI_INT, to.data(), room, MPI_INT, comm);
  for (int i = 0; i < kRanks * count && code == MPI_SUCCESS; ++i)
    EXPECT_EQ(to[static_cast<size_t>(i)], 100 * (i / count) + this_rank() * count + i % count)
        << count;
  return code;
}

// The runtime keeps four prepared calls. The wrong call replaces the first, which is then made again.
TEST(AfterTruncation, CallsAreRight) {
  constexpr int kKept = 4;
  for (const Scheduled& scheduled : {exchanging("factor", {4}), exchanging("tuna", {4}, {2})})
    expect_everywhere(scheduled, {}, MPI_SUCCESS, [](quadrille_schedule schedule, MPI_Comm comm) {
      for (int count = 1; count <= kKept; ++count)
        expect_success(exchange(schedule, comm, count, count), "before");
      EXPECT_EQ(quadrille_error_class(exchange(schedule, comm, 8, 7)), MPI_ERR_TRUNCATE);
      MPI_Barrier(comm);
      return exchange(schedule, comm, 1, 1);
    });
}

}  // namespace quadrille::net::truncation_test
