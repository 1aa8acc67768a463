/* Messages that are not simply bytes at an address. One of several segments is copied together in
 * the step's room, where it is short; else, and where it is longer than an int counts, a datatype
 * describes it. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/pipeline.h"

/* A longer message of several segments is described by a datatype. */
enum { COPIED_TOGETHER = 1 << 18, ALIGNMENT = 16 };

static int is_copied(const struct quadrille_message* message) {
  return message->count > 0 && message->bytes <= COPIED_TOGETHER;
}

static int64_t aligned(int64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static int64_t copied_bytes(const struct quadrille_direction* direction) {
  int64_t bytes = 0;
  for (int i = 0; i < direction->count; i++)
    if (is_copied(&direction->messages[i])) bytes += aligned(direction->messages[i].bytes);
  return bytes;
}

static char* give_room(struct quadrille_direction* direction, char* room) {
  for (int i = 0; i < direction->count; i++) {
    struct quadrille_message* message = &direction->messages[i];
    if (!is_copied(message)) continue;
    message->address = room;
    room += aligned(message->bytes);
  }
  return room;
}

/* Without memory, all of them are described by datatypes. */
void quadrille_transfer_begin(struct quadrille_step* step) {
  const int64_t bytes = copied_bytes(&step->receives) + copied_bytes(&step->sends);
  if (bytes > step->room_size) {
    free(step->room);
    step->room = malloc((size_t)bytes);
    step->room_size = step->room ? bytes : 0;
  }
  if (step->room && bytes > 0) give_room(&step->sends, give_room(&step->receives, step->room));
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

/* Whether a message is bytes at its address, as many as an int counts. */
static int is_plain(const struct quadrille_message* message) {
  return message->bytes <= INT_MAX && (message->address || message->bytes == 0);
}

static int post(const struct quadrille_pipeline* p, const struct quadrille_step* step, int receives,
                const struct quadrille_message* message, MPI_Request* request) {
  const struct quadrille_segment whole = {message->address, message->bytes};
  const int tag = QUADRILLE_DATA_TAG, peer = message->peer;
  MPI_Datatype type = MPI_BYTE;
  char* address = message->address;
  int code = MPI_SUCCESS, count = (int)message->bytes;
  if (!is_plain(message)) {
    code = address ? make_type(&whole, 1, &type)
                   : make_type(&step->segments[message->first], message->count, &type);
    address = MPI_BOTTOM;
    count = 1;
  }
  if (code != MPI_SUCCESS) return code;
  code = receives ? MPI_Irecv(address, count, type, peer, tag, p->comm, request)
                  : p->send(address, count, type, peer, tag, p->comm, request);
  if (type != MPI_BYTE) MPI_Type_free(&type);
  return code;
}

/* Between a message's segments and its copy. */
static void copy(const struct quadrille_step* step, const struct quadrille_message* message,
                 int receives) {
  char* copied = message->address;
  for (int i = message->first; copied && i < message->first + message->count; i++) {
    const struct quadrille_segment* segment = &step->segments[i];
    memcpy(receives ? segment->address : copied, receives ? copied : segment->address,
           (size_t)segment->bytes);
    copied += segment->bytes;
  }
}

void quadrille_transfer_post(struct quadrille_pipeline* pipeline, struct quadrille_step* step,
                             int receives) {
  const struct quadrille_direction* direction = receives ? &step->receives : &step->sends;
  for (int i = 0; i < direction->count; i++) {
    if (!receives) copy(step, &direction->messages[i], 0);
    const int code =
        post(pipeline, step, receives, &direction->messages[i], &direction->requests[i]);
    if (code == MPI_SUCCESS) continue;
    direction->requests[i] = MPI_REQUEST_NULL;
    quadrille_pipeline_check(pipeline, code);
  }
}

void quadrille_transfer_land(const struct quadrille_step* step) {
  for (int i = 0; i < step->receives.count; i++) copy(step, &step->receives.messages[i], 1);
}
