/* Calls in which only the two ends of a message know its lengths: all-to-all, gather and scatter. Barriers belong here
 * too. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_PAIRWISE_COUNTS_H_
#define QUADRILLE_RUNTIME_EXECUTE_PAIRWISE_COUNTS_H_

#include "runtime/execute/call.h"

/* Makes a whole call. Returns an MPI error code, after the error handler was called. */
int qd_pairwise_counts_run(struct qd_binding* binding, const struct qd_arguments* arguments,
                           MPI_Comm comm);
/* Makes tables and plans after options changed. Returns NULL, or what is wrong. */
const char* qd_pairwise_counts_reopen(struct qd_binding* binding);
/* Collective. Whether no rank has an error, and both ends of each pair pass the same length for the block between them.
 * `call` is NULL if this rank has no blocks. Returns an MPI error code of the same class at all ranks. */
int qd_compare_lengths(const struct qd_binding* binding, const struct qd_call* call, MPI_Comm comm,
                       int error_class, const char* error);

#endif /* QUADRILLE_RUNTIME_EXECUTE_PAIRWISE_COUNTS_H_ */
