/* The program of a rank as three lists, for the check of its plan: sends, receives and local statements. It is the second
 * reader of the walk beside the builder, and shares nothing with it: slower, plainer, without runs of equal steps. */
#include "runtime/plan/check_lists.h"

void* qd_check_grow(struct qd_plan_check* c, void** array, int32_t* count, int32_t* room,
                    size_t size) {
  if (*count == *room && (*room >= MOST_ACTS || !qd_grow(array, room, size))) {
    c->lacks_memory = 1;
    return c->scratch;
  }
  return (char*)*array + size * (size_t)(*count)++;
}

/* Where lengths are known to both ends alone. */
static struct span whole_span(const struct qd_plan_check* c, const struct qd_piece* piece) {
  int32_t region = temporary_region(c, piece->block);
  if (piece->buffer != QD_PIECE_TEMPORARY) {
    const int sends = piece->buffer == QD_PIECE_SEND;
    const int32_t blocks = sends ? c->send_blocks : c->receive_blocks;
    region = (sends ? 0 : c->send_blocks) + (blocks > 1 ? c->input.user[piece->block] : 0);
  }
  return (struct span){region, 0, 1, NEVER};
}

/* Whether the block is there. What is not there is the builder's to refuse. */
static int has_block(struct qd_plan_check* c, const struct qd_piece* piece) {
  const int64_t blocks = piece->buffer == QD_PIECE_TEMPORARY ? c->input.tables->temporary_blocks
                         : piece->buffer == QD_PIECE_SEND    ? c->send_blocks
                                                             : c->receive_blocks;
  const int stands_for_it = piece->buffer == QD_PIECE_SEND && piece->block == 0 &&
                            c->has_global_counts && (c->in_place || c->gathers) &&
                            c->receive_blocks > 0;
  const int has_arrived = stands_for_it || (uint64_t)piece->block < (uint64_t)blocks;
  c->is_undefined |= !has_arrived;
  return has_arrived;
}

/* Units of a block of that length. What lies outside of all blocks is the builder's to refuse; an empty range of a
 * temporary block may be anywhere. */
static struct span known_range(struct qd_plan_check* c, const struct qd_piece* piece,
                               int64_t length) {
  struct span range = {0, 0, length, NEVER};
  if (piece->ranged) range.low = piece->low;
  if (piece->ranged) range.high = piece->high;
  const int is_temporary = piece->buffer == QD_PIECE_TEMPORARY;
  const int is_outside = range.low < 0 || range.low > range.high || range.high > QD_MAX_COUNT;
  const int is_empty = range.low == range.high && range.low > 0 && is_temporary;
  if (is_outside && !is_empty) c->is_undefined = 1;
  if (is_outside || is_empty) range.low = range.high = 0;
  return range;
}

static struct span known_span(struct qd_plan_check* c, const struct qd_piece* piece) {
  int buffer = piece->buffer;
  int64_t block = piece->block;
  if (buffer == QD_PIECE_TEMPORARY) {
    const struct span range = known_range(c, piece, c->lengths[block]);
    return (struct span){temporary_region(c, block), range.low * c->unit, range.high * c->unit,
                         NEVER};
  }
  if (buffer == QD_PIECE_SEND && (c->in_place || c->gathers) && block == 0) {
    buffer = QD_PIECE_RECEIVE;
    block = c->gathers ? c->input.context->rank : 0;
  }
  const struct qd_extents* known = c->input.known[buffer];
  const struct span range = known_range(c, piece, known->lengths[block]);
  return (struct span){buffer == QD_PIECE_RECEIVE ? QD_RECEIVE_REGION : QD_SEND_REGION,
                       known->offsets[block] + range.low * c->unit,
                       known->offsets[block] + range.high * c->unit, NEVER};
}

static struct act* add_act(struct qd_plan_check* c, enum kind kind) {
  struct list* l = &c->lists[kind];
  struct act* act = qd_check_grow(c, (void**)&l->all, &l->count, &l->capacity, sizeof *act);
  const struct step* step = &c->steps[c->step_count - 1];
  *act = (struct act){.step = c->step_count - 1,
                      .key = step->key,
                      .first = c->span_count,
                      .use = NEVER,
                      .source = NEVER,
                      .posted = NEVER,
                      .done = NEVER};
  return act;
}

static void add_span(struct qd_plan_check* c, struct act* act, struct span span) {
  struct span* last = act->count > 0 ? &c->spans[c->span_count - 1] : NULL;
  if (c->has_global_counts && span.low >= span.high) return;
  act->bytes += c->has_global_counts ? span.high - span.low : 0;
  if (last && c->has_global_counts && last->region == span.region && last->high == span.low) {
    last->high = span.high;
    return;
  }
  struct span* added =
      qd_check_grow(c, (void**)&c->spans, &c->span_count, &c->span_capacity, sizeof *added);
  *added = span;
  act->count++;
}

static void add_step(struct qd_plan_check* c, int64_t key, int has_after, int64_t after) {
  struct step* step =
      qd_check_grow(c, (void**)&c->steps, &c->step_count, &c->step_capacity, sizeof *step);
  int32_t ready = c->step_count - 1, low = 0;
  while (has_after && low < ready) { /* keys ascend */
    const int32_t middle = low + (ready - low) / 2;
    if (c->steps[middle].key > after)
      ready = middle;
    else
      low = middle + 1;
  }
  *step = (struct step){key, ready < c->barrier ? c->barrier : ready};
}

/* Makes a temporary block longer, or as long as what is written to all of it. */
static void note_write(struct qd_plan_check* c, const struct qd_piece* to, int64_t units) {
  if (!c->has_global_counts || to->buffer != QD_PIECE_TEMPORARY) return;
  int64_t* length = &c->lengths[to->block];
  if (!to->ranged)
    *length = units;
  else if (to->low < to->high && to->high > *length)
    *length = to->high;
}

/* A message while it is read, and what its step holds back until the end. */
struct reading {
  struct qd_plan_check* check;
  struct qd_walker* walker;
  unsigned flags;
  int64_t peer;
  struct act* act;
  int is_token;
};

static void begin_message(struct reading* r, unsigned flags, int64_t peer) {
  const struct qd_plan_input* input = &r->check->input;
  const int is_remote = (flags & QD_MESSAGE_REMOTE) != 0;
  const int64_t peers = is_remote ? input->context->remote_ranks : input->context->ranks;
  r->check->is_undefined |= (uint64_t)peer >= (uint64_t)peers || r->check->step_count == 0;
  r->flags = flags;
  r->is_token = 1;
  if (r->check->is_undefined) return;
  r->act = add_act(r->check, flags & QD_MESSAGE_RECEIVE ? RECEIVES : SENDS);
  r->act->peer = (is_remote ? input->remote_real : input->real)[peer];
  r->act->combines = flags & QD_MESSAGE_LEFT    ? QD_ON_THE_LEFT
                     : flags & QD_MESSAGE_RIGHT ? QD_ON_THE_RIGHT
                                                : QD_REPLACES;
}

static void add_piece(struct reading* r, const struct qd_piece* piece) {
  struct qd_plan_check* c = r->check;
  r->is_token = 0;
  if (c->is_undefined || !r->act || !has_block(c, piece)) return;
  if (r->flags & QD_MESSAGE_RECEIVE && !r->act->combines)
    note_write(c, piece, piece->high - piece->low);
  add_span(c, r->act, c->has_global_counts ? known_span(c, piece) : whole_span(c, piece));
}

static void end_message(struct reading* r) {
  struct qd_plan_check* c = r->check;
  if (c->is_undefined || !r->act) return;
  struct list* l = &c->lists[r->flags & QD_MESSAGE_RECEIVE ? RECEIVES : SENDS];
  if (c->has_global_counts && r->act->bytes == 0 && !r->is_token && l->count > 0) l->count--;
}

static void add_local(struct qd_plan_check* c, const struct qd_event* e) {
  const int combines = e->kind == QD_EVENT_REDUCE_LEFT    ? QD_ON_THE_LEFT
                       : e->kind == QD_EVENT_REDUCE_RIGHT ? QD_ON_THE_RIGHT
                                                          : QD_REPLACES;
  const struct qd_piece *from = &e->piece, *to = &e->second;
  if (!has_block(c, from) || !has_block(c, to)) return;
  if (!c->has_global_counts && from->buffer == QD_PIECE_SEND && to->buffer == QD_PIECE_RECEIVE) {
    c->has_own_copy = 1;
    return;
  }
  if (e->outside)
    add_step(c, c->step_count > 0 ? c->steps[c->step_count - 1].key : INT64_MIN, 0, 0);
  if (e->outside) c->barrier = c->step_count;
  const struct span read = c->has_global_counts ? known_span(c, from) : whole_span(c, from);
  if (!combines) note_write(c, to, (read.high - read.low) / (c->unit > 0 ? c->unit : 1));
  const struct span written = c->has_global_counts ? known_span(c, to) : whole_span(c, to);
  if (c->has_global_counts && !combines && read.region == written.region && read.low == written.low)
    return;
  struct act* act = add_act(c, LOCALS);
  act->combines = combines;
  for (int i = 0; i < 2; i++) {
    struct span* added =
        qd_check_grow(c, (void**)&c->spans, &c->span_count, &c->span_capacity, sizeof *added);
    *added = i == 0 ? read : written;
  }
  act->count = 2;
}

static int64_t next_of(struct qd_value* value) {
  const int64_t now = value->value;
  value->value += value->stride;
  return now;
}

static struct qd_piece piece_of(struct qd_run_message* m) {
  const int64_t block = next_of(&m->block), low = next_of(&m->low), high = next_of(&m->high);
  return (struct qd_piece){m->buffer, m->ranged, block, low, high};
}

static void add_run(struct reading* r, struct qd_run* run) {
  r->walker->iterations -= run->count;
  for (int64_t i = 0; i < run->count && !r->check->lacks_memory && !r->check->is_undefined; i++) {
    struct qd_run_message* m = run->messages;
    for (int s = 0; s < run->step_count; s++) {
      struct qd_run_step* step = &run->steps[s];
      const int64_t key = next_of(&step->key), after = next_of(&step->after);
      add_step(r->check, key, step->has_after, after);
      for (const struct qd_run_message* end = m + step->message_count; m < end; m++) {
        begin_message(r, m->flags, next_of(&m->peer));
        const struct qd_piece piece = piece_of(m);
        if (!m->is_token) add_piece(r, &piece);
        end_message(r);
      }
    }
  }
}

static int is_local(const struct qd_event* e) {
  return e->kind == QD_EVENT_COPY || e->kind == QD_EVENT_REDUCE_LEFT ||
         e->kind == QD_EVENT_REDUCE_RIGHT;
}

static void take_event(struct reading* r, struct qd_event* e) {
  switch (e->kind) {
    case QD_EVENT_MESSAGE: begin_message(r, e->flags, e->peer); break;
    case QD_EVENT_PIECE: add_piece(r, &e->piece); break;
    case QD_EVENT_MESSAGE_END: end_message(r); break;
    case QD_EVENT_PIECE_MESSAGE:
      begin_message(r, e->flags, e->peer);
      add_piece(r, &e->piece);
      end_message(r);
      break;
    case QD_EVENT_PIECE_RUN:
      for (int64_t i = 0; i < e->run.count && !r->check->lacks_memory && !r->check->is_undefined;
           i++)
        for (int m = 0; m < e->run.message_count; m++) {
          const struct qd_piece piece = piece_of(&e->run.messages[m]);
          add_piece(r, &piece);
        }
      break;
    case QD_EVENT_RUN: add_run(r, &e->run); break;
    default: add_local(r->check, e); break;
  }
}

/* What a step holds back: only the sends are taken at once; the program is small, so its events are kept whole. */
struct held_back {
  struct qd_event* all;
  int32_t count, capacity;
  int is_receive;
};

static int hold_back(struct reading* r, struct held_back* held, const struct qd_event* e) {
  if (e->kind == QD_EVENT_MESSAGE || e->kind == QD_EVENT_PIECE_MESSAGE)
    held->is_receive = (e->flags & QD_MESSAGE_RECEIVE) != 0;
  if (!is_local(e) && !held->is_receive) return 0;
  if (held->count == held->capacity &&
      !qd_grow((void**)&held->all, &held->capacity, sizeof *held->all)) {
    r->check->lacks_memory = 1;
    return 1;
  }
  held->all[held->count++] = *e;
  return 1;
}

static void end_step(struct reading* r, struct held_back* held) {
  for (int locals = 1; locals >= 0; locals--)
    for (int32_t i = 0; i < held->count; i++)
      if (is_local(&held->all[i]) == locals) take_event(r, &held->all[i]);
  held->count = 0;
  held->is_receive = 0;
}

/* The whole program; a program that the builder refuses has no plan, so nothing is checked twice. */
void qd_check_read_program(struct qd_plan_check* c) {
  struct qd_walker* walker = malloc(sizeof *walker);
  struct qd_event event = {.kind = QD_EVENT_END};
  struct held_back held = {0};
  struct reading r = {.check = c};
  int in_step = 0;
  c->lacks_memory = !walker;
  if (walker) qd_walk_start(walker, c->input.program, c->input.tables, c->input.context);
  if (walker) walker->iterations = qd_most_iterations(&c->input);
  r.walker = walker;
  while (!c->lacks_memory && !c->is_undefined) {
    qd_walk_next(walker, &event);
    c->is_undefined |= event.kind == QD_EVENT_UNDEFINED || walker->iterations < 0;
    if (event.kind == QD_EVENT_END || c->is_undefined) break;
    if (event.kind == QD_EVENT_STEP) {
      add_step(c, event.key, event.has_after, event.after);
      in_step = 1;
    } else if (event.kind == QD_EVENT_STEP_END) {
      end_step(&r, &held);
      in_step = 0;
    } else if (!in_step || !hold_back(&r, &held, &event)) {
      take_event(&r, &event);
    }
  }
  free(held.all);
  free(walker);
}
