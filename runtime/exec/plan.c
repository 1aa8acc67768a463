/* The memory of plans, and of what makes them. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/builder.h"
#include "runtime/internal.h"

enum {
  /* Of an allgather, which is planned in the call, a plan of more would begin late; of an all-to-all,
   * which is planned when it is bound, it would take more than a few megabytes. */
  MOST_GATHERED = 1 << 12,
  MOST_MESSAGES = 1 << 16,
  MOST_WAITING = 64 /* steps whose sends wait, whatever the window */
};

int quadrille_grow(void** array, int32_t* room, size_t size) {
  const int32_t wanted = *room > 0 ? 2 * *room : 16;
  void* grown = *room > INT_MAX / 2 ? NULL : realloc(*array, (size_t)wanted * size);
  if (!grown) return 0;
  *array = grown;
  *room = wanted;
  return 1;
}

static int64_t bytes_at_once(const struct quadrille_binding* binding) {
  const struct quadrille_program* program = &binding->loaded->program;
  if (program->collective != QUADRILLE_ALLGATHER) return INT64_MAX;
  /* A block size chosen by what messages and bytes cost is the best for one message at a time. */
  for (int i = 0; binding->block_size == 0 && i < program->parameter_count; i++)
    if (program->beta_ps[i] > 0) return 0;
  return QUADRILLE_SENT_AT_ONCE;
}

/* Of an allgather, whose plan is made in the call, room for all that it takes: up to where it is full,
 * and a step with a message from and to each rank. An operation waits for a message, or posts one. */
static int make_room(struct quadrille_plan* plan) {
  const int64_t messages = MOST_GATHERED + (int64_t)plan->ranks;
  const int64_t operations = 4 * messages;
  struct quadrille_messages *receives = &plan->receives, *sends = &plan->sends;
  if (operations > INT_MAX) return 0;
  receives->all = malloc((size_t)messages * sizeof *receives->all);
  sends->all = malloc((size_t)messages * sizeof *sends->all);
  plan->operations = malloc((size_t)operations * sizeof *plan->operations);
  receives->room = sends->room = (int32_t)messages;
  plan->operation_room = (int32_t)operations;
  return receives->all && sends->all && plan->operations;
}

int quadrille_builder_open(struct quadrille_builder* b, const struct quadrille_binding* binding,
                           struct quadrille_plan* plan, const struct quadrille_tables* tables,
                           int in_place, int whole) {
  const struct quadrille_program* program = &binding->loaded->program;
  const size_t ranks = (size_t)binding->place.ranks, temporaries = (size_t)tables->temporary_blocks;
  memset(b, 0, sizeof *b);
  memset(plan, 0, sizeof *plan);
  b->plan = plan;
  b->binding = binding;
  b->window = binding->window;
  b->at_once = bytes_at_once(binding);
  b->most_messages = MOST_MESSAGES;
  if (program->collective == QUADRILLE_ALLGATHER) b->most_messages = MOST_GATHERED;
  if (whole || temporaries > 0) b->most_messages = INT_MAX;
  plan->ranks = (int32_t)ranks;
  plan->places = (int32_t)(2 * ranks + temporaries);
  plan->is_typed = program->collective == QUADRILLE_ALLTOALL && !program->has_sized &&
                   !program->has_temporaries && !program->has_several_pieces;
  b->waiting = b->window <= MOST_WAITING ? b->window - 1 : MOST_WAITING;
  if (plan->is_typed) b->waiting = 0;
  const uint32_t ring = quadrille_power_of_two(b->window);
  b->mask = ring - 1;
  b->ring = malloc(ring * sizeof *b->ring);
  int opened = b->ring != NULL;
  if (program->collective == QUADRILLE_ALLGATHER) {
    b->counts = binding->counts;
    b->offsets = binding->offsets;
    b->touched = malloc(ranks * sizeof *b->touched);
    opened &= b->touched && make_room(plan);
  } else {
    b->holders = malloc((temporaries + 1) * sizeof *b->holders);
    opened &= b->holders != NULL;
  }
  if (!in_place || b->counts) return opened;
  b->sent_as = malloc(ranks * sizeof *b->sent_as);
  b->saved_in = malloc(ranks * sizeof *b->saved_in);
  return opened && b->sent_as && b->saved_in;
}

void quadrille_builder_close(struct quadrille_builder* b) {
  free(b->ring);
  free(b->touched);
  free(b->holders);
  free(b->sent_as);
  free(b->saved_in);
  free(b->buffers);
  b->ring = NULL;
}

void quadrille_plan_destroy(struct quadrille_plan* plan) {
  free(plan->receives.all);
  free(plan->sends.all);
  free(plan->parts);
  free(plan->operations);
  free(plan->copies);
  memset(plan, 0, sizeof *plan);
}
