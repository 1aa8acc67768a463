/* The report of the calls that a job made: its lines, a summary, and JSON. Nothing here knows MPI. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "preload/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PRELOAD_REPORT_SCHEMA = 3 };

/* Calls of one kind that one schedule served, or MPI's own collective. All numbers are those of rank 0 of a communicator. */
struct preload_line {
  int collective, size_class;
  struct preload_shape shape;
  char schedule[PRELOAD_NAME], reason[64];
  int64_t calls;
  int64_t bytes;  /* of the data that the rank sends or receives, whichever is more */
  double seconds; /* of the calls, with the time in which the rank waited for others */
  int64_t timed;  /* calls whose time by both is known, since this run has compared them */
  double native,
      scheduled; /* their seconds by MPI's own collective and by the schedule, without waiting */
  double cost;   /* the seconds that races took beyond usual calls */
};

struct preload_table {
  struct preload_line* lines; /* in memory that the caller frees */
  int count;
  int ranks;      /* of the job; 1: the table has only the calls of the job's rank 0 */
  double seconds; /* from MPI_Init on */
};

/* Adds the numbers of the line to the line of the same calls, or adds a new line. Drops it if memory runs out. */
void preload_add_line(struct preload_table* table, const struct preload_line* line);
/* Returns the seconds that schedules saved, as this run has measured them; negative if they cost time. */
double preload_saved(const struct preload_line* line);
/* Returns whether the run has measured these calls or has paid for races of them. */
int preload_is_measured(const struct preload_line* line);
/* Both sort the lines by their seconds, the longest first. The summary is a headline, and then one line for each collective. */
void preload_print_summary(FILE* file, struct preload_table* table);
void preload_print_json(FILE* file, struct preload_table* table);

#ifdef __cplusplus
}
#endif
