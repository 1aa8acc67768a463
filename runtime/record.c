/* The steps of a call, kept: the next call with the same counts, places and parameters posts the
 * same messages, and need not follow the program again.
 *
 * Kept are few messages only, each at one address: a long call does not feel what following costs,
 * and memory stays small. */
#include "runtime/record.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_MESSAGES = 1 << 12 };

void quadrille_record_begin(struct quadrille_record* record) {
  record->step_count = record->message_count = 0;
  record->is_open = !record->is_refused;
  record->is_complete = 0;
}

void quadrille_record_end(struct quadrille_record* record) {
  record->is_complete = record->is_open;
  record->is_open = 0;
}

void quadrille_record_close(struct quadrille_record* record) {
  free(record->steps);
  free(record->messages);
  memset(record, 0, sizeof *record);
}

/* Room for so many more; false where there is none, or none is wanted. */
static int make_room(struct quadrille_record* record, int messages) {
  const int wanted = record->message_count + messages;
  if (wanted > MOST_MESSAGES) return 0;
  if (record->step_count < record->room && wanted <= record->room) return 1;
  int room = record->room ? 2 * record->room : 16;
  while (room < wanted) room *= 2;
  void* steps = realloc(record->steps, (size_t)room * sizeof *record->steps);
  if (steps) record->steps = steps;
  void* kept = realloc(record->messages, (size_t)room * sizeof *record->messages);
  if (kept) record->messages = kept;
  if (!steps || !kept) return 0;
  record->room = room;
  return 1;
}

static void add_messages(struct quadrille_record* record,
                         const struct quadrille_direction* direction, uintptr_t base) {
  for (int i = 0; i < direction->count; i++) {
    const struct quadrille_message* m = &direction->messages[i];
    record->messages[record->message_count++] = (struct quadrille_recorded_message){
        m->address ? (int64_t)((uintptr_t)m->address - base) : -1, m->bytes, m->peer};
  }
}

void quadrille_record_step(struct quadrille_record* record, const struct quadrille_step* step,
                           uintptr_t base) {
  const int receives = step->receives.count, sends = step->sends.count;
  if (receives + sends == 0) return;
  if (!step->is_plain || !make_room(record, receives + sends)) {
    record->is_open = 0;
    record->is_refused = 1;
    return;
  }
  record->steps[record->step_count++] =
      (struct quadrille_recorded_step){step->key, step->after, step->sent_bytes, receives, sends};
  add_messages(record, &step->receives, base);
  add_messages(record, &step->sends, base);
}

/* False where memory ran out. */
static int repeat(struct quadrille_step* step, struct quadrille_direction* direction, int count,
                  const struct quadrille_recorded_message* messages, uintptr_t base) {
  while (direction->room < count)
    if (!quadrille_step_grow(direction)) return 0;
  for (int i = 0; i < count; i++) {
    struct quadrille_message* message = quadrille_step_message(step, direction, messages[i].peer);
    message->address = messages[i].bytes > 0 ? (char*)(base + (uintptr_t)messages[i].offset) : NULL;
    message->bytes = messages[i].bytes;
  }
  return 1;
}

const char* quadrille_record_repeat(const struct quadrille_record* record,
                                    struct quadrille_pipeline* pipeline, uintptr_t base) {
  const struct quadrille_recorded_message* messages = record->messages;
  for (int i = 0; i < record->step_count; i++) {
    const struct quadrille_recorded_step* kept = &record->steps[i];
    struct quadrille_step* step = quadrille_pipeline_step(pipeline);
    if (!step) return "out of memory";
    quadrille_step_open(step, kept->key, kept->after);
    step->sent_bytes = kept->sent_bytes;
    if (!repeat(step, &step->receives, kept->receives, messages, base) ||
        !repeat(step, &step->sends, kept->sends, messages + kept->receives, base))
      return "out of memory";
    messages += kept->receives + kept->sends;
    quadrille_pipeline_add(pipeline, step);
  }
  return NULL;
}
