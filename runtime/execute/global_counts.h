/* Calls whose counts all ranks know: allgather, reductions, scans and broadcast.
 *
 * counts.c reads the counts of a call. Between groups, MPI gives some counts to one group alone; then the groups exchange
 * them. global_counts.c makes the call. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_GLOBAL_COUNTS_H_
#define QUADRILLE_RUNTIME_EXECUTE_GLOBAL_COUNTS_H_

#include "runtime/execute/call.h"
#include "runtime/program/block_size.h"

struct qd_global_counts {
  struct qd_binding* binding;
  const struct qd_arguments* arguments;
  int reduces;
  int is_direct
      [2]; /* by QD_PIECE_SEND and QD_PIECE_RECEIVE: messages use the user's buffer itself */
};

/* Whether the groups must exchange counts. Then reading them is collective. */
int qd_exchanges_counts(const struct qd_global_counts* call);
/* Reads lengths and offsets of all blocks, and the program's counts, if they differ from those of the last call. Returns
 * NULL, or what is wrong with its class. */
const char* qd_read_counts(const struct qd_global_counts* call, int* error_class);
/* A block of the user's send or receive buffer, by block of the schedule. */
struct qd_block qd_users_block(const struct qd_global_counts* call, int buffer, int32_t block);
/* This rank's contribution to an allgather, before the call. */
struct qd_block qd_contribution(const struct qd_global_counts* call);
/* Its length in bytes; -1 if 64 bits do not hold it. */
int64_t qd_contributed(const struct qd_global_counts* call);

/* Everything before the first message. `differs` is empty, or names counts that disagree; such a call is made and then
 * fails. Returns an MPI error code, after the error handler was called. */
int qd_global_counts_prepare(struct qd_global_counts* call, MPI_Comm comm, char differs[QD_TEXT]);
/* Begins a prepared call, and completes it. */
void qd_global_counts_begin(const struct qd_global_counts* call);
void qd_global_counts_finish(const struct qd_global_counts* call);

/* Makes a whole call. Returns an MPI error code, after the error handler was called. */
int qd_global_counts_run(struct qd_binding* binding, const struct qd_arguments* arguments,
                         MPI_Comm comm);
/* Makes the last call again; `last.may_repeat` allows it. */
int qd_global_counts_repeat(struct qd_binding* binding, MPI_Comm comm);

/* Takes memory and makes tables. Returns NULL, or what is wrong. */
const char* qd_global_counts_open(struct qd_binding* binding);
void qd_global_counts_close(struct qd_binding* binding);
/* Makes tables as before the first call. The same. */
const char* qd_global_counts_restart(struct qd_binding* binding);
/* Lays out for a root before the first call. The same. */
const char* qd_global_counts_take_root(struct qd_binding* binding, int root);

/* Whether the operator is predefined, so that no program frees it. */
int qd_is_predefined_operator(MPI_Op operation);

#endif /* QUADRILLE_RUNTIME_EXECUTE_GLOBAL_COUNTS_H_ */
