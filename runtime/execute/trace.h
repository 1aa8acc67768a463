/* QUADRILLE_TRACE=FOLDER: each process notes its messages, and writes them to a file in FOLDER in MPI_Finalize. */
#pragma once

#include <stdint.h>
#include <time.h>

#include "runtime/execute/state.h"
#include "runtime/execute/trace_format.h"
#include "runtime/plan/plan.h"

struct qd_binding;
struct qd_call;

/* The trace of a binding. The other fields are those of qd_trace_binding. */
struct qd_traced_binding {
  uint64_t id, place; /* id: 0 if calls are not traced; place: where its section is in the file */
  int64_t request, requests, bound, offset, error; /* requests: persistent calls made so far */
};

/* The trace of a call. */
struct qd_traced_call {
  struct qd_trace_part* part; /* NULL: this call is not traced */
  struct qd_trace_message *receives, *sends;
  int64_t last;   /* the time of the last event */
  uint64_t setup; /* where the setup is in the file; 0: the next call writes one */
  int32_t parts;  /* plans of the call so far; -1: no more are noted */
};

/* Returns the time of CLOCK_MONOTONIC in nanoseconds. */
static inline int64_t qd_trace_nanoseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Returns the time in ticks, which become nanoseconds when the file is written. Ticks are those of the processor's
 * counter if its rate is constant: reading it costs half as much as the clock. Otherwise they are nanoseconds. */
static inline int64_t qd_trace_ticks(void) {
#if defined(__x86_64__)
  if (qd_global.trace.counts_ticks) return (int64_t)__builtin_ia32_rdtsc();
#endif
  return qd_trace_nanoseconds();
}

/* Returns this process's answer in the agreement at binding. 0: it can trace. 1: QUADRILLE_TRACE is not set. Its rank
 * in MPI_COMM_WORLD plus 2: it cannot trace. */
uint64_t qd_trace_ask(void);
/* Returns 0 if QUADRILLE_TRACE is not set, else the rank in MPI_COMM_WORLD plus 1. */
uint64_t qd_trace_speaker(void);
/* Collective. Must be called if all ranks can trace. Gives the binding an id and compares the clocks of the ranks. */
void qd_trace_bind(struct qd_binding* binding);
/* Notes that a copy of a binding is that of its n-th persistent call. Does nothing if the binding is not traced. */
void qd_trace_bind_copy(struct qd_binding* copy, int64_t n);

/* These note that a call begins, that it is about to follow a plan, and that it ends. */
void qd_trace_begin(struct qd_call* call);
void qd_trace_plan(struct qd_call* call);
void qd_trace_end(struct qd_call* call);

/* These note that a send or receive was posted, and that it is complete. */
static inline void qd_trace_posted(struct qd_traced_call* t, struct qd_trace_message* m,
                                   const struct qd_message* message) {
  m->started = t->last;
  m->posted = t->last = qd_trace_ticks();
  m->peer = message->peer;
  m->parts = message->count;
}
static inline void qd_trace_completed(struct qd_traced_call* t, struct qd_trace_message* m,
                                      int64_t bytes) {
  if (m->completed) return;
  m->waited = t->last;
  m->completed = t->last = qd_trace_ticks();
  m->bytes = bytes;
}

/* Writes the file, before MPI ends, and frees the memory. From then on nothing is traced. */
void qd_trace_write(void);
