/* Decides when a rank posts its messages and waits for them, and which buffers they use.
 *
 * Receives are posted when their step enters the window. The sends of a step are posted as soon as the receives that
 * they depend on are complete. When the window is full, the rank waits for the oldest step.
 *
 * The program says what the sends of a step depend on: the steps up to the key after `after`, or all earlier steps.
 * qd_order_step counts these steps as `ready`. release posts the sends of all steps whose receives are complete, and
 * send_next first waits for those that are not.
 *
 * Why this is right. Sends are posted in the order of their steps. Before the sends of a step are posted, the rank
 * waits only for messages of earlier steps, and only those have been delivered. So every send that precedes a write
 * reads its block before that write. A buffer is used again only when the sends that read it are complete.
 * theory/Runtime.v states these rules; verifier/plan_check.cc tests them on the plans of all programs. */
#include <string.h>

#include "runtime/plan/builder.h"

static inline struct qd_planned_step* step_at(const struct qd_builder* b, int32_t number) {
  return &b->window.ring[(uint32_t)number & b->window.mask];
}

/* The kinds of progress, in the order in which one operation makes them. */
enum progress_kind { NO_PROGRESS, WAIT_FOR_RECEIVES, WAIT_FOR_SENDS, POST_RECEIVES, POST_SENDS };

static inline struct qd_operation* add_operation(struct qd_builder* b) {
  struct qd_plan* plan = b->plan;
  if (QD_CAN_APPEND(plan->operations, plan->operation_count, plan->operation_capacity))
    return &plan->operations[plan->operation_count++];
  qd_builder_refuse(b, qd_no_memory);
  return &b->none;
}

/* Ends the operation being made: writes the progress since the last one into it. */
static __attribute__((noinline)) void end_operation(struct qd_builder* b) {
  struct qd_operation* operation = add_operation(b);
  const struct qd_progress *now = &b->window.now, *before = &b->window.before;
  operation->kind = QD_PLAN_MESSAGES;
  operation->more = (struct qd_progress){
      now->receives_done - before->receives_done, now->sends_done - before->sends_done,
      now->receives_posted - before->receives_posted, now->sends_posted - before->sends_posted};
  b->window.before = b->window.now;
}

/* Adds progress of that kind to the operation being made. Ends that one first if it has progress of a later kind. */
static inline void add_progress(struct qd_builder* b, enum progress_kind kind) {
  if ((int)kind < b->window.latest) end_operation(b);
  b->window.latest = kind;
}

/* Adds an operation that is not QD_PLAN_MESSAGES, and returns it. */
static struct qd_operation* append(struct qd_builder* b, enum qd_operation_kind kind) {
  if (b->window.latest != NO_PROGRESS) end_operation(b);
  b->window.latest = NO_PROGRESS;
  struct qd_operation* operation = add_operation(b);
  operation->kind = kind;
  return operation;
}

/* Takes a free buffer and returns its number, or QD_NO_BUFFER if memory ran out. */
static int32_t take_buffer(struct qd_builder* b) {
  enum { MOST_TRIES = 64 };
  struct qd_plan* plan = b->plan;
  for (int i = 0; i < MOST_TRIES && i < plan->buffer_count; i++) {
    if (b->memory.next_buffer >= plan->buffer_count) b->memory.next_buffer = 0;
    struct qd_planned_buffer* buffer = &b->memory.buffers[b->memory.next_buffer++];
    if (buffer->blocks > 0 || buffer->free_after > b->window.now.sends_done) continue;
    buffer->blocks = 1;
    return b->memory.next_buffer - 1;
  }
  if (!QD_CAN_APPEND(b->memory.buffers, plan->buffer_count, b->memory.buffer_capacity)) {
    qd_builder_refuse(b, qd_no_memory);
    return QD_NO_BUFFER;
  }
  b->memory.buffers[plan->buffer_count] = (struct qd_planned_buffer){1, 0};
  return plan->buffer_count++;
}

/* Removes one block from the buffer. The buffer is in use until `free_after` sends are complete. */
static void give_back(struct qd_builder* b, int32_t buffer, int32_t free_after) {
  if (buffer == QD_NO_BUFFER) return;
  b->memory.buffers[buffer].blocks--;
  if (free_after > b->memory.buffers[buffer].free_after)
    b->memory.buffers[buffer].free_after = free_after;
}

/* Copies this rank's block to itself while the first messages are in flight. */
static inline void copy_own(struct qd_builder* b) {
  if (b->window.owes_copy <= 0) return;
  b->window.owes_copy = -1;
  append(b, QD_PLAN_COPY_OWN);
}

/* Plans to wait until the first `sends` sends of the plan are complete. */
static inline void wait_for_sends(struct qd_builder* b, int32_t sends) {
  if (sends <= b->window.now.sends_done) return;
  copy_own(b);
  add_progress(b, WAIT_FOR_SENDS);
  b->window.now.sends_done = sends;
}

/* Plans to wait for the sends of the first `steps` steps, which have been posted. */
static inline void finish_sends(struct qd_builder* b, int32_t steps) {
  for (int32_t i = b->window.steps_done; i < steps; i++) {
    struct qd_planned_step* s = step_at(b, i);
    b->window.bytes_in_flight -= s->sent_bytes;
    s->sent_bytes = 0;
    wait_for_sends(b, s->sends);
  }
}

/* Returns where the number of a temporary block's buffer is noted. It is -1 if the block has none. */
static inline int32_t* holder_of(const struct qd_builder* b, int32_t region) {
  return &b->memory
              .holders[region - b->plan->regions.send_blocks - b->plan->regions.receive_blocks];
}

/* Makes the buffer hold the temporary block. */
static void hold_block(struct qd_builder* b, int32_t region, int32_t buffer) {
  if (buffer == QD_NO_BUFFER) return;
  int32_t* holder = holder_of(b, region);
  b->memory.buffers[buffer].blocks++;
  if (*holder >= 0) give_back(b, *holder, 0);
  *holder = buffer;
}

/* Plans the delivery of a message from its buffer. */
static __attribute__((noinline)) void plan_delivery(struct qd_builder* b,
                                                    const struct qd_message* m) {
  if (m->buffer == QD_NO_BUFFER) return;
  const struct qd_part* parts = qd_parts_of(b->plan, m);
  if (m->needs_staging) finish_sends(b, b->window.steps_sent);
  for (int i = 0; !b->traits.has_global_counts && i < m->count; i++)
    if (qd_is_temporary(b->plan, parts[i].region)) hold_block(b, parts[i].region, m->buffer);
  give_back(b, m->buffer, 0);
}

/* Plans to wait until the first `receives` receives of the plan are complete. Plans their deliveries one at a time if
 * the plan uses buffers: each may free a buffer for a later message. */
static inline void wait_for_receives(struct qd_builder* b, int32_t receives) {
  if (receives <= b->window.now.receives_done) return;
  copy_own(b);
  for (int32_t i = b->window.now.receives_done; b->plan->buffer_count > 0 && i < receives; i++) {
    plan_delivery(b, &b->plan->receives.all[i]);
    add_progress(b, WAIT_FOR_RECEIVES);
    b->window.now.receives_done = i + 1;
  }
  add_progress(b, WAIT_FOR_RECEIVES);
  b->window.now.receives_done = receives;
}

/* Plans to wait until the receives of the first `steps` steps are complete, for a send that depends on them. A
 * schedule that forwards no blocks uses `after` only to limit its pace, so the rank waits for the sends of these
 * steps, too. */
static inline void wait_for_steps(struct qd_builder* b, int32_t steps) {
  if (steps <= b->window.steps_received) return;
  const struct qd_planned_step* last = step_at(b, steps - 1);
  wait_for_receives(b, last->receives);
  if (b->plan->is_typed) wait_for_sends(b, last->sends);
  b->window.steps_received = steps;
}

/* Notes that a block is read. `send`: the message that reads it and is posted now; -1 for a copy. */
static void plan_read(struct qd_builder* b, const struct qd_part* part, int32_t send,
                      int zero_copy) {
  if (!qd_is_temporary(b->plan, part->region)) return;
  const int32_t holder = *holder_of(b, part->region);
  if (holder < 0)
    return qd_builder_refuse(b, "it sends a temporary block that nothing was received in");
  if (zero_copy && b->memory.buffers[holder].free_after <= send)
    b->memory.buffers[holder].free_after = send + 1;
}

/* Returns whether one of the next copies, before copy number `copies`, overwrites bytes of the send. A step posts its
 * sends before its copies and does not wait in between, so it must stage the send. Returns 0 unless all ranks know
 * all counts. */
static int is_overwritten(const struct qd_builder* b, const struct qd_message* m, int32_t copies) {
  const struct qd_part* parts = qd_parts_of(b->plan, m);
  for (int32_t k = b->window.copies_done; b->traits.has_global_counts && k < copies; k++) {
    const struct qd_part* to = &b->plan->copies[k].to;
    for (int i = 0; i < m->count; i++)
      if (parts[i].region == to->region && parts[i].low < to->high && to->low < parts[i].high)
        return 1;
  }
  return 0;
}

/* Chooses the buffer of a send. Copies of its step before copy number `copies` may overwrite its blocks. */
static void plan_send(struct qd_builder* b, int32_t number, int32_t copies) {
  struct qd_plan* plan = b->plan;
  struct qd_message* m = &plan->sends.all[number];
  const struct qd_part* parts = qd_parts_of(plan, m);
  if (!b->traits.has_global_counts)
    for (int i = 0; i < m->count; i++) plan_read(b, &parts[i], number, m->zero_copy);
  m->needs_staging = is_overwritten(b, m, copies);
  if (m->needs_staging) m->zero_copy = 0;
  const int is_zero_copy = plan->is_typed || (b->traits.has_global_counts && !m->needs_staging);
  if (m->count == 0 || (m->count == 1 && is_zero_copy)) return;
  m->buffer = take_buffer(b);
  give_back(b, m->buffer, number + 1);
}

static void plan_copy(struct qd_builder* b, int32_t number) {
  struct qd_copy* copy = &b->plan->copies[number];
  const struct qd_plan* plan = b->plan;
  const int32_t from = copy->from.region, to = copy->to.region;
  const int from_send = from < plan->regions.send_blocks, to_temporary = qd_is_temporary(plan, to);
  plan_read(b, &copy->from, -1, 0);
  if (b->error) return;
  if (to_temporary && !from_send) {
    hold_block(b, to, *holder_of(b, from));
  } else if (to_temporary) {
    copy->buffer = take_buffer(b);
    hold_block(b, to, copy->buffer);
    give_back(b, copy->buffer, 0);
  }
  append(b, QD_PLAN_COPY)->what = number;
}

/* Plans a copy between blocks of known length. It waits for sends of earlier steps that may read its target. */
static void plan_known_copy(struct qd_builder* b, int32_t number) {
  if (b->plan->copies[number].needs_staging) finish_sends(b, b->window.steps_sent);
  append(b, QD_PLAN_COPY)->what = number;
}

/* Returns whether the sends of the step would put too many bytes in flight. */
static inline int is_too_much(const struct qd_builder* b, const struct qd_planned_step* s) {
  return b->window.bytes_in_flight > 0 &&
         b->window.bytes_in_flight + s->sent_bytes > b->traits.at_once;
}

/* Plans to wait for the sends of the oldest step that has bytes in flight. */
static void drain(struct qd_builder* b) {
  int32_t step = b->window.steps_done;
  while (step_at(b, step)->sent_bytes == 0) step++;
  finish_sends(b, step + 1);
}

static inline void post_sends(struct qd_builder* b, int32_t sends) {
  if (b->window.now.sends_posted < sends) add_progress(b, POST_SENDS);
  b->window.now.sends_posted = sends;
}

static __attribute__((noinline)) void plan_sends(struct qd_builder* b,
                                                 const struct qd_planned_step* s) {
  /* Copies with lower numbers than this may write where the sends read. */
  int32_t overwriting = b->window.copies_done;
  for (int32_t k = b->window.copies_done; k < s->copies; k++)
    if (!b->traits.has_global_counts || b->plan->copies[k].needs_staging) overwriting = k + 1;
  for (int32_t i = b->window.now.sends_posted; i < s->sends; i++) plan_send(b, i, overwriting);
  post_sends(b, s->sends);
  for (; b->window.copies_done < s->copies; b->window.copies_done++)
    if (b->traits.has_global_counts)
      plan_known_copy(b, b->window.copies_done);
    else
      plan_copy(b, b->window.copies_done);
}

/* Plans the posts of the sends of the next step, and its copies. */
static inline void send_step(struct qd_builder* b, const struct qd_planned_step* s) {
  if (b->window.is_plain)
    post_sends(b, s->sends);
  else
    plan_sends(b, s);
  b->window.bytes_in_flight += s->sent_bytes;
  b->window.steps_sent++;
}

/* Plans the posts of the sends of all steps that need not wait. */
static inline void send_ready(struct qd_builder* b) {
  while (b->window.steps_sent < b->window.steps) {
    const struct qd_planned_step* s = step_at(b, b->window.steps_sent);
    if (s->ready > b->window.steps_received || is_too_much(b, s)) return;
    send_step(b, s);
  }
}

/* Plans to wait for the receives that the sends of the next step depend on, and then to post these sends. */
static __attribute__((noinline)) void wait_and_send(struct qd_builder* b) {
  const struct qd_planned_step* s = step_at(b, b->window.steps_sent);
  wait_for_steps(b, s->ready);
  while (is_too_much(b, s)) drain(b);
  send_step(b, s);
  send_ready(b);
}

/* Plans to complete the oldest step. Waits for its receives first, since other sends may depend on them. */
static inline void finish_oldest(struct qd_builder* b) {
  struct qd_window* w = &b->window;
  const struct qd_planned_step* s = step_at(b, w->steps_done);
  const int32_t done = w->steps_done + 1;
  while (w->steps_sent < done) wait_and_send(b);
  wait_for_receives(b, s->receives);
  if (!b->plan->is_typed && w->steps_received < done) w->steps_received = done;
  send_ready(b);
  finish_sends(b, done);
  if (w->steps_received < done) w->steps_received = done;
  w->steps_done = done;
  send_ready(b);
}

/* Returns the number of steps with keys up to `key`, but no less than steps_done. */
static inline int32_t steps_up_to(const struct qd_builder* b, int64_t key) {
  int32_t steps = b->window.steps;
  if (steps == b->window.steps_done || step_at(b, b->window.steps_done)->key > key)
    return b->window.steps_done;
  while (step_at(b, steps - 1)->key > key) steps--;
  return steps;
}

static void plan_receive(struct qd_builder* b, struct qd_message* m) {
  if (m->count == 0) return;
  if (!b->traits.has_global_counts && m->zero_copy)
    m->zero_copy = !qd_is_temporary(b->plan, m->part.region);
  if (!m->zero_copy || !(b->plan->is_typed || b->traits.has_global_counts))
    m->buffer = take_buffer(b);
}

void qd_order_step(struct qd_builder* b, int is_copy) {
  struct qd_window* w = &b->window;
  struct qd_plan* plan = b->plan;
  const int32_t receives = plan->receives.count, sends = plan->sends.count;
  if (b->error ||
      (receives == w->now.receives_posted && sends == w->sends && plan->copy_count == w->copies))
    return;
  if (w->steps - w->steps_done == w->size) finish_oldest(b);
  struct qd_planned_step* s = step_at(b, w->steps);
  const int32_t ready =
      is_copy || !b->reading.has_after ? w->steps : steps_up_to(b, b->reading.after);
  s->key = b->reading.key;
  s->ready = ready < w->barrier ? w->barrier : ready;
  s->sent_bytes = b->reading.step_bytes;
  b->reading.step_bytes = 0;
  s->receives = receives;
  s->sends = w->sends = sends;
  s->copies = w->copies = plan->copy_count;
  w->steps++;
  for (int32_t i = w->now.receives_posted; !w->is_plain && i < receives; i++)
    plan_receive(b, &plan->receives.all[i]);
  if (w->now.receives_posted < receives) add_progress(b, POST_RECEIVES);
  w->now.receives_posted = receives;
  send_ready(b);
  while (w->steps_sent < (is_copy ? w->steps : w->steps - w->waiting)) wait_and_send(b);
  w->is_full = receives >= b->traits.most_messages || sends >= b->traits.most_messages;
}

void qd_order_begin(struct qd_builder* b) {
  struct qd_window* w = &b->window;
  struct qd_plan* plan = b->plan;
  plan->receives.count = plan->sends.count = 0;
  plan->part_count = plan->operation_count = plan->copy_count = 0;
  w->steps = w->steps_done = w->steps_received = w->steps_sent = w->barrier = 0;
  w->now = w->before = (struct qd_progress){0, 0, 0, 0};
  w->sends = w->copies = w->copies_done = 0;
  w->bytes_in_flight = b->reading.step_bytes = 0;
  w->is_plain = b->traits.has_global_counts || plan->is_typed;
  w->is_full = 0;
  w->latest = NO_PROGRESS;
  for (int32_t i = 0; i < plan->buffer_count; i++) b->memory.buffers[i].free_after = 0;
}

void qd_order_end(struct qd_builder* b) {
  while (b->window.steps_done < b->window.steps && !b->error) finish_oldest(b);
  copy_own(b);
  append(b, QD_PLAN_END);
}

void qd_order_forget(struct qd_builder* b) {
  struct qd_plan* plan = b->plan;
  const size_t temporaries = (size_t)plan->regions.temporaries;
  const size_t blocks = (size_t)plan->regions.receive_blocks + temporaries;
  b->is_further = b->window.owes_copy = 0;
  b->memory.next_buffer = 0;
  plan->buffer_count = 0;
  if (!b->traits.has_global_counts) {
    memset(b->memory.holders, -1, temporaries * sizeof *b->memory.holders);
    return;
  }
  memset(b->memory.accessed, 0, blocks * sizeof *b->memory.accessed);
  for (size_t i = 0; i < temporaries; i++) b->memory.temporaries[i].length = -1;
}
