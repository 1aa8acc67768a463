/* A schedule that is bound to a communicator. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_BINDING_H_
#define QUADRILLE_RUNTIME_EXECUTE_BINDING_H_

#include "runtime/execute/channel.h"
#include "runtime/execute/datatypes.h"
#include "runtime/plan/plan.h"

struct qd_call; /* call.h */

/* Tags of messages in the private communicator. Persistent calls take further ones. */
enum { QD_DATA_TAG, QD_COUNTS_TAG, QD_LENGTH_TAG, QD_TAGS };

/* The arguments of one call of any collective. */
struct qd_arguments {
  struct qd_side send, receive; /* equal if the collective has one buffer */
  int is_regular;               /* all blocks of all ranks are equally long */
  int in_place;                 /* then `send` is `receive` */
  int root;                     /* a rank or MPI_ROOT; 0 if the collective has no root */
  MPI_Op operation;
  int is_idle; /* two groups: this rank passes MPI_PROC_NULL, and nothing else counts */
  int lacks_type; /* all counts are 0 and the type is null: the call is made, then it returns an error */
  int error_class;   /* of `error` */
  const char* error; /* what is wrong with the arguments, or NULL */
};

/* Where the schedule's ranks are. Constant, but for the parts that follow the root and the parameters of the call. */
struct qd_layout {
  int own; /* this rank in the private communicator */
  struct qd_context context;
  /* For a schedule that serves any nodes, `context` points to these. */
  struct qd_topology topologies[2];      /* own group first */
  struct qd_topology ordered[2];         /* the same, by group of the schedule */
  int64_t parameters[QD_MAX_PARAMETERS]; /* those of the last call */
  /* One array in three parts, by rank in the schedule. `real` and `remote_real` are ranks in the private communicator, of
   * the own and the other group. `user` are ranks in the user's group that blocks come from and go to. */
  int *real, *remote_real, *user;
  int first, first_remote; /* the first ranks of the groups in the private communicator */
  int first_ranks;         /* the argument of quadrille_bind_groups, else 0 */
};

/* How calls of a binding run. */
struct qd_run_options {
  int compares; /* calls are compared between ranks: persistent calls, or QUADRILLE_DEBUG at all ranks */
  int synchronous, window;
  double stall;       /* QUADRILLE_STALL in seconds; 0: waits are not watched */
  int64_t block_size; /* in bytes; 0: the schedule's rule chooses */
};

/* One buffer of a call whose counts all ranks know. */
struct qd_buffer_layout {
  struct qd_extents extents;
  int64_t total;        /* bytes of all blocks */
  int64_t each, stride; /* in bytes, if all blocks are equally long and evenly spaced; else -1 */
  char* copy;           /* packed blocks, if the user's memory is not contiguous */
  int64_t copy_size;
};

/* The counts of calls whose counts all ranks know. */
struct qd_counts {
  int64_t *own, *remote;              /* of both groups, by rank in the schedule */
  int64_t* exchanged;                 /* counts that groups send to each other */
  MPI_Request* requests;              /* of those messages */
  struct qd_buffer_layout buffers[2]; /* by QD_PIECE_SEND and QD_PIECE_RECEIVE */
};

/* The last call. If the same arguments come again, they are not checked again. */
struct qd_last_call {
  int may_repeat;
  struct qd_arguments given, made; /* before and after the checks */
};

/* A schedule on a communicator. Each persistent call has a binding of its own. */
struct qd_binding {
  struct qd_binding* next; /* of the same communicator */
  struct qd_channel* channel;
  struct qd_schedule_data* schedule_data;
  MPI_Comm comm; /* the channel's private communicator, of all ranks of both groups */
  struct qd_layout layout;
  struct qd_run_options options;

  /* Calls change what follows. */
  struct qd_tables tables;
  struct qd_tables other_tables;        /* of the other group, for its requirements */
  struct qd_call *call, *in_place_call; /* kept from call to call, or NULL */
  int are_tables_good; /* tables and plans are those of the root, the counts and the parameters */
  struct qd_last_call last;
  struct qd_counts counts;
};

/* A binding without a layout; NULL if memory ran out. */
struct qd_binding* qd_binding_new(struct qd_schedule_data* schedule_data,
                                  struct qd_channel* channel);
/* A copy for a persistent call, on the same channel with the same layout, without tables and plan. NULL if memory
 * ran out. */
struct qd_binding* qd_binding_copy(const struct qd_binding* binding);
void qd_binding_destroy(struct qd_binding* binding);

/* bind.c. Makes the tables and a call, with a plan if that does not depend on counts; see qd_call_open. */
void qd_binding_plan(struct qd_binding* binding, int in_place, int whole,
                     struct qd_problem* problem);
/* The binding of a schedule to a communicator, for a call of that collective. Binds if there is none. Returns an MPI
 * error code after the error handler was called. */
int qd_find_binding(quadrille_schedule schedule, MPI_Comm comm, int collective,
                    struct qd_binding** binding);

/* layout.c. Gathers the lowest rank of each rank's node. The caller is `rank`. Returns an MPI error code. */
int qd_gather_nodes(MPI_Comm comm, int rank, int* node_of);
/* Orders the ranks as the schedule does. Returns NULL or a text, which may be in `failure`. */
const char* qd_lay_out(struct qd_binding* binding, int layout, char failure[QD_TEXT]);
/* Gives a copy of a binding its own memory for the layout. 0 if memory ran out. */
int qd_copy_layout(struct qd_binding* binding);
/* Lays out for a root: a rank, or MPI_ROOT. Between groups, the root's group is the schedule's first. Returns whether
 * anything changed; then tables and plans are stale. */
int qd_take_root(struct qd_binding* binding, int root);
/* Whether the schedule serves a root in that group. */
int qd_root_fits(const struct qd_binding* binding, int root);

#endif /* QUADRILLE_RUNTIME_EXECUTE_BINDING_H_ */
