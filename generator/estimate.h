// Estimates the time of a call of a program by simulating its plans (simulate/engine.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulate/machine.h"
#include "verifier/call.h"

namespace quadrille {

// A call without a schedule: the collective, its counts, and the nodes and the machine that it runs on.
struct Workload {
  Collective collective = Collective::kAlltoall;
  std::vector<Topology> groups;  // one or two
  int64_t bytes = 0;             // of a block, on average
  // In bytes; empty: each is `bytes`. Always empty if only the two ends of a message know its length.
  verifier::Counts counts = {};
  Machine machine = {};
  bool ordered = false;  // excludes algorithms that need operators to commute
  // In the first group; if not given, `estimate` says which rank it is.
  std::optional<int64_t> root = {};
};

// True if a workload of the collective may have counts.
bool has_counts(Collective collective);

// What a rank does at most: each number is the maximum over all ranks, of their sends or of their receives.
struct Work {
  int64_t between = 0, inside = 0;              // messages
  int64_t bytes_between = 0, bytes_inside = 0;  // in these messages
  int64_t bytes_copied = 0;                     // into messages, out of them, or combined
  friend bool operator==(const Work&, const Work&) = default;
};

struct Estimate {
  int64_t time = 0;  // nanoseconds
  // The call is too large to be simulated. The time follows from calls on fewer ranks, and `work` is that of the
  // largest of them.
  bool is_fitted = false;
  Work work = {};
};

// Calls with more messages, or more parts of messages and copies, are extrapolated. One at the limit takes a second.
inline constexpr int64_t kMostSimulated = 1 << 20;
// So are calls with more iterations of loops, on all ranks together.
inline constexpr int64_t kMostIterations = 1 << 27;
// In calls with up to this number of messages, messages share ports, as on real networks. In larger calls each port
// serves messages in turn, which is simulated faster.
inline constexpr int64_t kMostShared = 1 << 14;

// Estimates a call. Without a given root, the root is rank 0; between groups the time is the mean over rank 0 of
// either group. `parameters`, such as "B=4096", override the file's rule. An element of a reduction is a byte.
// Errors: the program does not serve the nodes or the counts.
//
// A call that is too large is extrapolated: its nodes are halved, down to two, until three halved calls can be
// simulated. If that fails, the ranks of each node are halved. Each doubling back adds a time, and these times grow as
// those of the three calls do. The extrapolated time is not below least_time().
Result<Estimate> estimate(const Program& program, const Job& job, const Workload& workload,
                          const std::vector<std::string>& parameters = {});

// Returns a lower bound of the time of every schedule, in nanoseconds (simulate/bound.h). Without a given root
// between groups, it is the mean over both directions.
int64_t least_time(const Workload& workload);

// Returns the call of a program. It chooses block sizes like the runtime. Errors: the counts or parameters are wrong.
Result<Call> call_of(const Program& program, const Job& job, const Workload& workload,
                     const std::vector<std::string>& parameters = {});

}  // namespace quadrille
