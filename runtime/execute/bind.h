/* Binding schedules to communicators. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_BIND_H_
#define QUADRILLE_RUNTIME_EXECUTE_BIND_H_

#include "runtime/execute/agree.h"
#include "runtime/execute/binding.h"

/* Makes the tables and a call of a binding, and a plan; see qd_call_open. Sets `problem` if that fails. */
void qd_binding_plan(struct qd_binding* binding, int whole, struct qd_problem* problem);
/* Returns a binding for a call with other arguments: this one, or a copy, which may replace the oldest kept call. */
struct qd_binding* qd_spare_binding(struct qd_binding* binding);
/* Finds the binding of a schedule to a communicator for a call of `collective`. Binds the schedule if it is not
 * bound. Returns an MPI error code, after the error handler was called. */
int qd_find_binding(quadrille_schedule schedule, MPI_Comm comm, int collective,
                    struct qd_binding** binding);

/* persistent.c. Collective. Makes a persistent call. Returns an MPI error code, of one class at all ranks, after the
 * error handler was called. */
int qd_persistent_make(struct qd_binding* binding, const struct qd_arguments* arguments,
                       MPI_Comm comm, quadrille_request* request);

#endif /* QUADRILLE_RUNTIME_EXECUTE_BIND_H_ */
