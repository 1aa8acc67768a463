/* Makes calls in which only the two ends of a message know its lengths: all-to-all, gather and scatter. Barriers,
 * which move no bytes, belong here too. */
#include <stdlib.h>

#include "runtime/execute/counts.h"

/* Makes tables and plan after the root or options changed. Returns NULL, or an error text. */
static const char* reopen(struct qd_binding* binding) {
  const char* error = qd_fill_tables(binding);
  if (!error) error = qd_call_reopen(binding->call);
  binding->are_tables_good = !error;
  return error;
}

/* Writes the lengths of the blocks in `blocks` regions from `region` on, by the number of the rank that sends or
 * receives the block. There is one block for each rank, or only one, for the root. */
static void find_lengths(const struct qd_call* c, int region, int blocks, int64_t* lengths) {
  const struct qd_binding* b = c->binding;
  const int is_remote = b->layout.context.remote_ranks > 0,
            first = is_remote ? b->layout.first_remote : 0;
  const int peers = (int)(is_remote ? b->layout.context.remote_ranks : b->layout.context.ranks);
  const int* roots = b->layout.context.group == 1 ? b->layout.remote_real : b->layout.real;
  for (int i = 0; i < blocks; i++)
    lengths[blocks == peers ? first + i : roots[b->layout.context.root]] =
        qd_packed_size(c, region + i);
}

int qd_compare_lengths(const struct qd_binding* b, const struct qd_call* c, MPI_Comm comm,
                       int error_class, const char* error) {
  const int all = (int)(b->layout.context.ranks + b->layout.context.remote_ranks);
  const int first = b->layout.context.remote_ranks > 0 ? b->layout.first_remote : 0;
  int64_t* const sent = calloc(3 * (size_t)all, sizeof *sent);
  char text[QD_TEXT];
  int code = qd_compare_errors(b, comm, error ? error_class : MPI_ERR_NO_MEM,
                               error || sent ? error : qd_no_memory);
  if (code == MPI_SUCCESS && sent) {
    int64_t *const received = sent + all, *const expected = received + all;
    if (c) find_lengths(c, 0, c->plan.regions.send_blocks, sent);
    if (c) find_lengths(c, c->plan.regions.send_blocks, c->plan.regions.receive_blocks, expected);
    const int from = b->ranks ? first : 0; /* an intercommunicator has blocks of one group only */
    code =
        PMPI_Alltoall(sent + from, 1, MPI_INT64_T, received + from, 1, MPI_INT64_T, b->group_comm);
    if (code != MPI_SUCCESS) code = qd_mpi_error(comm, code);
    for (int i = 0; i < all && code == MPI_SUCCESS && !error; i++) {
      if (received[i] == expected[i]) continue;
      qd_describe_mismatch(text, i - first, received[i], b->layout.own - b->layout.first,
                           expected[i]);
      error = text;
    }
    if (code == MPI_SUCCESS) code = qd_compare_errors(b, comm, MPI_ERR_TRUNCATE, error);
  }
  free(sent);
  return code;
}

int qd_pairwise_counts_run(struct qd_binding* binding, const struct qd_arguments* arguments,
                           MPI_Comm comm) {
  int error_class = MPI_SUCCESS;
  const int is_new =
      qd_take_root(&binding->layout, &binding->schedule_data->program, arguments->root);
  const char* error = is_new || !binding->are_tables_good ? reopen(binding) : NULL;
  if (error == qd_no_memory) qd_end_without_memory(comm);
  if (error == qd_not_served) return qd_broken_error(comm, error);
  if (error)
    return qd_error(comm, qd_is_of_call(binding, error) ? MPI_ERR_ARG : MPI_ERR_INTERN, "%s",
                    error);
  struct qd_call* c = binding->call;
  c->in_place = arguments->in_place;
  error = qd_call_load(c, &arguments->send, &arguments->receive,
                       arguments->is_regular ? QD_LENGTHS_KNOWN : QD_LENGTHS_AHEAD, &error_class);
  if (binding->options.compares && c->builder.traits.goes_by_rank) {
    const int code = qd_compare_lengths(binding, c, comm, error_class, error);
    if (code != MPI_SUCCESS) return code;
  } else if (error) {
    return qd_error(comm, error_class, "%s", error);
  }
  qd_call_begin(c);
  qd_call_finish(c);
  return qd_call_report(c, comm);
}
