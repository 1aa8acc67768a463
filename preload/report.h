/* The report of the calls that a job made: its lines, a summary, and JSON. Nothing here knows MPI. */
#ifndef QUADRILLE_PRELOAD_REPORT_H_
#define QUADRILLE_PRELOAD_REPORT_H_

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
  int64_t timed;  /* calls that this run compared: */
  double native,
      scheduled; /* their seconds by MPI's own collective and by the schedule, without waiting */
  double cost;   /* the seconds that comparisons took beyond usual calls */
};

struct preload_table {
  struct preload_line* lines; /* in memory that the caller frees */
  int count;
  int ranks;      /* of the job; 1: the calls are those of its rank 0 alone */
  double seconds; /* from MPI_Init on */
};

/* Adds to the line of the same calls, or as a new one. If memory runs out, the calls are not reported. */
void preload_add_line(struct preload_table* table, const struct preload_line* line);
/* The seconds that schedules saved, as this run has measured them. */
double preload_saved(const struct preload_line* line);
/* Whether the run has measured anything of these calls. */
int preload_is_measured(const struct preload_line* line);
/* The longest line is the first. */
void preload_sort_lines(struct preload_table* table);
/* The headline, and a line for each collective. */
void preload_print_summary(FILE* file, struct preload_table* table);
void preload_print_json(FILE* file, struct preload_table* table);

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_PRELOAD_REPORT_H_ */
