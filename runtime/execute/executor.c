/* Follows a plan: posts messages and waits for them. First, the operations of the plan become a list of actions, each
 * of one message or copy. Then a loop executes the actions. It handles the usual ones itself: messages of one part of
 * known length at one address, and copies and reductions of ranges. It leaves others to messages.c. */

#include "runtime/execute/call.h"

#define INLINED static inline __attribute__((always_inline))

enum {
  RECEIVE,        /* posts a receive of any kind */
  RECEIVE_BLOCK,  /* posts the receive of a block */
  RECEIVE_RANGE,  /* posts the receive of a range of bytes */
  RECEIVE_STAGED, /* posts a receive into a buffer of the runtime */
  SEND,           /* posts a send of any kind */
  SEND_BLOCK,     /* posts the send of a block */
  SEND_RANGE,     /* posts the send of a range of bytes */
  AWAIT_RECEIVE,  /* waits for a receive, and delivers the message */
  AWAIT_STAGED,   /* waits for a receive into a buffer; DELIVER follows */
  DELIVER,        /* copies or reduces a message from its buffer */
  AWAIT_SEND,     /* waits for a send */
  AWAIT_LONG,     /* waits for a long send of an allgather */
  COPY,           /* copies or reduces a range */
  OTHER,          /* any other operation of the plan */
  END
};

/* ---- Making the list. The functions are inlined, so that the pointer to the next action stays in a register. */

struct list {
  const struct qd_call* call;
  struct qd_action* next;
  int is_simple; /* all ranks know all counts, and no buffer is given back after the call */
  int32_t receives_done, sends_done, receives, sends;
};

INLINED struct qd_action* add(struct list* l, int kind, int32_t number) {
  *l->next = (struct qd_action){.kind = (uint8_t)kind, .number = number};
  return l->next++;
}

/* Returns whether the loop can receive the message into a buffer of the runtime. */
INLINED int is_staged(const struct list* l, const struct qd_message* m) {
  return l->is_simple && !m->zero_copy && m->count > 0 && m->buffer != QD_NO_BUFFER &&
         !qd_is_described(m) && m->bytes > 0 && m->bytes <= INT_MAX;
}

/* Returns the kind of a message of one part: one of the two after `kind`, or `kind`, which serves any message. */
INLINED int kind_of(const struct qd_message* m, int kind) {
  const int64_t bytes = m->part.high - m->part.low;
  if (!m->zero_copy) return kind;
  if (m->part.form != QD_RANGE) return kind + 1;
  return bytes > 0 && bytes <= INT_MAX ? kind + 2 : kind;
}

INLINED void add_receive(struct list* l) {
  const int32_t number = l->receives++;
  const struct qd_message* m = &l->call->plan.receives.all[number];
  const int kind = is_staged(l, m) ? RECEIVE_STAGED : kind_of(m, RECEIVE);
  *l->next++ =
      (struct qd_action){.kind = (uint8_t)kind,
                         .number = number,
                         .peer = qd_rank_in_comm(l->call->binding, m->peer),
                         .region = kind == RECEIVE_STAGED ? m->buffer : m->part.region,
                         .low = m->part.low,
                         .bytes = kind == RECEIVE_STAGED ? m->bytes : m->part.high - m->part.low};
}

INLINED void add_send(struct list* l, int is_late, int32_t left) {
  const int32_t number = l->sends++;
  const struct qd_message* m = &l->call->plan.sends.all[number];
  *l->next++ =
      (struct qd_action){.kind = (uint8_t)kind_of(m, SEND),
                         .combines = (uint8_t)(left > QD_SENT_AHEAD ? QD_SENT_AHEAD + 1 : left),
                         .is_late = (uint8_t)is_late,
                         .number = number,
                         .peer = qd_rank_in_comm(l->call->binding, m->peer),
                         .region = m->part.region,
                         .low = m->part.low,
                         .bytes = m->part.high - m->part.low};
}

/* Returns whether the loop can copy or reduce a range of this many bytes. */
INLINED int is_usual(const struct list* l, int64_t bytes) {
  return l->is_simple && bytes > 0 && bytes <= INT_MAX && l->call->builder.traits.unit > 0;
}

INLINED void set_target(const struct list* l, struct qd_action* a, const struct qd_part* to,
                        int combines) {
  a->region = to->region;
  a->low = to->low;
  a->bytes = to->high - to->low;
  a->combines = (uint8_t)combines;
  a->peer = (int32_t)(a->bytes / l->call->builder.traits.unit);
}

INLINED void add_receive_done(struct list* l, int is_late) {
  const int32_t number = l->receives_done++;
  const struct qd_message* m = &l->call->plan.receives.all[number];
  if (!is_staged(l, m) || m->count != 1 || !is_usual(l, m->bytes)) {
    add(l, AWAIT_RECEIVE, number)->is_late = (uint8_t)is_late;
    return;
  }
  add(l, AWAIT_STAGED, number);
  set_target(l, add(l, DELIVER, number), &m->part, m->combines);
}

INLINED void add_copy(struct list* l, const struct qd_operation* o) {
  const struct qd_copy* copy = &l->call->plan.copies[o->what];
  if (!is_usual(l, copy->from.high - copy->from.low)) {
    add(l, OTHER, (int32_t)(o - l->call->plan.operations));
    return;
  }
  set_target(l, add(l, COPY, o->what), &copy->to, copy->combines);
}

INLINED void add_messages(struct list* l, const struct qd_progress* more) {
  const struct qd_plan* plan = &l->call->plan;
  const int is_late = more->sends_done > 0 && more->sends_posted > 0;
  for (int32_t n = more->receives_done; n > 0; n--) add_receive_done(l, is_late);
  for (int32_t n = more->sends_done; n > 0; n--) {
    const int is_long = plan->sends.all[l->sends_done].bytes >= QD_LONG_SEND;
    add(l, is_long ? AWAIT_LONG : AWAIT_SEND, l->sends_done++);
  }
  for (int32_t n = more->receives_posted; n > 0; n--) add_receive(l);
  for (int32_t n = more->sends_posted; n > 0; n--) add_send(l, is_late, n);
}

int qd_call_list(struct qd_call* c) {
  const struct qd_plan* plan = &c->plan;
  const int is_known = c->builder.traits.has_global_counts;
  struct list l = {.call = c, .is_simple = is_known && !c->memory.has_long};
  /* A receive has up to three actions: post, wait, deliver. A send has two. The own copy and END are two more. */
  const int64_t most =
      3 * (int64_t)plan->receives.count + 2 * (int64_t)plan->sends.count + plan->copy_count + 2;
  if (!QD_LENGTHEN(c->actions, c->action_capacity, most)) return 0;
  l.next = c->actions;
  for (const struct qd_operation* o = plan->operations; o->kind != QD_PLAN_END; o++)
    if (o->kind == QD_PLAN_MESSAGES)
      add_messages(&l, &o->more);
    else if (o->kind == QD_PLAN_COPY && is_known)
      add_copy(&l, o);
    else
      add(&l, OTHER, (int32_t)(o - plan->operations));
  add(&l, END, 0);
  return 1;
}

/* ---- Following the list */

static __attribute__((noinline, cold)) void fail_post(struct qd_call* c, MPI_Request* request,
                                                      int code) {
  *request = MPI_REQUEST_NULL;
  if (c->plan.is_typed) return qd_call_check(c, code); /* no other rank needs the bytes */
  qd_call_lose(c, code);
}

/* Returns whether the count is above 0 and an int holds it. */
INLINED int fits(int64_t count) { return (uint64_t)(count - 1) < INT_MAX; }

/* Traces that a receive is complete. If lengths travel, messages.c does so once the data has arrived. */
static void note_received(struct qd_call* c, int32_t number) {
  const struct qd_posting p = qd_receive_of(c, number);
  if (c->lengths == QD_LENGTHS_KNOWN || p.message->count == 0) qd_trace_received(c, p);
}

static void note_sent(struct qd_call* c, int32_t number) {
  if (!c->trace.part) return;
  struct qd_trace_message* m = &c->trace.sends[number];
  qd_trace_completed(&c->trace, m, m->bytes);
}

static __attribute__((noinline)) void receive_any(struct qd_call* c, int32_t number) {
  c->at.receive_transfer = &c->memory.receiving[number + 1];
  qd_message_receive(c, qd_receive_of(c, number));
}

INLINED void receive(struct qd_call* c, const struct qd_action* a, char* address, int64_t count,
                     int zero_copy) {
  struct qd_transfer* const t = &c->memory.receiving[a->number];
  t->zero_copy = (uint8_t)zero_copy;
  const int code =
      PMPI_Irecv(address, (int)count, c->data.receive_type, a->peer, c->tag, c->comm, &t->request);
  if (code != MPI_SUCCESS) fail_post(c, &t->request, code);
}

INLINED void receive_block(struct qd_call* c, const struct qd_action* a) {
  const struct qd_block* block = &c->data.blocks[a->region];
  if (!c->data.receive_zero_copy || !fits(block->count)) return receive_any(c, a->number);
  receive(c, a, block->address, block->count, 1);
}

INLINED void receive_range(struct qd_call* c, const struct qd_action* a) {
  if (!c->data.receive_zero_copy) return receive_any(c, a->number);
  c->at.receive_transfer = &c->memory.receiving[a->number + 1];
  receive(c, a, c->data.blocks[a->region].address + a->low, a->bytes, 1);
}

INLINED void receive_staged(struct qd_call* c, const struct qd_action* a) {
  if (!c->data.receive_zero_copy) return receive_any(c, a->number);
  receive(c, a, c->memory.buffers[a->region].address, a->bytes, 0);
}

INLINED void send(struct qd_call* c, const struct qd_action* a, char* address, int64_t count) {
  struct qd_transfer* const t = &c->memory.sending[a->number];
  const int code =
      c->isend(address, (int)count, c->data.send_type, a->peer, c->tag, c->comm, &t->request);
  if (code != MPI_SUCCESS) fail_post(c, &t->request, code);
}

INLINED void send_block(struct qd_call* c, const struct qd_action* a) {
  const struct qd_block* block = &c->data.blocks[a->region];
  if (!c->data.send_zero_copy || !fits(block->count))
    return qd_message_send(c, qd_send_of(c, a->number));
  send(c, a, block->address, block->count);
}

INLINED void send_range(struct qd_call* c, const struct qd_action* a) {
  if (!c->data.send_zero_copy) return qd_message_send(c, qd_send_of(c, a->number));
  send(c, a, c->data.blocks[a->region].address + a->low, a->bytes);
}

static void note_send(struct qd_call* c, int32_t number) {
  const struct qd_posting p = qd_send_of(c, number);
  struct qd_trace_message* m = &c->trace.sends[number];
  qd_trace_posted(&c->trace, m, p.message);
  /* A receive of the same step may replace blocks of the message, and their lengths. */
  m->bytes = qd_message_bytes(c, p);
}

/* Checks that a received message is not empty. An empty one in place of data means that its sender lacks blocks. */
INLINED void check_arrival(struct qd_call* c, struct qd_transfer* t) {
  int bytes = 0;
  PMPI_Get_count(&c->status, MPI_BYTE, &bytes);
  if (c->lengths != QD_LENGTHS_KNOWN) t->bytes = bytes; /* read_lengths replaces this */
  if (bytes != 0) return;
  t->has_arrived = 0;
  if (qd_received_by(c, t).message->count > 0) qd_call_lose(c, MPI_SUCCESS);
}

INLINED void await_receive(struct qd_call* c, struct qd_transfer* t, int is_observed) {
  if (t->request == MPI_REQUEST_NULL) return;
  if (is_observed && c->is_watched) qd_watch(c, &t->request, MPI_REQUEST_NULL);
  const int code = PMPI_Wait(&t->request, c->asked);
  if (code == MPI_SUCCESS) {
    if (c->asked != MPI_STATUS_IGNORE) check_arrival(c, t);
  } else {
    t->has_arrived = 0;
    fail_post(c, &t->request, code);
  }
}

/* Waits for a send of lengths, and for the send of its data. */
static __attribute__((noinline)) void wait_and_read(struct qd_call* c, struct qd_transfer* t) {
  int code = qd_wait_and_read(c, &t->request);
  if (code != MPI_SUCCESS) fail_post(c, &t->request, code);
  code = qd_wait_and_read(c, &t->data);
  if (code != MPI_SUCCESS) fail_post(c, &t->data, code);
}

INLINED void await_send(struct qd_call* c, struct qd_transfer* t, int is_observed) {
  if (c->lengths != QD_LENGTHS_KNOWN) return wait_and_read(c, t);
  if (t->request == MPI_REQUEST_NULL) return;
  if (is_observed && c->is_watched) qd_watch(c, &t->request, MPI_REQUEST_NULL);
  const int code = PMPI_Wait(&t->request, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) fail_post(c, &t->request, code);
}

/* Posts the next sends early, while a send is in flight. Returns the number of the receive whose completion allows
 * more early sends, or -1 if another action comes first or enough sends are in flight. */
static int32_t send_next(struct qd_call* c, const struct qd_transfer* pending) {
  if (!(c->data.receive_zero_copy & c->data.send_zero_copy)) return -1;
  for (;; c->early.next++) {
    const struct qd_action* a = c->early.next;
    const struct qd_transfer* const t = &c->memory.receiving[a->number];
    if (a->kind == AWAIT_RECEIVE) {
      if (a->is_late || t >= c->at.receive_transfer || !t->zero_copy) return -1;
      if (t->request != MPI_REQUEST_NULL) return a->number;
    } else if (a->kind == SEND_RANGE) {
      if (a->is_late || c->early.posted + a->combines > QD_SENT_AHEAD ||
          &c->memory.sending[a->number] - pending + a->combines > c->builder.window.size)
        return -1;
      send_range(c, a);
      if (c->trace.part) note_send(c, a->number);
      c->early.posted++;
    } else if (a->kind > RECEIVE_RANGE && a->kind != AWAIT_SEND && a->kind != AWAIT_LONG) {
      return -1;
    }
  }
}

/* Waits for a send of an allgather. Meanwhile forwards blocks that arrive, before their turn. Otherwise the link
 * would be idle if the peer of the pending send is slow to receive. */
static __attribute__((noinline)) void send_early(struct qd_call* c, struct qd_transfer* pending,
                                                 const struct qd_action* now) {
  int32_t number;
  if (c->early.next <= now) c->early.next = now + 1;
  while ((number = send_next(c, pending)) >= 0) {
    struct qd_transfer* const next = &c->memory.receiving[number];
    MPI_Request both[] = {pending->request, next->request};
    int which = 0;
    const int code = PMPI_Waitany(2, both, &which, &c->status);
    pending->request = both[0];
    next->request = both[1];
    if (code != MPI_SUCCESS) fail_post(c, which == 0 ? &pending->request : &next->request, code);
    if (which == 0) return;
    if (code == MPI_SUCCESS) check_arrival(c, next);
    note_received(c, number);
  }
  await_send(c, pending, 0);
}

INLINED void await_long(struct qd_call* c, const struct qd_action* a, int is_observed) {
  struct qd_transfer* const t = &c->memory.sending[a->number];
  if (!c->sends_early)
    await_send(c, t, is_observed);
  else if (t->request != MPI_REQUEST_NULL)
    send_early(c, t, a);
}

/* Copies or reduces a range of known length. Returns 0 if blocks are missing or messages.c has to do it. */
INLINED int copy(struct qd_call* c, const struct qd_action* a, char* from, int is_buffer) {
  char* const to = c->data.blocks[a->region].address + a->low;
  if (!(c->data.receive_zero_copy & c->data.send_zero_copy)) return 0;
  if (!a->combines) {
    memmove(to, from, (size_t)a->bytes);
    return 1;
  }
  if (!is_buffer && a->combines == QD_ON_THE_RIGHT && !c->data.commutes) {
    if (a->bytes > (int64_t)sizeof c->memory.scratch) return 0;
    from = memcpy(c->memory.scratch, from, (size_t)a->bytes); /* the source must remain */
  }
  qd_combine(c, a->combines, from, to, a->peer, a->bytes);
  return 1;
}

INLINED int deliver(struct qd_call* c, const struct qd_action* a) {
  const int32_t buffer = c->plan.receives.all[a->number].buffer;
  return copy(c, a, c->memory.buffers[buffer].address, 1);
}

INLINED int copy_range(struct qd_call* c, const struct qd_action* a) {
  const struct qd_part* from = &c->plan.copies[a->number].from;
  return copy(c, a, c->data.blocks[from->region].address + from->low, 0);
}

static __attribute__((noinline)) void follow_other(struct qd_call* c,
                                                   const struct qd_operation* o) {
  if (o->kind == QD_PLAN_COPY) qd_copy(c, &c->plan.copies[o->what]);
  if (o->kind == QD_PLAN_COPY_OWN) qd_copy_own(c);
}

/* Notes in a traced call that an action is over. */
static __attribute__((noinline)) void note(struct qd_call* c, const struct qd_action* a) {
  if (!c->trace.part) return;
  switch (a->kind) {
    case RECEIVE:
    case RECEIVE_BLOCK:
    case RECEIVE_RANGE:
    case RECEIVE_STAGED:
      return qd_trace_posted(&c->trace, &c->trace.receives[a->number],
                             &c->plan.receives.all[a->number]);
    case SEND:
    case SEND_BLOCK:
    case SEND_RANGE: return note_send(c, a->number);
    case AWAIT_SEND:
    case AWAIT_LONG: return note_sent(c, a->number);
    default: c->trace.last = qd_trace_ticks();
  }
}

INLINED void follow(struct qd_call* c, int waits, int is_observed) {
  const struct qd_action* a = c->at.next;
  for (;; a++) {
    switch (a->kind) {
      case RECEIVE: receive_any(c, a->number); break;
      case RECEIVE_BLOCK: receive_block(c, a); break;
      case RECEIVE_RANGE: receive_range(c, a); break;
      case RECEIVE_STAGED: receive_staged(c, a); break;
      case SEND: qd_message_send(c, qd_send_of(c, a->number)); break;
      case SEND_BLOCK: send_block(c, a); break;
      case SEND_RANGE:
        if (c->early.posted > 0) {
          c->early.posted--;
          continue;
        }
        send_range(c, a);
        break;
      case AWAIT_RECEIVE:
      case AWAIT_STAGED: {
        struct qd_transfer* const t = &c->memory.receiving[a->number];
        if (!waits) goto stop;
        await_receive(c, t, is_observed);
        if (is_observed) note_received(c, a->number);
        if (a->kind == AWAIT_STAGED || t->zero_copy) continue;
        qd_message_deliver(c, qd_receive_of(c, a->number));
        break;
      }
      case DELIVER:
        if (!deliver(c, a)) qd_message_deliver(c, qd_receive_of(c, a->number));
        break;
      case AWAIT_SEND:
        if (!waits) goto stop;
        await_send(c, &c->memory.sending[a->number], is_observed);
        break;
      case AWAIT_LONG:
        if (!waits) goto stop;
        await_long(c, a, is_observed);
        break;
      case COPY:
        if (!copy_range(c, a)) qd_copy(c, &c->plan.copies[a->number]);
        break;
      case OTHER: follow_other(c, &c->plan.operations[a->number]); break;
      case END: goto stop;
      default: __builtin_unreachable();
    }
    if (is_observed) note(c, a);
  }
stop:
  c->at.next = a;
}

static __attribute__((noinline)) void follow_observed(struct qd_call* c, int waits) {
  follow(c, waits, 1);
}

void qd_call_progress(struct qd_call* c, int waits) {
  if (c->is_observed || !waits)
    follow_observed(c, waits);
  else
    follow(c, 1, 0);
}
