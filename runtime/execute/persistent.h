/* Persistent calls. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_PERSISTENT_H_
#define QUADRILLE_RUNTIME_EXECUTE_PERSISTENT_H_

#include "runtime/execute/binding.h"

/* Makes a persistent call. Collective, with the same class of error at all ranks. Returns an MPI error code, after
 * the error handler was called. */
int qd_persistent_make(struct qd_binding* binding, const struct qd_arguments* arguments,
                       MPI_Comm comm, quadrille_request* request);

#endif /* QUADRILLE_RUNTIME_EXECUTE_PERSISTENT_H_ */
