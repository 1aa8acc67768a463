/* The report of the calls that a job made: its lines, and its text. Nothing here knows MPI. */
#ifndef QUADRILLE_PRELOAD_REPORT_H_
#define QUADRILLE_PRELOAD_REPORT_H_

#include <stdint.h>
#include <stdio.h>

#include "preload/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PRELOAD_REPORT_SCHEMA = 2 };

/* Calls of one kind that one schedule served, or MPI's own collective. All numbers are those of rank 0 of a communicator. */
struct preload_line {
  int collective, size_class;
  struct preload_shape shape;
  char schedule[PRELOAD_NAME], reason[64];
  int64_t calls;
  int64_t bytes;  /* of the data that the rank sends or receives, whichever is more */
  double seconds; /* of the calls, with the time in which the rank waited for others */
  int64_t timed;  /* calls whose times comparisons or a rule know: */
  double native,
      scheduled; /* their seconds by MPI's own collective and by the schedule, as these know them */
  double cost;   /* the seconds that comparisons took beyond usual calls */
};

struct preload_table {
  struct preload_line* lines; /* in memory that the caller frees */
  int count;
};

/* Adds to the line of the same calls, or as a new one. If memory runs out, the calls are not reported. */
void preload_add_line(struct preload_table* table, const struct preload_line* line);
/* The seconds that schedules saved. */
double preload_saved(const struct preload_line* line);
void preload_print_shape(const struct preload_shape* shape, char text[64]);
void preload_print_class(int size_class, char text[48]);
/* The line that takes the most seconds is the first. */
void preload_print_table(FILE* file, struct preload_table* table);
void preload_print_json(FILE* file, struct preload_table* table);

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_PRELOAD_REPORT_H_ */
