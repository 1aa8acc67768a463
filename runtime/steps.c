/* The walk as a sequence of steps and copies, for users that need to see a step as a whole. */
#include <stdlib.h>
#include <string.h>

#include "runtime/internal.h"

void quadrille_steps_start(struct quadrille_steps* steps, const struct quadrille_program* program,
                           const struct quadrille_tables* tables,
                           const struct quadrille_place* place) {
  memset(steps, 0, sizeof *steps);
  steps->run_done = -1;
  quadrille_walk_start(&steps->walker, program, tables, place);
}

void quadrille_steps_end(struct quadrille_steps* steps) {
  free(steps->messages);
  memset(steps, 0, sizeof *steps);
}

static int add_message(struct quadrille_steps* steps, struct quadrille_step_message message) {
  if (steps->message_count == steps->message_room) {
    const int room = steps->message_room ? 2 * steps->message_room : 8;
    struct quadrille_step_message* grown = realloc(steps->messages, (size_t)room * sizeof *grown);
    if (!grown) return 0;
    steps->messages = grown;
    steps->message_room = room;
  }
  steps->messages[steps->message_count++] = message;
  return 1;
}

static int64_t value_at(struct quadrille_value value, int64_t iteration) {
  return value.value + iteration * value.stride;
}

/* The next step of the run. */
static enum quadrille_steps_result run_step(struct quadrille_steps* steps) {
  const struct quadrille_run* run = &steps->event.run;
  const struct quadrille_run_step* step = &run->steps[steps->run_steps];
  const int64_t at = steps->run_done;
  steps->key = value_at(step->key, at);
  steps->has_after = step->has_after;
  steps->after = step->has_after ? value_at(step->after, at) : 0;
  for (int i = 0; i < step->message_count; i++) {
    const struct quadrille_run_message* m = &run->messages[steps->run_messages++];
    if (!add_message(steps, (struct quadrille_step_message){
                                m->flags, m->is_token, m->buffer, value_at(m->peer, at),
                                m->is_token ? 0 : value_at(m->block, at)}))
      return QUADRILLE_STEPS_NO_MEMORY;
  }
  if (++steps->run_steps == run->step_count) {
    steps->run_steps = steps->run_messages = 0;
    if (++steps->run_done == run->count) steps->run_done = -1;
  }
  return QUADRILLE_STEPS_STEP;
}

enum quadrille_steps_result quadrille_steps_next(struct quadrille_steps* steps) {
  struct quadrille_event* event = &steps->event;
  if (!steps->in_step) steps->message_count = 0;
  if (steps->run_done >= 0) return run_step(steps);
  for (;;) {
    quadrille_walk_next(&steps->walker, event);
    switch (event->kind) {
      case QUADRILLE_EVENT_STEP:
        steps->in_step = 1;
        steps->key = event->key;
        steps->has_after = event->has_after;
        steps->after = event->after;
        break;
      case QUADRILLE_EVENT_PIECE_MESSAGE:
        if (!add_message(steps,
                         (struct quadrille_step_message){event->flags, 0, event->piece.buffer,
                                                         event->peer, event->piece.block}))
          return QUADRILLE_STEPS_NO_MEMORY;
        break;
      case QUADRILLE_EVENT_MESSAGE: /* a token: binding refuses messages of several pieces */
        if (!add_message(steps,
                         (struct quadrille_step_message){event->flags, 1, 0, event->peer, 0}))
          return QUADRILLE_STEPS_NO_MEMORY;
        break;
      case QUADRILLE_EVENT_STEP_END: steps->in_step = 0; return QUADRILLE_STEPS_STEP;
      case QUADRILLE_EVENT_COPY: return QUADRILLE_STEPS_COPY;
      case QUADRILLE_EVENT_RUN: steps->run_done = 0; return run_step(steps);
      case QUADRILLE_EVENT_END: return QUADRILLE_STEPS_END;
      case QUADRILLE_EVENT_UNDEFINED: return QUADRILLE_STEPS_UNDEFINED;
      default: break; /* the end of a token */
    }
  }
}
