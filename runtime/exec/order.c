/* When messages are posted and waited for, and which buffers they use.
 *
 * Invariants. Sends are posted in the order of their steps. What is waited for before the sends of a step
 * are posted belongs to earlier steps, and so do all receives that are put away by then: a block is
 * read by every send that comes before the write, and a buffer is used again when the sends that read
 * it are over. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/builder.h"
#include "runtime/internal.h"

enum { OPERATIONS_A_STEP = 8 }; /* at most, but for saves */

static struct quadrille_planned_step* step_at(const struct quadrille_builder* b, int32_t number) {
  return &b->ring[(uint32_t)number & b->mask];
}

/* What an operation does with messages, in this order. */
enum { WAIT_FOR_RECEIVES, WAIT_FOR_SENDS, POST_RECEIVES, POST_SENDS, ANYTHING_ELSE };

/* One more operation, whose last part is that. */
static struct quadrille_operation* emit(struct quadrille_builder* b,
                                        enum quadrille_operation_kind kind, int does) {
  b->does = does;
  struct quadrille_plan* plan = b->plan;
  if (plan->operation_count == plan->operation_room &&
      !quadrille_grow((void**)&plan->operations, &plan->operation_room, sizeof *plan->operations)) {
    quadrille_builder_refuse(b, quadrille_no_memory);
    return &b->none;
  }
  struct quadrille_operation* operation = &plan->operations[plan->operation_count++];
  *operation = (struct quadrille_operation){.kind = kind};
  return operation;
}

/* The last operation, where that does nothing that comes after `what`; else a new one. */
static inline struct quadrille_operation* messages(struct quadrille_builder* b, int what) {
  struct quadrille_plan* plan = b->plan;
  if (what < b->does) return emit(b, QUADRILLE_PLAN_MESSAGES, what);
  b->does = what;
  return &plan->operations[plan->operation_count - 1];
}

/* A buffer that nothing is in any more; QUADRILLE_NO_BUFFER where memory ran out. */
static int32_t take_buffer(struct quadrille_builder* b) {
  enum { LOOKED_AT = 64 };
  struct quadrille_plan* plan = b->plan;
  for (int i = 0; i < LOOKED_AT && i < plan->buffer_count; i++) {
    if (b->next_buffer >= plan->buffer_count) b->next_buffer = 0;
    struct quadrille_planned_buffer* buffer = &b->buffers[b->next_buffer++];
    if (buffer->blocks > 0 || buffer->free_after > b->gone) continue;
    buffer->blocks = 1;
    return b->next_buffer - 1;
  }
  if (plan->buffer_count == b->buffer_room &&
      !quadrille_grow((void**)&b->buffers, &b->buffer_room, sizeof *b->buffers)) {
    quadrille_builder_lack(b);
    return QUADRILLE_NO_BUFFER;
  }
  b->buffers[plan->buffer_count] = (struct quadrille_planned_buffer){1, 0};
  return plan->buffer_count++;
}

/* From when on its last sender is over. */
static void give_back(struct quadrille_builder* b, int32_t buffer, int32_t free_after) {
  if (buffer == QUADRILLE_NO_BUFFER) return;
  b->buffers[buffer].blocks--;
  if (free_after > b->buffers[buffer].free_after) b->buffers[buffer].free_after = free_after;
}

static void wait(struct quadrille_builder* b, int32_t receives, int32_t sends);

/* The block at a place of the receive buffer is about to be overwritten. */
static void before_write(struct quadrille_builder* b, int32_t place) {
  const int32_t block = place - b->plan->ranks;
  if (!b->sent_as || place < b->plan->ranks || block >= b->plan->ranks) return;
  if (b->sent_as[block] == INT_MAX) return;
  if (b->sent_as[block] >= 0) return wait(b, b->received, b->sent_as[block] + 1);
  if (b->saved_in[block] >= 0) return;
  const int32_t buffer = take_buffer(b);
  struct quadrille_operation* save = emit(b, QUADRILLE_PLAN_SAVE, ANYTHING_ELSE);
  save->what = block;
  save->buffer = buffer;
  b->saved_in[block] = buffer;
}

/* Makes the temporary block be what is in that buffer. */
static void hold(struct quadrille_builder* b, int32_t place, int32_t buffer) {
  if (buffer == QUADRILLE_NO_BUFFER) return;
  int32_t* holder = &b->holders[place - 2 * b->plan->ranks];
  b->buffers[buffer].blocks++;
  if (*holder >= 0) give_back(b, *holder, 0);
  *holder = buffer;
}

/* A message that went into a buffer is put away. */
static void plan_landing(struct quadrille_builder* b, const struct quadrille_message* m) {
  const struct quadrille_part* parts = quadrille_parts_of(b->plan, m);
  if (m->is_in_the_way) wait(b, b->received, b->sent);
  for (int i = 0; !b->counts && i < m->count; i++) {
    if (parts[i].place >= 2 * b->plan->ranks)
      hold(b, parts[i].place, m->buffer);
    else if (!m->is_straight)
      before_write(b, parts[i].place);
  }
  give_back(b, m->buffer, 0);
}

/* Steps whose sends are over do not count any more. */
static inline void pay(struct quadrille_builder* b) {
  while (b->paid < b->unsent && step_at(b, b->paid)->sends <= b->gone)
    b->going -= step_at(b, b->paid++)->sent_bytes;
}

/* Waits for so many receives and sends in all. */
static void wait(struct quadrille_builder* b, int32_t receives, int32_t sends) {
  if (receives <= b->received && sends <= b->gone) return;
  if (b->owes_copy) {
    b->owes_copy = 0;
    emit(b, QUADRILLE_PLAN_COPY_OWN, ANYTHING_ELSE);
  }
  for (int32_t i = b->received; i < receives; i++) {
    const struct quadrille_message* m = &b->plan->receives.all[i];
    if (m->buffer != QUADRILLE_NO_BUFFER) plan_landing(b, m);
  }
  if (receives > b->received) {
    messages(b, WAIT_FOR_RECEIVES)->receives_over += receives - b->received;
    b->received = receives;
  }
  if (sends > b->gone) {
    messages(b, WAIT_FOR_SENDS)->sends_over += sends - b->gone;
    b->gone = sends;
  }
  pay(b);
}

/* Waits until so many steps are over for a send that follows them: they have arrived, and where blocks
 * are not sent on, so that steps only keep each other's pace, they are gone, too. */
static void land(struct quadrille_builder* b, int32_t steps) {
  if (steps <= b->landed) return;
  const struct quadrille_planned_step* last = step_at(b, steps - 1);
  wait(b, last->receives, b->plan->is_typed ? last->sends : b->gone);
  b->landed = steps;
}

/* A block is read from where it lies, or lay; `send` by a message that is posted now, or -1. */
static void plan_read(struct quadrille_builder* b, struct quadrille_part* part, int32_t send,
                      int is_straight) {
  const int32_t place = part->place, ranks = b->plan->ranks;
  if (place >= 2 * ranks) {
    const int32_t holder = b->holders[place - 2 * ranks];
    if (holder < 0)
      return quadrille_builder_refuse(b, "it sends a temporary block that nothing was received in");
    if (is_straight && b->buffers[holder].free_after <= send)
      b->buffers[holder].free_after = send + 1;
  } else if (b->sent_as && place < ranks) {
    b->sent_as[place] = send;
    if (b->saved_in[place] < 0) return;
    part->form = QUADRILLE_SAVED;
    give_back(b, b->saved_in[place], send + 1);
  }
}

static void plan_send(struct quadrille_builder* b, int32_t number) {
  struct quadrille_plan* plan = b->plan;
  struct quadrille_message* m = &plan->sends.all[number];
  struct quadrille_part* parts = m->count == 1 ? &m->part : plan->parts + m->first;
  if (!b->counts)
    for (int i = 0; i < m->count; i++) plan_read(b, &parts[i], number, m->is_straight);
  if (m->count == 1 && m->part.form == QUADRILLE_SAVED) m->is_straight = 0;
  if (m->count == 0 || (m->count == 1 && (plan->is_typed || b->counts))) return;
  m->buffer = take_buffer(b);
  give_back(b, m->buffer, number + 1);
}

static void plan_copy(struct quadrille_builder* b, int32_t number) {
  struct quadrille_copy* copy = &b->plan->copies[number];
  const int32_t ranks = b->plan->ranks, from = copy->from.place;
  /* First of all, as what was saved is read from a buffer that is free then. */
  if (copy->to >= 2 * ranks && from < ranks) copy->buffer = take_buffer(b);
  plan_read(b, &copy->from, -1, 0);
  if (b->error) return;
  if (b->sent_as && from < ranks) b->sent_as[from] = INT_MAX; /* nothing reads it any more */
  if (copy->to < 2 * ranks) {
    before_write(b, copy->to);
  } else if (from >= 2 * ranks) {
    hold(b, copy->to, b->holders[from - 2 * ranks]);
  } else {
    hold(b, copy->to, copy->buffer);
    give_back(b, copy->buffer, 0);
  }
  emit(b, QUADRILLE_PLAN_COPY, ANYTHING_ELSE)->what = number;
}

/* Whether the sends of the step would be too much at once. */
static int is_too_much(const struct quadrille_builder* b, const struct quadrille_planned_step* s) {
  return b->going > 0 && b->going + s->sent_bytes > b->at_once;
}

/* Posts the sends of the next step that has not, after what they wait for. */
static void send(struct quadrille_builder* b) {
  const struct quadrille_planned_step* s = step_at(b, b->unsent);
  land(b, s->ready);
  while (is_too_much(b, s)) wait(b, b->received, step_at(b, b->paid)->sends);
  const int32_t first = b->sent;
  for (; b->sent < s->sends && !b->error; b->sent++) plan_send(b, b->sent);
  if (b->sent > first) messages(b, POST_SENDS)->sends += b->sent - first;
  for (; b->copied < s->copies && !b->error; b->copied++) plan_copy(b, b->copied);
  b->unsent++;
  b->going += s->sent_bytes;
  pay(b);
}

/* Posts the sends that need not wait any more. */
static void release(struct quadrille_builder* b) {
  while (b->unsent < b->steps && !b->error) {
    const struct quadrille_planned_step* s = step_at(b, b->unsent);
    if (s->ready > b->landed || is_too_much(b, s)) return;
    send(b);
  }
}

/* Posts those of the oldest step that has not. */
static void send_oldest(struct quadrille_builder* b) {
  send(b);
  release(b);
}

/* Waits until the oldest step is over: for what arrives first, as other sends may wait for that. */
static void finish_oldest(struct quadrille_builder* b) {
  const struct quadrille_planned_step* s = step_at(b, b->over);
  while (b->unsent <= b->over && !b->error) send_oldest(b);
  wait(b, s->receives, b->gone);
  if (!b->plan->is_typed && b->landed <= b->over) b->landed = b->over + 1;
  release(b);
  wait(b, b->received, s->sends);
  b->over++;
  if (b->landed < b->over) b->landed = b->over;
  release(b);
}

/* How many steps have keys up to that one. */
static inline int32_t steps_up_to(const struct quadrille_builder* b, int64_t key) {
  int32_t steps = b->steps;
  if (steps == b->over || step_at(b, b->over)->key > key) return b->over;
  while (step_at(b, steps - 1)->key > key) steps--;
  return steps;
}

static void plan_receive(struct quadrille_builder* b, struct quadrille_message* m) {
  if (m->count == 0) return;
  if (!b->counts && m->is_straight) {
    m->is_straight = m->part.place < 2 * b->plan->ranks;
    if (m->is_straight) before_write(b, m->part.place);
  }
  if (!m->is_straight || !(b->plan->is_typed || b->counts)) m->buffer = take_buffer(b);
}

/* Room in the arrays for a step of any kind; 0 where memory ran out. */
static int make_room(struct quadrille_builder* b, int32_t operations) {
  struct quadrille_plan* plan = b->plan;
  struct quadrille_messages* both[] = {&plan->receives, &plan->sends};
  for (int i = 0; i < 2; i++)
    while (both[i]->room - both[i]->count < plan->ranks)
      if (!quadrille_grow((void**)&both[i]->all, &both[i]->room, sizeof *both[i]->all)) return 0;
  while (plan->operation_room - plan->operation_count < operations)
    if (!quadrille_grow((void**)&plan->operations, &plan->operation_room, sizeof *plan->operations))
      return 0;
  return 1;
}

int quadrille_order_has_room(struct quadrille_builder* b) {
  const struct quadrille_plan* plan = b->plan;
  const int32_t operations = OPERATIONS_A_STEP * (b->steps - b->unsent + 2);
  if (plan->receives.room - plan->receives.count >= plan->ranks &&
      plan->sends.room - plan->sends.count >= plan->ranks &&
      plan->operation_room - plan->operation_count >= operations)
    return 1;
  return make_room(b, operations);
}

void quadrille_order_step(struct quadrille_builder* b, int is_copy) {
  struct quadrille_plan* plan = b->plan;
  const int32_t receives = plan->receives.count, sends = plan->sends.count;
  if (b->error || (receives == b->posted && sends == b->queued && plan->copy_count == b->copies))
    return;
  if (b->steps - b->over == b->window) finish_oldest(b);
  struct quadrille_planned_step* s = step_at(b, b->steps);
  s->key = b->last_key;
  s->ready = is_copy || !b->has_after ? b->steps : steps_up_to(b, b->after);
  s->sent_bytes = 0;
  for (const struct quadrille_message* m = &plan->sends.all[b->queued]; b->queued < sends; m++) {
    s->sent_bytes += m->bytes;
    b->queued++;
  }
  s->receives = receives;
  s->sends = sends;
  s->copies = b->copies = plan->copy_count;
  b->steps++;
  const int32_t first = b->posted;
  for (; b->posted < receives; b->posted++) plan_receive(b, &plan->receives.all[b->posted]);
  if (first < receives) messages(b, POST_RECEIVES)->receives += receives - first;
  release(b);
  while (b->unsent < b->steps && !b->error && (is_copy || b->steps - b->unsent > b->waiting))
    send_oldest(b);
  b->is_full = receives + sends >= b->most_messages || (b->counts && !quadrille_order_has_room(b));
}

void quadrille_order_begin(struct quadrille_builder* b) {
  struct quadrille_plan* plan = b->plan;
  plan->receives.count = plan->sends.count = 0;
  plan->part_count = plan->operation_count = plan->copy_count = 0;
  b->steps = b->over = b->landed = b->unsent = b->paid = 0;
  b->posted = b->received = b->sent = b->gone = b->queued = 0;
  b->copied = b->copies = 0;
  b->going = 0;
  b->is_full = 0;
  b->does = ANYTHING_ELSE;
  /* All sends of the plan before are over. */
  for (int32_t i = 0; b->sent_as && i < plan->ranks; i++)
    if (b->sent_as[i] >= 0) b->sent_as[i] = INT_MAX;
  for (int32_t i = 0; i < plan->buffer_count; i++) b->buffers[i].free_after = 0;
}

void quadrille_order_end(struct quadrille_builder* b) {
  while (b->over < b->steps && !b->error) finish_oldest(b);
  if (b->owes_copy) emit(b, QUADRILLE_PLAN_COPY_OWN, ANYTHING_ELSE);
  b->owes_copy = 0;
  emit(b, QUADRILLE_PLAN_OVER, ANYTHING_ELSE);
}

void quadrille_order_forget(struct quadrille_builder* b) {
  struct quadrille_plan* plan = b->plan;
  const size_t ranks = (size_t)plan->ranks;
  b->is_further = b->owes_copy = 0;
  b->next_buffer = 0;
  plan->buffer_count = plan->most_parts = plan->lacks_memory = 0;
  if (b->touched) memset(b->touched, 0, ranks * sizeof *b->touched);
  if (b->holders)
    memset(b->holders, -1, (size_t)(plan->places - 2 * plan->ranks) * sizeof *b->holders);
  if (!b->sent_as) return;
  memset(b->sent_as, -1, ranks * sizeof *b->sent_as);
  memset(b->saved_in, -1, ranks * sizeof *b->saved_in);
}
