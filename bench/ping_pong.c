/* smpirun -n 2 ping_pong BYTES...: the time of one message between two ranks, for each size: half
 * of there and back, after a message that makes both start together. Prints `message BYTES SECONDS`
 * for each; bench/smpi.py has alpha and beta from them. Simulated times need no repetition. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char** words) {
  int rank = 0;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 1; i < count; i++) {
    const int bytes = atoi(words[i]);
    char* buffer = calloc((size_t)bytes + 1, 1);
    if (!buffer) MPI_Abort(MPI_COMM_WORLD, 2);
    double start = 0;
    for (int turn = 1; turn < 4; turn++) {
      if (turn == 2) start = MPI_Wtime();
      if (rank == turn % 2)
        MPI_Send(buffer, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
      else
        MPI_Recv(buffer, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 0) printf("message %d %.12e\n", bytes, (MPI_Wtime() - start) / 2);
    free(buffer);
  }
  MPI_Finalize();
  return 0;
}
