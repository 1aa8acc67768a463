/* Channels, which the runtime attaches to a user's communicator, and the lifetime of the bindings to them. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_CHANNEL_H_
#define QUADRILLE_RUNTIME_EXECUTE_CHANNEL_H_

#include "runtime/execute/agree.h"
#include "runtime/execute/api.h"
#include "runtime/execute/binding.h"

/* What belongs to a user's communicator. */
struct qd_channel {
  struct qd_channel *next, **place; /* in a list of channels; place: what points to this one */
  struct qd_binding* bindings;      /* without those of persistent calls */
  MPI_Comm user;                    /* MPI_COMM_NULL once the user's communicator was freed */
  /* Messages travel on `comm`: a private communicator, or the carrier. Its ranks alone agree on `group_comm`: the private one, or
   * the user's. */
  MPI_Comm comm, group_comm;
  const struct qd_members* members; /* NULL: it has a private communicator */
  int tag;                          /* the first one of its messages */
  int* node_of;   /* by number: the lowest number on the node, then as many sizes; or NULL */
  int64_t calls;  /* so far: the clock of kept calls */
  int references; /* one of the user's communicator, and one of each binding */
};

/* The channel of a communicator, or NULL. */
struct qd_channel* qd_channel_of(MPI_Comm comm);
/* Collective. The channel of the communicator; makes it if there is none. Returns an MPI error code. */
int qd_open_channel(MPI_Comm comm, struct qd_problem* problem, struct qd_channel** result);
/* The same for the preload library, without a message. NULL if memory ran out. */
struct qd_channel* qd_open_members(MPI_Comm comm, const struct qd_members* members);

/* A binding without a layout; NULL if memory ran out. */
struct qd_binding* qd_binding_new(struct qd_schedule_data* schedule_data,
                                  struct qd_channel* channel);
/* A copy for a persistent call, on the same channel with the same layout, without tables and plan. NULL if memory
 * ran out. */
struct qd_binding* qd_binding_copy(const struct qd_binding* binding);
void qd_binding_destroy(struct qd_binding* binding);

#endif /* QUADRILLE_RUNTIME_EXECUTE_CHANNEL_H_ */
