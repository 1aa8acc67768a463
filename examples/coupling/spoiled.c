/* quadrille_alltoallv with an error: rank 0 changes the last byte that it receives from rank 0 of the other group. */
#include "runtime/quadrille.h"

#undef quadrille_alltoallv
QUADRILLE_COLLECTIVE(quadrille_alltoallv, QUADRILLE_COUNTED_BLOCKS);

int spoiled_alltoallv(quadrille_schedule schedule, QUADRILLE_COUNTED_BLOCKS(int, int),
                      MPI_Comm comm) {
  int rank = 0;
  const int code = quadrille_alltoallv(schedule, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                       recvcounts, rdispls, recvtype, comm);
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) ((unsigned char*)((double*)recvbuf + rdispls[0] + recvcounts[0]))[-1] ^= 1;
  return code;
}
