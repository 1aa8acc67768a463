/* Combines what the ranks of MPI_COMM_WORLD know. The preload library does not intercept these calls of MPI. */
#pragma once

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

/* Returns the numbers of all ranks, reduced by the operation. Collective. */
static inline uint64_t combine(uint64_t number, MPI_Op operation) {
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, &number, 1, MPI_UINT64_T, operation, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return number;
}

/* Returns a sentence that says why the preload library serves nothing, if a rank has loaded a driver of GPUs; NULL if
 * none has. The same on all ranks. Collective. */
static inline const char* find_driver(void) {
  const uint64_t driver = combine((uint64_t)preload_loaded_driver(), MPI_MAX);
  if (driver == PRELOAD_NO_DRIVER) return NULL;
  return driver == PRELOAD_ROCM ? DRIVER_TEXT("ROCm") : DRIVER_TEXT("CUDA");
}
