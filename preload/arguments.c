/* Finds the blocks and bytes of a call from its arguments. Arguments that mean nothing at this rank are ignored. The
 * columns of PRELOAD_COLLECTIVES say how collectives differ. Rules depend only on what preload_bytes returns, which
 * is the same at all ranks. Tested by tests/preload/preload_test.sh, choice_test.sh and corners_test.sh. */
#include "preload/preload.h"
#include "runtime/execute/datatypes.h"

#define SAME(Name, name, scheduled, family, direction, size) \
  _Static_assert((int)PRELOAD_##Name == (int)QD_##Name,      \
                 "the runtime and rules number collectives alike");
PRELOAD_COLLECTIVES(SAME)

MPI_Datatype preload_type(const struct qd_side* side, int block) {
  return side->types ? side->types[block] : side->type;
}

int64_t preload_side_bytes(const struct qd_side* side, int blocks) {
  MPI_Count bytes = 0, size = -1;
  for (int i = 0; i < blocks; i++) {
    const int64_t count = qd_count_of(side, i);
    const MPI_Datatype type = preload_type(side, i);
    if (count == 0) continue; /* an empty block may have any type */
    if (type == MPI_DATATYPE_NULL) return -1;
    if (side->types || size < 0) PMPI_Type_size_x(type, &size);
    bytes += size * count;
  }
  return (int64_t)bytes;
}

/* ---- The ranks of a call */

static int is_between_groups(const struct preload_call* call) {
  return call->of->shape.groups == 2;
}

/* Returns the number of ranks that this rank exchanges blocks with. They are the other group, if there is one. */
static int peers(const struct preload_call* call) {
  const struct preload_shape* shape = &call->of->shape;
  return is_between_groups(call) ? shape->remote_ranks : shape->ranks;
}

int preload_received(const struct preload_call* call, struct qd_side* side) {
  *side = call->given.receive;
  if (!(call->significant & QD_RECEIVE_BUFFER)) return 0;
  if (call->collective == PRELOAD_Exscan && call->of->rank == 0) return 0; /* its own operands */
  if (call->collective == PRELOAD_Reduce_scatter) {
    side->count = qd_count_of(&call->given.receive, call->of->rank);
    side->uniform = 1;
  }
  const int is_one = preload_reduces(call->collective) ||
                     preload_collectives[call->collective].direction == PRELOAD_FROM_ROOT;
  return is_one ? 1 : peers(call);
}

struct qd_side preload_operands(const struct preload_call* call) {
  struct qd_side side = call->significant & QD_SEND_BUFFER ? call->given.send : call->given.receive;
  const int is_scattered = call->collective == PRELOAD_Reduce_scatter ||
                           call->collective == PRELOAD_Reduce_scatter_block;
  const struct qd_side* const counted = is_scattered ? &call->given.receive : &side;
  int64_t count = 0;
  for (int i = 0; i < (is_scattered ? call->of->shape.ranks : 1); i++)
    count += qd_count_of(counted, i);
  side.count = count;
  side.uniform = 1;
  return side;
}

int64_t preload_own_bytes(const struct preload_call* call) {
  struct qd_side received, sent = call->given.send;
  const int64_t all = preload_side_bytes(&received, preload_received(call, &received));
  if (!(call->significant & QD_SEND_BUFFER)) return all;
  if (preload_reduces(call->collective)) sent = preload_operands(call);
  const int is_one = preload_reduces(call->collective) || call->collective == PRELOAD_Allgather ||
                     call->collective == PRELOAD_Allgatherv || call->collective == PRELOAD_Bcast ||
                     preload_collectives[call->collective].direction == PRELOAD_TO_ROOT;
  const int64_t own = preload_side_bytes(&sent, is_one ? 1 : peers(call));
  return own > all ? own : all;
}

/* ---- The bytes that rules compare */

int preload_is_agreed(const struct preload_call* call) {
  return preload_collectives[call->collective].size == PRELOAD_AGREED_MEAN &&
         !is_between_groups(call);
}

int64_t preload_sent(const struct preload_call* call) {
  return preload_side_bytes(
      call->significant & QD_SEND_BUFFER ? &call->given.send : &call->given.receive,
      call->of->shape.ranks);
}

int64_t preload_agree_on_mean(const struct preload_communicator* of, int64_t sent, unsigned calls) {
  const int64_t ranks = of->shape.ranks;
  int64_t all = 0;
  PMPI_Allreduce(&sent, &all, 1, MPI_INT64_T, MPI_SUM, of->comm);
  return all / (ranks * ranks * calls);
}

/* Returns the mean block of an all-to-all in which no rank knows all lengths. The ranks agree on it in some calls, at
 * last every 64 to 127 calls. Other calls use the last result. An agreement averages all calls since the one before,
 * so calls that repeat in a pattern all count. A reduction in the background is no way: it would have to end before
 * the communicator is freed, and MPI libraries announce that too late. */
static int64_t agreed_mean(const struct preload_call* call) {
  enum { EARLY = 64 };
  struct preload_communicator* of = call->of;
  struct preload_average* average = &of->averages[call->collective == PRELOAD_Alltoallw];
  const unsigned number = average->calls++;
  average->own += preload_sent(call);
  if (number < average->next) return average->bytes;
  average->bytes = preload_agree_on_mean(of, average->own, number + 1 - average->agreed);
  average->agreed = number + 1;
  average->own = 0;
  if (number < EARLY)
    average->next = number > 0 ? 2 * number : 1;
  else
    average->next =
        number + EARLY + (unsigned)(preload_hash(PRELOAD_HASH, &number, sizeof number) % EARLY);
  return average->bytes;
}

/* Returns the bytes of a block: of one to or from the root, or between groups the mean of both directions. */
static int64_t block_bytes(const struct preload_call* call) {
  const enum preload_direction direction = preload_collectives[call->collective].direction;
  if (direction == PRELOAD_FROM_ROOT)
    return preload_side_bytes(
        call->significant & QD_SEND ? &call->given.send : &call->given.receive, 1);
  if (direction == PRELOAD_TO_ROOT)
    return preload_side_bytes(
        call->significant & QD_RECEIVE ? &call->given.receive : &call->given.send, 1);
  const int64_t received = preload_side_bytes(&call->given.receive, 1);
  if (!is_between_groups(call) || received < 0) return received;
  const int64_t sent = preload_side_bytes(&call->given.send, 1);
  return sent < 0 ? -1 : (sent + received) / 2;
}

int64_t preload_bytes(const struct preload_call* call) {
  const struct preload_facts* facts = &preload_collectives[call->collective];
  const int is_inter = is_between_groups(call);
  if (is_inter && facts->direction != PRELOAD_ALL_RANKS) return -1;
  switch (facts->size) {
    case PRELOAD_BLOCK: return block_bytes(call);
    case PRELOAD_MEAN_BLOCK: {
      const int ranks = call->of->shape.ranks;
      const int64_t all = is_inter ? -1 : preload_side_bytes(&call->given.receive, ranks);
      return all < 0 ? -1 : all / ranks;
    }
    case PRELOAD_AGREED_MEAN:
      return is_inter || !call->of->asks_for_bytes[call->collective] ? -1 : agreed_mean(call);
    case PRELOAD_VECTOR: {
      const struct qd_side side = preload_operands(call);
      return preload_side_bytes(&side, 1);
    }
    default: return -1;
  }
}
