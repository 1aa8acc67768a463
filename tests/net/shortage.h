// Memory that runs out: each allocation of a rank fails in turn.
#ifndef QUADRILLE_TESTS_NET_SHORTAGE_H_
#define QUADRILLE_TESTS_NET_SHORTAGE_H_

#include <string>
#include <vector>

#include "tests/net/jobs.h"

namespace quadrille::net {

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

// Calls on one binding, of which one is short of memory.
struct Shortage {
  const Scheduled& scheduled;
  Ways ways;
  std::vector<CollectiveCall> calls;
  size_t at = 0;
  bool is_persistent = false;  // that call
  bool while_binding = false;  // another binding before the calls is short of memory instead
  bool all_ranks = false;      // memory runs out at all of them
  std::string text() const;
};

// Each rank is the victim in turn. Expects: no rank waits for ever; where memory ran out, the call says so, or all is
// right all the same; the others come to an end, and what is a success is right; nothing beside the blocks is touched;
// the calls that follow are right. How many allocations there were, at most.
long expect_survival(const Shortage& shortage);

}  // namespace quadrille::net

#endif  // QUADRILLE_TESTS_NET_SHORTAGE_H_
