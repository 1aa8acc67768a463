// The events of one rank from three sources: the slow oracle, which recurses over the program, the checker's walk,
// and the runtime's interpreter. All events must agree.
#pragma once

#include <string>
#include <vector>

#include "generator/encode.h"
#include "schedule/binding.h"
#include "schedule/program.h"

namespace quadrille {

// The events, one a string: "step 3 after -1", "send 0 remote sized to 4", "piece 1[5]", "end". "undefined" takes the
// place of "end" if an expression has no value.
using Events = std::vector<std::string>;

Events oracle_events(const Program& program, const Binding& binding, int64_t rank);
Events walk_events(const Program& program, const Binding& binding, int64_t rank);
// Returns the events of a walk that does not pause at the ends of steps, so "step end" is missing.
Events fast_walk_events(const Program& program, const Binding& binding, int64_t rank);
// Returns "refused: reason" if the runtime does not load the file. A schedule for any nodes runs on `groups`.
Events runtime_events(const Bytes& file, const Call& call, int64_t group, int64_t rank,
                      int64_t root, const std::vector<Topology>& groups = {});

// Drops what is between the last step's head and a final "undefined": walks evaluate ahead by different distances.
Events without_broken_step(Events events);

// Drops every "step end".
Events without_step_ends(const Events& events);

}  // namespace quadrille
