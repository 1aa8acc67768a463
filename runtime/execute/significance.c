#include "runtime/execute/significance.h"

enum { S = QD_SEND, R = QD_RECEIVE, O = QD_OPERATOR };

/* Roles are in the order of enum qd_role. The counts of a reduce-scatter are receive arguments. */
static const unsigned char table[QD_FUNCTION_COUNT][QD_ROLE_COUNT] = {
    /* usual, in place, other; between groups: usual, leaf, idle */
    [QD_Allgather] = {S | R, R, 0, S | R, 0, 0},
    [QD_Allgatherv] = {S | R, R, 0, S | R, 0, 0},
    [QD_Allreduce] = {S | R | O, R | O, 0, S | R | O, 0, 0},
    [QD_Alltoall] = {S | R, R, 0, S | R, 0, 0},
    [QD_Alltoallv] = {S | R, R, 0, S | R, 0, 0},
    [QD_Alltoallw] = {S | R, R, 0, S | R, 0, 0},
    [QD_Barrier] = {0, 0, 0, 0, 0, 0},
    [QD_Bcast] = {S, S, R, S, R, 0},
    [QD_Exscan] = {S | R | O, R | O, S | O, 0, 0, 0},
    [QD_Gather] = {S | R, R, S, R, S, 0},
    [QD_Gatherv] = {S | R, R, S, R, S, 0},
    [QD_Reduce] = {S | R | O, R | O, S | O, R | O, S | O, 0},
    [QD_Reduce_scatter] = {S | R | O, R | O, 0, S | R | O, 0, 0},
    [QD_Reduce_scatter_block] = {S | R | O, R | O, 0, S | R | O, 0, 0},
    [QD_Scan] = {S | R | O, R | O, 0, 0, 0, 0},
    [QD_Scatter] = {S | R, S, R, S, R, 0},
    [QD_Scatterv] = {S | R, S, R, S, R, 0},
};

unsigned qd_significant(enum qd_function function, enum qd_role role) {
  return table[function][role];
}
