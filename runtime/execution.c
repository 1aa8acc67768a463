/* Following a program's walk.
 *
 * This rank's contribution lies in its block of the receive buffer before the walk begins
 * (allgather.c), and the send buffer's one block is that block: so the copy of the one to the other
 * has nothing left to do, and a call in place is a call like any other. A schedule that writes over
 * this block is refused; no correct one does.
 *
 * Every peer, block and range is checked as it comes: no file is trusted. Binding tries the walk
 * with empty contributions, which is a call that every schedule must serve, so that what is broken
 * for all counts is found where all ranks still can agree on it. */
#include "runtime/execution.h"

static const char no_memory[] = "out of memory";

/* Far more than any schedule of the kind takes. */
enum { FEW_ITERATIONS = 1 << 20, ITERATIONS_A_RANK_AND_NODE = 64, ITERATIONS_A_BYTE = 4 };

struct follower {
  struct quadrille_binding* binding;
  struct quadrille_execution* execution;
  struct quadrille_walker walker;
  int post, receives;
  struct quadrille_step* step;       /* that is being gathered */
  struct quadrille_message* message; /* of it, that is being gathered */
  int is_token;                      /* no pieces yet */
  const char* error;
};

static void refuse(struct follower* f, const char* error) {
  if (!f->error) f->error = error;
}

static inline void begin_step(struct follower* f, int64_t key, int has_after, int64_t after) {
  struct quadrille_execution* x = f->execution;
  if (key <= x->last_key) return refuse(f, "its steps are not in order");
  x->last_key = key;
  f->step = quadrille_pipeline_step(&x->pipeline);
  if (!f->step) return refuse(f, no_memory);
  quadrille_step_open(f->step, key, has_after ? after : INT64_MAX);
}

static QUADRILLE_INLINE void take_in(struct quadrille_execution* x, struct quadrille_step* step) {
  if (x->record.is_open) quadrille_record_step(&x->record, step);
  quadrille_pipeline_add(&x->pipeline, step);
}

static void __attribute__((noinline)) end_step(struct follower* f) {
  if (f->post && !f->error) take_in(f->execution, f->step);
}

static inline void begin_message(struct follower* f, unsigned flags, int64_t peer) {
  const struct quadrille_place* place = &f->binding->place;
  if (f->error) return;
  if ((uint64_t)peer >= (uint64_t)place->ranks || peer == place->rank)
    return refuse(f, "it sends to, or receives from, a rank that is not there");
  f->receives = (flags & QUADRILLE_MESSAGE_RECEIVE) != 0;
  f->is_token = 1;
  struct quadrille_direction* direction = f->receives ? &f->step->receives : &f->step->sends;
  if (direction->count == direction->room && !quadrille_step_grow(direction))
    return refuse(f, no_memory);
  f->message = quadrille_step_message(f->step, direction, f->binding->real[peer]);
}

static inline void end_message(struct follower* f) {
  if (f->error) return;
  if (!f->receives) f->step->sent_bytes += f->message->bytes;
  /* Both ends know that nothing is to travel. */
  if (f->message->bytes == 0 && !f->is_token)
    --*(f->receives ? &f->step->receives.count : &f->step->sends.count);
}

/* Where a piece lies. Returns NULL, or what is wrong with it. */
static inline const char* find_piece(const struct quadrille_binding* binding, int receives,
                                     const struct quadrille_piece* piece,
                                     struct quadrille_segment* segment) {
  const struct quadrille_execution* x = binding->execution;
  int64_t block = piece->block, low = 0;
  if (piece->buffer == QUADRILLE_PIECE_SEND && block == 0)
    block = binding->place.rank;
  else if (piece->buffer != QUADRILLE_PIECE_RECEIVE ||
           (uint64_t)block >= (uint64_t)binding->place.ranks)
    return "it names a block that is not there";
  if (receives && block == binding->place.rank)
    return "it receives over this rank's own contribution";
  int64_t high = x->counts[block];
  if (piece->ranged) {
    if (piece->low < 0 || piece->low > piece->high || piece->high > high)
      return "it names a range that is not in its block";
    low = piece->low;
    high = piece->high;
  }
  segment->address = (char*)(x->base + (uintptr_t)(x->offsets[block] + low));
  segment->bytes = high - low;
  return NULL;
}

static inline void add_piece(struct follower* f, const struct quadrille_piece* piece) {
  struct quadrille_segment segment;
  if (f->error) return;
  f->is_token = 0;
  f->error = find_piece(f->binding, f->receives, piece, &segment);
  if (!f->error && segment.bytes > 0 &&
      !quadrille_step_piece(f->step, f->message, segment.address, segment.bytes))
    f->error = no_memory;
}

/* Lies there already, where it is the one copy that an allgather has. */
static void copy(struct follower* f, const struct quadrille_event* event) {
  const struct quadrille_piece *from = &event->piece, *to = &event->second;
  const int64_t own = f->binding->place.rank;
  const int from_own = from->buffer == QUADRILLE_PIECE_SEND      ? from->block == 0
                       : from->buffer == QUADRILLE_PIECE_RECEIVE ? from->block == own
                                                                 : 0;
  if (!from_own || to->buffer != QUADRILLE_PIECE_RECEIVE || to->block != own ||
      from->ranged != to->ranged || from->low != to->low || from->high != to->high)
    refuse(f, "it copies a foreign block");
}

/* The piece at this iteration, and on to the next. */
static inline struct quadrille_piece take_piece(struct quadrille_run_message* m) {
  const struct quadrille_piece piece = {m->buffer, m->ranged, m->block.value, m->low.value,
                                        m->high.value};
  m->block.value += m->block.stride;
  m->low.value += m->low.stride;
  m->high.value += m->high.stride;
  return piece;
}

/* A message of a run of which everything is known to be there: bytes at an address, both of which
 * move on evenly, or whole blocks. */
struct course {
  int receives, is_token, is_whole, peer; /* rank in the communicator */
  int64_t block, block_stride;
  char* address;
  int64_t address_stride, bytes, bytes_stride;
};

static int64_t last_of(struct quadrille_value value, int64_t count) {
  return value.value + (count - 1) * value.stride;
}

static inline int is_in(int64_t value, int64_t length) {
  return (uint64_t)value < (uint64_t)length;
}

/* What changes evenly is there where it is at both ends. False where it is not, or changes. */
static int set_course(const struct quadrille_binding* binding,
                      const struct quadrille_run_message* m, int64_t count, struct course* c) {
  const struct quadrille_execution* x = binding->execution;
  const int64_t ranks = binding->place.ranks, own = binding->place.rank;
  const int64_t first = m->block.value, last = last_of(m->block, count);
  if (m->peer.stride != 0 || !is_in(m->peer.value, ranks) || m->peer.value == own) return 0;
  *c = (struct course){.receives = (m->flags & QUADRILLE_MESSAGE_RECEIVE) != 0,
                       .is_token = m->is_token,
                       .peer = binding->real[m->peer.value],
                       .is_whole = !m->ranged && !m->is_token,
                       .block = first,
                       .block_stride = m->block.stride};
  if (m->is_token) return 1;
  if (m->buffer != QUADRILLE_PIECE_RECEIVE || !is_in(first, ranks) || !is_in(last, ranks) ||
      (c->receives && (first < last ? first : last) <= own && own <= (first < last ? last : first)))
    return 0;
  if (c->is_whole) return 1;
  const int64_t low = m->low.value, high = m->high.value;
  const int64_t last_low = last_of(m->low, count), last_high = last_of(m->high, count);
  if (first != last || low < 0 || low > high || high > x->counts[first] || last_low < 0 ||
      last_low > last_high || last_high > x->counts[first])
    return 0;
  c->address = (char*)(x->base + (uintptr_t)(x->offsets[first] + low));
  c->address_stride = m->low.stride;
  c->bytes = high - low;
  c->bytes_stride = m->high.stride - m->low.stride;
  return 1;
}

/* Adds the message at this iteration, and goes on to the next. */
static QUADRILLE_INLINE void add_course(const struct quadrille_execution* x,
                                        struct quadrille_step* step, struct course* c) {
  char* address = c->address;
  int64_t bytes = c->bytes;
  if (c->is_whole) {
    const int64_t block = c->block;
    c->block = block + c->block_stride;
    bytes = x->counts[block];
    address = (char*)(x->base + (uintptr_t)x->offsets[block]);
  } else {
    c->address = address + c->address_stride;
    c->bytes = bytes + c->bytes_stride;
  }
  if (bytes == 0 && !c->is_token) return;
  if (bytes > INT_MAX) step->is_plain = 0;
  struct quadrille_direction* direction = &step->receives;
  if (!c->receives) {
    step->sent_bytes += bytes;
    direction = &step->sends;
  }
  struct quadrille_message* message = quadrille_step_message(step, direction, c->peer);
  message->address = address;
  message->bytes = bytes;
}

/* Whether the steps of a run are in order, after the key `last`, as all keys of an iteration grow by
 * the same. */
static int are_in_order(const struct quadrille_run* run, int64_t last) {
  const struct quadrille_value first = run->steps[0].key;
  for (int i = 0; i < run->step_count; i++) {
    const struct quadrille_value key = run->steps[i].key;
    if (key.value <= last || key.stride != first.stride) return 0;
    last = key.value;
  }
  return last < first.value + first.stride;
}

/* Leaves those steps of a run that have messages; returns how many. */
static int steps_with_messages(struct quadrille_run* run) {
  int count = 0;
  for (int i = 0; i < run->step_count; i++) {
    struct quadrille_run_step step = run->steps[i];
    if (!step.has_after) step.after = (struct quadrille_value){INT64_MAX, 0};
    if (step.message_count > 0) run->steps[count++] = step;
  }
  return count;
}

/* The step at this iteration, and on to the next. False where memory ran out. */
static QUADRILLE_INLINE int follow_course(struct quadrille_execution* x,
                                          struct quadrille_run_step* s, struct course* courses) {
  struct quadrille_step* step = quadrille_pipeline_step(&x->pipeline);
  if (!step) return 0;
  quadrille_step_open(step, s->key.value, s->after.value);
  add_course(x, step, courses);
  for (int i = 1; i < s->message_count; i++) add_course(x, step, &courses[i]);
  take_in(x, step);
  s->key.value += s->key.stride;
  s->after.value += s->after.stride;
  return 1;
}

/* The steps of a run. False where something is not there, or not even. */
static int follow_courses(struct follower* f, struct quadrille_run* run) {
  struct quadrille_execution* x = f->execution;
  struct course courses[QUADRILLE_RUN_MESSAGES];
  if (!are_in_order(run, x->last_key)) return 0;
  for (int i = 0; i < run->message_count; i++)
    if (!set_course(f->binding, &run->messages[i], run->count, &courses[i])) return 0;
  x->last_key = last_of(run->steps[run->step_count - 1].key, run->count);
  if (!f->post) return 1;
  const int steps = steps_with_messages(run);
  for (int64_t left = run->count; left > 0; left--) {
    struct course* course = courses;
    struct quadrille_run_step* s = run->steps;
    for (int i = steps; i > 0; i--, course += s++->message_count)
      if (!follow_course(x, s, course)) {
        f->error = no_memory;
        return 1;
      }
  }
  return 1;
}

/* The step of a run at this iteration, and on to the next. */
static void follow_run_step(struct follower* f, struct quadrille_run_step* step,
                            struct quadrille_run_message* m) {
  if (f->error) return;
  begin_step(f, step->key.value, step->has_after, step->after.value);
  for (const struct quadrille_run_message* end = m + step->message_count; m < end; m++) {
    const struct quadrille_piece piece = take_piece(m);
    begin_message(f, m->flags, m->peer.value);
    if (!m->is_token) add_piece(f, &piece);
    end_message(f);
    m->peer.value += m->peer.stride;
  }
  end_step(f);
  step->key.value += step->key.stride;
  step->after.value += step->after.stride;
}

/* The steps of a run, one by one. */
static void follow_run(struct follower* f, struct quadrille_run* run) {
  if ((f->walker.iterations -= run->count) < 0)
    return refuse(f, "its loops do not end in reasonable time");
  if (follow_courses(f, run)) return;
  for (int64_t left = run->count; left > 0 && !f->error; left--) {
    struct quadrille_run_message* m = run->messages;
    for (int i = 0; i < run->step_count; i++) {
      follow_run_step(f, &run->steps[i], m);
      m += run->steps[i].message_count;
    }
  }
}

static void follow_pieces(struct follower* f, struct quadrille_run* run) {
  for (int64_t left = run->count; left > 0 && !f->error; left--)
    for (int i = 0; i < run->message_count; i++) {
      const struct quadrille_piece piece = take_piece(&run->messages[i]);
      add_piece(f, &piece);
    }
}

/* False at the end. */
static inline int follow_event(struct follower* f, struct quadrille_event* event) {
  switch (event->kind) {
    case QUADRILLE_EVENT_STEP: begin_step(f, event->key, event->has_after, event->after); break;
    case QUADRILLE_EVENT_STEP_END: end_step(f); break;
    case QUADRILLE_EVENT_MESSAGE: begin_message(f, event->flags, event->peer); break;
    case QUADRILLE_EVENT_PIECE: add_piece(f, &event->piece); break;
    case QUADRILLE_EVENT_MESSAGE_END: end_message(f); break;
    case QUADRILLE_EVENT_PIECE_MESSAGE:
      begin_message(f, event->flags, event->peer);
      add_piece(f, &event->piece);
      end_message(f);
      break;
    case QUADRILLE_EVENT_COPY: copy(f, event); break;
    case QUADRILLE_EVENT_RUN: follow_run(f, &event->run); break;
    case QUADRILLE_EVENT_PIECE_RUN: follow_pieces(f, &event->run); break;
    case QUADRILLE_EVENT_END: return 0;
    case QUADRILLE_EVENT_UNDEFINED: refuse(f, event->why); break;
    default: refuse(f, "it does what this library does not serve"); break;
  }
  return !f->error;
}

static int64_t most_iterations(const struct quadrille_binding* binding) {
  const int64_t nodes = quadrille_topologies_of(&binding->loaded->program, &binding->place)->nodes;
  const int64_t fixed = FEW_ITERATIONS + ITERATIONS_A_RANK_AND_NODE * binding->place.ranks * nodes;
  int64_t most;
  if (__builtin_mul_overflow(binding->execution->total, ITERATIONS_A_BYTE, &most) ||
      __builtin_add_overflow(most, fixed, &most))
    return INT64_MAX;
  return most;
}

const char* quadrille_execution_follow(struct quadrille_binding* binding, int post) {
  struct follower f;
  struct quadrille_event event;
  f.binding = binding;
  f.execution = binding->execution;
  f.post = post;
  f.error = NULL;
  f.execution->last_key = INT64_MIN;
  quadrille_walk_start(&f.walker, &binding->loaded->program, &f.execution->tables, &binding->place);
  f.walker.iterations = most_iterations(binding);
  do quadrille_walk_next(&f.walker, &event);
  while (follow_event(&f, &event));
  return f.error;
}
