/* Collectives as one would write them by hand for one algorithm. The runtime is measured against them. */
#ifndef QUADRILLE_BENCH_HAND_WRITTEN_H_
#define QUADRILLE_BENCH_HAND_WRITTEN_H_

#include <mpi.h>

/* The values to set before a call: the job, this rank, and memory for the requests. */
struct hand_written {
  int nodes, ranks, rank, node; /* node: this rank's */
  const int *size, *base;       /* per node: the number of its ranks, and its first rank */
  int window;
  MPI_Request* requests; /* two per step */
  MPI_Comm comm;
  const char* send;
  char* receive;
  int gathers;     /* an allgather, else an all-to-all */
  int bytes;       /* of a block of the all-to-all, or of a rank's contribution */
  int block_bytes; /* contributions are cut into blocks of this size; 0: they stay whole */
};

/* Sanders and Traeff, section 2: in round i, rank u exchanges with (i - u) mod p. */
void hand_written_factor(const struct hand_written* job);

/* Section 3: nodes of any sizes, ascending. */
void hand_written_hierarchical_factor(const struct hand_written* job);

/* Traeff et al.: contributions are cut into blocks, which travel round the ring of ranks. */
void hand_written_ring(const struct hand_written* job);

#endif /* QUADRILLE_BENCH_HAND_WRITTEN_H_ */
