/* Takes and frees the memory of the builder and of plans. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/plan/builder.h"

enum {
  MOST_MESSAGES = 1 << 16, /* of a plan each way: a longer plan would take many megabytes */
  MOST_WAITING = 64,       /* the most steps whose sends may wait, whatever the window */
  /* Sends in flight together share the wire, so each arrives later. This many bytes fill it: 10 us at 100 Gbit/s. */
  SENT_AT_ONCE = 1 << 17
};

/* Returns the least power of two that is at least `least`. */
static uint32_t power_of_two(int least) {
  uint32_t power = 1;
  while (power < (uint32_t)least) power *= 2;
  return power;
}

static int64_t bytes_at_once(const struct qd_plan_input* input) {
  const struct qd_program* program = input->program;
  if (!qd_has_global_counts(program)) return INT64_MAX;
  /* The cost model chose the block size for one message at a time, so sends of several steps must not overlap. */
  for (int i = 0; !input->has_block_size && i < program->parameter_count; i++)
    if (program->rules[i].beta_ps > 0) return 0;
  return SENT_AT_ONCE;
}

static int fit_known(struct qd_builder* b) {
  struct qd_plan* plan = b->plan;
  const int64_t temporaries = plan->regions.temporaries;
  plan->regions.receive_blocks = b->input.known[QD_PIECE_RECEIVE]->blocks;
  plan->regions.count = QD_TEMPORARY_REGIONS + plan->regions.temporaries;
  if (!QD_LENGTHEN(b->memory.accessed, b->memory.accessed_capacity,
                   plan->regions.receive_blocks + temporaries + 1) ||
      !QD_LENGTHEN(b->memory.temporaries, b->memory.temporary_capacity, temporaries + 1))
    return 0;
  memset(b->memory.temporaries, 0, (size_t)temporaries * sizeof *b->memory.temporaries);
  return 1;
}

/* Opens the builder for a collective in which all ranks know all counts. */
static int open_known(struct qd_builder* b, int in_place) {
  const struct qd_plan_input* input = &b->input;
  const struct qd_program* program = input->program;
  b->traits.has_global_counts = 1;
  b->traits.gathers = program->collective == QD_ALLGATHER && program->groups == 1;
  b->traits.in_place = in_place || b->traits.gathers || qd_has_one_buffer(program);
  b->traits.own_block = b->traits.gathers ? input->context->rank : 0;
  b->traits.unit = 1;
  return fit_known(b);
}

static int fit_blocks(struct qd_builder* b) {
  const struct qd_plan_input* input = &b->input;
  const struct qd_program* program = input->program;
  struct qd_plan* plan = b->plan;
  int32_t blocks[2];
  qd_block_counts(program, input->context, blocks);
  plan->regions.send_blocks = blocks[QD_PIECE_SEND];
  plan->regions.receive_blocks = blocks[QD_PIECE_RECEIVE];
  plan->regions.count =
      plan->regions.send_blocks + plan->regions.receive_blocks + plan->regions.temporaries;
  if (plan->regions.temporaries > 0) b->traits.most_messages = INT_MAX;
  plan->regions.own_send = plan->regions.own_receive = -1;
  if (program->groups == 1 && plan->regions.send_blocks > 0 && plan->regions.receive_blocks > 0) {
    plan->regions.own_send = plan->regions.send_blocks > 1 ? input->own : 0;
    plan->regions.own_receive =
        plan->regions.send_blocks + (plan->regions.receive_blocks > 1 ? input->own : 0);
  }
  return QD_LENGTHEN(b->memory.holders, b->memory.holder_capacity,
                     (int64_t)plan->regions.temporaries + 1);
}

/* Opens the builder for a collective in which only the two ends know the lengths. */
static int open_blocks(struct qd_builder* b) {
  const struct qd_program* program = b->input.program;
  struct qd_plan* plan = b->plan;
  b->traits.goes_by_rank = program->collective == QD_ALLTOALL;
  plan->is_typed =
      !program->uses.sized && !program->uses.temporaries && !program->uses.several_pieces;
  if (plan->is_typed) b->window.waiting = 0;
  return fit_blocks(b);
}

static int waiting_steps(int window) { return window <= MOST_WAITING ? window - 1 : MOST_WAITING; }

int qd_builder_open(struct qd_builder* b, const struct qd_plan_input* input, struct qd_plan* plan,
                    int in_place, int whole) {
  const int has_global_counts = qd_has_global_counts(input->program);
  memset(b, 0, sizeof *b);
  memset(plan, 0, sizeof *plan);
  b->plan = plan;
  b->input = *input;
  b->window.size = input->window;
  b->traits.at_once = bytes_at_once(input);
  b->traits.most_messages = whole ? INT_MAX : MOST_MESSAGES;
  plan->regions.temporaries = (int32_t)input->tables->temporary_blocks;
  b->window.waiting = waiting_steps(b->window.size);
  /* The report of a stalled wait names its step. For that the ring keeps completed steps. */
  const uint32_t ring = power_of_two(input->keeps_steps ? QD_MAX_WINDOW : b->window.size);
  b->window.mask = ring - 1;
  b->window.ring = malloc(ring * sizeof *b->window.ring);
  const int opened = has_global_counts ? open_known(b, in_place) : open_blocks(b);
  return opened && b->window.ring;
}

int qd_builder_fit(struct qd_builder* b) {
  b->plan->regions.temporaries = (int32_t)b->input.tables->temporary_blocks;
  return b->traits.has_global_counts ? fit_known(b) : fit_blocks(b);
}

void qd_builder_retune(struct qd_builder* b, int window, int has_block_size) {
  const uint32_t steps = power_of_two(window);
  struct qd_planned_step* ring =
      steps > b->window.mask + 1 ? realloc(b->window.ring, steps * sizeof *ring) : NULL;
  if (ring) {
    b->window.ring = ring;
    b->window.mask = steps - 1;
  }
  b->window.size = window <= (int)b->window.mask + 1 ? window : (int)b->window.mask + 1;
  if (!b->plan->is_typed) b->window.waiting = waiting_steps(b->window.size);
  b->input.has_block_size = has_block_size;
  b->traits.at_once = bytes_at_once(&b->input);
}

void qd_plan_destroy(struct qd_plan* plan) {
  free(plan->receives.all);
  free(plan->sends.all);
  free(plan->parts);
  free(plan->operations);
  free(plan->copies);
  memset(plan, 0, sizeof *plan);
}

void qd_builder_close(struct qd_builder* b) {
  free(b->window.ring);
  free(b->memory.accessed);
  free(b->memory.temporaries);
  free(b->memory.holders);
  free(b->memory.buffers);
  free(b->reading.pending);
  b->window.ring = NULL;
}
