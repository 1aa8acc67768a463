/* The memory of plans: arrays that grow. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/plan/plan.h"

int qd_grow(void** array, int32_t* room, size_t size) {
  const int32_t wanted = *room > 0 ? 2 * *room : 16;
  void* grown = *room > INT_MAX / 2 ? NULL : realloc(*array, (size_t)wanted * size);
  if (!grown) return 0;
  *array = grown;
  *room = wanted;
  return 1;
}

int qd_lengthen(void** array, int32_t* room, int64_t length, size_t size) {
  if (length <= *room) return 1;
  void* longer = length > INT_MAX ? NULL : realloc(*array, (size_t)length * size);
  if (!longer) return 0;
  *array = longer;
  *room = (int32_t)length;
  return 1;
}

void qd_plan_destroy(struct qd_plan* plan) {
  free(plan->receives.all);
  free(plan->sends.all);
  free(plan->parts);
  free(plan->operations);
  free(plan->copies);
  memset(plan, 0, sizeof *plan);
}
