/* Records the calls for QUADRILLE_REPORT, and for each the schedule that served it or the reason why none did. Writes
 * reports and rules into their files when MPI ends. Rank 0 of each communicator records its calls. Until MPI ends,
 * the report has only the calls that rank 0 of MPI_COMM_WORLD recorded.
 *
 * For jobs that are killed, a thread of rank 0 also writes the files after 1, 2, 4 .. 64 seconds, and then every
 * minute. So no call waits for a file. The thread calls nothing of MPI, and holds no lock that calls need while it
 * writes. Tested by tests/preload: preload_test.sh and corners_test.sh. */
#include "preload/report.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "preload/preload.h"

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct preload_table recorded;
static double began; /* when MPI_Init ended */
static pthread_t thread;
static sem_t ends; /* posted when MPI ends */
static int is_running;

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
  pthread_mutex_lock(&table_lock);
  preload_add_line(&recorded, &line);
  pthread_mutex_unlock(&table_lock);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void write_report(const char* name, struct preload_table* table, int job_ends) {
  const size_t length = strlen(name);
  const int is_json = length > 5 && strcmp(name + length - 5, ".json") == 0;
  FILE* file = strcmp(name, "1") == 0 ? stderr : preload_open(name, job_ends);
  if (!file && errno == EAGAIN && !job_ends) return; /* it is written later */
  table->seconds = now() - began;
  if (file) (is_json ? preload_print_json : preload_print_summary)(file, table);
  if (file != stderr) preload_close(file, name, "report", 1);
}

/* Writes what this rank has recorded so far to the file of the report. */
static void save_report(void) {
  const char* name = preload_settings()->report;
  struct preload_table copy = {.ranks = 1};
  if (!name || strcmp(name, "1") == 0) return;
  pthread_mutex_lock(&table_lock); /* only to copy, since writing the file may take long */
  const size_t size = (size_t)recorded.count * sizeof *copy.lines;
  copy.lines = malloc(size + 1);
  if (copy.lines) {
    memcpy(copy.lines, recorded.lines, size);
    copy.count = recorded.count;
  }
  pthread_mutex_unlock(&table_lock);
  write_report(name, &copy, 0);
  free(copy.lines);
}

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
    save_report();
    save_rules();
    next.tv_sec += wait;
    age += wait;
  }
  return unused;
}

/* Blocks all signals in the new thread, since the program's own threads handle them. */
void preload_report_begin(void) {
  const char* const report = preload_settings()->report;
  sigset_t all, former;
  int rank = 0;
  began = now();
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0 || (!keeps_rules() && (!report || strcmp(report, "1") == 0))) return;
  sem_init(&ends, 0, 0);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &former);
  is_running = pthread_create(&thread, NULL, save_now_and_then, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &former, NULL);
}

/* Gathers `size` bytes of each rank of MPI_COMM_WORLD on rank 0, into memory that the caller frees, of *all bytes.
 * Returns NULL on other ranks, if a rank does not want it, and if memory ran out. Before a rank sends, all agree that
 * memory suffices, so no rank waits in vain. Collective. */
static void* gather(int is_wanted, const void* mine, size_t size, size_t* all) {
  int rank = 0, ranks = 0, length = size > INT_MAX ? 0 : (int)size;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int* lengths = calloc(2 * (size_t)ranks, sizeof *lengths);
  int* offsets = lengths ? lengths + ranks : NULL;
  int fails = !lengths || !is_wanted;
  PMPI_Allreduce(MPI_IN_PLACE, &fails, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  char* gathered = NULL;
  size_t end = 0;
  if (!fails && lengths) {
    PMPI_Gather(&length, 1, MPI_INT, lengths, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++) {
      offsets[i] = (int)end;
      end += (size_t)lengths[i];
    }
    if (rank == 0 && end <= INT_MAX) gathered = malloc(end + 1);
    fails = rank == 0 && !gathered;
    PMPI_Bcast(&fails, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (!fails)
    PMPI_Gatherv(mine, length, MPI_BYTE, gathered, lengths, offsets, MPI_BYTE, 0, MPI_COMM_WORLD);
  free(lengths);
  *all = end;
  return gathered;
}

/* Ends the thread. Rank 0 writes the rules of all ranks, if all keep them. Collective. */
static void end_saving(void) {
  size_t size = 0;
  if (is_running) {
    sem_post(&ends);
    pthread_join(thread, NULL);
    is_running = 0;
  }
  struct preload_settings found = preload_found_rules();
  struct preload_rule* rules =
      gather(keeps_rules(), found.rules, (size_t)found.rule_count * sizeof *rules, &size);
  free(found.rules);
  if (rules && size > 0) preload_write_rules(rules, (int)(size / sizeof *rules), 1);
  free(rules);
}

void preload_report_end(void) {
  const char* name = preload_settings()->report;
  size_t size = 0;
  end_saving();
  struct preload_table all = {.count = 0};
  struct preload_line* gathered =
      gather(name != NULL, recorded.lines, (size_t)recorded.count * sizeof *recorded.lines, &size);
  PMPI_Comm_size(MPI_COMM_WORLD, &all.ranks);
  for (size_t i = 0; gathered && i < size / sizeof *gathered; i++)
    preload_add_line(&all, &gathered[i]);
  if (gathered && name && (all.count > 0 || strcmp(name, "1") != 0)) write_report(name, &all, 1);
  free(all.lines);
  free(gathered);
}
