/* QUADRILLE_TRACE=FOLDER: each process notes its messages in memory, and writes them to a file there in MPI_Finalize. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_TRACE_H_
#define QUADRILLE_RUNTIME_EXECUTE_TRACE_H_

#include <stdint.h>
#include <time.h>

#include "runtime/execute/state.h"
#include "runtime/execute/trace_format.h"
#include "runtime/plan/plan.h"

struct qd_binding;
struct qd_call;

/* The trace of a binding. */
struct qd_traced_binding {
  uint64_t id, place; /* id: 0 if calls are not traced; place: of its section */
  int64_t request, requests, bound, offset, error; /* requests: persistent calls made so far */
};

/* The trace of a call. */
struct qd_traced_call {
  struct qd_trace_part* part; /* NULL: this call is not traced */
  struct qd_trace_message *receives, *sends;
  int64_t last;   /* the time of the last event */
  uint64_t setup; /* the place of its section; 0: the next call writes one */
  int32_t parts;  /* plans of the call so far; -1: no more are noted */
};

/* CLOCK_MONOTONIC in nanoseconds. */
static inline int64_t qd_trace_nanoseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* The time of an event in ticks, which become nanoseconds when the file is written. If the processor counts at a constant
 * rate, its counter costs half as much as the clock. */
static inline int64_t qd_trace_ticks(void) {
#if defined(__x86_64__)
  if (qd_global.trace.counts_ticks) return (int64_t)__builtin_ia32_rdtsc();
#endif
  return qd_trace_nanoseconds();
}

/* For the agreement at binding. 0: this process can trace; 1: QUADRILLE_TRACE is not set here; greater: this process cannot
 * trace, and its rank plus 2 is the number. */
uint64_t qd_trace_ask(void);
/* 0: this process is not asked to trace. Else it is greater the higher its rank. */
uint64_t qd_trace_speaker(void);
/* The greatest answers of all ranks. One process says why nothing is traced: one that cannot trace, or else the speaker. */
void qd_trace_refuse(uint64_t answer, uint64_t speaker);
/* Collective, if all ranks can trace: names the binding and compares the clocks. */
void qd_trace_bind(struct qd_binding* binding);
/* The copy of a binding is that of a persistent call, the n-th one. */
void qd_trace_bind_copy(struct qd_binding* copy, int64_t n);

/* A call begins; a plan of it is about to be followed; it ends. */
void qd_trace_begin(struct qd_call* call);
void qd_trace_plan(struct qd_call* call);
void qd_trace_end(struct qd_call* call);

/* An end of a message was posted, or is complete. */
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

/* Writes the file, before MPI ends. From then on nothing is traced. */
void qd_trace_write(void);

#endif /* QUADRILLE_RUNTIME_EXECUTE_TRACE_H_ */
