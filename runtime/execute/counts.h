/* The counts of a call, if all ranks know them. Between groups, MPI gives some counts only to one group. Then the groups
 * exchange them. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_COUNTS_H_
#define QUADRILLE_RUNTIME_EXECUTE_COUNTS_H_

#include "runtime/execute/call.h"

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

/* Fills the tables of this group, and tries those of the other group: both groups return the same errors. Returns NULL, or
 * what is wrong. */
const char* qd_fill_tables(struct qd_binding* binding);
/* Whether the error of the tables depends on the counts, the parameters or the root of the call. */
int qd_is_of_call(const struct qd_binding* binding, const char* error);

/* global_counts.c: calls whose counts all ranks know: allgather, reductions, scans and broadcast. */

/* Everything before the first message. `differs` is empty, or names counts that disagree; such a call is made and then
 * fails. Returns an MPI error code, after the error handler was called. */
int qd_global_counts_prepare(struct qd_global_counts* call, MPI_Comm comm, char differs[QD_TEXT]);
/* Begins a prepared call, and completes it. */
void qd_global_counts_begin(const struct qd_global_counts* call);
void qd_global_counts_finish(const struct qd_global_counts* call);

/* Makes a whole call. Returns an MPI error code, after the error handler was called. */
int qd_global_counts_run(struct qd_binding* binding, const struct qd_arguments* arguments,
                         MPI_Comm comm);
/* Copies this rank's contribution to the allgather that is made again. */
void qd_global_counts_contribute(struct qd_binding* binding);

/* Takes memory, and makes the tables of an empty call. Returns NULL, or what is wrong. */
const char* qd_global_counts_open(struct qd_binding* binding);
void qd_global_counts_close(struct qd_binding* binding);

/* pairwise_counts.c: calls in which only the two ends of a message know its lengths: all-to-all, gather and scatter. Barriers
 * belong here too. */

/* Makes a whole call. Returns an MPI error code, after the error handler was called. */
int qd_pairwise_counts_run(struct qd_binding* binding, const struct qd_arguments* arguments,
                           MPI_Comm comm);
/* Collective. Whether no rank has an error, and both ends of each pair pass the same length for the block between them.
 * `call` is NULL if this rank has no blocks. Returns an MPI error code of the same class at all ranks. */
int qd_compare_lengths(const struct qd_binding* binding, const struct qd_call* call, MPI_Comm comm,
                       int error_class, const char* error);

/* compare.c: comparisons between ranks. Each is collective, and returns an MPI error code of the same class at all ranks, after the
 * error handler was called. */

/* Whether no rank has an error. */
int qd_compare_errors(const struct qd_binding* binding, MPI_Comm comm, int error_class,
                      const char* error);
/* Whether all ranks pass the same root. */
int qd_compare_roots(const struct qd_binding* binding, MPI_Comm comm, int root);
/* Both, whether all ranks pass the same counts, and whether no blocks of a receive buffer overlap. */
int qd_compare_calls(const struct qd_binding* binding, MPI_Comm comm,
                     const struct qd_arguments* arguments, int error_class, const char* error);

#endif /* QUADRILLE_RUNTIME_EXECUTE_COUNTS_H_ */
