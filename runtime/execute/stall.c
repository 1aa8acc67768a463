/* QUADRILLE_STALL=SECONDS: a rank that waits longer for a message prints its peer, and waits on. A watched call polls
 * before it waits. Other calls pay nothing for this. */
#include <sched.h>
#include <stdio.h>

#include "runtime/execute/api.h"
#include "runtime/execute/call.h"
#include "runtime/execute/state.h"

enum { NAME = 96 };

struct watch {
  double begun, next; /* when to print next, in seconds after `begun` */
};

static double now(void) { return 1e-9 * (double)qd_trace_nanoseconds(); }

/* Waits until one of two requests is complete, and returns 0. The second may be null. If it is time to print before,
 * returns the seconds of the wait so far. */
static double await(struct watch* watch, MPI_Request one, MPI_Request other) {
  for (;; sched_yield()) {
    int is_over = 0;
    int code = PMPI_Request_get_status(one, &is_over, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && !is_over && other != MPI_REQUEST_NULL)
      code = PMPI_Request_get_status(other, &is_over, MPI_STATUS_IGNORE);
    if (is_over || code != MPI_SUCCESS) return 0;
    const double waited = now() - watch->begun;
    if (waited < watch->next) continue;
    watch->next *= 2;
    return waited;
  }
}

/* Writes the rank in the user's communicator, and the rank in MPI_COMM_WORLD if that differs. */
static void name_rank(const struct qd_binding* b, int rank, char name[NAME]) {
  const int is_remote = b->layout.context.remote_ranks > 0 && rank >= b->layout.first_remote &&
                        rank < b->layout.first_remote + b->layout.context.remote_ranks;
  const int users = rank - (is_remote ? b->layout.first_remote : b->layout.first);
  int in_world = MPI_UNDEFINED, in_comm = qd_rank_in_comm(b, rank);
  char also[NAME / 2] = "";
  MPI_Group group, world;
  PMPI_Comm_group(b->comm, &group);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(group, 1, &in_comm, world, &in_world);
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  if (in_world != users && in_world != MPI_UNDEFINED)
    snprintf(also, sizeof also, " (%d of MPI_COMM_WORLD)", in_world);
  snprintf(name, NAME, "rank %d%s%s", users, is_remote ? " of the other group" : "", also);
}

static void say(const struct qd_binding* b, int peer, double waited, const char* what) {
  char own[NAME], other[NAME];
  const struct qd_program* program = &b->schedule_data->program;
  name_rank(b, b->layout.own, own);
  name_rank(b, peer, other);
  fprintf(stderr, "quadrille: %s has waited %.1f s for %s, to %s; %s by %s\n", own, waited, other,
          what, qd_collective_name(program->collective), program->algorithm);
}

void qd_watch_counts(const struct qd_binding* b, MPI_Request request, int peer, int receives) {
  struct watch watch = {now(), b->options.stall};
  double waited;
  while ((waited = await(&watch, request, MPI_REQUEST_NULL)) > 0)
    say(b, peer, waited, receives ? "receive counts" : "send counts");
}

/* Returns the index of the element of the array that contains an address, or -1. */
static int32_t number_in(const void* array, size_t size, int32_t count, const void* address) {
  const uintptr_t offset = (uintptr_t)address - (uintptr_t)array;
  return offset < size * (size_t)count ? (int32_t)(offset / size) : -1;
}

/* Writes the key of a message's step. Returns 0 if the builder did not keep it. */
static int is_step_known(const struct qd_builder* b, int32_t number, int receives, int64_t* key) {
  const int64_t kept = (int64_t)b->window.mask + 1,
                first = b->window.steps > kept ? b->window.steps - kept : 0;
  for (int64_t i = first; i < b->window.steps; i++) {
    const struct qd_planned_step* s = &b->window.ring[(uint32_t)i & b->window.mask];
    if (number >= (receives ? s->receives : s->sends)) continue;
    *key = s->key;
    return i > first || first == 0;
  }
  return 0;
}

/* Returns the bytes of a message, or -1 if its lengths have not arrived. */
static int64_t bytes_of(const struct qd_call* c, int32_t number, int receives) {
  const struct qd_posting p = receives ? qd_receive_of(c, number) : qd_send_of(c, number);
  const int is_known =
      c->lengths == QD_LENGTHS_KNOWN || !receives || p.transfer < c->at.next_to_read;
  return is_known ? qd_message_bytes(c, p) : -1;
}

static void say_message(const struct qd_call* c, const MPI_Request* request, double waited) {
  const struct qd_plan* plan = &c->plan;
  const int32_t received =
      number_in(c->memory.receiving, sizeof *c->memory.receiving, plan->receives.count, request);
  const int receives = received >= 0;
  const int32_t number = receives ? received
                                  : number_in(c->memory.sending, sizeof *c->memory.sending,
                                              plan->sends.count, request);
  const struct qd_message* m = &(receives ? &plan->receives : &plan->sends)->all[number];
  const int64_t bytes = bytes_of(c, number, receives);
  char many[32] = "a message", step[32] = "", what[NAME];
  int64_t key = 0;
  if (bytes >= 0) snprintf(many, sizeof many, "%lld bytes", (long long)bytes);
  if (is_step_known(&c->builder, number, receives, &key))
    snprintf(step, sizeof step, " in step %lld", (long long)key);
  snprintf(what, sizeof what, "%s %s%s", receives ? "receive" : "send", many, step);
  say(c->binding, m->peer, waited, what);
}

void qd_watch(const struct qd_call* c, const MPI_Request* request, MPI_Request other) {
  struct watch watch = {now(), c->binding->options.stall};
  double waited;
  while ((waited = await(&watch, *request, other)) > 0) say_message(c, request, waited);
}

void qd_wait_for_library(MPI_Request* request) {
  enum { USUAL = 10, ALL = 8 }; /* seconds; ranks below ALL and powers of two print the report */
  const double stall = qd_settings()->stall;
  struct watch watch = {now(), stall > 0 ? stall : USUAL};
  const double waited = await(&watch, *request, MPI_REQUEST_NULL);
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (waited > 0 && (rank < ALL || (rank & (rank - 1)) == 0))
    fprintf(stderr,
            "quadrille: rank %d has waited %.1f s for other ranks: they are late, or run without "
            "this library or with QUADRILLE=off; LD_PRELOAD must reach all ranks\n",
            rank, waited);
  PMPI_Wait(request, MPI_STATUS_IGNORE);
}
