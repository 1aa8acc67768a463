/* Steps under way, and what each of them waits for.
 *
 * Receives are posted as soon as the window has room for their step, whatever the step waits for:
 * an allgather receives every byte once and sends only what it holds, so nothing is read, or
 * written, where a message is awaited. Sends wait until all that comes in with earlier steps, up to
 * the one that theirs names, is there. So a rank has receives posted ahead of what arrives, and
 * forwards a block as soon as it came.
 *
 * There is no other waiting than for the oldest message that is to arrive and the oldest one that
 * is to go, whichever is over first: whatever a schedule's steps, one after the other, would bring
 * about, happens here too. Errors do not stop a call, so that the other ranks are served.
 *
 * What every message passes through is inline. */
#ifndef QUADRILLE_RUNTIME_PIPELINE_H_
#define QUADRILLE_RUNTIME_PIPELINE_H_

#include <limits.h>

#include "runtime/internal.h"

#define QUADRILLE_INLINE inline __attribute__((always_inline))

/* Contiguous bytes of a message. */
struct quadrille_segment {
  char* address;
  int64_t bytes;
};

/* Where a message lies: at an address, also a copy of several segments; in the step's segments,
 * where the address is NULL; nowhere, where it is a token. */
struct quadrille_message {
  char* address;
  int64_t bytes;
  int peer;         /* rank in the communicator */
  int first, count; /* of the step's segments; none where it lies at one address */
};

/* The messages of a step in one direction. */
struct quadrille_direction {
  int count, room, waited; /* waited: so many are over */
  struct quadrille_message* messages;
  MPI_Request* requests;
};

/* A step: gathered from the walk, then under way until all of it is over. */
struct quadrille_step {
  int64_t key, after, sent_bytes;
  struct quadrille_direction receives, sends;
  int is_plain; /* every message lies at one address and is no longer than an int counts */
  int segment_count, segment_room;
  struct quadrille_segment* segments;
  char* room; /* for copies, kept for later steps */
  int64_t room_size;
};

/* Steps by their number in the call, modulo a power of two that is no less than the window:
 * received <= next, gone <= sent <= next. */
struct quadrille_pipeline {
  struct quadrille_step* steps;
  uint64_t window, mask;
  uint64_t received; /* the first that lacks a message */
  uint64_t gone;     /* the first whose sends are not over */
  uint64_t sent;     /* the first whose sends are not posted */
  uint64_t next;     /* that is being gathered */
  int64_t going;     /* bytes of the sends that are not over */
  int64_t at_once;   /* how many these may be, where they are several steps' */
  int error;         /* the first MPI error, or MPI_SUCCESS */
  MPI_Comm comm;
  /* MPI_Isend or MPI_Issend */
  int (*send)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
};

/* Messages that are sent at the same time share the wire, and all of them arrive late: no more
 * bytes than keep it busy, 10 us at 100 Gbit/s. A block size that is chosen by alpha and beta is the
 * best for one message at a time. */
enum { QUADRILLE_SENT_AT_ONCE = 1 << 17, QUADRILLE_FEW_MESSAGES = 4 };

/* `program`: NULL where its block size is not what calls use. */
int quadrille_pipeline_open(struct quadrille_pipeline* pipeline,
                            const struct quadrille_program* program, int window);
void quadrille_pipeline_close(struct quadrille_pipeline* pipeline);
/* Waits until so many steps are over since it was opened. */
void quadrille_pipeline_wait(struct quadrille_pipeline* pipeline, uint64_t steps);
/* Gives up what is under way, without waiting. */
void quadrille_pipeline_abandon(struct quadrille_pipeline* pipeline);

/* step.c: a step as it is gathered. Where these return 0, memory ran out. */
void quadrille_step_close(struct quadrille_step* step);
/* For QUADRILLE_FEW_MESSAGES in each direction. */
int quadrille_step_open_room(struct quadrille_step* step);
int quadrille_step_grow(struct quadrille_direction* direction);
int quadrille_step_segment(struct quadrille_step* step, struct quadrille_message* message,
                           char* address, int64_t bytes);
/* Fills a message that has begun with the segments that one of another step has. */
int quadrille_step_take_segments(struct quadrille_step* step, struct quadrille_message* message,
                                 const struct quadrille_step* other,
                                 const struct quadrille_message* from);

/* transfer.c: messages `first` to `end` of a step that is not plain: posts them, and puts them away
 * when they have arrived. */
void quadrille_transfer_begin(struct quadrille_step* step);
void quadrille_transfer_receive(struct quadrille_pipeline* pipeline,
                                const struct quadrille_step* step, int first, int end);
void quadrille_transfer_send(struct quadrille_pipeline* pipeline, const struct quadrille_step* step,
                             int first, int end);
void quadrille_transfer_land(const struct quadrille_step* step, int first, int end);

/* Notes the first error. */
static inline void quadrille_pipeline_check(struct quadrille_pipeline* pipeline, int code) {
  if (code != MPI_SUCCESS && pipeline->error == MPI_SUCCESS) pipeline->error = code;
}

/* What posting a message came to. */
static inline void quadrille_pipeline_posted(struct quadrille_pipeline* pipeline,
                                             MPI_Request* request, int code) {
  if (code == MPI_SUCCESS) return;
  *request = MPI_REQUEST_NULL;
  quadrille_pipeline_check(pipeline, code);
}

/* Where `after` is no earlier step, it waits for all of them. */
static inline void quadrille_step_open(struct quadrille_step* step, int64_t key, int64_t after) {
  step->key = key;
  step->after = after;
  step->sent_bytes = 0;
  step->receives.count = step->receives.waited = 0;
  step->sends.count = step->sends.waited = 0;
  step->is_plain = 1;
  step->segment_count = 0;
}

/* A message begins, for which there is room: a token until pieces follow. */
static inline struct quadrille_message* quadrille_step_message(
    const struct quadrille_step* step, struct quadrille_direction* direction, int peer) {
  struct quadrille_message* message = &direction->messages[direction->count++];
  message->address = NULL;
  message->bytes = 0;
  message->peer = peer;
  message->first = step->segment_count;
  message->count = 0;
  return message;
}

/* One more piece, of at least one byte. */
static inline int quadrille_step_piece(struct quadrille_step* step,
                                       struct quadrille_message* message, char* address,
                                       int64_t bytes) {
  if (message->bytes == 0)
    message->address = address;
  else if (message->count > 0 || message->address + message->bytes != address)
    return quadrille_step_segment(step, message, address, bytes);
  message->bytes += bytes;
  if (message->bytes > INT_MAX) step->is_plain = 0;
  return 1;
}

/* A message like one of another step, for which there is room. */
static QUADRILLE_INLINE int quadrille_step_take(struct quadrille_step* step,
                                                struct quadrille_direction* direction,
                                                const struct quadrille_step* other,
                                                const struct quadrille_message* from) {
  struct quadrille_message* message = quadrille_step_message(step, direction, from->peer);
  if (from->count > 0) return quadrille_step_take_segments(step, message, other, from);
  message->address = from->address;
  message->bytes = from->bytes;
  if (from->bytes > INT_MAX) step->is_plain = 0;
  return 1;
}

static inline struct quadrille_step* quadrille_step_at(const struct quadrille_pipeline* p,
                                                       uint64_t number) {
  return &p->steps[number & p->mask];
}

/* Posts messages `first` to `end` of the step. */
static QUADRILLE_INLINE void quadrille_pipeline_receive(struct quadrille_pipeline* p,
                                                        struct quadrille_step* step, int first,
                                                        int end) {
  const struct quadrille_direction* d = &step->receives;
  if (!step->is_plain) return quadrille_transfer_receive(p, step, first, end);
  for (int i = first; i < end; i++) {
    const struct quadrille_message* m = &d->messages[i];
    quadrille_pipeline_posted(p, &d->requests[i],
                              MPI_Irecv(m->address, (int)m->bytes, MPI_BYTE, m->peer,
                                        QUADRILLE_DATA_TAG, p->comm, &d->requests[i]));
  }
}

static QUADRILLE_INLINE void quadrille_pipeline_send(struct quadrille_pipeline* p,
                                                     struct quadrille_step* step, int first,
                                                     int end) {
  const struct quadrille_direction* d = &step->sends;
  if (!step->is_plain) return quadrille_transfer_send(p, step, first, end);
  for (int i = first; i < end; i++) {
    const struct quadrille_message* m = &d->messages[i];
    quadrille_pipeline_posted(p, &d->requests[i],
                              p->send(m->address, (int)m->bytes, MPI_BYTE, m->peer,
                                      QUADRILLE_DATA_TAG, p->comm, &d->requests[i]));
  }
}

/* Posts the sends that need not wait any more, in the order of their steps; some are not posted. */
static QUADRILLE_INLINE void quadrille_pipeline_release(struct quadrille_pipeline* p) {
  do {
    struct quadrille_step* step = quadrille_step_at(p, p->sent);
    if (p->received < p->sent && quadrille_step_at(p, p->received)->key <= step->after) return;
    const int64_t going = p->going + step->sent_bytes;
    if (going > p->at_once && p->going > 0) return;
    quadrille_pipeline_send(p, step, 0, step->sends.count);
    p->going = going;
    if (step->sends.count == 0 && p->gone == p->sent) p->gone++;
    p->sent++;
  } while (p->sent < p->next);
}

/* Goes on from a step of which everything has arrived. */
static inline void quadrille_pipeline_land(struct quadrille_pipeline* p) {
  do {
    struct quadrille_step* step = quadrille_step_at(p, p->received++);
    if (!step->is_plain) quadrille_transfer_land(step, 0, step->receives.count);
  } while (p->received < p->next && quadrille_step_at(p, p->received)->receives.count == 0);
}

/* Room for the next step, and in it for a few messages; waits where the window is full. NULL where
 * memory ran out. */
static inline struct quadrille_step* quadrille_pipeline_step(struct quadrille_pipeline* p) {
  const uint64_t leaving = p->next - p->window; /* must be over; no step's number at first */
  if (p->received == leaving || p->gone == leaving) quadrille_pipeline_wait(p, leaving + 1);
  struct quadrille_step* step = quadrille_step_at(p, p->next);
  if (step->receives.room == 0 && !quadrille_step_open_room(step)) return NULL;
  return step;
}

/* Takes in that step. */
static QUADRILLE_INLINE void quadrille_pipeline_add(struct quadrille_pipeline* p,
                                                    struct quadrille_step* step) {
  if (step->receives.count + step->sends.count == 0) return;
  if (!step->is_plain) quadrille_transfer_begin(step);
  quadrille_pipeline_receive(p, step, 0, step->receives.count);
  if (p->received == p->next++ && step->receives.count == 0) quadrille_pipeline_land(p);
  quadrille_pipeline_release(p);
}

#endif /* QUADRILLE_RUNTIME_PIPELINE_H_ */
