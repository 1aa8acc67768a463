/* The layout of a binding: which rank of the communicator is which rank of the schedule. */
#pragma once

#include "runtime/execute/errors.h"
#include "runtime/program/program.h"
#include "runtime/quadrille.h"

/* Where the schedule's ranks are. Only the root, the groups and the parameters change from call to call. */
struct qd_layout {
  int own; /* this rank's number: its rank in the private communicator, or `own` of qd_members */
  struct qd_context context;
  /* For a schedule that serves any nodes, `context` points to these. */
  struct qd_topology topologies[2];      /* own group first */
  struct qd_topology ordered[2];         /* the same topologies, by group of the schedule */
  int64_t parameters[QD_MAX_PARAMETERS]; /* those of the last call */
  /* One array in three parts, indexed by rank in the schedule. `real` and `remote_real`: the numbers of the ranks of
   * the own and of the other group. `user`: the user's ranks in the group with which blocks are exchanged. */
  int *real, *remote_real, *user;
  int first, first_remote; /* the first numbers of the groups */
  int first_ranks;         /* the argument of quadrille_bind_groups, else 0 */
  int is_in_order;         /* the schedule has the ranks in the order of the communicator */
};

/* The error text if a call needs the order of the communicator and the schedule has another one. */
extern const char qd_other_order[];

/* Orders the ranks as the schedule does. node_of[r] is the lowest rank on the node of rank r. `option` is
 * QUADRILLE_LAYOUT_SHARED or QUADRILLE_LAYOUT_TRUSTED. Returns NULL, or an error text, which may be in `failure`. */
const char* qd_lay_out(struct qd_layout* layout, const struct qd_program* program,
                       const int* node_of, int option, char failure[QD_TEXT]);
/* Gives a layout that was copied with `=` memory of its own. Returns 0 if memory ran out. */
int qd_copy_layout(struct qd_layout* layout, const struct qd_program* program);
void qd_layout_free(struct qd_layout* layout);
/* Sets the root: a rank, or MPI_ROOT. Between groups, the root's group becomes the schedule's first. Returns whether
 * anything changed; then tables and plans are stale. */
int qd_take_root(struct qd_layout* layout, const struct qd_program* program, int root);
/* Returns whether the schedule can have its root in this group, if `root` is MPI_ROOT, or else in the other group. */
int qd_root_fits(const struct qd_layout* layout, const struct qd_program* program, int root);
