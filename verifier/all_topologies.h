// Checks a program on all topologies of few ranks.
//
// Programs see the sizes of nodes in ascending order, so each set of sizes is one topology. Between groups the two groups
// together have so many ranks, and both orders of two different groups are tried.
#ifndef QUADRILLE_VERIFIER_ALL_TOPOLOGIES_H_
#define QUADRILLE_VERIFIER_ALL_TOPOLOGIES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "schedule/program.h"
#include "schedule/result.h"
#include "schedule/topology.h"
#include "verifier/prove/refute.h"

namespace quadrille::verifier {

// More ranks have so many topologies that a check would take hours.
inline constexpr int64_t kMostRanksOfAll = 16;

// Every topology of up to that many ranks, of one group or of two, those of fewer ranks first.
std::vector<Groups> all_topologies(int groups, int64_t up_to);

struct AllTopologies {
  int64_t checked = 0;         // topologies that the program serves, up to the first that fails
  int64_t refused = 0;         // topologies that its requirements refuse
  int64_t calls = 0;           // walked
  bool refuses_calls = false;  // some topology is refused because of the calls that are tried
  std::optional<FailingJob> failing;  // on the fewest ranks
};

// Reports progress: how many topologies of all are done, and the one that is next.
using TellTopology = std::function<void(int64_t done, int64_t all, const std::string& nodes)>;

// Walks the calls that `check` walks on each topology: all roots, four lists of counts. Parameters of the file have all
// values from 0 to the number of ranks, and those of the call are the least count. If counts matter, it also walks those of
// counts_tried(). Errors name the topology on which the program cannot be bound.
Result<AllTopologies> check_all_topologies(const Program& program, int64_t up_to,
                                           std::optional<int64_t> ports, const TellTopology& tell);

// "1,2 and 3": the nodes of each group.
std::string nodes_text(const Groups& groups);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_ALL_TOPOLOGIES_H_
