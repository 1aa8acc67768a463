#include <stdlib.h>
#include <string.h>

#include "preload/report.h"

static int is_same(const struct preload_line* a, const struct preload_line* b) {
  return a->collective == b->collective && a->size_class == b->size_class &&
         memcmp(&a->shape, &b->shape, sizeof a->shape) == 0 &&
         strcmp(a->schedule, b->schedule) == 0 && strcmp(a->reason, b->reason) == 0;
}

void preload_add_line(struct preload_table* table, const struct preload_line* line) {
  struct preload_line* same = table->lines;
  const struct preload_line* const end = same + table->count;
  while (same != end && !is_same(same, line)) same++;
  if (same != end) {
    same->calls += line->calls;
    same->bytes += line->bytes;
    same->seconds += line->seconds;
    same->timed += line->timed;
    same->native += line->native;
    same->scheduled += line->scheduled;
    same->cost += line->cost;
    return;
  }
  struct preload_line* grown = realloc(table->lines, ((size_t)table->count + 1) * sizeof *grown);
  if (!grown) return;
  table->lines = grown;
  grown[table->count++] = *line;
}

double preload_saved(const struct preload_line* line) {
  return line->native - line->scheduled - line->cost;
}

/* ---- Text */

void preload_print_shape(const struct preload_shape* shape, char text[64]) {
  if (shape->groups == 2)
    snprintf(text, 64, "%d + %d ranks", shape->ranks, shape->remote_ranks);
  else if (shape->nodes == 0)
    snprintf(text, 64, "%d rank%s", shape->ranks, shape->ranks == 1 ? "" : "s");
  else if (shape->least == shape->most)
    snprintf(text, 64, "%d x %d ranks", shape->nodes, shape->least);
  else
    snprintf(text, 64, "%d x %d to %d ranks", shape->nodes, shape->least, shape->most);
}

void preload_print_class(int size_class, char text[48]) {
  const struct preload_range range = preload_class_range(size_class);
  if (size_class < 0)
    snprintf(text, 48, "-");
  else if (range.least == range.most)
    snprintf(text, 48, "%lld", (long long)range.least);
  else
    snprintf(text, 48, "%lld..%lld", (long long)range.least, (long long)range.most);
}

static int by_seconds(const void* a, const void* b) {
  const double x = ((const struct preload_line*)a)->seconds,
               y = ((const struct preload_line*)b)->seconds;
  return (x < y) - (x > y);
}

static void sort(struct preload_table* table) {
  if (table->count > 0) qsort(table->lines, (size_t)table->count, sizeof *table->lines, by_seconds);
}

/* Microseconds of a call, or "-" if there is no time. */
static void print_time(double seconds, int64_t calls, char text[24]) {
  if (calls > 0)
    snprintf(text, 24, "%.1f", 1e6 * seconds / (double)calls);
  else
    snprintf(text, 24, "-");
}

static void print_line(FILE* file, const struct preload_line* one) {
  char shape[64], size[48], native[24], scheduled[24];
  preload_print_shape(&one->shape, shape);
  preload_print_class(one->size_class, size);
  print_time(one->native, one->timed, native);
  print_time(one->scheduled, one->timed, scheduled);
  fprintf(file, "%-20s  %-18s  %20s  %-25s  %8lld  %12lld  %10.6f  %10s  %10s  %10.6f  %s\n",
          preload_collectives[one->collective].name, shape, size, one->schedule,
          (long long)one->calls, (long long)one->bytes, one->seconds, native, scheduled,
          preload_saved(one), one->reason);
}

void preload_print_table(FILE* file, struct preload_table* table) {
  double seconds = 0, saved = 0;
  long long calls = 0;
  sort(table);
  fprintf(file,
          "quadrille: the calls that rank 0 of each communicator made\n"
          "%-20s  %-18s  %20s  %-25s  %8s  %12s  %10s  %10s  %10s  %10s  %s\n",
          "collective", "communicator", "bytes", "schedule", "calls", "bytes in all", "seconds",
          "native/us", "taken/us", "saved/s", "reason");
  for (int i = 0; i < table->count; i++) {
    print_line(file, &table->lines[i]);
    calls += table->lines[i].calls;
    seconds += table->lines[i].seconds;
    saved += preload_saved(&table->lines[i]);
  }
  fprintf(file, "quadrille: %lld calls took %.6f s; schedules and comparisons %s about %.6f s\n",
          calls, seconds, saved < 0 ? "cost" : "saved", saved < 0 ? -saved : saved);
}

/* ---- JSON */

static void print_json_line(FILE* file, const struct preload_line* one) {
  const struct preload_shape* shape = &one->shape;
  const struct preload_range bytes = preload_class_range(one->size_class);
  fprintf(file, "  {\"collective\": \"%s\", \"groups\": %d, \"ranks\": %d, \"remote_ranks\": %d, ",
          preload_collectives[one->collective].name, shape->groups, shape->ranks,
          shape->remote_ranks);
  fprintf(file, "\"nodes\": %d, \"ranks_a_node\": [%d, %d], ", shape->nodes, shape->least,
          shape->most);
  if (one->size_class < 0)
    fprintf(file, "\"bytes\": null, ");
  else
    fprintf(file, "\"bytes\": [%lld, %lld], ", (long long)bytes.least, (long long)bytes.most);
  fprintf(file, "\"schedule\": \"%s\", \"reason\": \"%s\", ", one->schedule, one->reason);
  fprintf(file, "\"calls\": %lld, \"all_bytes\": %lld, \"seconds\": %.9f, ", (long long)one->calls,
          (long long)one->bytes, one->seconds);
  fprintf(file,
          "\"timed_calls\": %lld, \"native_seconds\": %.9f, \"taken_seconds\": %.9f, "
          "\"comparing_seconds\": %.9f}",
          (long long)one->timed, one->native, one->scheduled, one->cost);
}

void preload_print_json(FILE* file, struct preload_table* table) {
  const locale_t former = preload_plain_numbers();
  sort(table);
  fprintf(file, "{\"schema\": %d, \"calls\": [", PRELOAD_REPORT_SCHEMA);
  for (int i = 0; i < table->count; i++) {
    fprintf(file, i > 0 ? ",\n" : "\n");
    print_json_line(file, &table->lines[i]);
  }
  fprintf(file, "\n]}\n");
  uselocale(former);
}
