/* The common path of all entry points: check MPI's arguments, then make the call. */
#include "runtime/execute/api.h"
#include "runtime/execute/bind.h"
#include "runtime/execute/global_counts.h"
#include "runtime/execute/pairwise_counts.h"
#include "runtime/execute/persistent.h"

/* The collectives of schedules. */
static const unsigned char collectives[QD_FUNCTION_COUNT] = {
    [QD_Allgather] = QD_ALLGATHER,
    [QD_Allgatherv] = QD_ALLGATHER,
    [QD_Allreduce] = QD_ALLREDUCE,
    [QD_Alltoall] = QD_ALLTOALL,
    [QD_Alltoallv] = QD_ALLTOALL,
    [QD_Alltoallw] = QD_ALLTOALL,
    [QD_Barrier] = QD_BARRIER,
    [QD_Bcast] = QD_BROADCAST,
    [QD_Exscan] = QD_EXSCAN,
    [QD_Gather] = QD_GATHER,
    [QD_Gatherv] = QD_GATHER,
    [QD_Reduce] = QD_REDUCE,
    [QD_Reduce_scatter] = QD_REDUCE_SCATTER,
    [QD_Reduce_scatter_block] = QD_REDUCE_SCATTER,
    [QD_Scan] = QD_SCAN,
    [QD_Scatter] = QD_SCATTER,
    [QD_Scatterv] = QD_SCATTER};

static struct qd_ranks ranks_of(const struct qd_binding* binding) {
  const struct qd_layout* layout = &binding->layout;
  return (struct qd_ranks){(int)layout->context.ranks, (int)layout->context.remote_ranks,
                           layout->own - layout->first};
}

/* Checks what the schedule asks of the arguments. */
static const char* check_schedule(const struct qd_binding* binding, struct qd_arguments* a) {
  const struct qd_program* program = &binding->schedule_data->program;
  if (qd_significant(a->function, a->role) & QD_OPERATOR && !a->commutes) {
    a->error_class = MPI_ERR_OP;
    if (program->commutative)
      return "the schedule is for operators that commute; load one that keeps the order of ranks";
    if (!binding->layout.is_in_order) return qd_other_order;
  }
  if (qd_root_fits(&binding->layout, program, a->root)) return NULL;
  a->error_class = MPI_ERR_TOPOLOGY;
  return "the schedule is for other nodes in the root's group; generate one for these or for any";
}

static void check_arguments(const struct qd_binding* binding, struct qd_arguments* a) {
  const struct qd_ranks ranks = ranks_of(binding);
  qd_check_arguments(&ranks, a);
  if (a->error || a->is_idle) return;
  a->send.on_device = qd_is_device_memory(a->send.base);
  a->receive.on_device = qd_is_device_memory(a->receive.base);
  a->error = check_schedule(binding, a);
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
static int find(quadrille_schedule schedule, struct qd_arguments* a, MPI_Comm comm,
                struct qd_binding** binding) {
  const int code = qd_find_binding(schedule, comm, collectives[a->function], binding);
  if (code != MPI_SUCCESS) return code;
  const struct qd_ranks ranks = ranks_of(*binding);
  a->role = qd_role_of(a->function, ranks.remote_ranks > 0, ranks.rank, a->root, a->send.base,
                       a->receive.base);
  return MPI_SUCCESS;
}

int qd_run(quadrille_schedule schedule, struct qd_arguments* a, MPI_Comm comm) {
  struct qd_binding* binding;
  int code = find(schedule, a, comm, &binding);
  if (code != MPI_SUCCESS) return code;
  binding->calls++;
  if (is_repeated(binding, a)) return repeat(binding, comm);
  /* Such arguments name no array that the program may change. */
  const int is_whole = a->send.uniform && a->receive.uniform;
  struct qd_arguments given;
  if (is_whole) given = *a;
  check_arguments(binding, a);
  binding->last.may_repeat = 0;
  if (a->error && qd_leaves_errors(binding)) return QD_LEFT_TO_MPI;
  code = run(binding, a, comm);
  if (code != MPI_SUCCESS) return code;
  if (a->lacks_type) return qd_error(comm, MPI_ERR_TYPE, "%s", qd_no_type);
  binding->last.may_repeat = binding->last.may_repeat && is_whole && keep_meaning(binding, a);
  if (binding->last.may_repeat) {
    binding->last.given = given;
    binding->last.made = *a;
  }
  return MPI_SUCCESS;
}

int qd_make(quadrille_schedule schedule, struct qd_arguments* a, MPI_Comm comm,
            quadrille_request* request) {
  struct qd_binding* binding;
  if (request) *request = QUADRILLE_REQUEST_NULL;
  const int code = find(schedule, a, comm, &binding);
  if (code != MPI_SUCCESS) return code;
  check_arguments(binding, a);
  if (!a->error && a->lacks_type) {
    a->error = qd_no_type;
    a->error_class = MPI_ERR_TYPE;
  }
  return qd_persistent_make(binding, a, comm, request);
}

#define TEXT_OF(number) #number
#define VERSION(major, minor) TEXT_OF(major) "." TEXT_OF(minor)

const char* quadrille_version(void) {
  return VERSION(QUADRILLE_VERSION_MAJOR, QUADRILLE_VERSION_MINOR);
}
