// Plans with one mistake in them: what the check of plans must refuse, but for what makes no difference.
#ifndef QUADRILLE_TESTS_SUPPORT_PLAN_MUTANTS_H_
#define QUADRILLE_TESTS_SUPPORT_PLAN_MUTANTS_H_

#include "runtime/plan/plan.h"

namespace quadrille {

// Each makes the n-th mistake of its kind; false where there are no more of them.

// One message less is waited for.
bool drop_a_wait(qd_plan& plan, int n);
// A message is waited for later: where messages are waited for, or posted, the next time.
bool postpone_a_wait(qd_plan& plan, int n);
// A message takes a byte more, or another block.
bool widen_a_part(qd_plan& plan, int n);
// Two receives that are in flight together arrive in one buffer.
bool reuse_a_buffer(qd_plan& plan, int n);
// What waits for a receive, or copies, comes later than what follows it.
bool swap_two_operations(qd_plan& plan, int n);

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_SUPPORT_PLAN_MUTANTS_H_
