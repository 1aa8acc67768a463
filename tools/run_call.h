/* Calls a collective for `run` in either of two ways: by a schedule, or by the MPI library. */
#pragma once

#include "runtime/quadrille.h"

struct call {
  MPI_Comm comm;
  /* peers: ranks of the group with which this rank exchanges blocks, its own or the other. */
  int groups, rank, ranks, peers;
  int is_second; /* this rank's group is the second of two */
  const struct collective* collective;
  char ours[32], native[32]; /* names of the functions */
  const char* unit;          /* what has a length of `bytes`, such as "blocks" */
  int root;                  /* the argument that this rank passes */
  long bytes;
  int in_place;
  long send_size, receive_size;
  unsigned char *send, *receive;
};

/* Returns an intercommunicator between the first `first` ranks and the others. Frees `comm`. */
MPI_Comm call_split(MPI_Comm comm, int first);
/* Sets the fields that depend on the collective. `root`: a rank of the communicator, or of the first group. Returns 0
 * if the collective is not known, or if it has no call in place and that is wanted. */
int call_describe(struct call* call, const char* collective, int root);
int call_has_root(const struct call* call);
/* Makes the call once: by MPI if `native`, else by the schedule. Returns an MPI error code. */
int call_once(const struct call* call, quadrille_schedule schedule, int native);
