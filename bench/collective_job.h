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

/* Makes the buffers. If bytes are checked, fills in what is sent, and what is expected unless a library's call has to tell it. */
void make_buffers(struct job* job);
/* Calls the library's own collective, or follows a schedule. Returns an MPI error code. */
int call_native(const struct job* job, MPI_Comm comm);
int call_job(const struct job* job, quadrille_schedule schedule, MPI_Comm comm, int native);
/* Expects what the library's own reduction or collective of tools/run receives. */
void expect_native(struct job* job, MPI_Comm comm);
/* Fills the receive buffer with other bytes, before a call that is checked. */
void spoil_received(const struct job* job);
/* Whether the right bytes were received, or none are checked. */
int is_received(const struct job* job);

#endif /* QUADRILLE_BENCH_COLLECTIVE_JOB_H_ */
