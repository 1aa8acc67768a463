/* Prints a plan, one operation a line, in words of MPI. */
#ifndef QUADRILLE_RUNTIME_PLAN_PRINT_H_
#define QUADRILLE_RUNTIME_PLAN_PRINT_H_

#include <stdio.h>

#include "runtime/plan/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a printed call stands: streamed plans are printed one after the other. Zero at first. */
struct qd_plan_lines {
  int64_t lines, receives, sends;
};

/* Writes the operations of the plan. Messages are numbered through the whole call. */
void qd_plan_print(FILE* out, const struct qd_plan* plan, int has_global_counts,
                   struct qd_plan_lines* lines);

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_RUNTIME_PLAN_PRINT_H_ */
