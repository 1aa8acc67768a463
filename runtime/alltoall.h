/* A running all-to-all call. */
#ifndef QUADRILLE_RUNTIME_ALLTOALL_H_
#define QUADRILLE_RUNTIME_ALLTOALL_H_

#include "runtime/internal.h"

struct quadrille_alltoall_call {
  struct quadrille_binding* binding;
  struct quadrille_side send, receive;
  int (*post_send)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
};

/* alltoall.c: runs a whole call. In place, `send` describes the receive buffer. Returns an MPI
 * error code, after the handler was called. */
int quadrille_alltoall_run(quadrille_schedule schedule, const struct quadrille_side* send,
                           const struct quadrille_side* receive, int in_place, MPI_Comm comm);
/* Posts what the plan says; the caller lands what is in flight. */
void quadrille_alltoall_follow(struct quadrille_alltoall_call* call);
/* Posts a message, if it is not empty, for the step at that place of the flight. */
void quadrille_post(struct quadrille_alltoall_call* call, const struct quadrille_side* side,
                    int receive, int peer, struct quadrille_block block, int place);
void quadrille_post_token(struct quadrille_alltoall_call* call, int receive, int peer, int place);
void quadrille_copy_own(struct quadrille_alltoall_call* call, int own);

/* alltoall_in_place.c */
void quadrille_alltoall_in_place(struct quadrille_alltoall_call* call);

#endif /* QUADRILLE_RUNTIME_ALLTOALL_H_ */
