/* The entry points of collectives. They turn MPI's arguments into the two sides of a call. */
#include "runtime/execute/api.h"

/* Defines the function `call` of MPI's collective `Name`, and the function `make`, which makes a persistent call. */
#define DEFINE_TWO(call, make, family, Name, Count, Displacement)                                 \
  int call(quadrille_schedule schedule, QUADRILLE_##family(Count, Displacement), MPI_Comm comm) { \
    struct qd_arguments a = {.function = QD_##Name, QD_SIDES_OF_##family};                        \
    return qd_run(schedule, &a, comm, NULL);                                                      \
  }                                                                                               \
  int make(quadrille_schedule schedule, QUADRILLE_##family(Count, Displacement), MPI_Comm comm,   \
           MPI_Info info, quadrille_request* request) {                                           \
    struct qd_arguments a = {.function = QD_##Name, QD_SIDES_OF_##family};                        \
    (void)info;                                                                                   \
    return qd_make(schedule, &a, comm, request);                                                  \
  }
#define DEFINE(name, family, Name)                      \
  DEFINE_TWO(name, name##_init, family, Name, int, int) \
  DEFINE_TWO(name##_c, name##_init_c, family, Name, MPI_Count, MPI_Aint)

DEFINE(quadrille_alltoall, EQUAL_BLOCKS, Alltoall)
DEFINE(quadrille_alltoallv, COUNTED_BLOCKS, Alltoallv)
DEFINE(quadrille_alltoallw, TYPED_BLOCKS, Alltoallw)
DEFINE(quadrille_gather, EQUAL_BLOCKS_OF_ROOT, Gather)
DEFINE(quadrille_gatherv, GATHERED_BLOCKS_OF_ROOT, Gatherv)
DEFINE(quadrille_scatter, EQUAL_BLOCKS_OF_ROOT, Scatter)
DEFINE(quadrille_scatterv, SCATTERED_BLOCKS_OF_ROOT, Scatterv)
DEFINE(quadrille_allgather, EQUAL_BLOCKS, Allgather)
DEFINE(quadrille_allgatherv, GATHERED_BLOCKS, Allgatherv)
DEFINE(quadrille_bcast, BUFFER_OF_ROOT, Bcast)
DEFINE(quadrille_reduce, ELEMENTS_OF_ROOT, Reduce)
DEFINE(quadrille_allreduce, ELEMENTS, Allreduce)
DEFINE(quadrille_scan, ELEMENTS, Scan)
DEFINE(quadrille_exscan, ELEMENTS, Exscan)
DEFINE(quadrille_reduce_scatter_block, ELEMENTS, Reduce_scatter_block)
DEFINE(quadrille_reduce_scatter, COUNTED_ELEMENTS, Reduce_scatter)

int quadrille_barrier(quadrille_schedule schedule, MPI_Comm comm) {
  struct qd_arguments a = {.function = QD_Barrier, QD_SIDES_OF_NOTHING};
  return qd_run(schedule, &a, comm, NULL);
}

int quadrille_barrier_init(quadrille_schedule schedule, MPI_Comm comm, MPI_Info info,
                           quadrille_request* request) {
  struct qd_arguments a = {.function = QD_Barrier, QD_SIDES_OF_NOTHING};
  (void)info;
  return qd_make(schedule, &a, comm, request);
}
