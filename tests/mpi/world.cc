// main of the MPI test programs. Every rank runs the same tests in the same order, with a barrier before each. Rank 0
// prints its progress, other ranks only failures. At the end each rank prints how many tests it ran, for mpi_test.sh.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <string>

#include "tests/mpi/handles.h"

namespace quadrille::mpi {
namespace {

class Barriers : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { MPI_Barrier(MPI_COMM_WORLD); }
};

class Failures : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& test) override { name_ = test.name(); }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::printf("rank %d, %s: %s:%d: %s\n", own(), name_.c_str(),
                result.file_name() ? result.file_name() : "", result.line_number(),
                result.message());
    std::fflush(stdout);
  }
  std::string name_;
};

int run_all() {
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  const int rank = own();
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
