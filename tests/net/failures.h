// Calls in which something fails: each says what it came to, and whether it changed what it may not.
#ifndef QUADRILLE_TESTS_NET_FAILURES_H_
#define QUADRILLE_TESTS_NET_FAILURES_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/mpi/buffer.h"
#include "tests/net/jobs.h"

namespace quadrille::net {

enum class Entrance { kCounted, kInPlace, kPersistent, kPersistentInPlace };

// What a rank calls with: buffers whose every byte is known.
class Attempt {
 public:
  // Units of the blocks that this rank sends and receives, by rank; of an allgather, of all contributions.
  struct Units {
    std::function<int(int source, int target)> sent, received;
  };
  Attempt(Collective collective, Entrance entrance, MPI_Comm comm, unsigned seed,
          const mpi::Shape& send, const mpi::Shape& receive, const Units& units);

  // The class of the error, or MPI_SUCCESS. Of a persistent call, of all that belongs to it.
  int call(quadrille_schedule schedule);
  // Whether every block that was to come is there.
  bool is_right();
  // Expects all bytes that belong to no block to be as they were, and those to be sent.
  void expect_rest_untouched(const std::string& what);

 private:
  int persistent(quadrille_schedule schedule);
  uint8_t expected_byte(int block, int64_t k) const;

  Collective collective_;
  Entrance entrance_;
  MPI_Comm comm_;
  unsigned seed_;
  int own_;
  const mpi::Shape &send_, &receive_;
  mpi::Side out_, in_;
  mpi::Buffer from_, to_;
  std::optional<mpi::Buffer> sent_;  // what the send buffer held
};

// While there is one, each rank of a simulation of so many has its own count of allocations.
class CountedAllocations {
 public:
  explicit CountedAllocations(int ranks);
  CountedAllocations(const CountedAllocations&) = delete;
  CountedAllocations& operator=(const CountedAllocations&) = delete;
  ~CountedAllocations();
};

// Within a simulation, memory runs out at this rank: its n-th allocation from here on fails. `disarm` says whether
// that happened.
void arm(long n);
bool disarm();

// One failing allocation after the other, at the first and at the last rank.
struct Shortage {
  Scheduled scheduled;
  Ways ways;
  Entrance entrance = Entrance::kCounted;
  size_t shape = 0;     // of the integers, of the receive buffer
  int large_units = 2;  // of some blocks
  bool while_binding = false;
  bool all_ranks = false;  // memory runs out at all of them
  std::string text() const;
};

// Expects: no rank waits for ever; where memory ran out, the call says so, or all is right all the same; the others
// come to an end, and what is a success is right; nothing beside the blocks is touched; the next call is right. How
// many allocations there were.
long expect_survival(const Shortage& shortage);

// Runs `body` at all ranks, with the schedule bound, and gives what each comes to, as an error class. Expects that
// there is no problem.
std::vector<int> outcomes(const Scheduled& scheduled, const Ways& ways,
                          const std::function<int(quadrille_schedule, MPI_Comm)>& body);

// Where a case may crash or go on for hours: in a process of its own, for so many seconds at most.
template <typename Body>
void expect_survives(const Body& body) {
  EXPECT_EXIT(
      {
        alarm(20);
        body();
        _exit(testing::Test::HasFailure());
      },
      testing::ExitedWithCode(0), "");
}

// All ranks' calls come to that.
void expect_everywhere(const Scheduled& scheduled, const Ways& ways, int error_class,
                       const std::function<int(quadrille_schedule, MPI_Comm)>& body);

}  // namespace quadrille::net

#endif  // QUADRILLE_TESTS_NET_FAILURES_H_
