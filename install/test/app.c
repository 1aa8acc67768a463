/* A user's program, valid in C and in C++, that makes an all-to-all by an installed schedule. */
#include <quadrille/quadrille.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  char version[16];
  quadrille_schedule schedule;
  int rank, ranks, send[16], receive[16], r, right = argc == 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (r = 0; r < ranks; ++r) send[r] = 100 * rank + r;
  right = right && quadrille_load_file(argv[1], &schedule) == MPI_SUCCESS &&
          quadrille_alltoall(schedule, send, 1, MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD) ==
              MPI_SUCCESS;
  for (r = 0; right && r < ranks; ++r) right = receive[r] == 100 * r + rank;
  quadrille_free(&schedule);
  snprintf(version, sizeof version, "%d.%d", QUADRILLE_VERSION_MAJOR, QUADRILLE_VERSION_MINOR);
  right = right && strcmp(version, quadrille_version()) == 0;
  if (rank == 0) puts(right ? "right" : "wrong");
  MPI_Finalize();
  return !right;
}
