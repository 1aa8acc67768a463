/* falls_through CALLS: makes allreduces of 8 bytes with the preload library, which leaves all of them to MPI. */
#include <mpi.h>
#include <stdlib.h>

int main(int count, char** words) {
  double mine = 1, all;
  MPI_Init(&count, &words);
  for (int call = count > 1 ? atoi(words[1]) : 1; call > 0; call--)
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
