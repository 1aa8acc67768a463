/* Shared by the two files of the check of plans: check_program.c reads the program, check.c judges plans by it. */
#ifndef QUADRILLE_RUNTIME_PLAN_CHECK_LISTS_H_
#define QUADRILLE_RUNTIME_PLAN_CHECK_LISTS_H_

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/plan/builder.h"
#include "runtime/plan/check.h"

/* Limits of a check: a larger one would take too long, and is refused. */
enum { MOST_ACTS = 1 << 22, MOST_PAIRS = 1 << 24, NEVER = -1 };
enum kind { SENDS, LOCALS, RECEIVES };

/* Bytes of a region; a whole block is 0 .. 1. */
struct span {
  int32_t region;
  int64_t low, high;
  int64_t saved; /* of a span that is read: the position at which it was saved, or NEVER */
};

/* A message or a local statement of the program. */
struct act {
  enum kind kind;
  int32_t step, peer;
  int64_t key, bytes;
  int32_t first, count; /* of its spans; of a local statement: the source, then the target */
  int32_t combines;     /* enum qd_side_of_operator */
  int zero_copy;        /* a receive: it is posted straight into its target */
  int is_staged;        /* a send: it is packed into a buffer when it is posted */
  int32_t use;          /* of its buffer, or NEVER */
  int32_t source;       /* a send: the use of the buffer with its temporary block, or NEVER */
  int64_t posted, done; /* positions, or NEVER */
};

struct list {
  struct act* all;
  int32_t count, capacity;
  int32_t fed; /* how many are in the plans so far */
};

struct step {
  int64_t key;
  int32_t ready; /* its sends wait for the receives of this many steps, the first ones */
};

/* A message buffer, from the position at which it is taken to the last at which it is needed. */
struct use {
  int32_t buffer;
  int64_t from, to;
};

/* The call that the plans are for. */
struct call {
  struct qd_plan_input input;
  int in_place, has_global_counts, gathers; /* as in struct qd_traits */
  int64_t unit;
  int32_t send_blocks, receive_blocks;
};

/* The program's actions on this rank. */
struct program {
  struct list lists[3]; /* by kind, each in the order of the text */
  struct span* spans;
  struct step* steps;
  int32_t span_count, span_capacity, step_count, step_capacity;
  int32_t barrier;  /* steps up to the last statement outside steps */
  int64_t* lengths; /* of temporary blocks, in units; -1: it is empty */
  int has_own_copy; /* this rank copies its block to itself */
  int is_undefined; /* the builder refuses it and says why */
};

/* The state after the operations of the plans so far. */
struct replay {
  int64_t position; /* counts the operations */
  struct use* uses;
  int32_t use_count, use_capacity;
  int32_t* holders;  /* by region: the use that a temporary block is in, or NEVER */
  int64_t* saved;    /* by region: the position at which it was saved, or NEVER */
  int32_t* saved_in; /* by region: the use in which it was saved */
  int own_copies;
};

struct qd_plan_check {
  struct call call;
  struct program program;
  struct replay replay;
  int lacks_memory;
  char scratch[128]; /* stands for an element for which there is no memory */
  const char* law;   /* the first law that is broken */
  char text[QD_LAW_TEXT];
};

/* Appends an element to an array. If memory runs out, notes that and returns memory that nobody reads. */
void* qd_check_grow(struct qd_plan_check* check, void** array, int32_t* count, int32_t* capacity,
                    size_t size);
/* check_program.c. Fills check->program. */
void qd_check_read_program(struct qd_plan_check* check);

static inline int32_t temporary_region(const struct qd_plan_check* c, int64_t block) {
  const struct call* call = &c->call;
  return (int32_t)block + (call->has_global_counts ? QD_TEMPORARY_REGIONS
                                                   : call->send_blocks + call->receive_blocks);
}

static inline int is_temporary(const struct qd_plan_check* c, int32_t region) {
  return region >= temporary_region(c, 0);
}

#endif /* QUADRILLE_RUNTIME_PLAN_CHECK_LISTS_H_ */
