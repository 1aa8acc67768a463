/* The driver of GPUs that a rank has loaded by the end of MPI_Init. Then the preload library serves nothing. */
#ifndef QUADRILLE_TOOLS_DRIVER_H_
#define QUADRILLE_TOOLS_DRIVER_H_

#include <mpi.h>
#include <stddef.h>

#include "runtime/execute/datatypes.h"

#ifdef OPEN_MPI
#define DRIVER_VARIABLE "OMPI_MCA_opal_cuda_support=0"
#else
#define DRIVER_VARIABLE "MPIR_CVAR_ENABLE_GPU=0"
#endif
#define DRIVER_TEXT(name)                                                                         \
  name " is loaded when MPI starts, so MPI's own collectives make all calls: if no buffer is in " \
       "device memory, start MPI without support of GPUs, such as by " DRIVER_VARIABLE

/* The sentence that says so, the same at all ranks; NULL if no rank has a driver. Collective. The preload library passes the call on
 * to MPI. */
static inline const char* find_driver(void) {
  int driver = (int)qd_loaded_driver();
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, &driver, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (driver == QD_NO_DRIVER) return NULL;
  return driver == QD_ROCM ? DRIVER_TEXT("ROCm") : DRIVER_TEXT("CUDA");
}

#endif /* QUADRILLE_TOOLS_DRIVER_H_ */
