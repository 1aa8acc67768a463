/* The counts of a call, if all ranks know them. Between groups, MPI gives some counts only to one group. Then the groups
 * exchange them. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_COUNTS_H_
#define QUADRILLE_RUNTIME_EXECUTE_COUNTS_H_

#include "runtime/execute/call.h"

struct qd_global_counts {
  struct qd_binding* binding;
  const struct qd_arguments* arguments;
  int reduces;
  int is_direct
      [2]; /* by QD_PIECE_SEND and QD_PIECE_RECEIVE: messages use the user's buffer itself */
};

/* Whether the groups must exchange counts. Then reading them is collective. */
int qd_exchanges_counts(const struct qd_global_counts* call);
/* Reads lengths and offsets of all blocks, and the program's counts, if they differ from those of the last call. Returns
 * NULL, or what is wrong with its class. */
const char* qd_read_counts(const struct qd_global_counts* call, int* error_class);
/* A block of the user's send or receive buffer, by block of the schedule. */
struct qd_block qd_users_block(const struct qd_global_counts* call, int buffer, int32_t block);
/* This rank's contribution to an allgather, before the call. */
struct qd_block qd_contribution(const struct qd_global_counts* call);
/* Its length in bytes; -1 if 64 bits do not hold it. */
int64_t qd_contributed(const struct qd_global_counts* call);

/* Fills the tables of this group, and tries those of the other group: both groups return the same errors. Returns NULL, or
 * what is wrong. */
const char* qd_fill_tables(struct qd_binding* binding);
/* Whether the error of the tables depends on the counts, the parameters or the root of the call. */
int qd_is_of_call(const struct qd_binding* binding, const char* error);

#endif /* QUADRILLE_RUNTIME_EXECUTE_COUNTS_H_ */
