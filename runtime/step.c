/* The memory of a step. Pieces that lie side by side are one segment. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/pipeline.h"

static void close_direction(struct quadrille_direction* direction) {
  free(direction->messages);
  free(direction->requests);
}

void quadrille_step_close(struct quadrille_step* step) {
  close_direction(&step->receives);
  close_direction(&step->sends);
  free(step->segments);
  free(step->room);
  memset(step, 0, sizeof *step);
}

static int grow(void** array, int room, size_t size) {
  void* grown = room > INT_MAX / 2 ? NULL : realloc(*array, (size_t)room * size);
  if (!grown) return 0;
  *array = grown;
  return 1;
}

int quadrille_step_grow(struct quadrille_direction* direction) {
  const int room = direction->room ? 2 * direction->room : QUADRILLE_FEW_MESSAGES;
  if (!grow((void**)&direction->messages, room, sizeof *direction->messages) ||
      !grow((void**)&direction->requests, room, sizeof *direction->requests))
    return 0;
  direction->room = room;
  return 1;
}

int quadrille_step_open_room(struct quadrille_step* step) {
  return (step->sends.room > 0 || quadrille_step_grow(&step->sends)) &&
         quadrille_step_grow(&step->receives);
}

static int add_segment(struct quadrille_step* step, struct quadrille_message* message,
                       struct quadrille_segment segment) {
  if (step->segment_count == step->segment_room) {
    const int room = step->segment_room ? 2 * step->segment_room : 4;
    if (!grow((void**)&step->segments, room, sizeof *step->segments)) return 0;
    step->segment_room = room;
  }
  step->segments[step->segment_count++] = segment;
  message->count++;
  return 1;
}

int quadrille_step_segment(struct quadrille_step* step, struct quadrille_message* message,
                           char* address, int64_t bytes) {
  if (message->count == 0 &&
      !add_segment(step, message, (struct quadrille_segment){message->address, message->bytes}))
    return 0;
  step->is_plain = 0;
  message->address = NULL;
  message->bytes += bytes;
  struct quadrille_segment* last = &step->segments[step->segment_count - 1];
  if (last->address + last->bytes != address)
    return add_segment(step, message, (struct quadrille_segment){address, bytes});
  last->bytes += bytes;
  return 1;
}

int quadrille_step_take_segments(struct quadrille_step* step, struct quadrille_message* message,
                                 const struct quadrille_step* other,
                                 const struct quadrille_message* from) {
  const struct quadrille_segment* segment = &other->segments[from->first];
  for (int i = 0; i < from->count; i++, segment++)
    if (!quadrille_step_piece(step, message, segment->address, segment->bytes)) return 0;
  return 1;
}
