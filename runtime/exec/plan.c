/* The memory of plans, and of what makes them. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/builder.h"
#include "runtime/internal.h"

enum {
  /* Of what is planned in the call, a plan of more would begin late; of what is planned when it is bound,
   * it would take more than a few megabytes. */
  MOST_IN_A_CALL = 1 << 12,
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
  if (!quadrille_is_counted(program)) return INT64_MAX;
  /* A block size chosen by what messages and bytes cost is the best for one message at a time. */
  for (int i = 0; binding->block_size == 0 && i < program->parameter_count; i++)
    if (program->beta_ps[i] > 0) return 0;
  return QUADRILLE_SENT_AT_ONCE;
}

/* Of a plan that is made in the call, room for all that it takes: up to where it is full, and a step with
 * a message from and to each rank. An operation waits for a message, or posts one. */
static int make_room(struct quadrille_plan* plan, const struct quadrille_place* place) {
  const int64_t messages = MOST_IN_A_CALL + place->ranks + place->remote_ranks;
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

/* Where lengths are known to all ranks. */
static int open_known(struct quadrille_builder* b, int in_place) {
  const struct quadrille_binding* binding = b->binding;
  const struct quadrille_program* program = &binding->loaded->program;
  struct quadrille_plan* plan = b->plan;
  const size_t temporaries = (size_t)plan->temporaries;
  const size_t blocks = (size_t)binding->known[QUADRILLE_PIECE_RECEIVE].blocks + temporaries;
  b->is_counted = 1;
  b->gathers = program->collective == QUADRILLE_ALLGATHER && program->groups == 1;
  b->in_place = in_place || b->gathers;
  b->own_block = b->gathers ? binding->place.rank : 0;
  b->unit = 1;
  plan->receive_blocks = binding->known[QUADRILLE_PIECE_RECEIVE].blocks;
  plan->places = QUADRILLE_TEMPORARY_PLACES + plan->temporaries;
  b->touched = malloc((blocks + 1) * sizeof *b->touched);
  b->temporaries = calloc(temporaries + 1, sizeof *b->temporaries);
  return b->touched && b->temporaries && make_room(plan, &binding->place);
}

/* Where they are known to both ends alone. */
static int open_blocks(struct quadrille_builder* b, int in_place) {
  const struct quadrille_binding* binding = b->binding;
  const struct quadrille_program* program = &binding->loaded->program;
  const struct quadrille_place* place = &binding->place;
  struct quadrille_plan* plan = b->plan;
  const int is_alltoall = program->collective == QUADRILLE_ALLTOALL;
  int32_t blocks[2];
  quadrille_block_counts(program, place, blocks);
  plan->send_blocks = blocks[QUADRILLE_PIECE_SEND];
  plan->receive_blocks = blocks[QUADRILLE_PIECE_RECEIVE];
  plan->places = plan->send_blocks + plan->receive_blocks + plan->temporaries;
  b->goes_by_rank = is_alltoall;
  plan->is_typed = !program->has_sized && !program->has_temporaries && !program->has_several_pieces;
  if (plan->is_typed) b->waiting = 0;
  plan->own_send = plan->own_receive = -1;
  if (program->groups == 1 && plan->send_blocks > 0 && plan->receive_blocks > 0) {
    plan->own_send = plan->send_blocks > 1 ? binding->own : 0;
    plan->own_receive = plan->send_blocks + (plan->receive_blocks > 1 ? binding->own : 0);
  }
  b->holders = malloc(((size_t)plan->temporaries + 1) * sizeof *b->holders);
  if (!in_place || !is_alltoall) return b->holders != NULL;
  b->sent_as = malloc((size_t)plan->send_blocks * sizeof *b->sent_as);
  b->saved_in = malloc((size_t)plan->send_blocks * sizeof *b->saved_in);
  return b->holders && b->sent_as && b->saved_in;
}

int quadrille_builder_open(struct quadrille_builder* b, const struct quadrille_binding* binding,
                           struct quadrille_plan* plan, const struct quadrille_tables* tables,
                           int in_place, int whole) {
  const int is_counted = quadrille_is_counted(&binding->loaded->program);
  memset(b, 0, sizeof *b);
  memset(plan, 0, sizeof *plan);
  b->plan = plan;
  b->binding = binding;
  b->window = binding->window;
  b->at_once = bytes_at_once(binding);
  b->most_messages = is_counted ? MOST_IN_A_CALL : MOST_MESSAGES;
  plan->temporaries = (int32_t)tables->temporary_blocks;
  if (whole || (plan->temporaries > 0 && !is_counted)) b->most_messages = INT_MAX;
  b->waiting = b->window <= MOST_WAITING ? b->window - 1 : MOST_WAITING;
  const uint32_t ring = quadrille_power_of_two(b->window);
  b->mask = ring - 1;
  b->ring = malloc(ring * sizeof *b->ring);
  const int opened = is_counted ? open_known(b, in_place) : open_blocks(b, in_place);
  return opened && b->ring;
}

void quadrille_builder_forget_known(struct quadrille_builder* b) {
  const size_t temporaries = (size_t)b->plan->temporaries;
  const size_t blocks = (size_t)b->plan->receive_blocks + temporaries;
  memset(b->touched, 0, blocks * sizeof *b->touched);
  for (size_t i = 0; i < temporaries; i++) b->temporaries[i].length = -1;
}

void quadrille_builder_close(struct quadrille_builder* b) {
  free(b->ring);
  free(b->touched);
  free(b->temporaries);
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
