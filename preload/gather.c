/* Gathers data of all ranks on rank 0 when MPI ends. Before a rank sends, all agree that memory suffices, so no rank
 * waits in vain. Tested by tests/preload/corners_test.sh. */
#include <limits.h>
#include <stdlib.h>

#include "preload/preload.h"

void* preload_gather(int is_wanted, const void* mine, size_t size, size_t* all) {
  int rank = 0, ranks = 0, length = size > INT_MAX ? 0 : (int)size;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int* lengths = calloc(2 * (size_t)ranks, sizeof *lengths);
  int* offsets = lengths ? lengths + ranks : NULL;
  int fails = !lengths || !is_wanted;
  PMPI_Allreduce(MPI_IN_PLACE, &fails, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  char* gathered = NULL;
  size_t end = 0;
  if (!fails && lengths) {
    PMPI_Gather(&length, 1, MPI_INT, lengths, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++) {
      offsets[i] = (int)end;
      end += (size_t)lengths[i];
    }
    if (rank == 0 && end <= INT_MAX) gathered = malloc(end + 1);
    fails = rank == 0 && !gathered;
    PMPI_Bcast(&fails, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (!fails)
    PMPI_Gatherv(mine, length, MPI_BYTE, gathered, lengths, offsets, MPI_BYTE, 0, MPI_COMM_WORLD);
  free(lengths);
  *all = end;
  return gathered;
}
