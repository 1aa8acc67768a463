// The algorithms with options, whose texts are composed.
#pragma once

#include "generator/registry.h"

namespace quadrille {

Algorithm factor();               // factors.cc
Algorithm factor_even();          // factors.cc
Algorithm xor_exchange();         // factors.cc
Algorithm hierarchical_factor();  // hierarchical.cc
Algorithm hierarchical_circle();  // hierarchical.cc

// Their option: how a rank copies its block to itself.
Option self_loops_option();

}  // namespace quadrille
