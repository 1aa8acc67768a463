/* A collective as `run` calls it: by a schedule, and by the MPI library. */
#ifndef QUADRILLE_TOOLS_RUN_CALL_H_
#define QUADRILLE_TOOLS_RUN_CALL_H_

#include "runtime/quadrille.h"

struct call {
  MPI_Comm comm;
  int groups, rank, ranks, peers; /* peers: ranks of the group whose blocks come and go */
  int is_second;                  /* this rank's group is the second of two */
  const struct collective* collective;
  char ours[32], native[32]; /* names of the functions */
  const char* unit;          /* what has so many bytes: "blocks" */
  int root;                  /* as this rank names it */
  long bytes;
  int in_place;
  long send_size, receive_size;
  unsigned char *send, *receive;
};

/* An intercommunicator of the first so many ranks and the others; `comm` is freed. */
MPI_Comm call_split(MPI_Comm comm, int first);
/* Sets what depends on the collective; 0 where it is not known. `root`: a rank of the communicator, or of the first
 * group. */
int call_describe(struct call* call, const char* collective, int root);
/* Once; an MPI error code. */
int call_once(const struct call* call, quadrille_schedule schedule, int native);

#endif /* QUADRILLE_TOOLS_RUN_CALL_H_ */
