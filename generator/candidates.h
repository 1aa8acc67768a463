// The algorithms for a collective, each with the numbers that take the least time by a model: that of generator/cost.h
// for an all-to-all of one group, that of generator/timing.h for all others.
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
  int64_t bytes = 0;             // of a block, on the average
  verifier::Counts counts =
      {};  // in bytes; empty: each is `bytes`. An all-to-all and a barrier have none
  Machine machine = {};
  bool ordered = false;  // nothing that wants operators to commute
  std::optional<int64_t> root =
      {};  // in the first group; where there is none, `estimate` says which
};

// The result of the model for a program.
struct Estimate {
  std::vector<Traffic> traffic = {};  // of an all-to-all of one group
  Work work = {};                     // of all others
  int64_t time = 0;                   // nanoseconds; INT64_MAX where it is more
};

// Of a collective with a root, where none is given, this is rank 0; between groups that of either, and the time is their
// mean. `parameters`: "B=4096", those of the call that the file's rule does not choose. Errors: the program does not serve the nodes or the counts; or a call takes more than `longest`, which is asked of all
// but all-to-alls of one group.
Result<Estimate> estimate(const Program& program, const Job& job, const Workload& workload,
                          int64_t longest = INT64_MAX,
                          const std::vector<std::string>& parameters = {});

// A lower bound of the time of every schedule in nanoseconds: the bytes that must enter or leave the busiest node or
// rank.
int64_t least_time(const Workload& workload);

// The alpha and beta by which a call chooses its block size: those between nodes if there are several.
LinearModel block_model(const Workload& workload);

// An algorithm with its default options, and the numbers of its file.
struct Candidate : Estimate {
  const Algorithm* algorithm = nullptr;
  std::vector<int64_t> numbers = {};  // in the order of algorithm->numbers
  bool commutative = false;           // for operators that commute
};

// "tuna, radix = 4".
std::string candidate_text(const Candidate& candidate);

// Numbers that are given, by name.
using Fixed = std::map<std::string, int64_t>;

// The best of each algorithm for the collective that serves these nodes, all counts, and has those numbers, in the order
// of their times; of equals the one that the registry has first, with the least numbers. But before all goes,
// of those within a sixty-fourth of the least time, as the model is no more exact, the one whose ranks
// send and copy the fewest blocks or bytes, best a proven one. Only `name` where that is not empty; what is certainly not
// the first is left out unless `all` are wanted. block_count is
// chosen last: a power of two, the least with which there are no fewer rounds, but not so great that a rank
// has more than kInFlightBytes under way where it would have less with another.
std::vector<Candidate> best_candidates(const Workload& workload, const std::string& name,
                                       const Fixed& fixed, bool all = false);
inline constexpr int64_t kInFlightBytes = 1 << 16;

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_CANDIDATES_H_
