/* A route: what this rank does in each call of an all-to-all, piece by piece. It does not depend on
 * the call, so the schedule is walked once.
 *
 * A place is where a block lies: in the send buffer, in the receive buffer, or in a temporary block.
 * Ranks are the communicator's own. */
#ifndef QUADRILLE_RUNTIME_ROUTE_H_
#define QUADRILLE_RUNTIME_ROUTE_H_

#include <stdint.h>

struct quadrille_route_message {
  int peer;
  int first, count; /* of the pieces; a token has none */
};

/* Messages and copies are those from the end of the step before it. */
struct quadrille_route_step {
  int64_t key; /* of a copy outside steps: that of the step before it */
  int ready;   /* so many steps have arrived in full when it may send */
  int receives_end, sends_end, copies_end;
};

struct quadrille_route_copy {
  int from, to; /* places */
};

struct quadrille_route_messages {
  struct quadrille_route_message* all;
  int count, room;
};

/* Places are send blocks 0 .. ranks - 1, receive blocks ranks .. 2 ranks - 1, temporary blocks. */
struct quadrille_route {
  int ranks, temporaries;
  int copies_own;  /* this rank's block to itself */
  int most_pieces; /* of a message */
  int step_count, step_room;
  struct quadrille_route_step* steps;
  struct quadrille_route_messages receives, sends;
  int piece_count, piece_room;
  int32_t* pieces; /* places */
  int copy_count, copy_room;
  struct quadrille_route_copy* copies;
};

struct quadrille_binding;
struct quadrille_plan;
struct quadrille_tables;

/* Walks this rank's part of the binding's schedule. Returns NULL, or what is wrong: a static string,
 * "out of memory" among them. */
const char* quadrille_route_make(struct quadrille_route* route,
                                 const struct quadrille_binding* binding,
                                 const struct quadrille_tables* tables);
/* The same from the plan of a schedule in which every block travels directly. */
const char* quadrille_route_of_plan(struct quadrille_route* route,
                                    const struct quadrille_plan* plan, int ranks);
void quadrille_route_destroy(struct quadrille_route* route);

#endif /* QUADRILLE_RUNTIME_ROUTE_H_ */
