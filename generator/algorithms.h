// One function an algorithm, each defined in the file of its name.
#ifndef QUADRILLE_GENERATOR_ALGORITHMS_H_
#define QUADRILLE_GENERATOR_ALGORITHMS_H_

#include "generator/registry.h"

namespace quadrille {

Algorithm factor();                   // factor.cc
Algorithm factor_even();              // factor_even.cc
Algorithm xor_exchange();             // xor.cc
Algorithm linear();                   // linear.cc
Algorithm spread_out();               // spread_out.cc
Algorithm scattered();                // spread_out.cc
Algorithm pairwise();                 // spread_out.cc
Algorithm bruck_alltoall();           // bruck_alltoall.cc
Algorithm tuna();                     // tuna.cc
Algorithm hierarchical_factor();      // hierarchical.cc
Algorithm hierarchical_circle();      // hierarchical.cc
Algorithm tuna_coalesced();           // tuna_nodes.cc
Algorithm tuna_staggered();           // tuna_nodes.cc
Algorithm hierarchical_overlapped();  // hierarchical_overlapped.cc

Algorithm linear_ring();            // linear_ring.cc
Algorithm blocked_ring();           // blocked_ring.cc
Algorithm blocked_ring_nodes();     // blocked_ring_nodes.cc
Algorithm blocked_ring_blocking();  // blocked_ring_blocking.cc
Algorithm bruck();                  // bruck.cc
Algorithm recursive_doubling();     // recursive_doubling.cc
Algorithm neighbor_exchange();      // neighbor_exchange.cc

// The option of the flat algorithms and the hierarchical ones: what becomes of a rank's block to
// itself.
Option self_loops_option();

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_ALGORITHMS_H_
