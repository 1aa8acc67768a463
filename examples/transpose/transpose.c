/* mpirun -n 6 transpose: transposes a distributed matrix by a schedule that is linked in.
 *
 * Each of P ranks holds ROWS rows of a (P*ROWS) x (P*ROWS) matrix of doubles, as in a parallel FFT. A derived
 * datatype describes a block's columns, so the program packs nothing itself. The schedule is
 * emitted/schedules/alltoall_1_2_3.c, for nodes of 1, 2 and 3 ranks.
 *
 * The program assigns the six ranks to the schedule's nodes in order: rank 0, ranks 1 and 2, ranks 3 to 5. Without these
 * options, the ranks that share memory form a node. */
#include <mpi.h>
#include <stdio.h>

#include "emitted/alltoall_1_2_3.h"
#include "runtime/quadrille.h"

enum { RANKS = 6, ROWS = 4, COLUMNS = RANKS * ROWS };

static double matrix[ROWS][COLUMNS], transposed[ROWS][COLUMNS];

/* Returns the type of a block: ROWS x ROWS doubles of a row-major matrix of COLUMNS columns, read row by row or, if
 * `across`, column by column. The next block starts ROWS columns further on. */
static MPI_Datatype block_type(int across) {
  MPI_Datatype line, lines, block;
  if (across) {
    MPI_Type_vector(ROWS, 1, COLUMNS, MPI_DOUBLE, &line);
    MPI_Type_create_hvector(ROWS, 1, sizeof(double), line, &lines);
    MPI_Type_free(&line);
  } else {
    MPI_Type_vector(ROWS, ROWS, COLUMNS, MPI_DOUBLE, &lines);
  }
  MPI_Type_create_resized(lines, 0, ROWS * sizeof(double), &block);
  MPI_Type_commit(&block);
  MPI_Type_free(&lines);
  return block;
}

static int wrong_entries(int rank) {
  int wrong = 0;
  for (int row = 0; row < ROWS; row++)
    for (int column = 0; column < COLUMNS; column++)
      wrong += transposed[row][column] != column * 1000.0 + rank * ROWS + row;
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int row = 0; row < ROWS; row++)
    for (int column = 0; column < COLUMNS; column++)
      matrix[row][column] = (rank * ROWS + row) * 1000.0 + column;

  /* Errors go to the communicator's handler. Here, as in any MPI program, they end the job with a
   * sentence that says what is wrong, such as another number of ranks than six. */
  quadrille_schedule schedule;
  quadrille_load_memory(quadrille_alltoall_1_2_3, sizeof quadrille_alltoall_1_2_3, &schedule);
  const quadrille_bind_options options = {.size = sizeof options,
                                          .layout = QUADRILLE_LAYOUT_TRUSTED};
  quadrille_bind(schedule, MPI_COMM_WORLD, &options);

  MPI_Datatype rows = block_type(0), columns = block_type(1);
  quadrille_alltoall(schedule, matrix, 1, columns, transposed, 1, rows, MPI_COMM_WORLD);
  MPI_Type_free(&rows);
  MPI_Type_free(&columns);
  quadrille_free(&schedule);

  int mine = wrong_entries(rank), wrong = 0;
  MPI_Reduce(&mine, &wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d x %d matrix transposed on %d ranks, %d wrong entries\n", COLUMNS, COLUMNS, ranks,
           wrong);
  MPI_Finalize();
  return mine != 0;
}
