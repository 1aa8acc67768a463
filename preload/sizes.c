/* What a call's arguments say: bytes that all ranks know alike, and the blocks that a rank receives. */
#include "preload/preload.h"

static int64_t bytes_of(const struct preload_side* side, int blocks) {
  MPI_Count size = 0, count = 0;
  if (!side->counts && !side->large_counts) blocks = 1;
  for (int i = 0; i < blocks; i++) count += preload_count(side, i);
  if (side->type == MPI_DATATYPE_NULL) return count == 0 ? 0 : -1;
  MPI_Type_size_x(side->type, &size);
  return (int64_t)(size * count);
}

/* Of blocks that come and go, between groups, where each knows what it sends and what it receives. */
static int64_t both(const struct preload_arguments* a) {
  const int64_t sent = bytes_of(&a->send, 1), received = bytes_of(&a->receive, 1);
  return sent < 0 || received < 0 ? -1 : (sent + received) / 2;
}

int64_t preload_bytes(const struct preload_turn* turn, const struct preload_arguments* a) {
  const struct preload_shape* shape = &turn->of->shape;
  const int is_inter = shape->groups == 2;
  switch (turn->collective) {
    case PRELOAD_Alltoall:
    case PRELOAD_Allgather: return is_inter ? both(a) : bytes_of(&a->receive, 1);
    case PRELOAD_Alltoallv:
    case PRELOAD_Alltoallw:
      return is_inter || !turn->of->asks_for_bytes[turn->collective] ? -1
                                                                     : preload_average(turn, a);
    case PRELOAD_Allgatherv: {
      const int64_t all = is_inter ? -1 : bytes_of(&a->receive, shape->ranks);
      return all < 0 ? -1 : all / shape->ranks;
    }
    case PRELOAD_Allreduce:
    case PRELOAD_Exscan:
    case PRELOAD_Scan: return bytes_of(&a->receive, 1);
    case PRELOAD_Reduce_scatter: return bytes_of(&a->receive, shape->ranks);
    case PRELOAD_Reduce_scatter_block: {
      const int64_t one = bytes_of(&a->receive, 1);
      return one < 0 ? -1 : one * shape->ranks;
    }
    case PRELOAD_Bcast:
    case PRELOAD_Reduce: return is_inter ? -1 : bytes_of(&a->send, 1);
    case PRELOAD_Gather:
      return is_inter ? -1 : bytes_of(a->root == turn->of->rank ? &a->receive : &a->send, 1);
    case PRELOAD_Scatter:
      return is_inter ? -1 : bytes_of(a->root == turn->of->rank ? &a->send : &a->receive, 1);
    default: return -1;
  }
}

/* As many as there are ranks whose data arrives. */
static int others(const struct preload_turn* turn) {
  const struct preload_shape* shape = &turn->of->shape;
  return shape->groups == 2 ? shape->remote_ranks : shape->ranks;
}

static int is_root(const struct preload_turn* turn, const struct preload_arguments* a) {
  return a->root == (turn->of->shape.groups == 2 ? MPI_ROOT : turn->of->rank);
}

/* Gets from the root, or gives to it; between groups, those of the other one. */
static int is_leaf(const struct preload_turn* turn, const struct preload_arguments* a) {
  return turn->of->shape.groups == 2 ? a->root >= 0 : !is_root(turn, a);
}

/* Whether a count is negative, or a block of some elements has no type. */
static int is_wrong_side(const struct preload_side* side, int blocks) {
  if (!side->counts && !side->large_counts) blocks = 1;
  for (int i = 0; i < blocks; i++) {
    const MPI_Count count = preload_count(side, i);
    if (count < 0 || (count > 0 && preload_type(side, i) == MPI_DATATYPE_NULL)) return 1;
  }
  return 0;
}

/* Of a collective with a root, whether that is none. */
static int is_wrong_root(const struct preload_turn* turn, const struct preload_arguments* a) {
  const struct preload_shape* shape = &turn->of->shape;
  if (shape->groups == 1) return a->root < 0 || a->root >= shape->ranks;
  return a->root != MPI_ROOT && (a->root < 0 || a->root >= shape->remote_ranks);
}

int preload_is_refused(const struct preload_turn* turn, const struct preload_arguments* a) {
  const int is_inter = turn->of->shape.groups == 2;
  int sends = a->send.base != MPI_IN_PLACE, receives = a->receive.base != MPI_IN_PLACE;
  if (is_inter && a->root == MPI_PROC_NULL) return 0; /* MPI looks at nothing else there */
  if (is_wrong_root(turn, a)) return 1;
  if (preload_reduces(turn->collective) &&
      (a->operation == MPI_OP_NULL || a->receive.type == MPI_DATATYPE_NULL))
    return 1;
  switch (turn->collective) {
    case PRELOAD_Gather:
    case PRELOAD_Gatherv:
      sends = sends && (!is_inter || is_leaf(turn, a));
      receives = is_root(turn, a);
      break;
    case PRELOAD_Scatter:
    case PRELOAD_Scatterv:
      sends = is_root(turn, a);
      receives = receives && (!is_inter || is_leaf(turn, a));
      break;
    case PRELOAD_Reduce:
    case PRELOAD_Exscan: break; /* where nothing is received, that buffer may be anything */
    default:
      if (!receives) return 1; /* that buffer is never given in place */
  }
  /* Of a reduce-scatter the counts are those of this rank's own group. */
  const int scatters = turn->collective == PRELOAD_Reduce_scatter;
  return (sends && is_wrong_side(&a->send, others(turn))) ||
         (receives && is_wrong_side(&a->receive, scatters ? turn->of->shape.ranks : others(turn)));
}

int preload_received(const struct preload_turn* turn, const struct preload_arguments* a,
                     struct preload_side* side) {
  const int is_inter = turn->of->shape.groups == 2;
  *side = a->receive;
  if (a->receive.base == MPI_IN_PLACE) return 0;
  switch (turn->collective) {
    case PRELOAD_Gather:
    case PRELOAD_Gatherv: return is_root(turn, a) ? others(turn) : 0;
    case PRELOAD_Reduce: return is_root(turn, a);
    case PRELOAD_Bcast: return is_root(turn, a) || is_leaf(turn, a);
    case PRELOAD_Scatter:
    case PRELOAD_Scatterv: return is_leaf(turn, a) || (is_root(turn, a) && !is_inter);
    case PRELOAD_Reduce_scatter:
      side->count = preload_count(&a->receive, turn->of->rank);
      side->counts = NULL;
      side->large_counts = NULL;
      return 1;
    case PRELOAD_Exscan: return turn->of->rank > 0;
    case PRELOAD_Allreduce:
    case PRELOAD_Scan:
    case PRELOAD_Reduce_scatter_block: return 1;
    default: return others(turn);
  }
}
