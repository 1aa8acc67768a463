/* Comparisons between ranks. Each is collective, and returns an MPI error code of the same class at all ranks, after the
 * error handler was called. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_COMPARE_H_
#define QUADRILLE_RUNTIME_EXECUTE_COMPARE_H_

#include "runtime/execute/binding.h"

/* Whether no rank has an error. */
int qd_compare_errors(const struct qd_binding* binding, MPI_Comm comm, int error_class,
                      const char* error);
/* Whether all ranks pass the same root. */
int qd_compare_roots(const struct qd_binding* binding, MPI_Comm comm, int root);
/* Both, whether all ranks pass the same counts, and whether no blocks of a receive buffer overlap. */
int qd_compare_calls(const struct qd_binding* binding, MPI_Comm comm,
                     const struct qd_arguments* arguments, int error_class, const char* error);

#endif /* QUADRILLE_RUNTIME_EXECUTE_COMPARE_H_ */
