/* The names of files that settings give. A program may change its folder later, so relative names keep to the folder in which
 * this library was loaded, or in which its loader began. Tested by tests/preload/corners_test.sh. */
#include <stdio.h>
#include <unistd.h>

#include "runtime/program/program.h"

static char first_folder[QD_MAX_PATH];

__attribute__((constructor)) static void note_folder(void) {
  if (!getcwd(first_folder, sizeof first_folder)) first_folder[0] = '\0';
}

void qd_begin_in(const char* folder) { snprintf(first_folder, QD_MAX_PATH, "%s", folder); }

const char* qd_full_name(const char* name, char full[QD_MAX_PATH]) {
  const int is_relative = name[0] != '/' && first_folder[0];
  const int length = snprintf(full, QD_MAX_PATH, "%s%s%s", is_relative ? first_folder : "",
                              is_relative ? "/" : "", name);
  return length < QD_MAX_PATH ? full : name;
}
