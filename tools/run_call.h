/* `run` calls a collective in two ways: by a schedule, and by the MPI library. */
#ifndef QUADRILLE_TOOLS_RUN_CALL_H_
#define QUADRILLE_TOOLS_RUN_CALL_H_

#include "runtime/quadrille.h"

struct call {
  MPI_Comm comm;
  /* Peers: ranks of the group with which this one exchanges blocks. */
  int groups, rank, ranks, peers;
  int is_second; /* this rank's group is the second of two */
  const struct collective* collective;
  char ours[32], native[32]; /* names of the functions */
  const char* unit;          /* the things that have a length of `bytes`: "blocks" */
  int root;                  /* the argument that this rank passes */
  long bytes;
  int in_place;
  long send_size, receive_size;
  unsigned char *send, *receive;
};

/* An intercommunicator between the first `first` ranks and the others; frees `comm`. */
MPI_Comm call_split(MPI_Comm comm, int first);
/* Sets the fields that depend on the collective; returns 0 if it is not known. `root`: a rank of the communicator, or of
 * the first group. */
int call_describe(struct call* call, const char* collective, int root);
/* Calls it once; returns an MPI error code. */
int call_once(const struct call* call, quadrille_schedule schedule, int native);

#endif /* QUADRILLE_TOOLS_RUN_CALL_H_ */
