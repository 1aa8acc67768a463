/* When messages are posted and waited for, and which buffers they use.
 *
 * Invariants. Sends are posted in the order of their steps. What is waited for before the sends of a step
 * are posted belongs to earlier steps, and so do all receives that are put away by then: a block is
 * read by every send that comes before the write, and a buffer is used again when the sends that read
 * it are over. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/plan/builder.h"

static inline struct qd_planned_step* step_at(const struct qd_builder* b, int32_t number) {
  return &b->ring[(uint32_t)number & b->mask];
}

/* What an operation does with messages, in this order. */
enum { NOTHING, WAIT_FOR_RECEIVES, WAIT_FOR_SENDS, POST_RECEIVES, POST_SENDS };

static inline struct qd_operation* add_operation(struct qd_builder* b) {
  struct qd_plan* plan = b->plan;
  if (plan->operation_count < plan->operation_capacity ||
      qd_grow((void**)&plan->operations, &plan->operation_capacity, sizeof *plan->operations))
    return &plan->operations[plan->operation_count++];
  qd_builder_refuse(b, qd_no_memory);
  return &b->none;
}

/* Makes an operation of the progress since the last one. */
static __attribute__((noinline)) void end_operation(struct qd_builder* b) {
  struct qd_operation* operation = add_operation(b);
  const struct qd_progress *now = &b->now, *before = &b->before;
  operation->kind = QD_PLAN_MESSAGES;
  operation->more = (struct qd_progress){
      now->receives_done - before->receives_done, now->sends_done - before->sends_done,
      now->receives_posted - before->receives_posted, now->sends_posted - before->sends_posted};
  b->before = b->now;
}

/* There is progress of that kind, which is of a new operation where what comes after it was done. */
static inline void go_on(struct qd_builder* b, int does) {
  if (does < b->does) end_operation(b);
  b->does = does;
}

/* An operation of another kind. */
static struct qd_operation* emit(struct qd_builder* b, enum qd_operation_kind kind) {
  if (b->does != NOTHING) end_operation(b);
  b->does = NOTHING;
  struct qd_operation* operation = add_operation(b);
  operation->kind = kind;
  return operation;
}

/* A buffer that nothing is in any more; QD_NO_BUFFER where memory ran out. */
static int32_t take_buffer(struct qd_builder* b) {
  enum { LOOKED_AT = 64 };
  struct qd_plan* plan = b->plan;
  for (int i = 0; i < LOOKED_AT && i < plan->buffer_count; i++) {
    if (b->next_buffer >= plan->buffer_count) b->next_buffer = 0;
    struct qd_planned_buffer* buffer = &b->buffers[b->next_buffer++];
    if (buffer->blocks > 0 || buffer->free_after > b->now.sends_done) continue;
    buffer->blocks = 1;
    return b->next_buffer - 1;
  }
  if (plan->buffer_count == b->buffer_capacity &&
      !qd_grow((void**)&b->buffers, &b->buffer_capacity, sizeof *b->buffers)) {
    qd_builder_lack(b);
    return QD_NO_BUFFER;
  }
  b->buffers[plan->buffer_count] = (struct qd_planned_buffer){1, 0};
  return plan->buffer_count++;
}

/* From when on its last sender is over. */
static void give_back(struct qd_builder* b, int32_t buffer, int32_t free_after) {
  if (buffer == QD_NO_BUFFER) return;
  b->buffers[buffer].blocks--;
  if (free_after > b->buffers[buffer].free_after) b->buffers[buffer].free_after = free_after;
}

static void wait_for_sends(struct qd_builder* b, int32_t sends);
static void finish_sends(struct qd_builder* b, int32_t steps);

/* The block at a region of the receive buffer is about to be overwritten. */
static void before_write(struct qd_builder* b, int32_t region) {
  const int32_t block = region - b->plan->send_blocks;
  if (!b->sent_as || block < 0 || block >= b->plan->receive_blocks) return;
  if (b->sent_as[block] == INT_MAX || b->saved_in[block] >= 0) return;
  if (b->sent_as[block] >= 0) return wait_for_sends(b, b->sent_as[block] + 1);
  const int32_t buffer = take_buffer(b);
  struct qd_operation* save = emit(b, QD_PLAN_SAVE);
  save->what = block;
  save->buffer = buffer;
  b->saved_in[block] = buffer;
}

/* What holds the block of a temporary region. */
static inline int32_t* holder_of(const struct qd_builder* b, int32_t region) {
  return &b->holders[region - b->plan->send_blocks - b->plan->receive_blocks];
}

/* Makes the temporary block be what is in that buffer. */
static void hold(struct qd_builder* b, int32_t region, int32_t buffer) {
  if (buffer == QD_NO_BUFFER) return;
  int32_t* holder = holder_of(b, region);
  b->buffers[buffer].blocks++;
  if (*holder >= 0) give_back(b, *holder, 0);
  *holder = buffer;
}

/* A message that went into a buffer is put away. */
static __attribute__((noinline)) void plan_landing(struct qd_builder* b,
                                                   const struct qd_message* m) {
  if (m->buffer == QD_NO_BUFFER) return;
  const struct qd_part* parts = qd_parts_of(b->plan, m);
  if (m->needs_staging) finish_sends(b, b->steps_sent);
  for (int i = 0; !b->has_global_counts && i < m->count; i++) {
    if (qd_is_temporary(b->plan, parts[i].region))
      hold(b, parts[i].region, m->buffer);
    else if (!m->zero_copy)
      before_write(b, parts[i].region);
  }
  give_back(b, m->buffer, 0);
}

/* The block to itself is copied while the first messages are on their way. */
static inline void copy_own(struct qd_builder* b) {
  if (!b->owes_copy) return;
  b->owes_copy = 0;
  emit(b, QD_PLAN_COPY_OWN);
}

/* Waits for so many sends in all. */
static inline void wait_for_sends(struct qd_builder* b, int32_t sends) {
  if (sends <= b->now.sends_done) return;
  copy_own(b);
  go_on(b, WAIT_FOR_SENDS);
  b->now.sends_done = sends;
}

/* Waits for those of so many steps, which have been posted. */
static inline void finish_sends(struct qd_builder* b, int32_t steps) {
  for (int32_t i = b->steps_done; i < steps; i++) {
    struct qd_planned_step* s = step_at(b, i);
    b->bytes_in_flight -= s->sent_bytes;
    s->sent_bytes = 0;
    wait_for_sends(b, s->sends);
  }
}

/* Waits for so many receives in all. A buffer that one gives back may be taken for the next, which is waited for later. */
static inline void wait_for_receives(struct qd_builder* b, int32_t receives) {
  if (receives <= b->now.receives_done) return;
  copy_own(b);
  for (int32_t i = b->now.receives_done; b->plan->buffer_count > 0 && i < receives; i++) {
    plan_landing(b, &b->plan->receives.all[i]);
    go_on(b, WAIT_FOR_RECEIVES);
    b->now.receives_done = i + 1;
  }
  go_on(b, WAIT_FOR_RECEIVES);
  b->now.receives_done = receives;
}

/* Waits until so many steps are over for a send that follows them: they have arrived, and where blocks
 * are not sent on, so that steps only keep each other's pace, they are gone, too. */
static inline void land(struct qd_builder* b, int32_t steps) {
  if (steps <= b->steps_received) return;
  const struct qd_planned_step* last = step_at(b, steps - 1);
  wait_for_receives(b, last->receives);
  if (b->plan->is_typed) wait_for_sends(b, last->sends);
  b->steps_received = steps;
}

/* A block is read from where it lies, or lay; `send` by a message that is posted now, or -1. */
static void plan_read(struct qd_builder* b, struct qd_part* part, int32_t send, int zero_copy) {
  const int32_t region = part->region;
  if (qd_is_temporary(b->plan, region)) {
    const int32_t holder = *holder_of(b, region);
    if (holder < 0)
      return qd_builder_refuse(b, "it sends a temporary block that nothing was received in");
    if (zero_copy && b->buffers[holder].free_after <= send)
      b->buffers[holder].free_after = send + 1;
  } else if (b->sent_as && region < b->plan->send_blocks) {
    const int is_again = b->sent_as[region] >= 0;
    b->sent_as[region] = send;
    if (b->saved_in[region] < 0) return;
    /* What was saved for the first is another's by now. */
    if (is_again) return qd_builder_refuse(b, "it sends a block twice that is overwritten");
    part->form = QD_SAVED;
    give_back(b, b->saved_in[region], send + 1);
  }
}

/* A step sends before it copies, and waits for nothing of its own in between. So what it copies over is copied aside
 * first. Whether the next copies, up to that one, write what the send reads, where all lengths are known. */
static int is_written_over(const struct qd_builder* b, const struct qd_message* m, int32_t copies) {
  const struct qd_part* parts = qd_parts_of(b->plan, m);
  for (int32_t k = b->copied; b->has_global_counts && k < copies; k++) {
    const struct qd_part* to = &b->plan->copies[k].to;
    for (int i = 0; i < m->count; i++)
      if (parts[i].region == to->region && parts[i].low < to->high && to->low < parts[i].high)
        return 1;
  }
  return 0;
}

/* The same in place: saves the blocks of the send that the copies write. */
static void save_for(struct qd_builder* b, const struct qd_message* m, int32_t copies) {
  const struct qd_part* parts = qd_parts_of(b->plan, m);
  for (int32_t k = b->copied; b->sent_as && k < copies; k++) {
    const int32_t to = b->plan->copies[k].to.region;
    for (int i = 0; i < m->count; i++)
      if (parts[i].region == to - b->plan->send_blocks) before_write(b, to);
  }
}

/* `copies`: up to that one, copies of its step may disturb it. */
static void plan_send(struct qd_builder* b, int32_t number, int32_t copies) {
  struct qd_plan* plan = b->plan;
  struct qd_message* m = &plan->sends.all[number];
  struct qd_part* parts = m->count == 1 ? &m->part : plan->parts + m->first;
  save_for(b, m, copies);
  if (!b->has_global_counts)
    for (int i = 0; i < m->count; i++) plan_read(b, &parts[i], number, m->zero_copy);
  if (m->count == 1 && m->part.form == QD_SAVED) m->zero_copy = 0;
  m->needs_staging = is_written_over(b, m, copies);
  if (m->needs_staging) m->zero_copy = 0;
  const int is_zero_copy = plan->is_typed || (b->has_global_counts && !m->needs_staging);
  if (m->count == 0 || (m->count == 1 && is_zero_copy)) return;
  m->buffer = take_buffer(b);
  give_back(b, m->buffer, number + 1);
}

static void plan_copy(struct qd_builder* b, int32_t number) {
  struct qd_copy* copy = &b->plan->copies[number];
  const struct qd_plan* plan = b->plan;
  const int32_t from = copy->from.region, to = copy->to.region;
  const int from_send = from < plan->send_blocks, to_temporary = qd_is_temporary(plan, to);
  /* First of all, as what was saved is read from a buffer that is free then. */
  if (to_temporary && from_send) copy->buffer = take_buffer(b);
  plan_read(b, &copy->from, -1, 0);
  if (b->error) return;
  if (b->sent_as && from_send) b->sent_as[from] = INT_MAX; /* nothing reads it any more */
  if (!to_temporary) {
    before_write(b, to);
  } else if (!from_send) {
    hold(b, to, *holder_of(b, from));
  } else {
    hold(b, to, copy->buffer);
    give_back(b, copy->buffer, 0);
  }
  emit(b, QD_PLAN_COPY)->what = number;
}

/* One between blocks of known lengths: sends of earlier steps that may read what it writes are over before. */
static void plan_known_copy(struct qd_builder* b, int32_t number) {
  if (b->plan->copies[number].needs_staging) finish_sends(b, b->steps_sent);
  emit(b, QD_PLAN_COPY)->what = number;
}

/* Whether the sends of the step would be too much at once. */
static int is_too_much(const struct qd_builder* b, const struct qd_planned_step* s) {
  return b->bytes_in_flight > 0 && b->bytes_in_flight + s->sent_bytes > b->at_once;
}

/* Waits for the sends of the oldest step that has some on their way. */
static void send_less(struct qd_builder* b) {
  int32_t step = b->steps_done;
  while (step_at(b, step)->sent_bytes == 0) step++;
  finish_sends(b, step + 1);
}

static inline void post_sends(struct qd_builder* b, int32_t sends) {
  if (b->now.sends_posted < sends) go_on(b, POST_SENDS);
  b->now.sends_posted = sends;
}

static __attribute__((noinline)) void plan_sends(struct qd_builder* b,
                                                 const struct qd_planned_step* s) {
  int32_t disturbing = b->copied; /* up to that one, copies may write where the sends read */
  for (int32_t k = b->copied; k < s->copies; k++)
    if (!b->has_global_counts || b->plan->copies[k].needs_staging) disturbing = k + 1;
  for (int32_t i = b->now.sends_posted; i < s->sends; i++) plan_send(b, i, disturbing);
  post_sends(b, s->sends);
  for (; b->copied < s->copies; b->copied++)
    if (b->has_global_counts)
      plan_known_copy(b, b->copied);
    else
      plan_copy(b, b->copied);
}

/* Posts the sends of the next step that has not. */
static inline void send(struct qd_builder* b, const struct qd_planned_step* s) {
  if (b->is_plain)
    post_sends(b, s->sends);
  else
    plan_sends(b, s);
  b->bytes_in_flight += s->sent_bytes;
  b->steps_sent++;
}

/* Posts the sends that need not wait any more. */
static inline void release(struct qd_builder* b) {
  while (b->steps_sent < b->steps) {
    const struct qd_planned_step* s = step_at(b, b->steps_sent);
    if (s->ready > b->steps_received || is_too_much(b, s)) return;
    send(b, s);
  }
}

/* Posts those of the next step in any case, after what they wait for. */
static __attribute__((noinline)) void send_next(struct qd_builder* b) {
  const struct qd_planned_step* s = step_at(b, b->steps_sent);
  land(b, s->ready);
  while (is_too_much(b, s)) send_less(b);
  send(b, s);
  release(b);
}

/* Waits until the oldest step is over: for what arrives first, as other sends may wait for that. */
static inline void finish_oldest(struct qd_builder* b) {
  const struct qd_planned_step* s = step_at(b, b->steps_done);
  const int32_t over = b->steps_done + 1;
  while (b->steps_sent < over) send_next(b);
  wait_for_receives(b, s->receives);
  if (!b->plan->is_typed && b->steps_received < over) b->steps_received = over;
  release(b);
  finish_sends(b, over);
  if (b->steps_received < over) b->steps_received = over;
  b->steps_done = over;
  release(b);
}

/* How many steps have keys up to that one. */
static inline int32_t steps_up_to(const struct qd_builder* b, int64_t key) {
  int32_t steps = b->steps;
  if (steps == b->steps_done || step_at(b, b->steps_done)->key > key) return b->steps_done;
  while (step_at(b, steps - 1)->key > key) steps--;
  return steps;
}

static void plan_receive(struct qd_builder* b, struct qd_message* m) {
  if (m->count == 0) return;
  if (!b->has_global_counts && m->zero_copy) {
    m->zero_copy = !qd_is_temporary(b->plan, m->part.region);
    if (m->zero_copy) before_write(b, m->part.region);
  }
  if (!m->zero_copy || !(b->plan->is_typed || b->has_global_counts)) m->buffer = take_buffer(b);
}

void qd_order_step(struct qd_builder* b, int is_copy) {
  struct qd_plan* plan = b->plan;
  const int32_t receives = plan->receives.count, sends = plan->sends.count;
  if (b->error ||
      (receives == b->now.receives_posted && sends == b->queued && plan->copy_count == b->copies))
    return;
  if (b->steps - b->steps_done == b->window) finish_oldest(b);
  struct qd_planned_step* s = step_at(b, b->steps);
  s->key = b->key;
  s->ready = is_copy || !b->has_after ? b->steps : steps_up_to(b, b->after);
  if (s->ready < b->barrier) s->ready = b->barrier;
  s->sent_bytes = b->sent_bytes;
  b->sent_bytes = 0;
  s->receives = receives;
  s->sends = b->queued = sends;
  s->copies = b->copies = plan->copy_count;
  b->steps++;
  for (int32_t i = b->now.receives_posted; !b->is_plain && i < receives; i++)
    plan_receive(b, &plan->receives.all[i]);
  if (b->now.receives_posted < receives) go_on(b, POST_RECEIVES);
  b->now.receives_posted = receives;
  release(b);
  while (b->steps_sent < (is_copy ? b->steps : b->steps - b->waiting)) send_next(b);
  b->is_full = receives + sends >= b->most_messages;
}

void qd_order_begin(struct qd_builder* b) {
  struct qd_plan* plan = b->plan;
  plan->receives.count = plan->sends.count = 0;
  plan->part_count = plan->operation_count = plan->copy_count = 0;
  b->steps = b->steps_done = b->steps_received = b->steps_sent = b->barrier = 0;
  b->now = b->before = (struct qd_progress){0, 0, 0, 0};
  b->queued = b->copied = b->copies = 0;
  b->bytes_in_flight = b->sent_bytes = 0;
  b->is_plain = b->has_global_counts || (plan->is_typed && !b->sent_as);
  b->is_full = 0;
  b->does = NOTHING;
  /* All sends of the plan before are over. */
  for (int32_t i = 0; b->sent_as && i < plan->send_blocks; i++)
    if (b->sent_as[i] >= 0) b->sent_as[i] = INT_MAX;
  for (int32_t i = 0; i < plan->buffer_count; i++) b->buffers[i].free_after = 0;
}

void qd_order_end(struct qd_builder* b) {
  while (b->steps_done < b->steps && !b->error) finish_oldest(b);
  copy_own(b);
  emit(b, QD_PLAN_END);
}

void qd_order_forget(struct qd_builder* b) {
  struct qd_plan* plan = b->plan;
  const size_t blocks = (size_t)plan->send_blocks, temporaries = (size_t)plan->temporaries;
  b->is_further = b->owes_copy = 0;
  b->next_buffer = 0;
  plan->buffer_count = plan->most_parts = plan->lacks_memory = 0;
  if (b->has_global_counts) return qd_builder_forget_known(b);
  memset(b->holders, -1, temporaries * sizeof *b->holders);
  if (!b->sent_as) return;
  memset(b->sent_as, -1, blocks * sizeof *b->sent_as);
  memset(b->saved_in, -1, blocks * sizeof *b->saved_in);
}
