// Loading and handles. A file that is no schedule is refused with a reason. A handle, however stale, gives no more
// than an error.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>

#include "tests/mpi/calls.h"
#include "tests/mpi/world.h"
#include "tests/support/reseal.h"

namespace quadrille::mpi {
namespace {

const char* const kFile = "hierarchical-factor_1-2-3.qs";

Bytes good_file() { return read_bytes(schedule_path(kFile)); }

// Loading fails, and so does every use of the handle except freeing it.
void expect_refused(const void* bytes, size_t length, int error_class, const std::string& part) {
  quadrille_schedule schedule = 12345;
  expect_error(quadrille_load_memory(bytes, length, &schedule), error_class, part);
  quadrille_schedule_info info{};
  info.size = sizeof info;
  expect_error(quadrille_info(schedule, &info), error_class, part);
  ASSERT_NE(schedule, QUADRILLE_SCHEDULE_NULL);
  EXPECT_EQ(quadrille_free(&schedule), MPI_SUCCESS);
  EXPECT_EQ(schedule, QUADRILLE_SCHEDULE_NULL);
}

void expect_file_refused(const std::string& path, int error_class, const std::string& part) {
  quadrille_schedule schedule = 12345;
  expect_error(quadrille_load_file(path.c_str(), &schedule), error_class, part);
  EXPECT_EQ(quadrille_free(&schedule), MPI_SUCCESS);
}

TEST(Load, FromFileAndFromMemoryIsTheSameSchedule) {
  const Schedule file(schedule_path(kFile)), memory(good_file());
  quadrille_schedule_info a{}, b{};
  a.size = b.size = sizeof a;
  ASSERT_EQ(quadrille_info(file, &a), MPI_SUCCESS);
  ASSERT_EQ(quadrille_info(memory, &b), MPI_SUCCESS);
  EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0);  // NOLINT(bugprone-suspicious-memory-comparison)
  EXPECT_EQ(a.ranks, 6);
  EXPECT_EQ(a.nodes, 3);
  EXPECT_STREQ(a.algorithm, "hierarchical-factor");
  EXPECT_STREQ(a.collective, "alltoall");
  EXPECT_EQ(std::strlen(a.hash), 32u);
}

TEST(Load, OfMemoryDoesNotNeedItAfterwards) {
  Bytes file = read_bytes(schedule_path("factor_1.qs"));
  const Schedule schedule(file);
  std::fill(file.begin(), file.end(), 0);
  expect_works(schedule, MPI_COMM_SELF);
}

TEST(Load, RefusesAFileCutOffAnywhere) {
  const Bytes file = good_file();
  for (size_t length = 0; length < file.size(); ++length) {
    const Bytes cut(file.begin(), file.begin() + static_cast<ptrdiff_t>(length));
    // A separate buffer, so the sanitizers notice a read past its end.
    expect_refused(cut.empty() ? file.data() : cut.data(), length, MPI_ERR_FILE,
                   "schedule in memory: ");
    if (HasFailure()) FAIL() << length;
  }
}

TEST(Load, RefusesAFileWithOneBitFlippedAnywhere) {
  Bytes file = good_file();
  for (size_t bit = 0; bit < 8 * file.size(); ++bit) {
    file[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    expect_refused(file.data(), file.size(), MPI_ERR_FILE, "schedule in memory: ");
    if (HasFailure()) FAIL() << bit;
    file[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
}

TEST(Load, RefusesAFileWithMoreBehindIt) {
  Bytes file = good_file();
  file.push_back(0);
  expect_refused(file.data(), file.size(), MPI_ERR_FILE, "checksum");
}

TEST(Load, SaysOfALaterFormatThatANewerLibraryReadsIt) {
  Bytes file = good_file();
  file[8] = 9;   // the major version
  file[12] = 9;  // oldest reader
  quadrille_reseal(file.data(), file.size());
  expect_refused(file.data(), file.size(), MPI_ERR_FILE,
                 "of a later format; use a newer Quadrille library");
}

TEST(Load, TakesALaterFormatThatThisLibraryMayRead) {
  Bytes file = good_file();
  file[8] = 9;
  file[10] = 3;  // the minor version
  quadrille_reseal(file.data(), file.size());
  const Schedule schedule(file);
}

TEST(Load, RefusesAnUnknownCriticalSectionAndSkipsAnotherOne) {
  for (const int critical : {1, 0}) {
    Bytes file = good_file();
    const Bytes section = {'X', 'Y', 'Z', static_cast<uint8_t>(critical), 2, 7, 7};
    file.insert(file.end() - 4, section.begin(), section.end());
    ++file[14];  // number of sections
    quadrille_reseal(file.data(), file.size());
    if (critical)
      expect_refused(file.data(), file.size(), MPI_ERR_FILE, "does not know; use a newer one");
    else
      const Schedule schedule(file);
  }
}

TEST(Load, RefusesForeignFiles) {
  const std::string elf(200, 'x'), text = "#!/bin/sh\necho hello\n";
  expect_refused(text.data(), text.size(), MPI_ERR_FILE, "not a schedule file");
  expect_refused(elf.data(), elf.size(), MPI_ERR_FILE, "not a schedule file");
  expect_refused(nullptr, 10, MPI_ERR_ARG, "the bytes are NULL");
  expect_file_refused("tests/mpi", MPI_ERR_FILE, "tests/mpi: ");
  expect_file_refused("", MPI_ERR_NO_SUCH_FILE, "No such file");
  expect_file_refused("/dev/zero", MPI_ERR_FILE, "/dev/zero: longer than 16777216 bytes");
}

TEST(Load, SaysWhyHoweverLongThePathIs) {
  const std::string path =
      "tests/" + std::string(200, 'a') + "/" + std::string(190, 'b') + "/end.qs";
  expect_file_refused(path, MPI_ERR_NO_SUCH_FILE, "end.qs: No such file or directory");
}

TEST(Load, RefusesNoPathAndNoPlaceForTheHandle) {
  quadrille_schedule schedule = 1;
  expect_error(quadrille_load_file(nullptr, &schedule), MPI_ERR_ARG, "the path is NULL");
  EXPECT_EQ(quadrille_free(&schedule), MPI_SUCCESS);
  expect_error(quadrille_load_file("x.qs", nullptr), MPI_ERR_ARG,
               "the place for the schedule is NULL");
  expect_error(quadrille_load_memory("x", 1, nullptr), MPI_ERR_ARG,
               "the place for the schedule is NULL");
}

TEST(Handle, ThatIsNullStaleOrGarbageIsAnErrorEverywhere) {
  quadrille_schedule_info info{};
  info.size = sizeof info;
  Schedule schedule(schedule_path("factor_1.qs"));
  std::vector<quadrille_schedule> handles = {QUADRILLE_SCHEDULE_NULL, schedule};
  schedule.free();
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    handles.push_back(random());
    handles.push_back(random() << 32 | (random() % 16));
  }
  int buffer[4] = {0};
  for (const quadrille_schedule handle : handles) {
    quadrille_schedule copy = handle;
    expect_error(quadrille_free(&copy), MPI_ERR_ARG, "the schedule is null or was freed before");
    EXPECT_EQ(copy, handle);
    expect_error(quadrille_info(handle, &info), MPI_ERR_ARG, "the schedule is null or was freed");
    expect_error(
        quadrille_alltoall(handle, buffer, 1, MPI_INT, buffer + 2, 1, MPI_INT, MPI_COMM_WORLD),
        MPI_ERR_ARG, "the schedule is null or was freed");
    if (HasFailure()) FAIL() << std::hex << handle;
  }
  expect_error(quadrille_free(nullptr), MPI_ERR_ARG, "NULL");
}

TEST(Handle, OfEachOfManySchedulesIsItsOwn) {
  std::vector<std::unique_ptr<Schedule>> schedules;
  for (int i = 0; i < 100; ++i)
    schedules.push_back(
        std::make_unique<Schedule>(schedule_path(i % 2 ? "factor_3.qs" : "xor_2.qs")));
  for (size_t i = 0; i < schedules.size(); i += 3) schedules[i]->free();
  for (size_t i = 0; i < schedules.size(); ++i) {
    quadrille_schedule_info info{};
    info.size = sizeof info;
    if (i % 3 == 0) continue;
    ASSERT_EQ(quadrille_info(*schedules[i], &info), MPI_SUCCESS);
    EXPECT_EQ(info.ranks, i % 2 ? 3 : 2);
  }
}

TEST(Info, RefusesAStructWithoutItsSize) {
  const Schedule schedule(schedule_path("factor_1.qs"));
  quadrille_schedule_info info{};
  expect_error(quadrille_info(schedule, &info), MPI_ERR_ARG, "its size field is not set");
  expect_error(quadrille_info(schedule, nullptr), MPI_ERR_ARG, "info is NULL");
}

}  // namespace
}  // namespace quadrille::mpi
