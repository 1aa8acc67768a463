/* Making plans.
 *
 * Steps in flight land in the order in which they took off, and keys increase. So "after all steps
 * with key <= a" is "when no more steps are in flight than took off with a greater key", a number
 * that does not depend on the window or on time. A step without messages lands at once and is left
 * out.
 *
 * Everything that a damaged schedule could name is checked here: a plan names only ranks that are
 * there, and blocks that belong to the rank that they travel to or from. */
#include "runtime/plan.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/internal.h"

static const char no_memory[] = "out of memory";

/* Far more than any schedule of the kind takes: a damaged one shall not walk for hours, nor fill the
 * memory. */
enum {
  FEW_ITERATIONS = 1 << 20,
  ITERATIONS_A_RANK_AND_NODE = 64,
  FEW_WORDS = 256,
  WORDS_A_RANK = 32
};

struct planner {
  struct quadrille_plan* plan;
  const struct quadrille_binding* binding;
  int64_t room;
  int64_t* keys; /* of the steps so far */
  int64_t steps, key_room;
  const char* error;
};

static void add(struct planner* p, enum quadrille_action action, int64_t operand) {
  struct quadrille_plan* plan = p->plan;
  if (plan->count > FEW_WORDS + WORDS_A_RANK * p->binding->place.ranks)
    p->error = "it has more steps than an all-to-all needs";
  if (p->error) return;
  if (plan->count == p->room) {
    const int64_t room = p->room ? 2 * p->room : 256;
    uint32_t* grown = realloc(plan->words, (size_t)room * sizeof *grown);
    if (!grown) p->error = no_memory;
    if (!grown) return;
    plan->words = grown;
    p->room = room;
  }
  plan->words[plan->count++] = (uint32_t)action | (uint32_t)operand << QUADRILLE_ACTION_BITS;
}

/* How many of the steps so far have a greater key. */
static int64_t steps_after(const struct planner* p, int64_t key) {
  int64_t low = 0, high = p->steps;
  if (high == 0 || p->keys[0] > key) return high; /* a step that waits for none */
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (p->keys[middle] <= key)
      low = middle + 1;
    else
      high = middle;
  }
  return p->steps - low;
}

static void note_key(struct planner* p, int64_t key) {
  if (p->steps > 0 && p->keys[p->steps - 1] >= key) p->error = "its steps are not in order";
  if (p->steps == p->key_room) {
    const int64_t room = p->key_room ? 2 * p->key_room : 256;
    int64_t* grown = realloc(p->keys, (size_t)room * sizeof *grown);
    if (!grown) p->error = no_memory;
    if (!grown) return;
    p->keys = grown;
    p->key_room = room;
  }
  p->keys[p->steps++] = key;
}

static int is_receive(const struct quadrille_step_message* message) {
  return (message->flags & QUADRILLE_MESSAGE_RECEIVE) != 0;
}

static int is_exchange(const struct quadrille_steps* steps) {
  const struct quadrille_step_message* m = steps->messages;
  return steps->message_count == 2 && m[0].peer == m[1].peer && !m[0].is_token && !m[1].is_token &&
         is_receive(&m[0]) && !is_receive(&m[1]);
}

/* Whether a message is a token, or the block that belongs to its peer. */
static int is_direct(const struct planner* p, const struct quadrille_step_message* message) {
  if (message->peer < 0 || message->peer >= p->binding->place.ranks ||
      message->peer == p->binding->place.rank)
    return 0;
  return message->is_token || (message->block == message->peer &&
                               message->buffer == (is_receive(message) ? QUADRILLE_PIECE_RECEIVE
                                                                       : QUADRILLE_PIECE_SEND));
}

static void plan_step(struct planner* p, const struct quadrille_steps* steps) {
  if (steps->message_count == 0) return;
  const int* real = p->binding->real;
  for (int i = 0; i < steps->message_count; i++)
    if (!is_direct(p, &steps->messages[i])) p->error = "it sends or receives a foreign block";
  const int64_t after = steps->has_after ? steps_after(p, steps->after) : 0;
  if (after < p->steps && after < QUADRILLE_MAX_WINDOW) add(p, QUADRILLE_LAND, after);
  note_key(p, steps->key);
  if (p->error) return;
  const struct quadrille_step_message* first = &steps->messages[0];
  const int peer = real[first->peer];
  if (is_exchange(steps)) return add(p, QUADRILLE_EXCHANGE, peer);
  if (steps->message_count == 1 && !first->is_token)
    return add(p, is_receive(first) ? QUADRILLE_RECEIVE_ALONE : QUADRILLE_SEND_ALONE, peer);
  add(p, QUADRILLE_TAKE_OFF, 0);
  for (int i = 0; i < steps->message_count; i++) {
    const struct quadrille_step_message* m = &steps->messages[i];
    const enum quadrille_action action =
        m->is_token     ? is_receive(m) ? QUADRILLE_RECEIVE_TOKEN : QUADRILLE_SEND_TOKEN
        : is_receive(m) ? QUADRILLE_RECEIVE_BLOCK
                        : QUADRILLE_SEND_BLOCK;
    add(p, action, real[m->peer]);
  }
}

static void plan_copy(struct planner* p, const struct quadrille_event* event) {
  const int64_t own = p->binding->place.rank;
  if (event->piece.buffer != QUADRILLE_PIECE_SEND || event->piece.block != own ||
      event->second.buffer != QUADRILLE_PIECE_RECEIVE || event->second.block != own)
    p->error = "it copies a foreign block";
  /* Blocks that only this rank touches: a copy outside steps need not wait for any. */
  add(p, QUADRILLE_COPY_OWN, p->binding->real[own]);
}

const char* quadrille_plan_make(struct quadrille_plan* plan,
                                const struct quadrille_binding* binding,
                                const struct quadrille_tables* tables) {
  memset(plan, 0, sizeof *plan);
  if (binding->place.ranks > QUADRILLE_MOST_OPERAND) return "it has too many ranks";
  struct planner p = {.plan = plan, .binding = binding};
  struct quadrille_steps steps;
  quadrille_steps_start(&steps, &binding->loaded->program, tables, &binding->place);
  steps.walker.iterations =
      FEW_ITERATIONS +
      ITERATIONS_A_RANK_AND_NODE * binding->place.ranks *
          quadrille_topologies_of(&binding->loaded->program, &binding->place)->nodes;
  for (int going = 1; going && !p.error;) switch (quadrille_steps_next(&steps)) {
      case QUADRILLE_STEPS_STEP: plan_step(&p, &steps); break;
      case QUADRILLE_STEPS_COPY: plan_copy(&p, &steps.event); break;
      case QUADRILLE_STEPS_END: going = 0; break;
      case QUADRILLE_STEPS_UNDEFINED: p.error = steps.event.why; break;
      case QUADRILLE_STEPS_NO_MEMORY: p.error = no_memory; break;
    }
  add(&p, QUADRILLE_OVER, 0);
  quadrille_steps_end(&steps);
  free(p.keys);
  if (p.error) {
    quadrille_plan_destroy(plan);
    return p.error;
  }
  if (plan->count < p.room) {
    uint32_t* fitted = realloc(plan->words, (size_t)plan->count * sizeof *fitted);
    if (fitted) plan->words = fitted;
  }
  return NULL;
}

void quadrille_plan_destroy(struct quadrille_plan* plan) {
  free(plan->words);
  memset(plan, 0, sizeof *plan);
}
