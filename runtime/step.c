/* The messages of a step, gathered as the walk tells them. Pieces that lie side by side are one
 * segment. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/execution.h"

void quadrille_step_open(struct quadrille_step* step, const struct quadrille_event* event) {
  step->key = event->key;
  /* Without `after`, and where that names no earlier step, it waits for all of them. */
  step->after = event->has_after ? event->after : INT64_MAX;
  step->receives_waited = step->sends_waited = 0;
  step->sent_bytes = 0;
  step->message_count = step->segment_count = 0;
}

void quadrille_step_close(struct quadrille_step* step) {
  free(step->messages);
  free(step->segments);
  free(step->requests);
  free(step->room);
  memset(step, 0, sizeof *step);
}

static int grow(void** array, int room, size_t size) {
  void* grown = room > INT_MAX / 2 ? NULL : realloc(*array, (size_t)room * size);
  if (!grown) return 0;
  *array = grown;
  return 1;
}

static int grow_messages(struct quadrille_step* step) {
  const int room = step->message_room ? 2 * step->message_room : 4;
  if (!grow((void**)&step->messages, room, sizeof *step->messages) ||
      !grow((void**)&step->requests, room, sizeof *step->requests))
    return 0;
  step->message_room = room;
  return 1;
}

static int grow_segments(struct quadrille_step* step) {
  const int room = step->segment_room ? 2 * step->segment_room : 4;
  if (!grow((void**)&step->segments, room, sizeof *step->segments)) return 0;
  step->segment_room = room;
  return 1;
}

int quadrille_step_message(struct quadrille_step* step, int receives, int peer) {
  if (step->message_count == step->message_room && !grow_messages(step)) return 0;
  step->requests[step->message_count] = MPI_REQUEST_NULL;
  step->messages[step->message_count++] =
      (struct quadrille_message){receives, 1, peer, step->segment_count, 0, 0, NULL};
  return 1;
}

int quadrille_step_piece(struct quadrille_step* step, char* address, int64_t bytes) {
  struct quadrille_message* message = &step->messages[step->message_count - 1];
  message->is_token = 0;
  message->bytes += bytes;
  if (bytes == 0) return 1;
  if (message->count > 0) {
    struct quadrille_segment* last = &step->segments[step->segment_count - 1];
    if (last->address + last->bytes == address) {
      last->bytes += bytes;
      return 1;
    }
  }
  if (step->segment_count == step->segment_room && !grow_segments(step)) return 0;
  step->segments[step->segment_count++] = (struct quadrille_segment){address, bytes};
  message->count++;
  return 1;
}

void quadrille_step_message_end(struct quadrille_step* step) {
  const struct quadrille_message* message = &step->messages[step->message_count - 1];
  /* Both ends know that nothing is to travel. */
  if (!message->is_token && message->bytes == 0) step->message_count--;
  if (!message->receives) step->sent_bytes += message->bytes;
}
