/* The nodes of a communicator, found once. A node is a set of ranks that share memory, as MPI tells. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_NODES_H_
#define QUADRILLE_RUNTIME_EXECUTE_NODES_H_

#include <mpi.h>

struct qd_channel;

/* Collective. Gathers the lowest rank of each rank's node; the caller is `rank`. Returns an MPI error code. */
int qd_gather_nodes(MPI_Comm comm, int rank, int* node_of);
/* Collective over the channel. Fills `node_of` of the channel if that was not done. All ranks succeed, or all fail. Returns NULL or
 * what is wrong. */
const char* qd_find_nodes(struct qd_channel* channel);
/* Counts the nodes in two passes. node_of[r] is the lowest rank on the node of rank r. `sizes` has one entry for each rank. */
void qd_measure_nodes(const int* node_of, int ranks, int* sizes, int* nodes, int* least, int* most);
/* Collective over a communicator of one group. Counts its nodes, and the ranks of the smallest and of the largest node. If MPI cannot
 * tell them, the communicator counts as one node. */
void qd_count_nodes(MPI_Comm comm, int* nodes, int* least, int* most);

#endif /* QUADRILLE_RUNTIME_EXECUTE_NODES_H_ */
