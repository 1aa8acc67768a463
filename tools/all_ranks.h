/* What ranks know together. The preload library passes these calls on to MPI, and tells nothing of them. */
#ifndef QUADRILLE_TOOLS_ALL_RANKS_H_
#define QUADRILLE_TOOLS_ALL_RANKS_H_

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/device.h"

#ifdef OPEN_MPI
#define DRIVER_VARIABLE "OMPI_MCA_opal_cuda_support=0"
#else
#define DRIVER_VARIABLE "MPIR_CVAR_ENABLE_GPU=0"
#endif
#define DRIVER_TEXT(name)                                                                         \
  name " is loaded when MPI starts, so MPI's own collectives make all calls: if no buffer is in " \
       "device memory, start MPI without support of GPUs, such as by " DRIVER_VARIABLE

/* The least, greatest or combined number of all ranks. Collective. */
static inline uint64_t combine(uint64_t number, MPI_Op operation) {
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, &number, 1, MPI_UINT64_T, operation, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return number;
}

/* If a rank has loaded a driver of GPUs by the end of MPI_Init, the preload library serves nothing. Returns the sentence that says so,
 * the same at all ranks; NULL if no rank has one. Collective. */
static inline const char* find_driver(void) {
  const uint64_t driver = combine((uint64_t)preload_loaded_driver(), MPI_MAX);
  if (driver == PRELOAD_NO_DRIVER) return NULL;
  return driver == PRELOAD_ROCM ? DRIVER_TEXT("ROCm") : DRIVER_TEXT("CUDA");
}

#endif /* QUADRILLE_TOOLS_ALL_RANKS_H_ */
