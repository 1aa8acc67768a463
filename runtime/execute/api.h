/* The common path of all entry points. Each function returns an MPI error code, after the error handler was called. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_API_H_
#define QUADRILLE_RUNTIME_EXECUTE_API_H_

#include "runtime/execute/binding.h"

/* Checks the arguments of a call of that collective, and makes the call. */
int qd_run(quadrille_schedule schedule, int collective, struct qd_arguments* arguments,
           MPI_Comm comm);
/* The same for a persistent call. */
int qd_make(quadrille_schedule schedule, int collective, struct qd_arguments* arguments,
            MPI_Comm comm, quadrille_request* request);

#endif /* QUADRILLE_RUNTIME_EXECUTE_API_H_ */
