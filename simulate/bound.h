// The least time of a call on a machine.
#ifndef QUADRILLE_SIMULATE_BOUND_H_
#define QUADRILLE_SIMULATE_BOUND_H_

#include <vector>

#include "schedule/binding.h"
#include "schedule/collective.h"
#include "simulate/lengths.h"
#include "simulate/machine.h"

namespace quadrille {

// Picoseconds. No schedule of the collective takes less. The time is one latency, and that of the data which must enter or
// leave one place: a node if there are several and their ranks share ports, else a rank. A rank with a port of its own sends
// through its port and its memory at once, and receives through its port and the memories of its node. `unit`: the bytes of
// a unit of the counts, or of a block if the call has no counts.
__int128 least_time(Collective collective, const std::vector<Topology>& groups, const Call& call,
                    int64_t unit, const Machine& machine);
// The same for an all-to-all whose blocks have these lengths.
__int128 least_time(const BlockLengths& lengths, const std::vector<Topology>& groups,
                    const Machine& machine);

}  // namespace quadrille

#endif  // QUADRILLE_SIMULATE_BOUND_H_
