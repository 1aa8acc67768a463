/* What the preload library takes from the runtime beside its public header, datatypes and nodes. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_PRELOADED_H_
#define QUADRILLE_RUNTIME_EXECUTE_PRELOADED_H_

#include "runtime/quadrille.h"

/* The code of a call that did nothing, since its arguments are wrong. MPI reports the error if it gets the same arguments. */
enum { QD_LEFT_TO_MPI = -1 };
/* From now on calls return that code. Calls that QUADRILLE_DEBUG compares report their errors as before. */
void qd_leave_errors_to_mpi(void);
/* A call checks its arguments alone if its schedule has this bit. */
#define QD_ONLY_CHECKED ((quadrille_schedule)1 << 63)
/* As quadrille_bind, but calls no error handler. */
int qd_bind_quietly(quadrille_schedule schedule, MPI_Comm comm,
                    const quadrille_bind_options* options);
/* Gives back the memory of long blocks that calls by the schedule on the communicator hold. A later call takes it again. */
void qd_release_memory(quadrille_schedule schedule, MPI_Comm comm);

#endif /* QUADRILLE_RUNTIME_EXECUTE_PRELOADED_H_ */
