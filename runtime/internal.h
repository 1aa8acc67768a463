/* What the files of the runtime that know MPI share. Everything global is in one struct,
 * quadrille_global (global.c). */
#ifndef QUADRILLE_RUNTIME_INTERNAL_H_
#define QUADRILLE_RUNTIME_INTERNAL_H_

#include <pthread.h>

#include "runtime/plan.h"
#include "runtime/program.h"
#include "runtime/quadrille.h"

#define QUADRILLE_TEXT 256 /* MPI_MAX_ERROR_STRING of the MPI library with the least */

/* Steps in flight where nobody says otherwise: measured, see docs/measurements.md. */
#define QUADRILLE_DEFAULT_WINDOW 16
#define QUADRILLE_MAX_WINDOW (1 << 16)

#define QUADRILLE_ERROR_CODES 16 /* more classes than are ever used */

/* Persistent calls have further ones of their own. */
enum { QUADRILLE_DATA_TAG = 0, QUADRILLE_COPY_TAG = 1, QUADRILLE_LENGTH_TAG = 2, QUADRILLE_TAGS };

/* A loaded schedule, or the reason why there is none; shared by its handle and its bindings. */
struct quadrille_loaded {
  int references;
  int failure_class; /* MPI_SUCCESS where the program is there */
  char failure[QUADRILLE_TEXT];
  struct quadrille_program program;
};

struct quadrille_slot {
  uint32_t generation;
  struct quadrille_loaded* loaded;  /* NULL: free */
  struct quadrille_binding* recent; /* what the handle was last found to be bound to, and where;
                                       NULL: not known */
  MPI_Comm recent_comm;
};

/* Requests of the steps in flight: a ring of steps, each with room for `width` requests. */
struct quadrille_flight {
  int window, width;
  int first, count; /* steps in flight are first, first + 1, ... modulo window */
  int* used;
  void** staged; /* what a step sends from, where that is not the user's buffer; freed when it
                    lands */
  MPI_Request* requests;
  int error; /* the first MPI error, or MPI_SUCCESS */
};

/* cuPointerGetAttribute */
typedef int (*quadrille_pointer_attribute)(void*, int, unsigned long long);

/* A schedule on a communicator. */
struct quadrille_binding {
  struct quadrille_binding* next;            /* of the same communicator */
  struct quadrille_binding *later, *earlier; /* of all */
  struct quadrille_loaded* loaded;
  MPI_Comm comm; /* private: no message of ours meets one of the user's */
  struct quadrille_place place;
  /* What a schedule for any nodes leaves open: `place` points to the topology, and to these numbers
   * where no call adds to them. */
  struct quadrille_topology topology;
  int64_t parameters[QUADRILLE_MAX_PARAMETERS]; /* of any schedule, but for those of the call */
  int* real; /* rank in the communicator, by rank in the schedule; gone once there is a plan */
  struct quadrille_plan plan;            /* of an all-to-all in which blocks travel directly */
  struct quadrille_route* route;         /* of one that forwards blocks */
  struct quadrille_traffic* traffic;     /* the same; see traffic.h */
  struct quadrille_execution* execution; /* of any other collective; see execution.h */
  int compares;                          /* QUADRILLE_DEBUG at all ranks: calls are compared */
  quadrille_pointer_attribute driver;    /* looked for when the binding is made */
  int synchronous;
  enum {
    QUADRILLE_IN_PLACE_UNKNOWN,
    QUADRILLE_IN_PLACE_STAGED,
    QUADRILLE_IN_PLACE_COPIED
  } in_place;
  struct quadrille_flight flight; /* with the plan */
  int window;
  int persistent_calls;     /* made so far: the same at all ranks */
  int persistent, is_alone; /* persistent calls there are; its communicator is gone */
};

struct quadrille_persistent; /* persistent.c */

struct quadrille_error_code {
  int error_class, code;
};

struct quadrille_global {
  pthread_mutex_t lock; /* of everything below */
  struct quadrille_slot* slots;
  uint32_t slot_count;
  struct quadrille_binding* bindings;
  struct quadrille_persistent* persistent;
  quadrille_request last_request;
  int has_keyvals, binding_keyval, finalizer_keyval;
  struct quadrille_error_code codes[QUADRILLE_ERROR_CODES];
  int code_count;
  char last_error[QUADRILLE_TEXT];
  int debug; /* QUADRILLE_DEBUG */
  int debug_is_read;
};
extern struct quadrille_global quadrille_global;

/* The least power of two that is no less than that. */
static inline uint32_t quadrille_power_of_two(int least) {
  uint32_t power = 1;
  while (power < (uint32_t)least) power *= 2;
  return power;
}

/* errors.c: formats a text, calls the communicator's error handler where there is one, and returns
 * a code of that class. */
int quadrille_error(MPI_Comm comm, int error_class, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for an error that MPI itself returned. */
int quadrille_mpi_error(MPI_Comm comm, int code);
/* The same for one that a call's messages came to. */
int quadrille_call_error(MPI_Comm comm, int code);
/* Says that two ranks do not mean the same by the block from the one to the other. */
void quadrille_name_lengths(char text[QUADRILLE_TEXT], int source, int64_t sent, int target,
                            int64_t room);
/* Between MPI_Init and MPI_Finalize. */
int quadrille_mpi_is_usable(void);
/* Whether QUADRILLE_DEBUG is set. */
int quadrille_debug(void);
void quadrille_log(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* schedule.c: the schedule of a handle, with a reference for the caller; NULL where the handle is
 * null or stale. */
struct quadrille_loaded* quadrille_acquire(quadrille_schedule schedule);
void quadrille_release(struct quadrille_loaded* loaded);
/* Writes the schedule's hash and returns 1; 0 where its load failed, -1 where the handle is null or
 * stale. */
int quadrille_hash_of(quadrille_schedule schedule, unsigned char hash[QUADRILLE_HASH_LENGTH]);
/* The binding that the handle was last found to have, where that was on this communicator; else
 * NULL. As long as there is a binding, its communicator and MPI are there. */
struct quadrille_binding* quadrille_recent(quadrille_schedule schedule, MPI_Comm comm);
void quadrille_remember(quadrille_schedule schedule, MPI_Comm comm,
                        struct quadrille_binding* binding);
/* A binding, or with NULL any, is not to be found so any more; the lock is held. */
void quadrille_forget(const struct quadrille_binding* binding);

/* bind.c: the binding of a schedule to a communicator, made where there is none, for a call of that
 * collective. Returns an MPI error code, after the handler was called. */
int quadrille_find_binding(quadrille_schedule schedule, MPI_Comm comm, int collective,
                           struct quadrille_binding** binding);

/* Gives a binding's reference back: a persistent call is gone. */
void quadrille_leave_binding(struct quadrille_binding* binding);

/* layout.c: the lowest rank of each rank's node, gathered at all ranks of the communicator, in which
 * the caller is `rank`; an MPI error code. */
int quadrille_gather_nodes(MPI_Comm comm, int rank, int* node_of);
/* layout.c: ranks in the order of the schedule. Sets place and real, topology and parameters. Returns
 * NULL or a text, maybe in `failure`. */
const char* quadrille_lay_out(struct quadrille_binding* binding, int layout,
                              char failure[QUADRILLE_TEXT]);

/* flight.c */
int quadrille_flight_open(struct quadrille_flight* flight, int window);
void quadrille_flight_close(struct quadrille_flight* flight);
int quadrille_flight_widen(struct quadrille_flight* flight);
/* Notes the first error. */
static inline void quadrille_flight_check(struct quadrille_flight* flight, int code) {
  if (code != MPI_SUCCESS && flight->error == MPI_SUCCESS) flight->error = code;
}
/* Waits for the requests, one by one: Open MPI 4.1 loses requests of an MPI_Waitall in which another
 * one fails. */
static inline void quadrille_flight_wait(struct quadrille_flight* flight, MPI_Request* requests,
                                         int count) {
  for (; count > 0; count--, requests++) {
    const int code = MPI_Wait(requests, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) quadrille_flight_check(flight, code);
  }
}
/* Waits for the oldest steps until no more than so many are in flight. */
void quadrille_flight_land_until(struct quadrille_flight* flight, int count);

/* Makes room in the window for a step. Returns its place. */
static inline int quadrille_flight_step(struct quadrille_flight* flight) {
  quadrille_flight_land_until(flight, flight->window - 1);
  int place = flight->first + flight->count++;
  if (place >= flight->window) place -= flight->window;
  flight->used[place] = 0;
  return place;
}

/* Where the next request of that step goes; NULL where memory ran out. */
static inline MPI_Request* quadrille_flight_request(struct quadrille_flight* flight, int place) {
  if (flight->used[place] == flight->width && !quadrille_flight_widen(flight)) return NULL;
  return &flight->requests[place * flight->width + flight->used[place]++];
}

/* steps.c: the walk, step by step, with runs taken apart. */
struct quadrille_step_message {
  unsigned flags;
  int is_token; /* an empty message: no buffer and no block */
  int buffer;
  int64_t peer, block;
};
struct quadrille_steps {
  struct quadrille_walker walker;
  struct quadrille_event
      event;                   /* the run that is being taken apart, or the copy that comes first */
  int64_t run_done;            /* how many of the run's iterations are over; -1 outside a run */
  int run_steps, run_messages; /* of this iteration, that are over */
  /* the current step */
  int64_t key, after;
  int has_after, in_step;
  struct quadrille_step_message* messages;
  int message_count, message_room;
};
enum quadrille_steps_result {
  QUADRILLE_STEPS_STEP,
  QUADRILLE_STEPS_COPY, /* event.piece to event.second */
  QUADRILLE_STEPS_END,
  QUADRILLE_STEPS_UNDEFINED, /* event.why */
  QUADRILLE_STEPS_NO_MEMORY
};
void quadrille_steps_start(struct quadrille_steps* steps, const struct quadrille_program* program,
                           const struct quadrille_tables* tables,
                           const struct quadrille_place* place);
enum quadrille_steps_result quadrille_steps_next(struct quadrille_steps* steps);
void quadrille_steps_end(struct quadrille_steps* steps);

/* blocks.c: one side of a call: where its blocks are, in the user's buffer or in one of ours. */
struct quadrille_side {
  char* base;
  MPI_Datatype type;
  int64_t type_size, extent; /* bytes packed, and from element to element */
  int uniform;               /* count and stride, else the arrays of one width */
  int64_t count, stride;
  const int *counts, *displacements;
  const MPI_Count* large_counts;
  const MPI_Aint* large_displacements; /* as displacements, in units of so many bytes: */
  int64_t unit;
  const MPI_Datatype* types; /* one a block; `type` and what depends on it mean nothing; or NULL */
};
struct quadrille_block {
  char* address;
  int64_t count; /* of elements */
};
static inline struct quadrille_block quadrille_block_of(const struct quadrille_side* side,
                                                        int rank) {
  if (side->uniform) return (struct quadrille_block){side->base + rank * side->stride, side->count};
  if (side->counts)
    return (struct quadrille_block){side->base + side->displacements[rank] * side->unit,
                                    side->counts[rank]};
  return (struct quadrille_block){side->base + side->large_displacements[rank] * side->unit,
                                  side->large_counts[rank]};
}
/* Reads extent and size of the type, or looks at all of them; an MPI error code. */
int quadrille_side_describe(struct quadrille_side* side, int ranks);
/* The side with the type of that rank's block. */
struct quadrille_side quadrille_side_of(const struct quadrille_side* side, int rank);
/* Whether the bytes of a block in memory are those of its packed form. */
int quadrille_packs_as_it_lies(MPI_Datatype type);
/* Between a block and its packed form of any length, which is count x type size bytes. */
int quadrille_pack(const struct quadrille_side* side, struct quadrille_block block, char* packed,
                   MPI_Comm comm);
int quadrille_unpack(const struct quadrille_side* side, struct quadrille_block block, char* packed,
                     MPI_Comm comm);
/* A type that covers more elements than an int counts; to be freed. */
int quadrille_large_type(int64_t count, MPI_Datatype type, MPI_Datatype* large);
/* Whether a block of the type is that many bytes without gaps. */
int quadrille_is_dense(MPI_Datatype type);
/* Copies a block of the one side to a block of the other, at one rank. */
int quadrille_copy_block(struct quadrille_binding* binding, const struct quadrille_side* from,
                         struct quadrille_block source, const struct quadrille_side* to,
                         struct quadrille_block target);
/* How the CUDA driver tells whose memory an address is; NULL where the program has none loaded. */
quadrille_pointer_attribute quadrille_find_driver(void);
/* NULL, or a text about a buffer that the library cannot use. */
const char* quadrille_refused_buffer(const struct quadrille_binding* binding, const void* buffer);

#endif /* QUADRILLE_RUNTIME_INTERNAL_H_ */
