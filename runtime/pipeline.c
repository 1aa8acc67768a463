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
 * about, happens here too. Errors do not stop a call, so that the other ranks are served. */
#include <stdlib.h>
#include <string.h>

#include "runtime/execution.h"

/* Messages that are sent at the same time share the wire, and all of them arrive late: no more
 * bytes than keep it busy, 10 us at 100 Gbit/s. */
enum { SENT_AT_ONCE = 1 << 17 };

int quadrille_pipeline_open(struct quadrille_pipeline* pipeline, int window) {
  uint64_t room = 1;
  while (room < (uint64_t)window) room *= 2;
  memset(pipeline, 0, sizeof *pipeline);
  pipeline->steps = calloc(room, sizeof *pipeline->steps);
  pipeline->window = (uint64_t)window;
  pipeline->mask = room - 1;
  return pipeline->steps != NULL;
}

void quadrille_pipeline_close(struct quadrille_pipeline* pipeline) {
  for (uint64_t i = 0; pipeline->steps && i <= pipeline->mask; i++)
    quadrille_step_close(&pipeline->steps[i]);
  free(pipeline->steps);
  memset(pipeline, 0, sizeof *pipeline);
}

static inline struct quadrille_step* step_at(const struct quadrille_pipeline* p, uint64_t number) {
  return &p->steps[number & p->mask];
}

/* Posts the sends that need not wait any more, in the order of their steps. */
static void release(struct quadrille_binding* binding, struct quadrille_pipeline* p) {
  while (p->sent < p->next) {
    struct quadrille_step* step = step_at(p, p->sent);
    if (p->received < p->sent && step_at(p, p->received)->key <= step->after) return;
    if (p->going > 0 && p->going + step->sent_bytes > SENT_AT_ONCE) return;
    quadrille_transfer_sends(binding, step);
    p->going += step->sent_bytes;
    p->sent++;
  }
}

/* The next message, from `*waited` on, that still has to come, or to go; NULL where there is none. */
static MPI_Request* unfinished(struct quadrille_step* step, int* waited, int receives) {
  for (; *waited < step->message_count; ++*waited)
    if (step->messages[*waited].receives == receives && step->requests[*waited] != MPI_REQUEST_NULL)
      return &step->requests[*waited];
  return NULL;
}

static void wait(struct quadrille_pipeline* p, MPI_Request* receive, MPI_Request* send) {
  MPI_Request both[2];
  int code, done = 0;
  if (!receive || !send) {
    MPI_Request* one = receive ? receive : send;
    code = MPI_Wait(one, MPI_STATUS_IGNORE);
    *one = MPI_REQUEST_NULL;
  } else {
    both[0] = *receive;
    both[1] = *send;
    code = MPI_Waitany(2, both, &done, MPI_STATUS_IGNORE);
    *(done == 1 ? send : receive) = MPI_REQUEST_NULL;
  }
  if (code != MPI_SUCCESS) quadrille_pipeline_check(p, code);
}

/* Goes on, at least by one message; there is a step under way. */
static void advance(struct quadrille_binding* binding, struct quadrille_pipeline* p) {
  MPI_Request *receive = NULL, *send = NULL;
  if (p->received < p->next) {
    struct quadrille_step* step = step_at(p, p->received);
    receive = unfinished(step, &step->receives_waited, 1);
    if (!receive) {
      quadrille_transfer_land(step);
      p->received++;
      return release(binding, p);
    }
  }
  if (p->gone < p->sent) {
    struct quadrille_step* step = step_at(p, p->gone);
    send = unfinished(step, &step->sends_waited, 0);
    if (!send) {
      p->going -= step->sent_bytes;
      p->gone++;
      return release(binding, p);
    }
  }
  wait(p, receive, send);
}

/* The oldest step that is not over. */
static uint64_t first(const struct quadrille_pipeline* p) {
  return p->received < p->gone ? p->received : p->gone;
}

struct quadrille_step* quadrille_pipeline_step(struct quadrille_binding* binding) {
  struct quadrille_pipeline* p = &binding->execution->pipeline;
  while (p->next - first(p) == p->window) advance(binding, p);
  return step_at(p, p->next);
}

void quadrille_pipeline_add(struct quadrille_binding* binding) {
  struct quadrille_pipeline* p = &binding->execution->pipeline;
  struct quadrille_step* step = step_at(p, p->next);
  if (step->message_count == 0) return;
  quadrille_transfer_make_room(step);
  quadrille_transfer_receives(binding, step);
  p->next++;
  release(binding, p);
}

void quadrille_pipeline_finish(struct quadrille_binding* binding) {
  struct quadrille_pipeline* p = &binding->execution->pipeline;
  while (first(p) < p->next) advance(binding, p);
}

void quadrille_pipeline_abandon(struct quadrille_pipeline* p) {
  for (uint64_t number = first(p); number < p->next; number++) {
    struct quadrille_step* step = step_at(p, number);
    for (int i = 0; i < step->message_count; i++) {
      if (step->requests[i] == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&step->requests[i]);
      MPI_Request_free(&step->requests[i]);
    }
  }
  p->received = p->gone = p->sent = p->next;
  p->going = 0;
}
