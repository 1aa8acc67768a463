/* The call that `collective` and `preloaded` make: its ranks, and the bytes of each pair of ranks or of each rank. */
#pragma once

#include <stddef.h>

#include "tools/run_call.h"

enum measured { ALLTOALL, ALLTOALLV, PERSISTENT, ALLGATHER, ALLGATHERV, REDUCE_SCATTERV, OTHER };

struct job {
  enum measured collective;
  int rank, ranks, repetitions, layout;
  int first_group, first_peer, peers; /* peers: how many ranks this one exchanges blocks with */
  int with_native, checked;
  int own;                               /* bytes of this rank's block or contribution */
  int *counts, *displacements;           /* of the receives, by peer */
  int *send_counts, *send_displacements; /* by target, if blocks differ by pair; else NULL */
  size_t received, sent;
  char *send, *receive, *expected;
  struct call call; /* for OTHER */
};

/* Prints the text, and ends all ranks with exit code 2. */
void fail(const char* text) __attribute__((noreturn));
void* must(void* memory);
extern const char usage[];
/* Sets everything but the buffers, from words of the command line. The caller has set the ranks and options. */
void read_job(struct job* job, const char* collective, const char* counts);

/* Makes the buffers. If bytes are checked, fills the send buffer and, where they are known, the expected bytes. */
void make_buffers(struct job* job);
/* Make the call: by the MPI library, or by a schedule unless `native`. Return an MPI error code. */
int call_native(const struct job* job, MPI_Comm comm);
int call_job(const struct job* job, quadrille_schedule schedule, MPI_Comm comm, int native);
/* If the expected bytes are not known, as in reductions, makes the MPI library's call and expects its result. */
void expect_native(struct job* job, MPI_Comm comm);
/* Overwrites the receive buffer before a call that is checked. */
void spoil_received(const struct job* job);
/* Returns whether the call received the right bytes. Returns 1 if bytes are not checked. */
int is_received(const struct job* job);
