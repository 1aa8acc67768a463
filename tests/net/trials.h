// A program and one call of it, run over the simulated MPI: the outcome on each rank.
#ifndef QUADRILLE_TESTS_NET_TRIALS_H_
#define QUADRILLE_TESTS_NET_TRIALS_H_

#include <optional>
#include <string>
#include <vector>

#include "tests/net/jobs.h"
#include "tests/support/random_programs.h"
#include "verifier/check.h"

namespace quadrille::net {

struct Fate {
  std::vector<int> bound, called;  // error classes, by rank; -1 if it did not end
  bool right = true;               // if all calls succeeded
  std::vector<std::string> problems;

  bool is_bound() const;
  bool succeeds() const;
  bool waits() const;
};

// A call of any collective by a program on fixed nodes.
struct CollectiveTrial {
  // Draws the call and the way to bind. Ranks are numbered as in the schedule, or else in any order.
  CollectiveTrial(const RandomCase& drawn, uint64_t seed, bool is_in_order = true);

  // The checker's report on the call; empty if it does not bind. Binding tries a call without bytes. If two groups are
  // alike, either may be the schedule's first one, except the root's.
  std::optional<verifier::Report> report() const;
  // The same for a call with root 0, for which binding makes a plan.
  std::optional<verifier::Report> report_of_binding() const;
  // If a trial hangs for a minute, prints its text and ends the process.
  Fate run();
  std::string text() const;

  const RandomCase& drawn;
  Scheduled scheduled;
  CollectiveCall call;
  Ways ways;
  bool is_persistent, is_in_order;
  bool is_right = true;  // expected: the call is correct
  int entered = 0;       // the number of ranks that entered

 private:
  std::optional<verifier::Report> checked(const std::vector<std::vector<int64_t>>& counts,
                                          int64_t root) const;
  Machine machine() const;
  std::vector<std::vector<int64_t>> counts() const;  // by rank of the schedule
  int call_once(CollectivePart& part, quadrille_schedule schedule, MPI_Comm comm);
  void at_rank(MPI_Comm comm, Fate& fate);
};

}  // namespace quadrille::net

#endif  // QUADRILLE_TESTS_NET_TRIALS_H_
