/* The MPI library past everything that was preloaded. */
#ifndef QUADRILLE_BENCH_MPI_LIBRARY_H_
#define QUADRILLE_BENCH_MPI_LIBRARY_H_

#include <dlfcn.h>
#include <stddef.h>

/* Its handle for dlsym; NULL if it is not found. */
static inline void* mpi_library(void) {
  Dl_info found;
  if (!dladdr(dlsym(RTLD_DEFAULT, "MPI_Get_library_version"), &found)) return NULL;
  return dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

#endif /* QUADRILLE_BENCH_MPI_LIBRARY_H_ */
