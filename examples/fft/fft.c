/* mpirun -n 6 fft [STEPS]: spreads heat over a distributed matrix by 2-D Fourier transforms. Compares the result with
 * FFTW's own transforms on one rank. This is a plain MPI program for any number of ranks.
 *
 * Each rank holds some rows. In each step the ranks transform their rows, transpose the matrix with MPI_Alltoallv,
 * and transform the columns that they then hold. Waves fade, short ones first. Then everything goes back likewise.
 *
 * As in FFTW's own distribution, a rank has ceil(rows / ranks) rows, and the last ranks have fewer or none. So blocks
 * differ in size, and some are empty. The sizes are those of Fan et al. 2024, section VI. With the preload library
 * and QUADRILLE_ALLTOALLV=tuna, a schedule of TuNA serves the calls. */
#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks, steps = 3;

static void* memory(size_t elements, size_t size) {
  void* result = calloc(elements ? elements : 1, size);
  if (!result) MPI_Abort(MPI_COMM_WORLD, 1);
  return result;
}

/* Return the first of n rows or columns that rank r has, and how many it has. */
static int first(int n, int r) {
  const int most = (n + ranks - 1) / ranks;
  return r * most < n ? r * most : n;
}

static int share(int n, int r) { return first(n, r + 1) - first(n, r); }

/* Returns an element of the matrix at the start. */
static double complex element(int row, int column) {
  return sin(1 + 3 * row + column * column) + I * cos(2 * row * column + row);
}

/* Fills n rows with those of the matrix, from row `first` on. */
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

/* Returns the factor by which a wave fades, over the number of elements, by which two transforms multiply. */
static double left_of(int row, int height, int column, int width) {
  const double k = row < height - row ? row : height - row;
  const double l = column < width - column ? column : width - column;
  return exp(-0.01 * (k * k + l * l)) / ((double)height * width);
}

/* The buffers and counts of a transpose. It turns a matrix distributed by rows into one distributed by columns. */
struct transpose {
  int height, width;
  double complex *out, *in; /* the blocks, ordered by rank */
  int *send, *send_at, *receive, *receive_at;
};

static struct transpose make_transpose(int height, int width) {
  struct transpose t = {.height = height, .width = width};
  const int mine = share(height, rank), theirs = share(width, rank);
  t.out = memory((size_t)mine * (size_t)width, sizeof *t.out);
  t.in = memory((size_t)theirs * (size_t)height, sizeof *t.in);
  t.send = memory(4 * (size_t)ranks, sizeof *t.send);
  t.send_at = t.send + ranks;
  t.receive = t.send_at + ranks;
  t.receive_at = t.receive + ranks;
  for (int r = 0; r < ranks; r++) {
    t.send[r] = mine * share(width, r);
    t.send_at[r] = mine * first(width, r);
    t.receive[r] = theirs * share(height, r);
    t.receive_at[r] = theirs * first(height, r);
  }
  return t;
}

static void transpose(const struct transpose* t, const double complex* from, double complex* to) {
  const int mine = share(t->height, rank), theirs = share(t->width, rank);
  size_t at = 0;
  for (int column = 0; column < t->width; column++)
    for (int row = 0; row < mine; row++)
      t->out[at++] = from[(size_t)row * (size_t)t->width + (size_t)column];
  MPI_Alltoallv(t->out, t->send, t->send_at, MPI_C_DOUBLE_COMPLEX, t->in, t->receive, t->receive_at,
                MPI_C_DOUBLE_COMPLEX, MPI_COMM_WORLD);
  at = 0;
  for (int r = 0; r < ranks; r++)
    for (int column = 0; column < theirs; column++)
      for (int row = first(t->height, r); row < first(t->height, r + 1); row++)
        to[(size_t)column * (size_t)t->height + (size_t)row] = t->in[at++];
}

static void free_transpose(struct transpose* t) {
  free(t->out);
  free(t->in);
  free(t->send);
}

/* Makes all steps on the matrix in `by_rows`. */
static void spread_heat(double complex* by_rows, int height, int width) {
  const int mine = share(height, rank), theirs = share(width, rank), left = first(width, rank);
  double complex* by_columns = memory((size_t)theirs * (size_t)height, sizeof *by_columns);
  struct transpose there = make_transpose(height, width), back = make_transpose(width, height);
  for (int step = 0; step < steps; step++) {
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

/* Makes all steps on the whole matrix, on one rank. */
static void spread_heat_alone(double complex* matrix, int height, int width) {
  for (int step = 0; step < steps; step++)
    for (int direction = FFTW_FORWARD;; direction = FFTW_BACKWARD) {
      fftw_plan plan = fftw_plan_dft_2d(height, width, matrix, matrix, direction, FFTW_ESTIMATE);
      fftw_execute(plan);
      fftw_destroy_plan(plan);
      if (direction == FFTW_BACKWARD) break;
      for (int i = 0; i < height * width; i++)
        matrix[i] *= left_of(i / width, height, i % width, width);
    }
}

/* Returns how many elements of this rank's rows differ from the result on one rank. */
static int wrong_of(const double complex* found, int height, int width) {
  double complex* matrix = memory((size_t)height * (size_t)width, sizeof *matrix);
  fill(matrix, 0, height, width);
  spread_heat_alone(matrix, height, width);
  int wrong = 0;
  for (int i = 0; i < share(height, rank) * width; i++)
    wrong += !(cabs(found[i] - matrix[first(height, rank) * width + i]) < 1e-12 * height * width);
  free(matrix);
  return wrong;
}

static int try_matrix(int height, int width) {
  const int mine = share(height, rank);
  double complex* by_rows = memory((size_t)mine * (size_t)width, sizeof *by_rows);
  fill(by_rows, first(height, rank), mine, width);
  spread_heat(by_rows, height, width);
  int wrong = wrong_of(by_rows, height, width), all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  free(by_rows);
  return all;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 1) steps = atoi(argv[1]);
  const int n1[2] = {(25 * ranks + 31) / 32, (5 * ranks + 7) / 8 * 8};
  const int n2[2] = {(ranks - 1) * 32 + 8, ranks};
  const int wrong = try_matrix(n1[0], n1[1]) + try_matrix(n2[0], n2[1]);
  if (rank == 0)
    printf("%d steps on %d x %d and %d x %d, %d ranks, %d elements wrong\n", steps, n1[0], n1[1],
           n2[0], n2[1], ranks, wrong);
  MPI_Finalize();
  return wrong != 0;
}
