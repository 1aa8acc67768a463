/* Making routes.
 *
 * Steps arrive in full in the order of their keys, so "after all steps with key <= a" is "when so
 * many steps have arrived". Everything that a damaged schedule could name is checked here: a route
 * names only ranks and places that are there, and sends no temporary block that nothing was written
 * to. */
#include "runtime/route.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/internal.h"

static const char no_memory[] = "out of memory";

/* Far more than any schedule of the kind takes. */
enum { FEW_ITERATIONS = 1 << 20, ITERATIONS_A_RANK_AND_NODE = 64 };

struct router {
  struct quadrille_route* route;
  const struct quadrille_binding* binding;
  unsigned char* written; /* by temporary block */
  int receives;           /* the message that is being gathered */
  const char* error;
};

static void refuse(struct router* r, const char* error) {
  if (!r->error) r->error = error;
}

/* Room for one more element of an array; false where memory ran out. */
static int grow(void** array, int* room, int count, size_t size) {
  if (*array && count < *room) return 1;
  const int wanted = *room ? 2 * *room : 16;
  void* grown = *room > INT_MAX / 4 ? NULL : realloc(*array, (size_t)wanted * size);
  if (!grown) return 0;
  *array = grown;
  *room = wanted;
  return 1;
}

/* The step that follows all others; false where memory ran out. */
static int add_step(struct quadrille_route* route, int64_t key, int ready) {
  if (!grow((void**)&route->steps, &route->step_room, route->step_count, sizeof *route->steps))
    return 0;
  route->steps[route->step_count++] = (struct quadrille_route_step){
      key, ready, route->receives.count, route->sends.count, route->copy_count};
  return 1;
}

/* What was added since belongs to the last step. */
static void end_step(struct quadrille_route* route) {
  struct quadrille_route_step* step = &route->steps[route->step_count - 1];
  step->receives_end = route->receives.count;
  step->sends_end = route->sends.count;
  step->copies_end = route->copy_count;
}

static int add_message(struct quadrille_route* route, int receives, int peer) {
  struct quadrille_route_messages* messages = receives ? &route->receives : &route->sends;
  if (!grow((void**)&messages->all, &messages->room, messages->count, sizeof *messages->all))
    return 0;
  messages->all[messages->count++] = (struct quadrille_route_message){peer, route->piece_count, 0};
  return 1;
}

static int add_piece(struct quadrille_route* route, int receives, int place) {
  struct quadrille_route_messages* messages = receives ? &route->receives : &route->sends;
  struct quadrille_route_message* message = &messages->all[messages->count - 1];
  if (!grow((void**)&route->pieces, &route->piece_room, route->piece_count, sizeof *route->pieces))
    return 0;
  route->pieces[route->piece_count++] = place;
  if (++message->count > route->most_pieces) route->most_pieces = message->count;
  return 1;
}

static int add_copy(struct quadrille_route* route, int from, int to) {
  if (!grow((void**)&route->copies, &route->copy_room, route->copy_count, sizeof *route->copies))
    return 0;
  route->copies[route->copy_count++] = (struct quadrille_route_copy){from, to};
  return 1;
}

/* How many of the steps so far have keys up to that one. */
static int steps_up_to(const struct quadrille_route* route, int64_t key) {
  int low = 0, high = route->step_count;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (route->steps[middle].key <= key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Of the last step. */
static int64_t last_key(const struct quadrille_route* route) {
  return route->step_count > 0 ? route->steps[route->step_count - 1].key : INT64_MIN;
}

static void begin_step(struct router* r, int64_t key, int has_after, int64_t after) {
  struct quadrille_route* route = r->route;
  if (route->step_count > 0 && last_key(route) >= key)
    return refuse(r, "its steps are not in order");
  if (!add_step(route, key, has_after ? steps_up_to(route, after) : route->step_count))
    refuse(r, no_memory);
}

static void begin_message(struct router* r, unsigned flags, int64_t peer) {
  const struct quadrille_place* place = &r->binding->place;
  if (r->error) return;
  if (peer < 0 || peer >= place->ranks || peer == place->rank)
    return refuse(r, "it sends to, or receives from, a rank that is not there");
  r->receives = (flags & QUADRILLE_MESSAGE_RECEIVE) != 0;
  if (!add_message(r->route, r->receives, r->binding->real[peer])) refuse(r, no_memory);
}

/* The place of a block that is read or written; -1 where there is none. */
static int find_place(struct router* r, const struct quadrille_piece* piece, int writes) {
  const struct quadrille_route* route = r->route;
  const int64_t block = piece->block;
  if (piece->buffer == QUADRILLE_PIECE_TEMPORARY) {
    if (block < 0 || block >= route->temporaries) {
      refuse(r, "it names a temporary block that is not there");
      return -1;
    }
    if (writes)
      r->written[block] = 1;
    else if (!r->written[block])
      refuse(r, "it sends a temporary block that nothing was received in");
    return 2 * route->ranks + (int)block;
  }
  if (block < 0 || block >= route->ranks) {
    refuse(r, "it names a block that is not there");
    return -1;
  }
  if (piece->buffer == (writes ? QUADRILLE_PIECE_SEND : QUADRILLE_PIECE_RECEIVE))
    refuse(r, "it receives into the send buffer, or sends from the receive buffer");
  return r->binding->real[block] + (writes ? route->ranks : 0);
}

static void take_piece(struct router* r, const struct quadrille_piece* piece) {
  if (r->error) return;
  const int place = find_place(r, piece, r->receives);
  if (!r->error && !add_piece(r->route, r->receives, place)) refuse(r, no_memory);
}

/* Nobody else touches this rank's block to itself, so its copy need not wait for anything. Any other
 * copy has a temporary block at one end or both. */
static void copy(struct router* r, const struct quadrille_event* event) {
  const struct quadrille_piece *from = &event->piece, *to = &event->second;
  const int64_t own = r->binding->place.rank;
  struct quadrille_route* route = r->route;
  if (from->buffer == QUADRILLE_PIECE_SEND && from->block == own &&
      to->buffer == QUADRILLE_PIECE_RECEIVE && to->block == own) {
    route->copies_own = 1;
    return;
  }
  const int source = find_place(r, from, 0), target = find_place(r, to, 1);
  if (source < route->ranks && target < 2 * route->ranks) refuse(r, "it copies a foreign block");
  if (r->error) return;
  /* A step of its own, for which all steps before it are waited; as steps take off in order, what
   * follows waits for it. */
  if (event->outside && !add_step(route, last_key(route), route->step_count))
    return refuse(r, no_memory);
  if (!add_copy(route, source, target)) return refuse(r, no_memory);
  if (event->outside) end_step(route);
}

static void take_run_message(struct router* r, const struct quadrille_run_message* m, int64_t at) {
  const struct quadrille_piece piece = {m->buffer, m->ranged, m->block.value + at * m->block.stride,
                                        0, 0};
  take_piece(r, &piece);
}

static void take_run_step(struct router* r, const struct quadrille_run_step* step,
                          const struct quadrille_run_message* messages, int64_t at) {
  if (r->error) return;
  begin_step(r, step->key.value + at * step->key.stride, step->has_after,
             step->after.value + at * step->after.stride);
  for (int i = 0; i < step->message_count; i++) {
    const struct quadrille_run_message* m = &messages[i];
    begin_message(r, m->flags, m->peer.value + at * m->peer.stride);
    if (!m->is_token) take_run_message(r, m, at);
  }
  if (!r->error) end_step(r->route);
}

static void take_steps(struct router* r, struct quadrille_walker* walker,
                       const struct quadrille_run* run) {
  if ((walker->iterations -= run->count) < 0)
    return refuse(r, "its loops do not end in reasonable time");
  for (int64_t at = 0; at < run->count && !r->error; at++) {
    const struct quadrille_run_message* messages = run->messages;
    for (int i = 0; i < run->step_count; messages += run->steps[i++].message_count)
      take_run_step(r, &run->steps[i], messages, at);
  }
}

static void take_pieces(struct router* r, const struct quadrille_run* run) {
  for (int64_t at = 0; at < run->count && !r->error; at++)
    for (int i = 0; i < run->message_count; i++) take_run_message(r, &run->messages[i], at);
}

/* False at the end. */
static int take(struct router* r, struct quadrille_walker* walker,
                const struct quadrille_event* event) {
  switch (event->kind) {
    case QUADRILLE_EVENT_STEP: begin_step(r, event->key, event->has_after, event->after); break;
    case QUADRILLE_EVENT_STEP_END: end_step(r->route); break;
    case QUADRILLE_EVENT_MESSAGE: begin_message(r, event->flags, event->peer); break;
    case QUADRILLE_EVENT_PIECE: take_piece(r, &event->piece); break;
    case QUADRILLE_EVENT_MESSAGE_END: break;
    case QUADRILLE_EVENT_PIECE_MESSAGE:
      begin_message(r, event->flags, event->peer);
      take_piece(r, &event->piece);
      break;
    case QUADRILLE_EVENT_COPY: copy(r, event); break;
    case QUADRILLE_EVENT_RUN: take_steps(r, walker, &event->run); break;
    case QUADRILLE_EVENT_PIECE_RUN: take_pieces(r, &event->run); break;
    case QUADRILLE_EVENT_END: return 0;
    case QUADRILLE_EVENT_UNDEFINED: refuse(r, event->why); break;
    default: refuse(r, "it does what this library does not serve"); break;
  }
  return !r->error;
}

const char* quadrille_route_make(struct quadrille_route* route,
                                 const struct quadrille_binding* binding,
                                 const struct quadrille_tables* tables) {
  const struct quadrille_program* program = &binding->loaded->program;
  const int64_t ranks = binding->place.ranks;
  memset(route, 0, sizeof *route);
  if (2 * ranks + tables->temporary_blocks > INT_MAX) return "it has too many blocks";
  route->ranks = (int)ranks;
  route->temporaries = (int)tables->temporary_blocks;
  struct router r = {.route = route, .binding = binding};
  r.written = calloc((size_t)route->temporaries + 1, 1);
  if (!r.written) return no_memory;
  struct quadrille_walker walker;
  struct quadrille_event event;
  quadrille_walk_start(&walker, program, tables, &binding->place);
  walker.iterations = FEW_ITERATIONS + ITERATIONS_A_RANK_AND_NODE * ranks *
                                           quadrille_topologies_of(program, &binding->place)->nodes;
  do quadrille_walk_next(&walker, &event);
  while (take(&r, &walker, &event));
  free(r.written);
  if (r.error) quadrille_route_destroy(route);
  return r.error;
}

/* One word; `ready`: of the next step. */
static int take_word(struct quadrille_route* route, uint32_t word, int* ready) {
  const int peer = quadrille_operand_of(word), source = route->ranks + peer;
  const enum quadrille_action action = quadrille_action_of(word);
  if (action <= QUADRILLE_TAKE_OFF) {
    if (!add_step(route, route->step_count, *ready)) return 0;
    *ready = 0;
  }
  int added = 1;
  switch (action) {
    case QUADRILLE_EXCHANGE:
      added = add_message(route, 1, peer) && add_piece(route, 1, source) &&
              add_message(route, 0, peer) && add_piece(route, 0, peer);
      break;
    case QUADRILLE_RECEIVE_ALONE:
    case QUADRILLE_RECEIVE_BLOCK:
      added = add_message(route, 1, peer) && add_piece(route, 1, source);
      break;
    case QUADRILLE_SEND_ALONE:
    case QUADRILLE_SEND_BLOCK:
      added = add_message(route, 0, peer) && add_piece(route, 0, peer);
      break;
    case QUADRILLE_RECEIVE_TOKEN: added = add_message(route, 1, peer); break;
    case QUADRILLE_SEND_TOKEN: added = add_message(route, 0, peer); break;
    case QUADRILLE_COPY_OWN: route->copies_own = 1; break;
    case QUADRILLE_LAND: *ready = route->step_count - peer; break;
    case QUADRILLE_TAKE_OFF:
    case QUADRILLE_OVER: break;
  }
  if (added && route->step_count > 0) end_step(route);
  return added;
}

const char* quadrille_route_of_plan(struct quadrille_route* route,
                                    const struct quadrille_plan* plan, int ranks) {
  int ready = 0;
  memset(route, 0, sizeof *route);
  route->ranks = ranks;
  for (int64_t i = 0; i < plan->count; i++)
    if (!take_word(route, plan->words[i], &ready)) {
      quadrille_route_destroy(route);
      return no_memory;
    }
  return NULL;
}

void quadrille_route_destroy(struct quadrille_route* route) {
  free(route->steps);
  free(route->receives.all);
  free(route->sends.all);
  free(route->pieces);
  free(route->copies);
  memset(route, 0, sizeof *route);
}
