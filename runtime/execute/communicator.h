/* The private communicator of this rank alone. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_COMMUNICATOR_H_
#define QUADRILLE_RUNTIME_EXECUTE_COMMUNICATOR_H_

#include <mpi.h>

/* Whether MPI has that operator for elements of that type, and whether the type is committed. A private communicator keeps MPI from
 * calling the user's error handler. */
int qd_operator_fits(MPI_Op operation, MPI_Datatype type);
int qd_is_committed(MPI_Datatype type);
/* The delete function of the attribute of MPI_COMM_SELF that holds a private communicator. */
int qd_free_alone(MPI_Comm self, int keyval, void* attribute, void* extra);

#endif /* QUADRILLE_RUNTIME_EXECUTE_COMMUNICATOR_H_ */
