/* What the files of the runtime that know MPI share. Everything global is in one struct,
 * qd_global (global.c). */
#ifndef QUADRILLE_RUNTIME_INTERNAL_H_
#define QUADRILLE_RUNTIME_INTERNAL_H_

#include <pthread.h>

#include "runtime/datatypes.h"
#include "runtime/plan/plan.h"
#include "runtime/program/program.h"
#include "runtime/quadrille.h"

#define QD_TEXT 256 /* MPI_MAX_ERROR_STRING of the MPI library with the least */

/* More classes than are ever used, and texts of one class that are sent_counts apart. */
enum { QD_ERROR_CLASSES = 16, QD_CODES_A_CLASS = 4 };

/* Persistent calls have further ones of their own. */
enum { QD_DATA_TAG, QD_COUNTS_TAG, QD_LENGTH_TAG, QD_TAGS };

/* A loaded schedule, or the reason why there is none; shared by its handle and its bindings. */
struct qd_schedule_data {
  int references;
  int failure_class; /* MPI_SUCCESS where the program is there */
  char failure[QD_TEXT];
  struct qd_program program;
};

struct qd_handle_entry {
  uint32_t generation;
  struct qd_schedule_data* schedule_data; /* NULL: free */
  struct qd_binding* recent; /* what the handle was last found to be bound to, and where;
                                       NULL: not known */
  MPI_Comm recent_comm;
};

/* cuPointerGetAttribute */
typedef int (*qd_pointer_attribute)(void*, int, unsigned long long);

struct qd_call; /* call.h */

/* What belongs to a user's communicator: its attribute. */
struct qd_channel {
  struct qd_channel *next, *previous; /* of all */
  struct qd_binding* bindings;        /* but for those of persistent calls */
  MPI_Comm user;                      /* whose attribute it is; MPI_COMM_NULL once that was freed */
  MPI_Comm comm;                      /* private: no message of ours meets one of the user's */
  int references;                     /* of the user's communicator, and of all bindings */
};

/* A buffer where all ranks know how long its blocks are. */
struct qd_buffer_layout {
  struct qd_extents extents;
  int64_t total;        /* bytes of all blocks */
  int64_t each, stride; /* where all are the same, and lie evenly: bytes; else -1 */
  char* copy;           /* of what does not lie as it travels */
  int64_t copy_size;
};

/* A call of any collective as it was given. */
struct qd_arguments {
  struct qd_side send, receive; /* of a collective with one buffer, both are that */
  int is_regular;               /* all blocks of all ranks are equally long */
  int in_place;                 /* then `send` is `receive` */
  int root;                     /* a rank, or MPI_ROOT; 0 where the collective has none */
  MPI_Op operation;
  int is_idle;     /* of two groups, in that of the root: nothing else means anything */
  int lacks_type;  /* of blocks without elements: the call is made, and is an error at this rank */
  int error_class; /* what is wrong already: */
  const char* error; /* NULL: nothing */
};

/* A schedule on a communicator; each persistent call has one of its own. */
struct qd_binding {
  struct qd_binding* next; /* of the same communicator */
  struct qd_channel* channel;
  struct qd_schedule_data* schedule_data;
  MPI_Comm comm; /* the channel's, of all ranks of both groups */
  int own;       /* this rank in it */
  struct qd_context context;
  /* What a schedule for any nodes leaves open: `place` points to the topologies, and to these numbers. */
  struct qd_topology topologies[2];      /* own group first */
  struct qd_topology ordered[2];         /* the same, by group of the schedule */
  int64_t parameters[QD_MAX_PARAMETERS]; /* of any schedule; those of the call, of the last */
  /* In one array: ranks in `comm`, by rank in the schedule, of both groups; and in the user's communicator, of
   * the group whose blocks come and go. */
  int *real, *remote_real, *user;
  int first, first_remote; /* the ranks of the groups in `comm` */
  int first_ranks;         /* of quadrille_bind_groups, else 0 */
  int compares; /* a persistent call's, or QUADRILLE_DEBUG at all ranks: calls are compared */
  int synchronous, window;
  double stall;       /* seconds of QUADRILLE_STALL; 0: waits are not watched */
  int64_t block_size; /* the option */

  /* From here on: what calls change. */
  struct qd_tables tables;
  struct qd_tables other_tables; /* the other group's, for what the schedule requires of it */
  struct qd_call *call, *in_place_call; /* kept from call to call; in_place_call: or NULL */
  int are_tables_good; /* and plans, for the root, and for these counts and parameters */
  /* The last call, where the same one needs no look at its arguments: as it was given, and as it was made. */
  int may_repeat;
  struct qd_arguments given, made;

  /* where all ranks know all counts */
  int64_t *counts, *remote_counts;  /* of the program's tables, by rank in the schedule */
  int64_t* group_counts;            /* counts that groups tell each other: their numbers, */
  MPI_Request* count_requests;      /* and messages */
  struct qd_buffer_layout known[2]; /* by QD_PIECE_SEND and _RECEIVE */
};

struct qd_persistent; /* persistent.c */

struct qd_error_codes {
  int error_class, made, codes[QD_CODES_A_CLASS];
  unsigned next;
};

struct qd_global {
  pthread_mutex_t lock; /* of everything below */
  struct qd_handle_entry* handle_entries;
  uint32_t handle_entry_count;
  struct qd_channel* channels;
  /* Persistent calls, by the lower half of their handles minus 1; the rest of a handle tells calls of one place apart. */
  struct qd_persistent** persistent;
  uint32_t persistent_count, persistent_hint, persistent_made;
  int has_keyvals, channel_keyval, alone_keyval, finalizer_keyval;
  struct qd_error_codes codes[QD_ERROR_CLASSES];
  int class_count;
  char last_error[QD_TEXT];
  int debug; /* QUADRILLE_DEBUG */
  int debug_is_read;
  int checks_plans; /* QUADRILLE_CHECK_PLANS; -1: not read yet */
  double stall;     /* QUADRILLE_STALL */
  int stall_is_read;
  unsigned long long libraries; /* that were loaded when the driver was last looked for, */
  qd_pointer_attribute driver;  /* which is CUDA's, or NULL */
};
extern struct qd_global qd_global;

/* errors.c: formats a text, calls the communicator's error handler where there is one, and returns
 * a code of that class. */
int qd_error(MPI_Comm comm, int error_class, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for an error that MPI itself returned. */
int qd_mpi_error(MPI_Comm comm, int code);
/* The same for one that a call's messages came to. */
int qd_call_error(MPI_Comm comm, int code);
/* Says that two ranks do not mean the same by the block from the one to the other. */
void qd_name_lengths(char text[QD_TEXT], int source, int64_t sent, int target, int64_t room);
/* Between MPI_Init and MPI_Finalize. */
int qd_mpi_is_usable(void);
/* Whether QUADRILLE_DEBUG is set. */
int qd_debug(void);
/* Whether QUADRILLE_CHECK_PLANS is set: each plan is checked before, or where it is streamed after, it is followed. */
int qd_checks_plans(void);
void qd_log(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* stall.c: QUADRILLE_STALL, the seconds after which a wait says for whom it waits; 0: never. */
double qd_stall(void);
/* The same as qd_watch, of a message with counts between groups. */
void qd_watch_counts(const struct qd_binding* binding, MPI_Request request, int peer, int receives);

/* schedule.c: the schedule of a handle, with a reference for the caller; NULL where the handle is
 * null or stale. */
struct qd_schedule_data* qd_acquire(quadrille_schedule schedule);
void qd_release(struct qd_schedule_data* schedule_data);
/* Writes the schedule's hash and returns 1; 0 where its load failed, -1 where the handle is null or
 * stale. */
int qd_hash_of(quadrille_schedule schedule, unsigned char hash[QD_HASH_LENGTH]);
/* The binding that the handle was last found to have, where that was on this communicator; else
 * NULL. As long as there is a binding, its communicator and MPI are there. */
struct qd_binding* qd_recent(quadrille_schedule schedule, MPI_Comm comm);
void qd_remember(quadrille_schedule schedule, MPI_Comm comm, struct qd_binding* binding);
/* A binding, or with NULL any, is not to be found so any more. */
void qd_forget(const struct qd_binding* binding);

/* communicator.c: one of the same processes, in the same order, without the user's attributes; of two groups, the one
 * behind the other. Errors on it return. */
int qd_private_communicator(MPI_Comm comm, MPI_Comm* result);
/* Whether MPI has that operator for elements of that type. Elsewhere MPI would tell the handler of MPI_COMM_WORLD
 * that it has not, which ends the program. */
int qd_operator_fits(MPI_Op operation, MPI_Datatype type);
/* The delete function of the attribute of MPI_COMM_SELF that holds a private communicator. */
int qd_free_alone(MPI_Comm self, int keyval, void* attribute, void* extra);

/* channel.c: keys of attributes, an MPI error code. */
int qd_make_keyvals(void);
/* The channel of a communicator, or NULL. */
struct qd_channel* qd_channel_of(MPI_Comm comm);
struct qd_problem; /* below */
/* Collective: the channel of the communicator, made where there is none. An MPI error code. */
int qd_open_channel(MPI_Comm comm, struct qd_problem* problem, struct qd_channel** result);
/* binding.c: gives up a reference to a channel. */
void qd_channel_release(struct qd_channel* channel);
/* One that holds these, and nothing else yet; NULL where memory ran out. */
struct qd_binding* qd_binding_new(struct qd_schedule_data* schedule_data,
                                  struct qd_channel* channel);
/* One for a persistent call, on the same channel and of the same layout, to be planned; NULL where memory
 * ran out. */
struct qd_binding* qd_binding_copy(const struct qd_binding* binding);
void qd_binding_destroy(struct qd_binding* binding);
/* bind.c: tables and a call, with a plan where that follows no counts; see qd_call_open. `problem` says what is
 * wrong. */
void qd_binding_plan(struct qd_binding* binding, int in_place, int whole,
                     struct qd_problem* problem);

/* bind.c: the binding of a schedule to a communicator, made where there is none, for a call of that
 * collective. Returns an MPI error code, after the handler was called. */
int qd_find_binding(quadrille_schedule schedule, MPI_Comm comm, int collective,
                    struct qd_binding** binding);

/* layout.c: the lowest rank of each rank's node, gathered at all ranks of the communicator, in which
 * the caller is `rank`; an MPI error code. */
int qd_gather_nodes(MPI_Comm comm, int rank, int* node_of);
/* layout.c: ranks in the order of the schedule. Sets place, real, user, topologies and parameters.
 * Returns NULL or a text, maybe in `failure`. */
const char* qd_lay_out(struct qd_binding* binding, int layout, char failure[QD_TEXT]);

/* The same layout as the binding that this one is a copy of, in memory of its own; 0 where that ran out. */
int qd_copy_layout(struct qd_binding* binding);

/* Lays out for that root: a rank, or MPI_ROOT; between groups, its group is the schedule's first. Whether
 * anything changed, so that tables and plans are to be made again. */
int qd_take_root(struct qd_binding* binding, int root);
/* Whether the schedule serves a root in that group. */
int qd_root_fits(const struct qd_binding* binding, int root);

/* agree.c: what a rank brings to a binding, and what all ranks make of it. */
/* A class and a text where this rank cannot go on. */
struct qd_problem {
  int error_class;
  char text[QD_TEXT];
};
void qd_refuse(struct qd_problem* problem, int error_class, const char* text);
/* The same; of another class where memory ran out. */
void qd_refuse_for(struct qd_problem* problem, int error_class, const char* text);
/* What a plan could not be made for. */
void qd_refuse_broken(struct qd_problem* problem, const char* error);

/* The options that the caller knows of, with defaults for the rest; refuses what makes no sense. */
quadrille_bind_options qd_known_options(const quadrille_bind_options* options,
                                        struct qd_problem* problem);
/* The same for the program that is to be bound. */
void qd_check_block_size(const struct qd_program* program, int64_t block_size,
                         struct qd_problem* problem);

/* The same at all ranks: the worst class of error, what is one everywhere, and whether
 * QUADRILLE_DEBUG is set everywhere. */
struct qd_agreement {
  int error_class;
  int same_schedule, same_layout, same_block_size, same_groups, all_debug;
};
/* `schedule_data` and `options` may be NULL. An MPI error code. */
int qd_agree(MPI_Comm comm, int error_class, const struct qd_schedule_data* schedule_data,
             const quadrille_bind_options* options, int first_ranks,
             struct qd_agreement* agreement);
/* Whether all ranks have come this far; where this one has and another has not, that is its error
 * too. */
int qd_all_succeeded(MPI_Comm comm, struct qd_problem* problem);

/* device.c: says of both sides whether CUDA's driver has them in device memory, which MPI alone reads and writes. */
void qd_find_device_memory(struct qd_arguments* arguments);

/* api.c: runs a call of that collective, of which the arguments are as they were given, or makes a persistent one.
 * An MPI error code, after the handler was called. */
int qd_run(quadrille_schedule schedule, int collective, struct qd_arguments* arguments,
           MPI_Comm comm);
int qd_make(quadrille_schedule schedule, int collective, struct qd_arguments* arguments,
            MPI_Comm comm, quadrille_request* request);

/* persistent.c: collective, the same class of error at all ranks. An MPI error code, after the handler was
 * called. */
int qd_persistent_make(const struct qd_binding* binding, const struct qd_arguments* arguments,
                       MPI_Comm comm, quadrille_request* request);

/* uncounted.c: runs a whole call of which the two ends of a message alone know its lengths. The same. */
int qd_pairwise_counts_run(struct qd_binding* binding, const struct qd_arguments* arguments,
                           MPI_Comm comm);
/* Makes the last call again, which `may_repeat`. The same. */
int qd_pairwise_counts_repeat(struct qd_binding* binding, MPI_Comm comm);
/* Lays out for the root. NULL, or what is wrong. */
const char* qd_pairwise_counts_take_root(struct qd_binding* binding, int root);
/* Collective. Whether all ranks come without an error, and each pair of them says the same of the blocks between
 * them; `call`: NULL where there are none. An MPI error code, the same class everywhere, after the handler was
 * called. */
int qd_compare_lengths(const struct qd_binding* binding, const struct qd_call* call, MPI_Comm comm,
                       int error_class, const char* error);

/* counted.c: the same where all ranks know all counts. */
int qd_global_counts_run(struct qd_binding* binding, const struct qd_arguments* arguments,
                         MPI_Comm comm);
/* Makes the last call again, which `may_repeat`. The same. */
int qd_global_counts_repeat(struct qd_binding* binding, MPI_Comm comm);
/* Memory and tables for calls. NULL, or what is wrong. */
const char* qd_global_counts_open(struct qd_binding* binding);
void qd_global_counts_close(struct qd_binding* binding);
/* As before the first call; the same. */
const char* qd_global_counts_restart(struct qd_binding* binding);
/* Lays out for that root, before the first call; the same. */
const char* qd_global_counts_take_root(struct qd_binding* binding, int root);

/* compare.c: collective. Whether all ranks have come this far without an error. An MPI error code, the same class
 * everywhere, after the handler was called. */
int qd_compare_errors(const struct qd_binding* binding, MPI_Comm comm, int error_class,
                      const char* error);
/* Whether all ranks mean the same root, which is their argument; the same. */
int qd_compare_roots(const struct qd_binding* binding, MPI_Comm comm, int root);
/* Both, and whether all come with the same counts, and no blocks of the receive buffer overlap. */
int qd_compare_calls(const struct qd_binding* binding, MPI_Comm comm,
                     const struct qd_arguments* arguments, int error_class, const char* error);

#endif /* QUADRILLE_RUNTIME_INTERNAL_H_ */
