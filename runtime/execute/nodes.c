/* Finds nodes with MPI. Tested by tests/net/refusals_test.cc, layout_test.cc and tests/preload/choice_test.sh. */
#include "runtime/execute/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/execute/channel.h"

int qd_gather_nodes(MPI_Comm comm, int rank, int* node_of) {
  MPI_Comm node;
  int code = PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  if (code != MPI_SUCCESS) return code;
  int lowest = rank;
  code = PMPI_Bcast(&lowest, 1, MPI_INT, 0, node);
  PMPI_Comm_free(&node);
  if (code != MPI_SUCCESS) return code;
  return PMPI_Allgather(&lowest, 1, MPI_INT, node_of, 1, MPI_INT, comm);
}

static int all_are(int is_good, MPI_Comm comm) {
  int all = 0;
  return PMPI_Allreduce(&is_good, &all, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && all;
}

const char* qd_find_nodes(struct qd_channel* channel) {
  int rank = 0, ranks = 0;
  const char* wrong = NULL;
  if (channel->node_of) return NULL;
  PMPI_Comm_rank(channel->comm, &rank);
  PMPI_Comm_size(channel->comm, &ranks);
  int* node_of = calloc(2 * (size_t)ranks, sizeof *node_of); /* the second half is for sizes */
  if (!all_are(node_of != NULL, channel->comm))
    wrong = qd_no_memory;
  else if (!all_are(qd_gather_nodes(channel->comm, rank, node_of) == MPI_SUCCESS, channel->comm))
    wrong = "MPI cannot tell which ranks share memory; bind with QUADRILLE_LAYOUT_TRUSTED";
  if (wrong)
    free(node_of);
  else
    channel->node_of = node_of;
  return wrong;
}

void qd_measure_nodes(const int* node_of, int ranks, int* sizes, int* nodes, int* least,
                      int* most) {
  *nodes = *most = 0;
  *least = ranks;
  memset(sizes, 0, (size_t)ranks * sizeof *sizes);
  for (int r = 0; r < ranks; r++) sizes[node_of[r]]++;
  for (int r = 0; r < ranks; r++) {
    if (sizes[r] == 0) continue; /* another rank of its node is the lowest */
    ++*nodes;
    if (sizes[r] < *least) *least = sizes[r];
    if (sizes[r] > *most) *most = sizes[r];
  }
}

void qd_count_nodes(MPI_Comm comm, int* nodes, int* least, int* most) {
  struct qd_problem problem = {MPI_SUCCESS, ""};
  struct qd_channel* channel = NULL;
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  *nodes = 1;
  *least = *most = ranks;
  if (qd_open_channel(comm, &problem, &channel) != MPI_SUCCESS || !channel ||
      qd_find_nodes(channel))
    return;
  qd_measure_nodes(channel->node_of, ranks, channel->node_of + ranks, nodes, least, most);
}
