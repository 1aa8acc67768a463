/* Checks MPI's arguments without communication. Refuses only calls that MPI libraries refuse too. Tested by
 * tests/preload/corners_test.sh, tests/net/refusals_test.cc and mistakes_test.cc. */
#include "runtime/execute/arguments.h"

#include <stddef.h>

enum { S = QD_SEND, R = QD_RECEIVE, O = QD_OPERATOR };

/* Roles are in the order of enum qd_role. The counts of a reduce-scatter are receive arguments. */
static const unsigned char table[QD_FUNCTION_COUNT][QD_ROLE_COUNT] = {
    /* usual, in place, other; between groups: usual, leaf, idle */
    [QD_Allgather] = {S | R, R, 0, S | R, 0, 0},
    [QD_Allgatherv] = {S | R, R, 0, S | R, 0, 0},
    [QD_Allreduce] = {S | R | O, R | O, 0, S | R | O, 0, 0},
    [QD_Alltoall] = {S | R, R, 0, S | R, 0, 0},
    [QD_Alltoallv] = {S | R, R, 0, S | R, 0, 0},
    [QD_Alltoallw] = {S | R, R, 0, S | R, 0, 0},
    [QD_Barrier] = {0, 0, 0, 0, 0, 0},
    [QD_Bcast] = {S, S, R, S, R, 0},
    [QD_Exscan] = {S | R | O, R | O, S | O, 0, 0, 0},
    [QD_Gather] = {S | R, R, S, R, S, 0},
    [QD_Gatherv] = {S | R, R, S, R, S, 0},
    [QD_Reduce] = {S | R | O, R | O, S | O, R | O, S | O, 0},
    [QD_Reduce_scatter] = {S | R | O, R | O, 0, S | R | O, 0, 0},
    [QD_Reduce_scatter_block] = {S | R | O, R | O, 0, S | R | O, 0, 0},
    [QD_Scan] = {S | R | O, R | O, 0, 0, 0, 0},
    [QD_Scatter] = {S | R, S, R, S, R, 0},
    [QD_Scatterv] = {S | R, S, R, S, R, 0},
};

#define SCHEDULED(Name, name, scheduled, family) QD_##scheduled,
const unsigned char qd_scheduled[QD_FUNCTION_COUNT] = {QD_FUNCTIONS(SCHEDULED) QD_BARRIER};

unsigned qd_significant(enum qd_function function, enum qd_role role) {
  return table[function][role];
}

/* Returns a number below 0 if a count is negative, 0 if all counts are 0, and else a number above 0. */
static int64_t sign_of_counts(const struct qd_side* side, int ranks) {
  int64_t all = side->uniform ? side->count : 0;
  if (side->counts)
    for (int rank = 0; rank < ranks; rank++) all |= side->counts[rank];
  else if (!side->uniform)
    for (int rank = 0; rank < ranks; rank++) all |= side->large_counts[rank];
  return all;
}

static const char* check_counts(const struct qd_side* side, int ranks, int* error_class) {
  *error_class = MPI_ERR_COUNT;
  if (side->uniform) return side->count < 0 ? "a count is negative" : NULL;
  *error_class = MPI_ERR_ARG;
  if (!side->counts && !side->large_counts) return "the counts are NULL";
  if (!side->displacements && !side->large_displacements) return "the displacements are NULL";
  *error_class = MPI_ERR_COUNT;
  return sign_of_counts(side, ranks) < 0 ? "a count is negative" : NULL;
}

/* Returns whether the address of a block is invalid. NULL may be MPI_BOTTOM: its datatypes hold the addresses. */
static int is_nowhere(const struct qd_side* side, int rank) {
  enum { NO_MEMORY = 4096 };
  const struct qd_side own = qd_side_of(side, rank);
  MPI_Aint lower = 0, extent = 0;
  if (qd_count_of(side, rank) == 0 || own.type_size == 0) return 0;
  PMPI_Type_get_true_extent(own.type, &lower, &extent);
  return (intptr_t)((uintptr_t)qd_block_of(side, rank).address + (uintptr_t)lower) < NO_MEMORY;
}

const char qd_no_type[] = "a datatype is MPI_DATATYPE_NULL, or the datatypes are NULL";

/* Returns whether the datatypes of all blocks with elements are committed. */
static int are_committed(const struct qd_side* side, int ranks) {
  for (int rank = 0; rank < (side->types ? ranks : 1); rank++) {
    const MPI_Datatype type = side->types ? side->types[rank] : side->type;
    if (side->types && qd_count_of(side, rank) == 0) continue;
    if (!qd_is_predefined(type) && !qd_is_committed(type)) return 0;
  }
  return 1;
}

/* Checks a side that has `ranks` blocks. Returns NULL, or an error text and sets its class. */
static const char* check_side(struct qd_arguments* a, struct qd_side* side, int ranks) {
  int* const error_class = &a->error_class;
  const char* wrong = check_counts(side, ranks, error_class);
  if (wrong) return wrong;
  *error_class = MPI_ERR_TYPE;
  if (side->type == MPI_DATATYPE_NULL) {
    if (sign_of_counts(side, ranks) != 0) return qd_no_type;
    side->type = MPI_BYTE;
    a->lacks_type = 1;
  }
  if (qd_side_describe(side, ranks) != MPI_SUCCESS) return "a datatype is not valid";
  if (!are_committed(side, ranks)) return "a datatype is not committed; call MPI_Type_commit first";
  *error_class = MPI_ERR_BUFFER;
  for (int rank = 0; !side->base && rank < (side->uniform ? 1 : ranks); rank++)
    if (is_nowhere(side, rank)) return "a buffer is NULL, and its count is not 0";
  return NULL;
}

/* Checks the receive side of a reduce-scatter. This rank receives its own count of elements. The send buffer holds
 * the elements of all ranks; in place, the receive buffer does. Only the sign of the send count matters. */
static const char* check_results(const struct qd_ranks* r, struct qd_arguments* a) {
  struct qd_side one = a->receive;
  a->error_class = MPI_ERR_ARG;
  if (!one.uniform && !one.counts && !one.large_counts) return "the counts are NULL";
  a->error_class = MPI_ERR_COUNT;
  a->send.count = sign_of_counts(&one, r->ranks);
  if (a->send.count < 0) return "a count is negative";
  one.count = a->in_place ? a->send.count : qd_count_of(&one, r->rank);
  one.uniform = 1;
  const char* wrong = check_side(a, &one, 1);
  one.count = qd_count_of(&a->receive, r->rank);
  one.uniform = a->receive.uniform;
  a->receive = one;
  return wrong;
}

/* Refuses MPI_IN_PLACE where it is significant and not allowed. */
static const char* check_places(const struct qd_arguments* a, unsigned significant) {
  const int is_sent = significant & QD_SEND_BUFFER && a->send.base == MPI_IN_PLACE;
  const int is_received = significant & QD_RECEIVE_BUFFER && a->receive.base == MPI_IN_PLACE;
  if (!is_sent && !is_received) return NULL;
  if (a->role == QD_ROLE_USUAL_BETWEEN || a->role == QD_ROLE_LEAF)
    return "MPI_IN_PLACE means nothing between groups";
  if (is_received)
    return "MPI_IN_PLACE is the receive buffer; it belongs in place of the send buffer";
  return a->role == QD_ROLE_OTHER ? "MPI_IN_PLACE means something at the root alone"
                                  : "MPI_IN_PLACE is the send buffer; it has no place there";
}

/* Returns whether this rank sends elements to itself and receives them at their own address. MPI forbids that. */
static int is_aliased(const struct qd_ranks* r, const struct qd_arguments* a, unsigned significant,
                      const int blocks[2]) {
  const struct qd_side *send = &a->send, *receive = &a->receive;
  if (r->remote_ranks > 0 || !(significant & QD_SEND_BUFFER) ||
      !(significant & QD_RECEIVE_BUFFER) || !send->base || send->type != receive->type ||
      send->type_size == 0 || sign_of_counts(send, blocks[0]) <= 0 ||
      sign_of_counts(receive, blocks[1]) <= 0)
    return 0;
  switch (qd_scheduled[a->function]) {
    case QD_ALLTOALL:
      return send->base == receive->base && send->count == receive->count &&
             send->counts == receive->counts && send->large_counts == receive->large_counts;
    case QD_ALLGATHER:
    case QD_GATHER: return send->base == qd_block_of(receive, r->rank).address;
    case QD_SCATTER: return receive->base == qd_block_of(send, r->rank).address;
    default: return send->base == receive->base;
  }
}

int qd_compares_unused_buffer(enum qd_function function, enum qd_role role) {
  return function == QD_Exscan && role == QD_ROLE_OTHER && !qd_is_open_mpi();
}

/* Treats aliased buffers as the MPI library does. MPICH refuses them. Open MPI refuses them in MPI_Reduce, and in
 * MPI_Allreduce if there are several elements. It treats other reductions as in place. */
static const char* take_alias(struct qd_arguments* a, unsigned significant) {
  const int is_open_mpi = qd_is_open_mpi();
  const int is_refused = !is_open_mpi || a->function == QD_Reduce ||
                         (a->function == QD_Allreduce && a->send.count > 1);
  a->error_class = is_open_mpi && a->function == QD_Reduce ? MPI_ERR_ARG : MPI_ERR_BUFFER;
  a->in_place = !is_refused && significant & QD_OPERATOR;
  if (a->in_place) a->send = a->receive;
  if (!is_refused) return NULL;
  return "the send buffer is the receive buffer as well; pass MPI_IN_PLACE in its place";
}

static const char* check_root(const struct qd_ranks* r, const struct qd_arguments* a) {
  const int peers = r->remote_ranks > 0 ? r->remote_ranks : r->ranks;
  if (!qd_has_root(a->function) || (a->root >= 0 && a->root < peers)) return NULL;
  if (r->remote_ranks == 0) return "the root is no rank of the communicator";
  if (a->role != QD_ROLE_LEAF) return NULL;
  return "the root is neither MPI_ROOT, MPI_PROC_NULL nor a rank of the other group";
}

static const char* check_operator(struct qd_arguments* a) {
  a->error_class = MPI_ERR_OP;
  if (a->operation == MPI_OP_NULL || PMPI_Op_commutative(a->operation, &a->commutes) != MPI_SUCCESS)
    return "the operator is not valid";
  if (qd_operator_fits(a->operation, a->receive.type)) return NULL;
  return "the operator is not for elements of that datatype";
}

/* Sets the counts of a reduction to 0, because its elements have no bytes. */
static void forget_elements(struct qd_arguments* a) {
  a->send.uniform = a->receive.uniform = 1;
  a->send.count = a->receive.count = 0;
}

/* Writes how many blocks the send and the receive buffer have, if they are significant. */
static void count_blocks(const struct qd_ranks* r, enum qd_function function, int blocks[2]) {
  const int peers = r->remote_ranks > 0 ? r->remote_ranks : r->ranks;
  blocks[0] = blocks[1] = 1;
  switch (qd_scheduled[function]) {
    case QD_ALLTOALL: blocks[0] = blocks[1] = peers; break;
    case QD_ALLGATHER:
    case QD_GATHER: blocks[1] = peers; break;
    case QD_SCATTER: blocks[0] = peers; break;
    default: break;
  }
}

/* Checks the significant sides. */
static const char* check_sides(const struct qd_ranks* r, struct qd_arguments* a,
                               unsigned significant, const int blocks[2]) {
  const char* wrong = NULL;
  if (a->function == QD_Reduce_scatter || a->function == QD_Reduce_scatter_block)
    wrong = check_results(r, a);
  else if (significant & QD_RECEIVE)
    wrong = check_side(a, &a->receive, blocks[1]);
  if (!wrong && significant & QD_SEND) wrong = check_side(a, &a->send, blocks[0]);
  return wrong;
}

static const char* check(const struct qd_ranks* r, struct qd_arguments* a) {
  const unsigned significant = qd_significant(a->function, a->role);
  const int is_same = qd_compares_unused_buffer(a->function, a->role) && a->send.base &&
                      a->send.base == a->receive.base;
  int blocks[2];
  a->error_class = MPI_ERR_ROOT;
  const char* wrong = check_root(r, a);
  if (wrong || a->is_idle) return wrong;
  a->error_class = MPI_ERR_BUFFER;
  wrong = check_places(a, significant);
  if (wrong) return wrong;
  count_blocks(r, a->function, blocks);
  wrong = check_sides(r, a, significant, blocks);
  if (wrong) return wrong;
  if (!(significant & QD_SEND)) a->send = a->receive;
  if (!(significant & QD_RECEIVE)) a->receive = a->send;
  if (significant & QD_OPERATOR) {
    wrong = check_operator(a);
    if (wrong) return wrong;
    if (a->receive.type_size == 0) forget_elements(a);
  }
  const int is_wrong =
      is_same ? a->send.type_size > 0 && a->send.count > 0 : is_aliased(r, a, significant, blocks);
  return is_wrong ? take_alias(a, significant) : NULL;
}

void qd_check_arguments(const struct qd_ranks* r, struct qd_arguments* a) {
  const int is_between = r->remote_ranks > 0;
  a->is_idle = a->role == QD_ROLE_IDLE;
  a->in_place = a->role == QD_ROLE_IN_PLACE;
  /* Between groups, one group may send longer blocks than the other. */
  a->is_regular =
      a->send.uniform && a->receive.uniform && !(is_between && a->function == QD_Alltoall);
  a->error = check(r, a);
}
