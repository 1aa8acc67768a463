/* The counts of a call of which all ranks know all: read from the caller's arguments, and, between groups,
 * asked of the other group where MPI tells them there alone. */
#ifndef QUADRILLE_RUNTIME_EXEC_COUNTS_H_
#define QUADRILLE_RUNTIME_EXEC_COUNTS_H_

#include "runtime/exec/call.h"
#include "runtime/internal.h"
#include "runtime/program/block_size.h"

struct quadrille_counted {
  struct quadrille_binding* binding;
  const struct quadrille_arguments* arguments;
  int reduces;
  int is_direct[2]; /* by QUADRILLE_PIECE_: the user's buffer is what travels */
};

/* Whether MPI gives one group alone counts that both need: so that reading them is collective. */
int quadrille_tells_counts(const struct quadrille_counted* call);
/* Lengths and places of all blocks, and the program's counts, where they are not those of the last call.
 * NULL, or what is wrong, with its class. */
const char* quadrille_read_counts(const struct quadrille_counted* call, int* error_class);
/* A block of the send or the receive buffer as the user has it, by block of the schedule. */
struct quadrille_block quadrille_users_block(const struct quadrille_counted* call, int buffer,
                                             int32_t block);
/* What this rank brings to an allgather, before the call, and in bytes; -1 where 64 bits do not hold
 * that. */
struct quadrille_block quadrille_contribution(const struct quadrille_counted* call);
int64_t quadrille_contributed(const struct quadrille_counted* call);

/* counted.c: all of a call before its first message. What does not fit to the counts, and fails a call that is
 * followed all the same, is in `differs`; else that is empty. An MPI error code, after the handler was called. */
int quadrille_counted_prepare(struct quadrille_counted* call, MPI_Comm comm,
                              char differs[QUADRILLE_TEXT]);
/* Begins what was prepared, and goes through the rest. */
void quadrille_counted_begin(const struct quadrille_counted* call);
void quadrille_counted_finish(const struct quadrille_counted* call);

#endif /* QUADRILLE_RUNTIME_EXEC_COUNTS_H_ */
