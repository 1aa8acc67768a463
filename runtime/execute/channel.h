/* Channels, which the runtime attaches to a user's communicator, and the lifetime of the bindings to them. */
#pragma once

#include "runtime/execute/api.h"
#include "runtime/execute/binding.h"

/* The runtime's data of a user's communicator. */
struct qd_channel {
  struct qd_channel *next, **place; /* in a list of channels; place: what points to this one */
  struct qd_binding* bindings;      /* without those of persistent calls */
  MPI_Comm user;                    /* MPI_COMM_NULL once the user's communicator was freed */
  /* Messages use `comm`: a private communicator, or the carrier of `members`. Ranks agree on `group_comm`: the
   * private communicator, or the user's if messages use the carrier. */
  MPI_Comm comm, group_comm;
  const struct qd_members* members; /* NULL: it has a private communicator */
  int tag;                          /* the lowest tag of its messages */
  int* node_of;   /* by number: the lowest number on the node, then as many sizes; or NULL */
  int64_t calls;  /* how many were made so far; dates the use of kept calls */
  int references; /* one by the user's communicator, and one by each binding */
};

/* Returns the channel of a communicator, or NULL. */
struct qd_channel* qd_channel_of(MPI_Comm comm);
/* Collective. Finds or makes the channel. Returns MPI's error code, and sets `problem` to other errors. */
int qd_open_channel(MPI_Comm comm, struct qd_problem* problem, struct qd_channel** result);
/* Finds or makes the channel for the preload library, without a message. Returns NULL if memory ran out. */
struct qd_channel* qd_open_members(MPI_Comm comm, const struct qd_members* members);

/* Returns a new binding without a layout, or NULL if memory ran out. */
struct qd_binding* qd_binding_new(struct qd_schedule_data* schedule_data,
                                  struct qd_channel* channel);
/* Returns a copy on the same channel with the same layout, without tables and plan, or NULL if memory ran out. */
struct qd_binding* qd_binding_copy(const struct qd_binding* binding);
void qd_binding_destroy(struct qd_binding* binding);
