/* Calls whose counts all ranks know: allgather, reductions, scans and broadcast. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_GLOBAL_COUNTS_H_
#define QUADRILLE_RUNTIME_EXECUTE_GLOBAL_COUNTS_H_

#include "runtime/execute/counts.h"

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

/* Takes memory and makes tables. Returns NULL, or what is wrong. */
const char* qd_global_counts_open(struct qd_binding* binding);
void qd_global_counts_close(struct qd_binding* binding);
/* Makes tables as before the first call. Returns NULL, or what is wrong. */
const char* qd_global_counts_restart(struct qd_binding* binding);

#endif /* QUADRILLE_RUNTIME_EXECUTE_GLOBAL_COUNTS_H_ */
