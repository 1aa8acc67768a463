// An all-to-all on given nodes in the least time, for the model of Sanders and Traeff 2002 (verifier/port_accounting.h).
//
// No message waits for another, so such a schedule is an edge coloring: choose how often each matching of nodes meets, so
// that nodes U and V meet once for each pair of their ranks. A meeting takes 2. A node that meets no other has 2 for work
// inside. If T is the lower bound and the nodes meet for T div 2 rounds, each node has room for its work inside. Z3 solves
// this integer program. The lower bound certifies that no schedule is faster.
#ifndef QUADRILLE_VERIFIER_PROVE_COLORING_H_
#define QUADRILLE_VERIFIER_PROVE_COLORING_H_

#include <cstdint>
#include <vector>

#include "schedule/result.h"
#include "schedule/topology.h"

namespace quadrille::verifier {

// So many rounds in each of which these nodes meet: meets[a] is the node that meets node a, or a.
struct Meetings {
  std::vector<int64_t> meets;
  int64_t rounds;
};

struct Coloring {
  std::vector<Meetings> meetings;  // of different matchings
  int64_t time = 0;                // the lower bound: twice the number of rounds, or 1 more
};

inline constexpr int kMostColoredNodes = 8;
inline constexpr unsigned kMostColoringWork = 20'000'000;  // Z3's count; 8 nodes take 100,000

// Errors: more nodes than that, or Z3 finds no answer within that work.
Result<Coloring> best_coloring(const Topology& topology, unsigned most_work = kMostColoringWork);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_COLORING_H_
