// The least time of a call on a machine.
#ifndef QUADRILLE_SIMULATE_BOUND_H_
#define QUADRILLE_SIMULATE_BOUND_H_

#include <vector>

#include "schedule/binding.h"
#include "schedule/collective.h"
#include "simulate/lengths.h"
#include "simulate/machine.h"

namespace quadrille {

// Picoseconds. No schedule of the collective takes less. The time is one latency, and that of the data at the busiest place:
// a node's ports if there are several nodes and their ranks share ports, else a rank. `unit`: the bytes of a unit of the
// counts, or of a block if the call has no counts.
__int128 least_time(Collective collective, const std::vector<Topology>& groups, const Call& call,
                    int64_t unit, const Machine& machine);
// The same for an all-to-all whose blocks have these lengths.
__int128 least_time(const BlockLengths& lengths, const std::vector<Topology>& groups,
                    const Machine& machine);

}  // namespace quadrille

#endif  // QUADRILLE_SIMULATE_BOUND_H_
