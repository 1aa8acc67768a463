/* Numbers the schedules that rules name: first those that are built in, for any nodes, then those of files, in the
 * order of reading. Tested by tests/preload/choice_test.sh and tests/cli/rules_test.sh. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emitted/universal.h"
#include "preload/rules.h"
#include "runtime/program/program.h"

enum { MOST_CHECKED = 64 }; /* ranks */

/* An array of fixed size: other threads use its elements while rules of other jobs are read. */
static struct preload_file {
  struct quadrille_universal schedule; /* its name is "file:" and the path */
  int is_large;                        /* too many ranks to check: it is followed unchecked */
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

/* Loads the schedule, and sets its collective, groups and is_large. Returns NULL or what is wrong. */
static const char* describe(struct preload_file* file) {
  struct qd_program program;
  const char* wrong = qd_program_load(&program, file->schedule.bytes, file->schedule.length);
  if (wrong) return wrong;
  file->schedule.collective = qd_collective_name(program.collective);
  file->schedule.groups = program.groups;
  int64_t ranks = 0;
  for (int i = 0; i < program.groups && !program.serves_any_nodes; i++)
    ranks += program.topologies[i].ranks;
  file->is_large = ranks > MOST_CHECKED;
  qd_program_destroy(&program);
  return NULL;
}

/* Reads a schedule file and adds it to `files`. Returns NULL or what is wrong. */
static const char* add_file(const char* name, const char* path) {
  struct preload_file added = {.schedule = {.name = NULL}};
  unsigned char* bytes = preload_read_own(path, QD_MAX_FILE_LENGTH, &added.schedule.length);
  added.schedule.bytes = bytes;
  const char* wrong = bytes ? describe(&added) : preload_file_reason();
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

void preload_drop_schedules(int from) {
  while (preload_schedule_count() > from) {
    struct quadrille_universal* const last = &files[--file_count].schedule;
    free((char*)last->name);
    free((unsigned char*)last->bytes);
  }
}

/* ---- Whether schedules of files are right */

/* Returns the command that checks them: QUADRILLE_VERIFIER, or the one beside this library. */
static const char* find_verifier(char full[QD_MAX_PATH]) {
  static const char name[] = "verifier";
  const char* const given = preload_settings()->verifier;
  Dl_info own;
  if (given) return preload_full_name(given, full);
  if (!dladdr(name, &own)) return name;
  const char* const slash = strrchr(own.dli_fname, '/');
  snprintf(full, QD_MAX_PATH, "%.*s%s", slash ? (int)(slash + 1 - own.dli_fname) : 0, own.dli_fname,
           name);
  return full;
}

/* Checks the schedule's bytes, since its file may have changed. The file's certificate may prove them. Returns the exit code,
 * or -1 if nothing was run. */
static int check(const struct quadrille_universal* schedule, const char* path,
                 const char* verifier) {
  char name[64], full[QD_MAX_PATH], certificate[QD_MAX_PATH + 64];
  const int file = memfd_create("schedule", 0), null = open("/dev/null", O_RDWR | O_CLOEXEC);
  posix_spawn_file_actions_t actions;
  int status = -1;
  pid_t child = -1;
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  snprintf(certificate, sizeof certificate, "--certificate=%s.certificate",
           preload_full_name(path, full));
  const int has_certificate = access(strchr(certificate, '=') + 1, R_OK) == 0;
  char* const words[] = {"env",   "-u",          "LD_PRELOAD", (char*)verifier,
                         "check", "--all-calls", name,         has_certificate ? certificate : NULL,
                         NULL};
  posix_spawn_file_actions_init(&actions);
  for (int i = 0; i < 3; i++) posix_spawn_file_actions_adddup2(&actions, null, i);
  if (access(verifier, X_OK) == 0 &&
      write(file, schedule->bytes, schedule->length) == (ssize_t)schedule->length &&
      posix_spawnp(&child, words[0], &actions, NULL, words, environ) == 0)
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  posix_spawn_file_actions_destroy(&actions);
  close(null);
  close(file);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static char unfollowed[PRELOAD_TEXT];

static void check_files(void) {
  char full[QD_MAX_PATH];
  const char* const verifier = find_verifier(full);
  for (int i = quadrille_universal_count; i < preload_schedule_count() && !unfollowed[0]; i++) {
    const char* const path = preload_schedule_name(i) + strlen(PRELOAD_FILE);
    const int code = files[i - quadrille_universal_count].is_large
                         ? 0
                         : check(preload_schedule(i), path, verifier);
    if (code < 0)
      snprintf(unfollowed, PRELOAD_TEXT,
               "%.300s cannot be checked and is not followed: set QUADRILLE_VERIFIER to the file "
               "lib/quadrille/verifier of an installation, since %.300s cannot be run",
               path, verifier);
    else if (code > 0)
      snprintf(unfollowed, PRELOAD_TEXT,
               "%.300s is %s, and is not followed: `quadrille check %.300s` says why", path,
               code == 1 ? "refuted" : "not proven", path);
  }
}

const char* preload_unfollowed_file(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, check_files);
  return unfollowed;
}
