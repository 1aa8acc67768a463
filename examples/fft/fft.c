/* mpirun -n 6 fft: how heat spreads over a distributed matrix, by 2-D Fourier transforms, against the
 * same with FFTW's own transforms on one rank.
 *
 * Each rank holds some rows. In each step of time it transforms them, the matrix is transposed
 * (MPI_Alltoallv), and it transforms the columns that it then holds; waves fade, the short ones first;
 * and all goes back the same way. The two transposes are the same in every step, so each is made once
 * (MPI_Alltoallv_init): lengths are exchanged then, and a step exchanges blocks alone.
 *
 * As in FFTW's own distribution, a rank has ceil(rows / ranks) rows and the last ones have fewer, or
 * none: so blocks differ, and some are empty. The sizes are those of Fan et al. 2024, section VI. The
 * schedule is TuNA's, for small blocks: emitted/schedules/alltoall_tuna_6.c. */
#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "emitted/alltoall_tuna_6.h"
#include "runtime/quadrille.h"

enum { RANKS = 6, STEPS = 3 };

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
static void transform(double complex* rows, int n, int length, int direction) {
  if (n == 0 || length == 0) return;
  fftw_plan plan = fftw_plan_many_dft(1, &length, n, rows, NULL, 1, length, rows, NULL, 1, length,
                                      direction, FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
}

/* What is left of a wave after a step, over the number of elements, by which a transform there and
 * back multiplies. */
static double left_of(int row, int height, int column, int width) {
  const double k = row < height - row ? row : height - row;
  const double l = column < width - column ? column : width - column;
  return exp(-0.01 * (k * k + l * l)) / ((double)height * width);
}

/* Rows of a matrix, share(rows, rank) of all columns each, become columns. */
struct transpose {
  struct spread rows, columns;
  double complex *out, *in; /* the blocks, rank by rank */
  quadrille_request request;
};

static struct transpose make_transpose(const struct spread* rows, const struct spread* columns) {
  struct transpose t = {.rows = *rows, .columns = *columns};
  const int mine = share(rows, rank), theirs = share(columns, rank);
  t.out = memory((size_t)mine * (size_t)columns->first[RANKS], sizeof *t.out);
  t.in = memory((size_t)theirs * (size_t)rows->first[RANKS], sizeof *t.in);
  int send[RANKS], send_at[RANKS], receive[RANKS], receive_at[RANKS];
  for (int r = 0; r < RANKS; r++) {
    send[r] = mine * share(columns, r);
    send_at[r] = mine * columns->first[r];
    receive[r] = theirs * share(rows, r);
    receive_at[r] = theirs * rows->first[r];
  }
  quadrille_alltoallv_init(schedule, t.out, send, send_at, MPI_C_DOUBLE_COMPLEX, t.in, receive,
                           receive_at, MPI_C_DOUBLE_COMPLEX, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &t.request);
  return t;
}

static void transpose(const struct transpose* t, const double complex* from, double complex* to) {
  const int mine = share(&t->rows, rank), theirs = share(&t->columns, rank);
  const int height = t->rows.first[RANKS], width = t->columns.first[RANKS];
  size_t at = 0;
  for (int column = 0; column < width; column++)
    for (int row = 0; row < mine; row++)
      t->out[at++] = from[(size_t)row * (size_t)width + (size_t)column];
  quadrille_start(t->request);
  quadrille_wait(t->request);
  at = 0;
  for (int r = 0; r < RANKS; r++)
    for (int column = 0; column < theirs; column++)
      for (int row = t->rows.first[r]; row < t->rows.first[r + 1]; row++)
        to[(size_t)column * (size_t)height + (size_t)row] = t->in[at++];
}

static void free_transpose(struct transpose* t) {
  quadrille_free_request(&t->request);
  free(t->out);
  free(t->in);
}

/* The matrix after all steps, where `rows` has it before. */
static void spread_heat(double complex* by_rows, const struct spread* rows,
                        const struct spread* columns) {
  const int height = rows->first[RANKS], width = columns->first[RANKS];
  const int mine = share(rows, rank), theirs = share(columns, rank), left = columns->first[rank];
  double complex* by_columns = memory((size_t)theirs * (size_t)height, sizeof *by_columns);
  struct transpose there = make_transpose(rows, columns), back = make_transpose(columns, rows);
  for (int step = 0; step < STEPS; step++) {
    transform(by_rows, mine, width, FFTW_FORWARD);
    transpose(&there, by_rows, by_columns);
    transform(by_columns, theirs, height, FFTW_FORWARD);
    for (int column = 0; column < theirs; column++)
      for (int row = 0; row < height; row++)
        by_columns[column * height + row] *= left_of(row, height, left + column, width);
    transform(by_columns, theirs, height, FFTW_BACKWARD);
    transpose(&back, by_columns, by_rows);
    transform(by_rows, mine, width, FFTW_BACKWARD);
  }
  free_transpose(&there);
  free_transpose(&back);
  free(by_columns);
}

/* The same of the whole matrix, on one rank. */
static void spread_heat_alone(double complex* matrix, int height, int width) {
  for (int step = 0; step < STEPS; step++)
    for (int direction = FFTW_FORWARD;; direction = FFTW_BACKWARD) {
      fftw_plan plan = fftw_plan_dft_2d(height, width, matrix, matrix, direction, FFTW_ESTIMATE);
      fftw_execute(plan);
      fftw_destroy_plan(plan);
      if (direction == FFTW_BACKWARD) break;
      for (int i = 0; i < height * width; i++)
        matrix[i] *= left_of(i / width, height, i % width, width);
    }
}

/* How many elements of this rank's rows differ from those of one rank. */
static int wrong_of(const double complex* found, const struct spread* rows, int width) {
  const int height = rows->first[RANKS], first = rows->first[rank] * width;
  double complex* matrix = memory((size_t)height * (size_t)width, sizeof *matrix);
  fill(matrix, 0, height, width);
  spread_heat_alone(matrix, height, width);
  int wrong = 0;
  for (int i = 0; i < share(rows, rank) * width; i++)
    wrong += !(cabs(found[i] - matrix[first + i]) < 1e-12 * height * width);
  free(matrix);
  return wrong;
}

static int try_matrix(int height, int width) {
  const struct spread rows = spread_of(height), columns = spread_of(width);
  const int mine = share(&rows, rank);
  double complex* by_rows = memory((size_t)mine * (size_t)width, sizeof *by_rows);
  fill(by_rows, rows.first[rank], mine, width);
  spread_heat(by_rows, &rows, &columns);
  int wrong = wrong_of(by_rows, &rows, width), all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  free(by_rows);
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
    printf("%d steps on %d x %d and %d x %d, %d ranks, %d elements wrong\n", STEPS, n1[0], n1[1],
           n2[0], n2[1], RANKS, wrong);
  MPI_Finalize();
  return wrong != 0;
}
