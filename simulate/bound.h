// A lower bound of the time of a call on a machine.
#pragma once

#include <vector>

#include "schedule/binding.h"
#include "schedule/collective.h"
#include "simulate/lengths.h"
#include "simulate/machine.h"

namespace quadrille {

// Returns the bound in picoseconds: one latency, and the time of the data that must enter or leave one place. A place
// is a node if there are several nodes whose ranks share ports, else a rank. A rank with a port of its own sends
// through its port and its memory at once. It receives through its port and the memories of its node at once. Where
// places are nodes, the data of all ranks of a node passes its ports and its memory. Messages also bring the data of
// one node to all others, as in the postal model (Bar-Noy and Kipnis 1994). `unit`: the bytes of a unit of the counts,
// or of a block if the call has no counts.
__int128 least_time(Collective collective, const std::vector<Topology>& groups, const Call& call,
                    int64_t unit, const Machine& machine);
// Returns the bound for an all-to-all whose blocks have these lengths.
__int128 least_time(const BlockLengths& lengths, const std::vector<Topology>& groups,
                    const Machine& machine);

}  // namespace quadrille
