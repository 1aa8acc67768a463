/* Binding schedules to communicators. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_BIND_H_
#define QUADRILLE_RUNTIME_EXECUTE_BIND_H_

#include "runtime/execute/agree.h"
#include "runtime/execute/binding.h"

/* Makes the tables and a call, with a plan if that does not depend on counts; see qd_call_open. */
void qd_binding_plan(struct qd_binding* binding, int whole, struct qd_problem* problem);
/* A binding for a call with other arguments: this one, or a copy. The copy may replace the call that was made least recently. */
struct qd_binding* qd_spare_binding(struct qd_binding* binding);
/* The binding of a schedule to a communicator, for a call of that collective. Binds if there is none. Returns an MPI
 * error code after the error handler was called. */
int qd_find_binding(quadrille_schedule schedule, MPI_Comm comm, int collective,
                    struct qd_binding** binding);

/* persistent.c. Makes a persistent call. Collective, with the same class of error at all ranks. Returns an MPI error code, after
 * the error handler was called. */
int qd_persistent_make(struct qd_binding* binding, const struct qd_arguments* arguments,
                       MPI_Comm comm, quadrille_request* request);

#endif /* QUADRILLE_RUNTIME_EXECUTE_BIND_H_ */
