// Runs a program and one call of it over the simulated MPI, and records the outcome on each rank.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/net/jobs.h"
#include "tests/support/random_programs.h"
#include "verifier/check.h"

namespace quadrille::net {

struct Fate {
  std::vector<int> bound, called;  // error class of each rank; -1 if it did not end
  bool right = true;               // whether the bytes are right at every rank whose call succeeded
  std::vector<std::string> problems;

  bool is_bound() const;
  bool succeeds() const;
  bool waits() const;
};

// One call of any collective, by a program on fixed nodes.
struct CollectiveTrial {
  // Draws the call and the way to bind. Ranks have the schedule's numbers, or else any order.
  CollectiveTrial(const RandomCase& drawn, uint64_t seed, bool is_in_order = true);

  // Returns the checker's report on the call, or nullopt if it does not bind. The report includes the empty call that
  // binding tries. If two groups are alike, either may be the schedule's first, except where the root decides.
  std::optional<verifier::Report> report() const;
  // Returns the report on the call with root 0, for which binding makes a plan.
  std::optional<verifier::Report> report_of_binding() const;
  // Runs the trial. If it hangs for a minute, prints its text and ends the process.
  Fate run();
  std::string text() const;

  const RandomCase& drawn;
  Scheduled scheduled;
  CollectiveCall call;
  Ways ways;
  bool is_persistent, is_in_order;
  bool is_right = true;  // whether the call must be correct
  int entered = 0;       // how many ranks have entered the call

 private:
  std::optional<verifier::Report> checked(const std::vector<std::vector<int64_t>>& counts,
                                          int64_t root) const;
  Machine machine() const;
  std::vector<std::vector<int64_t>> counts() const;  // in the schedule's order of ranks
  int call_once(CollectivePart& part, quadrille_schedule schedule, MPI_Comm comm);
  void at_rank(MPI_Comm comm, Fate& fate);
};

}  // namespace quadrille::net
