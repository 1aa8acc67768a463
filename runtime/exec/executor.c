/* Follows a plan: the one loop in which messages are posted and waited for. A message of one block that
 * lies where it travels from, or to, is posted here; all others in messages.c. */
#include "runtime/exec/call.h"

/* Compiled for each kind of call. */
#define INLINED static inline __attribute__((always_inline))

static __attribute__((noinline, cold)) void fail(struct quadrille_call* c, MPI_Request* request,
                                                 int code) {
  *request = MPI_REQUEST_NULL;
  if (c->plan.is_typed) return quadrille_call_check(c, code); /* nobody is sent what is missing */
  quadrille_call_lose(c, code);
}

/* Whether MPI can count so many in a message that is not empty. */
static inline int fits(int64_t count) { return (uint64_t)(count - 1) < INT_MAX; }

INLINED void post_receive(struct quadrille_call* c, int32_t number) {
  const struct quadrille_message* m = &c->plan.receives.all[number];
  if (m->is_straight & c->receive_is_straight) {
    const struct quadrille_block block = quadrille_block_at(c, &m->part);
    if (fits(block.count)) {
      MPI_Request* request = &c->receiving[number].request;
      const int code = MPI_Irecv(block.address, (int)block.count, c->receive_type, m->peer, c->tag,
                                 c->comm, request);
      if (code != MPI_SUCCESS) fail(c, request, code);
      return;
    }
  }
  quadrille_message_receive(c, number);
}

INLINED void post_send(struct quadrille_call* c, int32_t number) {
  const struct quadrille_message* m = &c->plan.sends.all[number];
  if (m->is_straight & c->send_is_straight) {
    const struct quadrille_block block = quadrille_block_at(c, &m->part);
    if (fits(block.count)) {
      MPI_Request* request = &c->sending[number].request;
      const int code = c->isend(block.address, (int)block.count, c->send_type, m->peer, c->tag,
                                c->comm, request);
      if (code != MPI_SUCCESS) fail(c, request, code);
      return;
    }
  }
  quadrille_message_send(c, number);
}

/* A rank that lacks blocks sends nothing where there should be something. */
static void ask(struct quadrille_call* c, int32_t number) {
  int bytes = 0;
  MPI_Get_count(&c->status, MPI_BYTE, &bytes);
  if (bytes != 0) return;
  c->receiving[number].is_there = 0;
  if (c->plan.receives.all[number].count > 0) quadrille_call_lose(c, MPI_SUCCESS);
}

INLINED void wait_for_receive(struct quadrille_call* c, int32_t number, int is_watched) {
  struct quadrille_transfer* t = &c->receiving[number];
  if (t->request != MPI_REQUEST_NULL) {
    if (is_watched) quadrille_watch(c, &t->request, MPI_REQUEST_NULL);
    const int code = MPI_Wait(&t->request, c->asked);
    if (code == MPI_SUCCESS) {
      if (c->asked != MPI_STATUS_IGNORE) ask(c, number);
    } else {
      t->is_there = 0;
      fail(c, &t->request, code);
    }
  }
  if (!(c->plan.receives.all[number].is_straight & c->receive_is_straight))
    quadrille_message_land(c, number);
}

/* For the next sends, which begin with lengths, and data that followed them. */
static __attribute__((noinline)) void wait_and_read(struct quadrille_call* c, int sends) {
  struct quadrille_transfer* t = &c->sending[c->send_over];
  for (; sends > 0; sends--, t++) {
    int code = quadrille_wait_and_read(c, &t->request);
    if (code != MPI_SUCCESS) fail(c, &t->request, code);
    code = quadrille_wait_and_read(c, &t->data);
    if (code != MPI_SUCCESS) fail(c, &t->data, code);
  }
}

INLINED void wait_for_send(struct quadrille_call* c, int32_t number, int is_watched) {
  MPI_Request* request = &c->sending[number].request;
  if (*request == MPI_REQUEST_NULL) return;
  if (is_watched) quadrille_watch(c, request, MPI_REQUEST_NULL);
  const int code = MPI_Wait(request, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) fail(c, request, code);
}

/* While that send of the operation `o` goes: posts what may go as well, and returns the next receive
 * that lets more go; -1 where there is none, something else is to be done first, or enough is on its way. */
static int32_t next_to_send_on(struct quadrille_call* c, int32_t number,
                               const struct quadrille_operation* o) {
  enum { SENT_AHEAD = 4 };
  if (!(c->receive_is_straight & c->send_is_straight)) return -1;
  if (c->ahead <= o) {
    c->ahead = o + 1;
    c->ahead_receive = c->receive_over;
    c->ahead_received = 0;
  }
  for (;; c->ahead++, c->ahead_received = 0) {
    const struct quadrille_progress* more = &c->ahead->more;
    if (c->ahead->kind != QUADRILLE_PLAN_MESSAGES || (more->gone > 0 && more->sent > 0)) return -1;
    if (c->sent_ahead + more->sent > SENT_AHEAD ||
        c->next_send - number + more->sent > c->builder.window)
      return -1;
    if (c->ahead_received < more->received) {
      const int is_posted = c->ahead_receive < c->next_receive;
      return is_posted && c->plan.receives.all[c->ahead_receive].is_straight ? c->ahead_receive
                                                                             : -1;
    }
    for (int n = 0; n < more->sent; n++)
      if (!c->plan.sends.all[c->next_send + n].is_straight) return -1;
    for (int n = more->sent; n > 0; n--, c->sent_ahead++) post_send(c, c->next_send++);
  }
}

/* Waits for a send of an allgather. What arrives meanwhile is sent on before its turn: the other end of
 * this send may take its time to answer, and the wire would be idle. */
static __attribute__((noinline)) void send_on(struct quadrille_call* c, int32_t number,
                                              const struct quadrille_operation* o) {
  MPI_Request* own = &c->sending[number].request;
  int32_t next;
  while ((next = next_to_send_on(c, number, o)) >= 0) {
    MPI_Request* arriving = &c->receiving[next].request;
    if (*arriving != MPI_REQUEST_NULL) {
      MPI_Request both[] = {*own, *arriving};
      int which = 0;
      const int code = MPI_Waitany(2, both, &which, &c->status);
      *own = both[0];
      *arriving = both[1];
      if (code != MPI_SUCCESS) fail(c, which == 0 ? own : arriving, code);
      if (which == 0) return;
      if (code == MPI_SUCCESS) ask(c, next);
    }
    c->ahead_receive++;
    c->ahead_received++;
  }
  wait_for_send(c, number, 0);
}

INLINED void wait_or_send_on(struct quadrille_call* c, int32_t number,
                             const struct quadrille_operation* o) {
  enum { SHORT = 1 << 12 }; /* goes at once */
  if (c->plan.sends.all[number].bytes < SHORT) return wait_for_send(c, number, 0);
  if (c->sending[number].request != MPI_REQUEST_NULL) send_on(c, number, o);
}

/* A call that is watched sends nothing on before its turn. */
INLINED void follow(struct quadrille_call* c, const struct quadrille_operation* o, int sends_on,
                    int is_watched) {
  for (int n = o->more.received; n > 0; n--) wait_for_receive(c, c->receive_over++, is_watched);
  if (c->lengths != QUADRILLE_LENGTHS_KNOWN) wait_and_read(c, o->more.gone);
  for (int n = o->more.gone; n > 0; n--) {
    if (sends_on)
      wait_or_send_on(c, c->send_over++, o);
    else
      wait_for_send(c, c->send_over++, is_watched);
  }
  for (int n = o->more.posted; n > 0; n--) post_receive(c, c->next_receive++);
  int sent = o->more.sent;
  for (; sends_on && sent > 0 && c->sent_ahead > 0; sent--) c->sent_ahead--;
  for (; sent > 0; sent--) post_send(c, c->next_send++);
}

static __attribute__((noinline)) void follow_other(struct quadrille_call* c,
                                                   const struct quadrille_operation* o) {
  if (o->kind == QUADRILLE_PLAN_COPY) quadrille_copy(c, &c->plan.copies[o->what]);
  if (o->kind == QUADRILLE_PLAN_COPY_OWN) quadrille_copy_own(c);
  if (o->kind == QUADRILLE_PLAN_SAVE) quadrille_save(c, o->what, o->buffer);
}

static inline int has_to_wait(const struct quadrille_operation* o) {
  return o->kind == QUADRILLE_PLAN_MESSAGES && o->more.received + o->more.gone > 0;
}

INLINED void go(struct quadrille_call* c, int waits, int sends_on, int is_watched) {
  const struct quadrille_operation* o = c->next;
  for (; o->kind != QUADRILLE_PLAN_OVER && (waits || !has_to_wait(o)); o++)
    if (o->kind == QUADRILLE_PLAN_MESSAGES)
      follow(c, o, sends_on, is_watched);
    else
      follow_other(c, o);
  c->next = o;
}

static __attribute__((noinline)) void go_watched(struct quadrille_call* c, int waits) {
  go(c, waits, 0, 1);
}

static __attribute__((noinline)) void go_sending_on(struct quadrille_call* c, int waits) {
  go(c, waits, 1, 0);
}

void quadrille_call_go(struct quadrille_call* c, int waits) {
  if (c->is_watched)
    go_watched(c, waits);
  else if (c->sends_on)
    go_sending_on(c, waits);
  else
    go(c, waits, 0, 0);
}
