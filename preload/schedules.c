/* The schedules that rules name: those for any nodes that are built in, then those of files, in the order of reading. Tested by
 * tests/preload/choice_test.sh and tests/cli/rules_test.sh. */
#include <stdlib.h>
#include <string.h>

#include "emitted/universal.h"
#include "preload/rules.h"
#include "runtime/program/program.h"

/* They stay in their places, since other threads use them while rules of other jobs are read. */
static struct preload_file {
  struct quadrille_universal schedule; /* its name is "file:" and the path */
  char hash[2 * QD_HASH_LENGTH + 1];
} files[PRELOAD_MOST_FILES];
static int file_count;
_Static_assert(PRELOAD_MOST_FILES == 64, "as the sentence says");

int preload_schedule_count(void) {
  return quadrille_universal_count + __atomic_load_n(&file_count, __ATOMIC_ACQUIRE);
}

const struct quadrille_universal* preload_schedule(int number) {
  return number < quadrille_universal_count ? &quadrille_universal[number]
                                            : &files[number - quadrille_universal_count].schedule;
}

const char* preload_schedule_hash(int number) {
  return number < quadrille_universal_count ? NULL : files[number - quadrille_universal_count].hash;
}

const char* preload_schedule_name(int number) {
  return number == PRELOAD_NATIVE ? "native" : preload_schedule(number)->name;
}

int preload_is_scheduled(int number, int collective, int groups) {
  const struct quadrille_universal* schedule = preload_schedule(number);
  return schedule->groups == groups &&
         strcmp(schedule->collective, preload_collectives[collective].scheduled) == 0;
}

int preload_takes_block_size(int number) {
  struct qd_program program;
  const struct quadrille_universal* schedule = preload_schedule(number);
  if (qd_program_load(&program, schedule->bytes, schedule->length)) return 0;
  const int takes = qd_takes_block_size(&program);
  qd_program_destroy(&program);
  return takes;
}

/* Describes a file whose bytes are a schedule. Returns NULL or what is wrong. */
static const char* describe(struct preload_file* file) {
  struct qd_program program;
  const char* wrong = qd_program_load(&program, file->schedule.bytes, file->schedule.length);
  if (wrong) return wrong;
  file->schedule.collective = qd_collective_name(program.collective);
  file->schedule.groups = program.groups;
  for (int i = 0; i < QD_HASH_LENGTH; i++) snprintf(file->hash + 2 * i, 3, "%02x", program.hash[i]);
  qd_program_destroy(&program);
  return NULL;
}

/* Returns NULL or what is wrong. */
static const char* add_file(const char* name, const char* path) {
  struct preload_file added = {.schedule = {.name = NULL}};
  unsigned char* bytes = preload_read(path, QD_MAX_FILE_LENGTH, &added.schedule.length);
  added.schedule.bytes = bytes;
  const char* wrong = bytes ? describe(&added) : preload_unread_reason();
  if (file_count == PRELOAD_MOST_FILES)
    wrong = "it is one too many: rules may name at most 64 schedule files";
  if (!wrong && !(added.schedule.name = strdup(name))) wrong = qd_no_memory;
  if (wrong) {
    free(bytes);
  } else {
    files[file_count] = added;
    __atomic_store_n(&file_count, file_count + 1, __ATOMIC_RELEASE);
  }
  return wrong;
}

int preload_read_schedule(const char* name, char error[PRELOAD_TEXT]) {
  const char* path = name + strlen(PRELOAD_FILE);
  int number = quadrille_universal_count;
  while (number < preload_schedule_count() && strcmp(preload_schedule(number)->name, name) != 0)
    number++;
  const char* wrong = number < preload_schedule_count() ? NULL : add_file(name, path);
  if (!wrong) return number;
  snprintf(error, PRELOAD_TEXT, "%.255s: %.190s", path, wrong);
  return PRELOAD_NATIVE;
}

void preload_forget_schedules(void) {
  for (; file_count > 0; file_count--) {
    struct preload_file* file = &files[file_count - 1];
    free((void*)file->schedule.name);
    free((void*)file->schedule.bytes);
  }
}
