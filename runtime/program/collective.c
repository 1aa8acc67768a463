/* Properties of collectives. Between groups, the root is in group 0, and its peers, the leaves, are in group 1. */
#include "runtime/program/program.h"

static const struct {
  const char* name;
  int has_global_counts, reduces, is_rooted;
} properties[QD_COLLECTIVE_COUNT] = {
    [QD_ALLTOALL] = {"alltoall", 0, 0, 0},   [QD_ALLGATHER] = {"allgather", 1, 0, 0},
    [QD_BROADCAST] = {"broadcast", 1, 0, 1}, [QD_GATHER] = {"gather", 0, 0, 1},
    [QD_SCATTER] = {"scatter", 0, 0, 1},     [QD_REDUCE] = {"reduce", 1, 1, 1},
    [QD_ALLREDUCE] = {"allreduce", 1, 1, 0}, [QD_REDUCE_SCATTER] = {"reduce-scatter", 1, 1, 0},
    [QD_SCAN] = {"scan", 1, 1, 0},           [QD_EXSCAN] = {"exscan", 1, 1, 0},
    [QD_BARRIER] = {"barrier", 0, 0, 0},
};

const char* qd_collective_name(int collective) { return properties[collective].name; }

int qd_has_global_counts(const struct qd_program* program) {
  return properties[program->collective].has_global_counts;
}

int qd_reduces(const struct qd_program* program) { return properties[program->collective].reduces; }

int qd_is_rooted(const struct qd_program* program) {
  return properties[program->collective].is_rooted;
}

int qd_has_one_contribution(const struct qd_program* program) {
  return program->collective == QD_BROADCAST || program->collective == QD_REDUCE ||
         program->collective == QD_SCAN || program->collective == QD_EXSCAN;
}

int qd_takes_block_size(const struct qd_program* program) {
  int taken = 0;
  for (int i = 0; i < program->parameter_count; i++) taken += program->rules[i].at_call;
  return taken == 1;
}

int qd_may_pass_over_trees(const struct qd_program* program) {
  return program->collective == QD_BROADCAST || program->collective == QD_REDUCE ||
         program->collective == QD_ALLGATHER || program->collective == QD_REDUCE_SCATTER;
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
