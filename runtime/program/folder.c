/* Finds the files that settings name. Tested by tests/preload/corners_test.sh. */
#include <stdio.h>

#include "runtime/program/program.h"

const char* qd_full_name(const char* folder, const char* name, char full[QD_MAX_PATH]) {
  const int is_relative = name[0] != '/' && folder[0];
  const int length = snprintf(full, QD_MAX_PATH, "%s%s%s", is_relative ? folder : "",
                              is_relative ? "/" : "", name);
  return length < QD_MAX_PATH ? full : name;
}
