/* The steps of a call, kept: the next call with the same counts, places and parameters posts the
 * same messages, and need not follow the program again.
 *
 * Kept are few messages only: a long call does not feel what following costs, and memory stays
 * small. */
#include "runtime/record.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_MESSAGES = 1 << 12, MOST_SEGMENTS = 1 << 14 };

void quadrille_record_begin(struct quadrille_record* record, uintptr_t base) {
  quadrille_step_open(&record->all, 0, 0);
  record->step_count = record->first_missing = record->needed = 0;
  record->base = base;
  record->is_open = !record->is_refused;
  record->is_complete = 0;
}

void quadrille_record_end(struct quadrille_record* record, uint64_t window) {
  record->is_complete = record->is_open;
  record->is_open = 0;
  record->is_whole = (uint64_t)record->step_count <= window;
  if (record->is_complete && record->is_whole && !record->all.is_plain)
    quadrille_transfer_begin(&record->all);
}

void quadrille_record_close(struct quadrille_record* record) {
  quadrille_step_close(&record->all);
  free(record->steps);
  memset(record, 0, sizeof *record);
}

/* Room for one more; false where there is none. */
static int make_room(struct quadrille_record* record) {
  if (record->step_count < record->room) return 1;
  const int room = record->room ? 2 * record->room : 16;
  void* steps = realloc(record->steps, (size_t)room * sizeof *record->steps);
  if (!steps) return 0;
  record->steps = steps;
  record->room = room;
  return 1;
}

/* One more message of all. False where memory ran out. */
static int add_message(struct quadrille_step* all, struct quadrille_direction* direction,
                       const struct quadrille_step* step, const struct quadrille_message* from) {
  if (direction->count == direction->room && !quadrille_step_grow(direction)) return 0;
  return quadrille_step_take(all, direction, step, from);
}

static int add_messages(struct quadrille_step* all, struct quadrille_direction* direction,
                        const struct quadrille_step* step, const struct quadrille_direction* from) {
  for (int i = 0; i < from->count; i++)
    if (!add_message(all, direction, step, &from->messages[i])) return 0;
  return 1;
}

/* Of the receives of earlier steps: those for which the sends of the next one wait, or those of a
 * step before it, as sends keep their order. */
static int needed_after(struct quadrille_record* record, int64_t after) {
  while (record->first_missing < record->step_count &&
         record->steps[record->first_missing].key <= after)
    record->needed += record->steps[record->first_missing++].receives;
  return record->needed;
}

void quadrille_record_step(struct quadrille_record* record, const struct quadrille_step* step) {
  struct quadrille_step* all = &record->all;
  const int receives = step->receives.count, sends = step->sends.count;
  if (receives + sends == 0) return;
  const int messages = all->receives.count + receives + all->sends.count + sends;
  const int segments = all->segment_count + step->segment_count;
  if (messages > MOST_MESSAGES || segments > MOST_SEGMENTS || !make_room(record) ||
      !add_messages(all, &all->receives, step, &step->receives) ||
      !add_messages(all, &all->sends, step, &step->sends)) {
    record->is_open = 0;
    record->is_refused = 1;
    return;
  }
  const int needed = needed_after(record, step->after);
  record->steps[record->step_count++] = (struct quadrille_recorded_step){
      step->key, step->after, step->sent_bytes, receives, sends, needed};
}
