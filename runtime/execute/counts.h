/* The counts of a call of which all ranks know all: read from the caller's arguments, and, between groups,
 * asked of the other group where MPI tells them there alone. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_COUNTS_H_
#define QUADRILLE_RUNTIME_EXECUTE_COUNTS_H_

#include "runtime/execute/call.h"
#include "runtime/internal.h"
#include "runtime/program/block_size.h"

struct qd_global_counts {
  struct qd_binding* binding;
  const struct qd_arguments* arguments;
  int reduces;
  int is_direct[2]; /* by QD_PIECE_: the user's buffer is what travels */
};

/* Whether MPI gives one group alone counts that both need: so that reading them is collective. */
int qd_exchanges_counts(const struct qd_global_counts* call);
/* Lengths and places of all blocks, and the program's counts, where they are not those of the last call.
 * NULL, or what is wrong, with its class. */
const char* qd_read_counts(const struct qd_global_counts* call, int* error_class);
/* A block of the send or the receive buffer as the user has it, by block of the schedule. */
struct qd_block qd_users_block(const struct qd_global_counts* call, int buffer, int32_t block);
/* What this rank brings to an allgather, before the call, and in bytes; -1 where 64 bits do not hold
 * that. */
struct qd_block qd_contribution(const struct qd_global_counts* call);
int64_t qd_contributed(const struct qd_global_counts* call);

/* counted.c: all of a call before its first message. What does not fit to the counts, and fails a call that is
 * followed all the same, is in `differs`; else that is empty. An MPI error code, after the handler was called. */
int qd_global_counts_prepare(struct qd_global_counts* call, MPI_Comm comm, char differs[QD_TEXT]);
/* Begins what was prepared, and goes through the rest. */
void qd_global_counts_begin(const struct qd_global_counts* call);
void qd_global_counts_finish(const struct qd_global_counts* call);

#endif /* QUADRILLE_RUNTIME_EXECUTE_COUNTS_H_ */
