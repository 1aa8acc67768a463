/* Pipelines as a whole. */
#include "runtime/pipeline.h"

#include <stdlib.h>
#include <string.h>

static int64_t at_once(const struct quadrille_program* program) {
  for (int i = 0; program && i < program->parameter_count; i++)
    if (program->beta_ps[i] > 0) return 0;
  return QUADRILLE_SENT_AT_ONCE;
}

int quadrille_pipeline_open(struct quadrille_pipeline* pipeline,
                            const struct quadrille_program* program, int window) {
  const uint64_t room = quadrille_power_of_two(window);
  memset(pipeline, 0, sizeof *pipeline);
  pipeline->steps = calloc(room, sizeof *pipeline->steps);
  pipeline->window = (uint64_t)window;
  pipeline->mask = room - 1;
  pipeline->at_once = at_once(program);
  return pipeline->steps != NULL;
}

void quadrille_pipeline_close(struct quadrille_pipeline* pipeline) {
  for (uint64_t i = 0; pipeline->steps && i <= pipeline->mask; i++)
    quadrille_step_close(&pipeline->steps[i]);
  free(pipeline->steps);
  memset(pipeline, 0, sizeof *pipeline);
}

static inline struct quadrille_direction* receives_of(const struct quadrille_pipeline* p) {
  return &quadrille_step_at(p, p->received)->receives;
}

static inline struct quadrille_direction* sends_of(const struct quadrille_pipeline* p) {
  return &quadrille_step_at(p, p->gone)->sends;
}

/* A message is there. */
static inline void note_receive(struct quadrille_pipeline* p,
                                struct quadrille_direction* receives) {
  if (++receives->waited == receives->count) quadrille_pipeline_land(p);
}

/* A message is gone. */
static inline void note_send(struct quadrille_pipeline* p, struct quadrille_direction* sends) {
  if (++sends->waited < sends->count) return;
  do p->going -= quadrille_step_at(p, p->gone++)->sent_bytes;
  while (p->gone < p->sent && quadrille_step_at(p, p->gone)->sends.count == 0);
}

/* Waits for the first message of a direction. */
static inline struct quadrille_direction* wait_for(struct quadrille_pipeline* p,
                                                   struct quadrille_direction* direction) {
  const int code = MPI_Wait(&direction->requests[direction->waited], MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) quadrille_pipeline_check(p, code);
  return direction;
}

/* Waits for whichever is over first, as sends are to be posted after either. */
static inline void wait_for_any(struct quadrille_pipeline* p) {
  struct quadrille_direction *receives = receives_of(p), *sends = sends_of(p);
  if (p->received == p->next) {
    note_send(p, wait_for(p, sends));
  } else if (p->gone == p->sent) {
    note_receive(p, wait_for(p, receives));
  } else {
    MPI_Request both[2] = {receives->requests[receives->waited], sends->requests[sends->waited]};
    int sent = 0;
    const int code = MPI_Waitany(2, both, &sent, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) quadrille_pipeline_check(p, code);
    if (sent == 1)
      note_send(p, sends);
    else
      note_receive(p, receives);
  }
  quadrille_pipeline_release(p);
}

void quadrille_pipeline_wait(struct quadrille_pipeline* p, uint64_t steps) {
  while (p->received < steps || p->gone < steps) {
    if (p->sent < p->next)
      wait_for_any(p);
    else if (p->received < steps)
      note_receive(p, wait_for(p, receives_of(p)));
    else
      note_send(p, wait_for(p, sends_of(p)));
  }
}

static void abandon(struct quadrille_direction* direction) {
  for (; direction->waited < direction->count; direction->waited++) {
    MPI_Request* request = &direction->requests[direction->waited];
    if (*request == MPI_REQUEST_NULL) continue;
    MPI_Cancel(request);
    MPI_Request_free(request);
  }
}

void quadrille_pipeline_abandon(struct quadrille_pipeline* p) {
  const uint64_t oldest = p->received < p->gone ? p->received : p->gone;
  for (uint64_t number = oldest; number < p->next; number++) {
    abandon(&quadrille_step_at(p, number)->receives);
    if (number < p->sent) abandon(&quadrille_step_at(p, number)->sends);
  }
  p->received = p->gone = p->sent = p->next;
  p->going = 0;
}
