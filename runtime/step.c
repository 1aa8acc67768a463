/* The messages of a step: gathered as the walk tells them, then posted together.
 *
 * A message of one contiguous piece goes from, or to, where it lies. One of several pieces is
 * copied together, where it is short, or described by a datatype. Sends read before the receives of
 * their step write: where the two meet, what is sent is copied aside first. Copies lie in the room
 * of the step's place in the window, which is kept. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/execution.h"

/* A longer message of several pieces is described by a datatype. */
enum { COPIED_TOGETHER = 1 << 18, FEW_PAIRS = 64, ALIGNMENT = 16 };

void quadrille_step_open(struct quadrille_step* step, const struct quadrille_event* event) {
  step->key = event->key;
  step->after = event->after;
  step->has_after = event->has_after;
  step->is_open = 1;
  step->message_count = step->segment_count = 0;
}

void quadrille_step_close(struct quadrille_step* step) {
  free(step->messages);
  free(step->segments);
  memset(step, 0, sizeof *step);
}

/* Room for one more; `room` counts what there is. */
static int grow(void** array, int* room, int count, size_t size) {
  if (count < *room) return 1;
  const int wanted = *room ? 2 * *room : 8;
  void* grown = realloc(*array, (size_t)wanted * size);
  if (!grown) return 0;
  *array = grown;
  *room = wanted;
  return 1;
}

int quadrille_step_message(struct quadrille_step* step, int receives, int peer) {
  if (step->message_count == step->message_room &&
      !grow((void**)&step->messages, &step->message_room, step->message_count,
            sizeof *step->messages))
    return 0;
  step->messages[step->message_count++] =
      (struct quadrille_message){receives, 1, peer, step->segment_count, 0, 0};
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
  if (step->segment_count == step->segment_room &&
      !grow((void**)&step->segments, &step->segment_room, step->segment_count,
            sizeof *step->segments))
    return 0;
  step->segments[step->segment_count++] = (struct quadrille_segment){address, bytes};
  message->count++;
  return 1;
}

void quadrille_step_message_end(struct quadrille_step* step) {
  const struct quadrille_message* message = &step->messages[step->message_count - 1];
  /* Both ends know that nothing is to travel. */
  if (!message->is_token && message->bytes == 0) step->message_count--;
}

static int meets(struct quadrille_segment a, struct quadrille_segment b) {
  return a.address < b.address + b.bytes && b.address < a.address + a.bytes;
}

static int messages_meet(const struct quadrille_step* step, const struct quadrille_message* a,
                         const struct quadrille_message* b) {
  if ((int64_t)a->count * b->count > FEW_PAIRS) return 1; /* to be on the safe side */
  for (int i = 0; i < a->count; i++)
    for (int j = 0; j < b->count; j++)
      if (meets(step->segments[a->first + i], step->segments[b->first + j])) return 1;
  return 0;
}

/* Whether the step receives into what this message sends. */
static int is_overwritten(const struct quadrille_step* step,
                          const struct quadrille_message* message) {
  if (message->receives) return 0;
  for (int i = 0; i < step->message_count; i++)
    if (step->messages[i].receives && messages_meet(step, message, &step->messages[i])) return 1;
  return 0;
}

static int is_copied(const struct quadrille_step* step, const struct quadrille_message* message) {
  return (message->count > 1 && message->bytes <= COPIED_TOGETHER) || is_overwritten(step, message);
}

static inline void post(struct quadrille_binding* binding, int place,
                        const struct quadrille_message* message, void* address, int count,
                        MPI_Datatype type) {
  struct quadrille_flight* flight = &binding->flight;
  MPI_Request* request = quadrille_flight_request(flight, place);
  if (!request) return quadrille_flight_check(flight, MPI_ERR_NO_MEM);
  const int tag = QUADRILLE_DATA_TAG, peer = message->peer;
  const int code =
      message->receives      ? MPI_Irecv(address, count, type, peer, tag, binding->comm, request)
      : binding->synchronous ? MPI_Issend(address, count, type, peer, tag, binding->comm, request)
                             : MPI_Isend(address, count, type, peer, tag, binding->comm, request);
  if (code == MPI_SUCCESS) return;
  *request = MPI_REQUEST_NULL;
  quadrille_flight_check(flight, code);
}

/* A type for segments at absolute addresses, none longer than an int counts; to be freed. */
static int make_type(const struct quadrille_segment* segments, int count, MPI_Datatype* type) {
  enum { LONGEST = 1 << 30 };
  int64_t parts = 0, part = 0;
  for (int i = 0; i < count; i++) parts += (segments[i].bytes + LONGEST - 1) / LONGEST;
  int* lengths = parts > INT_MAX ? NULL : malloc((size_t)parts * sizeof *lengths);
  MPI_Aint* places = parts > INT_MAX ? NULL : malloc((size_t)parts * sizeof *places);
  int code = lengths && places ? MPI_SUCCESS : MPI_ERR_NO_MEM;
  for (int i = 0; i < count && code == MPI_SUCCESS; i++)
    for (int64_t done = 0; done < segments[i].bytes; done += lengths[part++]) {
      const int64_t left = segments[i].bytes - done;
      lengths[part] = left < LONGEST ? (int)left : LONGEST;
      code = MPI_Get_address(segments[i].address + done, &places[part]);
    }
  if (code == MPI_SUCCESS)
    code = MPI_Type_create_hindexed((int)parts, lengths, places, MPI_BYTE, type);
  if (code == MPI_SUCCESS) code = MPI_Type_commit(type);
  free(lengths);
  free(places);
  return code;
}

static void __attribute__((noinline))
post_typed(struct quadrille_binding* binding, int place, const struct quadrille_message* message) {
  MPI_Datatype type;
  const int code =
      make_type(&binding->execution->step.segments[message->first], message->count, &type);
  if (code != MPI_SUCCESS) return quadrille_flight_check(&binding->flight, code);
  post(binding, place, message, MPI_BOTTOM, 1, type);
  MPI_Type_free(&type);
}

/* Room for the copies of the step at that place. */
static int make_room(struct quadrille_landing* landing, size_t size) {
  if (size <= landing->size) return 1;
  free(landing->room);
  landing->room = malloc(size);
  landing->size = landing->room ? size : 0;
  return landing->room != NULL;
}

static int64_t aligned(int64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

/* Copies together what the message sends; notes where what it receives belongs. */
static void copy_together(const struct quadrille_step* step,
                          const struct quadrille_message* message, char* room,
                          struct quadrille_landing* landing) {
  struct quadrille_scatter* scatters = (struct quadrille_scatter*)landing->room;
  for (int i = 0; i < message->count; i++) {
    const struct quadrille_segment* segment = &step->segments[message->first + i];
    if (message->receives)
      scatters[landing->scatters++] =
          (struct quadrille_scatter){segment->address, room, segment->bytes};
    else
      memcpy(room, segment->address, (size_t)segment->bytes);
    room += segment->bytes;
  }
}

static void post_whole(struct quadrille_binding* binding, int place,
                       const struct quadrille_message* message, char* address) {
  if (message->bytes <= INT_MAX)
    return post(binding, place, message, address, (int)message->bytes, MPI_BYTE);
  MPI_Datatype type;
  const int code = quadrille_large_type(message->bytes, MPI_BYTE, &type);
  if (code != MPI_SUCCESS) return quadrille_flight_check(&binding->flight, code);
  post(binding, place, message, address, 1, type);
  MPI_Type_free(&type);
}

/* A step with messages that are copied, or described by a type. */
static void __attribute__((noinline)) post_copied(struct quadrille_binding* binding, int place) {
  const struct quadrille_step* step = &binding->execution->step;
  struct quadrille_landing* landing = &binding->flight.landings[place];
  int64_t records = 0, bytes = 0;
  for (int i = 0; i < step->message_count; i++) {
    const struct quadrille_message* message = &step->messages[i];
    if (!is_copied(step, message)) continue;
    bytes += aligned(message->bytes);
    if (message->receives) records += message->count;
  }
  const int64_t head = aligned(records * (int64_t)sizeof(struct quadrille_scatter));
  if (!make_room(landing, (size_t)(head + bytes)))
    return quadrille_flight_check(&binding->flight, MPI_ERR_NO_MEM);
  char* room = landing->room + head;
  for (int i = 0; i < step->message_count; i++) {
    const struct quadrille_message* message = &step->messages[i];
    if (is_copied(step, message)) {
      copy_together(step, message, room, landing);
      post_whole(binding, place, message, room);
      room += aligned(message->bytes);
    } else if (message->count > 1) {
      post_typed(binding, place, message);
    } else {
      post_whole(binding, place, message,
                 message->is_token ? NULL : step->segments[message->first].address);
    }
  }
}

/* Steps in flight land in the order in which they took off, and keys increase. */
static void land_through(struct quadrille_flight* flight, int64_t key) {
  int left = flight->count, place = flight->first;
  while (left > 0 && flight->landings[place].key <= key) {
    left--;
    if (++place == flight->window) place = 0;
  }
  if (left < flight->count) quadrille_flight_land_until(flight, left);
}

void quadrille_step_post(struct quadrille_binding* binding) {
  const struct quadrille_step* step = &binding->execution->step;
  struct quadrille_flight* flight = &binding->flight;
  if (step->message_count == 0) return;
  if (step->has_after)
    land_through(flight, step->after);
  else
    quadrille_flight_land_until(flight, 0);
  const int place = quadrille_flight_step(flight);
  flight->landings[place].key = step->key;
  for (int i = 0; i < step->message_count; i++)
    if (step->messages[i].count > 1 || is_overwritten(step, &step->messages[i]))
      return post_copied(binding, place);
  for (int i = 0; i < step->message_count; i++) {
    const struct quadrille_message* message = &step->messages[i];
    post_whole(binding, place, message,
               message->is_token ? NULL : step->segments[message->first].address);
  }
}
