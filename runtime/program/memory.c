/* Arrays that grow. */
#include <limits.h>
#include <stdlib.h>

#include "runtime/program/program.h"

const char qd_no_memory[] = "out of memory";

int qd_grow(void** array, int32_t* capacity, size_t size) {
  const int32_t wanted = *capacity > 0 ? 2 * *capacity : 16;
  return *capacity <= INT_MAX / 2 && qd_lengthen(array, capacity, wanted, size);
}

int qd_lengthen(void** array, int32_t* capacity, int64_t length, size_t size) {
  if (length <= *capacity) return 1;
  void* longer = length > INT_MAX ? NULL : realloc(*array, (size_t)length * size);
  if (!longer) return 0;
  *array = longer;
  *capacity = (int32_t)length;
  return 1;
}
