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

/* Posts a message that no datatype describes. */
static inline int post_bytes(const struct quadrille_pipeline* p, int receives,
                             const struct quadrille_message* m, MPI_Request* request) {
  const int tag = QUADRILLE_DATA_TAG;
  return receives ? MPI_Irecv(m->address, (int)m->bytes, MPI_BYTE, m->peer, tag, p->comm, request)
                  : p->send(m->address, (int)m->bytes, MPI_BYTE, m->peer, tag, p->comm, request);
}

static int post_typed(const struct quadrille_pipeline* p, const struct quadrille_step* step,
                      int receives, const struct quadrille_message* m, MPI_Request* request) {
  const struct quadrille_segment whole = {m->address, m->bytes};
  const int tag = QUADRILLE_DATA_TAG;
  MPI_Datatype type;
  int code = m->address ? make_type(&whole, 1, &type)
                        : make_type(&step->segments[m->first], m->count, &type);
  if (code != MPI_SUCCESS) return code;
  code = receives ? MPI_Irecv(MPI_BOTTOM, 1, type, m->peer, tag, p->comm, request)
                  : p->send(MPI_BOTTOM, 1, type, m->peer, tag, p->comm, request);
  MPI_Type_free(&type);
  return code;
}

static inline int post(const struct quadrille_pipeline* p, const struct quadrille_step* step,
                       int receives, const struct quadrille_message* m, MPI_Request* request) {
  const int is_typed = m->bytes > INT_MAX || (!m->address && m->bytes > 0);
  return is_typed ? post_typed(p, step, receives, m, request) : post_bytes(p, receives, m, request);
}

/* Between a message's segments and its copy, where it has one. */
static inline void copy(const struct quadrille_step* step, const struct quadrille_message* message,
                        int receives) {
  if (message->count == 0 || !message->address) return;
  const struct quadrille_segment* segment = &step->segments[message->first];
  char* copied = message->address;
  for (int left = message->count; left > 0; left--, segment++) {
    memcpy(receives ? segment->address : copied, receives ? copied : segment->address,
           (size_t)segment->bytes);
    copied += segment->bytes;
  }
}

void quadrille_transfer_receive(struct quadrille_pipeline* pipeline,
                                const struct quadrille_step* step, int first, int end) {
  const struct quadrille_direction* d = &step->receives;
  for (int i = first; i < end; i++)
    quadrille_pipeline_posted(pipeline, &d->requests[i],
                              post(pipeline, step, 1, &d->messages[i], &d->requests[i]));
}

void quadrille_transfer_send(struct quadrille_pipeline* pipeline, const struct quadrille_step* step,
                             int first, int end) {
  const struct quadrille_direction* d = &step->sends;
  for (int i = first; i < end; i++) {
    copy(step, &d->messages[i], 0);
    quadrille_pipeline_posted(pipeline, &d->requests[i],
                              post(pipeline, step, 0, &d->messages[i], &d->requests[i]));
  }
}

void quadrille_transfer_land(const struct quadrille_step* step, int first, int end) {
  for (int i = first; i < end; i++) copy(step, &step->receives.messages[i], 1);
}
