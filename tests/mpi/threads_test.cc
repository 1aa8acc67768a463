// Threads that use the library at the same time, each with its own communicators: calls, short-lived bindings,
// persistent calls that outlive their communicators, and errors.
#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "runtime/quadrille.h"
#include "tests/support/effort.h"

namespace {

constexpr int kThreads = 4, kRounds = quadrille::kSanitized ? 10 : 30;
std::atomic<int> checks, failures;
int rank, ranks;

void check(bool holds, int thread, const char* what) {
  ++checks;
  if (holds) return;
  ++failures;
  std::printf("threads_test: rank %d, thread %d: %s\n", rank, thread, what);
}

// Blocks of that many integers, whose values identify thread, source and target.
struct Blocks {
  Blocks(int thread, int ints) : thread(thread), counts(ranks, ints), received(ranks * ints, -1) {
    for (int r = 0; r < ranks; ++r) {
      places.push_back(r * ints);
      sent.insert(sent.end(), ints, 10000 * thread + 100 * rank + r);
      wanted.insert(wanted.end(), ints, 10000 * thread + 100 * r + rank);
    }
  }

  void call(quadrille_schedule schedule, MPI_Comm comm) {
    const int code =
        quadrille_alltoallv(schedule, sent.data(), counts.data(), places.data(), MPI_INT,
                            received.data(), counts.data(), places.data(), MPI_INT, comm);
    check(code == MPI_SUCCESS && received == wanted, thread, "a call brings the blocks");
  }
  quadrille_request make(quadrille_schedule schedule, MPI_Comm comm) {
    quadrille_request request;
    const int code = quadrille_alltoallv_init(
        schedule, sent.data(), counts.data(), places.data(), MPI_INT, received.data(),
        counts.data(), places.data(), MPI_INT, comm, MPI_INFO_NULL, &request);
    check(code == MPI_SUCCESS, thread, "a persistent call is made");
    return request;
  }

  int thread;
  std::vector<int> counts, places, sent, received, wanted;
};

constexpr int kCodes = 4;  // error codes of a class, used in turn: that many errors have their own
                           // texts
std::atomic<int> errors, told;

// An error whose code has a text that no other thread changes at the same time.
void expect_own_error(int thread) {
  quadrille_schedule missing;
  char text[MPI_MAX_ERROR_STRING] = "";
  [[maybe_unused]] int length = 0;
  const std::string path = "no/such-" + std::to_string(thread) + ".qs";
  [[maybe_unused]] const int before = errors++;
  [[maybe_unused]] const int code = quadrille_load_file(path.c_str(), &missing);
  std::this_thread::yield();
#ifdef OPEN_MPI
  MPI_Error_string(code, text, &length);
  // Unless other threads made many errors meanwhile.
  const bool may_differ = errors - before > kCodes;
#else
  quadrille_last_error(text, sizeof text);
  const bool may_differ = true;  // the process has one text
#endif
  const bool is_own = std::string(text).find(path) != std::string::npos;
  told += is_own;
  check(is_own || may_differ, thread, "an error has its own text");
  quadrille_free(&missing);
}

// Each thread begins with another of these.
void one_round(int thread, int round, quadrille_schedule schedule, MPI_Comm own) {
  Blocks blocks(thread, 1 + round % 3 * 3000);
  MPI_Comm comm;
  switch ((thread + round) % 4) {
    case 0: return blocks.call(schedule, own);
    case 1: return expect_own_error(thread);
    case 2:  // a short-lived binding
      MPI_Comm_dup(own, &comm);
      blocks.call(schedule, comm);
      MPI_Comm_free(&comm);
      return;
    default: break;
  }
  // A communicator is freed while other threads free their last persistent calls.
  MPI_Comm_dup(own, &comm);
  quadrille_request first = blocks.make(schedule, comm), second = blocks.make(schedule, comm);
  check(quadrille_start(first) == MPI_SUCCESS && quadrille_wait(first) == MPI_SUCCESS &&
            blocks.received == blocks.wanted,
        thread, "a persistent call brings the blocks");
  check(quadrille_free_request(&second) == MPI_SUCCESS, thread, "a persistent call is freed");
  MPI_Comm_free(&comm);
  check(quadrille_free_request(&first) == MPI_SUCCESS, thread,
        "a persistent call is freed behind its communicator");
}

void work(int thread, MPI_Comm own) {
  quadrille_schedule schedule;
  const char* const file = thread % 2 ? "tests/mpi/any/factor_any.qs" : "tests/mpi/any/tuna_any.qs";
  check(quadrille_load_file(file, &schedule) == MPI_SUCCESS, thread, "a schedule loads");
  for (int round = 0; round < kRounds; ++round) one_round(thread, round, schedule, own);
  quadrille_free(&schedule);
}

}  // namespace

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(provided == MPI_THREAD_MULTIPLE, -1, "the MPI library serves threads");
  MPI_Comm own[kThreads];
  std::vector<std::thread> threads;
  for (MPI_Comm& comm : own) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i, own[i]);
  for (std::thread& thread : threads) thread.join();
  check(told > 0, -1, "errors have texts of their own");
  for (MPI_Comm& comm : own) MPI_Comm_free(&comm);
  MPI_Finalize();
  if (failures == 0) std::printf("rank %d ran %d tests, all passed\n", rank, checks.load());
  return failures != 0;
}
