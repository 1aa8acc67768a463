/* What the collectives are to the runtime. The root of one between groups is in group 0, and the leaves are
 * in group 1. */
#include "runtime/program/program.h"

int quadrille_is_counted(const struct quadrille_program* program) {
  switch (program->collective) {
    case QUADRILLE_ALLTOALL:
    case QUADRILLE_GATHER:
    case QUADRILLE_SCATTER:
    case QUADRILLE_BARRIER: return 0;
    default: return 1;
  }
}

int quadrille_reduces(const struct quadrille_program* program) {
  switch (program->collective) {
    case QUADRILLE_REDUCE:
    case QUADRILLE_ALLREDUCE:
    case QUADRILLE_REDUCE_SCATTER:
    case QUADRILLE_SCAN:
    case QUADRILLE_EXSCAN: return 1;
    default: return 0;
  }
}

int quadrille_is_rooted(const struct quadrille_program* program) {
  switch (program->collective) {
    case QUADRILLE_BROADCAST:
    case QUADRILLE_GATHER:
    case QUADRILLE_SCATTER:
    case QUADRILLE_REDUCE: return 1;
    default: return 0;
  }
}

int quadrille_has_one_buffer(const struct quadrille_program* program) {
  return program->collective == QUADRILLE_BROADCAST && program->groups == 1;
}

void quadrille_block_counts(const struct quadrille_program* program,
                            const struct quadrille_place* place, int32_t counts[2]) {
  const int is_remote = program->groups == 2;
  const int32_t peers = (int32_t)(is_remote ? place->remote_ranks : place->ranks);
  const int is_root = place->rank == place->root && (!is_remote || place->group == 0);
  const int is_leaf = !is_remote || place->group == 1;
  int32_t *send = &counts[QUADRILLE_PIECE_SEND], *receive = &counts[QUADRILLE_PIECE_RECEIVE];
  *send = *receive = 1;
  switch (program->collective) {
    case QUADRILLE_ALLTOALL: *send = *receive = peers; break;
    case QUADRILLE_ALLGATHER: *receive = peers; break;
    case QUADRILLE_REDUCE_SCATTER: *send = peers; break;
    case QUADRILLE_BROADCAST:
      *send = is_root;
      *receive = is_leaf;
      break;
    case QUADRILLE_GATHER:
      *send = is_leaf;
      *receive = is_root ? peers : 0;
      break;
    case QUADRILLE_SCATTER:
      *send = is_root ? peers : 0;
      *receive = is_leaf;
      break;
    case QUADRILLE_REDUCE:
      *send = is_leaf;
      *receive = is_root;
      break;
    case QUADRILLE_EXSCAN: *receive = place->rank > 0; break; /* nothing comes before rank 0 */
    case QUADRILLE_BARRIER: *send = *receive = 0; break;
    default: break;
  }
}

const char* quadrille_collective_name(int collective) {
  static const char* const names[QUADRILLE_COLLECTIVE_COUNT] = {
      "alltoall",  "allgather",      "broadcast", "gather", "scatter", "reduce",
      "allreduce", "reduce-scatter", "scan",      "exscan", "barrier"};
  return names[collective];
}
