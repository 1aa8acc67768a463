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

#endif /* QUADRILLE_RUNTIME_EXEC_COUNTS_H_ */
