/* Compares the ranks' arguments, for persistent calls and if QUADRILLE_DEBUG asks: whether any rank has an error, and
 * whether all pass the same root and counts. Without this a wrong call hangs or returns wrong bytes, as in MPI. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/execute/counts.h"

struct interval {
  int64_t start, end;
  int rank;
};

static int by_start(const void* left, const void* right) {
  const struct interval *a = left, *b = right;
  return a->start < b->start ? -1 : a->start > b->start;
}

/* Returns whether two received blocks overlap. Writes an error text that names them. */
static int find_overlap(const struct qd_binding* binding, const struct qd_side* side,
                        char text[QD_TEXT]) {
  const int ranks = binding->counts.buffers[QD_PIECE_RECEIVE].extents.blocks;
  if (side->uniform || side->type_size == 0) return 0;
  if (!side->displacements && !side->large_displacements) return 0;
  struct interval* intervals = malloc((size_t)ranks * sizeof *intervals);
  int count = 0, found = 0;
  for (int rank = 0; rank < ranks && intervals; rank++) {
    const int64_t length = qd_count_of(side, rank);
    const int64_t start =
        side->displacements ? side->displacements[rank] : side->large_displacements[rank];
    if (length > 0) intervals[count++] = (struct interval){start, start + length, rank};
  }
  if (intervals) qsort(intervals, (size_t)count, sizeof *intervals, by_start);
  for (int i = 1; i < count && !found; i++) {
    found = intervals[i].start < intervals[i - 1].end;
    if (found)
      snprintf(text, QD_TEXT,
               "the blocks of ranks %d and %d overlap in the receive buffer; correct the "
               "displacements",
               intervals[i - 1].rank, intervals[i].rank);
  }
  free(intervals);
  return found;
}

/* Collective. Writes the lowest rank with the value `least` and the lowest with `most`. Returns an MPI error code. */
static int find_owners(const struct qd_binding* binding, int64_t own, int64_t least, int64_t most,
                       int owners[2]) {
  const int rank = binding->layout.own;
  int mine[2] = {own == least ? rank : INT_MAX, own == most ? rank : INT_MAX};
  return qd_allreduce(mine, owners, 2, MPI_INT, MPI_MIN, binding->group_comm);
}

#define UNKNOWN (-INT64_MAX) /* less than any value */

/* Writes the numbers that must be equal at all ranks: the count of each rank of the private communicator, and the
 * bytes of an element in a reduction. A number that this rank does not know is UNKNOWN. Returns how many there
 * are. */
static int all_alike(const struct qd_binding* binding, const struct qd_arguments* arguments,
                     int64_t* numbers) {
  const struct qd_context* context = &binding->layout.context;
  const int all = (int)(context->ranks + context->remote_ranks);
  for (int i = 0; i <= all; i++) numbers[i] = UNKNOWN;
  if (arguments->is_idle) return all + 1;
  if (qd_reduces(&binding->schedule_data->program)) numbers[all] = arguments->receive.extent;
  /* Between groups, an allgather may tell a rank only its own count and the other group's. */
  const int is_known = context->remote_ranks == 0 || binding->schedule_data->program.uses.counts ||
                       binding->schedule_data->program.collective != QD_ALLGATHER ||
                       arguments->receive.uniform;
  for (int64_t i = 0; i < context->ranks; i++)
    if (is_known || i == context->rank) numbers[binding->layout.real[i]] = binding->counts.own[i];
  for (int64_t i = 0; i < context->remote_ranks; i++)
    numbers[binding->layout.remote_real[i]] = binding->counts.remote[i];
  return all + 1;
}

/* Collective. Writes to `first` the index of the first number that differs between ranks, or `count`. Writes the
 * maxima of x and of -x after the `count` numbers and their negatives in `mine`. Returns an MPI error code. */
static int find_difference(const struct qd_binding* binding, int64_t* mine, int count, int* first) {
  int64_t* const all = mine + 2 * count;
  for (int i = 0; i < count; i++) mine[count + i] = mine[i] == UNKNOWN ? UNKNOWN : -mine[i];
  const int code = qd_allreduce(mine, all, 2 * count, MPI_INT64_T, MPI_MAX, binding->group_comm);
  for (*first = 0; code == MPI_SUCCESS && *first < count; ++*first)
    if (all[*first] != UNKNOWN && all[*first] != -all[count + *first]) break;
  return code;
}

/* Collective. Reports a count that differs between ranks. `numbers` has room for four values of each number. */
static int compare(const struct qd_binding* binding, MPI_Comm comm,
                   const struct qd_arguments* arguments, int64_t* numbers) {
  const int count = all_alike(binding, arguments, numbers);
  int i, owners[2] = {0, 0};
  int code = find_difference(binding, numbers, count, &i);
  if (code == MPI_SUCCESS && i == count) return MPI_SUCCESS;
  const int64_t most = numbers[2 * count + i], least = -numbers[3 * count + i];
  const char* const unit = qd_reduces(&binding->schedule_data->program) ? "elements" : "bytes";
  if (code == MPI_SUCCESS) code = find_owners(binding, numbers[i], least, most, owners);
  if (code != MPI_SUCCESS) return qd_mpi_error(comm, code);
  if (i == count - 1)
    return qd_error(comm, MPI_ERR_TYPE,
                    "the ranks disagree: an element is %lld bytes at rank %d and %lld bytes at "
                    "rank %d; call with the same datatype everywhere",
                    (long long)least, owners[0], (long long)most, owners[1]);
  return qd_error(comm, MPI_ERR_COUNT,
                  "the ranks disagree: rank %d's contribution is %lld %s at rank %d and "
                  "%lld %s at rank %d; call with the same counts everywhere",
                  i, (long long)least, unit, owners[0], (long long)most, unit, owners[1]);
}

int qd_compare_roots(const struct qd_binding* binding, MPI_Comm comm, int root) {
  enum { ROOT, GROUP, SAID_BY, COUNT };
  const int is_between = binding->layout.context.remote_ranks > 0, own = binding->layout.own;
  if (!qd_is_rooted(&binding->schedule_data->program)) return MPI_SUCCESS;
  int64_t numbers[4 * COUNT] = {root, 0, UNKNOWN};
  if (is_between) { /* the root; the first rank of its group; the rank that says MPI_ROOT */
    numbers[ROOT] = root >= 0          ? binding->layout.first_remote + root
                    : root == MPI_ROOT ? own
                                       : UNKNOWN;
    numbers[GROUP] = root >= 0 ? binding->layout.first_remote : binding->layout.first;
    numbers[SAID_BY] = root == MPI_ROOT ? own : UNKNOWN;
  }
  const int64_t named = numbers[ROOT];
  int first, owners[2] = {0, 0};
  int code = find_difference(binding, numbers, COUNT, &first);
  const int64_t *const most = numbers + 2 * COUNT, least = -most[COUNT + ROOT];
  if (code == MPI_SUCCESS && first < COUNT && !is_between)
    code = find_owners(binding, named, least, most[ROOT], owners);
  if (code != MPI_SUCCESS) return qd_mpi_error(comm, code);
  if (first == COUNT && (!is_between || most[SAID_BY] != UNKNOWN)) return MPI_SUCCESS;
  if (is_between)
    return qd_error(comm, MPI_ERR_ROOT,
                    "the ranks disagree on the root: it says MPI_ROOT, all others of its group "
                    "MPI_PROC_NULL, and those of the other group its rank");
  return qd_error(comm, MPI_ERR_ROOT,
                  "the ranks disagree on the root: rank %d says %lld and rank %d says %lld",
                  owners[0], (long long)least, owners[1], (long long)most[ROOT]);
}

int qd_compare_errors(const struct qd_binding* binding, MPI_Comm comm, int error_class,
                      const char* error) {
  int mine = error ? error_class : MPI_SUCCESS, worst = MPI_SUCCESS;
  const int code = qd_allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, binding->group_comm);
  if (code != MPI_SUCCESS) return qd_mpi_error(comm, code);
  if (worst == MPI_SUCCESS) return MPI_SUCCESS;
  return qd_error(comm, worst, "%s",
                  error ? error
                        : "another rank's arguments are wrong; its own message says which, or that "
                          "its memory ran out");
}

int qd_compare_calls(const struct qd_binding* binding, MPI_Comm comm,
                     const struct qd_arguments* arguments, int error_class, const char* error) {
  const struct qd_context* context = &binding->layout.context;
  const size_t size = 4 * (size_t)(context->ranks + context->remote_ranks + 1) * sizeof(int64_t);
  int64_t* numbers = malloc(size);
  char text[QD_TEXT];
  if (!error && !numbers) {
    error = qd_no_memory;
    error_class = MPI_ERR_NO_MEM;
  } else if (!error && find_overlap(binding, &arguments->receive, text)) {
    error = text;
    error_class = MPI_ERR_BUFFER;
  }
  int code = qd_compare_errors(binding, comm, error_class, error);
  if (code == MPI_SUCCESS) code = qd_compare_roots(binding, comm, arguments->root);
  if (code == MPI_SUCCESS && numbers) code = compare(binding, comm, arguments, numbers);
  free(numbers);
  return code;
}
