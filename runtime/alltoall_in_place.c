/* All-to-all in place: what is sent lies where something else arrives.
 *
 * Where this rank's plan sends each block no later than it is overwritten, the blocks of a step are
 * copied aside just before its receives are posted, and sent from there: memory for the steps in
 * flight. Where it does not, all blocks are copied aside first. Which of the two, the first call in
 * place finds out. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/alltoall.h"

static int sends(uint32_t word) {
  const enum quadrille_action action = quadrille_action_of(word);
  return action == QUADRILLE_EXCHANGE || action == QUADRILLE_SEND_ALONE ||
         action == QUADRILLE_SEND_BLOCK;
}

static int receives(uint32_t word) {
  const enum quadrille_action action = quadrille_action_of(word);
  return action == QUADRILLE_EXCHANGE || action == QUADRILLE_RECEIVE_ALONE ||
         action == QUADRILLE_RECEIVE_BLOCK;
}

/* Where the step that starts at word i ends. */
static int64_t step_end(const struct quadrille_plan* plan, int64_t i) {
  if (quadrille_action_of(plan->words[i++]) != QUADRILLE_TAKE_OFF) return i;
  while (i < plan->count && quadrille_action_of(plan->words[i]) >= QUADRILLE_RECEIVE_BLOCK &&
         quadrille_action_of(plan->words[i]) <= QUADRILLE_SEND_TOKEN)
    i++;
  return i;
}

/* Whether each block is sent no later than it is received over: a step's sends read before its
 * receives write. */
static int sends_in_time(struct quadrille_binding* binding) {
  const struct quadrille_plan* plan = &binding->plan;
  unsigned char* sent = calloc((size_t)binding->place.ranks, 1);
  int in_time = sent != NULL;
  for (int64_t i = 0, end; in_time && i < plan->count; i = end) {
    end = step_end(plan, i);
    for (int64_t k = i; k < end; k++)
      if (sends(plan->words[k])) sent[quadrille_operand_of(plan->words[k])] = 1;
    for (int64_t k = i; k < end; k++)
      if (receives(plan->words[k])) in_time &= sent[quadrille_operand_of(plan->words[k])];
  }
  free(sent);
  return in_time;
}

/* A block copied aside: dense blocks as they are, others packed. */
struct copier {
  int dense;
  struct quadrille_side side; /* of the copies: only its type and size mean something */
};

static struct copier copier_of(const struct quadrille_side* user) {
  struct copier copier = {!user->types && quadrille_is_dense(user->type), *user};
  if (!copier.dense) {
    copier.side.types = NULL;
    copier.side.type = MPI_PACKED;
    copier.side.type_size = copier.side.extent = 1;
  }
  return copier;
}

/* Room that a rank's block needs aside, in bytes; -1 where MPI cannot pack so much. */
static int64_t room_for(const struct copier* copier, const struct quadrille_side* user, int rank,
                        MPI_Comm comm) {
  const struct quadrille_block block = quadrille_block_of(user, rank);
  if (copier->dense) return block.count * user->type_size;
  const struct quadrille_side own = quadrille_side_of(user, rank);
  int size = 0;
  if (block.count > INT_MAX || block.count * own.type_size > INT_MAX ||
      MPI_Pack_size((int)block.count, own.type, comm, &size) != MPI_SUCCESS)
    return -1;
  return size;
}

/* Copies a rank's block to `aside`; the copy as a block of copier->side. */
static struct quadrille_block copy_aside(const struct copier* copier,
                                         const struct quadrille_side* user, int rank, char* aside,
                                         int64_t room, MPI_Comm comm, int* code) {
  const struct quadrille_block block = quadrille_block_of(user, rank);
  struct quadrille_block copy = {aside, block.count};
  if (copier->dense) {
    memcpy(aside, block.address, (size_t)room);
    return copy;
  }
  int position = 0;
  *code = MPI_Pack(block.address, (int)block.count, quadrille_side_of(user, rank).type, aside,
                   (int)room, &position, comm);
  copy.count = position;
  return copy;
}

/* The step's blocks to send, copied aside: one block a word, followed by the bytes. To be freed.
 * NULL where that is not possible, with the reason in `code`. */
static struct quadrille_block* copy_step_aside(struct quadrille_alltoall_call* call,
                                               const struct copier* copier, const uint32_t* words,
                                               int64_t count, int* code) {
  const struct quadrille_side* user = &call->send;
  const MPI_Comm comm = call->binding->comm;
  int64_t room = 0;
  for (int64_t i = 0; i < count; i++) {
    if (!sends(words[i])) continue;
    const int64_t needed = room_for(copier, user, quadrille_operand_of(words[i]), comm);
    *code = MPI_ERR_COUNT;
    if (needed < 0) return NULL;
    room += needed;
  }
  struct quadrille_block* copies = malloc((size_t)count * sizeof *copies + (size_t)room);
  *code = copies ? MPI_SUCCESS : MPI_ERR_NO_MEM;
  char* aside = (char*)(copies + count);
  for (int64_t i = 0; i < count && copies; i++) {
    if (!sends(words[i])) continue;
    const int rank = quadrille_operand_of(words[i]);
    const int64_t needed = room_for(copier, user, rank, comm);
    copies[i] = copy_aside(copier, user, rank, aside, needed, comm, code);
    aside += needed;
  }
  return copies;
}

/* Copies what the step sends aside, posts its receives, then sends the copies. */
static int staged_step(struct quadrille_alltoall_call* call, const struct copier* copier,
                       const uint32_t* words, int64_t count) {
  struct quadrille_flight* flight = &call->binding->flight;
  const int place = quadrille_flight_step(flight);
  int code;
  struct quadrille_block* copies = copy_step_aside(call, copier, words, count, &code);
  if (!copies) return code;
  flight->staged[place] = copies;
  for (int64_t i = 0; i < count; i++) {
    const int peer = quadrille_operand_of(words[i]);
    if (receives(words[i]))
      quadrille_post(call, &call->receive, 1, peer, quadrille_block_of(&call->receive, peer),
                     place);
    else if (quadrille_action_of(words[i]) == QUADRILLE_RECEIVE_TOKEN)
      quadrille_post_token(call, 1, peer, place);
  }
  for (int64_t i = 0; i < count; i++) {
    const int peer = quadrille_operand_of(words[i]);
    if (sends(words[i]))
      quadrille_post(call, &copier->side, 0, peer, copies[i], place);
    else if (quadrille_action_of(words[i]) == QUADRILLE_SEND_TOKEN)
      quadrille_post_token(call, 0, peer, place);
  }
  return code;
}

static void staged(struct quadrille_alltoall_call* call) {
  const struct copier copier = copier_of(&call->send);
  const struct quadrille_plan* plan = &call->binding->plan;
  struct quadrille_flight* flight = &call->binding->flight;
  for (int64_t i = 0, end; i < plan->count; i = end) {
    end = step_end(plan, i);
    const int operand = quadrille_operand_of(plan->words[i]);
    switch (quadrille_action_of(plan->words[i])) {
      case QUADRILLE_LAND: quadrille_flight_land_until(flight, operand); break;
      case QUADRILLE_COPY_OWN: quadrille_copy_own(call, operand); break;
      case QUADRILLE_OVER: break;
      default:
        quadrille_flight_check(flight, staged_step(call, &copier, &plan->words[i], end - i));
        break;
    }
  }
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
    const int64_t needed = room_for(&copier, &call->send, rank, binding->comm);
    if (needed < 0) code = MPI_ERR_COUNT;
    total += needed;
  }
  char* aside = code == MPI_SUCCESS ? malloc((size_t)total + 1) : NULL;
  if (code == MPI_SUCCESS && !aside) code = MPI_ERR_NO_MEM;
  char* next = aside;
  for (int rank = 0; rank < ranks && code == MPI_SUCCESS; rank++) {
    const int64_t room = room_for(&copier, &call->send, rank, binding->comm);
    const struct quadrille_block copy =
        copy_aside(&copier, &call->send, rank, next, room, binding->comm, &code);
    counts[rank] = copy.count;
    displacements[rank] = copier.side.extent == 0 ? 0 : (next - aside) / copier.side.extent;
    next += room;
  }
  if (code == MPI_SUCCESS) {
    struct quadrille_side side = copier.side;
    side.base = aside;
    side.uniform = 0;
    side.unit = side.extent;
    side.counts = NULL;
    side.large_counts = counts;
    side.large_displacements = displacements;
    call->send = side;
    quadrille_alltoall_follow(call);
    quadrille_flight_land_until(&binding->flight, 0);
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
