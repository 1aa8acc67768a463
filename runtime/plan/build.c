/* The walk of this rank as a plan: reads events, checks them, and hands each step to order.c, which
 * decides when its messages are posted and waited for.
 *
 * A step reads what it sends first, then it copies and reduces, then it receives (docs/language.md). Most steps say so
 * in that order, and are taken as they come. In a step whose kinds are mixed, copies and receives wait until its end.
 *
 * No file is trusted: every peer, block, range and temporary block is checked as it comes, and loops
 * have a limit. Where all ranks know all counts, the plan follows those of a call: parts are bytes of a
 * buffer, those that lie side by side are one, and empty messages vanish, as they do at their other
 * end. */
#include <limits.h>

#include "runtime/plan/pieces.h"

enum { COMBINES = QD_MESSAGE_LEFT | QD_MESSAGE_RIGHT };

static const char* const endless = "its loops do not end in reasonable time";

int64_t qd_most_iterations(const struct qd_plan_input* input) {
  const struct qd_context* context = input->context;
  const int has_global_counts = qd_has_global_counts(input->program);
  const struct qd_topology* topologies = qd_topologies_of(input->program, context);
  const int64_t nodes = topologies[0].nodes + (context->remote_ranks > 0 ? topologies[1].nodes : 0);
  int64_t bytes = 0;
  for (int64_t i = 0; has_global_counts && i < context->ranks; i++) bytes += context->counts[i];
  for (int64_t i = 0; has_global_counts && i < context->remote_ranks; i++)
    bytes += context->remote_counts[i];
  return QD_MAX_ITERATIONS +
         QD_MAX_ITERATIONS_A_RANK_AND_NODE * (context->ranks + context->remote_ranks) * nodes +
         QD_MAX_ITERATIONS_A_BYTE * bytes;
}

static inline void begin_step(struct qd_builder* b, int64_t key, int has_after, int64_t after) {
  if (key <= b->key && b->has_key) qd_builder_refuse(b, "its steps are not in order");
  b->key = key;
  b->has_key = 1;
  b->has_after = has_after;
  b->after = after;
}

/* One more message; NULL where memory ran out. */
static inline struct qd_message* add_message(struct qd_builder* b, int receives) {
  struct qd_messages* messages = receives ? &b->plan->receives : &b->plan->sends;
  if (messages->count == messages->capacity &&
      !qd_grow((void**)&messages->all, &messages->capacity, sizeof *messages->all)) {
    qd_builder_refuse(b, qd_no_memory);
    return NULL;
  }
  return &messages->all[messages->count++];
}

static inline void begin_message(struct qd_builder* b, unsigned flags, int64_t peer) {
  const struct qd_context* context = b->input.context;
  const int is_remote = (flags & QD_MESSAGE_REMOTE) != 0;
  if ((uint64_t)peer >= (uint64_t)(is_remote ? context->remote_ranks : context->ranks) ||
      (!is_remote && peer == context->rank))
    return qd_builder_refuse(b, "it sends to, or receives from, a rank that is not there");
  b->peer = peer;
  b->receives = (flags & QD_MESSAGE_RECEIVE) != 0;
  b->is_token = 1;
  b->needs_staging = (flags & COMBINES) != 0; /* it reads what is there */
  struct qd_message* m = b->message = add_message(b, b->receives);
  if (!m) return;
  m->peer = (is_remote ? b->input.remote_real : b->input.real)[peer];
  m->combines = flags & QD_MESSAGE_LEFT    ? QD_ON_THE_LEFT
                : flags & QD_MESSAGE_RIGHT ? QD_ON_THE_RIGHT
                                           : QD_REPLACES;
  m->buffer = QD_NO_BUFFER;
  m->count = m->first = 0;
  m->bytes = 0;
}

static inline void end_message(struct qd_builder* b) {
  if (b->error) return;
  struct qd_message* m = b->message;
  if (m->count > b->plan->most_parts) b->plan->most_parts = m->count;
  m->zero_copy = m->count == 1 && !b->needs_staging;
  m->needs_staging = b->needs_staging;
  b->is_plain &= m->count <= 1 && !b->needs_staging;
  if (!b->receives) b->sent_bytes += m->bytes;
  /* Both ends know that nothing is to travel. */
  if (b->has_global_counts && m->bytes == 0 && !b->is_token)
    --*(b->receives ? &b->plan->receives.count : &b->plan->sends.count);
}

/* One more part of the message. */
static void add_further(struct qd_builder* b, struct qd_part part) {
  struct qd_plan* plan = b->plan;
  struct qd_message* m = b->message;
  for (int adding = m->count == 1 ? 2 : 1; adding > 0; adding--) {
    if (plan->part_count == plan->part_capacity &&
        !qd_grow((void**)&plan->parts, &plan->part_capacity, sizeof *plan->parts))
      return qd_builder_lack(b);
    if (adding == 2) m->first = plan->part_count;
    plan->parts[plan->part_count++] = adding == 2 ? m->part : part;
  }
  m->count++;
}

static inline void add_part(struct qd_builder* b, struct qd_part part) {
  struct qd_message* m = b->message;
  if (m->count > 0) return add_further(b, part);
  m->part = part;
  m->count = 1;
}

/* A range of a region. */
static inline void add_range(struct qd_builder* b, int32_t region, int64_t low, int64_t high) {
  struct qd_message* m = b->message;
  if (low == high) return;
  m->bytes += high - low;
  if (m->count > 0) {
    struct qd_part* last = m->count == 1 ? &m->part : &b->plan->parts[m->first + m->count - 1];
    if (last->high == low && last->region == region) {
      last->high = high;
      return;
    }
  }
  add_part(b, (struct qd_part){region, QD_RANGE, low, high});
}

/* A piece of a message whose length this rank knows. */
static inline void known_piece(struct qd_builder* b, const struct qd_piece* piece) {
  const int combines = b->message->combines != QD_REPLACES;
  const enum use use = !b->receives ? READS : combines ? COMBINES_WITH : WRITES;
  int is_new;
  if (use == WRITES && piece->buffer == QD_PIECE_TEMPORARY && !piece->ranged)
    return qd_builder_refuse(b, qd_not_served);
  const struct qd_part part = find_part(b, piece, use, &is_new);
  if (b->error) return;
  if (use == WRITES && b->gathers && part.region == QD_RECEIVE_REGION &&
      piece->block == b->own_block)
    return qd_builder_refuse(b, "it receives over this rank's own contribution");
  b->needs_staging |= b->receives && !is_new;
  add_range(b, part.region, part.low, part.high);
}

/* The region of a block whose length its two ends alone know, and that is read, or written; -1 where
 * there is none. */
static int find_place(struct qd_builder* b, const struct qd_piece* piece, int writes) {
  const struct qd_plan* plan = b->plan;
  const int64_t block = piece->block;
  const int32_t blocks = writes ? plan->receive_blocks : plan->send_blocks;
  const int32_t first = writes ? plan->send_blocks : 0;
  if (piece->buffer == QD_PIECE_TEMPORARY) {
    if ((uint64_t)block < (uint64_t)plan->temporaries)
      return plan->send_blocks + plan->receive_blocks + (int)block;
    qd_builder_refuse(b, "it names a temporary block that is not there");
    return -1;
  }
  if (!writes && piece->buffer == QD_PIECE_RECEIVE)
    qd_builder_refuse(b, qd_not_served);
  else if (block < 0 || block >= blocks)
    qd_builder_refuse(b, "it names a block that is not there");
  if (b->error) return -1;
  return first + (blocks > 1 ? b->input.user[block] : 0);
}

static inline void take_piece(struct qd_builder* b, const struct qd_piece* piece) {
  if (b->error) return;
  b->is_token = 0;
  if (b->has_global_counts) return known_piece(b, piece);
  const int region = find_place(b, piece, b->receives);
  if (b->error) return;
  if (b->plan->is_typed && b->goes_by_rank && piece->block != b->peer)
    return qd_builder_refuse(b, qd_not_served);
  add_part(b, (struct qd_part){.region = region});
}

static inline struct qd_copy* add_copy(struct qd_builder* b) {
  struct qd_plan* plan = b->plan;
  if (plan->copy_count == plan->copy_capacity &&
      !qd_grow((void**)&plan->copies, &plan->copy_capacity, sizeof *plan->copies)) {
    qd_builder_lack(b);
    return NULL;
  }
  return &plan->copies[plan->copy_count++];
}

/* Whether it is of what an allgather's rank contributes. */
static int is_own(const struct qd_builder* b, const struct qd_piece* piece) {
  return piece->buffer == QD_PIECE_SEND ||
         (piece->buffer == QD_PIECE_RECEIVE && piece->block == b->own_block);
}

/* One between blocks of known lengths. */
static void take_known_copy(struct qd_builder* b, enum qd_event_kind kind,
                            const struct qd_piece* source, const struct qd_piece* to, int outside) {
  const int combines = kind == QD_EVENT_REDUCE_LEFT    ? QD_ON_THE_LEFT
                       : kind == QD_EVENT_REDUCE_RIGHT ? QD_ON_THE_RIGHT
                                                       : QD_REPLACES;
  int is_new;
  const struct qd_part from = find_part(b, source, READS, &is_new);
  if (b->error) return;
  /* A temporary block becomes as long as what is copied to it. */
  if (!combines && to->buffer == QD_PIECE_TEMPORARY && !to->ranged &&
      (uint64_t)to->block < (uint64_t)b->plan->temporaries)
    set_length(b, to->block, (from.high - from.low) / b->unit);
  const struct qd_part target = find_part(b, to, combines ? REDUCES_INTO : WRITES, &is_new);
  if (b->error) return;
  if (from.high - from.low != target.high - target.low)
    return qd_builder_refuse(b, "it copies a block to one of another length");
  if (b->gathers && is_own(b, to) && !is_own(b, source))
    return qd_builder_refuse(b, "it copies over this rank's own contribution");
  if (from.region == target.region && from.low == target.low && !combines) return;
  if (combines && from.region == target.region && from.low < target.high && target.low < from.high)
    return qd_builder_refuse(b, "it combines a block with itself");
  struct qd_copy* copy = add_copy(b);
  if (!copy) return;
  *copy = (struct qd_copy){from, target, QD_NO_BUFFER, combines, !is_new};
  b->is_plain = 0;
  if (outside) qd_order_step(b, 1);
}

/* This rank's block to itself, which nobody else accesses, or any where one end or both are temporary. */
static void take_copy(struct qd_builder* b, enum qd_event_kind kind, const struct qd_piece* from,
                      const struct qd_piece* to, int outside) {
  if (b->has_global_counts) return take_known_copy(b, kind, from, to, outside);
  const int source = find_place(b, from, 0), target = find_place(b, to, 1);
  if (b->error) return;
  const struct qd_plan* plan = b->plan;
  if (source < plan->send_blocks && !qd_is_temporary(plan, target)) {
    if (source != plan->own_send || target != plan->own_receive)
      return qd_builder_refuse(b, qd_not_served);
    b->owes_copy = 1;
    return;
  }
  struct qd_copy* copy = add_copy(b);
  if (!copy) return;
  *copy = (struct qd_copy){
      .from = {.region = source}, .to = {.region = target}, .buffer = QD_NO_BUFFER};
  if (outside) qd_order_step(b, 1);
}

/* The value at this iteration of a run, and on to the next. */
static inline int64_t take(struct qd_value* value) {
  const int64_t now = value->value;
  value->value = now + value->stride;
  return now;
}

static inline void take_run_piece(struct qd_builder* b, struct qd_run_message* m) {
  const struct qd_piece piece = {m->buffer, m->ranged, take(&m->block), take(&m->low),
                                 take(&m->high)};
  take_piece(b, &piece);
}

/* Notes a message that has been taken in where it only moves along its block in the run's further
 * iterations: what has been checked holds for all of them where the last range lies in the block. */
static void note_moving(struct qd_builder* b, const struct qd_run_message* m,
                        struct qd_moving* moving) {
  if (b->error || !b->has_global_counts || !b->message->zero_copy) return;
  if (m->buffer != QD_PIECE_RECEIVE || !m->ranged) return;
  if (m->peer.stride != 0 || m->block.stride != 0 || m->low.stride != m->high.stride) return;
  const struct qd_extents* known = b->input.known[QD_PIECE_RECEIVE];
  const int64_t block = m->block.value;
  int64_t stride, way;
  if (__builtin_mul_overflow(m->low.stride, b->unit, &stride) ||
      __builtin_mul_overflow(stride, b->event.run.count - 1 - b->iteration, &way))
    return;
  const int64_t low = b->message->part.low - known->offsets[block] + way;
  if (low < 0 || low + b->message->bytes > known->lengths[block] * b->unit) return;
  *moving = (struct qd_moving){*b->message, b->receives, stride, &b->accessed[block]};
}

/* The message of the iteration before, further along its block. */
static inline void move_message(struct qd_builder* b, struct qd_moving* moving) {
  struct qd_message *m = &moving->message, *added = add_message(b, moving->receives);
  if (!added) return;
  m->part.low += moving->stride;
  m->part.high += moving->stride;
  *added = *m;
  const int is_new = access(moving->accessed, m->part.low, m->part.high);
  if (!moving->receives) {
    b->sent_bytes += m->bytes;
  } else if (!is_new) {
    added->zero_copy = b->is_plain = 0;
    added->needs_staging = 1;
  }
}

static void take_run_message(struct qd_builder* b, struct qd_run_message* m,
                             struct qd_moving* moving) {
  begin_message(b, m->flags, take(&m->peer));
  if (!m->is_token) take_run_piece(b, m);
  end_message(b);
  note_moving(b, m, moving);
}

/* Sends first: within each of its steps, a run's messages keep their order otherwise. */
static void put_sends_first(struct qd_run* run) {
  struct qd_run_message* first = run->messages;
  for (int s = 0; s < run->step_count; first += run->steps[s++].message_count)
    for (int i = 1; i < run->steps[s].message_count; i++)
      for (int k = i; k > 0 && !(first[k].flags & QD_MESSAGE_RECEIVE) &&
                      first[k - 1].flags & QD_MESSAGE_RECEIVE;
           k--) {
        const struct qd_run_message moved = first[k];
        first[k] = first[k - 1];
        first[k - 1] = moved;
      }
}

/* The steps of a run from its current iteration on. */
static void take_iterations(struct qd_builder* b) {
  struct qd_run* run = &b->event.run;
  for (; b->iteration < run->count && !b->is_full && !b->error; b->iteration++) {
    int i = 0;
    for (struct qd_run_step* s = run->steps; s < run->steps + run->step_count; s++) {
      begin_step(b, take(&s->key), s->has_after, take(&s->after));
      for (const int end = i + s->message_count; i < end; i++)
        if (b->moving[i].message.count > 0)
          move_message(b, &b->moving[i]);
        else
          take_run_message(b, &run->messages[i], &b->moving[i]);
      qd_order_step(b, 0);
    }
  }
  if (b->iteration == run->count) b->iteration = -1;
}

static void begin_run(struct qd_builder* b) {
  if ((b->walker.iterations -= b->event.run.count) < 0) return qd_builder_refuse(b, endless);
  for (int i = 0; i < QD_RUN_MESSAGES; i++) b->moving[i].message.count = 0;
  put_sends_first(&b->event.run);
  b->iteration = 0;
}

static void take_pieces(struct qd_builder* b) {
  struct qd_run* run = &b->event.run;
  for (int64_t left = run->count; left > 0 && !b->error; left--)
    for (int i = 0; i < run->message_count; i++) take_run_piece(b, &run->messages[i]);
}

static void take_message(struct qd_builder* b, unsigned flags, int64_t peer,
                         const struct qd_piece* piece) {
  begin_message(b, flags, peer);
  take_piece(b, piece);
  end_message(b);
}

/* ---- Steps whose kinds are mixed */

static int is_local(enum qd_event_kind kind) {
  return kind == QD_EVENT_COPY || kind == QD_EVENT_REDUCE_LEFT || kind == QD_EVENT_REDUCE_RIGHT;
}

/* The copies and reductions that were kept, or the receives, in their order. */
static void take_pending(struct qd_builder* b, int locals) {
  for (int32_t i = 0; i < b->pending_count && !b->error; i++) {
    const struct qd_pending* p = &b->pending[i];
    if (is_local(p->kind) != locals) continue;
    switch (p->kind) {
      case QD_EVENT_MESSAGE: begin_message(b, p->flags, p->peer); break;
      case QD_EVENT_PIECE: take_piece(b, &p->piece); break;
      case QD_EVENT_MESSAGE_END: end_message(b); break;
      case QD_EVENT_PIECE_MESSAGE: take_message(b, p->flags, p->peer, &p->piece); break;
      default: take_copy(b, p->kind, &p->piece, &p->second, 0); break;
    }
  }
}

/* What follows in the step is taken as it comes. */
static void end_mixed(struct qd_builder* b) {
  take_pending(b, 1);
  take_pending(b, 0);
  b->pending_count = b->is_mixed = 0;
}

/* Keeps the event for the end of the step. Where memory runs out, order means nothing any more: the call moves no
 * bytes. */
static int keep(struct qd_builder* b, enum qd_event_kind kind, const struct qd_piece* piece) {
  const struct qd_event* event = &b->event;
  if (b->pending_count == b->pending_capacity &&
      !qd_grow((void**)&b->pending, &b->pending_capacity, sizeof *b->pending)) {
    qd_builder_lack(b);
    end_mixed(b);
    return 0;
  }
  b->pending[b->pending_count++] =
      (struct qd_pending){kind, event->flags, event->peer, *piece, event->second};
  return 1;
}

static void keep_pieces(struct qd_builder* b) {
  struct qd_run* run = &b->event.run;
  for (int64_t left = run->count; left > 0 && !b->error; left--)
    for (struct qd_run_message* m = run->messages; m < run->messages + run->message_count; m++) {
      const struct qd_piece piece = {m->buffer, m->ranged, take(&m->block), take(&m->low),
                                     take(&m->high)};
      if (!b->is_mixed || !keep(b, QD_EVENT_PIECE, &piece)) take_piece(b, &piece);
    }
}

/* Whether the event has been kept for the end of the step. */
static int is_kept(struct qd_builder* b) {
  const struct qd_event* event = &b->event;
  switch (event->kind) {
    case QD_EVENT_MESSAGE:
    case QD_EVENT_PIECE_MESSAGE: b->is_deferred = (event->flags & QD_MESSAGE_RECEIVE) != 0; break;
    case QD_EVENT_PIECE:
    case QD_EVENT_MESSAGE_END: break;
    case QD_EVENT_PIECE_RUN:
      if (b->is_deferred) keep_pieces(b);
      return b->is_deferred;
    default: return is_local(event->kind) && keep(b, event->kind, &event->piece);
  }
  return b->is_deferred && keep(b, event->kind, &event->piece);
}

/* Takes one event in. Returns 0 at the end. */
static int take_event(struct qd_builder* b) {
  const struct qd_event* event = &b->event;
  qd_walk_next(&b->walker, &b->event);
  if (b->is_mixed && is_kept(b)) return 1;
  switch (event->kind) {
    case QD_EVENT_STEP:
      begin_step(b, event->key, event->has_after, event->after);
      b->is_mixed = event->is_mixed && b->has_global_counts;
      break;
    case QD_EVENT_STEP_END:
      if (b->is_mixed) end_mixed(b);
      qd_order_step(b, 0);
      break;
    case QD_EVENT_MESSAGE: begin_message(b, event->flags, event->peer); break;
    case QD_EVENT_PIECE: take_piece(b, &event->piece); break;
    case QD_EVENT_MESSAGE_END: end_message(b); break;
    case QD_EVENT_PIECE_MESSAGE: take_message(b, event->flags, event->peer, &event->piece); break;
    case QD_EVENT_COPY:
    case QD_EVENT_REDUCE_LEFT:
    case QD_EVENT_REDUCE_RIGHT:
      take_copy(b, event->kind, &event->piece, &event->second, event->outside);
      if (event->outside) b->barrier = b->steps;
      break;
    case QD_EVENT_RUN: begin_run(b); break;
    case QD_EVENT_PIECE_RUN: take_pieces(b); break;
    case QD_EVENT_END: return 0;
    case QD_EVENT_UNDEFINED: qd_builder_refuse(b, event->why); break;
    default: qd_builder_refuse(b, "it does what this library does not serve"); break;
  }
  return 1;
}

void qd_builder_start(struct qd_builder* b) {
  const struct qd_plan_input* input = &b->input;
  qd_walk_start(&b->walker, input->program, input->tables, input->context);
  b->walker.iterations = qd_most_iterations(input);
  b->iteration = -1;
  b->key = INT64_MIN;
  b->has_key = b->is_mixed = b->pending_count = 0;
  b->error = NULL;
  qd_order_forget(b);
}

int qd_builder_next(struct qd_builder* b) {
  int more = 1;
  qd_order_begin(b);
  while (!b->error && more && !b->is_full)
    if (b->iteration >= 0)
      take_iterations(b);
    else
      more = take_event(b);
  qd_order_end(b);
  b->plan->is_whole = !more && !b->is_further;
  b->is_further = 1;
  return b->error ? -1 : more;
}
