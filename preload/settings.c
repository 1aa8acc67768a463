/* What the environment asks for. Each process reads its own; ranks compare what they have read (communicator.c). */
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/rules.h"

extern char** environ;

static struct preload_settings settings = {.mode = PRELOAD_ON};

/* Adds a setting; the sum does not depend on their order, which is the environment's. */
static void hash(const char* bytes, size_t length) {
  uint64_t one = 0xcbf29ce484222325;
  for (size_t i = 0; i < length; i++) one = (one ^ (unsigned char)bytes[i]) * 0x100000001b3;
  settings.hash += one;
}

static void refuse(const char* text) {
  if (!settings.error[0]) snprintf(settings.error, sizeof settings.error, "%s", text);
}

static void refuse_memory(int is_added) {
  if (!is_added) refuse("memory ran out while rules were read");
}

static void read_mode(const char* value) {
  static const char* const modes[] = {[PRELOAD_OFF] = "off",
                                      [PRELOAD_ON] = "on",
                                      [PRELOAD_VERIFY] = "verify",
                                      [PRELOAD_LEARN] = "learn"};
  char text[PRELOAD_TEXT];
  for (int mode = PRELOAD_OFF; mode <= PRELOAD_LEARN; mode++) {
    if (strcmp(value, modes[mode]) != 0) continue;
    settings.mode = (enum preload_mode)mode;
    return;
  }
  snprintf(text, sizeof text, "QUADRILLE=%.40s: it is off, on, verify or learn", value);
  refuse(text);
}

/* QD_ALLTOALL=linear: for communicators of one group, of two, or both, as there are schedules of that name. */
static void read_collective(int collective, const char* variable, const char* value) {
  char errors[3][PRELOAD_TEXT] = {"", "", ""}, text[PRELOAD_TEXT];
  int found = 0;
  for (int groups = 1; groups <= 2; groups++) {
    struct preload_rule rule = preload_any_rule(collective, groups);
    if (!preload_parse_algorithm(value, &rule, errors[groups])) continue;
    refuse_memory(preload_add_rule(&settings, &rule));
    found = 1;
  }
  if (found) return;
  snprintf(text, sizeof text, "%s: %.300s", variable, errors[1]);
  refuse(text);
}

/* VARIABLE=VALUE, one that begins with QUADRILLE. What is kept of it is copied: a program may write over its environment. */
static void read_variable(const char* entry) {
  const char* value = strchr(entry, '=') + 1;
  char variable[64], text[PRELOAD_TEXT];
  snprintf(variable, sizeof variable, "%.*s", (int)(value - 1 - entry), entry);
  const int collective =
      strncmp(variable, "QUADRILLE_", 10) == 0 ? preload_collective_of(variable + 10) : -1;
  if (strcmp(variable, "QUADRILLE_REPORT") == 0) {
    if (value[0]) settings.report = strdup(value);
    return;
  }
  if (strcmp(variable, "QUADRILLE_DEBUG") == 0 || strcmp(variable, "QUADRILLE_STALL") == 0 ||
      strcmp(variable, "QUADRILLE_CHECK_PLANS") == 0)
    return;
  if (strcmp(variable, "QUADRILLE_RULES") == 0) {
    if (value[0]) settings.rules_file = strdup(value);
    return;
  }
  if (strcmp(variable, "QUADRILLE") == 0) return; /* read before */
  hash(entry, strlen(entry));
  if (collective >= 0) return read_collective(collective, variable, value);
  snprintf(
      text, sizeof text,
      "%s is not known: there are QUADRILLE, QUADRILLE_RULES, QUADRILLE_REPORT, QUADRILLE_DEBUG, "
      "QUADRILLE_STALL, QUADRILLE_CHECK_PLANS, and one for each collective, such as "
      "QUADRILLE_ALLTOALLV",
      variable);
  refuse(text);
}

/* NULL where it cannot be read; errno says why. */
static char* read_text(const char* path, size_t* length) {
  enum { MOST = 1 << 24 };
  FILE* file = fopen(path, "rb");
  if (!file) return NULL;
  char* text = malloc(MOST);
  *length = text ? fread(text, 1, MOST, file) : 0;
  const int failed = !text || ferror(file) || *length == MOST;
  if (failed) {
    free(text);
    text = NULL;
    errno = errno ? errno : EFBIG;
  }
  fclose(file);
  return text;
}

static void read_file(void) {
  char text[PRELOAD_TEXT];
  size_t length = 0;
  errno = 0;
  char* read = read_text(settings.rules_file, &length);
  if (!read && errno == ENOENT && settings.mode == PRELOAD_LEARN) return;
  if (!read) {
    snprintf(text, sizeof text, "QUADRILLE_RULES: %.200s: %s", settings.rules_file,
             strerror(errno));
    return refuse(text);
  }
  hash(read, length);
  preload_read_rules(settings.rules_file, read, length, &settings);
  free(read);
}

static void read_all(void) {
  const char* mode = getenv("QUADRILLE");
  if (mode && mode[0]) read_mode(mode);
  hash((const char*)&settings.mode, sizeof settings.mode);
  for (char** entry = environ; *entry; entry++)
    if (strncmp(*entry, "QUADRILLE", 9) == 0 && strchr("=_", (*entry)[9]) && strchr(*entry, '='))
      read_variable(*entry);
  if (settings.mode == PRELOAD_LEARN && !settings.rules_file)
    settings.rules_file = "quadrille-rules.json";
  settings.first_of_file = settings.rule_count;
  if (settings.rules_file)
    read_file();
  else
    refuse_memory(preload_add_built_in(&settings));
}

const struct preload_settings* preload_settings(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, read_all);
  return &settings;
}
