/* The common path of all entry points: check MPI's arguments, then make the call. */
#include "runtime/execute/api.h"
#include "runtime/execute/bind.h"
#include "runtime/execute/communicator.h"
#include "runtime/execute/global_counts.h"
#include "runtime/execute/pairwise_counts.h"
#include "runtime/execute/persistent.h"
#include "runtime/execute/preloaded.h"

/* Negative if a count is negative, 0 if all counts are 0. */
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

/* Whether the address of a block is invalid. MPI_BOTTOM may be a null pointer: its datatypes hold the addresses. */
static int is_nowhere(const struct qd_side* side, int rank) {
  enum { NO_MEMORY = 4096 };
  const struct qd_side own = qd_side_of(side, rank);
  MPI_Aint lower = 0, extent = 0;
  if (qd_count_of(side, rank) == 0 || own.type_size == 0) return 0;
  PMPI_Type_get_true_extent(own.type, &lower, &extent);
  return (intptr_t)((uintptr_t)qd_block_of(side, rank).address + (uintptr_t)lower) < NO_MEMORY;
}

static const char* const no_type = "a datatype is MPI_DATATYPE_NULL, or the datatypes are NULL";

/* Whether the datatypes of all blocks with elements are committed. */
static int are_committed(const struct qd_side* side, int ranks, MPI_Comm comm) {
  char nothing[1];
  for (int rank = 0, position = 0; rank < (side->types ? ranks : 1); rank++) {
    const MPI_Datatype type = side->types ? side->types[rank] : side->type;
    if (side->types && qd_count_of(side, rank) == 0) continue;
    if (!qd_is_predefined(type) &&
        PMPI_Pack(nothing, 0, type, nothing, 0, &position, comm) != MPI_SUCCESS)
      return 0;
  }
  return 1;
}

/* Checks one side's arguments without communication. A side of no ranks has one block. */
static const char* check_side(const struct qd_binding* binding, struct qd_arguments* a,
                              struct qd_side* side, int ranks, int* error_class) {
  const char* wrong = check_counts(side, ranks, error_class);
  if (wrong) return wrong;
  *error_class = MPI_ERR_TYPE;
  if (side->type == MPI_DATATYPE_NULL) {
    if (sign_of_counts(side, ranks) != 0) return no_type;
    side->type = MPI_BYTE;
    a->lacks_type = 1;
  }
  if (qd_side_describe(side, ranks) != MPI_SUCCESS) return "a datatype is not valid";
  if (!are_committed(side, ranks, binding->comm))
    return "a datatype is not committed; call MPI_Type_commit first";
  *error_class = MPI_ERR_BUFFER;
  for (int rank = 0; !side->base && rank < (side->uniform ? 1 : ranks); rank++)
    if (is_nowhere(side, rank)) return "a buffer is NULL, and its count is not 0";
  return NULL;
}

/* Writes how many blocks this rank's send and receive buffers have, by QD_PIECE_SEND and QD_PIECE_RECEIVE. */
static void count_blocks(const struct qd_binding* binding, enum qd_role role, int32_t blocks[2]) {
  const struct qd_program* program = &binding->schedule_data->program;
  struct qd_context context = binding->layout.context;
  if (qd_is_rooted(program)) {
    const int is_root = role != QD_ROLE_OTHER && role != QD_ROLE_LEAF;
    context.root = is_root ? context.rank : -1;
    if (program->groups == 2) context.group = !is_root;
  }
  qd_block_counts(program, &context, blocks);
}

static const char* check_root(const struct qd_binding* binding, struct qd_arguments* a) {
  const struct qd_program* program = &binding->schedule_data->program;
  const int64_t ranks =
      program->groups == 2 ? binding->layout.context.remote_ranks : binding->layout.context.ranks;
  if (!qd_is_rooted(program) || (a->root >= 0 && a->root < ranks)) return NULL;
  if (program->groups == 1) return "the root is no rank of the communicator";
  if (a->role != QD_ROLE_LEAF) return NULL;
  return "the root is neither MPI_ROOT, MPI_PROC_NULL nor a rank of the other group";
}

/* Checks a reduce-scatter, whose receive side has only counts. This rank receives its own count. The send buffer
 * holds the elements of all ranks; in place, the receive buffer does. Only the sign of the send count matters. */
static const char* check_results(const struct qd_binding* binding, struct qd_arguments* a,
                                 int* error_class) {
  const int ranks = (int)binding->layout.context.ranks,
            own = binding->layout.own - binding->layout.first;
  struct qd_side one = a->receive;
  *error_class = MPI_ERR_ARG;
  if (!one.uniform && !one.counts && !one.large_counts) return "the counts are NULL";
  *error_class = MPI_ERR_COUNT;
  a->send.count = sign_of_counts(&one, ranks);
  if (a->send.count < 0) return "a count is negative";
  one.count = a->in_place ? a->send.count : qd_count_of(&one, own);
  one.uniform = 1;
  const char* wrong = check_side(binding, a, &one, 1, error_class);
  one.count = qd_count_of(&a->receive, own);
  one.uniform = a->receive.uniform;
  a->receive = one;
  return wrong;
}

/* Whether a buffer that means something is MPI_IN_PLACE. */
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

/* Whether elements that this rank sends to itself are received where they are. MPI forbids that. */
static int is_aliased(const struct qd_binding* binding, const struct qd_arguments* a,
                      const int32_t blocks[2]) {
  const struct qd_side *send = &a->send, *receive = &a->receive;
  const int32_t sends = blocks[QD_PIECE_SEND], receives = blocks[QD_PIECE_RECEIVE];
  const int own = binding->layout.own;
  if (a->in_place || binding->layout.context.remote_ranks > 0 || sends == 0 || receives == 0 ||
      !send->base || send->type != receive->type || send->type_size == 0 ||
      sign_of_counts(send, sends) <= 0 || sign_of_counts(receive, receives) <= 0)
    return 0;
  switch (binding->schedule_data->program.collective) {
    case QD_BROADCAST: return 0;
    case QD_ALLTOALL:
      return send->base == receive->base && send->count == receive->count &&
             send->counts == receive->counts && send->large_counts == receive->large_counts;
    case QD_ALLGATHER:
    case QD_GATHER: return send->base == qd_block_of(receive, own).address;
    case QD_SCATTER: return receive->base == qd_block_of(send, own).address;
    default: return send->base == receive->base;
  }
}

/* Treats aliased buffers as the MPI library does. MPICH refuses such a call. Open MPI refuses it of a reduce, and treats other
 * reductions as in place. */
static const char* take_alias(const struct qd_program* program, struct qd_arguments* a,
                              int* error_class) {
#ifdef OPEN_MPI
  *error_class = MPI_ERR_ARG;
  const int is_taken = program->collective != QD_REDUCE;
  a->in_place = is_taken && qd_reduces(program);
  if (a->in_place) a->send = a->receive;
#else
  *error_class = MPI_ERR_BUFFER;
  const int is_taken = 0;
  (void)program, (void)a;
#endif
  if (is_taken) return NULL;
  return "the send buffer is the receive buffer as well; pass MPI_IN_PLACE in its place";
}

/* Checks the operator of a reduction. */
static const char* check_operator(const struct qd_binding* binding, struct qd_arguments* a,
                                  int* error_class) {
  const struct qd_program* program = &binding->schedule_data->program;
  const struct qd_call_data* last = &binding->call->data;
  const MPI_Datatype type = a->receive.type;
  *error_class = MPI_ERR_OP;
  if (a->operation == MPI_OP_NULL || PMPI_Op_commutative(a->operation, &a->commutes) != MPI_SUCCESS)
    return "the operator is not valid";
  if ((last->type != type || last->operation != a->operation) &&
      !qd_operator_fits(a->operation, type))
    return "the operator is not for elements of that datatype";
  if (a->commutes) return NULL;
  if (program->commutative)
    return "the schedule is for operators that commute; load one that keeps the order of ranks";
  return binding->layout.is_in_order ? NULL : qd_other_order;
}

/* Checks the sides that mean something, which have that many blocks. */
static const char* check_sides(const struct qd_binding* binding, struct qd_arguments* a,
                               unsigned significant, const int32_t blocks[2], int* error_class) {
  const int32_t sends = blocks[QD_PIECE_SEND], receives = blocks[QD_PIECE_RECEIVE];
  const char* wrong = NULL;
  if (binding->schedule_data->program.collective == QD_REDUCE_SCATTER)
    wrong = check_results(binding, a, error_class);
  else if (significant & QD_RECEIVE)
    wrong = check_side(binding, a, &a->receive, receives > 0 ? receives : 1, error_class);
  if (!wrong && significant & QD_SEND)
    wrong = check_side(binding, a, &a->send, sends > 0 ? sends : 1, error_class);
  return wrong;
}

/* Elements without bytes count as none. */
static void forget_elements(struct qd_arguments* a) {
  a->send.uniform = a->receive.uniform = 1;
  a->send.count = a->receive.count = 0;
}

/* Checks the arguments without communication. A side that means nothing at this rank is not looked at, and becomes equal to the
 * other side. */
static const char* check_arguments(const struct qd_binding* binding, struct qd_arguments* a,
                                   int* error_class) {
  const struct qd_program* program = &binding->schedule_data->program;
  const unsigned significant = qd_significant(a->function, a->role);
  int32_t blocks[2];
  *error_class = MPI_ERR_ROOT;
  const char* wrong = check_root(binding, a);
  a->is_idle = a->role == QD_ROLE_IDLE;
  if (wrong || a->is_idle) return wrong;
  *error_class = MPI_ERR_BUFFER;
  wrong = check_places(a, significant);
  if (wrong) return wrong;
  count_blocks(binding, a->role, blocks);
  /* Between groups, one group may send longer blocks than the other. */
  a->is_regular = a->send.uniform && a->receive.uniform &&
                  (program->collective != QD_ALLTOALL || program->groups == 1);
  a->in_place = a->role == QD_ROLE_IN_PLACE;
  wrong = check_sides(binding, a, significant, blocks, error_class);
  if (wrong) return wrong;
  if (!(significant & QD_SEND)) a->send = a->receive;
  if (!(significant & QD_RECEIVE)) a->receive = a->send;
  if (significant & QD_OPERATOR) {
    wrong = check_operator(binding, a, error_class);
    if (wrong) return wrong;
    if (a->receive.type_size == 0) forget_elements(a);
  }
  if (is_aliased(binding, a, blocks)) {
    wrong = take_alias(program, a, error_class);
    if (wrong) return wrong;
  }
  a->send.on_device = qd_is_device_memory(a->send.base);
  a->receive.on_device = qd_is_device_memory(a->receive.base);
  if (qd_root_fits(&binding->layout, program, a->root)) return NULL;
  *error_class = MPI_ERR_TOPOLOGY;
  return "the schedule is for other nodes in the root's group; generate one for these or for any";
}

static int is_same_side(const struct qd_side* one, const struct qd_side* other) {
  return one->uniform && one->base == other->base && one->count == other->count &&
         one->type == other->type;
}

/* Whether this call has the arguments of the last one, as far as they mean something. */
static int is_repeated(const struct qd_binding* b, const struct qd_arguments* a) {
  const struct qd_arguments* given = &b->last.given;
  if (!b->last.may_repeat || a->function != given->function || a->role != given->role ||
      a->root != given->root)
    return 0;
  const unsigned significant = qd_significant(a->function, a->role);
  return (!(significant & QD_RECEIVE) || is_same_side(&a->receive, &given->receive)) &&
         (!(significant & QD_SEND) || is_same_side(&a->send, &given->send)) &&
         (!(significant & QD_OPERATOR) || a->operation == given->operation);
}

/* Whether equal arguments mean the same in the next call: they name only predefined objects. */
static int keep_meaning(const struct qd_binding* b, const struct qd_arguments* a) {
  return !b->options.compares && !a->is_idle && !a->lacks_type &&
         qd_is_predefined(a->receive.type) &&
         (a->send.type == a->receive.type || qd_is_predefined(a->send.type)) &&
         (!qd_reduces(&b->schedule_data->program) || qd_is_predefined_operator(a->operation));
}

static int repeat(struct qd_binding* binding, MPI_Comm comm) {
  return qd_has_global_counts(&binding->schedule_data->program)
             ? qd_global_counts_repeat(binding, comm)
             : qd_pairwise_counts_repeat(binding, comm);
}

static int run(struct qd_binding* binding, const struct qd_arguments* a, MPI_Comm comm) {
  /* If one rank's arguments are wrong, all ranks may have to agree on the error. The call does that. */
  if (qd_has_global_counts(&binding->schedule_data->program))
    return qd_global_counts_run(binding, a, comm);
  if (a->is_idle) return MPI_SUCCESS;
  if (a->error) return qd_error(comm, a->error_class, "%s", a->error);
  return qd_pairwise_counts_run(binding, a, comm);
}

/* Finds the binding, and this rank's role in the call. */
static int find(quadrille_schedule schedule, int collective, struct qd_arguments* a, MPI_Comm comm,
                struct qd_binding** binding) {
  const int code = qd_find_binding(schedule, comm, collective, binding);
  if (code != MPI_SUCCESS) return code;
  const struct qd_layout* layout = &(*binding)->layout;
  a->role = qd_role_of(a->function, layout->context.remote_ranks > 0, layout->own - layout->first,
                       a->root, a->send.base, a->receive.base);
  return MPI_SUCCESS;
}

int qd_run(quadrille_schedule schedule, int collective, struct qd_arguments* a, MPI_Comm comm) {
  struct qd_binding* binding;
  int code = find(schedule & ~QD_ONLY_CHECKED, collective, a, comm, &binding);
  if (code != MPI_SUCCESS) return code;
  const int is_made = !(schedule & QD_ONLY_CHECKED);
  binding->calls += is_made;
  if (is_made && is_repeated(binding, a)) return repeat(binding, comm);
  /* Such arguments name no array that the program may change. */
  const int is_whole = a->send.uniform && a->receive.uniform;
  struct qd_arguments given;
  if (is_whole) given = *a;
  a->error = check_arguments(binding, a, &a->error_class);
  binding->last.may_repeat = 0;
  if (a->error && (!is_made || qd_leaves_errors(binding))) return QD_LEFT_TO_MPI;
  if (!is_made) return MPI_SUCCESS;
  code = run(binding, a, comm);
  if (code != MPI_SUCCESS) return code;
  if (a->lacks_type) return qd_error(comm, MPI_ERR_TYPE, "%s", no_type);
  binding->last.may_repeat = binding->last.may_repeat && is_whole && keep_meaning(binding, a);
  if (binding->last.may_repeat) {
    binding->last.given = given;
    binding->last.made = *a;
  }
  return MPI_SUCCESS;
}

int qd_make(quadrille_schedule schedule, int collective, struct qd_arguments* a, MPI_Comm comm,
            quadrille_request* request) {
  struct qd_binding* binding;
  if (request) *request = QUADRILLE_REQUEST_NULL;
  const int code = find(schedule, collective, a, comm, &binding);
  if (code != MPI_SUCCESS) return code;
  a->error = check_arguments(binding, a, &a->error_class);
  if (!a->error && a->lacks_type) {
    a->error = no_type;
    a->error_class = MPI_ERR_TYPE;
  }
  return qd_persistent_make(binding, a, comm, request);
}

#define TEXT_OF(number) #number
#define VERSION(major, minor) TEXT_OF(major) "." TEXT_OF(minor)

const char* quadrille_version(void) {
  return VERSION(QUADRILLE_VERSION_MAJOR, QUADRILLE_VERSION_MINOR);
}
