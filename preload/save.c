/* Writes rules and reports into their files when MPI ends. For jobs that are killed, a thread of rank 0 also writes
 * them after 1, 2, 4 .. 64 seconds, and then every minute. So no call waits for a file. The thread calls nothing of
 * MPI, and holds no lock that calls need while it writes. Tested by tests/preload/corners_test.sh. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "preload/preload.h"

static pthread_t thread;
static sem_t ends; /* posted when MPI ends */
static int is_running;

static int keeps_rules(void) {
  const struct preload_settings* settings = preload_settings();
  return !settings->error[0] && settings->rules_file && preload_finds_rules(settings->mode);
}

static void save_rules(void) {
  struct preload_settings found = {.rule_count = 0};
  if (keeps_rules()) found = preload_found_rules();
  if (found.rule_count > 0) preload_write_rules(found.rules, found.rule_count, 0);
  free(found.rules);
}

/* Waits until this time or until MPI ends. Returns whether MPI ended first. */
static int ends_before(const struct timespec* time) {
  int code = 0;
  while ((code = sem_clockwait(&ends, CLOCK_MONOTONIC, time)) != 0 && errno == EINTR) continue;
  return code == 0;
}

static void* save_now_and_then(void* unused) {
  struct timespec next;
  time_t age = 1; /* seconds since MPI began */
  clock_gettime(CLOCK_MONOTONIC, &next);
  next.tv_sec += age;
  while (!ends_before(&next)) {
    const time_t wait = age < 64 ? age : 60;
    preload_report_save();
    save_rules();
    next.tv_sec += wait;
    age += wait;
  }
  return unused;
}

/* Blocks all signals in the new thread, since the program's own threads handle them. */
void preload_save_begin(void) {
  const char* const report = preload_settings()->report;
  sigset_t all, former;
  if (!keeps_rules() && (!report || strcmp(report, "1") == 0)) return;
  sem_init(&ends, 0, 0);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &former);
  is_running = pthread_create(&thread, NULL, save_now_and_then, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &former, NULL);
}

void preload_save_end(void) {
  size_t size = 0;
  if (is_running) {
    sem_post(&ends);
    pthread_join(thread, NULL);
    is_running = 0;
  }
  struct preload_settings found = preload_found_rules();
  struct preload_rule* rules =
      preload_gather(keeps_rules(), found.rules, (size_t)found.rule_count * sizeof *rules, &size);
  free(found.rules);
  if (rules && size > 0) preload_write_rules(rules, (int)(size / sizeof *rules), 1);
  free(rules);
}
