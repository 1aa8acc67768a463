/* The builder makes the plans of one rank from its walk.
 *
 * build.c reads events and checks them. order.c decides when messages are posted and waited for. builder.c owns the
 * memory. */
#pragma once

#include "runtime/plan/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What stays the same while a plan is made. */
struct qd_traits {
  int has_global_counts; /* all ranks know all counts */
  int in_place;          /* the send buffer is in the receive buffer; always so in an allgather */
  int gathers; /* an allgather of one group: this rank's contribution is in the receive buffer */
  int goes_by_rank;      /* all-to-all: block b goes to, or comes from, rank b */
  int64_t unit;          /* bytes of one element of a range, if all ranks know all counts */
  int64_t own_block;     /* in place: the block of the receive buffer that is the send buffer */
  int64_t at_once;       /* the most bytes in flight in sends of several steps */
  int32_t most_messages; /* a plan with this many messages each way ends after the step */
};

/* An event that is kept until the end of its step: a copy, a reduction, or an event of a receive. */
struct qd_pending {
  enum qd_event_kind kind;
  unsigned flags;
  int64_t peer;
  struct qd_piece piece, second;
};

/* The step and the message that are being read. */
struct qd_reading {
  struct qd_walker walker;
  struct qd_event event;
  int64_t key, after;
  int has_key, has_after; /* has_key: a step was read */
  int is_mixed;           /* copies and receives of the step are kept until its end */
  int64_t step_bytes;     /* of all sends of the step */
  struct qd_message* message;
  int64_t peer;                          /* of the message, in the schedule */
  int receives, is_token, needs_staging; /* of the message */
  int is_kept;                           /* the message is kept until the end of its step */
  struct qd_pending* pending;
  int32_t pending_count, pending_capacity;
};

/* A step in flight. */
struct qd_planned_step {
  int64_t key;
  int64_t sent_bytes;              /* 0 once its sends are complete */
  int32_t ready;                   /* its sends wait for the receives of this many steps */
  int32_t receives, sends, copies; /* how many the plan has up to the end of this step */
};

/* The steps in flight, and the operations that have been made for them.
 *
 * steps_done <= steps_received, steps_done <= steps_sent, both <= steps, and steps <= steps_done + size. */
struct qd_window {
  struct qd_planned_step* ring; /* by number of the step modulo a power of two, which is mask + 1 */
  uint32_t mask;
  int32_t size;    /* the most steps in flight */
  int32_t waiting; /* the most steps whose sends may wait to be posted */
  int32_t steps, steps_done, steps_received, steps_sent;
  int32_t barrier; /* steps before the last copy outside steps; all later steps wait for them */
  struct qd_progress now, before; /* before: at the end of the last operation */
  int32_t sends, copies;          /* of the steps so far */
  int32_t copies_done;            /* copies that have an operation */
  int64_t bytes_in_flight;
  int latest;    /* enum progress_kind (order.c): the last kind in the operation being made */
  int is_plain;  /* no message of the plan takes a buffer or saves a block */
  int is_full;   /* the plan has as many messages as it may */
  int owes_copy; /* 1: this rank's copy of its own block is not yet planned; -1: it is planned */
};

/* A range that contains all bytes of a block that were read or written. It is empty if both are equal. */
struct qd_accessed {
  int64_t low, high;
};

/* A temporary block, if all ranks know all counts. */
struct qd_temporary {
  int64_t length;   /* of its contents, in units; -1: it is empty */
  int64_t capacity; /* the most bytes that it has had to hold so far */
};

/* A message buffer. */
struct qd_planned_buffer {
  int32_t blocks;     /* how many temporary blocks it holds; 1 if it is used otherwise */
  int32_t free_after; /* it is free once this many sends are complete */
};

/* What the plan so far has done to blocks and buffers. */
struct qd_tracked {
  /* If all ranks know all counts. accessed: by block of the receive buffer, then by temporary block. */
  struct qd_accessed* accessed;
  struct qd_temporary* temporaries;
  int32_t accessed_capacity, temporary_capacity;
  /* If only the two ends know the lengths. holders: the message buffer of each temporary block; -1: none yet. */
  int32_t* holders;
  int32_t holder_capacity;
  struct qd_planned_buffer* buffers;
  int32_t buffer_capacity, next_buffer;
};

struct qd_builder {
  struct qd_plan* plan;
  struct qd_plan_input input;
  struct qd_traits traits;
  struct qd_reading reading;
  struct qd_window window;
  struct qd_tracked memory;
  int is_further;           /* the plan is not the first of the call */
  struct qd_operation none; /* stands for an operation for which there is no memory */
  const char* error;        /* what is wrong with the schedule, or qd_no_memory */
};

/* Takes memory. `in_place`: the send buffer is the receive buffer; only if all ranks know all counts. `whole`: makes
 * one plan for the whole call, however long. Returns 0 if memory ran out. The caller closes it in either case. */
int qd_builder_open(struct qd_builder* builder, const struct qd_plan_input* input,
                    struct qd_plan* plan, int in_place, int whole);
void qd_builder_close(struct qd_builder* builder);
/* Adapts an open builder to a new root. Takes only memory that is missing. Returns 0 if memory ran out. */
int qd_builder_fit(struct qd_builder* builder);
/* Sets the most steps in flight to `window`, or to fewer if memory runs out. `has_block_size`: see qd_plan_input. */
void qd_builder_retune(struct qd_builder* builder, int window, int has_block_size);
/* Starts the walk and forgets the previous call. */
void qd_builder_start(struct qd_builder* builder);
/* Overwrites the plan with one for the next steps. Returns 1 if more steps follow, 0 if these were the last, or -1
 * after an error, which `error` describes. */
int qd_builder_next(struct qd_builder* builder);

/* Returns how many iterations the loops of a rank may make together. */
int64_t qd_most_iterations(const struct qd_plan_input* input);

/* order.c. Forgets the previous call. */
void qd_order_forget(struct qd_builder* builder);
/* Begins a plan. */
void qd_order_begin(struct qd_builder* builder);
/* Plans the step that was read. `is_copy`: it is a copy outside steps, which waits for all steps before it. */
void qd_order_step(struct qd_builder* builder, int is_copy);
/* Plans the waits for all steps in flight, and ends the plan. */
void qd_order_end(struct qd_builder* builder);

/* Notes an error text, unless there is one already. */
static inline void qd_builder_refuse(struct qd_builder* builder, const char* error) {
  if (!builder->error) builder->error = error;
}

#ifdef __cplusplus
}
#endif
