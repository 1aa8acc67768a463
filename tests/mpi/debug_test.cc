// With QUADRILLE_DEBUG=1, calls that do not fit together give an error of one class on every rank, with the message of
// the rank that has the mistake. Without it they could wait for each other forever. The library also prints each
// rank's number in the schedule. This program itself answers which ranks share memory.
#include <cstdlib>

#include "tests/mpi/calls.h"
#include "tests/mpi/refused.h"

namespace {

bool last_is_alone = false;  // the last rank is on a node of its own, all others on another one

}  // namespace

extern "C" int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                                    MPI_Comm* result) {
  if (type != MPI_COMM_TYPE_SHARED || !last_is_alone)
    return MPI_Comm_split_type(comm, type, key, info, result);
  return PMPI_Comm_split(comm, quadrille::mpi::own() == quadrille::mpi::all() - 1, key, result);
}

namespace quadrille::mpi {
namespace {

// Set before the library reads it.
const bool is_set = setenv("QUADRILLE_DEBUG", "1", 1) == 0;

class AllgatherDebug : public Refused {
 protected:
  void SetUp() override {
    ASSERT_TRUE(is_set);
    for (int r = 0; r < all(); ++r) {
      counts_.push_back(2);
      places_.push_back(3 * r);
    }
    const quadrille_bind_options options = trusted(0, 0, 8);
    ASSERT_EQ(quadrille_bind(schedule_, comm_, &options), MPI_SUCCESS);
    Refused::SetUp();
  }
  // The refusal has left nothing behind.
  void TearDown() override {
    Refused::TearDown();
    expect_works(schedule_, comm_);
  }

  int call(int contributed = 2, MPI_Datatype type = MPI_INT) {
    return quadrille_allgatherv(schedule_, from_, contributed, MPI_INT, to_, counts_.data(),
                                places_.data(), type, comm_);
  }

  const Schedule schedule_{"tests/mpi/gather/blocked-ring_" + std::to_string(all()) + ".qs"};
  std::vector<int> counts_, places_;
  int from_[32] = {0}, to_[32];
};

TEST_F(AllgatherDebug, LetsCallsThatFitTogetherPass) {
  EXPECT_EQ(call(), MPI_SUCCESS);
  places_.assign(places_.size(), 0);
  counts_.assign(counts_.size(), 0);
  EXPECT_EQ(call(0), MPI_SUCCESS) << "empty blocks may lie anywhere";
  for (int r = 0; r < all(); ++r) {
    counts_[static_cast<size_t>(r)] = 2;
    places_[static_cast<size_t>(r)] = 2 * (all() - 1 - r);
  }
  EXPECT_EQ(call(), MPI_SUCCESS) << "blocks that touch";
}

TEST_F(AllgatherDebug, NamesTheRanksWhoseCountsDiffer) {
  if (own() == 0) counts_[1] = 4;
  const std::string sentence =
      "the ranks disagree: rank 1's contribution is 8 bytes at rank 1 and 16 bytes at rank 0; call "
      "with the same counts everywhere";
  if (own() == 0) places_ = {0, 4, 12};
  expect_refusal_everywhere(call(), MPI_ERR_COUNT, sentence);
}

TEST_F(AllgatherDebug, NamesTheRanksOfAnAllgatherOfDifferentCounts) {
  const int count = own() == all() - 1 ? 3 : 2;
  expect_refusal_everywhere(
      quadrille_allgather(schedule_, from_, count, MPI_INT, to_, count, MPI_INT, comm_),
      MPI_ERR_COUNT,
      "the ranks disagree: rank 0's contribution is 8 bytes at rank 0 and 12 bytes at rank " +
          std::to_string(all() - 1));
}

TEST_F(AllgatherDebug, ComparesBytesNotElements) {
  if (own() == 0) counts_.assign(counts_.size(), 1);
  EXPECT_EQ(call(2, own() == 0 ? MPI_DOUBLE : MPI_INT), MPI_SUCCESS);
}

TEST_F(AllgatherDebug, ContributionThatIsNotWhatTheCountsSay) {
  expect_refusal_everywhere(call(own() == 0 ? 1 : 2), MPI_ERR_COUNT,
                            own() == 0 ? "this rank contributes 4 bytes, but its own entry of the "
                                         "receive counts is 8 bytes; they must be equal"
                                       : "another rank's arguments are wrong");
}

TEST_F(AllgatherDebug, NegativeCountAtOneRank) {
  if (own() == 0) counts_[1] = -1;
  expect_refusal_everywhere(
      call(), MPI_ERR_COUNT,
      own() == 0 ? "a count is negative" : "another rank's arguments are wrong; its own message");
}

TEST_F(AllgatherDebug, BlocksThatOverlapAtOneRank) {
  if (own() == 0) places_[1] = 1;
  expect_refusal_everywhere(call(), MPI_ERR_BUFFER,
                            own() == 0 ? "the blocks of ranks 0 and 1 overlap in the receive "
                                         "buffer; correct the displacements"
                                       : "another rank's arguments are wrong");
}

// Elements with gaps. The bytes in a gap belong to no block, but each element belongs to one.
TEST_F(AllgatherDebug, BlocksOfElementsThatLieApart) {
  MPI_Datatype spread;
  MPI_Type_create_resized(MPI_INT, 0, 8, &spread);
  MPI_Type_commit(&spread);
  for (int r = 0; r < all(); ++r) places_[static_cast<size_t>(r)] = 2 * r;
  EXPECT_EQ(call(2, spread), MPI_SUCCESS);
  if (own() == 1) places_[0] = 1;
  expect_refusal_everywhere(
      call(2, spread), MPI_ERR_BUFFER,
      own() == 1 ? "the blocks of ranks 0 and 1 overlap" : "another rank's arguments are wrong");
  MPI_Type_free(&spread);
}

class AlltoallDebug : public Refused {
 protected:
  int call(quadrille_schedule schedule) {
    return quadrille_alltoallv(schedule, from_, sent_.data(), places_.data(), MPI_INT, to_,
                               received_.data(), places_.data(), MPI_INT, comm_);
  }
  std::vector<int> sent_ = std::vector<int>(static_cast<size_t>(all()), 2), received_ = sent_,
                   places_ = std::vector<int>(sent_.size());
  int from_[2] = {0}, to_[2];
};

TEST_F(AlltoallDebug, NamesTheRanksWhoseLengthsDiffer) {
  for (const std::string& path :
       {schedule_paths(all())[0], schedule_paths(all(), "forward").back()}) {
    SCOPED_TRACE(path);
    const Schedule schedule(path);
    const quadrille_bind_options options = trusted();
    ASSERT_EQ(quadrille_bind(schedule, comm_, &options), MPI_SUCCESS);
    EXPECT_EQ(call(schedule), MPI_SUCCESS);
    // The last one would wait forever in a schedule that sends blocks directly.
    for (const int expected : {1, 3, 0}) {
      if (own() == 0) received_.back() = expected;
      expect_refusal_everywhere(call(schedule), MPI_ERR_TRUNCATE,
                                own() == 0 ? "rank " + std::to_string(all() - 1) +
                                                 " sends 8 bytes to rank 0, which has room for " +
                                                 std::to_string(4 * expected)
                                           : "another rank's arguments are wrong");
    }
    received_.back() = 2;
    expect_works(schedule, comm_);
  }
}

TEST(LayoutDebug, SaysWhichRankOfTheScheduleARankIs) {
  const Schedule schedule("tests/mpi/any/hierarchical-factor_any.qs");
  const Communicator comm(MPI_COMM_WORLD, 0, own());
  last_is_alone = true;
  testing::internal::CaptureStderr();
  const int code = quadrille_bind(schedule, comm, nullptr);
  const std::string said = testing::internal::GetCapturedStderr();
  last_is_alone = false;
  ASSERT_EQ(code, MPI_SUCCESS);
  // Nodes of 2 and 1 ranks change places. Equal nodes do not.
  const int changed = own() == all() - 1 ? 0 : own() + 1;
  const std::string sentence =
      "rank " + std::to_string(own()) + " is rank " + std::to_string(changed) + " of the schedule";
  EXPECT_EQ(said.find(sentence) != std::string::npos, all() > 2) << said;
  EXPECT_EQ(said.find("of the schedule") != std::string::npos, all() > 2) << said;
}

}  // namespace
}  // namespace quadrille::mpi
