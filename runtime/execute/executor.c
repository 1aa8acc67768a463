/* The loop that follows a plan: it posts messages and waits for them. It posts zero-copy messages of one block
 * itself, and leaves all others to messages.c. */
#include "runtime/execute/call.h"

/* Compiled once for each kind of call. */
#define INLINED static inline __attribute__((always_inline))

static __attribute__((noinline, cold)) void fail(struct qd_call* c, MPI_Request* request,
                                                 int code) {
  *request = MPI_REQUEST_NULL;
  if (c->plan.is_typed) return qd_call_check(c, code); /* no other rank needs the bytes */
  qd_call_lose(c, code);
}

/* Whether a message that is not empty has a count that an int holds. */
static inline int fits(int64_t count) { return (uint64_t)(count - 1) < INT_MAX; }

/* Who observes a call: nobody, its trace alone, or QUADRILLE_STALL and perhaps its trace. */
enum observer { NOBODY, TRACE, WATCHER };

INLINED int is_traced(const struct qd_call* c, enum observer by) {
  return by == TRACE || (by == WATCHER && c->trace.part);
}

/* The bytes of a message. */
INLINED int64_t bytes_of(const struct qd_call* c, struct qd_posting p, const struct qd_side* side,
                         int zero_copy) {
  if (!(p.message->zero_copy & zero_copy)) return qd_traced_bytes(c, p);
  const int64_t count = qd_block_at(c, &p.message->part).count;
  return c->plan.is_typed ? count * side->type_size : count;
}

/* A message with lengths is complete when messages.c has waited for its data. */
INLINED void note_received(struct qd_call* c, struct qd_transfer* t) {
  const struct qd_posting p = qd_received_by(c, t);
  if (c->lengths != QD_LENGTHS_KNOWN && p.message->count > 0) return;
  qd_trace_completed(&c->trace, &c->trace.receives[t - c->memory.receiving],
                     bytes_of(c, p, &c->data.receive, c->data.receive_zero_copy));
}

INLINED void note_sent(struct qd_call* c, const struct qd_transfer* t) {
  struct qd_trace_message* m = &c->trace.sends[t - c->memory.sending];
  qd_trace_completed(&c->trace, m, m->bytes);
}

INLINED void receive(struct qd_call* c, struct qd_posting p) {
  const struct qd_message* m = p.message;
  if (m->zero_copy & c->data.receive_zero_copy) {
    const struct qd_block block = qd_block_at(c, &m->part);
    if (fits(block.count)) {
      p.transfer->zero_copy = 1;
      const int code = PMPI_Irecv(block.address, (int)block.count, c->data.receive_type, m->peer,
                                  c->tag, c->comm, &p.transfer->request);
      if (code != MPI_SUCCESS) fail(c, &p.transfer->request, code);
      return;
    }
  }
  qd_message_receive(c, p);
}

INLINED void post_receive(struct qd_call* c, enum observer by) {
  const struct qd_posting p = {c->at.next_receive++, c->at.receive_transfer++};
  receive(c, p);
  if (is_traced(c, by))
    qd_trace_posted(&c->trace, &c->trace.receives[p.transfer - c->memory.receiving], p.message);
}

INLINED void send(struct qd_call* c, struct qd_posting p) {
  const struct qd_message* m = p.message;
  if (m->zero_copy & c->data.send_zero_copy) {
    const struct qd_block block = qd_block_at(c, &m->part);
    if (fits(block.count)) {
      const int code = c->isend(block.address, (int)block.count, c->data.send_type, m->peer, c->tag,
                                c->comm, &p.transfer->request);
      if (code != MPI_SUCCESS) fail(c, &p.transfer->request, code);
      return;
    }
  }
  qd_message_send(c, p);
}

INLINED void post_send(struct qd_call* c, enum observer by) {
  const struct qd_posting p = {c->at.next_send++, c->at.send_transfer++};
  send(c, p);
  if (is_traced(c, by)) {
    struct qd_trace_message* m = &c->trace.sends[p.transfer - c->memory.sending];
    qd_trace_posted(&c->trace, m, p.message);
    /* A receive of the same step may replace blocks of the message, and their lengths. */
    m->bytes = bytes_of(c, p, &c->data.send, c->data.send_zero_copy);
  }
}

/* Checks that a received message is not empty. An empty one means that its sender lacks blocks. */
INLINED void check_arrival(struct qd_call* c, struct qd_transfer* t) {
  int bytes = 0;
  PMPI_Get_count(&c->status, MPI_BYTE, &bytes);
  if (bytes != 0) return;
  t->has_arrived = 0;
  if (qd_received_by(c, t).message->count > 0) qd_call_lose(c, MPI_SUCCESS);
}

INLINED void wait_for_receive(struct qd_call* c, enum observer by) {
  struct qd_transfer* t = c->at.receive_to_wait++;
  if (t->request != MPI_REQUEST_NULL) {
    if (by == WATCHER) qd_watch(c, &t->request, MPI_REQUEST_NULL);
    const int code = PMPI_Wait(&t->request, c->asked);
    if (code == MPI_SUCCESS) {
      if (c->asked != MPI_STATUS_IGNORE) check_arrival(c, t);
    } else {
      t->has_arrived = 0;
      fail(c, &t->request, code);
    }
  }
  if (is_traced(c, by)) note_received(c, t);
  if (t->zero_copy) return;
  qd_message_deliver(c, qd_received_by(c, t));
  if (is_traced(c, by)) c->trace.last = qd_trace_ticks();
}

/* Waits for the next sends, which begin with lengths, and for the data that follows them. */
static __attribute__((noinline)) void wait_and_read(struct qd_call* c, int sends) {
  struct qd_transfer* t = c->at.send_to_wait;
  for (; sends > 0; sends--, t++) {
    int code = qd_wait_and_read(c, &t->request);
    if (code != MPI_SUCCESS) fail(c, &t->request, code);
    code = qd_wait_and_read(c, &t->data);
    if (code != MPI_SUCCESS) fail(c, &t->data, code);
    if (c->trace.part) note_sent(c, t);
  }
}

INLINED void wait_for_send(struct qd_call* c, struct qd_transfer* t, enum observer by) {
  if (t->request != MPI_REQUEST_NULL) {
    if (by == WATCHER) qd_watch(c, &t->request, MPI_REQUEST_NULL);
    const int code = PMPI_Wait(&t->request, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) fail(c, &t->request, code);
  }
  if (is_traced(c, by)) note_sent(c, t);
}

/* Posts the next sends early, while a send of the operation `o` is in flight. Returns whether the receive
 * `early.receive` allows more early sends. Returns 0 if something else comes first, or if enough sends are in
 * flight. */
static int may_send_early(struct qd_call* c, const struct qd_transfer* pending,
                          const struct qd_operation* o) {
  if (!(c->data.receive_zero_copy & c->data.send_zero_copy)) return 0;
  if (c->early.operation <= o) {
    c->early.operation = o + 1;
    c->early.receive = c->at.receive_to_wait;
    c->early.received = 0;
  }
  for (;; c->early.operation++, c->early.received = 0) {
    const struct qd_progress* more = &c->early.operation->more;
    if (c->early.operation->kind != QD_PLAN_MESSAGES ||
        (more->sends_done > 0 && more->sends_posted > 0))
      return 0;
    if (c->early.posted + more->sends_posted > QD_SENT_AHEAD ||
        c->at.send_transfer - pending + more->sends_posted > c->builder.window.size)
      return 0;
    if (c->early.received < more->receives_done)
      return c->early.receive < c->at.receive_transfer && c->early.receive->zero_copy;
    for (int n = 0; n < more->sends_posted; n++)
      if (!c->at.next_send[n].zero_copy) return 0;
    for (int n = more->sends_posted; n > 0; n--, c->early.posted++)
      post_send(c, c->trace.part ? TRACE : NOBODY);
  }
}

/* Waits for a send of an allgather. Meanwhile it forwards blocks that arrive, before their turn. The peer of the
 * pending send may be slow to answer, and the link would be idle. */
static __attribute__((noinline)) void send_early(struct qd_call* c, struct qd_transfer* pending,
                                                 const struct qd_operation* o) {
  while (may_send_early(c, pending, o)) {
    struct qd_transfer* next = c->early.receive;
    if (next->request != MPI_REQUEST_NULL) {
      MPI_Request both[] = {pending->request, next->request};
      int which = 0;
      const int code = PMPI_Waitany(2, both, &which, &c->status);
      pending->request = both[0];
      next->request = both[1];
      if (code != MPI_SUCCESS) fail(c, which == 0 ? &pending->request : &next->request, code);
      if (which == 0) return;
      if (code == MPI_SUCCESS) check_arrival(c, next);
    }
    if (c->trace.part) note_received(c, next);
    c->early.receive++;
    c->early.received++;
  }
  wait_for_send(c, pending, NOBODY);
}

INLINED void wait_or_send_early(struct qd_call* c, struct qd_transfer* t,
                                const struct qd_operation* o, enum observer by) {
  /* A shorter message is sent at once. */
  if ((c->at.message_to_wait++)->bytes < QD_LONG_SEND) return wait_for_send(c, t, by);
  if (t->request != MPI_REQUEST_NULL) send_early(c, t, o);
  if (is_traced(c, by)) note_sent(c, t);
}

/* Follows one operation. A call sends nothing early if it is watched or lengths travel. */
INLINED void follow(struct qd_call* c, const struct qd_operation* o, int sends_early,
                    enum observer by) {
  for (int n = o->more.receives_done; n > 0; n--) wait_for_receive(c, by);
  if (!sends_early && c->lengths != QD_LENGTHS_KNOWN) wait_and_read(c, o->more.sends_done);
  for (int n = o->more.sends_done; n > 0; n--) {
    if (sends_early)
      wait_or_send_early(c, c->at.send_to_wait++, o, by);
    else
      wait_for_send(c, c->at.send_to_wait++, by);
  }
  for (int n = o->more.receives_posted; n > 0; n--) post_receive(c, by);
  int sent = o->more.sends_posted;
  for (; sends_early && sent > 0 && c->early.posted > 0; sent--) c->early.posted--;
  for (; sent > 0; sent--) post_send(c, by);
}

static __attribute__((noinline)) void follow_other(struct qd_call* c,
                                                   const struct qd_operation* o) {
  if (o->kind == QD_PLAN_COPY) qd_copy(c, &c->plan.copies[o->what]);
  if (o->kind == QD_PLAN_COPY_OWN) qd_copy_own(c);
  if (o->kind == QD_PLAN_SAVE) qd_save(c, o->what, o->buffer);
  if (c->trace.part) c->trace.last = qd_trace_ticks();
}

static inline int has_to_wait(const struct qd_operation* o) {
  return o->kind == QD_PLAN_MESSAGES && o->more.receives_done + o->more.sends_done > 0;
}

INLINED void follow_plan(struct qd_call* c, int waits, int sends_early, enum observer by) {
  const struct qd_operation* o = c->at.next;
  for (; o->kind != QD_PLAN_END && (waits || !has_to_wait(o)); o++)
    if (o->kind == QD_PLAN_MESSAGES)
      follow(c, o, sends_early, by);
    else
      follow_other(c, o);
  c->at.next = o;
}

static __attribute__((noinline)) void progress_watched(struct qd_call* c, int waits) {
  follow_plan(c, waits, 0, WATCHER);
}

static __attribute__((noinline)) void progress_traced(struct qd_call* c, int waits) {
  follow_plan(c, waits, 0, TRACE);
}

static __attribute__((noinline)) void progress_traced_early(struct qd_call* c, int waits) {
  follow_plan(c, waits, 1, TRACE);
}

static __attribute__((noinline)) void progress_early(struct qd_call* c, int waits) {
  follow_plan(c, waits, 1, NOBODY);
}

void qd_call_progress(struct qd_call* c, int waits) {
  const int is_early = c->early.is_allowed;
  if (c->is_watched)
    progress_watched(c, waits);
  else if (c->trace.part)
    (is_early ? progress_traced_early : progress_traced)(c, waits);
  else if (is_early)
    progress_early(c, waits);
  else
    follow_plan(c, waits, 0, NOBODY);
}
