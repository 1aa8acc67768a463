// Checks a program on all topologies of few ranks.
//
// A program sees the node sizes in ascending order, so their order makes no other topology. If the program is for two
// groups, the ranks of both groups count together, and different groups are tried in both orders.
#pragma once

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

// The most ranks that a check allows. More ranks have so many topologies that it would take hours.
inline constexpr int64_t kMostRanksOfAll = 16;

// Returns every topology of one or two groups with at most `up_to` ranks, in ascending order of ranks.
std::vector<Groups> all_topologies(int groups, int64_t up_to);

struct AllTopologies {
  int64_t checked = 0;         // topologies that the program serves, up to the first that fails
  int64_t refused = 0;         // topologies that its requirements refuse
  int64_t calls = 0;           // calls walked
  bool refuses_calls = false;  // some topology is refused because of the calls that are tried
  std::optional<FailingJob> failing;  // one on the fewest ranks, if any
};

// Reports progress: `done` of `all` topologies are finished, and `nodes` describes what comes next.
using TellTopology = std::function<void(int64_t done, int64_t all, const std::string& nodes)>;

// Walks calls_to_check() on each topology: all roots, four lists of counts. It gives a parameter of the file each
// value from 0 to the number of ranks, and a parameter of the call the least count. If the program uses counts, it
// also tries the lists of counts_tried() on few ranks. Errors name the topology on which the program cannot be bound.
Result<AllTopologies> check_all_topologies(const Program& program, int64_t up_to,
                                           std::optional<int64_t> ports, const TellTopology& tell);

// Returns the nodes of each group: "1,2 and 3".
std::string nodes_text(const Groups& groups);

}  // namespace quadrille::verifier
