/* A tool that stands between programs and MPI as well. RANKS_A_NODE: ranks are on nodes of so many. TOOL_CORRUPTS: the
 * last byte of an all-to-all of integers is wrong. TOOL_SLEEPS: rank 1 comes a second late to its third all-to-all
 * and to its first one of blocks of different lengths. TOOL_DELAYS, 0 or 1: rank 1 comes
 * 3 ms late to every second allgather, from the first or from the second on. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* node) {
  const char* size = getenv("RANKS_A_NODE");
  int rank = 0;
  if (!size) return PMPI_Comm_split_type(comm, type, key, info, node);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return PMPI_Comm_split(comm, rank / atoi(size), key, node);
}

static void sleep_at(int* calls, int which) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (getenv("TOOL_SLEEPS") && ++*calls == which && rank == 1) sleep(1);
}

SHOWN int MPI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                        MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                        const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  static int calls;
  sleep_at(&calls, 1);
  return PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                        recvtype, comm);
}

SHOWN int MPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  static int calls;
  int ranks = 0;
  sleep_at(&calls, 3);
  const int code = PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  MPI_Comm_size(comm, &ranks);
  if (getenv("TOOL_CORRUPTS") && recvtype == MPI_INT && recvcount > 0)
    ((char*)recvbuf)[(size_t)ranks * (size_t)recvcount * sizeof(int) - 1] ^= 1;
  return code;
}

SHOWN int MPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                        int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  static int calls;
  const char* delays = getenv("TOOL_DELAYS");
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (delays && calls++ % 2 == atoi(delays) && rank == 1)
    nanosleep(&(struct timespec){0, 3000000}, NULL);
  return PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}
