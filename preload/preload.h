/* Declares what the files of the preload library share. The library serves MPI's collectives by schedules, in
 * unchanged programs. docs/guide.md describes it for users.
 *
 * A call of the program comes to front.c, which passes it to serve.c. communicator.c finds the communicator's state,
 * and makes it at the first call. Then a rule names a schedule, or none (rules.h). The runtime makes the call by the
 * schedule. Without one, the next definition of the MPI function makes it. All ranks decide alike, from settings that
 * they have compared, the communicator's shape, and bytes that all ranks know. */
#pragma once

#include <mpi.h>
#include <stdint.h>

#include "preload/device.h"
#include "preload/rules.h"
#include "preload/tags.h"
#include "runtime/execute/api.h"
#include "runtime/execute/arguments.h"
#include "runtime/quadrille.h"

/* ---- communicator.c */

/* Whether a schedule is bound to this communicator, and with which options. */
enum { PRELOAD_AGREED = 4 };
struct preload_bound {
  enum { PRELOAD_UNBOUND, PRELOAD_BOUND, PRELOAD_REFUSED } state;
  quadrille_bind_options now;
  quadrille_bind_options agreed[PRELOAD_AGREED]; /* the last with which all ranks could bind it */
  unsigned agreements;
};

/* The mean block of MPI_Alltoallv or MPI_Alltoallw. The ranks agree on it in some calls. */
struct preload_average {
  unsigned calls, agreed, next; /* calls so far, up to the last agreement, and before the next */
  int64_t own;                  /* bytes that this rank sent since the last agreement */
  int64_t bytes;                /* the mean of the last agreement */
};

/* The choice of a learner (adapt.c). */
struct preload_follower {
  int64_t left;     /* calls that still follow this choice */
  unsigned choices; /* that the learner has made so far */
  struct preload_rule rule;
};

/* The arguments of a call, without its arrays. */
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

/* The arguments of a call and the rule that it followed. Later calls with the same arguments follow the same rule. */
struct preload_decision {
  unsigned char is_kept;             /* 0: this place holds no decision */
  unsigned char is_native;           /* the calls go to MPI's own collective */
  unsigned char role, significant;   /* significant: which parts of the key are compared */
  unsigned choice;                   /* the follower's `choices` when the call was made */
  struct preload_key key;            /* with buffers that MPI accepts */
  int64_t reach;                     /* buffers that many bytes apart are disjoint; -1: unknown */
  const struct preload_rule* rule;   /* or NULL */
  struct preload_follower* follower; /* holds the rule, or NULL */
  struct qd_kept kept;               /* what the runtime needs to make the call again */
};

/* The last decisions for a collective. */
struct preload_decisions {
  struct preload_decision all[QD_KEPT_CALLS];
  unsigned next;                   /* modulo QD_KEPT_CALLS: which decision is replaced next */
  struct preload_decision* latest; /* the decision that was followed last, or NULL */
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
  int tag; /* the first tag of its messages; -1: the ranks have not agreed on it */
  const struct preload_rule** rules;             /* those that fit, ordered by collective */
  int first[PRELOAD_COLLECTIVE_COUNT + 1];       /* index of the first rule of each collective */
  char asks_for_bytes[PRELOAD_COLLECTIVE_COUNT]; /* whether the choice depends on the bytes */
  struct preload_bound* bound;                   /* by the number of the schedule */
  struct preload_learner* learners;              /* adapt.c */
  struct preload_average averages[2];            /* of MPI_Alltoallv, MPI_Alltoallw */
  struct preload_decisions decisions[PRELOAD_COLLECTIVE_COUNT];
  int64_t calls[PRELOAD_COLLECTIVE_COUNT]; /* so far, while QUADRILLE=verify counts them */
};

/* Frees the communicator by `next`, a function of MPI, and frees its state. Returns MPI's code. */
int preload_leave(int (*next)(MPI_Comm*), MPI_Comm* comm);
/* Frees the state of an earlier communicator that had the handle of this new one. */
void preload_made(MPI_Comm comm);
/* Returns the state of the communicator, which is its attribute, or NULL if it has none. */
struct preload_communicator* preload_communicator_of(MPI_Comm comm);
/* The communicator that this thread found last. It counts only while `freed` equals preload_freed_so_far. */
extern _Thread_local struct preload_recent {
  unsigned freed;
  MPI_Comm comm;
  struct preload_communicator* of; /* or NULL */
} preload_recent;
extern unsigned preload_freed_so_far;
/* Returns how often this process has freed or forgotten the state of communicators. */
static inline unsigned preload_freed(void) {
  return __atomic_load_n(&preload_freed_so_far, __ATOMIC_RELAXED);
}
/* Returns what preload_communicator_of returns, in few instructions for the communicator of the last call. */
static inline struct preload_communicator* preload_quickly(MPI_Comm comm) {
  const struct preload_recent* const recent = &preload_recent;
  return recent->of && recent->comm == comm && recent->freed == preload_freed()
             ? recent->of
             : preload_communicator_of(comm);
}
/* Returns the state of the communicator, and makes it at the first call. Returns NULL if MPI does not run, and for
 * MPI_COMM_NULL. Sets the role of this rank in `given`. */
struct preload_communicator* preload_meet(MPI_Comm comm, struct qd_arguments* given);
/* Leaves all later calls on the communicator to MPI. Keeps the pointer to the reason. */
void preload_stop_serving(struct preload_communicator* of, const char* reason);
/* Does so if `driver`, an enum preload_driver that all ranks agree on, is a driver of GPUs. */
void preload_meet_driver(struct preload_communicator* of, int driver);
/* Forgets the state of all communicators and frees the carrier, because MPI ends. */
void preload_forget_communicators(void);

/* The tags of this process's messages on the carrier. */
struct preload_tags* preload_own_tags(void);

/* ---- bind.c */

/* Returns the handle of a schedule, which it loads at its first use; QUADRILLE_SCHEDULE_NULL if memory ran out. */
quadrille_schedule preload_handle(int universal);
/* Returns whether the order of operands in the schedule's sums depends only on the number of ranks. */
int preload_has_canonical_sums(int universal);
/* Binds the rule's schedule with the rule's options, if needed. Returns 0 if it does not serve the communicator. */
int preload_bind(struct preload_communicator* of, const struct preload_rule* rule);
/* Binds the schedules of up to PRELOAD_BOUND_AT_ONCE rules with one allreduce. Collective. */
enum { PRELOAD_BOUND_AT_ONCE = 32 };
void preload_bind_all(struct preload_communicator* of, const struct preload_rule* rules, int count);

/* ---- arguments.c */

/* A call that may be served. */
struct preload_call {
  struct preload_communicator* of;
  int collective;
  struct qd_arguments given; /* as the program gave them */
  unsigned significant;      /* which of them mean something; all others are ignored */
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
  const struct preload_rule* rule;   /* the rule that the call follows, or NULL */
  struct preload_decision* decision; /* for calls with these arguments, or NULL */
  double cost;                       /* seconds of the race that ended before this call */
  int is_refused;                    /* the schedule does not serve the call's operator */
  int is_canonical;                  /* only schedules with canonical sums may serve it */
  double started;
};

MPI_Datatype preload_type(const struct qd_side* side, int block);
/* Returns the packed bytes of the first `blocks` blocks, or -1 if a block with elements has no type. */
int64_t preload_side_bytes(const struct qd_side* side, int blocks);
/* Returns the bytes that rules compare, the same on all ranks; -1 if ranks do not know them. May be collective. */
int64_t preload_bytes(const struct preload_call* call);
/* Returns whether the ranks must agree on the mean block, because each knows only its own blocks. */
int preload_is_agreed(const struct preload_call* call);
/* Returns the bytes of the blocks that this rank sends to all ranks. */
int64_t preload_sent(const struct preload_call* call);
/* Returns the mean bytes of a block over that many calls. `sent`: bytes that this rank sent in them. Collective. */
int64_t preload_agree_on_mean(const struct preload_communicator* of, int64_t sent, unsigned calls);
/* Returns the bytes that this rank sends or receives, whichever is more. */
int64_t preload_own_bytes(const struct preload_call* call);
/* Sets *side to the blocks that this rank receives. Returns their number. */
int preload_received(const struct preload_call* call, struct qd_side* side);
/* Returns the vector that this rank contributes to a reduction, as one block. */
struct qd_side preload_operands(const struct preload_call* call);

/* ---- serve.c */

/* Leaves the call to MPI, for this reason. */
void preload_leave_to_mpi(struct preload_call* call, const char* reason);

/* ---- verify.c */

/* Returns whether a reduction has the same bits in every order of operands. */
int preload_is_exact(MPI_Datatype type, MPI_Op operation);
/* Counts the call. If a schedule serves it, keeps the contents of the receive buffer, on all ranks or on none. */
void preload_verify_begin(struct preload_call* call);
/* Keeps the data that MPI's own collective received, and restores the buffer. `code`: what it returned. Where it failed at
 * one rank, no rank runs the schedule: that rank returns at once, so the others would wait for it in a later call. */
void preload_verify_native(struct preload_call* call, int code);
/* Ends the job if the schedule's result differs. */
void preload_verify_end(const struct preload_call* call);
/* Prints on rank 0 of MPI_COMM_WORLD how many of its calls were compared. */
void preload_verify_tell(void);

/* ---- adapt.c */

/* Returns the rule that the call follows. `of`: the rule that fits the call and is raced, or NULL. Sets `learner` for
 * a call that is timed, and `follower` for a call that only follows the choice. May be collective. */
const struct preload_rule* preload_learn_begin(struct preload_call* call,
                                               const struct preload_rule* of);
/* Ends a timed call, which took `seconds`. */
void preload_learn_end(struct preload_call* call, double seconds);
void preload_learners_free(struct preload_communicator* of);
/* Returns the rules that this process has found as rank 0 of communicators. The caller frees them. Thread-safe. */
struct preload_settings preload_found_rules(void);

/* ---- report.c */

/* At the end of MPI_Init: starts the report's clock, and at rank 0 the thread that saves rules and reports. */
void preload_report_begin(void);
/* Adds a call to the report, at rank 0 of its communicator. `code`: what the call returned. */
void preload_record(const struct preload_call* call, int code, double seconds);
/* Writes the rules and the report of all ranks on rank 0 when MPI ends. Collective over MPI_COMM_WORLD. */
void preload_report_end(void);
