/* All-to-all by a schedule: walks this rank's part of it and posts what it says.
 *
 * The common path posts each message as the walk names it. In a run (runtime/program.h) ranks and
 * blocks are checked at both ends and then only added to. A call in place goes step by step
 * (alltoall_in_place.c). Errors of MPI do not stop the walk: the other ranks are served, and the
 * first error is returned. */
#include "runtime/alltoall.h"

#include <limits.h>

/* Posts a message of a block that is not empty. */
static void post_block(struct quadrille_alltoall_call* call, const struct quadrille_side* side,
                       int receive, int peer, struct quadrille_block block, int place) {
  struct quadrille_flight* flight = &call->binding->flight;
  MPI_Datatype type = side->type, large = MPI_DATATYPE_NULL;
  int count = (int)block.count;
  if (block.count > INT_MAX) {
    const int code = quadrille_large_type(block.count, type, &large);
    if (code != MPI_SUCCESS) return quadrille_flight_check(flight, code);
    type = large;
    count = 1;
  }
  MPI_Request* request = quadrille_flight_request(flight, place);
  if (!request) {
    quadrille_flight_check(flight, MPI_ERR_NO_MEM);
  } else {
    const MPI_Comm comm = call->binding->comm;
    const int code =
        receive
            ? MPI_Irecv(block.address, count, type, peer, QUADRILLE_DATA_TAG, comm, request)
            : call->post_send(block.address, count, type, peer, QUADRILLE_DATA_TAG, comm, request);
    if (code != MPI_SUCCESS) {
      *request = MPI_REQUEST_NULL;
      quadrille_flight_check(flight, code);
    }
  }
  if (large != MPI_DATATYPE_NULL) MPI_Type_free(&large);
}

void quadrille_post(struct quadrille_alltoall_call* call, const struct quadrille_side* side,
                    int receive, int64_t peer, int64_t block, int place) {
  const uint64_t ranks = (uint64_t)call->binding->place.ranks;
  const int* real = call->binding->real;
  if ((uint64_t)peer >= ranks || (uint64_t)block >= ranks) {
    call->broken = "it names a rank or a block that is not there";
    return;
  }
  const struct quadrille_block found = quadrille_block_of(side, real[block]);
  if (found.count * side->type_size != 0) post_block(call, side, receive, real[peer], found, place);
}

void quadrille_post_token(struct quadrille_alltoall_call* call, int receive, int64_t peer,
                          int place) {
  static char nothing;
  if ((uint64_t)peer >= (uint64_t)call->binding->place.ranks) {
    call->broken = "it names a rank that is not there";
    return;
  }
  const struct quadrille_side side = {.type = MPI_BYTE};
  post_block(call, &side, receive, call->binding->real[peer], (struct quadrille_block){&nothing, 0},
             place);
}

void quadrille_copy_pieces(struct quadrille_alltoall_call* call,
                           const struct quadrille_event* event) {
  const uint64_t ranks = (uint64_t)call->binding->place.ranks;
  const int* real = call->binding->real;
  if (event->piece.buffer != QUADRILLE_PIECE_SEND ||
      event->second.buffer != QUADRILLE_PIECE_RECEIVE || (uint64_t)event->piece.block >= ranks ||
      (uint64_t)event->second.block >= ranks) {
    call->broken = "it copies a block that is not there";
    return;
  }
  if (event->outside) quadrille_flight_land_all(&call->binding->flight);
  const int code = quadrille_copy_block(
      call->binding, &call->send, quadrille_block_of(&call->send, real[event->piece.block]),
      &call->receive, quadrille_block_of(&call->receive, real[event->second.block]));
  quadrille_flight_check(&call->binding->flight, code);
}

/* Whether first and last value of an affine sequence are ranks; so are all in between. */
static int stays_in(struct quadrille_stride stride, int64_t count, uint64_t ranks) {
  return (uint64_t)stride.value < ranks &&
         (uint64_t)(stride.value + (count - 1) * stride.stride) < ranks;
}

/* One message of a run, with what changes from step to step. */
struct run_message {
  const struct quadrille_side* side;
  const int *peer, *block; /* into `real` */
  int64_t peer_stride, block_stride;
  int receive;
};

static void run(struct quadrille_alltoall_call* call, const struct quadrille_event* event) {
  struct quadrille_binding* binding = call->binding;
  struct quadrille_flight* flight = &binding->flight;
  const uint64_t ranks = (uint64_t)binding->place.ranks;
  const int messages = event->run->message_count;
  struct run_message list[QUADRILLE_RUN_MESSAGES];
  for (int m = 0; m < messages; m++) {
    const struct quadrille_stride peer = event->strides[event->run->messages[m].peer];
    const struct quadrille_stride block = event->strides[event->run->messages[m].block];
    if (!stays_in(peer, event->count, ranks) || !stays_in(block, event->count, ranks)) {
      call->broken = "it names a rank or a block that is not there";
      return;
    }
    const int receive = (event->run->messages[m].flags & QUADRILLE_MESSAGE_RECEIVE) != 0;
    list[m] = (struct run_message){receive ? &call->receive : &call->send,
                                   binding->real + peer.value,
                                   binding->real + block.value,
                                   peer.stride,
                                   block.stride,
                                   receive};
  }
  const int has_after = event->has_after;
  int64_t key = event->strides[0].value, after = has_after ? event->strides[1].value : 0;
  const int64_t key_stride = event->strides[0].stride,
                after_stride = has_after ? event->strides[1].stride : 0;
  for (int64_t left = event->count; left > 0; left--) {
    const int place = quadrille_flight_step(flight, key, has_after, after);
    for (int m = 0; m < messages; m++) {
      struct run_message* message = &list[m];
      const struct quadrille_block found = quadrille_block_of(message->side, *message->block);
      if (found.count * message->side->type_size != 0)
        post_block(call, message->side, message->receive, *message->peer, found, place);
      if (left > 1) {
        message->peer += message->peer_stride;
        message->block += message->block_stride;
      }
    }
    if (left > 1) {
      key += key_stride;
      after += after_stride;
    }
  }
}

void quadrille_alltoall_walk(struct quadrille_alltoall_call* call) {
  struct quadrille_binding* binding = call->binding;
  struct quadrille_event event = {0};
  int place = 0;
  quadrille_walk_start(&binding->walker, &binding->loaded->program, &binding->tables,
                       &binding->place);
  while (!call->broken) {
    quadrille_walk_next(&binding->walker, &event);
    switch (event.kind) {
      case QUADRILLE_EVENT_RUN: run(call, &event); break;
      case QUADRILLE_EVENT_STEP:
        place = quadrille_flight_step(&binding->flight, event.key, event.has_after, event.after);
        break;
      case QUADRILLE_EVENT_BLOCK_MESSAGE: {
        const int receive = (event.flags & QUADRILLE_MESSAGE_RECEIVE) != 0;
        quadrille_post(call, receive ? &call->receive : &call->send, receive, event.peer,
                       event.piece.block, place);
        break;
      }
      case QUADRILLE_EVENT_MESSAGE:
        quadrille_post_token(call, (event.flags & QUADRILLE_MESSAGE_RECEIVE) != 0, event.peer,
                             place);
        break;
      case QUADRILLE_EVENT_COPY: quadrille_copy_pieces(call, &event); break;
      case QUADRILLE_EVENT_UNDEFINED: call->broken = event.why; break;
      case QUADRILLE_EVENT_END: return;
      default: break;
    }
  }
}

int quadrille_alltoall_run(quadrille_schedule schedule, const struct quadrille_side* send,
                           const struct quadrille_side* receive, int in_place, MPI_Comm comm) {
  struct quadrille_alltoall_call call = {NULL, *send, *receive, NULL, NULL};
  int code = quadrille_find_binding(schedule, comm, &call.binding);
  if (code != MPI_SUCCESS) return code;
  struct quadrille_flight* flight = &call.binding->flight;
  const char* refused = quadrille_refused_buffer(in_place ? NULL : send->base);
  if (!refused) refused = quadrille_refused_buffer(receive->base);
  if (refused) return quadrille_error(comm, MPI_ERR_BUFFER, "%s", refused);
  call.post_send = call.binding->synchronous ? MPI_Issend : MPI_Isend;
  flight->error = MPI_SUCCESS;
  if (in_place)
    quadrille_alltoall_in_place(&call);
  else
    quadrille_alltoall_walk(&call);
  quadrille_flight_land_all(flight);
  if (call.broken)
    return quadrille_error(comm, MPI_ERR_INTERN, "the schedule is broken: %s; verify it",
                           call.broken);
  if (flight->error == MPI_SUCCESS) return MPI_SUCCESS;
  int error_class = MPI_ERR_OTHER;
  MPI_Error_class(flight->error, &error_class);
  if (error_class == MPI_ERR_TRUNCATE)
    return quadrille_error(comm, MPI_ERR_TRUNCATE,
                           "a rank sent more than this rank has room for; counts and types must "
                           "describe the same bytes at both ends");
  return quadrille_mpi_error(comm, flight->error);
}
