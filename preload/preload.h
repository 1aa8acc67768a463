/* What the files of the preload library share: MPI's collectives, served by schedules in programs that know
 * nothing of it. docs/guide.md says how it is used.
 *
 * A call of the program comes to calls.c. What is known of its communicator is found, or agreed on by its
 * ranks at the first call (communicator.c); a rule says which schedule the call follows, or none (rules.h);
 * then the runtime makes the call, or the next definition of the same MPI function. Whatever decides is the
 * same at all ranks: settings that they have compared, the shape of the communicator, and bytes of which MPI asks
 * that all ranks know them. */
#ifndef QUADRILLE_PRELOAD_PRELOAD_H_
#define QUADRILLE_PRELOAD_PRELOAD_H_

#include <mpi.h>
#include <stdint.h>

#include "preload/rules.h"
#include "runtime/quadrille.h"

/* ---- communicator.c */

/* Of a schedule: whether it is bound to this communicator, and with which options. */
struct preload_bound {
  enum { PRELOAD_UNBOUND, PRELOAD_BOUND, PRELOAD_REFUSED } state;
  int window, block_size;
};

struct preload_learner; /* learn.c */

/* average.c: of all-to-alls whose lengths no rank knows all of. */
struct preload_average {
  unsigned calls; /* so far */
  int64_t bytes;  /* of a block, as ranks have agreed */
};

/* What decided of the last call of a collective, and by which rule it is served. */
struct preload_decision {
  int is_kept;                     /* further calls with these arguments are decided alike */
  const struct preload_rule* rule; /* NULL: MPI's own collective serves it */
  MPI_Count sent, received;
  MPI_Datatype send_type, receive_type;
  MPI_Op operation;
  int root, send_in_place, receive_in_place;
};

/* What is kept of a communicator, as its attribute. */
struct preload_communicator {
  MPI_Comm comm;
  int rank;
  struct preload_shape shape;
  const char* reason;                      /* why nothing is served; NULL: something may be */
  int is_watched;                          /* calls are looked at even where no rule is for them */
  const struct preload_rule** rules;       /* that are for it, by collective: */
  int first[PRELOAD_COLLECTIVE_COUNT + 1]; /* of each one's rules */
  char asks_for_bytes[PRELOAD_COLLECTIVE_COUNT]; /* they do */
  struct preload_bound* bound;                   /* by schedule */
  struct preload_learner* learners;
  struct preload_average averages[2]; /* of MPI_Alltoallv, MPI_Alltoallw */
  struct preload_decision decisions[PRELOAD_COLLECTIVE_COUNT];
};

/* Found, or made, which is collective; NULL where MPI does not run, or of no communicator. */
struct preload_communicator* preload_communicator_of(MPI_Comm comm);
/* Collective where it was not known how the ranks are spread over nodes; 0 then: other rules may be for them. */
int preload_know_nodes(struct preload_communicator* of);
/* How many communicators were freed so far, of those that were known. */
unsigned preload_freed(void);
/* From now on, communicators may have processes from outside MPI_COMM_WORLD. */
void preload_meet_others(void);
/* No communicator is known any more: MPI ends. */
void preload_forget_communicators(void);

/* ---- bind.c */

/* The handle of a schedule. */
quadrille_schedule preload_handle(int universal);
/* Whether it is for operators that commute alone. */
int preload_wants_to_commute(int universal);
/* Binds the schedule of a rule, where it is not bound so; 0 where it does not serve the communicator. */
int preload_bind(struct preload_communicator* of, const struct preload_rule* rule);

/* ---- serve.c */

/* One side of a call, as the program describes it. */
struct preload_side {
  void* base;
  MPI_Datatype type;
  const MPI_Datatype* types;         /* one a block, or NULL */
  MPI_Count count;                   /* of each block, where no array says so: */
  const int *counts, *displacements; /* or */
  const MPI_Count* large_counts;
  const MPI_Aint* large_displacements;
};

struct preload_arguments {
  struct preload_side send, receive;
  int root;
  MPI_Op operation;
};

/* A call that is looked at. */
struct preload_turn {
  struct preload_communicator* of;
  int collective;
  int64_t bytes;                   /* see preload_bytes */
  int universal;                   /* which schedule, or PRELOAD_NATIVE */
  quadrille_schedule schedule;     /* its handle; QUADRILLE_SCHEDULE_NULL: the library's own */
  const char* reason;              /* why so */
  unsigned freed;                  /* preload_freed, when the call began */
  int is_verified;                 /* both, the library's own first */
  struct preload_results* results; /* verify.c: of the library's own */
  struct preload_learner* learner;
  int is_refused; /* the schedule is not for the call's operator */
  double started;
};

/* Chooses; `turn` has its communicator and collective. 0 where the call falls through and nothing is to be noted. */
int preload_begin(struct preload_turn* turn, const struct preload_arguments* a);
/* What comes of it is noted, learned and compared; the code to return. */
int preload_end(struct preload_turn* turn, const struct preload_arguments* a, int code);

/* ---- side.c: counts, types and places in bytes of a side's blocks. */
MPI_Count preload_count(const struct preload_side* side, int block);
MPI_Datatype preload_type(const struct preload_side* side, int block);
MPI_Aint preload_place(const struct preload_side* side, int block);

/* ---- sizes.c: what all ranks know alike of a call: bytes of a block or contribution, on the average, of a reduction those
 * of the whole vector; -1 where ranks do not know the same. */
int64_t preload_bytes(const struct preload_turn* turn, const struct preload_arguments* a);
/* Whether MPI refuses the call at this rank whatever others do: then it is MPI's to say so. */
int preload_is_refused(const struct preload_turn* turn, const struct preload_arguments* a);
/* What this rank receives, and how many blocks that are. */
int preload_received(const struct preload_turn* turn, const struct preload_arguments* a,
                     struct preload_side* side);

/* ---- average.c: the average block of an earlier call of an all-to-all on one group whose lengths no rank knows all of. Collective
 * now and then. */
int64_t preload_average(const struct preload_turn* turn, const struct preload_arguments* a);

/* ---- verify.c: keeps what the receive buffer holds, at all ranks or at none. */
void preload_verify_begin(struct preload_turn* turn, const struct preload_arguments* a);
/* Keeps what the library's own collective has received, and puts back what was there. */
void preload_verify_native(const struct preload_turn* turn, const struct preload_arguments* a);
/* Ends the job where the two differ. */
void preload_verify_end(const struct preload_turn* turn, const struct preload_arguments* a);

/* ---- learn.c: whose turn it is: sets `universal`, and `learner` where the call is to be timed. */
void preload_learn_begin(struct preload_turn* turn);
void preload_learn_end(struct preload_turn* turn, double seconds);
void preload_learners_free(struct preload_communicator* of);
/* Collective over MPI_COMM_WORLD: rank 0 writes the rules where all were learning. */
void preload_learn_write(void);
/* Writes the rules that this rank has learned so far. */
void preload_learn_save(void);

/* ---- gather.c: maxima over all ranks, of both groups where there are two. */
void preload_most(const struct preload_communicator* of, const void* mine, void* all, int count,
                  MPI_Datatype type);
/* Collective over MPI_COMM_WORLD: what all ranks bring, in memory to be freed, at rank 0; NULL at the
 * others, and where memory ran out. */
void* preload_gather(const void* mine, size_t size, size_t* all);

/* ---- report.c */
void preload_record(const struct preload_turn* turn, double seconds);
/* Collective over MPI_COMM_WORLD: rank 0 prints or writes the table. */
void preload_report(void);
/* Writes the table of this rank to the file that is wanted, so far. */
void preload_report_save(void);

#endif /* QUADRILLE_PRELOAD_PRELOAD_H_ */
