// One rank after another refuses what it should do, and no other rank waits for it. All results are the same as
// without the library. FROM in the environment is the number of the first request that is refused, and ROUNDS the number
// of calls of each kind beside it.
#include <fmt/core.h>

#include "tests/mpi/calls.h"
#include "tests/mpi/handles.h"
#include "tests/support/effort.h"

// The tool refuses the n-th request from now on, or none if n is 0. Returns the number of requests before.
extern "C" __attribute__((weak)) long tool_refuse(const char* kind, long n);

namespace quadrille::mpi {
namespace {

constexpr int kRounds = 40;

int made(const CollectiveCall& call, MPI_Comm comm, Mistake mistake) {
  CollectivePart part(call, own());
  int all_but_this = all() - 1;
  part.mistake(mistake);
  const int code = part.run(QUADRILLE_SCHEDULE_NULL, comm, all_but_this);
  EXPECT_TRUE(mistake != Mistake::kNone || code != MPI_SUCCESS || part.is_right()) << call.text();
  return code;
}

bool may_have(const CollectiveCall& call, Mistake mistake) {
#ifndef OPEN_MPI
  // MPICH 4.0 itself crashes.
  if (mistake == Mistake::kNegative && reduces(call.collective)) return false;
#endif
  if (mistake == Mistake::kRoot) return rooted(call.collective);
  if (mistake == Mistake::kOperation) return reduces(call.collective);
  return call.collective != Collective::kBarrier;
}

// Returns the error classes of the wrong calls, as text.
std::string refused(MPI_Comm comm, int one) {
  std::string classes;
  for (const CollectiveCall& call : each_function({all(), 0}))
    for (const Mistake mistake :
         {Mistake::kNegative, Mistake::kType, Mistake::kOperation, Mistake::kRoot}) {
      if (!may_have(call, mistake)) continue;
      if (own() == one) {
        const int code = made(call, comm, mistake);
        int error_class = MPI_SUCCESS;
        EXPECT_NE(code, MPI_SUCCESS) << "a wrong call is no error: " << call.text();
        MPI_Error_class(code, &error_class);
        classes += fmt::format(" {}", error_class);
      }
      EXPECT_EQ(made(call, comm, Mistake::kNone), MPI_SUCCESS) << call.text();
    }
  return classes;
}

TEST(OneRank, WithWrongArgumentsKeepsNobodyWaiting) {
  std::string classes;
  for (int one = 0; one < all(); ++one) {
    const Communicator comm(MPI_COMM_WORLD, 0, own());
    for (int round = 0; round < kRounds; ++round) {
      const std::string of_round = refused(comm, one);
      if (own() == one) classes = of_round;
    }
  }
  fmt::print("rank {} has the classes{}\n", own(), classes);
}

// The tool refuses the library's n-th request of that kind at the rank, on a new communicator. n skips more and more
// numbers. If memory for a call's schedule runs out, the call is an error, as it would be in MPI.
void expect_no_wait(const char* kind) {
  const auto rounds = static_cast<int>(from_environment("ROUNDS", 12));
  int was_refused = 1;
  for (long n = static_cast<long>(from_environment("FROM", 1)); was_refused; n += 1 + n / 8) {
    const int one = static_cast<int>(n % all());
    const Communicator comm(MPI_COMM_WORLD, 0, own());
    int errors = 0;
    if (own() == one) tool_refuse(kind, n);
    for (const CollectiveCall& call : each_function({all(), 0}))
      for (int round = 0; round < rounds; ++round)
        errors += made(call, comm, Mistake::kNone) != MPI_SUCCESS;
    EXPECT_LT(errors, 2) << "a right call is an error again";
    if (own() == one) was_refused = tool_refuse(kind, 0) >= n;
    PMPI_Bcast(&was_refused, 1, MPI_INT, one, MPI_COMM_WORLD);
  }
}

TEST(OneRank, WithoutMemoryKeepsNobodyWaiting) { expect_no_wait("memory"); }

TEST(OneRank, WithoutAttributesKeepsNobodyWaiting) { expect_no_wait("attributes"); }

}  // namespace
}  // namespace quadrille::mpi
