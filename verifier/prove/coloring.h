// Finds a fastest all-to-all on given nodes in the model of Sanders and Traeff 2002 (verifier/port_accounting.h).
//
// No message depends on another, so a schedule is an edge coloring. In a round, the nodes of a matching exchange in
// pairs, which takes 2 units of time. Nodes U and V meet once for each pair of their ranks. Nodes without a partner
// exchange inside. If T is the lower bound on the time, T div 2 rounds leave each node enough time for that. Z3 finds
// the number of rounds of each matching, an integer program. The lower bound shows that no schedule is faster.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/result.h"
#include "schedule/topology.h"

namespace quadrille::verifier {

// A matching, and the number of its rounds. meets[a] is the node that node a meets, or a itself if it meets none.
struct Meetings {
  std::vector<int64_t> meets;
  int64_t rounds;
};

struct Coloring {
  std::vector<Meetings> meetings;  // each with a different matching
  int64_t time = 0;                // the lower bound: twice the number of rounds, or 1 more
};

inline constexpr int kMostColoredNodes = 8;
inline constexpr unsigned kMostColoringWork = 20'000'000;  // Z3's count; 8 nodes take 100,000

// Errors: more than kMostColoredNodes nodes, or Z3 finds no answer within `most_work` units (rlimit).
Result<Coloring> best_coloring(const Topology& topology, unsigned most_work = kMostColoringWork);

}  // namespace quadrille::verifier
