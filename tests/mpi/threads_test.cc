// Threads use the library at the same time, each with its own communicators. They make calls, short-lived bindings,
// persistent calls that outlive their communicators, and errors.
#include <atomic>
#include <thread>

#include "tests/mpi/calls.h"
#include "tests/mpi/handles.h"
#include "tests/support/effort.h"

namespace quadrille::mpi {
namespace {

constexpr int kThreads = 4, kRounds = kSanitized ? 10 : 30;

// The library reuses this many error codes of a class in turn. Each has its own text.
constexpr int kCodes = 4;
std::atomic<int> errors, told;

// Makes an error, and expects that its code has the text of this error, not of another thread's.
void expect_own_error(int thread) {
  quadrille_schedule missing;
  const std::string path = "no/such-" + std::to_string(thread) + ".qs";
  [[maybe_unused]] const int before = errors++;
  [[maybe_unused]] const int code = quadrille_load_file(path.c_str(), &missing);
  std::this_thread::yield();
#ifdef OPEN_MPI
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  // Other threads may have reused the code if they made many errors meanwhile.
  const bool may_differ = errors - before > kCodes;
#else
  const std::string text = last_error();
  const bool may_differ = true;  // the process has one last error
#endif
  const bool is_own = std::string(text).find(path) != std::string::npos;
  told += is_own;
  EXPECT_TRUE(is_own || may_differ) << text;
  quadrille_free(&missing);
}

// Runs one of four rounds. Each thread begins with a different one.
void one_round(int thread, int round, quadrille_schedule schedule, MPI_Comm comm) {
  CollectiveCall call{Collective::kAlltoall, {all(), 0}};
  call.lengths = round % 3 == 0 ? LengthKind::kOne : LengthKind::kLong;
  call.form = 1;
  call.types = static_cast<unsigned>(round % 4);
  call.seed = static_cast<unsigned>(1000 * thread + round);
  CollectivePart part(call, own()), other(call, own());
  int entered = 0;
  const auto run = [&](MPI_Comm on) {
    EXPECT_EQ(part.run(schedule, on, entered), MPI_SUCCESS) << last_error();
  };
  switch ((thread + round) % 4) {
    case 0: run(comm); break;
    case 1: return expect_own_error(thread);
    case 2: run(Communicator(comm, 0, own())); break;  // a short-lived binding
    default: {
      // Frees a communicator while other threads free their last persistent calls.
      Communicator brief(comm, 0, own());
      quadrille_request first, second;
      EXPECT_EQ(part.make(schedule, brief, &first), MPI_SUCCESS);
      EXPECT_EQ(other.make(schedule, brief, &second), MPI_SUCCESS);
      EXPECT_EQ(quadrille_start(first), MPI_SUCCESS);
      EXPECT_EQ(quadrille_wait(first), MPI_SUCCESS);
      EXPECT_EQ(quadrille_free_request(&second), MPI_SUCCESS);
      brief.free();
      EXPECT_EQ(quadrille_free_request(&first), MPI_SUCCESS);
    }
  }
  EXPECT_TRUE(part.is_right()) << "thread " << thread << ", round " << round;
  part.expect_rest_untouched("thread " + std::to_string(thread));
}

void work(int thread, MPI_Comm comm) {
  const Schedule schedule("tests/mpi/collectives/alltoall/" +
                          std::string(thread % 2 ? "factor" : "tuna") + "_any.qs");
  for (int round = 0; round < kRounds; ++round) one_round(thread, round, schedule, comm);
}

TEST(Threads, UseTheLibraryAtTheSameTime) {
  int level = 0;
  MPI_Query_thread(&level);
  ASSERT_EQ(level, MPI_THREAD_MULTIPLE);
  integer_shapes();  // makes the shapes before the threads start
  mixed_shapes();
  MPI_Comm comms[kThreads];
  std::vector<std::thread> threads;
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i, comms[i]);
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(told, 0) << "no error has a text of its own";
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

}  // namespace
}  // namespace quadrille::mpi
