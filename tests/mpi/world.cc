// main and the helpers of world.h. Rank 0 prints the progress, the others only failures. At the end each rank prints
// how many tests it ran (mpi_test.sh counts those lines).
#include "tests/mpi/world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

namespace quadrille::mpi {

int rank_in(MPI_Comm comm) {
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int ranks_of(MPI_Comm comm) {
  int ranks = -1;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

Bytes read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

std::string schedule_path(const std::string& name) { return "tests/mpi/schedules/" + name; }

std::vector<std::string> schedule_paths(int ranks, const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator("tests/mpi/" + folder)) {
    const Schedule schedule(entry.path().string());
    quadrille_schedule_info info{};
    info.size = sizeof info;
    EXPECT_EQ(quadrille_info(schedule, &info), MPI_SUCCESS);
    if (info.ranks == ranks) paths.push_back(entry.path().string());
  }
  EXPECT_FALSE(paths.empty()) << "no schedule for " << ranks << " ranks";
  std::sort(paths.begin(), paths.end());
  return paths;
}

Schedule::Schedule(const std::string& path) {
  EXPECT_EQ(quadrille_load_file(path.c_str(), &handle_), MPI_SUCCESS) << path;
}

Schedule::Schedule(const Bytes& file) {
  EXPECT_EQ(quadrille_load_memory(file.data(), file.size(), &handle_), MPI_SUCCESS);
}

Schedule::~Schedule() { free(); }

void Schedule::free() {
  if (handle_ == QUADRILLE_SCHEDULE_NULL) return;
  EXPECT_EQ(quadrille_free(&handle_), MPI_SUCCESS);
}

quadrille_bind_options trusted(int window, int synchronous, int64_t block_size) {
  return {sizeof(quadrille_bind_options), QUADRILLE_LAYOUT_TRUSTED, window, synchronous,
          block_size};
}

Communicator::Communicator(MPI_Comm of, int color, int key) {
  EXPECT_EQ(MPI_Comm_split(of, color, key, &comm_), MPI_SUCCESS);
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
}

Communicator::~Communicator() { free(); }

void Communicator::free() {
  if (comm_ == MPI_COMM_NULL) return;
  EXPECT_EQ(MPI_Comm_free(&comm_), MPI_SUCCESS);
}

std::string last_error() {
  char text[MPI_MAX_ERROR_STRING] = "";
  quadrille_last_error(text, sizeof text);
  return text;
}

void expect_error(int code, int error_class, const std::string& part) {
  [[maybe_unused]] char text[MPI_MAX_ERROR_STRING] = "";
  [[maybe_unused]] int length = 0;
  ASSERT_NE(code, MPI_SUCCESS) << "no error; expected: " << part;
  EXPECT_EQ(quadrille_error_class(code), error_class);
  EXPECT_NE(last_error().find(part), std::string::npos) << last_error();
  int mpi_class = 0;
  MPI_Error_class(code, &mpi_class);
  EXPECT_EQ(mpi_class, error_class);
#if defined(OPEN_MPI)
  MPI_Error_string(code, text, &length);
  EXPECT_EQ(text, last_error());
#endif
}

void expect_error_everywhere(MPI_Comm comm, int code, int error_class) {
  int mine = quadrille_error_class(code), least = 0, most = 0;
  MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, comm);
  MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, comm);
  EXPECT_EQ(least, error_class);
  EXPECT_EQ(most, error_class);
}

namespace {

class Barriers : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { MPI_Barrier(MPI_COMM_WORLD); }
};

class Failures : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& test) override { name_ = test.name(); }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::printf("rank %d, %s: %s:%d: %s\n", rank_in(MPI_COMM_WORLD), name_.c_str(),
                result.file_name() ? result.file_name() : "", result.line_number(),
                result.message());
    std::fflush(stdout);
  }
  std::string name_;
};

int run_all() {
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  const int rank = rank_in(MPI_COMM_WORLD);
  if (rank != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new Failures);
  }
  listeners.Append(new Barriers);
  const int failed = RUN_ALL_TESTS();
  const testing::UnitTest& test = *testing::UnitTest::GetInstance();
  if (!failed)
    std::printf("rank %d ran %d tests, all passed\n", rank, test.successful_test_count());
  std::fflush(stdout);
  return failed;
}

}  // namespace
}  // namespace quadrille::mpi

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  testing::InitGoogleTest(&argc, argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int failed = quadrille::mpi::run_all();
  MPI_Finalize();
  return failed;
}
