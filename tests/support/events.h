// The event stream of one rank from three sources: the slow oracle (recursion over the program), the checker's walk,
// and the runtime's interpreter. They must agree, event by event.
#ifndef QUADRILLE_TESTS_SUPPORT_EVENTS_H_
#define QUADRILLE_TESTS_SUPPORT_EVENTS_H_

#include <string>
#include <vector>

#include "generator/encode.h"
#include "schedule/binding.h"
#include "schedule/program.h"

namespace quadrille {

// One event per line: "step 3 after -1", "send 0 remote sized to 4", "piece 1[5]", "end". In an undefined stream,
// "undefined" replaces all events of the last step.
using Events = std::vector<std::string>;

Events oracle_events(const Program& program, const Binding& binding, int64_t rank);
Events walk_events(const Program& program, const Binding& binding, int64_t rank);
// The events of a walk with runs, which pauses only at steps, so the ends of steps are not among them.
Events fast_walk_events(const Program& program, const Binding& binding, int64_t rank);
// "refused: reason" if the runtime does not load the bytes or fill the tables. A schedule for any nodes is put on
// those of `groups`.
Events runtime_events(const Bytes& file, const Call& call, int64_t group, int64_t rank,
                      int64_t root, const std::vector<Topology>& groups = {});

// Drops the events before "undefined" in the step, or outside steps, where the walk broke off. Walks may evaluate
// ahead by different distances.
Events without_broken_step(Events events);

// Drops every "step end".
Events without_step_ends(const Events& events);

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_SUPPORT_EVENTS_H_
