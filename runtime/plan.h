/* A plan: what this rank does in each call, walked once when the schedule is bound.
 *
 * One word a step in the common case, so 4 bytes for each rank that this one exchanges with. Ranks
 * are the communicator's own. Dependencies between steps are how many steps may be in flight before
 * the next one. */
#ifndef QUADRILLE_RUNTIME_PLAN_H_
#define QUADRILLE_RUNTIME_PLAN_H_

#include <stdint.h>

enum quadrille_action {
  QUADRILLE_EXCHANGE,      /* a step: a block from the rank, then a block to it */
  QUADRILLE_RECEIVE_ALONE, /* a step: a block from the rank */
  QUADRILLE_SEND_ALONE,    /* a step: a block to the rank */
  QUADRILLE_TAKE_OFF,      /* a step of the messages that follow */
  QUADRILLE_RECEIVE_BLOCK, /* from the rank */
  QUADRILLE_SEND_BLOCK,    /* to the rank */
  QUADRILLE_RECEIVE_TOKEN, /* an empty message */
  QUADRILLE_SEND_TOKEN,
  QUADRILLE_COPY_OWN, /* this rank's block to itself */
  QUADRILLE_LAND,     /* until no more steps than that are in flight */
  QUADRILLE_OVER      /* the last word */
};
#define QUADRILLE_ACTION_BITS 4
#define QUADRILLE_MOST_OPERAND ((int64_t)(UINT32_MAX >> QUADRILLE_ACTION_BITS))

struct quadrille_plan {
  uint32_t* words; /* an action, and above it a rank or a number of steps */
  int64_t count;
};

static inline enum quadrille_action quadrille_action_of(uint32_t word) {
  return (enum quadrille_action)(word & ((1u << QUADRILLE_ACTION_BITS) - 1));
}

static inline int quadrille_operand_of(uint32_t word) {
  return (int)(word >> QUADRILLE_ACTION_BITS);
}

struct quadrille_binding;
struct quadrille_tables;

/* Walks this rank's part of the binding's schedule. Returns NULL, or what is wrong: a static string,
 * "out of memory" among them. */
const char* quadrille_plan_make(struct quadrille_plan* plan,
                                const struct quadrille_binding* binding,
                                const struct quadrille_tables* tables);
void quadrille_plan_destroy(struct quadrille_plan* plan);

#endif /* QUADRILLE_RUNTIME_PLAN_H_ */
