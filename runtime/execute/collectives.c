/* The entry points of collectives: they turn MPI's arguments into the two sides of a call. */
#include "runtime/execute/api.h"

/* Initializers of sides. */
#define EQUAL(address, number, datatype) \
  { .base = (char*)(address), .type = (datatype), .uniform = 1, .count = (number) }
#define BLOCKS(address, numbers, offsets)                           \
  .base = (char*)(address), .counts = OF_TYPE(const int*, numbers), \
  .large_counts = OF_TYPE(const MPI_Count*, numbers),               \
  .displacements = OF_TYPE(const int*, offsets),                    \
  .large_displacements = OF_TYPE(const MPI_Aint*, offsets)
#define OF_TYPE(of, array) _Generic((array), of : (array), default : NULL)
#define COUNTED(address, numbers, offsets, datatype) \
  { BLOCKS(address, numbers, offsets), .type = (datatype) }
/* Displacements are in bytes. */
#define TYPED(address, numbers, offsets, datatypes)                                       \
  {                                                                                       \
    BLOCKS(address, numbers, offsets), .types = (datatypes),                              \
                                       .type = (datatypes) ? MPI_BYTE : MPI_DATATYPE_NULL \
  }

/* Defines the four functions of a collective, which MPI calls `Name`. The last arguments are its fields of struct qd_arguments. */
#define DEFINE(name, parameters, collective, Name, ...)                                            \
  int name(quadrille_schedule schedule, parameters(int, int), MPI_Comm comm) {                     \
    struct qd_arguments a = {.function = QD_##Name, __VA_ARGS__};                                  \
    return qd_run(schedule, collective, &a, comm);                                                 \
  }                                                                                                \
  int name##_c(quadrille_schedule schedule, parameters(MPI_Count, MPI_Aint), MPI_Comm comm) {      \
    struct qd_arguments a = {.function = QD_##Name, __VA_ARGS__};                                  \
    return qd_run(schedule, collective, &a, comm);                                                 \
  }                                                                                                \
  int name##_init(quadrille_schedule schedule, parameters(int, int), MPI_Comm comm, MPI_Info info, \
                  quadrille_request* request) {                                                    \
    struct qd_arguments a = {.function = QD_##Name, __VA_ARGS__};                                  \
    (void)info;                                                                                    \
    return qd_make(schedule, collective, &a, comm, request);                                       \
  }                                                                                                \
  int name##_init_c(quadrille_schedule schedule, parameters(MPI_Count, MPI_Aint), MPI_Comm comm,   \
                    MPI_Info info, quadrille_request* request) {                                   \
    struct qd_arguments a = {.function = QD_##Name, __VA_ARGS__};                                  \
    (void)info;                                                                                    \
    return qd_make(schedule, collective, &a, comm, request);                                       \
  }

DEFINE(quadrille_alltoall, QUADRILLE_EQUAL_BLOCKS, QD_ALLTOALL, Alltoall,
       .send = EQUAL(sendbuf, sendcount, sendtype), .receive = EQUAL(recvbuf, recvcount, recvtype))
DEFINE(quadrille_alltoallv, QUADRILLE_COUNTED_BLOCKS, QD_ALLTOALL, Alltoallv,
       .send = COUNTED(sendbuf, sendcounts, sdispls, sendtype),
       .receive = COUNTED(recvbuf, recvcounts, rdispls, recvtype))
DEFINE(quadrille_alltoallw, QUADRILLE_TYPED_BLOCKS, QD_ALLTOALL, Alltoallw,
       .send = TYPED(sendbuf, sendcounts, sdispls, sendtypes),
       .receive = TYPED(recvbuf, recvcounts, rdispls, recvtypes))
DEFINE(quadrille_gather, QUADRILLE_EQUAL_BLOCKS_OF_ROOT, QD_GATHER, Gather,
       .send = EQUAL(sendbuf, sendcount, sendtype), .receive = EQUAL(recvbuf, recvcount, recvtype),
       .root = root)
DEFINE(quadrille_gatherv, QUADRILLE_GATHERED_BLOCKS_OF_ROOT, QD_GATHER, Gatherv,
       .send = EQUAL(sendbuf, sendcount, sendtype),
       .receive = COUNTED(recvbuf, recvcounts, displs, recvtype), .root = root)
DEFINE(quadrille_scatter, QUADRILLE_EQUAL_BLOCKS_OF_ROOT, QD_SCATTER, Scatter,
       .send = EQUAL(sendbuf, sendcount, sendtype), .receive = EQUAL(recvbuf, recvcount, recvtype),
       .root = root)
DEFINE(quadrille_scatterv, QUADRILLE_SCATTERED_BLOCKS_OF_ROOT, QD_SCATTER, Scatterv,
       .send = COUNTED(sendbuf, sendcounts, displs, sendtype),
       .receive = EQUAL(recvbuf, recvcount, recvtype), .root = root)
DEFINE(quadrille_allgather, QUADRILLE_EQUAL_BLOCKS, QD_ALLGATHER, Allgather,
       .send = EQUAL(sendbuf, sendcount, sendtype), .receive = EQUAL(recvbuf, recvcount, recvtype))
DEFINE(quadrille_allgatherv, QUADRILLE_GATHERED_BLOCKS, QD_ALLGATHER, Allgatherv,
       .send = EQUAL(sendbuf, sendcount, sendtype),
       .receive = COUNTED(recvbuf, recvcounts, displs, recvtype))
DEFINE(quadrille_bcast, QUADRILLE_BUFFER_OF_ROOT, QD_BROADCAST, Bcast,
       .send = EQUAL(buffer, count, datatype), .receive = EQUAL(buffer, count, datatype),
       .root = root)

/* Equal counts at all ranks. For a reduce-scatter, each rank's result. */
#define COMBINED                                                                       \
  .send = EQUAL(sendbuf, count, datatype), .receive = EQUAL(recvbuf, count, datatype), \
  .operation = op
DEFINE(quadrille_reduce, QUADRILLE_ELEMENTS_OF_ROOT, QD_REDUCE, Reduce, COMBINED, .root = root)
DEFINE(quadrille_allreduce, QUADRILLE_ELEMENTS, QD_ALLREDUCE, Allreduce, COMBINED)
DEFINE(quadrille_scan, QUADRILLE_ELEMENTS, QD_SCAN, Scan, COMBINED)
DEFINE(quadrille_exscan, QUADRILLE_ELEMENTS, QD_EXSCAN, Exscan, COMBINED)
DEFINE(quadrille_reduce_scatter_block, QUADRILLE_ELEMENTS, QD_REDUCE_SCATTER, Reduce_scatter_block,
       COMBINED)
DEFINE(quadrille_reduce_scatter, QUADRILLE_COUNTED_ELEMENTS, QD_REDUCE_SCATTER, Reduce_scatter,
       .send = EQUAL(sendbuf, 0, datatype), .receive = COUNTED(recvbuf, recvcounts, NULL, datatype),
       .operation = op)

int quadrille_barrier(quadrille_schedule schedule, MPI_Comm comm) {
  struct qd_arguments a = {.function = QD_Barrier,
                           .send = EQUAL(NULL, 0, MPI_BYTE),
                           .receive = EQUAL(NULL, 0, MPI_BYTE)};
  return qd_run(schedule, QD_BARRIER, &a, comm);
}

int quadrille_barrier_init(quadrille_schedule schedule, MPI_Comm comm, MPI_Info info,
                           quadrille_request* request) {
  struct qd_arguments a = {.function = QD_Barrier,
                           .send = EQUAL(NULL, 0, MPI_BYTE),
                           .receive = EQUAL(NULL, 0, MPI_BYTE)};
  (void)info;
  return qd_make(schedule, QD_BARRIER, &a, comm, request);
}
