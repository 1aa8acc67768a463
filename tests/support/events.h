// The event stream of one rank, told three ways: by the slow oracle (recursion over the program),
// by the checker's walk and by the runtime's interpreter. They must agree, event by event.
#ifndef QUADRILLE_TESTS_SUPPORT_EVENTS_H_
#define QUADRILLE_TESTS_SUPPORT_EVENTS_H_

#include <string>
#include <vector>

#include "generator/encode.h"
#include "schedule/binding.h"
#include "schedule/program.h"

namespace quadrille {

// One event a line: "step 3 after -1", "send 0 remote sized to 4", "piece 1[5]", "end". A stream
// that is undefined ends with "undefined" in place of whatever its last step would have held.
using Events = std::vector<std::string>;

Events oracle_events(const Program& program, const Binding& binding, int64_t rank);
Events walk_events(const Program& program, const Binding& binding, int64_t rank);
// With runs, which pause at steps only: without the marks of a step's end.
Events fast_walk_events(const Program& program, const Binding& binding, int64_t rank);
// "refused: reason" where the runtime does not load the bytes or fill the tables. A schedule for any
// nodes is put on those of `groups`.
Events runtime_events(const Bytes& file, const Call& call, int64_t group, int64_t rank,
                      int64_t root, const std::vector<Topology>& groups = {});

// Without what came before "undefined" in the step, or outside steps, where the walk broke off: how
// far a walk evaluates ahead is its own business.
Events without_broken_step(Events events);

// Without "step end".
Events without_step_ends(const Events& events);

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_SUPPORT_EVENTS_H_
