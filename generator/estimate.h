// The time of a call of a program, by simulation of its plans (simulate/engine.h).
#ifndef QUADRILLE_GENERATOR_ESTIMATE_H_
#define QUADRILLE_GENERATOR_ESTIMATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulate/machine.h"
#include "verifier/call.h"

namespace quadrille {

// The collective, its counts, and the nodes.
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

// Whether a workload of the collective may have counts.
bool has_counts(Collective collective);

// The sends or receives of ranks, whichever are more: each number is the maximum over all ranks.
struct Work {
  int64_t between = 0, inside = 0;              // messages
  int64_t bytes_between = 0, bytes_inside = 0;  // in these messages
  int64_t bytes_copied = 0;                     // into messages, out of them, or combined
  friend bool operator==(const Work&, const Work&) = default;
};

struct Estimate {
  int64_t time = 0;  // nanoseconds
  // The call has too many messages to be simulated. The time follows from calls on fewer ranks, and `work` is that of the
  // largest of them.
  bool is_fitted = false;
  Work work = {};
};

// A simulated call has at most so many messages, and parts of messages and copies. That takes about a second.
inline constexpr int64_t kMostSimulated = 1 << 20;
// In a call of up to so many messages, messages share ports, as on real networks. In a larger one a port serves one after
// another, which is simulated faster.
inline constexpr int64_t kMostShared = 1 << 14;

// Without a given root, the root is rank 0. Between groups it is rank 0 of either group, and the time is the mean of
// the two. `parameters`, such as "B=4096", override the file's rule. An element of a reduction is a byte.
// The time of a call that is too large is extrapolated. The nodes are halved, down to two, until two such calls could be
// simulated; if that fails, the ranks of each node. Each further doubling multiplies the time by the factor between these
// two. The extrapolated time is not below least_time().
// Errors: the program does not serve the nodes or the counts.
Result<Estimate> estimate(const Program& program, const Job& job, const Workload& workload,
                          const std::vector<std::string>& parameters = {});

// A lower bound in nanoseconds for the time of every schedule: the bytes that must enter or leave the busiest node or
// rank.
int64_t least_time(const Workload& workload);

// The call of a program. Block sizes are chosen as in the runtime. Errors: the call has wrong counts or parameters.
Result<Call> call_of(const Program& program, const Job& job, const Workload& workload,
                     const std::vector<std::string>& parameters = {});

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_ESTIMATE_H_
