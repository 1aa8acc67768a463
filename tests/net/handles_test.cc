// Tests of loading and handles. A file that is no schedule is refused with a reason; tests/reject has such files. A
// handle, however stale, gives an error and nothing worse.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <random>

#include "tests/net/jobs.h"

namespace quadrille::net::handles_test {

using mpi::expect_error;
using mpi::info_of;

std::vector<uint8_t> file_of(const std::vector<int64_t>& sizes) {
  return exchanging("hierarchical-factor", sizes).file;
}

TEST(Load, FromFileAndFromMemoryIsTheSameSchedule) {
  const std::string path = testing::TempDir() + "schedule.qs";
  std::vector<uint8_t> bytes = file_of({1, 2, 3});
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  const Schedule file(path), memory(bytes);
  std::ranges::fill(bytes, 0);  // the schedule has its own copy
  const quadrille_schedule_info a = info_of(file), b = info_of(memory);
  EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0);  // NOLINT(bugprone-suspicious-memory-comparison)
  EXPECT_EQ(a.ranks, 6);
  EXPECT_EQ(a.nodes, 3);
  EXPECT_STREQ(a.algorithm, "hierarchical-factor");
  EXPECT_STREQ(a.collective, "alltoall");
  EXPECT_EQ(std::strlen(a.hash), 32u);
  expect_no_problem({.ranks = 6, .node_of = {0, 1, 1, 2, 2, 2}},
                    [&](MPI_Comm comm) { mpi::expect_works(memory, comm); });
}

void expect_refused(int code, quadrille_schedule& schedule, int error_class,
                    const std::string& part) {
  expect_error(code, error_class, part);
  quadrille_schedule_info info{};
  info.size = sizeof info;
  expect_error(quadrille_info(schedule, &info), error_class, part);
  ASSERT_NE(schedule, QUADRILLE_SCHEDULE_NULL);
  EXPECT_EQ(quadrille_free(&schedule), MPI_SUCCESS);
  EXPECT_EQ(schedule, QUADRILLE_SCHEDULE_NULL);
}

// Loading fails, and so does every use of the handle except to free it.
TEST(Load, RefusesForeignFiles) {
  quadrille_schedule schedule = 12345;
  const auto refused = [&](const std::string& path, int error_class, const std::string& part) {
    expect_refused(quadrille_load_file(path.c_str(), &schedule), schedule, error_class, part);
  };
  refused(".", MPI_ERR_FILE, ".: ");
  refused("", MPI_ERR_NO_SUCH_FILE, "No such file");
  refused("/dev/zero", MPI_ERR_FILE, "/dev/zero: longer than 16777216 bytes");
  refused("tests/" + std::string(200, 'a') + "/" + std::string(190, 'b') + "/end.qs",
          MPI_ERR_NO_SUCH_FILE, "end.qs: No such file or directory");
  expect_refused(quadrille_load_file(nullptr, &schedule), schedule, MPI_ERR_ARG,
                 "the path is NULL");
  expect_refused(quadrille_load_memory("#!/bin/sh\n", 10, &schedule), schedule, MPI_ERR_FILE,
                 "schedule in memory: not a schedule file");
  expect_refused(quadrille_load_memory(nullptr, 10, &schedule), schedule, MPI_ERR_ARG,
                 "the bytes are NULL");
}

TEST(Load, RefusesNoPlaceForTheHandle) {
  for (const int code :
       {quadrille_load_file("x.qs", nullptr), quadrille_load_memory("x", 1, nullptr)})
    expect_error(code, MPI_ERR_ARG, "the place for the schedule is NULL");
}

TEST(Handle, ThatIsNullStaleOrGarbageIsAnErrorEverywhere) {
  Schedule schedule(file_of({1}));
  std::vector<quadrille_schedule> handles = {QUADRILLE_SCHEDULE_NULL, schedule};
  schedule.free();
  // A new handle uses the slot of the freed one, which stays invalid.
  const Schedule next(file_of({1}));
  EXPECT_NE(quadrille_schedule{next}, handles[1]);
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    handles.push_back(random());
    handles.push_back(random() << 32 | (random() % 16));
  }
  expect_no_problem({}, [&](MPI_Comm comm) {
    int buffer[4] = {0};
    quadrille_schedule_info info{};
    info.size = sizeof info;
    for (const quadrille_schedule handle : handles) {
      quadrille_schedule copy = handle;
      expect_error(quadrille_free(&copy), MPI_ERR_ARG, "the schedule is null or was freed before");
      EXPECT_EQ(copy, handle);
      for (const int code :
           {quadrille_info(handle, &info), quadrille_bind(handle, comm, nullptr),
            quadrille_alltoall(handle, buffer, 1, MPI_INT, buffer + 2, 1, MPI_INT, comm)})
        expect_error(code, MPI_ERR_ARG, "the schedule is null or was freed");
      if (testing::Test::HasFailure()) FAIL() << std::hex << handle;
    }
    expect_error(quadrille_free(nullptr), MPI_ERR_ARG, "NULL");
    mpi::expect_works(next, comm);
  });
}

TEST(Handle, OfEachOfManySchedulesIsItsOwn) {
  std::vector<std::unique_ptr<Schedule>> schedules;
  for (int i = 0; i < 100; ++i)
    schedules.push_back(std::make_unique<Schedule>(file_of({2 + i % 2})));
  for (size_t i = 0; i < schedules.size(); i += 3) schedules[i]->free();
  for (size_t i = 0; i < schedules.size(); ++i) {
    if (i % 3 == 0) continue;
    EXPECT_EQ(info_of(*schedules[i]).ranks, 2 + static_cast<int>(i % 2));
  }
}

TEST(Info, SaysThatNoRanksAndNodesAreGivenForAnyNodes) {
  const Schedule schedule(program_named("alltoall hierarchical-factor").file);
  expect_no_problem({.ranks = 3}, [&](MPI_Comm comm) {
    mpi::expect_works(schedule, comm);
    EXPECT_EQ(info_of(schedule).ranks, 0);
    EXPECT_EQ(info_of(schedule).nodes, 0);
    EXPECT_STREQ(info_of(schedule).algorithm, "hierarchical-factor");
  });
}

TEST(Info, RefusesAStructWithoutItsSize) {
  const Schedule schedule(file_of({1}));
  quadrille_schedule_info info{};
  expect_error(quadrille_info(schedule, &info), MPI_ERR_ARG, "its size field is not set");
  expect_error(quadrille_info(schedule, nullptr), MPI_ERR_ARG, "info is NULL");
}

}  // namespace quadrille::net::handles_test
