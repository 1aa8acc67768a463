/* The blocks of one side of a call. */
#include "preload/preload.h"

MPI_Count preload_count(const struct preload_side* side, int block) {
  return side->counts         ? side->counts[block]
         : side->large_counts ? side->large_counts[block]
                              : side->count;
}

MPI_Datatype preload_type(const struct preload_side* side, int block) {
  return side->types ? side->types[block] : side->type;
}

MPI_Aint preload_place(const struct preload_side* side, int block) {
  const MPI_Aint place = side->displacements         ? side->displacements[block]
                         : side->large_displacements ? side->large_displacements[block]
                                                     : block * (MPI_Aint)side->count;
  MPI_Aint lower = 0, extent = 1;
  if (!side->types) MPI_Type_get_extent(side->type, &lower, &extent);
  return place * extent;
}
