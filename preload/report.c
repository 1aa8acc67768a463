/* QUADRILLE_REPORT: records the calls, and for each the schedule that served it or the reason why none did. Rank 0 of
 * each communicator records its calls. Until MPI ends, the file has only the calls that rank 0 of MPI_COMM_WORLD
 * recorded. Tested by tests/preload/preload_test.sh. */
#include "preload/report.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "preload/preload.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct preload_table recorded;
static double began; /* when MPI_Init ended */

void preload_record(const struct preload_call* call, int code, double seconds) {
  const struct preload_rule* rule = call->rule;
  const int is_timed = rule && rule->time > 0 && rule->native_time > 0;
  if (call->of->rank != 0) return;
  struct preload_line line = {.collective = call->collective,
                              .size_class = preload_size_class(call->bytes),
                              .shape = call->of->shape,
                              .calls = 1,
                              .bytes = code == MPI_SUCCESS ? preload_own_bytes(call) : 0,
                              .seconds = seconds,
                              .timed = is_timed,
                              .native = is_timed ? rule->native_time : 0,
                              .scheduled = is_timed ? rule->time : 0,
                              .cost = call->cost};
  snprintf(line.reason, sizeof line.reason, "%s", call->reason);
  if (rule)
    preload_print_algorithm(rule, line.schedule, sizeof line.schedule);
  else
    snprintf(line.schedule, sizeof line.schedule, "%s", preload_schedule_name(PRELOAD_NATIVE));
  pthread_mutex_lock(&lock);
  preload_add_line(&recorded, &line);
  pthread_mutex_unlock(&lock);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void preload_report_begin(void) { began = now(); }

static void write_report(const char* name, struct preload_table* table, int job_ends) {
  const size_t length = strlen(name);
  const int is_json = length > 5 && strcmp(name + length - 5, ".json") == 0;
  FILE* file = strcmp(name, "1") == 0 ? stderr : preload_open(name, job_ends);
  if (!file && errno == EAGAIN && !job_ends) return; /* it is written later */
  table->seconds = now() - began;
  if (file) (is_json ? preload_print_json : preload_print_summary)(file, table);
  if (file != stderr) preload_close(file, name, "report", 1);
}

void preload_report_save(void) {
  const char* name = preload_settings()->report;
  struct preload_table copy = {.ranks = 1};
  if (!name || strcmp(name, "1") == 0) return;
  pthread_mutex_lock(&lock); /* only to copy, since writing the file may take long */
  const size_t size = (size_t)recorded.count * sizeof *copy.lines;
  copy.lines = malloc(size + 1);
  if (copy.lines) {
    memcpy(copy.lines, recorded.lines, size);
    copy.count = recorded.count;
  }
  pthread_mutex_unlock(&lock);
  write_report(name, &copy, 0);
  free(copy.lines);
}

void preload_report(void) {
  const char* name = preload_settings()->report;
  size_t size = 0;
  struct preload_table all = {.count = 0};
  struct preload_line* gathered = preload_gather(
      name != NULL, recorded.lines, (size_t)recorded.count * sizeof *recorded.lines, &size);
  if (!gathered || !name) return;
  PMPI_Comm_size(MPI_COMM_WORLD, &all.ranks);
  for (size_t i = 0; i < size / sizeof *gathered; i++) preload_add_line(&all, &gathered[i]);
  if (all.count > 0 || strcmp(name, "1") != 0) write_report(name, &all, 1);
  free(all.lines);
  free(gathered);
}
