// Blocks and displacements beyond 32 bits. Most of the mapped memory stays untouched: one block has two gigabytes,
// and some types have gigabytes between elements.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <climits>

#include "tests/mpi/handles.h"

namespace quadrille::mpi {
namespace {

class Mapped {
 public:
  explicit Mapped(size_t length) : length_(length) {
    address_ = mmap(nullptr, length, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_NE(address_, MAP_FAILED);
    madvise(address_, length, MADV_HUGEPAGE);  // saves most of the time, where there are such pages
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() { munmap(address_, length_); }
  char* bytes() const { return static_cast<char*>(address_); }

 private:
  void* address_;
  size_t length_;
};

const int64_t kGigabyte = int64_t{1} << 30;

class LargeBlock : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(DirectAndOnARoute, LargeBlock,
                         testing::Values("schedules/xor_2.qs", "schedules/tuna_2_radix-2.qs"));

TEST_P(LargeBlock, OfMoreBytesThanAnIntCounts) {
  const int64_t length = INT_MAX + int64_t{100};
  const Schedule schedule("tests/mpi/" + std::string(GetParam()));
  const Mapped memory(static_cast<size_t>(length + 1));
  // Rank 0 sends to rank 1 only. Memory that was never written reads as zero and takes no space.
  const MPI_Count none[2] = {0, 0}, to_one[2] = {0, length}, from_zero[2] = {length, 0};
  const MPI_Aint places[2] = {0, 0};
  const int64_t marks[] = {0, 12345, INT_MAX, length - 1};
  if (own() == 0) {
    for (const int64_t mark : marks) memory.bytes()[mark] = static_cast<char>(mark % 100 + 1);
  } else {
    for (const int64_t mark : {int64_t{1}, length - 2}) memory.bytes()[mark] = 'x';
    memory.bytes()[length] = 'y';
  }
  ASSERT_EQ(quadrille_alltoallv_c(schedule, memory.bytes(), own() == 0 ? to_one : none, places,
                                  MPI_BYTE, memory.bytes(), own() == 0 ? none : from_zero, places,
                                  MPI_BYTE, MPI_COMM_WORLD),
            MPI_SUCCESS);
  if (own() == 0) return;
  for (const int64_t mark : marks)
    EXPECT_EQ(memory.bytes()[mark], static_cast<char>(mark % 100 + 1)) << mark;
  for (const int64_t mark : {int64_t{1}, length - 2}) EXPECT_EQ(memory.bytes()[mark], 0) << mark;
  EXPECT_EQ(memory.bytes()[length], 'y');
}

// The contribution travels in one message. The call is in place, so it only reads the sender's memory.
TEST(Large, ContributionOfMoreBytesThanAnIntCounts) {
  const MPI_Count lengths[2] = {INT_MAX + MPI_Count{100}, 3};
  const MPI_Aint places[2] = {0, lengths[0] + 1};
  const Schedule schedule("tests/mpi/gather/linear-ring_2.qs");
  const Mapped memory(static_cast<size_t>(lengths[0] + 5));
  const int64_t marks[] = {0, 12345, INT_MAX, lengths[0] - 1};
  for (const int64_t mark : marks)
    if (own() == 0) memory.bytes()[mark] = static_cast<char>(mark % 100 + 1);
  if (own() == 1) memory.bytes()[places[1] + 2] = 'z';
  memory.bytes()[lengths[0]] = 'y';
  ASSERT_EQ(quadrille_allgatherv_c(schedule, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, memory.bytes(),
                                   lengths, places, MPI_BYTE, MPI_COMM_WORLD),
            MPI_SUCCESS);
  for (const int64_t mark : marks)
    EXPECT_EQ(memory.bytes()[mark], static_cast<char>(mark % 100 + 1)) << mark;
  EXPECT_EQ(memory.bytes()[lengths[0]], 'y');
  EXPECT_EQ(memory.bytes()[places[1] + 2], 'z');
}

// Returns a type of ints whose extent is that many bytes.
MPI_Datatype far_ints(MPI_Aint extent) {
  MPI_Datatype type;
  MPI_Type_create_resized(MPI_INT, 0, extent, &type);
  MPI_Type_commit(&type);
  return type;
}

int& int_at(const Mapped& memory, int64_t place) {
  return *reinterpret_cast<int*>(memory.bytes() + place);
}

TEST(Large, ElementsThatLieGigabytesApart) {
  const int64_t extent = 3 * kGigabyte;
  MPI_Datatype type = far_ints(extent);
  const Schedule schedule("tests/mpi/schedules/xor_2.qs");
  const Mapped from(static_cast<size_t>(4 * extent)), to(static_cast<size_t>(4 * extent));
  for (int i = 0; i < 4; ++i) {
    int_at(from, i * extent) = 10 * own() + i;
    int_at(to, i * extent) = -1;
  }
  ASSERT_EQ(
      quadrille_alltoall(schedule, from.bytes(), 2, type, to.bytes(), 2, type, MPI_COMM_WORLD),
      MPI_SUCCESS);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(int_at(to, i * extent), 10 * (i / 2) + 2 * own() + i % 2) << i;
  // The same in place, with displacements in reverse order.
  const int counts[2] = {1, 1}, places[2] = {3, 1};
  for (int r = 0; r < 2; ++r) int_at(to, places[r] * extent) = 100 * own() + r;
  ASSERT_EQ(quadrille_alltoallv(schedule, MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL,
                                to.bytes(), counts, places, type, MPI_COMM_WORLD),
            MPI_SUCCESS);
  for (int r = 0; r < 2; ++r) EXPECT_EQ(int_at(to, places[r] * extent), 100 * r + own()) << r;
  MPI_Type_free(&type);
}

// The counts exceed an int, but the type has no bytes.
TEST(Large, CountsOfATypeWithoutBytesMoveNothing) {
  MPI_Datatype empty;
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  const Schedule schedule("tests/mpi/schedules/xor_2.qs");
  int value = 5;
  EXPECT_EQ(quadrille_alltoall_c(schedule, &value, 5 * kGigabyte, empty, &value, 7 * kGigabyte,
                                 empty, MPI_COMM_WORLD),
            MPI_SUCCESS);
  EXPECT_EQ(value, 5);
  MPI_Type_free(&empty);
}

}  // namespace
}  // namespace quadrille::mpi
