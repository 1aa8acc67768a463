// Plans with one mistake. The check of plans must refuse each, unless the mistake makes no difference.
#pragma once

#include "runtime/plan/plan.h"

namespace quadrille {

// Each function makes the n-th mistake of its kind, and returns false if there are fewer.

// The plan waits for one message less.
bool drop_a_wait(qd_plan& plan, int n);
// The plan posts one message more than it has.
bool post_one_more(qd_plan& plan, int n);
// The plan waits for a message later, at the next wait or post.
bool postpone_a_wait(qd_plan& plan, int n);
// A message has one more byte, or another block.
bool widen_a_part(qd_plan& plan, int n);
// Two receives that are in flight together arrive in one buffer.
bool reuse_a_buffer(qd_plan& plan, int n);
// Two neighboring operations change places.
bool swap_two_operations(qd_plan& plan, int n);

}  // namespace quadrille
