/* The builder: the only reader of the walk. It makes plans of it.
 *
 * build.c reads and checks events, order.c decides when messages are posted and waited for. */
#ifndef QUADRILLE_RUNTIME_PLAN_BUILDER_H_
#define QUADRILLE_RUNTIME_PLAN_BUILDER_H_

#include "runtime/plan/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A step in flight, by its number modulo a power of two. */
struct qd_planned_step {
  int64_t key, sent_bytes;         /* 0 once its sends are over */
  int32_t ready;                   /* so many steps have arrived before its sends may go */
  int32_t receives, sends, copies; /* where its own end */
};

/* A message buffer, while the plan is made. */
struct qd_planned_buffer {
  int32_t blocks;     /* that live in it; 1 while it is in use otherwise */
  int32_t free_after; /* so many sends are over */
};

/* The bytes of a block that were read or written lie between. */
struct qd_accessed {
  int64_t low, high;
};

/* A temporary block where all lengths are known. */
struct qd_temporary {
  int64_t length, capacity; /* of what it holds, in units, -1: nothing; the most so far, in bytes */
};

/* A message of a run that moves along its block. */
struct qd_moving {
  struct qd_message message; /* the last one; count 0: there is none */
  int receives;
  int64_t stride;
  struct qd_accessed* accessed; /* of the block */
};

/* A copy, a reduction, or a part of a receive that waits for the sends of its step. */
struct qd_pending {
  enum qd_event_kind kind;
  unsigned flags;
  int64_t peer;
  struct qd_piece piece, second;
};

struct qd_builder {
  struct qd_plan* plan;
  struct qd_plan_input input;
  int has_global_counts; /* all ranks know all counts; then: */
  int64_t unit;          /* bytes of what ranges count */
  int in_place;          /* the send buffer is the receive buffer; of an allgather, always */
  int gathers;           /* an allgather of one group: own contributions are there */
  int64_t own_block;     /* of the receive buffer, that stands for the send buffer in place */
  struct qd_temporary* temporaries;
  int32_t temporary_capacity, accessed_capacity, holder_capacity; /* how long arrays are */
  int64_t at_once;       /* bytes that may be on their way in the sends of several steps */
  int32_t most_messages; /* a plan of so many ends with the step */
  struct qd_walker walker;
  struct qd_event event;
  int64_t iteration;       /* of the run in `event`; -1: none */
  int is_full, is_further; /* the plan: with as much as it takes; not the first of the call */

  /* what is being read */
  int64_t key, after;
  int64_t peer;     /* in the schedule */
  int goes_by_rank; /* a block is for, and from, the rank of its number */
  int has_key;      /* a step was read */
  int has_after, receives, is_token, needs_staging; /* of the step; then of the message */
  int is_mixed, is_deferred; /* the step: copies and receives wait for its end; the message does */
  struct qd_pending* pending;
  int32_t pending_count, pending_capacity;
  struct qd_message* message;
  struct qd_moving moving[QD_RUN_MESSAGES]; /* by message of the run */

  /* steps_done <= steps_received, steps_sent <= steps; steps_done + window >= steps */
  struct qd_planned_step* ring;
  uint32_t mask;
  int32_t window, waiting; /* waiting: the most steps whose sends may wait */
  int32_t steps, steps_done, steps_received, steps_sent;
  int32_t
      barrier; /* so many steps stand before a copy outside steps, which all that follow wait for */
  struct qd_progress now, before; /* before: up to the last operation */
  int32_t queued, copies,
      copied;              /* sends and copies of the steps so far; copies that are planned */
  int64_t sent_bytes;      /* of the step */
  int64_t bytes_in_flight; /* of sends that are posted and not waited for */
  int is_plain;            /* no message of the plan takes a buffer or saves a block */
  int does;                /* the last part of the operation that is being made; see order.c */
  int owes_copy;           /* of this rank's block to itself */

  struct qd_accessed* accessed; /* by block of the receive buffer, then by temporary block */
  int32_t* holders;             /* message buffer by temporary block; -1: was not written */
  int32_t *sent_as, *saved_in;  /* in place, by block: the send, the buffer; -1: not yet */
  struct qd_planned_buffer* buffers;
  int32_t buffer_capacity, next_buffer;
  struct qd_operation none; /* where memory ran out */
  const char* error;        /* what is wrong with the schedule, or qd_no_memory */
};

/* Takes memory. `whole`: the plan is one, however long. 0 where memory ran out; to be closed in any
 * case. */
int qd_builder_open(struct qd_builder* builder, const struct qd_plan_input* input,
                    struct qd_plan* plan, int in_place, int whole);
void qd_builder_close(struct qd_builder* builder);
/* For the root that has changed: takes only the memory that is lacking. The same. */
int qd_builder_fit(struct qd_builder* builder);
/* For so many steps in flight; fewer where memory ran out. `has_block_size`: as in the input. */
void qd_builder_retune(struct qd_builder* builder, int window, int has_block_size);
/* Starts at the beginning of a call. */
void qd_builder_start(struct qd_builder* builder);
/* Writes the plan of the next steps over the one before. Returns 1 where more follow, 0 where that was
 * all, -1 where `error` says what is wrong. */
int qd_builder_next(struct qd_builder* builder);

/* How many iterations the loops of a rank may make. */
int64_t qd_most_iterations(const struct qd_plan_input* input);

/* Nothing has been read or written where all lengths are known. */
void qd_builder_forget_known(struct qd_builder* builder);

/* order.c: what the plan is, between its steps. */
void qd_order_forget(struct qd_builder* builder); /* the call before */
void qd_order_begin(struct qd_builder* builder);
/* Takes in the step that was read, or a copy that is one of its own and waits for all before it. */
void qd_order_step(struct qd_builder* builder, int is_copy);
void qd_order_end(struct qd_builder* builder);

/* Notes the first mistake. */
static inline void qd_builder_refuse(struct qd_builder* builder, const char* error) {
  if (!builder->error) builder->error = error;
}

/* Memory ran out. Where the plan is made in the call, it goes on without the bytes of its messages, so
 * that the other ranks are served. */
static inline void qd_builder_lack(struct qd_builder* builder) {
  builder->plan->lacks_memory = 1;
  if (!builder->has_global_counts) qd_builder_refuse(builder, qd_no_memory);
}

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_RUNTIME_PLAN_BUILDER_H_ */
