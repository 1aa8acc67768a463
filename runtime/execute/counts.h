/* Calls of collectives, by who knows the counts. If all ranks should know all counts, but MPI passes some only to one
 * group, the groups exchange counts. */
#pragma once

#include "runtime/execute/call.h"

struct qd_global_counts {
  struct qd_binding* binding;
  const struct qd_arguments* arguments;
  int reduces;
  int is_direct
      [2]; /* by QD_PIECE_SEND and QD_PIECE_RECEIVE: messages use the user's buffer itself */
};

/* global_counts.c: calls whose counts all ranks know: allgather, reductions, scans and broadcast. */

/* Fills the tables of both groups, so that both return the same errors. Returns NULL, or an error text. */
const char* qd_fill_tables(struct qd_binding* binding);
/* Returns whether an error of the tables depends on the counts, the parameters or the root of the call. */
int qd_is_of_call(const struct qd_binding* binding, const char* error);

/* Does everything before the first message. `differs` becomes empty, or says which counts disagree; the caller then
 * makes the call and returns that error. Returns an MPI error code, after the error handler was called. */
int qd_global_counts_prepare(struct qd_global_counts* call, MPI_Comm comm, char differs[QD_TEXT]);
/* These begin a prepared call, and complete it. */
void qd_global_counts_begin(const struct qd_global_counts* call);
void qd_global_counts_finish(const struct qd_global_counts* call);

/* Makes a whole call. Returns an MPI error code, after the error handler was called. */
int qd_global_counts_run(struct qd_binding* binding, const struct qd_arguments* arguments,
                         MPI_Comm comm);
/* Copies this rank's contribution to the receive buffer of an allgather that is made again. */
void qd_global_counts_contribute(struct qd_binding* binding);

/* Takes memory, and makes the tables of an empty call. Returns NULL, or an error text. */
const char* qd_global_counts_open(struct qd_binding* binding);
void qd_global_counts_close(struct qd_binding* binding);

/* pairwise_counts.c: calls in which only the two ends of a message know its lengths: all-to-all, gather and scatter.
 * Barriers belong here too. */

/* Makes a whole call. Returns an MPI error code, after the error handler was called. */
int qd_pairwise_counts_run(struct qd_binding* binding, const struct qd_arguments* arguments,
                           MPI_Comm comm);
/* Collective. Checks that no rank has an error, and that both ends of each block pass the same length. `call` is NULL
 * if this rank has no blocks. Returns an MPI error code of one class at all ranks. */
int qd_compare_lengths(const struct qd_binding* binding, const struct qd_call* call, MPI_Comm comm,
                       int error_class, const char* error);

/* compare.c: comparisons between ranks. Each is collective, and returns an MPI error code of one class at all ranks,
 * after the error handler was called. */

/* Checks that no rank has an error. */
int qd_compare_errors(const struct qd_binding* binding, MPI_Comm comm, int error_class,
                      const char* error);
/* Checks that all ranks pass the same root. */
int qd_compare_roots(const struct qd_binding* binding, MPI_Comm comm, int root);
/* Checks errors, roots, that all ranks pass the same counts, and that no blocks of a receive buffer overlap. */
int qd_compare_calls(const struct qd_binding* binding, MPI_Comm comm,
                     const struct qd_arguments* arguments, int error_class, const char* error);
