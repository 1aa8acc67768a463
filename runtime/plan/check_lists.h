/* What the two files of the check of plans share: check_program.c reads the program, check.c judges plans by it. */
#ifndef QUADRILLE_RUNTIME_PLAN_CHECK_LISTS_H_
#define QUADRILLE_RUNTIME_PLAN_CHECK_LISTS_H_

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/plan/builder.h"
#include "runtime/plan/check.h"

/* A check of more than that would take too long, and says so. */
enum { MOST_ACTS = 1 << 22, MOST_PAIRS = 1 << 24, NEVER = -1 };
enum kind { SENDS, LOCALS, RECEIVES };

/* Bytes of a region, or a whole block: 0 .. 1. */
struct span {
  int32_t region;
  int64_t low, high;
  int64_t saved; /* of what a send or a copy reads: when it was copied aside, or NEVER */
};

/* A message or a local statement of the program. */
struct act {
  int32_t step, peer;
  int64_t key, bytes;
  int32_t first, count; /* of its spans; of a local statement: what it reads, then what it writes */
  int32_t combines;
  int zero_copy;  /* a receive: it is posted where its bytes belong */
  int is_staged;  /* a send: it is copied into a buffer when it is posted */
  int32_t use;    /* of the buffer, or NEVER */
  int32_t source; /* a send: the use of the buffer that its temporary block is in, or NEVER */
  int64_t posted, done;
};

struct list {
  struct act* all;
  int32_t count, capacity, fed; /* fed: so many are in the plans so far */
};

struct step {
  int64_t key;
  int32_t ready; /* its sends wait for the receives of so many steps */
};

/* A message buffer from when it is taken until nothing needs it any more. */
struct use {
  int32_t buffer;
  int64_t from, to;
};

struct qd_plan_check {
  struct qd_plan_input input;
  int in_place, has_global_counts, gathers;
  int64_t unit;
  int32_t send_blocks, receive_blocks;
  struct list lists[3]; /* by kind */
  struct span* spans;
  struct step* steps;
  struct use* uses;
  int32_t span_count, span_capacity, step_count, step_capacity, use_count, use_capacity;
  int64_t* lengths;  /* of temporary blocks, in units; -1: holds nothing */
  int32_t* holders;  /* the use in which a temporary block is */
  int64_t* saved;    /* by region: when it was saved */
  int32_t* saved_in; /* and the use */
  int32_t barrier;
  int64_t position;
  int has_own_copy, own_copies, lacks_memory;
  int is_undefined;  /* the program: the builder says why */
  char scratch[128]; /* an element for which there is no memory */
  const char* law;
  char text[QD_LAW_TEXT];
};

/* One more element of an array, counted; where memory ran out, which is noted, a region that nobody reads. */
void* qd_check_grow(struct qd_plan_check* check, void** array, int32_t* count, int32_t* room,
                    size_t size);
/* check_program.c: fills the lists with the whole program, of which a plan was made. */
void qd_check_read_program(struct qd_plan_check* check);

static inline int32_t temporary_region(const struct qd_plan_check* c, int64_t block) {
  return (int32_t)block +
         (c->has_global_counts ? QD_TEMPORARY_REGIONS : c->send_blocks + c->receive_blocks);
}

static inline int is_temporary(const struct qd_plan_check* c, int32_t region) {
  return region >= temporary_region(c, 0);
}

#endif /* QUADRILLE_RUNTIME_PLAN_CHECK_LISTS_H_ */
