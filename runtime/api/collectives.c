/* The entry points of the collectives that have a root, or combine; between groups and within one. */
#include "runtime/api/arguments.h"

int quadrille_bcast_c(quadrille_schedule schedule, void* buffer, MPI_Count count,
                      MPI_Datatype datatype, int root, MPI_Comm comm) {
  const struct quadrille_side side = equal(buffer, count, datatype);
  struct quadrille_arguments a = {.send = side, .receive = side, .root = root};
  return quadrille_run(schedule, QUADRILLE_BROADCAST, &a, comm);
}

int quadrille_bcast(quadrille_schedule schedule, void* buffer, int count, MPI_Datatype datatype,
                    int root, MPI_Comm comm) {
  return quadrille_bcast_c(schedule, buffer, count, datatype, root, comm);
}

static int gather(quadrille_schedule schedule, const void* sendbuf, MPI_Count sendcount,
                  MPI_Datatype sendtype, struct quadrille_side receive, int root, MPI_Comm comm) {
  struct quadrille_arguments a = {.send = equal(sendbuf, sendcount, sendtype),
                                  .receive = receive,
                                  .is_regular = receive.uniform,
                                  .in_place = sendbuf == MPI_IN_PLACE,
                                  .root = root};
  return quadrille_run(schedule, QUADRILLE_GATHER, &a, comm);
}

int quadrille_gather_c(quadrille_schedule schedule, const void* sendbuf, MPI_Count sendcount,
                       MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                       MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return gather(schedule, sendbuf, sendcount, sendtype, equal(recvbuf, recvcount, recvtype), root,
                comm);
}

int quadrille_gather(quadrille_schedule schedule, const void* sendbuf, int sendcount,
                     MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                     int root, MPI_Comm comm) {
  return quadrille_gather_c(schedule, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                            root, comm);
}

int quadrille_gatherv_c(quadrille_schedule schedule, const void* sendbuf, MPI_Count sendcount,
                        MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                        const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return gather(schedule, sendbuf, sendcount, sendtype,
                counted_large(recvbuf, recvcounts, displs, recvtype), root, comm);
}

int quadrille_gatherv(quadrille_schedule schedule, const void* sendbuf, int sendcount,
                      MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                      const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return gather(schedule, sendbuf, sendcount, sendtype,
                counted(recvbuf, recvcounts, displs, recvtype), root, comm);
}

static int scatter(quadrille_schedule schedule, struct quadrille_side send, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  struct quadrille_arguments a = {.send = send,
                                  .receive = equal(recvbuf, recvcount, recvtype),
                                  .is_regular = send.uniform,
                                  .in_place = recvbuf == MPI_IN_PLACE,
                                  .root = root};
  /* A root that keeps its block where it is has one buffer. */
  if (a.in_place) a.receive = send;
  return quadrille_run(schedule, QUADRILLE_SCATTER, &a, comm);
}

int quadrille_scatter_c(quadrille_schedule schedule, const void* sendbuf, MPI_Count sendcount,
                        MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                        MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return scatter(schedule, equal(sendbuf, sendcount, sendtype), recvbuf, recvcount, recvtype, root,
                 comm);
}

int quadrille_scatter(quadrille_schedule schedule, const void* sendbuf, int sendcount,
                      MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                      int root, MPI_Comm comm) {
  return quadrille_scatter_c(schedule, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                             root, comm);
}

int quadrille_scatterv_c(quadrille_schedule schedule, const void* sendbuf,
                         const MPI_Count sendcounts[], const MPI_Aint displs[],
                         MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                         MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return scatter(schedule, counted_large(sendbuf, sendcounts, displs, sendtype), recvbuf, recvcount,
                 recvtype, root, comm);
}

int quadrille_scatterv(quadrille_schedule schedule, const void* sendbuf, const int sendcounts[],
                       const int displs[], MPI_Datatype sendtype, void* recvbuf, int recvcount,
                       MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return scatter(schedule, counted(sendbuf, sendcounts, displs, sendtype), recvbuf, recvcount,
                 recvtype, root, comm);
}

/* Of as many elements at all ranks. */
static int combine(quadrille_schedule schedule, int collective, const void* sendbuf, void* recvbuf,
                   MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
  struct quadrille_arguments a = {.send = equal(sendbuf, count, datatype),
                                  .receive = equal(recvbuf, count, datatype),
                                  .in_place = sendbuf == MPI_IN_PLACE,
                                  .root = root,
                                  .operation = op};
  return quadrille_run(schedule, collective, &a, comm);
}

int quadrille_reduce_c(quadrille_schedule schedule, const void* sendbuf, void* recvbuf,
                       MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
  return combine(schedule, QUADRILLE_REDUCE, sendbuf, recvbuf, count, datatype, op, root, comm);
}

int quadrille_reduce(quadrille_schedule schedule, const void* sendbuf, void* recvbuf, int count,
                     MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
  return combine(schedule, QUADRILLE_REDUCE, sendbuf, recvbuf, count, datatype, op, root, comm);
}

int quadrille_allreduce_c(quadrille_schedule schedule, const void* sendbuf, void* recvbuf,
                          MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return combine(schedule, QUADRILLE_ALLREDUCE, sendbuf, recvbuf, count, datatype, op, 0, comm);
}

int quadrille_allreduce(quadrille_schedule schedule, const void* sendbuf, void* recvbuf, int count,
                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return combine(schedule, QUADRILLE_ALLREDUCE, sendbuf, recvbuf, count, datatype, op, 0, comm);
}

int quadrille_scan_c(quadrille_schedule schedule, const void* sendbuf, void* recvbuf,
                     MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return combine(schedule, QUADRILLE_SCAN, sendbuf, recvbuf, count, datatype, op, 0, comm);
}

int quadrille_scan(quadrille_schedule schedule, const void* sendbuf, void* recvbuf, int count,
                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return combine(schedule, QUADRILLE_SCAN, sendbuf, recvbuf, count, datatype, op, 0, comm);
}

int quadrille_exscan_c(quadrille_schedule schedule, const void* sendbuf, void* recvbuf,
                       MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return combine(schedule, QUADRILLE_EXSCAN, sendbuf, recvbuf, count, datatype, op, 0, comm);
}

int quadrille_exscan(quadrille_schedule schedule, const void* sendbuf, void* recvbuf, int count,
                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return combine(schedule, QUADRILLE_EXSCAN, sendbuf, recvbuf, count, datatype, op, 0, comm);
}

/* `receive` has the counts of all ranks of the group. */
static int reduce_scatter(quadrille_schedule schedule, const void* sendbuf,
                          struct quadrille_side receive, MPI_Datatype datatype, MPI_Op op,
                          MPI_Comm comm) {
  struct quadrille_arguments a = {
      .receive = receive, .in_place = sendbuf == MPI_IN_PLACE, .operation = op};
  a.send = equal(sendbuf, receive.count, datatype);
  return quadrille_run(schedule, QUADRILLE_REDUCE_SCATTER, &a, comm);
}

int quadrille_reduce_scatter_c(quadrille_schedule schedule, const void* sendbuf, void* recvbuf,
                               const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op,
                               MPI_Comm comm) {
  return reduce_scatter(schedule, sendbuf, counted_large(recvbuf, recvcounts, NULL, datatype),
                        datatype, op, comm);
}

int quadrille_reduce_scatter(quadrille_schedule schedule, const void* sendbuf, void* recvbuf,
                             const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                             MPI_Comm comm) {
  return reduce_scatter(schedule, sendbuf, counted(recvbuf, recvcounts, NULL, datatype), datatype,
                        op, comm);
}

int quadrille_reduce_scatter_block_c(quadrille_schedule schedule, const void* sendbuf,
                                     void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                                     MPI_Op op, MPI_Comm comm) {
  return reduce_scatter(schedule, sendbuf, equal(recvbuf, recvcount, datatype), datatype, op, comm);
}

int quadrille_reduce_scatter_block(quadrille_schedule schedule, const void* sendbuf, void* recvbuf,
                                   int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return reduce_scatter(schedule, sendbuf, equal(recvbuf, recvcount, datatype), datatype, op, comm);
}

int quadrille_barrier(quadrille_schedule schedule, MPI_Comm comm) {
  struct quadrille_arguments a = {.send = equal(NULL, 0, MPI_BYTE),
                                  .receive = equal(NULL, 0, MPI_BYTE)};
  return quadrille_run(schedule, QUADRILLE_BARRIER, &a, comm);
}
