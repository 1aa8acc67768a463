/* What `collective` calls: the ranks that take part, and the bytes of each pair of ranks or of each rank. */
#ifndef QUADRILLE_BENCH_COLLECTIVE_JOB_H_
#define QUADRILLE_BENCH_COLLECTIVE_JOB_H_

#include <stddef.h>

#include "tools/run_call.h"

enum measured { ALLTOALL, ALLTOALLV, PERSISTENT, ALLGATHER, ALLGATHERV, REDUCE_SCATTERV, OTHER };

struct job {
  enum measured collective;
  int rank, ranks, repetitions, layout;
  int first_group, first_peer, peers; /* peers: the ranks that this rank exchanges blocks with */
  int with_native, checked;
  int own;                               /* bytes of this rank's block or contribution */
  int *counts, *displacements;           /* of the receives, by peer */
  int *send_counts, *send_displacements; /* by target, if blocks differ from pair to pair */
  size_t received, sent;
  char *send, *receive, *expected;
  struct call call; /* of another collective */
};

/* Ends all ranks. */
void fail(const char* text) __attribute__((noreturn));
void* must(void* memory);
extern const char usage[];
/* Sets everything except the buffers. The ranks, options and words are set already. */
void read_job(struct job* job, const char* collective, const char* counts);

#endif /* QUADRILLE_BENCH_COLLECTIVE_JOB_H_ */
