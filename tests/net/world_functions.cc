// What the calls of tests/mpi ask of the world that they run in.
#include "tests/mpi/world.h"

namespace quadrille::mpi {

int rank_in(MPI_Comm comm) {
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int ranks_of(MPI_Comm comm) {
  int ranks = -1;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

}  // namespace quadrille::mpi
