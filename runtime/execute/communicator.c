/* Makes the runtime's private communicators, and asks MPI about datatypes and operators on one of a single rank. */
#include <stdlib.h>

#include "runtime/execute/channel.h"
#include "runtime/execute/datatypes.h"
#include "runtime/execute/state.h"

int qd_private_communicator(MPI_Comm comm, MPI_Comm* result) {
  MPI_Group group;
  int inter = 0, code = PMPI_Comm_test_inter(comm, &inter);
  if (code != MPI_SUCCESS) return code;
  if (inter) {
    code = PMPI_Intercomm_merge(comm, 0, result);
  } else {
    code = PMPI_Comm_group(comm, &group);
    if (code != MPI_SUCCESS) return code;
    code = PMPI_Comm_create(comm, group, result);
    PMPI_Group_free(&group);
  }
  if (code == MPI_SUCCESS) PMPI_Comm_set_errhandler(*result, MPI_ERRORS_RETURN);
  return code;
}

static MPI_Comm* find_alone(void) {
  MPI_Comm* alone = NULL;
  int found = 0;
  PMPI_Comm_get_attr(MPI_COMM_SELF, qd_global.alone_keyval, &alone, &found);
  return found ? alone : NULL;
}

/* Keeps the communicator, or frees it if another thread has kept one. Returns the one that is kept. */
static MPI_Comm* keep_alone(MPI_Comm* made) {
  pthread_mutex_lock(&qd_global.lock);
  MPI_Comm* const found = find_alone();
  if (!found) PMPI_Comm_set_attr(MPI_COMM_SELF, qd_global.alone_keyval, made);
  pthread_mutex_unlock(&qd_global.lock);
  if (!found) return made;
  PMPI_Comm_free(made);
  free(made);
  return found;
}

/* Makes a communicator of this rank alone, kept as an attribute of MPI_COMM_SELF. Returns NULL if that fails. */
static MPI_Comm* make_alone(void) {
  MPI_Comm* made = malloc(sizeof *made);
  if (made && qd_private_communicator(MPI_COMM_SELF, made) == MPI_SUCCESS) return keep_alone(made);
  free(made);
  return NULL;
}

int qd_free_alone(MPI_Comm self, int keyval, void* attribute, void* extra) {
  (void)self, (void)keyval, (void)extra;
  PMPI_Comm_free(attribute);
  free(attribute);
  return MPI_SUCCESS;
}

/* Returns a communicator of this rank alone on which errors return, or MPI_COMM_SELF if there is none. */
static MPI_Comm alone(void) {
  if (qd_make_keyvals() != MPI_SUCCESS) return MPI_COMM_SELF;
  const MPI_Comm* found = find_alone();
  if (!found) found = make_alone();
  return found ? *found : MPI_COMM_SELF;
}

int qd_operator_fits(MPI_Op operation, MPI_Datatype type) {
  struct qd_global* g = &qd_global;
  char nothing[2];
  /* MPI cannot check the datatype of a user's operator. */
  int fits =
      !qd_is_predefined_operator(operation) && operation != MPI_REPLACE && operation != MPI_NO_OP;
  pthread_mutex_lock(&g->lock);
  for (unsigned i = 0; i < QD_KNOWN_FITS && !fits; i++)
    fits = g->fits[i].operation == operation && g->fits[i].type == type && i < g->fit_count;
  pthread_mutex_unlock(&g->lock);
  if (fits) return 1;
  fits = PMPI_Allreduce(&nothing[0], &nothing[1], 0, type, operation, alone()) == MPI_SUCCESS;
  if (!fits || !qd_is_predefined(type)) return fits;
  pthread_mutex_lock(&g->lock);
  g->fits[g->fit_count++ % QD_KNOWN_FITS] = (struct qd_fit){operation, type};
  pthread_mutex_unlock(&g->lock);
  return fits;
}

int qd_is_committed(MPI_Datatype type) {
  char nothing[1];
  int position = 0;
  return PMPI_Pack(nothing, 0, type, nothing, 0, &position, alone()) == MPI_SUCCESS;
}
