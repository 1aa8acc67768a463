/* All-to-all by a schedule: follows this rank's plan and posts what it says. Where the
 * blocks are all alike, steps have a loop of their own, in which nothing is asked twice.
 *
 * Errors of MPI do not stop a call: the other ranks are served, and the first error is returned. A
 * call in place is in alltoall_in_place.c. */
#include "runtime/alltoall.h"

#include <limits.h>

#include "runtime/execution.h"
#include "runtime/traffic.h"

/* A message with more elements than an int counts. */
static void __attribute__((noinline))
post_large(struct quadrille_alltoall_call* call, const struct quadrille_side* side, int receive,
           int peer, struct quadrille_block block, int place) {
  struct quadrille_side large = *side;
  const int code = quadrille_large_type(block.count, side->type, &large.type);
  if (code != MPI_SUCCESS) return quadrille_flight_check(&call->binding->flight, code);
  large.type_size = 1; /* not empty */
  quadrille_post(call, &large, receive, peer, (struct quadrille_block){block.address, 1}, place);
  MPI_Type_free(&large.type);
}

/* Posts one message, empty or not. */
static void post(struct quadrille_alltoall_call* call, MPI_Datatype type, int receive, int peer,
                 struct quadrille_block block, int place) {
  struct quadrille_flight* flight = &call->binding->flight;
  MPI_Request* request = quadrille_flight_request(flight, place);
  if (!request) return quadrille_flight_check(flight, MPI_ERR_NO_MEM);
  const MPI_Comm comm = call->binding->comm;
  const int count = (int)block.count;
  const int code =
      receive
          ? MPI_Irecv(block.address, count, type, peer, QUADRILLE_DATA_TAG, comm, request)
          : call->post_send(block.address, count, type, peer, QUADRILLE_DATA_TAG, comm, request);
  if (code == MPI_SUCCESS) return;
  *request = MPI_REQUEST_NULL;
  quadrille_flight_check(flight, code);
}

/* A message whose type is its block's own. */
static void __attribute__((noinline))
post_typed(struct quadrille_alltoall_call* call, const struct quadrille_side* side, int receive,
           int peer, struct quadrille_block block, int place) {
  const struct quadrille_side own = quadrille_side_of(side, peer);
  quadrille_post(call, &own, receive, peer, block, place);
}

void quadrille_post(struct quadrille_alltoall_call* call, const struct quadrille_side* side,
                    int receive, int peer, struct quadrille_block block, int place) {
  if (side->types) return post_typed(call, side, receive, peer, block, place);
  if (block.count == 0 || side->type_size == 0) return;
  if (block.count > INT_MAX) return post_large(call, side, receive, peer, block, place);
  post(call, side->type, receive, peer, block, place);
}

void quadrille_post_token(struct quadrille_alltoall_call* call, int receive, int peer, int place) {
  post(call, MPI_BYTE, receive, peer, (struct quadrille_block){NULL, 0}, place);
}

void quadrille_copy_own(struct quadrille_alltoall_call* call, int own) {
  const struct quadrille_side from = quadrille_side_of(&call->send, own);
  const struct quadrille_side to = quadrille_side_of(&call->receive, own);
  const int code = quadrille_copy_block(call->binding, &from, quadrille_block_of(&call->send, own),
                                        &to, quadrille_block_of(&call->receive, own));
  quadrille_flight_check(&call->binding->flight, code);
}

/* Whether all blocks are alike, and each is one message. */
static int is_even(const struct quadrille_side* side) {
  return side->uniform && side->type_size > 0 && side->count > 0 && side->count <= INT_MAX;
}

static __attribute__((noinline, cold)) void failed(struct quadrille_flight* flight,
                                                   MPI_Request* request, int code) {
  *request = MPI_REQUEST_NULL;
  quadrille_flight_check(flight, code);
}

/* Does the steps of this one action that the plan has from word i on, in a call with even sides.
 * Where the window is full, the oldest step's place is the next one's. Returns where they end. */
static inline __attribute__((always_inline)) int64_t follow_evenly(
    struct quadrille_alltoall_call* call, int64_t i, const enum quadrille_action action) {
  const struct quadrille_plan* plan = &call->binding->plan;
  struct quadrille_flight* flight = &call->binding->flight;
  const struct quadrille_side *in = &call->receive, *out = &call->send;
  const MPI_Comm comm = call->binding->comm;
  const int receives = action != QUADRILLE_SEND_ALONE, sends = action != QUADRILLE_RECEIVE_ALONE;
  const int width = flight->width, window = flight->window;
  MPI_Request* const ring = flight->requests;
  int* const used = flight->used;
  int in_flight = flight->count, place = flight->first + in_flight;
  if (place >= window) place -= window;
  MPI_Request* requests = &ring[place * width];
  for (; quadrille_action_of(plan->words[i]) == action; i++) {
    const int peer = quadrille_operand_of(plan->words[i]);
    if (in_flight < window)
      in_flight++;
    else
      quadrille_flight_wait(flight, requests, used[place]);
    used[place] = receives + sends;
    if (receives) {
      const int code = MPI_Irecv(in->base + peer * in->stride, (int)in->count, in->type, peer,
                                 QUADRILLE_DATA_TAG, comm, &requests[0]);
      if (code != MPI_SUCCESS) failed(flight, &requests[0], code);
    }
    if (sends) {
      const int code = call->post_send(out->base + peer * out->stride, (int)out->count, out->type,
                                       peer, QUADRILLE_DATA_TAG, comm, &requests[receives]);
      if (code != MPI_SUCCESS) failed(flight, &requests[receives], code);
    }
    requests += width;
    if (++place < window) continue;
    place = 0;
    requests = ring;
  }
  flight->count = in_flight;
  flight->first = place < in_flight ? place - in_flight + window : place - in_flight;
  return i;
}

/* One step, or what else the word says; `place` is that of the current step. */
static void follow_word(struct quadrille_alltoall_call* call, uint32_t word, int* place) {
  struct quadrille_flight* flight = &call->binding->flight;
  const struct quadrille_side *in = &call->receive, *out = &call->send;
  const int peer = quadrille_operand_of(word);
  switch (quadrille_action_of(word)) {
    case QUADRILLE_EXCHANGE:
      *place = quadrille_flight_step(flight);
      quadrille_post(call, in, 1, peer, quadrille_block_of(in, peer), *place);
      quadrille_post(call, out, 0, peer, quadrille_block_of(out, peer), *place);
      break;
    case QUADRILLE_TAKE_OFF: *place = quadrille_flight_step(flight); break;
    case QUADRILLE_RECEIVE_ALONE: *place = quadrille_flight_step(flight); /* fall through */
    case QUADRILLE_RECEIVE_BLOCK:
      quadrille_post(call, in, 1, peer, quadrille_block_of(in, peer), *place);
      break;
    case QUADRILLE_SEND_ALONE: *place = quadrille_flight_step(flight); /* fall through */
    case QUADRILLE_SEND_BLOCK:
      quadrille_post(call, out, 0, peer, quadrille_block_of(out, peer), *place);
      break;
    case QUADRILLE_RECEIVE_TOKEN: quadrille_post_token(call, 1, peer, *place); break;
    case QUADRILLE_SEND_TOKEN: quadrille_post_token(call, 0, peer, *place); break;
    case QUADRILLE_COPY_OWN: quadrille_copy_own(call, peer); break;
    case QUADRILLE_LAND: quadrille_flight_land_until(flight, quadrille_operand_of(word)); break;
    case QUADRILLE_OVER: break;
  }
}

void quadrille_alltoall_follow(struct quadrille_alltoall_call* call) {
  const uint32_t* words = call->binding->plan.words;
  const int even = is_even(&call->send) && is_even(&call->receive);
  int place = 0;
  for (int64_t i = 0;;) {
    const enum quadrille_action action = quadrille_action_of(words[i]);
    if (action == QUADRILLE_OVER) return;
    if (!even || action > QUADRILLE_SEND_ALONE)
      follow_word(call, words[i++], &place);
    else if (action == QUADRILLE_EXCHANGE)
      i = follow_evenly(call, i, QUADRILLE_EXCHANGE);
    else if (action == QUADRILLE_RECEIVE_ALONE)
      i = follow_evenly(call, i, QUADRILLE_RECEIVE_ALONE);
    else
      i = follow_evenly(call, i, QUADRILLE_SEND_ALONE);
  }
}

int quadrille_alltoall_run(quadrille_schedule schedule, const struct quadrille_side* send,
                           const struct quadrille_side* receive, int in_place, MPI_Comm comm) {
  struct quadrille_alltoall_call call = {NULL, *send, *receive, NULL};
  int code = quadrille_find_binding(schedule, comm, QUADRILLE_ALLTOALL, &call.binding);
  if (code != MPI_SUCCESS) return code;
  struct quadrille_flight* flight = &call.binding->flight;
  const char* refused = quadrille_refused_buffer(call.binding, in_place ? NULL : send->base);
  if (!refused) refused = quadrille_refused_buffer(call.binding, receive->base);
  if (refused) return quadrille_error(comm, MPI_ERR_BUFFER, "%s", refused);
  if (call.binding->compares) code = quadrille_compare_lengths(call.binding, comm, send, receive);
  if (code != MPI_SUCCESS) return code;
  if (call.binding->traffic)
    return quadrille_forward_run(call.binding, send, receive, in_place, comm);
  call.post_send = call.binding->synchronous ? MPI_Issend : MPI_Isend;
  flight->error = MPI_SUCCESS;
  if (in_place)
    quadrille_alltoall_in_place(&call);
  else
    quadrille_alltoall_follow(&call);
  quadrille_flight_land_until(flight, 0);
  if (flight->error == MPI_SUCCESS) return MPI_SUCCESS;
  return quadrille_call_error(comm, flight->error);
}
