/* Which arguments of a collective are significant at which rank. MPI ignores all others: they may be null, invalid
 * handles, or anything else. All code that reads an argument asks this table first. Source: MPI 4.0, sections 6.3 to
 * 6.11. Tested by tests/preload/junk_test.sh and tests/preload/soak.cc. */
#pragma once

#include <mpi.h>

#include "runtime/program/table_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* MPI's collectives. The columns: MPI's name, the runtime's name, the collective of the schedules that serve it, and
 * the family of its arguments (quadrille.h). */
#define QD_FUNCTIONS(ROW)                                                   \
  ROW(Allgather, allgather, ALLGATHER, EQUAL_BLOCKS)                        \
  ROW(Allgatherv, allgatherv, ALLGATHER, GATHERED_BLOCKS)                   \
  ROW(Allreduce, allreduce, ALLREDUCE, ELEMENTS)                            \
  ROW(Alltoall, alltoall, ALLTOALL, EQUAL_BLOCKS)                           \
  ROW(Alltoallv, alltoallv, ALLTOALL, COUNTED_BLOCKS)                       \
  ROW(Alltoallw, alltoallw, ALLTOALL, TYPED_BLOCKS)                         \
  ROW(Bcast, bcast, BROADCAST, BUFFER_OF_ROOT)                              \
  ROW(Exscan, exscan, EXSCAN, ELEMENTS)                                     \
  ROW(Gather, gather, GATHER, EQUAL_BLOCKS_OF_ROOT)                         \
  ROW(Gatherv, gatherv, GATHER, GATHERED_BLOCKS_OF_ROOT)                    \
  ROW(Reduce, reduce, REDUCE, ELEMENTS_OF_ROOT)                             \
  ROW(Reduce_scatter, reduce_scatter, REDUCE_SCATTER, COUNTED_ELEMENTS)     \
  ROW(Reduce_scatter_block, reduce_scatter_block, REDUCE_SCATTER, ELEMENTS) \
  ROW(Scan, scan, SCAN, ELEMENTS)                                           \
  ROW(Scatter, scatter, SCATTER, EQUAL_BLOCKS_OF_ROOT)                      \
  ROW(Scatterv, scatterv, SCATTER, SCATTERED_BLOCKS_OF_ROOT)

#define QD_NUMBER(Name, name, scheduled, family) QD_##Name,
enum qd_function { QD_FUNCTIONS(QD_NUMBER) QD_Barrier, QD_FUNCTION_COUNT };
#undef QD_NUMBER

/* The enum qd_collective of the schedules that serve each of MPI's collectives. */
extern const unsigned char qd_scheduled[QD_FUNCTION_COUNT];

/* Arguments, as bits. The only buffer of a broadcast is a send buffer at the root, and a receive buffer elsewhere.
 * The count and the datatype of a reduction belong to both sides. Root and communicator always matter. */
enum qd_argument {
  QD_SEND_BUFFER = 1,
  QD_SEND_COUNTS = 2, /* and displacements */
  QD_SEND_TYPES = 4,
  QD_SEND = QD_SEND_BUFFER | QD_SEND_COUNTS | QD_SEND_TYPES,
  QD_RECEIVE_BUFFER = 8,
  QD_RECEIVE_COUNTS = 16, /* and displacements */
  QD_RECEIVE_TYPES = 32,
  QD_RECEIVE = QD_RECEIVE_BUFFER | QD_RECEIVE_COUNTS | QD_RECEIVE_TYPES,
  QD_OPERATOR = 64
};

/* The roles of a rank in a call. */
enum qd_role {
  QD_ROLE_USUAL,         /* the root, or every rank if there is no root */
  QD_ROLE_IN_PLACE,      /* a rank of the usual role that passes MPI_IN_PLACE */
  QD_ROLE_OTHER,         /* any rank but the root; rank 0 of an exscan, which receives nothing */
  QD_ROLE_USUAL_BETWEEN, /* between groups: the root, or every rank if there is no root */
  QD_ROLE_LEAF,          /* between groups: a rank of the group that is not the root's */
  QD_ROLE_IDLE,          /* between groups: another rank of the root's group */
  QD_ROLE_COUNT
};

/* Returns the bits of the arguments that are significant in this role. */
unsigned qd_significant(enum qd_function function, enum qd_role role);

/* arguments.c. Returns whether the MPI library compares the receive buffer with the send buffer although this role does
 * not receive. MPICH does so at rank 0 of MPI_Exscan. So such calls are checked each time. */
int qd_compares_unused_buffer(enum qd_function function, enum qd_role role);

static inline int qd_has_root(enum qd_function function) {
  return function == QD_Bcast || function == QD_Gather || function == QD_Gatherv ||
         function == QD_Reduce || function == QD_Scatter || function == QD_Scatterv;
}

/* Returns the role of a rank that passes this root and these buffers. */
static inline enum qd_role qd_role_of(enum qd_function function, int is_between, int rank, int root,
                                      const void* send, const void* receive) {
  const int is_scatter = function == QD_Scatter || function == QD_Scatterv;
  if (is_between)
    return !qd_has_root(function) || root == MPI_ROOT ? QD_ROLE_USUAL_BETWEEN
           : root == MPI_PROC_NULL                    ? QD_ROLE_IDLE
                                                      : QD_ROLE_LEAF;
  if (qd_has_root(function) && root != rank) return QD_ROLE_OTHER;
  if ((is_scatter ? receive : send) == MPI_IN_PLACE) return QD_ROLE_IN_PLACE;
  return function == QD_Exscan && rank == 0 ? QD_ROLE_OTHER : QD_ROLE_USUAL;
}

#ifdef __cplusplus
}
#endif
