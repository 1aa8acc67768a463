/* MPI's arguments as sides of a call. */
#ifndef QUADRILLE_RUNTIME_API_ARGUMENTS_H_
#define QUADRILLE_RUNTIME_API_ARGUMENTS_H_

#include "runtime/internal.h"

/* api.c: runs a call of that collective. The base of a side that is in place is MPI_IN_PLACE, and `in_place` says
 * so. An MPI error code, after the handler was called. */
int quadrille_run(quadrille_schedule schedule, int collective,
                  struct quadrille_arguments* arguments, MPI_Comm comm);

static inline struct quadrille_side equal(const void* base, MPI_Count count, MPI_Datatype type) {
  return (struct quadrille_side){.base = (char*)base, .type = type, .uniform = 1, .count = count};
}

static inline struct quadrille_side counted(const void* base, const int counts[],
                                            const int displacements[], MPI_Datatype type) {
  return (struct quadrille_side){
      .base = (char*)base, .type = type, .counts = counts, .displacements = displacements};
}

static inline struct quadrille_side counted_large(const void* base, const MPI_Count counts[],
                                                  const MPI_Aint displacements[],
                                                  MPI_Datatype type) {
  return (struct quadrille_side){.base = (char*)base,
                                 .type = type,
                                 .large_counts = counts,
                                 .large_displacements = displacements};
}

#endif /* QUADRILLE_RUNTIME_API_ARGUMENTS_H_ */
