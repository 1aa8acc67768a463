/* Reads the settings of the environment once. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/execute/api.h"
#include "runtime/execute/state.h"

static int is_set(const char* name) {
  const char* value = getenv(name);
  return value && *value && strcmp(value, "0") != 0;
}

static double read_seconds(void) {
  const char* value = getenv("QUADRILLE_STALL");
  char* end = NULL;
  if (!value || !*value) return 0;
  const locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), former = uselocale(plain);
  const double seconds = strtod(value, &end);
  uselocale(former);
  if (plain) freelocale(plain);
  if (*end == '\0' && seconds >= 0 && isfinite(seconds)) return seconds;
  fprintf(stderr, "quadrille: QUADRILLE_STALL=%s is no number of seconds\n", value);
  return 0;
}

/* Notes the folder when the runtime is loaded, since the program may change its folder later. */
__attribute__((constructor)) static void note_folder(void) {
  if (!getcwd(qd_global.folder, QD_MAX_PATH)) qd_global.folder[0] = '\0';
}

void qd_begin_in(const char* folder) {
  snprintf(qd_global.folder, sizeof qd_global.folder, "%s", folder);
}

static const char* read_name(const char* variable) {
  const char* value = getenv(variable);
  return value && *value ? qd_full_name(qd_global.folder, value, qd_global.traces) : NULL;
}

static void read_settings(void) {
  qd_global.settings = (struct qd_settings){.debug = is_set("QUADRILLE_DEBUG"),
                                            .stall = read_seconds(),
                                            .trace = read_name("QUADRILLE_TRACE")};
}

const struct qd_settings* qd_settings(void) {
  pthread_once(&qd_global.settings_once, read_settings);
  return &qd_global.settings;
}
