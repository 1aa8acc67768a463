/* A schedule that is bound to a communicator. */
#pragma once

#include "runtime/execute/api.h"
#include "runtime/execute/arguments.h"
#include "runtime/execute/layout.h"
#include "runtime/execute/schedule.h"
#include "runtime/execute/trace.h"
#include "runtime/plan/plan.h"

struct qd_call;    /* call.h */
struct qd_channel; /* channel.h */

/* How calls of a binding run. */
struct qd_run_options {
  int compares; /* ranks compare arguments: of persistent calls, or if all set QUADRILLE_DEBUG */
  int synchronous, window;
  double stall;       /* QUADRILLE_STALL in seconds; 0: waits are not watched */
  int64_t block_size; /* in bytes; 0: the schedule's rule chooses */
};

static inline int qd_are_same_options(const struct qd_run_options* a,
                                      const struct qd_run_options* b) {
  return a->compares == b->compares && a->synchronous == b->synchronous && a->window == b->window &&
         a->stall == b->stall && a->block_size == b->block_size;
}

/* A buffer of a call whose counts all ranks know. */
struct qd_buffer_layout {
  struct qd_extents extents;
  int64_t total;         /* bytes of all blocks */
  int64_t each, stride;  /* in bytes, if all blocks are equally long and evenly spaced; else -1 */
  struct qd_buffer copy; /* packed blocks, if the user's memory is not contiguous */
};

/* The counts of calls whose counts all ranks know. */
struct qd_counts {
  int64_t *own, *remote;              /* of both groups, by rank in the schedule */
  int64_t element;                    /* if counts are of elements: bytes of one; else 1 */
  int64_t* exchanged;                 /* counts sent to the other group, then received from it */
  MPI_Request* requests;              /* of the messages with these counts */
  struct qd_buffer_layout buffers[2]; /* by QD_PIECE_SEND and QD_PIECE_RECEIVE */
};

/* The last call. The next call is made without checks if only its buffers differ from those of the last one. */
struct qd_last_call {
  int may_repeat;
  unsigned serial, significant; /* serial: changes with the call; significant: enum qd_argument */
  int64_t used;                 /* the number of the call on the channel that used this last */
  int64_t reach;                /* the longer buffer has at most this many bytes; -1: not known */
  int* arrays;                  /* copies of the arrays to which `given` and `made` point */
  int32_t array_capacity;
  int sends_received, receives_sent; /* `made` sends from recvbuf; `made` receives in sendbuf */
  struct qd_arguments given, made;   /* before and after the checks */
};

/* A schedule that is bound to a communicator. It has copies for other arguments and for persistent calls. */
struct qd_binding {
  struct qd_binding* next; /* of the same communicator */
  struct qd_channel* channel;
  struct qd_schedule_data* schedule_data;
  MPI_Comm comm, group_comm; /* those of the channel */
  const int* ranks;          /* ranks[n]: the rank in `comm` with number n; NULL: n itself */
  struct qd_layout layout;
  struct qd_run_options options;
  struct qd_traced_binding trace;

  /* Calls change the following fields. */
  struct qd_tables tables;
  struct qd_tables other_tables; /* of the other group, so that both groups find its errors */
  struct qd_call* call;          /* kept from call to call, or NULL */
  int are_tables_good;           /* tables and plans fit the current root, counts and parameters */
  struct qd_last_call last;
  struct qd_binding* others[QD_KEPT_CALLS - 1]; /* copies for calls with other arguments, or NULL */
  struct qd_counts counts;
  int64_t calls; /* how many were made so far, including those that failed */
};

/* Returns the rank in `comm` of a rank with this number in the layout and the plan. */
static inline int qd_rank_in_comm(const struct qd_binding* binding, int number) {
  return binding->ranks ? binding->ranks[number] : number;
}

/* Returns whether wrong arguments of a call are left to MPI to report; see QD_LEFT_TO_MPI. */
static inline int qd_leaves_errors(const struct qd_binding* binding) {
  return qd_global.serves_preload && !binding->options.compares;
}

/* ---- bind.c */

/* Makes the tables and a call of a binding, and a plan; see qd_call_open. Sets `problem` if that fails. */
void qd_binding_plan(struct qd_binding* binding, int whole, struct qd_problem* problem);
/* Returns a binding for a call with other arguments: this one, or a copy, which may replace the oldest kept call. */
struct qd_binding* qd_spare_binding(struct qd_binding* binding);
/* Finds the binding of a schedule to a communicator for a call of `collective`. Binds the schedule if it is not
 * bound. Returns an MPI error code, after the error handler was called. */
int qd_find_binding(quadrille_schedule schedule, MPI_Comm comm, int collective,
                    struct qd_binding** binding);

/* persistent.c. Collective. Makes a persistent call. Returns an MPI error code, of one class at all ranks, after the
 * error handler was called. */
int qd_persistent_make(struct qd_binding* binding, const struct qd_arguments* arguments,
                       MPI_Comm comm, quadrille_request* request);
