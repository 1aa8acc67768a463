/* mpirun cluster_alltoall BYTES REPETITIONS FILE.qs:WINDOW...: quadrille_alltoall beside MPI_Alltoall.
 *
 * Each repetition calls MPI_Alltoall and each schedule with its window in turn, each schedule next to
 * a call of MPI_Alltoall of its own, which comes first in every other repetition. A call takes as
 * long as its slowest rank. Printed for each schedule: the medians of both times; the median of
 * the pairs' ratios native / ours; and between which ratios the true median lies with 95 %, from
 * the order of the ratios alone (binomial). Received bytes are compared with MPI_Alltoall's. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/quadrille.h"

enum { MAX_CONFIGURATIONS = 64 };

struct configuration {
  quadrille_schedule schedule;
  char algorithm[64];
  int window;
  MPI_Comm comm;
  double *ours, *native;
};

static int rank, ranks, bytes, repetitions;
static char *send_buffer, *receive_buffer, *expected;

static void fail(const char* text) {
  fprintf(stderr, "cluster_alltoall: %s\n", text);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static void prepare(struct configuration* c, char* word) {
  char* colon = strrchr(word, ':');
  c->window = colon ? atoi(colon + 1) : 0;
  if (c->window < 1) fail("a schedule is given as FILE.qs:WINDOW");
  *colon = '\0';
  quadrille_load_file(word, &c->schedule);
  MPI_Comm_dup(MPI_COMM_WORLD, &c->comm);
  MPI_Comm_set_errhandler(c->comm, MPI_ERRORS_RETURN);
  const quadrille_bind_options options = {sizeof options, QUADRILLE_LAYOUT_SHARED, c->window, 0};
  if (quadrille_bind(c->schedule, c->comm, &options) != MPI_SUCCESS) {
    char text[256];
    quadrille_last_error(text, sizeof text);
    fail(text);
  }
  quadrille_schedule_info info = {.size = sizeof info};
  quadrille_info(c->schedule, &info);
  memcpy(c->algorithm, info.algorithm, sizeof c->algorithm);
  c->ours = malloc((size_t)repetitions * sizeof *c->ours);
  c->native = malloc((size_t)repetitions * sizeof *c->native);
  if (!c->ours || !c->native) fail("out of memory");
}

/* One call's time, on rank 0, in milliseconds. */
static double timed(const struct configuration* c, int native) {
  char* into = native ? expected : receive_buffer;
  MPI_Barrier(MPI_COMM_WORLD);
  double mine = MPI_Wtime(), slowest = 0;
  const int code = native
                       ? MPI_Alltoall(send_buffer, bytes, MPI_BYTE, into, bytes, MPI_BYTE, c->comm)
                       : quadrille_alltoall(c->schedule, send_buffer, bytes, MPI_BYTE, into, bytes,
                                            MPI_BYTE, c->comm);
  mine = MPI_Wtime() - mine;
  if (code != MPI_SUCCESS) fail("a call failed");
  MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return slowest * 1e3;
}

static void repeat(struct configuration* c, int repetition) {
  memset(receive_buffer, 0xee, (size_t)ranks * (size_t)bytes);
  for (int turn = 0; turn < 2; turn++) {
    const int native = (turn + repetition) % 2 == 0;
    (native ? c->native : c->ours)[repetition] = timed(c, native);
  }
  if (memcmp(receive_buffer, expected, (size_t)ranks * (size_t)bytes) != 0)
    fail("quadrille_alltoall received other bytes than MPI_Alltoall");
}

static int by_value(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

/* Of sorted values. */
static double median(const double* values) {
  return (values[(repetitions - 1) / 2] + values[repetitions / 2]) / 2;
}

/* How many of the sorted values to leave out at each end: the chance that the true median lies
 * outside the rest is 5 % at most. */
static int left_out(void) {
  double chance = pow(0.5, repetitions), below = chance; /* of 0 values below the median */
  int out = 0;
  while (2 * below <= 0.05) {
    out++;
    chance *= (double)(repetitions - out + 1) / out;
    below += chance;
  }
  return out > 0 ? out - 1 : 0;
}

static void report(struct configuration* c) {
  double* ratios = malloc((size_t)repetitions * sizeof *ratios);
  if (!ratios) fail("out of memory");
  for (int i = 0; i < repetitions; i++) ratios[i] = c->native[i] / c->ours[i];
  qsort(ratios, (size_t)repetitions, sizeof *ratios, by_value);
  qsort(c->ours, (size_t)repetitions, sizeof *c->ours, by_value);
  qsort(c->native, (size_t)repetitions, sizeof *c->native, by_value);
  const int out = left_out();
  printf("%-36s %6d %8d %10.2f %10.2f %8.3f   %.3f to %.3f\n", c->algorithm, c->window, bytes,
         median(c->native), median(c->ours), median(ratios), ratios[out],
         ratios[repetitions - 1 - out]);
  free(ratios);
}

int main(int count, char** words) {
  static struct configuration configurations[MAX_CONFIGURATIONS];
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int given = count - 3;
  if (given < 1 || given > MAX_CONFIGURATIONS || (bytes = atoi(words[1])) < 1 ||
      (repetitions = atoi(words[2])) < 1)
    fail("usage: cluster_alltoall BYTES REPETITIONS FILE.qs:WINDOW...");
  const size_t size = (size_t)ranks * (size_t)bytes;
  send_buffer = malloc(size);
  receive_buffer = malloc(size);
  expected = malloc(size);
  if (!send_buffer || !receive_buffer || !expected) fail("out of memory");
  for (size_t i = 0; i < size; i++) send_buffer[i] = (char)(i * 31 + (size_t)rank * 7 + i / 251);
  for (int i = 0; i < given; i++) prepare(&configurations[i], words[3 + i]);
  for (int i = 0; i < given; i++) repeat(&configurations[i], 0); /* connections are made */
  for (int r = 0; r < repetitions; r++)
    for (int i = 0; i < given; i++) repeat(&configurations[i], r);
  if (rank == 0)
    for (int i = 0; i < given; i++) report(&configurations[i]);
  MPI_Finalize();
  return 0;
}
