/* Reads the walk of this rank, checks each event, and hands each step to order.c, which decides when its messages are
 * posted and waited for.
 *
 * A step first reads the blocks that it sends, then copies and reduces, then receives (docs/language.md). Most
 * programs list the statements of a step in that order, and the builder handles their events as they come. In other
 * steps (`is_mixed`) it keeps copies and receives until the end of the step.
 *
 * The builder trusts no file. It checks the peer, block and range of each event, and it limits the iterations of
 * loops.
 *
 * If all ranks know all counts, the plan is made for the counts of one call. Then parts are ranges of bytes of a
 * buffer, adjacent parts become one, and both ends drop a message without bytes.
 *
 * Tested by tests/net, tests/mutation and the fuzzer; verifier/plan_check.cc checks the plans. */

#include "runtime/plan/builder.h"

int64_t qd_most_iterations(const struct qd_plan_input* input) {
  const struct qd_context* context = input->context;
  const int uses_counts = input->program->uses.counts;
  const struct qd_topology* topologies = qd_topologies_of(input->program, context);
  const int64_t nodes = topologies[0].nodes + (context->remote_ranks > 0 ? topologies[1].nodes : 0);
  int64_t bytes = 0;
  if (input->most_iterations > 0) return input->most_iterations;
  for (int64_t i = 0; uses_counts && i < context->ranks; i++) bytes += context->counts[i];
  for (int64_t i = 0; uses_counts && i < context->remote_ranks; i++)
    bytes += context->remote_counts[i];
  return QD_MAX_ITERATIONS +
         QD_MAX_ITERATIONS_A_RANK_AND_NODE * (context->ranks + context->remote_ranks) * nodes +
         QD_MAX_ITERATIONS_A_BYTE * bytes;
}

/* ---- Pieces of known length, if all ranks know all counts */

/* Notes an access to bytes low .. high - 1. Returns whether they are outside of the range that was noted before. */
static inline int note_access(struct qd_accessed* noted, int64_t low, int64_t high) {
  if (noted->low == noted->high) {
    *noted = (struct qd_accessed){low, high};
    return 1;
  }
  const int is_new = high <= noted->low || noted->high <= low;
  if (low < noted->low) noted->low = low;
  if (high > noted->high) noted->high = high;
  return is_new;
}

/* What a message or copy does to a piece. */
enum use { READS, WRITES, COMBINES };

struct known_block {
  int32_t region;
  int64_t length, offset;       /* length: in units; offset: in bytes */
  struct qd_accessed* accessed; /* NULL: nothing writes there */
};

static inline void set_length(struct qd_builder* b, int64_t block, int64_t length) {
  struct qd_temporary* temporary = &b->memory.temporaries[block];
  int64_t bytes;
  temporary->length = length;
  if (length > QD_MAX_COUNT || __builtin_mul_overflow(length, b->traits.unit, &bytes))
    return qd_builder_refuse(b, "it names a range that is not in its block");
  if (bytes > temporary->capacity) temporary->capacity = bytes;
}

static inline int find_temporary(struct qd_builder* b, const struct qd_piece* piece, enum use use,
                                 struct known_block* found) {
  const int64_t block = piece->block;
  if ((uint64_t)block >= (uint64_t)b->plan->regions.temporaries) {
    qd_builder_refuse(b, "it names a temporary block that is not there");
    return 0;
  }
  const struct qd_temporary* temporary = &b->memory.temporaries[block];
  /* A write to a range that ends beyond the block makes the block longer, unless the range is empty. */
  const int64_t end = piece->low == piece->high ? 0 : piece->high;
  if (use == WRITES && piece->ranged && end > temporary->length) set_length(b, block, end);
  const int64_t length = temporary->length;
  *found =
      (struct known_block){QD_TEMPORARY_REGIONS + (int32_t)block, length, 0,
                           &b->memory.accessed[b->input.known[QD_PIECE_RECEIVE]->blocks + block]};
  if (length < 0) qd_builder_refuse(b, "it uses a temporary block that holds nothing");
  return length >= 0;
}

/* Finds the block of a piece. Returns 0 if there is none. In place, a block of the receive buffer is the send buffer.
 * In an allgather it holds this rank's contribution before the call begins. */
static inline int find_known(struct qd_builder* b, const struct qd_piece* piece, enum use use,
                             struct known_block* found) {
  int buffer = piece->buffer;
  int64_t block = piece->block;
  if (buffer == QD_PIECE_TEMPORARY) return find_temporary(b, piece, use, found);
  if (buffer == QD_PIECE_SEND && b->traits.in_place && block == 0) {
    buffer = QD_PIECE_RECEIVE;
    block = b->traits.own_block;
  }
  const struct qd_extents* known = b->input.known[buffer];
  if ((uint64_t)block >= (uint64_t)known->blocks || (buffer == QD_PIECE_SEND && use != READS)) {
    qd_builder_refuse(b, "it names a block that is not there");
    return 0;
  }
  found->region = buffer == QD_PIECE_RECEIVE ? QD_RECEIVE_REGION : QD_SEND_REGION;
  found->length = known->lengths[block];
  found->offset = known->offsets[block];
  found->accessed = buffer == QD_PIECE_RECEIVE ? &b->memory.accessed[block] : NULL;
  return 1;
}

/* Checks a piece and returns its range of bytes. Writes to `is_new` whether it is accessed for the first time. */
static inline struct qd_part find_part(struct qd_builder* b, const struct qd_piece* piece,
                                       enum use use, int* is_new) {
  const struct qd_part nothing = {0, QD_RANGE, 0, 0};
  struct known_block block;
  *is_new = 1;
  if (!find_known(b, piece, use, &block)) return nothing;
  /* An empty range of a temporary block may have any bounds. */
  const int is_nowhere = piece->ranged && piece->low == piece->high && piece->low > 0 &&
                         block.region >= QD_TEMPORARY_REGIONS;
  const int64_t first = piece->ranged && !is_nowhere ? piece->low : 0;
  const int64_t end = is_nowhere ? 0 : piece->ranged ? piece->high : block.length;
  if (first < 0 || first > end || end > block.length) {
    qd_builder_refuse(b, "it names a range that is not in its block");
    return nothing;
  }
  const int64_t low = block.offset + first * b->traits.unit,
                high = block.offset + end * b->traits.unit;
  if (low < high && block.accessed) *is_new = note_access(block.accessed, low, high);
  return (struct qd_part){block.region, QD_RANGE, low, high};
}

/* ---- Messages */

static inline void begin_step(struct qd_builder* b, int64_t key, int has_after, int64_t after) {
  struct qd_reading* r = &b->reading;
  if (key <= r->key && r->has_key) qd_builder_refuse(b, "its steps are not in order");
  r->key = key;
  r->has_key = 1;
  r->has_after = has_after;
  r->after = after;
}

static inline struct qd_messages* messages_of(const struct qd_builder* b, int receives) {
  return receives ? &b->plan->receives : &b->plan->sends;
}

/* Adds a message to the plan and returns it, or NULL if memory ran out. */
static inline struct qd_message* add_message(struct qd_builder* b, struct qd_messages* messages) {
  if (QD_CAN_APPEND(messages->all, messages->count, messages->capacity))
    return &messages->all[messages->count++];
  qd_builder_refuse(b, qd_no_memory);
  return NULL;
}

static inline void begin_message(struct qd_builder* b, unsigned flags, int64_t peer) {
  const struct qd_context* context = b->input.context;
  const int is_remote = (flags & QD_MESSAGE_REMOTE) != 0;
  if ((uint64_t)peer >= (uint64_t)(is_remote ? context->remote_ranks : context->ranks) ||
      (!is_remote && peer == context->rank))
    return qd_builder_refuse(b, "it sends to, or receives from, a rank that is not there");
  struct qd_reading* r = &b->reading;
  r->peer = peer;
  r->receives = (flags & QD_MESSAGE_RECEIVE) != 0;
  r->is_token = 1;
  r->needs_staging = qd_side_of_message(flags) != QD_REPLACES; /* a reduction reads its target */
  struct qd_message* m = r->message = add_message(b, messages_of(b, r->receives));
  if (!m) return;
  m->peer = (is_remote ? b->input.remote_real : b->input.real)[peer];
  m->combines = (uint8_t)qd_side_of_message(flags);
  m->buffer = QD_NO_BUFFER;
  m->count = m->first = 0;
  m->bytes = 0;
}

static inline void end_message(struct qd_builder* b) {
  struct qd_reading* r = &b->reading;
  struct qd_message* m = r->message;
  if (b->error) return;
  m->zero_copy = m->count == 1 && !r->needs_staging;
  m->needs_staging = r->needs_staging;
  b->window.is_plain &= m->count <= 1 && !r->needs_staging;
  if (!r->receives) r->step_bytes += m->bytes;
  /* A message that has pieces but no bytes is dropped. Its other end knows that too, and drops it. */
  if (b->traits.has_global_counts && m->bytes == 0 && !r->is_token)
    messages_of(b, r->receives)->count--;
}

/* Adds a part to a message that has parts already. The parts of a message with several are in the plan's array. */
static void add_further(struct qd_builder* b, struct qd_part part) {
  struct qd_plan* plan = b->plan;
  struct qd_message* m = b->reading.message;
  for (int adding = m->count == 1 ? 2 : 1; adding > 0; adding--) {
    if (!QD_CAN_APPEND(plan->parts, plan->part_count, plan->part_capacity))
      return qd_builder_refuse(b, qd_no_memory);
    if (adding == 2) m->first = plan->part_count;
    plan->parts[plan->part_count++] = adding == 2 ? m->part : part;
  }
  m->count++;
}

static inline void add_part(struct qd_builder* b, struct qd_part part) {
  struct qd_message* m = b->reading.message;
  if (m->count > 0) return add_further(b, part);
  m->part = part;
  m->count = 1;
}

/* Adds bytes of a region to the message. Extends the last part if these bytes are next to it. */
static inline void add_range(struct qd_builder* b, int32_t region, int64_t low, int64_t high) {
  struct qd_message* m = b->reading.message;
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

static inline void known_piece(struct qd_builder* b, const struct qd_piece* piece) {
  const int combines = b->reading.message->combines != QD_REPLACES;
  const enum use use = !b->reading.receives ? READS : combines ? COMBINES : WRITES;
  int is_new;
  if (use == WRITES && piece->buffer == QD_PIECE_TEMPORARY && !piece->ranged)
    return qd_builder_refuse(b, qd_not_served);
  const struct qd_part part = find_part(b, piece, use, &is_new);
  if (b->error) return;
  if (use == WRITES && b->traits.gathers && part.region == QD_RECEIVE_REGION &&
      piece->block == b->traits.own_block)
    return qd_builder_refuse(b, "it receives over this rank's own contribution");
  b->reading.needs_staging |= b->reading.receives && !is_new;
  add_range(b, part.region, part.low, part.high);
}

/* Returns the region of a block that is read or written, or -1. Only if the two ends alone know lengths. */
static int find_region(struct qd_builder* b, const struct qd_piece* piece, int writes) {
  const struct qd_plan* plan = b->plan;
  const int64_t block = piece->block;
  const int32_t blocks = writes ? plan->regions.receive_blocks : plan->regions.send_blocks;
  const int32_t first = writes ? plan->regions.send_blocks : 0;
  if (piece->buffer == QD_PIECE_TEMPORARY) {
    if ((uint64_t)block < (uint64_t)plan->regions.temporaries)
      return plan->regions.send_blocks + plan->regions.receive_blocks + (int)block;
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
  b->reading.is_token = 0;
  if (b->traits.has_global_counts) return known_piece(b, piece);
  const int region = find_region(b, piece, b->reading.receives);
  if (b->error) return;
  if (b->plan->is_typed && b->traits.goes_by_rank && piece->block != b->reading.peer)
    return qd_builder_refuse(b, qd_not_served);
  add_part(b, (struct qd_part){.region = region});
}

/* ---- Copies and reductions */

/* Adds a copy to the plan and returns it, or NULL if memory ran out. */
static inline struct qd_copy* append_copy(struct qd_builder* b) {
  struct qd_plan* plan = b->plan;
  if (QD_CAN_APPEND(plan->copies, plan->copy_count, plan->copy_capacity))
    return &plan->copies[plan->copy_count++];
  qd_builder_refuse(b, qd_no_memory);
  return NULL;
}

/* Returns whether the piece is of this rank's contribution to an allgather. */
static int is_own(const struct qd_builder* b, const struct qd_piece* piece) {
  return piece->buffer == QD_PIECE_SEND ||
         (piece->buffer == QD_PIECE_RECEIVE && piece->block == b->traits.own_block);
}

/* Plans a copy or a reduction between blocks of known length. */
static void take_known_copy(struct qd_builder* b, enum qd_event_kind kind,
                            const struct qd_piece* source, const struct qd_piece* to, int outside) {
  const int combines = qd_side_of_event(kind);
  int is_new;
  const struct qd_part from = find_part(b, source, READS, &is_new);
  if (b->error) return;
  /* A copy to a whole temporary block sets its length. */
  if (!combines && to->buffer == QD_PIECE_TEMPORARY && !to->ranged &&
      (uint64_t)to->block < (uint64_t)b->plan->regions.temporaries)
    set_length(b, to->block, (from.high - from.low) / b->traits.unit);
  const struct qd_part target = find_part(b, to, combines ? COMBINES : WRITES, &is_new);
  if (b->error) return;
  if (from.high - from.low != target.high - target.low)
    return qd_builder_refuse(b, "it copies a block to one of another length");
  if (b->traits.gathers && is_own(b, to) && !is_own(b, source))
    return qd_builder_refuse(b, "it copies over this rank's own contribution");
  if (from.region == target.region && from.low == target.low && !combines) return;
  if (combines && from.region == target.region && from.low < target.high && target.low < from.high)
    return qd_builder_refuse(b, "it combines a block with itself");
  struct qd_copy* copy = append_copy(b);
  if (!copy) return;
  *copy = (struct qd_copy){from, target, QD_NO_BUFFER, combines, !is_new};
  b->window.is_plain = 0;
  if (outside) qd_order_step(b, 1);
}

/* Plans a copy or a reduction. If only the two ends know the lengths, a copy moves this rank's block to itself, or
 * has a temporary block as source or target. */
static void take_copy(struct qd_builder* b, enum qd_event_kind kind, const struct qd_piece* from,
                      const struct qd_piece* to, int outside) {
  if (b->traits.has_global_counts) return take_known_copy(b, kind, from, to, outside);
  const int source = find_region(b, from, 0), target = find_region(b, to, 1);
  if (b->error) return;
  const struct qd_plan* plan = b->plan;
  if (source < plan->regions.send_blocks && !qd_is_temporary(plan, target)) {
    if (source != plan->regions.own_send || target != plan->regions.own_receive)
      return qd_builder_refuse(b, qd_not_served);
    if (b->window.owes_copy != 0)
      return qd_builder_refuse(b, "it copies a rank's own block to itself twice");
    b->window.owes_copy = 1;
    return;
  }
  struct qd_copy* copy = append_copy(b);
  if (!copy) return;
  *copy = (struct qd_copy){
      .from = {.region = source}, .to = {.region = target}, .buffer = QD_NO_BUFFER};
  if (outside) qd_order_step(b, 1);
}

static void take_message(struct qd_builder* b, unsigned flags, int64_t peer,
                         const struct qd_piece* piece) {
  begin_message(b, flags, peer);
  take_piece(b, piece);
  end_message(b);
}

/* ---- Mixed steps */

/* Handles the kept copies and reductions if `locals`, else the kept receives, in their order. */
static void take_pending(struct qd_builder* b, int locals) {
  for (int32_t i = 0; i < b->reading.pending_count && !b->error; i++) {
    const struct qd_pending* p = &b->reading.pending[i];
    if (qd_is_local(p->kind) != locals) continue;
    switch (p->kind) {
      case QD_EVENT_MESSAGE: begin_message(b, p->flags, p->peer); break;
      case QD_EVENT_PIECE: take_piece(b, &p->piece); break;
      case QD_EVENT_MESSAGE_END: end_message(b); break;
      case QD_EVENT_PIECE_MESSAGE: take_message(b, p->flags, p->peer, &p->piece); break;
      default: take_copy(b, p->kind, &p->piece, &p->second, 0); break;
    }
  }
}

/* Handles all kept events, at the end of the step. */
static void end_mixed(struct qd_builder* b) {
  take_pending(b, 1);
  take_pending(b, 0);
  b->reading.pending_count = b->reading.is_mixed = 0;
}

/* Keeps the event until the end of the step. */
static void keep_event(struct qd_builder* b) {
  struct qd_reading* r = &b->reading;
  const struct qd_event* e = &r->event;
  if (!QD_CAN_APPEND(r->pending, r->pending_count, r->pending_capacity))
    return qd_builder_refuse(b, qd_no_memory);
  r->pending[r->pending_count++] =
      (struct qd_pending){e->kind, e->flags, e->peer, e->piece, e->second};
}

/* Returns whether the event has to wait for the end of its mixed step: all but those of sends. */
static int has_to_wait(struct qd_builder* b) {
  const struct qd_event* event = &b->reading.event;
  switch (event->kind) {
    case QD_EVENT_MESSAGE:
    case QD_EVENT_PIECE_MESSAGE:
      b->reading.is_kept = (event->flags & QD_MESSAGE_RECEIVE) != 0; /* fall through */
    case QD_EVENT_PIECE:
    case QD_EVENT_MESSAGE_END: return b->reading.is_kept;
    default: return qd_is_local(event->kind);
  }
}

/* ---- The walk */

/* Reads and handles one event. Returns 0 at the end of the walk. */
static int take_event(struct qd_builder* b) {
  const struct qd_event* event = &b->reading.event;
  qd_walk_next(&b->reading.walker, &b->reading.event);
  if (b->reading.is_mixed && has_to_wait(b)) {
    keep_event(b);
    return 1;
  }
  switch (event->kind) {
    case QD_EVENT_STEP:
      begin_step(b, event->key, event->has_after, event->after);
      b->reading.is_mixed = event->is_mixed && b->traits.has_global_counts;
      break;
    case QD_EVENT_STEP_END:
      if (b->reading.is_mixed) end_mixed(b);
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
      if (event->outside) b->window.barrier = b->window.steps;
      break;
    case QD_EVENT_END: return 0;
    case QD_EVENT_UNDEFINED: qd_builder_refuse(b, event->why); break;
    default: qd_builder_refuse(b, "it does what this library does not serve"); break;
  }
  return 1;
}

void qd_builder_start(struct qd_builder* b) {
  const struct qd_plan_input* input = &b->input;
  qd_walk_start(&b->reading.walker, input->program, input->tables, input->context);
  b->reading.walker.iterations = qd_most_iterations(input);
  b->reading.key = INT64_MIN;
  b->reading.has_key = b->reading.is_mixed = b->reading.pending_count = 0;
  b->error = NULL;
  qd_order_forget(b);
}

int qd_builder_next(struct qd_builder* b) {
  int more = 1;
  qd_order_begin(b);
  while (!b->error && more && !b->window.is_full) more = take_event(b);
  qd_order_end(b);
  b->plan->is_whole = !more && !b->is_further;
  b->is_further = 1;
  return b->error ? -1 : more;
}
