/* mpirun -n 6 fft: 2-D Fourier transforms of distributed matrices, against FFTW's own on one rank.
 *
 * Each rank holds some rows. It transforms them, the matrix is transposed (MPI_Alltoallv), and it
 * transforms the columns that it then holds. As in FFTW's own distribution, a rank has
 * ceil(rows / ranks) rows and the last ones have fewer, or none: so blocks differ, and some are
 * empty. The sizes are those of Fan et al. 2024, section VI. The schedule is TuNA's, for small
 * blocks: emitted/schedules/alltoall_tuna_6.c. */
#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "emitted/alltoall_tuna_6.h"
#include "runtime/quadrille.h"

enum { RANKS = 6 };

static quadrille_schedule schedule;
static int rank;

static void* memory(size_t elements, size_t size) {
  void* result = calloc(elements ? elements : 1, size);
  if (!result) MPI_Abort(MPI_COMM_WORLD, 1);
  return result;
}

/* How n rows, or columns, are spread: rank r has those from first[r] to first[r + 1]. */
struct spread {
  int first[RANKS + 1];
};

static struct spread spread_of(int n) {
  const int most = (n + RANKS - 1) / RANKS;
  struct spread result;
  for (int r = 0; r <= RANKS; r++) result.first[r] = r * most < n ? r * most : n;
  return result;
}

static int share(const struct spread* s, int r) { return s->first[r + 1] - s->first[r]; }

/* Any matrix. */
static double complex element(int row, int column) {
  return sin(1 + 3 * row + column * column) + I * cos(2 * row * column + row);
}

/* Fills n rows of the matrix, from row `first` on. */
static void fill(double complex* rows, int first, int n, int width) {
  for (int row = 0; row < n; row++)
    for (int column = 0; column < width; column++)
      rows[(size_t)row * (size_t)width + (size_t)column] = element(first + row, column);
}

/* Transforms n rows of `length` elements each, in place. */
static void transform(double complex* rows, int n, int length) {
  if (n == 0 || length == 0) return;
  fftw_plan plan = fftw_plan_many_dft(1, &length, n, rows, NULL, 1, length, rows, NULL, 1, length,
                                      FFTW_FORWARD, FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
}

/* Rows of a matrix, share(rows, rank) of all columns each, become columns. */
static void transpose(const double complex* from, double complex* to, const struct spread* rows,
                      const struct spread* columns) {
  const int mine = share(rows, rank), theirs = share(columns, rank);
  const int height = rows->first[RANKS], width = columns->first[RANKS];
  double complex* out = memory((size_t)mine * (size_t)width, sizeof *out);
  double complex* in = memory((size_t)theirs * (size_t)height, sizeof *in);
  int send[RANKS], send_at[RANKS], receive[RANKS], receive_at[RANKS];
  size_t at = 0;
  for (int r = 0; r < RANKS; r++) {
    send[r] = mine * share(columns, r);
    send_at[r] = mine * columns->first[r];
    receive[r] = theirs * share(rows, r);
    receive_at[r] = theirs * rows->first[r];
  }
  for (int column = 0; column < width; column++)
    for (int row = 0; row < mine; row++)
      out[at++] = from[(size_t)row * (size_t)width + (size_t)column];
  quadrille_alltoallv(schedule, out, send, send_at, MPI_C_DOUBLE_COMPLEX, in, receive, receive_at,
                      MPI_C_DOUBLE_COMPLEX, MPI_COMM_WORLD);
  at = 0;
  for (int r = 0; r < RANKS; r++)
    for (int column = 0; column < theirs; column++)
      for (int row = rows->first[r]; row < rows->first[r + 1]; row++)
        to[(size_t)column * (size_t)height + (size_t)row] = in[at++];
  free(out);
  free(in);
}

/* The elements of this rank's columns that differ from those of a transform on one rank. */
static int wrong_of(const double complex* found, int height, int width,
                    const struct spread* columns) {
  double complex* matrix = memory((size_t)height * (size_t)width, sizeof *matrix);
  fftw_plan plan = fftw_plan_dft_2d(height, width, matrix, matrix, FFTW_FORWARD, FFTW_ESTIMATE);
  fill(matrix, 0, height, width);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  int wrong = 0;
  for (int column = columns->first[rank]; column < columns->first[rank + 1]; column++)
    for (int row = 0; row < height; row++)
      wrong += !(cabs(*found++ - matrix[row * width + column]) < 1e-12 * height * width);
  free(matrix);
  return wrong;
}

static int try_matrix(int height, int width) {
  const struct spread rows = spread_of(height), columns = spread_of(width);
  const int mine = share(&rows, rank), theirs = share(&columns, rank);
  double complex* by_rows = memory((size_t)mine * (size_t)width, sizeof *by_rows);
  double complex* by_columns = memory((size_t)theirs * (size_t)height, sizeof *by_columns);
  fill(by_rows, rows.first[rank], mine, width);
  transform(by_rows, mine, width);
  transpose(by_rows, by_columns, &rows, &columns);
  transform(by_columns, theirs, height);
  int wrong = wrong_of(by_columns, height, width, &columns), all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  free(by_rows);
  free(by_columns);
  return all;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  /* Errors go to the communicator's handler: here, as in any MPI program, they end the job with a
   * sentence that says what is wrong. */
  quadrille_load_memory(quadrille_alltoall_tuna_6, sizeof quadrille_alltoall_tuna_6, &schedule);
  quadrille_bind(schedule, MPI_COMM_WORLD, NULL);

  const int n1[2] = {(25 * RANKS + 31) / 32, (5 * RANKS + 7) / 8 * 8};
  const int n2[2] = {(RANKS - 1) * 32 + 8, RANKS};
  const int wrong = try_matrix(n1[0], n1[1]) + try_matrix(n2[0], n2[1]);
  quadrille_free(&schedule);
  if (rank == 0)
    printf("transforms of %d x %d and %d x %d on %d ranks, %d elements wrong\n", n1[0], n1[1],
           n2[0], n2[1], RANKS, wrong);
  MPI_Finalize();
  return wrong != 0;
}
