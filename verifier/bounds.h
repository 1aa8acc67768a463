// What no all-to-all schedule can beat on these nodes, in the model of Sanders and Traeff 2002: a
// node does one thing at a time; an exchange between two nodes takes 2, a message or copy inside a
// node 1.
#ifndef QUADRILLE_VERIFIER_BOUNDS_H_
#define QUADRILLE_VERIFIER_BOUNDS_H_

#include "schedule/topology.h"

namespace quadrille::verifier {

// The greater of the busiest node's work, 2 n (p - n) + n^2, and, over odd sets S of nodes,
// 2 ceil(e(S) / ((|S| - 1) / 2)), where e(S) counts the rank pairs between nodes of S: no more than
// (|S| - 1) / 2 of these exchanges go on at a time. For each odd size the largest nodes decide, so
// O(N) sets are looked at.
int64_t alltoall_lower_bound(const Topology& topology);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_BOUNDS_H_
