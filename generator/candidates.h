// The algorithms for a collective, each with the numbers that take the least time in a model. The model is that of
// generator/cost.h for an all-to-all of one group, and that of generator/timing.h for all others.
#ifndef QUADRILLE_GENERATOR_CANDIDATES_H_
#define QUADRILLE_GENERATOR_CANDIDATES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "generator/cost.h"
#include "generator/registry.h"
#include "generator/timing.h"
#include "verifier/call.h"

namespace quadrille {

// The collective, its counts, and the nodes.
struct Workload {
  Collective collective = Collective::kAlltoall;
  std::vector<Topology> groups;  // one or two
  int64_t bytes = 0;             // of a block, on average
  // In bytes; empty: each is `bytes`. An all-to-all and a barrier have none.
  verifier::Counts counts = {};
  Machine machine = {};
  bool ordered = false;  // excludes algorithms that need operators to commute
  // In the first group; if not given, `estimate` says which rank it is.
  std::optional<int64_t> root = {};
};

// The result of the model for a program.
struct Estimate {
  std::vector<Traffic> traffic = {};  // for an all-to-all of one group
  Work work = {};                     // for all others
  int64_t time = 0;                   // nanoseconds, at most INT64_MAX
};

// Without a given root, the root is rank 0. Between groups it is rank 0 of either group, and the time is the mean of
// the two. `parameters`: "B=4096", those of the call that the file's rule does not choose. Errors: the program does
// not serve the nodes or the counts; or a call takes more than `longest`, which is not checked for all-to-alls of one
// group.
Result<Estimate> estimate(const Program& program, const Job& job, const Workload& workload,
                          int64_t longest = INT64_MAX,
                          const std::vector<std::string>& parameters = {});

// A lower bound in nanoseconds for the time of every schedule: the bytes that must enter or leave the busiest node or
// rank.
int64_t least_time(const Workload& workload);

// The alpha and beta by which a call chooses its block size: those between nodes if there are several.
LinearModel block_model(const Workload& workload);

// An algorithm with its default options, and the numbers of its file.
struct Candidate : Estimate {
  const Algorithm* algorithm = nullptr;
  std::vector<int64_t> numbers = {};  // in the order of algorithm->numbers
  bool commutative = false;           // for commutative operators
};

// "tuna, radix = 4".
std::string candidate_text(const Candidate& candidate);

// The given numbers, by name.
using Fixed = std::map<std::string, int64_t>;

// The best candidate of each algorithm for the collective that serves these nodes and all counts, with the fixed
// numbers. They are in the order of their times. Of equals, the first is the algorithm that comes first in the
// registry, with the least numbers.
//
// The model is exact to about a sixty-fourth. So of all candidates within that of the least time, the first is the one
// whose ranks send and copy the fewest blocks or bytes, preferably a proven one. If `name` is not empty, only that
// algorithm is tried. Unless `all` are wanted, candidates that cannot be first are left out.
//
// block_count is chosen last. It is the least power of two that needs no more rounds. But it is smaller if a rank
// would have more than kInFlightBytes in flight, and less with another.
std::vector<Candidate> best_candidates(const Workload& workload, const std::string& name,
                                       const Fixed& fixed, bool all = false);
inline constexpr int64_t kInFlightBytes = 1 << 16;

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_CANDIDATES_H_
