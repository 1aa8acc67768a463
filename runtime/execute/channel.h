/* Channels, which the runtime attaches to a user's communicator, and the lifetime of the bindings to them. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_CHANNEL_H_
#define QUADRILLE_RUNTIME_EXECUTE_CHANNEL_H_

#include "runtime/execute/agree.h"
#include "runtime/execute/api.h"
#include "runtime/execute/binding.h"

/* The attribute of a user's communicator: a private communicator, and the bindings to it. */
struct qd_channel {
  struct qd_channel *next, *previous; /* of all channels */
  struct qd_binding* bindings;        /* without those of persistent calls */
  MPI_Comm user;                      /* MPI_COMM_NULL once the user's communicator was freed */
  MPI_Comm comm;  /* private: no message of a schedule meets one of the user's */
  int* node_of;   /* the lowest rank on the node of each rank, then as many sizes; or NULL */
  int64_t calls;  /* so far: the clock of kept calls */
  int references; /* one of the user's communicator, and one of each binding */
};

/* The channel of a communicator, or NULL. */
struct qd_channel* qd_channel_of(MPI_Comm comm);
/* Collective. The channel of the communicator; makes it if there is none. Returns an MPI error code. */
int qd_open_channel(MPI_Comm comm, struct qd_problem* problem, struct qd_channel** result);

/* A binding without a layout; NULL if memory ran out. */
struct qd_binding* qd_binding_new(struct qd_schedule_data* schedule_data,
                                  struct qd_channel* channel);
/* A copy for a persistent call, on the same channel with the same layout, without tables and plan. NULL if memory
 * ran out. */
struct qd_binding* qd_binding_copy(const struct qd_binding* binding);
void qd_binding_destroy(struct qd_binding* binding);

#endif /* QUADRILLE_RUNTIME_EXECUTE_CHANNEL_H_ */
