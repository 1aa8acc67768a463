/* All-to-all in place: what is sent lies where something else arrives.
 *
 * Where this rank's walk sends each block no later than it is overwritten, the blocks of a step are
 * copied aside just before its receives are posted, and sent from there: memory for the steps in
 * flight. Where it does not, all blocks are copied aside first. Which of the two, the first call in
 * place finds out by walking. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/alltoall.h"

/* Whether each block is sent no later than it is received over. */
static int sends_in_time(struct quadrille_binding* binding) {
  const uint64_t ranks = (uint64_t)binding->place.ranks;
  unsigned char* sent = calloc((size_t)ranks, 1);
  struct quadrille_steps steps;
  int in_time = sent != NULL;
  quadrille_steps_start(&steps, binding);
  for (enum quadrille_steps_result next = QUADRILLE_STEPS_COPY;
       in_time && next != QUADRILLE_STEPS_END;) {
    next = quadrille_steps_next(&steps);
    if (next == QUADRILLE_STEPS_UNDEFINED || next == QUADRILLE_STEPS_NO_MEMORY) in_time = 0;
    if (next != QUADRILLE_STEPS_STEP) continue;
    for (int i = 0; i < steps.message_count; i++)
      if (!(steps.messages[i].flags & QUADRILLE_MESSAGE_RECEIVE) &&
          (uint64_t)steps.messages[i].block < ranks)
        sent[steps.messages[i].block] = 1;
    for (int i = 0; i < steps.message_count; i++)
      if (steps.messages[i].flags & QUADRILLE_MESSAGE_RECEIVE &&
          (uint64_t)steps.messages[i].block < ranks)
        in_time &= sent[steps.messages[i].block];
  }
  quadrille_steps_end(&steps);
  free(sent);
  return in_time;
}

/* A block copied aside: dense blocks as they are, others packed. */
struct copier {
  int dense;
  struct quadrille_side side; /* of the copies: only its type and size mean something */
};

static struct copier copier_of(const struct quadrille_side* user) {
  struct copier copier = {quadrille_is_dense(user->type), *user};
  if (!copier.dense) {
    copier.side.type = MPI_PACKED;
    copier.side.type_size = copier.side.extent = 1;
  }
  return copier;
}

/* Room that a block needs aside, in bytes; -1 where MPI cannot pack so much. */
static int64_t room_for(const struct copier* copier, const struct quadrille_side* user,
                        struct quadrille_block block, MPI_Comm comm) {
  if (copier->dense) return block.count * user->type_size;
  int size = 0;
  if (block.count > INT_MAX || block.count * user->type_size > INT_MAX ||
      MPI_Pack_size((int)block.count, user->type, comm, &size) != MPI_SUCCESS)
    return -1;
  return size;
}

/* Copies a block to `aside`; the copy as a block of copier->side. */
static struct quadrille_block copy_aside(const struct copier* copier,
                                         const struct quadrille_side* user,
                                         struct quadrille_block block, char* aside, int64_t room,
                                         MPI_Comm comm, int* code) {
  struct quadrille_block copy = {aside, block.count};
  if (copier->dense) {
    memcpy(aside, block.address, (size_t)room);
    return copy;
  }
  int position = 0;
  *code = MPI_Pack(block.address, (int)block.count, user->type, aside, (int)room, &position, comm);
  copy.count = position;
  return copy;
}

/* A side of one block, for quadrille_post, which finds it at every rank. */
static struct quadrille_side side_of(const struct copier* copier, struct quadrille_block block) {
  struct quadrille_side side = copier->side;
  side.base = block.address;
  side.uniform = 1;
  side.stride = 0;
  side.count = block.count;
  return side;
}

static int is_data_send(const struct quadrille_step_message* message) {
  return !(message->flags & QUADRILLE_MESSAGE_RECEIVE) && message->block >= 0;
}

/* Copies what the step sends aside, posts its receives, then sends the copies. */
static int staged_step(struct quadrille_alltoall_call* call, const struct quadrille_steps* steps,
                       const struct copier* copier) {
  struct quadrille_binding* binding = call->binding;
  struct quadrille_flight* flight = &binding->flight;
  const uint64_t ranks = (uint64_t)binding->place.ranks;
  const int place = quadrille_flight_step(flight, steps->key, steps->has_after, steps->after);
  int64_t room = 0;
  for (int i = 0; i < steps->message_count; i++) {
    if (!is_data_send(&steps->messages[i])) continue;
    if ((uint64_t)steps->messages[i].block >= ranks) {
      call->broken = "it names a block that is not there";
      return MPI_SUCCESS;
    }
    const int64_t needed = room_for(
        copier, &call->send,
        quadrille_block_of(&call->send, binding->real[steps->messages[i].block]), binding->comm);
    if (needed < 0) return MPI_ERR_COUNT;
    room += needed;
  }
  char* aside = flight->staged[place] = malloc((size_t)room + 1);
  if (!aside) return MPI_ERR_NO_MEM;
  struct quadrille_side* copies = malloc((size_t)(steps->message_count + 1) * sizeof *copies);
  int code = copies ? MPI_SUCCESS : MPI_ERR_NO_MEM;
  for (int i = 0; i < steps->message_count && copies; i++) {
    if (!is_data_send(&steps->messages[i])) continue;
    const struct quadrille_block block =
        quadrille_block_of(&call->send, binding->real[steps->messages[i].block]);
    const int64_t needed = room_for(copier, &call->send, block, binding->comm);
    copies[i] = side_of(
        copier, copy_aside(copier, &call->send, block, aside, needed, binding->comm, &code));
    aside += needed;
  }
  for (int pass = 0; pass < 2 && copies; pass++)
    for (int i = 0; i < steps->message_count; i++) {
      const struct quadrille_step_message* message = &steps->messages[i];
      const int receive = (message->flags & QUADRILLE_MESSAGE_RECEIVE) != 0;
      if (receive == pass) continue; /* receives first */
      if (message->block < 0)
        quadrille_post_token(call, receive, message->peer, place);
      else
        quadrille_post(call, receive ? &call->receive : &copies[i], receive, message->peer,
                       message->block, place);
    }
  free(copies);
  return code;
}

static void staged(struct quadrille_alltoall_call* call) {
  const struct copier copier = copier_of(&call->send);
  struct quadrille_steps steps;
  quadrille_steps_start(&steps, call->binding);
  int going = 1;
  while (going && !call->broken) {
    switch (quadrille_steps_next(&steps)) {
      case QUADRILLE_STEPS_STEP:
        quadrille_flight_check(&call->binding->flight, staged_step(call, &steps, &copier));
        break;
      case QUADRILLE_STEPS_COPY: quadrille_copy_pieces(call, &steps.event); break;
      case QUADRILLE_STEPS_END: going = 0; break;
      case QUADRILLE_STEPS_UNDEFINED: call->broken = steps.event.why; break;
      case QUADRILLE_STEPS_NO_MEMORY:
        quadrille_flight_check(&call->binding->flight, MPI_ERR_NO_MEM);
        going = 0;
        break;
    }
  }
  quadrille_steps_end(&steps);
}

/* Copies all blocks aside and calls again with the copies as send buffer. */
static void copied(struct quadrille_alltoall_call* call) {
  struct quadrille_binding* binding = call->binding;
  const int ranks = (int)binding->place.ranks;
  const struct copier copier = copier_of(&call->send);
  MPI_Aint* displacements = malloc((size_t)ranks * sizeof *displacements);
  MPI_Count* counts = malloc((size_t)ranks * sizeof *counts);
  int64_t total = 0;
  int code = displacements && counts ? MPI_SUCCESS : MPI_ERR_NO_MEM;
  for (int rank = 0; rank < ranks && code == MPI_SUCCESS; rank++) {
    const int64_t needed =
        room_for(&copier, &call->send, quadrille_block_of(&call->send, rank), binding->comm);
    if (needed < 0) code = MPI_ERR_COUNT;
    total += needed;
  }
  char* aside = code == MPI_SUCCESS ? malloc((size_t)total + 1) : NULL;
  if (code == MPI_SUCCESS && !aside) code = MPI_ERR_NO_MEM;
  char* next = aside;
  for (int rank = 0; rank < ranks && code == MPI_SUCCESS; rank++) {
    const struct quadrille_block block = quadrille_block_of(&call->send, rank);
    const int64_t room = room_for(&copier, &call->send, block, binding->comm);
    const struct quadrille_block copy =
        copy_aside(&copier, &call->send, block, next, room, binding->comm, &code);
    counts[rank] = copy.count;
    displacements[rank] = copier.side.extent == 0 ? 0 : (next - aside) / copier.side.extent;
    next += room;
  }
  if (code == MPI_SUCCESS) {
    struct quadrille_side side = copier.side;
    side.base = aside;
    side.uniform = 0;
    side.counts = NULL;
    side.large_counts = counts;
    side.large_displacements = displacements;
    call->send = side;
    quadrille_alltoall_walk(call);
    quadrille_flight_land_all(&binding->flight);
  }
  quadrille_flight_check(&binding->flight, code);
  free(aside);
  free(displacements);
  free(counts);
}

void quadrille_alltoall_in_place(struct quadrille_alltoall_call* call) {
  struct quadrille_binding* binding = call->binding;
  if (binding->in_place == QUADRILLE_IN_PLACE_UNKNOWN) {
    binding->in_place =
        sends_in_time(binding) ? QUADRILLE_IN_PLACE_STAGED : QUADRILLE_IN_PLACE_COPIED;
    quadrille_log("in place: %s", binding->in_place == QUADRILLE_IN_PLACE_STAGED
                                      ? "blocks are copied aside step by step"
                                      : "all blocks are copied aside first");
  }
  if (binding->in_place == QUADRILLE_IN_PLACE_STAGED)
    staged(call);
  else
    copied(call);
}
