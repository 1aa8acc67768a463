// tests/verifier/plans_test.cc tests which mutants are refused. tests/net/plan_mutants_test.cc runs the others.
#include "tests/support/plan_mutants.h"

#include <initializer_list>
#include <utility>

namespace quadrille {

namespace {

// Adds `by` to the n-th of the plan's given numbers that is above 0. Returns false if there are fewer.
bool add(qd_plan& plan, int n, int32_t by, std::initializer_list<int32_t qd_progress::*> numbers) {
  for (int32_t i = 0; i < plan.operation_count; ++i) {
    qd_operation& o = plan.operations[i];
    if (o.kind != QD_PLAN_MESSAGES) continue;
    for (const auto number : numbers)
      if (o.more.*number > 0 && n-- == 0) {
        o.more.*number += by;
        return true;
      }
  }
  return false;
}

}  // namespace

bool drop_a_wait(qd_plan& plan, int n) {
  return add(plan, n, -1, {&qd_progress::receives_done, &qd_progress::sends_done});
}

bool post_one_more(qd_plan& plan, int n) {
  return add(plan, n, 1, {&qd_progress::receives_posted, &qd_progress::sends_posted});
}

bool postpone_a_wait(qd_plan& plan, int n) {
  for (int32_t i = 0, next; i < plan.operation_count; i = next) {
    next = i + 1;
    while (next < plan.operation_count && plan.operations[next].kind != QD_PLAN_MESSAGES) ++next;
    if (next == plan.operation_count) return false;
    if (plan.operations[i].kind != QD_PLAN_MESSAGES) continue;
    for (auto waits : {&qd_progress::receives_done, &qd_progress::sends_done})
      if (plan.operations[i].more.*waits > 0 && n-- == 0) {
        --(plan.operations[i].more.*waits);
        ++(plan.operations[next].more.*waits);
        return true;
      }
  }
  return false;
}

bool widen_a_part(qd_plan& plan, int n) {
  for (qd_messages* messages : {&plan.receives, &plan.sends})
    for (int32_t i = 0; i < messages->count; ++i) {
      qd_message& m = messages->all[i];
      qd_part& part = m.count == 1 ? m.part : plan.parts[m.first];
      if (m.count == 0 || n-- != 0) continue;
      if (part.form == QD_RANGE)
        ++part.high;
      else
        ++part.region;
      return true;
    }
  return false;
}

bool reuse_a_buffer(qd_plan& plan, int n) {
  int32_t posted = 0, received = 0;
  for (int32_t i = 0; i < plan.operation_count; ++i) {
    const qd_operation& o = plan.operations[i];
    if (o.kind != QD_PLAN_MESSAGES) continue;
    received += o.more.receives_done;
    for (int32_t k = 0; k < o.more.receives_posted; ++k, ++posted) {
      qd_message& m = plan.receives.all[posted];
      for (int32_t other = received; other < posted; ++other)
        if (m.buffer >= 0 && plan.receives.all[other].buffer >= 0 && n-- == 0) {
          m.buffer = plan.receives.all[other].buffer;
          return true;
        }
    }
  }
  return false;
}

bool swap_two_operations(qd_plan& plan, int n) {
  for (int32_t i = 0; i + 2 < plan.operation_count; ++i) {
    qd_operation &a = plan.operations[i], &b = plan.operations[i + 1];
    if (a.kind == b.kind && a.kind != QD_PLAN_MESSAGES && a.kind != QD_PLAN_COPY) continue;
    if (n-- != 0) continue;
    std::swap(a, b);
    return true;
  }
  return false;
}

}  // namespace quadrille
