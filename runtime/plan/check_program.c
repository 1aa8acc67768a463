/* Reads the program of a rank as three lists, for the check of its plan: sends, receives and local statements.
 *
 * This is the second reader of the walk beside the builder. It shares no code with the builder. It is slower and plainer: it
 * takes every iteration of a loop by itself, keeps the copies and receives of every step until its end, and leaves it to the
 * builder to say what is wrong with a program. */
#include "runtime/plan/check_lists.h"

void* qd_check_grow(struct qd_plan_check* c, void** array, int32_t* count, int32_t* capacity,
                    size_t size) {
  if (*count == *capacity && (*capacity >= MOST_ACTS || !qd_grow(array, capacity, size))) {
    c->lacks_memory = 1;
    return c->scratch;
  }
  return (char*)*array + size * (size_t)(*count)++;
}

/* The block of a piece, if only the two ends know the lengths. */
static struct span whole_span(const struct qd_plan_check* c, const struct qd_piece* piece) {
  int32_t region = temporary_region(c, piece->block);
  if (piece->buffer != QD_PIECE_TEMPORARY) {
    const int sends = piece->buffer == QD_PIECE_SEND;
    const int32_t blocks = sends ? c->call.send_blocks : c->call.receive_blocks;
    region =
        (sends ? 0 : c->call.send_blocks) + (blocks > 1 ? c->call.input.user[piece->block] : 0);
  }
  return (struct span){region, 0, 1, NEVER};
}

/* Whether the block exists. If not, the builder refuses the program. */
static int has_block(struct qd_plan_check* c, const struct qd_piece* piece) {
  const int64_t blocks = piece->buffer == QD_PIECE_TEMPORARY
                             ? c->call.input.tables->temporary_blocks
                         : piece->buffer == QD_PIECE_SEND ? c->call.send_blocks
                                                          : c->call.receive_blocks;
  const int is_in_receive_buffer =
      piece->buffer == QD_PIECE_SEND && piece->block == 0 && c->call.has_global_counts &&
      (c->call.in_place || c->call.gathers) && c->call.receive_blocks > 0;
  const int exists = is_in_receive_buffer || (uint64_t)piece->block < (uint64_t)blocks;
  c->program.is_undefined |= !exists;
  return exists;
}

/* The units of a piece of a block with that length. If the range is outside of all blocks, the builder refuses the program.
 * An empty range of a temporary block may be anywhere. */
static struct span known_range(struct qd_plan_check* c, const struct qd_piece* piece,
                               int64_t length) {
  struct span range = {0, 0, length, NEVER};
  if (piece->ranged) range.low = piece->low;
  if (piece->ranged) range.high = piece->high;
  const int is_temporary = piece->buffer == QD_PIECE_TEMPORARY;
  const int is_outside = range.low < 0 || range.low > range.high || range.high > QD_MAX_COUNT;
  const int is_empty = range.low == range.high && range.low > 0 && is_temporary;
  if (is_outside && !is_empty) c->program.is_undefined = 1;
  if (is_outside || is_empty) range.low = range.high = 0;
  return range;
}

static struct span known_span(struct qd_plan_check* c, const struct qd_piece* piece) {
  const struct call* call = &c->call;
  int buffer = piece->buffer;
  int64_t block = piece->block;
  if (buffer == QD_PIECE_TEMPORARY) {
    const struct span range = known_range(c, piece, c->program.lengths[block]);
    return (struct span){temporary_region(c, block), range.low * call->unit,
                         range.high * call->unit, NEVER};
  }
  if (buffer == QD_PIECE_SEND && (call->in_place || call->gathers) && block == 0) {
    buffer = QD_PIECE_RECEIVE;
    block = call->gathers ? call->input.context->rank : 0;
  }
  const struct qd_extents* known = call->input.known[buffer];
  const struct span range = known_range(c, piece, known->lengths[block]);
  return (struct span){buffer == QD_PIECE_RECEIVE ? QD_RECEIVE_REGION : QD_SEND_REGION,
                       known->offsets[block] + range.low * call->unit,
                       known->offsets[block] + range.high * call->unit, NEVER};
}

static struct span span_of(struct qd_plan_check* c, const struct qd_piece* piece) {
  return c->call.has_global_counts ? known_span(c, piece) : whole_span(c, piece);
}

static struct act* add_act(struct qd_plan_check* c, enum kind kind) {
  struct list* l = &c->program.lists[kind];
  struct act* act = qd_check_grow(c, (void**)&l->all, &l->count, &l->capacity, sizeof *act);
  *act = (struct act){.kind = kind,
                      .step = c->program.step_count - 1,
                      .key = c->program.steps[c->program.step_count - 1].key,
                      .first = c->program.span_count,
                      .use = NEVER,
                      .source = NEVER,
                      .posted = NEVER,
                      .done = NEVER};
  return act;
}

static void add_span(struct qd_plan_check* c, struct act* act, struct span span) {
  struct program* p = &c->program;
  struct span* added =
      qd_check_grow(c, (void**)&p->spans, &p->span_count, &p->span_capacity, sizeof *added);
  *added = span;
  act->count++;
}

/* Adds a piece to a message. If all ranks know all counts, adjacent pieces become one span. */
static void add_part(struct qd_plan_check* c, struct act* act, struct span span) {
  struct span* last = act->count > 0 ? &c->program.spans[c->program.span_count - 1] : NULL;
  if (!c->call.has_global_counts) return add_span(c, act, span);
  if (span.low >= span.high) return;
  act->bytes += span.high - span.low;
  if (last && last->region == span.region && last->high == span.low)
    last->high = span.high;
  else
    add_span(c, act, span);
}

static void add_step(struct qd_plan_check* c, int64_t key, int has_after, int64_t after) {
  struct program* p = &c->program;
  struct step* step =
      qd_check_grow(c, (void**)&p->steps, &p->step_count, &p->step_capacity, sizeof *step);
  int32_t ready = p->step_count - 1, low = 0;
  while (has_after && low < ready) { /* keys ascend */
    const int32_t middle = low + (ready - low) / 2;
    if (p->steps[middle].key > after)
      ready = middle;
    else
      low = middle + 1;
  }
  *step = (struct step){key, ready < p->barrier ? p->barrier : ready};
}

/* Sets the length of a temporary block that is written. A range may only make it longer. */
static void note_write(struct qd_plan_check* c, const struct qd_piece* to, int64_t units) {
  if (!c->call.has_global_counts || to->buffer != QD_PIECE_TEMPORARY) return;
  int64_t* length = &c->program.lengths[to->block];
  if (!to->ranged)
    *length = units;
  else if (to->low < to->high && to->high > *length)
    *length = to->high;
}

/* The message that is being read, and the events that its step keeps until the end. */
struct reading {
  struct qd_plan_check* check;
  unsigned flags;
  struct act* act;
  int is_token;
  int in_step;
  struct qd_event* kept;
  int32_t kept_count, kept_capacity;
};

static void begin_message(struct reading* r, unsigned flags, int64_t peer) {
  const struct qd_plan_input* input = &r->check->call.input;
  const int is_remote = (flags & QD_MESSAGE_REMOTE) != 0;
  const int64_t peers = is_remote ? input->context->remote_ranks : input->context->ranks;
  r->check->program.is_undefined |=
      (uint64_t)peer >= (uint64_t)peers || r->check->program.step_count == 0;
  r->flags = flags;
  r->is_token = 1;
  if (r->check->program.is_undefined) return;
  r->act = add_act(r->check, flags & QD_MESSAGE_RECEIVE ? RECEIVES : SENDS);
  r->act->peer = (is_remote ? input->remote_real : input->real)[peer];
  r->act->combines = qd_side_of_message(flags);
}

static void add_piece(struct reading* r, const struct qd_piece* piece) {
  struct qd_plan_check* c = r->check;
  r->is_token = 0;
  if (c->program.is_undefined || !r->act || !has_block(c, piece)) return;
  if (r->flags & QD_MESSAGE_RECEIVE && !r->act->combines)
    note_write(c, piece, piece->high - piece->low);
  add_part(c, r->act, span_of(c, piece));
}

static void end_message(struct reading* r) {
  struct qd_plan_check* c = r->check;
  if (c->program.is_undefined || !r->act) return;
  struct list* l = &c->program.lists[r->flags & QD_MESSAGE_RECEIVE ? RECEIVES : SENDS];
  if (c->call.has_global_counts && r->act->bytes == 0 && !r->is_token && l->count > 0) l->count--;
}

static void add_local(struct qd_plan_check* c, const struct qd_event* e) {
  const int combines = qd_side_of_event(e->kind);
  const struct qd_piece *from = &e->piece, *to = &e->second;
  if (!has_block(c, from) || !has_block(c, to)) return;
  if (!c->call.has_global_counts && from->buffer == QD_PIECE_SEND &&
      to->buffer == QD_PIECE_RECEIVE) {
    c->program.has_own_copy = 1;
    return;
  }
  if (e->outside) {
    const struct program* p = &c->program;
    add_step(c, p->step_count > 0 ? p->steps[p->step_count - 1].key : INT64_MIN, 0, 0);
    c->program.barrier = p->step_count;
  }
  const struct span read = span_of(c, from);
  if (!combines) note_write(c, to, (read.high - read.low) / (c->call.unit > 0 ? c->call.unit : 1));
  const struct span written = span_of(c, to);
  if (c->call.has_global_counts && !combines && read.region == written.region &&
      read.low == written.low)
    return;
  struct act* act = add_act(c, LOCALS);
  act->combines = combines;
  add_span(c, act, read);
  add_span(c, act, written);
}

static void take_event(struct reading* r, const struct qd_event* e) {
  switch (e->kind) {
    case QD_EVENT_MESSAGE: begin_message(r, e->flags, e->peer); break;
    case QD_EVENT_PIECE: add_piece(r, &e->piece); break;
    case QD_EVENT_MESSAGE_END: end_message(r); break;
    case QD_EVENT_PIECE_MESSAGE:
      begin_message(r, e->flags, e->peer);
      add_piece(r, &e->piece);
      end_message(r);
      break;
    default: add_local(r->check, e); break;
  }
}

static void keep_event(struct reading* r, const struct qd_event* e) {
  if (QD_CAN_APPEND(r->kept, r->kept_count, r->kept_capacity))
    r->kept[r->kept_count++] = *e;
  else
    r->check->lacks_memory = 1;
}

/* Takes the events of one kind that the step has kept. */
static void take_kept(struct reading* r, enum kind wanted) {
  enum kind kind = SENDS;
  for (int32_t i = 0; i < r->kept_count; i++) {
    const struct qd_event* e = &r->kept[i];
    const int is_receive = (e->flags & QD_MESSAGE_RECEIVE) != 0;
    if (e->kind == QD_EVENT_MESSAGE || e->kind == QD_EVENT_PIECE_MESSAGE)
      kind = is_receive ? RECEIVES : SENDS;
    if ((qd_is_local(e->kind) ? LOCALS : kind) == wanted) take_event(r, e);
  }
}

static void end_step(struct reading* r) {
  for (enum kind kind = SENDS; kind <= RECEIVES; kind++) take_kept(r, kind);
  r->kept_count = 0;
  r->in_step = 0;
}

/* Takes the whole walk. A program that the builder refuses has no plan, so nothing is checked twice. */
static void read_walk(struct reading* r, struct qd_walker* walker) {
  struct qd_plan_check* c = r->check;
  struct qd_event event = {.kind = QD_EVENT_STEP_END};
  while (!c->lacks_memory && !c->program.is_undefined) {
    qd_walk_next(walker, &event);
    c->program.is_undefined |= event.kind == QD_EVENT_UNDEFINED;
    if (event.kind == QD_EVENT_END || c->program.is_undefined) return;
    if (event.kind == QD_EVENT_STEP) {
      add_step(c, event.key, event.has_after, event.after);
      r->in_step = 1;
    } else if (event.kind == QD_EVENT_STEP_END) {
      end_step(r);
    } else if (r->in_step) {
      keep_event(r, &event);
    } else {
      take_event(r, &event);
    }
  }
}

void qd_check_read_program(struct qd_plan_check* c) {
  struct qd_walker* walker = malloc(sizeof *walker);
  struct reading r = {.check = c};
  c->lacks_memory = !walker;
  if (walker) {
    qd_walk_start(walker, c->call.input.program, c->call.input.tables, c->call.input.context);
    walker->iterations = qd_most_iterations(&c->call.input);
    walker->makes_runs = 0;
    read_walk(&r, walker);
  }
  free(r.kept);
  free(walker);
}
