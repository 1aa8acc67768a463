// Tests in which memory runs out: each allocation of a rank fails in turn.
#ifndef QUADRILLE_TESTS_NET_SHORTAGE_H_
#define QUADRILLE_TESTS_NET_SHORTAGE_H_

#include <string>
#include <vector>

#include "tests/net/jobs.h"

namespace quadrille::net {

// What the runtime allocates at the running rank. Needs programs linked with
// --wrap=malloc,--wrap=calloc,--wrap=realloc.
struct Allocations {
  long count = 0;
  long failing = 0;  // number of the allocation that fails, from 1; 0 for none
  long bytes = 0;    // in all allocations
};
extern Allocations allocations;

// While this object exists, each of the simulation's `ranks` ranks has its own count of allocations.
class CountedAllocations {
 public:
  explicit CountedAllocations(int ranks);
  CountedAllocations(const CountedAllocations&) = delete;
  CountedAllocations& operator=(const CountedAllocations&) = delete;
  ~CountedAllocations();
};

// In a simulation, arm() lets this rank's n-th allocation from now on fail. disarm() returns whether it has failed.
void arm(long n);
bool disarm();

// Calls on one binding. The call number `at` runs out of memory.
struct Shortage {
  const Scheduled& scheduled;
  Ways ways;
  std::vector<CollectiveCall> calls;
  size_t at = 0;
  bool is_persistent = false;  // whether that call is persistent
  bool while_binding = false;  // a second binding, before the calls, runs out of memory instead
  std::string text() const;
};

// Each rank is the victim in turn. No rank may wait forever. If a call runs out of memory, it must end the job or
// still be correct. Binding and making a persistent call may instead return one error at all ranks; then no buffer is
// touched, and later calls are correct. Returns the greatest number of allocations.
long expect_no_harm(const Shortage& shortage);

}  // namespace quadrille::net

#endif  // QUADRILLE_TESTS_NET_SHORTAGE_H_
