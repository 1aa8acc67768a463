/* Included before everything else. While calls_are_own is set, MPI's collectives bypass the preload library. */
#pragma once

#include <mpi.h>
#include <stdint.h>

extern int calls_are_own;
/* Returns the MPI library's function of that name, not a preloaded one. Ends all ranks if there is none. */
void* own_function(const char* name);

#ifdef SIMULATED /* the preload library is linked into the program, and defines no PMPI_ names */
#define OWN(name) PMPI_##name
#else
#define OWN(name) ((__typeof__(&MPI_##name))(intptr_t)own_function("PMPI_" #name))
#endif
#define EITHER(name, ...)                               \
  ({                                                    \
    static __typeof__(&MPI_##name) found;               \
    if (calls_are_own && !found) found = OWN(name);     \
    (calls_are_own ? found : &MPI_##name)(__VA_ARGS__); \
  })
#define MPI_Allgather(...) EITHER(Allgather, __VA_ARGS__)
#define MPI_Allgatherv(...) EITHER(Allgatherv, __VA_ARGS__)
#define MPI_Allreduce(...) EITHER(Allreduce, __VA_ARGS__)
#define MPI_Alltoall(...) EITHER(Alltoall, __VA_ARGS__)
#define MPI_Alltoallv(...) EITHER(Alltoallv, __VA_ARGS__)
#define MPI_Barrier(...) EITHER(Barrier, __VA_ARGS__)
#define MPI_Bcast(...) EITHER(Bcast, __VA_ARGS__)
#define MPI_Gather(...) EITHER(Gather, __VA_ARGS__)
#define MPI_Reduce(...) EITHER(Reduce, __VA_ARGS__)
#define MPI_Reduce_scatter(...) EITHER(Reduce_scatter, __VA_ARGS__)
#define MPI_Reduce_scatter_block(...) EITHER(Reduce_scatter_block, __VA_ARGS__)
#define MPI_Scan(...) EITHER(Scan, __VA_ARGS__)
#define MPI_Scatter(...) EITHER(Scatter, __VA_ARGS__)
