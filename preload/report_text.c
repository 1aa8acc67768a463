/* Prints the summary and JSON of a report. Tested by tests/cli/report_test.sh and tests/preload/preload_test.sh. */
#include <locale.h>
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

int preload_is_measured(const struct preload_line* line) {
  return line->timed > 0 || line->cost != 0;
}

static int by_seconds(const void* a, const void* b) {
  const double x = ((const struct preload_line*)a)->seconds,
               y = ((const struct preload_line*)b)->seconds;
  return (x < y) - (x > y);
}

static void sort_lines(struct preload_table* table) {
  if (table->count > 0) qsort(table->lines, (size_t)table->count, sizeof *table->lines, by_seconds);
}

/* Lets this thread print numbers with a decimal point. Returns the former locale, which uselocale restores. */
static locale_t plain_numbers(void) {
  static locale_t plain;
  if (!plain) plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
  return uselocale(plain);
}

/* ---- The summary: means over the ranks of the job. Rank 0 of a communicator stands for all of its ranks. */

struct sum {
  double calls, seconds, timed, native, scheduled, saved;
  int lines, is_measured;
};

/* Adds up the lines of a collective, or all lines if it is -1. */
static struct sum add_up(const struct preload_table* table, int collective) {
  struct sum sum = {.lines = 0};
  for (int i = 0; i < table->count; i++) {
    const struct preload_line* const one = &table->lines[i];
    if (collective >= 0 && one->collective != collective) continue;
    const int ranks = one->shape.ranks < table->ranks ? one->shape.ranks : table->ranks;
    const double share = (double)ranks / table->ranks;
    sum.calls += share * (double)one->calls;
    sum.seconds += share * one->seconds;
    sum.timed += share * (double)one->timed;
    sum.native += share * one->native;
    sum.scheduled += share * one->scheduled;
    sum.saved += share * preload_saved(one);
    sum.is_measured |= preload_is_measured(one);
    sum.lines++;
  }
  return sum;
}

static void print_headline(FILE* file, const struct preload_table* table) {
  const struct sum all = add_up(table, -1);
  const double gain = all.saved < 0 ? -all.saved : all.saved,
               percent = table->seconds > 0 ? 100 / table->seconds : 0;
  fprintf(file, "quadrille: blocking collectives took %.0f %% of %.*f s%s; ", percent * all.seconds,
          table->seconds < 1 ? 3 : 1, table->seconds,
          all.seconds > table->seconds ? " in several threads" : "");
  if (all.is_measured)
    fprintf(file, "Quadrille %s %.*f s, %.*f %%, measured in this run\n",
            all.saved < 0 ? "cost" : "saved", gain < 1 ? 3 : 1, gain, percent * gain < 10 ? 1 : 0,
            percent * gain);
  else
    fprintf(file, "nothing that Quadrille saved or cost was measured in this run\n");
}

static void print_number(FILE* file, int is_there, int digits, double number) {
  if (is_there)
    fprintf(file, "  %10.*f", digits, number);
  else
    fprintf(file, "  %10s", "-");
}

/* Returns the first measured line of line i's collective, from line i on, or line i if there is none. */
static const struct preload_line* shown(const struct preload_table* table, int i) {
  const struct preload_line* const first = &table->lines[i];
  for (; i < table->count; i++)
    if (table->lines[i].collective == first->collective && preload_is_measured(&table->lines[i]))
      return &table->lines[i];
  return first;
}

/* Prints the line of a collective. `longest`: its line with the most seconds, a measured one if there is any. */
static void print_collective(FILE* file, const struct preload_table* table,
                             const struct preload_line* longest) {
  const struct sum sum = add_up(table, longest->collective);
  fprintf(file, "%-20s  %9.0f  %12.6f", preload_collectives[longest->collective].name, sum.calls,
          sum.seconds);
  print_number(file, sum.timed > 0, 1, 1e6 * sum.native / sum.timed);
  print_number(file, sum.timed > 0, 1, 1e6 * sum.scheduled / sum.timed);
  print_number(file, sum.is_measured, 6, sum.saved);
  fprintf(file, "  %-25s  %s", longest->schedule, longest->reason);
  if (strcmp(longest->reason, "by rule") == 0 && !preload_is_measured(longest))
    fprintf(file, ", not measured in this run");
  if (sum.lines > 1) fprintf(file, "; and %d more", sum.lines - 1);
  fprintf(file, "\n");
}

void preload_print_summary(FILE* file, struct preload_table* table) {
  const locale_t former = plain_numbers();
  char ranks[32] = "rank 0";
  if (table->ranks > 1) snprintf(ranks, sizeof ranks, "mean of %d ranks", table->ranks);
  sort_lines(table);
  print_headline(file, table);
  fprintf(file, "%-31s  %12s  %22s\n", ranks, "with waiting", "--- without waiting --");
  fprintf(file, "%-20s  %9s  %12s  %10s  %10s  %10s  %-25s  %s\n", "collective", "calls", "seconds",
          "native/us", "taken/us", "saved/s", "schedule", "reason");
  for (int i = 0; i < table->count; i++) {
    int earlier = 0;
    while (table->lines[earlier].collective != table->lines[i].collective) earlier++;
    if (earlier == i) print_collective(file, table, shown(table, i));
  }
  uselocale(former);
}

/* ---- JSON */

static void print_json_line(FILE* file, const struct preload_line* one) {
  const struct preload_shape* shape = &one->shape;
  const struct preload_range range = preload_class_range(one->size_class);
  char bytes[64] = "null";
  if (one->size_class >= 0)
    snprintf(bytes, sizeof bytes, "[%lld, %lld]", (long long)range.least, (long long)range.most);
  fprintf(file, "  {\"collective\": \"%s\", \"groups\": %d, \"ranks\": %d, \"remote_ranks\": %d, ",
          preload_collectives[one->collective].name, shape->groups, shape->ranks,
          shape->remote_ranks);
  fprintf(file, "\"nodes\": %d, \"ranks_a_node\": [%d, %d], \"bytes\": %s, ", shape->nodes,
          shape->least, shape->most, bytes);
  fprintf(file, "\"schedule\": \"%s\", \"reason\": \"%s\", \"calls\": %lld, \"all_bytes\": %lld, ",
          one->schedule, one->reason, (long long)one->calls, (long long)one->bytes);
  fprintf(file,
          "\"seconds\": %.9f, \"timed_calls\": %lld, \"native_seconds\": %.9f, "
          "\"taken_seconds\": %.9f, \"comparing_seconds\": %.9f}",
          one->seconds, (long long)one->timed, one->native, one->scheduled, one->cost);
}

void preload_print_json(FILE* file, struct preload_table* table) {
  const locale_t former = plain_numbers();
  const struct sum all = add_up(table, -1);
  sort_lines(table);
  fprintf(file, "{\"schema\": %d, \"ranks\": %d, \"seconds\": %.6f, ", PRELOAD_REPORT_SCHEMA,
          table->ranks, table->seconds);
  fprintf(file, "\"collective_seconds\": %.6f, \"saved_seconds\": ", all.seconds);
  if (all.is_measured)
    fprintf(file, "%.6f", all.saved);
  else
    fprintf(file, "null");
  fprintf(file, ", \"calls\": [");
  for (int i = 0; i < table->count; i++) {
    fprintf(file, i > 0 ? ",\n" : "\n");
    print_json_line(file, &table->lines[i]);
  }
  fprintf(file, "\n]}\n");
  uselocale(former);
}
