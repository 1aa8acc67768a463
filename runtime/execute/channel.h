/* Channels: what the runtime attaches to a user's communicator. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_CHANNEL_H_
#define QUADRILLE_RUNTIME_EXECUTE_CHANNEL_H_

#include "runtime/execute/agree.h"

/* The attribute of a user's communicator: a private communicator, and the bindings to it. */
struct qd_channel {
  struct qd_channel *next, *previous; /* of all channels */
  struct qd_binding* bindings;        /* without those of persistent calls */
  MPI_Comm user;                      /* MPI_COMM_NULL once the user's communicator was freed */
  MPI_Comm comm;  /* private: no message of a schedule meets one of the user's */
  int references; /* one of the user's communicator, and one of each binding */
};

/* Makes the keys of the attributes. Returns an MPI error code. */
int qd_make_keyvals(void);
/* The channel of a communicator, or NULL. */
struct qd_channel* qd_channel_of(MPI_Comm comm);
/* Collective. The channel of the communicator; makes it if there is none. Returns an MPI error code. */
int qd_open_channel(MPI_Comm comm, struct qd_problem* problem, struct qd_channel** result);
/* Gives up a reference. */
void qd_channel_release(struct qd_channel* channel);

/* communicator.c. A communicator of the same processes in the same order, without the user's attributes. For two
 * groups, the one follows the other. Errors on it return. */
int qd_private_communicator(MPI_Comm comm, MPI_Comm* result);
/* Whether MPI has that operator for elements of that type. A private communicator keeps MPI from calling the user's
 * error handler. */
int qd_operator_fits(MPI_Op operation, MPI_Datatype type);
/* The delete function of the attribute of MPI_COMM_SELF that holds a private communicator. */
int qd_free_alone(MPI_Comm self, int keyval, void* attribute, void* extra);

#endif /* QUADRILLE_RUNTIME_EXECUTE_CHANNEL_H_ */
