/* Properties of collectives. Between groups, the root is in group 0 and the leaves are in group 1. */
#include "runtime/program/program.h"

int qd_has_global_counts(const struct qd_program* program) {
  switch (program->collective) {
    case QD_ALLTOALL:
    case QD_GATHER:
    case QD_SCATTER:
    case QD_BARRIER: return 0;
    default: return 1;
  }
}

int qd_reduces(const struct qd_program* program) {
  switch (program->collective) {
    case QD_REDUCE:
    case QD_ALLREDUCE:
    case QD_REDUCE_SCATTER:
    case QD_SCAN:
    case QD_EXSCAN: return 1;
    default: return 0;
  }
}

int qd_is_rooted(const struct qd_program* program) {
  switch (program->collective) {
    case QD_BROADCAST:
    case QD_GATHER:
    case QD_SCATTER:
    case QD_REDUCE: return 1;
    default: return 0;
  }
}

int qd_has_one_buffer(const struct qd_program* program) {
  return program->collective == QD_BROADCAST && program->groups == 1;
}

void qd_block_counts(const struct qd_program* program, const struct qd_context* context,
                     int32_t counts[2]) {
  const int is_remote = program->groups == 2;
  const int32_t peers = (int32_t)(is_remote ? context->remote_ranks : context->ranks);
  const int is_root = context->rank == context->root && (!is_remote || context->group == 0);
  const int is_leaf = !is_remote || context->group == 1;
  int32_t *send = &counts[QD_PIECE_SEND], *receive = &counts[QD_PIECE_RECEIVE];
  *send = *receive = 1;
  switch (program->collective) {
    case QD_ALLTOALL: *send = *receive = peers; break;
    case QD_ALLGATHER: *receive = peers; break;
    case QD_REDUCE_SCATTER: *send = peers; break;
    case QD_BROADCAST:
      *send = is_root;
      *receive = is_leaf;
      break;
    case QD_GATHER:
      *send = is_leaf;
      *receive = is_root ? peers : 0;
      break;
    case QD_SCATTER:
      *send = is_root ? peers : 0;
      *receive = is_leaf;
      break;
    case QD_REDUCE:
      *send = is_leaf;
      *receive = is_root;
      break;
    case QD_EXSCAN: *receive = context->rank > 0; break; /* rank 0 receives nothing */
    case QD_BARRIER: *send = *receive = 0; break;
    default: break;
  }
}

const char* qd_collective_name(int collective) {
  static const char* const names[QD_COLLECTIVE_COUNT] = {
      "alltoall",  "allgather",      "broadcast", "gather", "scatter", "reduce",
      "allreduce", "reduce-scatter", "scan",      "exscan", "barrier"};
  return names[collective];
}
