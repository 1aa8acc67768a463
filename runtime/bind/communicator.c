/* Communicators of the runtime's own, beside the user's. */
#include "runtime/internal.h"

int quadrille_private_communicator(MPI_Comm comm, MPI_Comm* result) {
  MPI_Group group;
  int inter = 0, code = MPI_Comm_test_inter(comm, &inter);
  if (code != MPI_SUCCESS) return code;
  if (inter) {
    code = MPI_Intercomm_merge(comm, 0, result);
  } else {
    code = MPI_Comm_group(comm, &group);
    if (code != MPI_SUCCESS) return code;
    code = MPI_Comm_create(comm, group, result);
    MPI_Group_free(&group);
  }
  if (code == MPI_SUCCESS) MPI_Comm_set_errhandler(*result, MPI_ERRORS_RETURN);
  return code;
}

int quadrille_operator_fits(struct quadrille_channel* channel, MPI_Op operation,
                            MPI_Datatype type) {
  char nothing[2];
  int code = MPI_SUCCESS;
  if (channel->alone == MPI_COMM_NULL)
    code = quadrille_private_communicator(MPI_COMM_SELF, &channel->alone);
  return code != MPI_SUCCESS ||
         MPI_Allreduce(&nothing[0], &nothing[1], 0, type, operation, channel->alone) == MPI_SUCCESS;
}
