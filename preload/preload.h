/* What the files of the preload library share. The library serves MPI's collectives by schedules, in programs that are not
 * changed. docs/guide.md tells users about it.
 *
 * A call of the program arrives in front.c, which passes it to calls.c. communicator.c finds what is known about its
 * communicator; at the first call on it, the ranks agree on that. A rule then names the schedule, or none (rules.h). The runtime
 * makes the call, or else the next definition of the MPI function does. Everything that decides is the same at all ranks: settings that they have
 * compared, the communicator's shape, and bytes that MPI makes known to all ranks. */
#ifndef QUADRILLE_PRELOAD_PRELOAD_H_
#define QUADRILLE_PRELOAD_PRELOAD_H_

#include <mpi.h>
#include <stdint.h>

#include "preload/device.h"
#include "preload/rules.h"
#include "preload/tags.h"
#include "runtime/execute/api.h"
#include "runtime/execute/arguments.h"
#include "runtime/quadrille.h"

/* ---- communicator.c */

/* Options of a binding. */
struct preload_options {
  int window, block_size;
};

/* Whether a schedule is bound to this communicator, and with which options. */
struct preload_bound {
  enum { PRELOAD_UNBOUND, PRELOAD_BOUND, PRELOAD_REFUSED } state;
  struct preload_options now;
  struct preload_options agreed[4]; /* the last with which all ranks could bind it */
  unsigned agreements;
};

/* The mean block of MPI_Alltoallv or MPI_Alltoallw. */
struct preload_average {
  unsigned calls, agreed, next; /* so far; those agreed on; when the ranks agree again */
  int64_t own;                  /* bytes of this rank in the calls since the last agreement */
  int64_t bytes;                /* as the ranks have agreed */
};

/* The choice of a learner (adapt.c), and how many calls will follow it. */
struct preload_follower {
  int64_t left;
  unsigned choices; /* so far */
  struct preload_rule rule;
};

/* The arguments of a call but for its arrays. */
struct preload_key {
  int root;
  MPI_Count sent, received;
  MPI_Datatype send_type, receive_type;
  MPI_Op operation;
  const void *sendbuf, *recvbuf;
};

static inline __attribute__((always_inline)) struct preload_key preload_key_of(
    const struct qd_arguments* given) {
  const struct qd_side *send = &given->send, *receive = &given->receive;
  return (struct preload_key){given->root,   send->count,      receive->count, send->type,
                              receive->type, given->operation, send->base,     receive->base};
}

/* A call, and the rule that it followed. Further calls with these arguments follow it too. */
struct preload_decision {
  unsigned char is_kept;
  unsigned char is_native;           /* they go to MPI's own collective */
  unsigned char role, significant;   /* significant: which parts of the key are compared */
  unsigned choice;                   /* of the follower, by number */
  struct preload_key key;            /* with buffers that MPI does not refuse */
  int64_t reach;                     /* buffers that far apart share no memory; -1: not known */
  const struct preload_rule* rule;   /* NULL if there is none */
  struct preload_follower* follower; /* has the rule, or NULL */
  struct qd_kept kept;               /* the call as the runtime makes it again */
};

/* The last decisions for a collective. */
struct preload_decisions {
  struct preload_decision all[QD_KEPT_CALLS];
  unsigned next;                   /* the one that is replaced next */
  struct preload_decision* latest; /* that was followed; NULL: none */
};

/* The settings, rules and state of a communicator, kept as its attribute. */
struct preload_communicator {
  MPI_Comm comm;
  int rank;
  struct preload_shape shape;
  const char* reason; /* why nothing is served; NULL: calls may be served */
  int is_watched;     /* consider calls even if no rule fits them */
  int adapts;         /* calls without a rule have learners */
  struct qd_members members;
  int tag; /* the first of its messages; -1: the ranks have not agreed on it */
  const struct preload_rule** rules;             /* those that fit, ordered by collective */
  int first[PRELOAD_COLLECTIVE_COUNT + 1];       /* the first rule of each collective */
  char asks_for_bytes[PRELOAD_COLLECTIVE_COUNT]; /* whether something depends on the bytes */
  struct preload_bound* bound;                   /* of each schedule */
  struct preload_learner* learners;              /* adapt.c */
  struct preload_average averages[2];            /* of MPI_Alltoallv, MPI_Alltoallw */
  struct preload_decisions decisions[PRELOAD_COLLECTIVE_COUNT];
  int64_t calls[PRELOAD_COLLECTIVE_COUNT]; /* so far, while QUADRILLE=verify counts them */
};

/* Frees the communicator by MPI's function, and what is known about it. */
int preload_leave(int (*next)(MPI_Comm*), MPI_Comm* comm);
/* MPI has made a communicator. */
void preload_made(MPI_Comm comm);
/* Finds the attribute. NULL if there is none. */
struct preload_communicator* preload_communicator_of(MPI_Comm comm);
/* The last one that this thread found. A cache is for one number of freed communicators. */
extern _Thread_local struct preload_recent {
  unsigned freed;
  MPI_Comm comm;
  struct preload_communicator* of; /* or NULL */
} preload_recent;
extern unsigned preload_freed_so_far;
/* The same function, with few instructions for the communicator of the last call. */
static inline struct preload_communicator* preload_quickly(MPI_Comm comm) {
  const struct preload_recent* const recent = &preload_recent;
  return recent->of && recent->comm == comm &&
                 recent->freed == __atomic_load_n(&preload_freed_so_far, __ATOMIC_RELAXED)
             ? recent->of
             : preload_communicator_of(comm);
}
/* Finds the attribute, or makes it at the first call on the communicator. NULL if MPI does not run, and for MPI_COMM_NULL. Sets this
 * rank's role in the call. */
struct preload_communicator* preload_meet(MPI_Comm comm, struct qd_arguments* given);
/* The number of known communicators that were freed so far. */
unsigned preload_freed(void);
/* From now on MPI serves the communicator, for that reason. */
void preload_stop_serving(struct preload_communicator* of, const char* reason);
/* The same if a rank has loaded this driver of GPUs (enum preload_driver). All ranks agree on it. */
void preload_meet_driver(struct preload_communicator* of, int driver);
/* Forgets all communicators, because MPI ends. */
void preload_forget_communicators(void);

const char* preload_driver_reason(int driver);
/* Once in a process. `is_said` is 0 at first. */
void preload_say_once(int* is_said, const char* text);

/* ---- world.c */

/* Why nothing is served on the communicator, or NULL. Finds its members, its nodes, and whether it is watched. */
const char* preload_agree(struct preload_communicator* of);
struct preload_tags* preload_own_tags(void);
/* Frees the carrier of all messages, because MPI ends. */
void preload_forget_world(void);

/* ---- gather.c */

/* Gathers the data of all ranks of MPI_COMM_WORLD on rank 0, into memory that the caller frees. NULL on other ranks,
 * if a rank does not want it, and if memory ran out. Collective. */
void* preload_gather(int is_wanted, const void* mine, size_t size, size_t* all);

/* ---- bind.c */

quadrille_schedule preload_handle(int universal);
/* Whether all its sums are canonical. */
int preload_has_canonical_sums(int universal);
/* Binds the rule's schedule with the rule's options, if needed. Returns 0 if it does not serve the communicator. */
int preload_bind(struct preload_communicator* of, const struct preload_rule* rule);
/* Binds the schedules of several rules, by one message of the ranks. Collective. */
enum { PRELOAD_BOUND_AT_ONCE = 32 };
void preload_bind_all(struct preload_communicator* of, const struct preload_rule* rules, int count);

/* ---- arguments.c */

/* A call that may be served. */
struct preload_call {
  struct preload_communicator* of;
  int collective;
  struct qd_arguments given; /* as the program gave them */
  unsigned significant;      /* which of them mean something; nothing looks at the others */
  /* Set by serve.c, and 0 before. */
  int64_t bytes;                     /* see preload_bytes */
  int universal;                     /* index of the schedule, or PRELOAD_NATIVE */
  quadrille_schedule schedule;       /* its handle; QUADRILLE_SCHEDULE_NULL: MPI's own collective */
  const char* reason;                /* for the report */
  unsigned freed;                    /* preload_freed when the call began */
  int is_verified;                   /* MPI's own collective runs first, then the schedule */
  struct preload_results* results;   /* verify.c: the data that MPI's own collective received */
  struct preload_learner* learner;   /* adapt.c: times this call */
  struct preload_follower* follower; /* has the rule of this call */
  const struct preload_rule* rule;   /* that the call follows, or NULL */
  struct preload_decision* decision; /* for calls with these arguments, or NULL */
  double cost;                       /* of the comparison that ended before this call, in seconds */
  int is_refused;                    /* the schedule does not serve the call's operator */
  int is_canonical;                  /* only schedules with canonical sums may serve it */
  double started;
};

MPI_Datatype preload_type(const struct qd_side* side, int block);
/* The packed bytes of the first blocks; -1 if a block with elements has no type. */
int64_t preload_side_bytes(const struct qd_side* side, int blocks);
/* Whether MPI refuses the call at this rank, whatever other ranks do. MPI reports the error then. */
int preload_is_refused(const struct preload_communicator* of, const struct qd_arguments* given);
/* The bytes that rules compare, the same on all ranks; -1 if ranks do not know the same bytes. May be collective. */
int64_t preload_bytes(const struct preload_call* call);
/* Whether the ranks have to agree on the mean block, since each knows its own blocks alone. */
int preload_is_agreed(const struct preload_call* call);
/* The bytes of the blocks that this rank sends to all. */
int64_t preload_sent(const struct preload_call* call);
/* The mean block of that many calls. `sent`: the bytes of this rank in all of them. Collective. */
int64_t preload_agree_on_mean(const struct preload_communicator* of, int64_t sent, unsigned calls);
/* The bytes of the data that this rank sends or receives, whichever is more. */
int64_t preload_own_bytes(const struct preload_call* call);
/* The blocks that this rank receives. Returns their number. */
int preload_received(const struct preload_call* call, struct qd_side* side);
/* Marks the sides of which this rank has a buffer in device memory. Returns whether there are any. */
int preload_find_device(struct preload_call* call);
/* The vector that this rank contributes to a reduction, as one block. */
struct qd_side preload_operands(const struct preload_call* call);

/* ---- serve.c */

/* The role of this rank in a call. */
static inline enum qd_role preload_role(const struct preload_communicator* of,
                                        const struct qd_arguments* given) {
  return qd_role_of(given->function, of->shape.groups == 2, of->rank, given->root, given->send.base,
                    given->receive.base);
}

/* Whether a call has the buffers of the decision, or everything but these. Few instructions: small calls that go to MPI pay for
 * nothing else. */
static inline __attribute__((always_inline)) int preload_has_buffers(
    const struct preload_decision* d, const struct preload_key* key) {
  return d->key.sendbuf == key->sendbuf && d->key.recvbuf == key->recvbuf;
}
static inline __attribute__((always_inline)) int preload_is_like(const struct preload_decision* d,
                                                                 const struct preload_key* key) {
  return d->is_kept && d->key.sent == key->sent && d->key.received == key->received &&
         d->key.send_type == key->send_type && d->key.receive_type == key->receive_type &&
         d->key.operation == key->operation && d->key.root == key->root;
}

/* Whether the decision still holds. The call counts as one of its learner's then. */
static inline int preload_follows(const struct preload_decision* d) {
  struct preload_follower* const follower = d->follower;
  if (!follower) return 1;
  if (d->choice != follower->choices || follower->left == 0) return 0;
  follower->left--;
  return 1;
}

/* The decision for calls with these arguments, as far as they mean something. It becomes the latest. NULL if there is none, or if the
 * buffers have to be looked at first. */
struct preload_decision* preload_find_decision(struct preload_communicator* of,
                                               enum qd_function function,
                                               const struct preload_key* key);
/* Chooses what makes the call. Returns whether MPI's own collective comes first. */
int preload_begin(struct preload_call* call, MPI_Comm comm);
/* Follows the schedule, if there is one, and compares its results with those of MPI's own. `code`: what that returned. Returns the code
 * for the program, or QD_LEFT_TO_MPI. */
int preload_serve(struct preload_call* call, int code);
/* Records and learns. Returns the code for the program. */
int preload_end(struct preload_call* call, int code);

/* ---- numbers.c */

enum { PRELOAD_NUMBER = 128 }; /* the length of a printed number, at most */

/* The elements of a datatype as numbers. A pair is a real number and its index. */
struct preload_numbers {
  enum {
    PRELOAD_OPAQUE, /* anything else */
    PRELOAD_SIGNED,
    PRELOAD_UNSIGNED,
    PRELOAD_REAL,
    PRELOAD_COMPLEX,
    PRELOAD_PAIR,
    PRELOAD_REAL_PAIR /* the index is a real number, too */
  } kind;
  size_t size; /* bytes of a number */
};

struct preload_numbers preload_numbers_of(MPI_Datatype type);
/* Whether no order of operands changes a bit of the result. */
int preload_is_exact(MPI_Datatype type, MPI_Op operation);
/* Not for PRELOAD_OPAQUE. */
void preload_print_number(const struct preload_numbers* numbers, const char* element,
                          char text[PRELOAD_NUMBER]);
/* Whether the sum of the scales of all operands says how far two results may differ. */
int preload_has_scale(const struct preload_numbers* numbers, MPI_Op operation);
long double preload_scale(const struct preload_numbers* numbers, MPI_Op operation,
                          const char* element);
/* Whether operands of that scale allow any result. */
int preload_is_open(const struct preload_numbers* numbers, MPI_Op operation, long double scale);
/* How far another result may be from MPI's own. */
long double preload_tolerance(const struct preload_numbers* numbers, MPI_Op operation, int operands,
                              long double scale, const char* native);
/* Whether the real or complex numbers at the start of two elements differ by no more. */
int preload_is_near(const struct preload_numbers* numbers, const char* native, const char* ours,
                    long double tolerance);

/* ---- verify.c */

/* Counts the call. If it is served, keeps the contents of the receive buffer, on all ranks or on none. */
void preload_verify_begin(struct preload_call* call);
/* Keeps the data that MPI's own collective received, and restores the buffer. */
void preload_verify_native(const struct preload_call* call);
/* Ends the job if the schedule's result differs. */
void preload_verify_end(const struct preload_call* call);
/* Rank 0 of MPI_COMM_WORLD says how many of its calls were compared. */
void preload_verify_tell(void);

/* ---- adapt.c */

/* The rule of a call. `of`: the rule that fits it and is raced, or NULL. Sets `learner` if the call is timed, and else `follower`.
 * May be collective. */
const struct preload_rule* preload_learn_begin(struct preload_call* call,
                                               const struct preload_rule* of);
void preload_learn_end(struct preload_call* call, double seconds);
void preload_learners_free(struct preload_communicator* of);
/* The rules that this process has found as the first rank of communicators, in memory that the caller frees. Any thread may ask. */
struct preload_settings preload_found_rules(void);

/* ---- save.c */

/* At the end of MPI_Init. */
void preload_save_begin(void);
/* When MPI ends. Rank 0 writes the rules of all ranks, if all keep them. Collective over MPI_COMM_WORLD. */
void preload_save_end(void);

/* ---- report.c */

/* `code`: what the call returned. */
void preload_record(const struct preload_call* call, int code, double seconds);
/* When MPI begins. */
void preload_report_begin(void);
/* Rank 0 prints or writes the table of all ranks. Collective over MPI_COMM_WORLD. */
void preload_report(void);
/* Writes this rank's table to the report's file, so far. Any thread may do so. */
void preload_report_save(void);

#endif /* QUADRILLE_PRELOAD_PRELOAD_H_ */
