/* A recorded call again: step by step through the window, or, where the window holds all of it, in
 * two loops that do what the pipeline would, without its keeping of steps. What such a call costs
 * apart from MPI matters: short messages in few steps. */
#include "runtime/record.h"

/* The blocks may lie elsewhere than in the call before. */
static void move(struct quadrille_direction* direction, uintptr_t distance) {
  for (int i = 0; i < direction->count; i++) {
    struct quadrille_message* message = &direction->messages[i];
    if (message->address && message->count == 0)
      message->address = (char*)((uintptr_t)message->address + distance);
  }
}

static void move_to(struct quadrille_record* record, uintptr_t base) {
  struct quadrille_step* all = &record->all;
  const uintptr_t distance = base - record->base;
  if (distance == 0) return;
  record->base = base;
  move(&all->receives, distance);
  move(&all->sends, distance);
  for (int i = 0; i < all->segment_count; i++)
    all->segments[i].address = (char*)((uintptr_t)all->segments[i].address + distance);
}

/* Waits for so many receives in all. */
static inline void wait_for_receives(struct quadrille_pipeline* p, struct quadrille_step* all,
                                     int count) {
  struct quadrille_direction* d = &all->receives;
  for (; d->waited < count; d->waited++) {
    const int code = MPI_Wait(&d->requests[d->waited], MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) quadrille_pipeline_check(p, code);
    if (!all->is_plain) quadrille_transfer_land(all, d->waited, d->waited + 1);
  }
}

static inline void wait_for_send(struct quadrille_pipeline* p, struct quadrille_direction* d) {
  const int code = MPI_Wait(&d->requests[d->waited], MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) quadrille_pipeline_check(p, code);
  p->going -= d->messages[d->waited++].bytes;
}

static inline int has_room(const struct quadrille_pipeline* p,
                           const struct quadrille_recorded_step* step) {
  return p->going == 0 || p->going + step->sent_bytes <= p->at_once;
}

/* Posts the step's sends, which begin at `first`. Returns where those of the next one do. */
static inline int send(struct quadrille_pipeline* p, struct quadrille_step* all,
                       const struct quadrille_recorded_step* step, int first) {
  quadrille_pipeline_send(p, all, first, first + step->sends);
  p->going += step->sent_bytes;
  return first + step->sends;
}

/* Sends that wait for nothing go at once, with the receives; the others one after the other. */
static void repeat_whole(const struct quadrille_record* record, struct quadrille_step* all,
                         struct quadrille_pipeline* p) {
  const struct quadrille_recorded_step* const end = record->steps + record->step_count;
  const struct quadrille_recorded_step *step, *next = record->steps;
  int received = 0, sent = 0;
  all->receives.waited = all->sends.waited = 0;
  for (step = record->steps; step < end; step++) {
    quadrille_pipeline_receive(p, all, received, received + step->receives);
    received += step->receives;
    if (next == step && step->needed == 0 && has_room(p, step)) sent = send(p, all, next++, sent);
  }
  for (; next < end; next++) {
    wait_for_receives(p, all, next->needed);
    while (!has_room(p, next)) wait_for_send(p, &all->sends);
    sent = send(p, all, next, sent);
  }
  wait_for_receives(p, all, received);
  while (all->sends.waited < sent) wait_for_send(p, &all->sends);
}

/* The next messages of a direction of `all` become the step's. False where memory ran out. */
static inline int repeat(struct quadrille_step* step, struct quadrille_direction* direction,
                         const struct quadrille_step* all, const struct quadrille_message* messages,
                         int count) {
  while (direction->room < count)
    if (!quadrille_step_grow(direction)) return 0;
  for (int i = 0; i < count; i++)
    if (!quadrille_step_take(step, direction, all, &messages[i])) return 0;
  return 1;
}

const char* quadrille_record_repeat(struct quadrille_record* record,
                                    struct quadrille_pipeline* pipeline, uintptr_t base) {
  move_to(record, base);
  if (record->is_whole) {
    repeat_whole(record, &record->all, pipeline);
    return NULL;
  }
  const struct quadrille_step* all = &record->all;
  const struct quadrille_message *receives = all->receives.messages, *sends = all->sends.messages;
  for (int i = 0; i < record->step_count; i++) {
    const struct quadrille_recorded_step* kept = &record->steps[i];
    struct quadrille_step* step = quadrille_pipeline_step(pipeline);
    if (!step) return "out of memory";
    quadrille_step_open(step, kept->key, kept->after);
    step->sent_bytes = kept->sent_bytes;
    if (!repeat(step, &step->receives, all, receives, kept->receives) ||
        !repeat(step, &step->sends, all, sends, kept->sends))
      return "out of memory";
    receives += kept->receives;
    sends += kept->sends;
    quadrille_pipeline_add(pipeline, step);
  }
  return NULL;
}
