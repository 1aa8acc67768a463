/* A schedule that is bound to a communicator. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_BINDING_H_
#define QUADRILLE_RUNTIME_EXECUTE_BINDING_H_

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
  int compares; /* calls are compared between ranks: persistent calls, or QUADRILLE_DEBUG at all ranks */
  int synchronous, window;
  double stall;       /* QUADRILLE_STALL in seconds; 0: waits are not watched */
  int64_t block_size; /* in bytes; 0: the schedule's rule chooses */
};

static inline int qd_are_same_options(const struct qd_run_options* a,
                                      const struct qd_run_options* b) {
  return a->compares == b->compares && a->synchronous == b->synchronous && a->window == b->window &&
         a->stall == b->stall && a->block_size == b->block_size;
}

/* One buffer of a call whose counts all ranks know. */
struct qd_buffer_layout {
  struct qd_extents extents;
  int64_t total;         /* bytes of all blocks */
  int64_t each, stride;  /* in bytes, if all blocks are equally long and evenly spaced; else -1 */
  struct qd_buffer copy; /* packed blocks, if the user's memory is not contiguous */
};

/* The counts of calls whose counts all ranks know. */
struct qd_counts {
  int64_t *own, *remote;              /* of both groups, by rank in the schedule */
  int64_t element;                    /* bytes of one, if counts are of elements; else 1 */
  int64_t* exchanged;                 /* counts that groups send to each other */
  MPI_Request* requests;              /* of those messages */
  struct qd_buffer_layout buffers[2]; /* by QD_PIECE_SEND and QD_PIECE_RECEIVE */
};

/* The last call. A call that differs in its buffers alone is made again without a check. */
struct qd_last_call {
  int may_repeat;
  unsigned serial, significant; /* of these arguments */
  int64_t used;                 /* when the last one was made, by the clock of the channel */
  int64_t reach;                /* bytes of a buffer at most; -1: not known */
  int* arrays;                  /* copies of the arrays that `given` and `made` name */
  int32_t array_capacity;
  int sends_received, receives_sent; /* which argument is the address of the other side, too */
  struct qd_arguments given, made;   /* before and after the checks */
};

/* A schedule on a communicator. It has copies for calls with other arguments, and for each persistent call. */
struct qd_binding {
  struct qd_binding* next; /* of the same communicator */
  struct qd_channel* channel;
  struct qd_schedule_data* schedule_data;
  MPI_Comm comm, group_comm; /* those of the channel */
  const int* ranks;          /* by number: the rank in `comm`; NULL: the same */
  struct qd_layout layout;
  struct qd_run_options options;
  struct qd_traced_binding trace;

  /* Calls change what follows. */
  struct qd_tables tables;
  struct qd_tables other_tables; /* of the other group, for its errors */
  struct qd_call* call;          /* kept from call to call, or NULL */
  int are_tables_good; /* tables and plans are those of the root, the counts and the parameters */
  struct qd_last_call last;
  struct qd_binding* others[QD_KEPT_CALLS - 1]; /* copies for calls with other arguments, or NULL */
  struct qd_counts counts;
  int64_t calls; /* so far, also those that failed */
};

/* The rank in `comm` of a rank that the layout and the plan number. */
static inline int qd_rank_in_comm(const struct qd_binding* binding, int number) {
  return binding->ranks ? binding->ranks[number] : number;
}

/* Whether MPI reports wrong arguments of a call, see preloaded.h. */
static inline int qd_leaves_errors(const struct qd_binding* binding) {
  return qd_global.serves_preload && !binding->options.compares;
}

#endif /* QUADRILLE_RUNTIME_EXECUTE_BINDING_H_ */
