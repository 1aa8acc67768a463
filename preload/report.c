/* QUADRILLE_REPORT: the calls that were made, and the schedule that served each or the reason why none did. Rank 0
 * of each communicator records its calls; until MPI ends, the file has only those of rank 0 of MPI_COMM_WORLD.
 * Tested by tests/preload/preload_test.sh. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/preload.h"

/* Calls that share a line of the report. */
struct record {
  int collective, size_class, universal;
  struct preload_shape shape;
  char reason[64];
  int64_t calls, bytes;
  double seconds;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct record* records;
static int record_count;

static int is_same(const struct record* a, const struct record* b) {
  return a->collective == b->collective && a->size_class == b->size_class &&
         a->universal == b->universal && memcmp(&a->shape, &b->shape, sizeof a->shape) == 0 &&
         strcmp(a->reason, b->reason) == 0;
}

/* Adds to the record of the same calls, or as a new one. If memory runs out, the calls are not reported. */
static void add(struct record** all, int* count, const struct record* added) {
  int i = 0;
  while (i < *count && !is_same(&(*all)[i], added)) i++;
  if (i < *count) {
    (*all)[i].calls += added->calls;
    (*all)[i].bytes += added->bytes;
    (*all)[i].seconds += added->seconds;
    return;
  }
  struct record* grown = realloc(*all, ((size_t)*count + 1) * sizeof *grown);
  if (!grown) return;
  *all = grown;
  grown[(*count)++] = *added;
}

void preload_record(const struct preload_call* call, double seconds) {
  struct record added = {.collective = call->collective,
                         .size_class = preload_size_class(call->bytes),
                         .universal = call->universal,
                         .shape = call->of->shape,
                         .calls = 1,
                         .bytes = call->bytes > 0 ? call->bytes : 0,
                         .seconds = seconds};
  if (call->of->rank != 0) return;
  snprintf(added.reason, sizeof added.reason, "%s", call->reason);
  pthread_mutex_lock(&lock);
  add(&records, &record_count, &added);
  pthread_mutex_unlock(&lock);
}

static void print_shape(const struct preload_shape* shape, char text[64]) {
  if (shape->groups == 2)
    snprintf(text, 64, "%d + %d ranks", shape->ranks, shape->remote_ranks);
  else if (shape->nodes == 0)
    snprintf(text, 64, "%d rank%s", shape->ranks, shape->ranks == 1 ? "" : "s");
  else if (shape->least == shape->most)
    snprintf(text, 64, "%d x %d ranks", shape->nodes, shape->least);
  else
    snprintf(text, 64, "%d x %d to %d ranks", shape->nodes, shape->least, shape->most);
}

static void print_class(int size_class, char text[48]) {
  const struct preload_range range = preload_class_range(size_class);
  if (size_class < 0)
    snprintf(text, 48, "-");
  else if (range.least == range.most)
    snprintf(text, 48, "%lld", (long long)range.least);
  else
    snprintf(text, 48, "%lld..%lld", (long long)range.least, (long long)range.most);
}

static void print_record(FILE* file, const struct record* one, int is_json) {
  char shape[64], size[48];
  print_shape(&one->shape, shape);
  print_class(one->size_class, size);
  fprintf(file,
          is_json ? "  {\"collective\": \"%s\", \"communicator\": \"%s\", \"bytes\": \"%s\", "
                    "\"schedule\": \"%s\", \"calls\": %lld, \"all_bytes\": %lld, \"seconds\": "
                    "%.6f, \"reason\": \"%s\"}"
                  : "%-20s  %-18s  %20s  %-25s  %8lld  %12lld  %10.6f  %s",
          preload_collectives[one->collective].name, shape, size,
          preload_schedule_name(one->universal), (long long)one->calls, (long long)one->bytes,
          one->seconds, one->reason);
}

static void print_records(FILE* file, const struct record* all, int count, int is_json) {
  if (is_json)
    fprintf(file, "{\"schema\": 1, \"calls\": [");
  else
    fprintf(file,
            "quadrille: the calls that rank 0 of each communicator made\n"
            "%-20s  %-18s  %20s  %-25s  %8s  %12s  %10s  %s",
            "collective", "communicator", "bytes", "schedule", "calls", "bytes in all", "seconds",
            "reason");
  for (int i = 0; i < count; i++) {
    fprintf(file, is_json && i > 0 ? ",\n" : "\n");
    print_record(file, &all[i], is_json);
  }
  fprintf(file, is_json ? "\n]}\n" : "\n");
}

static void write_report(const char* name, const struct record* all, int count) {
  const size_t length = strlen(name);
  if (strcmp(name, "1") == 0) return print_records(stderr, all, count, 0);
  FILE* file = preload_open(name);
  if (file) print_records(file, all, count, length > 5 && strcmp(name + length - 5, ".json") == 0);
  preload_close(file, name, "report");
}

void preload_report_save(void) {
  const char* name = preload_settings()->report;
  if (!name || strcmp(name, "1") == 0) return;
  pthread_mutex_lock(&lock);
  write_report(name, records, record_count);
  pthread_mutex_unlock(&lock);
}

void preload_report(void) {
  const char* name = preload_settings()->report;
  size_t size = 0;
  int count = 0;
  struct record *all = NULL, *gathered;
  gathered = preload_gather(name != NULL, records, (size_t)record_count * sizeof *records, &size);
  if (!gathered) return;
  for (size_t i = 0; i < size / sizeof *gathered; i++) add(&all, &count, &gathered[i]);
  write_report(name, all, count);
  free(all);
  free(gathered);
}
