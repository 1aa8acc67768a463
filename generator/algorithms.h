// One function per algorithm, defined in the file of its name or in the one named beside it.
#pragma once

#include "generator/registry.h"

namespace quadrille {

Algorithm factor();
Algorithm factor_even();
Algorithm xor_exchange();  // xor.cc
Algorithm linear();
Algorithm spread_out();
Algorithm scattered();  // spread_out.cc
Algorithm pairwise();   // spread_out.cc
Algorithm bruck_alltoall();
Algorithm tuna();
Algorithm hierarchical_factor();  // hierarchical.cc
Algorithm hierarchical_circle();  // hierarchical.cc
Algorithm hierarchical_permutation();
Algorithm tuna_coalesced();  // tuna_nodes.cc
Algorithm tuna_staggered();  // tuna_nodes.cc
Algorithm tuna_bundled();
Algorithm hierarchical_overlapped();

Algorithm linear_ring();
Algorithm blocked_ring();
Algorithm blocked_ring_nodes();
Algorithm blocked_ring_blocking();
Algorithm bruck();
Algorithm recursive_doubling();
Algorithm neighbor_exchange();

Algorithm lanes();
Algorithm recursive_multiplying();

// The option of the flat and the hierarchical algorithms: how a rank copies its block to itself.
Option self_loops_option();
// The radix of all-to-alls that forward blocks digit by digit.
Number digit_radix();

}  // namespace quadrille
