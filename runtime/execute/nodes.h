/* Finds the nodes of a communicator. A node is a set of ranks that share memory (MPI_COMM_TYPE_SHARED). */
#pragma once

#include <mpi.h>

struct qd_channel;

/* Collective. Writes the lowest rank on the node of rank r to node_of[r], for all ranks. The caller is `rank`.
 * Returns an MPI error code. */
int qd_gather_nodes(MPI_Comm comm, int rank, int* node_of);
/* Collective over the channel. Sets the channel's `node_of` if it is not set. All ranks succeed, or all fail. Returns
 * NULL, or an error text. */
const char* qd_find_nodes(struct qd_channel* channel);
/* Writes the number of nodes, and the ranks of the smallest and of the largest. `node_of`: as qd_gather_nodes writes
 * it. `sizes` is memory for one entry for each rank. */
void qd_measure_nodes(const int* node_of, int ranks, int* sizes, int* nodes, int* least, int* most);
/* Collective over a communicator of one group. Writes the number of its nodes, and the ranks of the smallest and of
 * the largest. If MPI cannot tell which ranks share memory, the communicator counts as one node. */
void qd_count_nodes(MPI_Comm comm, int* nodes, int* least, int* most);
