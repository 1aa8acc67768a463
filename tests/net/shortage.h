// Shortage of memory: each allocation of a rank fails in turn.
#ifndef QUADRILLE_TESTS_NET_SHORTAGE_H_
#define QUADRILLE_TESTS_NET_SHORTAGE_H_

#include <string>
#include <vector>

#include "tests/net/jobs.h"

namespace quadrille::net {

// The running rank's allocations by the runtime, in programs linked with --wrap=malloc,--wrap=calloc,--wrap=realloc.
struct Allocations {
  long count = 0;
  long failing = 0;  // the number of the one that fails, from 1; 0: none
  long bytes = 0;    // in total
};
extern Allocations allocations;

// While it exists, each rank of a simulation of that many has its own count of allocations.
class CountedAllocations {
 public:
  explicit CountedAllocations(int ranks);
  CountedAllocations(const CountedAllocations&) = delete;
  CountedAllocations& operator=(const CountedAllocations&) = delete;
  ~CountedAllocations();
};

// Within a simulation: the n-th allocation of this rank from now on fails. `disarm` says whether that happened.
void arm(long n);
bool disarm();

// Calls on one binding, one of which is short of memory.
struct Shortage {
  const Scheduled& scheduled;
  Ways ways;
  std::vector<CollectiveCall> calls;
  size_t at = 0;
  bool is_persistent = false;  // the call that is short of memory
  bool while_binding = false;  // a second binding, before the calls, is short of memory instead
  std::string text() const;
};

// Each rank is the victim in turn. No rank may wait forever. A call that is short of memory must end the job, or be correct
// all the same. Binding and making a persistent call may return an error instead, the same one at all ranks; then nothing is
// touched, and later calls are correct. Returns the greatest number of allocations.
long expect_no_harm(const Shortage& shortage);

}  // namespace quadrille::net

#endif  // QUADRILLE_TESTS_NET_SHORTAGE_H_
