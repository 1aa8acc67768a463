/* Which rank of the communicator is which rank of the schedule. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_LAYOUT_H_
#define QUADRILLE_RUNTIME_EXECUTE_LAYOUT_H_

#include "runtime/execute/errors.h"
#include "runtime/program/program.h"
#include "runtime/quadrille.h"

/* Where the schedule's ranks are. Constant, but for the parts that follow the root and the parameters of the call. */
struct qd_layout {
  int own; /* the number of this rank: its rank in the private communicator, or as struct qd_members says */
  struct qd_context context;
  /* For a schedule that serves any nodes, `context` points to these. */
  struct qd_topology topologies[2];      /* own group first */
  struct qd_topology ordered[2];         /* the same, by group of the schedule */
  int64_t parameters[QD_MAX_PARAMETERS]; /* those of the last call */
  /* One array in three parts, by rank in the schedule. `real` and `remote_real` are such numbers, of
   * the own and the other group. `user` are ranks in the user's group that blocks come from and go to. */
  int *real, *remote_real, *user;
  int first, first_remote; /* the first numbers of the groups */
  int first_ranks;         /* the argument of quadrille_bind_groups, else 0 */
  int is_in_order;         /* the schedule has the ranks in the order of the communicator */
};

extern const char qd_other_order[]; /* the text if a call needs the order of the communicator */

/* Orders the ranks as the schedule does. `node_of` has the lowest rank on the node of each rank; `option` is
 * QUADRILLE_LAYOUT_SHARED or QUADRILLE_LAYOUT_TRUSTED. Returns NULL or a text, which may be in `failure`. */
const char* qd_lay_out(struct qd_layout* layout, const struct qd_program* program,
                       const int* node_of, int option, char failure[QD_TEXT]);
/* Gives a copied layout memory of its own. Returns 0 if memory ran out. */
int qd_copy_layout(struct qd_layout* layout, const struct qd_program* program);
void qd_layout_free(struct qd_layout* layout);
/* Lays out for a root: a rank, or MPI_ROOT. Between groups, the root's group is the schedule's first. Returns whether
 * anything changed; then tables and plans are stale. */
int qd_take_root(struct qd_layout* layout, const struct qd_program* program, int root);
/* Whether the schedule serves a root in that group. */
int qd_root_fits(const struct qd_layout* layout, const struct qd_program* program, int root);

#endif /* QUADRILLE_RUNTIME_EXECUTE_LAYOUT_H_ */
