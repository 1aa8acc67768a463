/* Handles of schedules, and the schedules that they name. */
#pragma once

#include "runtime/execute/errors.h"
#include "runtime/program/program.h"
#include "runtime/quadrille.h"

struct qd_binding;

/* A loaded schedule, or the reason why the load failed. Its handle and its bindings share it. */
struct qd_schedule_data {
  int references;
  int failure_class; /* MPI_SUCCESS: `program` is valid */
  char failure[QD_TEXT];
  struct qd_program program;
  struct qd_binding* recent; /* the binding of the last call on `recent_comm`, or NULL */
  MPI_Comm recent_comm;
};

/* Returns the schedule of a handle, with a reference for the caller, or NULL if the handle is null or stale. */
struct qd_schedule_data* qd_acquire(quadrille_schedule schedule);
void qd_release(struct qd_schedule_data* schedule_data);
/* Writes the schedule's hash and returns 1. Returns 0 if the load failed, and -1 if the handle is null or stale. */
int qd_hash_of(quadrille_schedule schedule, unsigned char hash[QD_HASH_LENGTH]);
/* Returns the binding of the handle's last call if that was on this communicator, else NULL. As long as a binding
 * exists, its communicator and MPI are usable. */
struct qd_binding* qd_recent(quadrille_schedule schedule, MPI_Comm comm);
void qd_remember(quadrille_schedule schedule, MPI_Comm comm, struct qd_binding* binding);
/* Makes all schedules forget the binding that qd_remember noted, or every binding if that is NULL. */
void qd_forget(const struct qd_binding* binding);
