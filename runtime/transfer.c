/* The messages of a step over MPI.
 *
 * A message of one segment goes from, or to, where it lies. One of several is copied together in
 * the step's room, where it is short, or described by a datatype. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/execution.h"

/* A longer message of several segments is described by a datatype. */
enum { COPIED_TOGETHER = 1 << 18, ALIGNMENT = 16 };

static int is_copied(const struct quadrille_message* message) {
  return message->count > 1 && message->bytes <= COPIED_TOGETHER;
}

static int64_t aligned(int64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

/* Without memory, messages are described by datatypes. */
void quadrille_transfer_make_room(struct quadrille_step* step) {
  int64_t bytes = 0;
  for (int i = 0; i < step->message_count; i++)
    if (is_copied(&step->messages[i])) bytes += aligned(step->messages[i].bytes);
  if (bytes > step->room_size) {
    free(step->room);
    step->room = malloc((size_t)bytes);
    step->room_size = step->room ? bytes : 0;
  }
  char* room = step->room;
  for (int i = 0; bytes > 0 && room && i < step->message_count; i++) {
    if (!is_copied(&step->messages[i])) continue;
    step->messages[i].aside = room;
    room += aligned(step->messages[i].bytes);
  }
}

static inline void post(struct quadrille_binding* binding, const struct quadrille_message* message,
                        MPI_Request* request, void* address, int count, MPI_Datatype type) {
  const int tag = QUADRILLE_DATA_TAG, peer = message->peer;
  const int code =
      message->receives      ? MPI_Irecv(address, count, type, peer, tag, binding->comm, request)
      : binding->synchronous ? MPI_Issend(address, count, type, peer, tag, binding->comm, request)
                             : MPI_Isend(address, count, type, peer, tag, binding->comm, request);
  if (code == MPI_SUCCESS) return;
  *request = MPI_REQUEST_NULL;
  quadrille_pipeline_check(&binding->execution->pipeline, code);
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

/* Several segments, or more bytes than an int counts. */
static void __attribute__((noinline))
post_typed(struct quadrille_binding* binding, const struct quadrille_step* step,
           const struct quadrille_message* message, MPI_Request* request) {
  MPI_Datatype type;
  const int code = make_type(&step->segments[message->first], message->count, &type);
  if (code != MPI_SUCCESS) return quadrille_pipeline_check(&binding->execution->pipeline, code);
  post(binding, message, request, MPI_BOTTOM, 1, type);
  MPI_Type_free(&type);
}

static inline void post_message(struct quadrille_binding* binding,
                                const struct quadrille_step* step, int number) {
  const struct quadrille_message* message = &step->messages[number];
  MPI_Request* request = &step->requests[number];
  if (message->aside || message->is_token)
    post(binding, message, request, message->aside, (int)message->bytes, MPI_BYTE);
  else if (message->count == 1 && message->bytes <= INT_MAX)
    post(binding, message, request, step->segments[message->first].address, (int)message->bytes,
         MPI_BYTE);
  else
    post_typed(binding, step, message, request);
}

void quadrille_transfer_receives(struct quadrille_binding* binding, struct quadrille_step* step) {
  for (int i = 0; i < step->message_count; i++)
    if (step->messages[i].receives) post_message(binding, step, i);
}

/* Between a message's segments and its copy. */
static void copy(const struct quadrille_step* step, const struct quadrille_message* message) {
  char* aside = message->aside;
  for (int i = message->first; i < message->first + message->count; i++) {
    const struct quadrille_segment* segment = &step->segments[i];
    memcpy(message->receives ? segment->address : aside,
           message->receives ? aside : segment->address, (size_t)segment->bytes);
    aside += segment->bytes;
  }
}

void quadrille_transfer_sends(struct quadrille_binding* binding, struct quadrille_step* step) {
  for (int i = 0; i < step->message_count; i++) {
    if (step->messages[i].receives) continue;
    if (step->messages[i].aside) copy(step, &step->messages[i]);
    post_message(binding, step, i);
  }
}

void quadrille_transfer_land(const struct quadrille_step* step) {
  for (int i = 0; i < step->message_count; i++)
    if (step->messages[i].receives && step->messages[i].aside) copy(step, &step->messages[i]);
}
