// Makes calls with more than a few messages follow their plan in parts, as very long calls do. The linker replaces
// the runtime's builder with __wrap_qd_builder_open.
extern "C" {
#include "runtime/plan/builder.h"
}

#include <climits>

// NOLINTBEGIN(bugprone-reserved-identifier): the linker chooses these names
extern "C" int __real_qd_builder_open(qd_builder* builder, const qd_plan_input* input,
                                      qd_plan* plan, int in_place, int whole);
extern "C" int __wrap_qd_builder_open(qd_builder* builder, const qd_plan_input* input,
                                      qd_plan* plan, int in_place, int whole) {
  constexpr int kFewMessages = 128;
  const int opened = __real_qd_builder_open(builder, input, plan, in_place, whole);
  if (builder->traits.most_messages < INT_MAX) builder->traits.most_messages = kFewMessages;
  return opened;
}
// NOLINTEND(bugprone-reserved-identifier)
