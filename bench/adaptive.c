/* mpirun adaptive CALLS SECONDS COLLECTIVE=BYTES[,BYTES...]...: calls of a program that does not know Quadrille, in turn with the MPI library's own.
 *
 * Blocks of calls of both kinds alternate, up to CALLS calls of each kind, or about SECONDS of the library's own. For each
 * collective it prints the number of calls, the seconds of the library's own, and of those that were preloaded; then both for
 * the last quarter. Several sizes take turns, each for 50 calls of both kinds. The library's own functions are looked up past everything that was preloaded. BYTES are of a block, or of
 * the vector of a reduction. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/mpi_library.h"

enum { BLOCK = 25, MOST_SIZES = 8 };

/* Each collective: its name in MPI, the short name, and its arguments. */
#define COLLECTIVES(ROW)                                                                 \
  ROW(Alltoall, "alltoall", sent, n, MPI_BYTE, received, n, MPI_BYTE)                    \
  ROW(Allgather, "allgather", sent, n, MPI_BYTE, received, n, MPI_BYTE)                  \
  ROW(Bcast, "broadcast", received, n, MPI_BYTE, 0)                                      \
  ROW(Gather, "gather", sent, n, MPI_BYTE, received, n, MPI_BYTE, 0)                     \
  ROW(Scatter, "scatter", sent, n, MPI_BYTE, received, n, MPI_BYTE, 0)                   \
  ROW(Reduce, "reduce", sent, received, n / 8, MPI_DOUBLE, MPI_SUM, 0)                   \
  ROW(Allreduce, "allreduce", sent, received, n / 8, MPI_DOUBLE, MPI_SUM)                \
  ROW(Reduce_scatter_block, "reduce-scatter", sent, received, each, MPI_DOUBLE, MPI_SUM) \
  ROW(Scan, "scan", sent, received, n / 8, MPI_DOUBLE, MPI_SUM)

static void *sent, *received;
static int ranks;
static void* mpi;

#define DEFINE(Name, name, ...)                               \
  static void call_##Name(int is_own, int n, int each) {      \
    static __typeof__(&MPI_##Name) own;                       \
    (void)n, (void)each;                                      \
    if (!own) *(void**)&own = dlsym(mpi, "PMPI_" #Name);      \
    (is_own ? own : MPI_##Name)(__VA_ARGS__, MPI_COMM_WORLD); \
  }
COLLECTIVES(DEFINE)

static const struct {
  const char* name;
  void (*call)(int, int, int);
} collectives[] = {
#define ENTRY(Name, name, ...) {name, call_##Name},
    COLLECTIVES(ENTRY)};

static double slowest(double seconds) {
  static __typeof__(&MPI_Allreduce) own;
  double all = 0;
  if (!own) *(void**)&own = dlsym(mpi, "PMPI_Allreduce");
  own(&seconds, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

/* A block of calls. Returns the slowest rank's seconds. */
static double block(void (*call)(int, int, int), int is_own, int calls, int n) {
  const int each = n / 8 / ranks > 0 ? n / 8 / ranks : 1;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < calls; i++) call(is_own, n, each);
  return slowest(MPI_Wtime() - start);
}

/* The numbers in a text like 8,256. Returns how many there are. */
static int read_sizes(const char* text, int sizes[MOST_SIZES]) {
  int count = 0;
  for (const char* at = text; at && count < MOST_SIZES; at = strchr(at, ',')) {
    at += *at == ',';
    sizes[count++] = atoi(at);
  }
  return count;
}

static int measure(const char* name, const char* text, int most, double seconds) {
  int sizes[MOST_SIZES];
  const int size_count = read_sizes(text, sizes);
  size_t i = 0;
  const size_t count = sizeof collectives / sizeof *collectives;
  while (i < count && strcmp(collectives[i].name, name) != 0) i++;
  if (i == count) return 0;
  void (*const call)(int, int, int) = collectives[i].call;
  double once = 0;
  for (int s = 0; s < size_count; s++) {
    block(call, 1, 2, sizes[s]); /* connections are made */
    once += block(call, 1, 3, sizes[s]) / 3 / size_count;
  }
  const int fits = seconds / once < most ? (int)(seconds / once) : most;
  const int blocks = fits / BLOCK > 4 ? fits / BLOCK : 4;
  double times[2] = {0, 0}, last[2] = {0, 0};
  for (int b = 0; b < 2 * blocks; b++) {
    const int is_own = b % 4 == 0 || b % 4 == 3;
    const double time = block(call, is_own, BLOCK, sizes[b / 4 % size_count]);
    times[!is_own] += time;
    if (b >= blocks * 3 / 2) last[!is_own] += time;
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    printf("adaptive %s %s %d %.9f %.9f %.9f %.9f\n", name, text, blocks * BLOCK, times[0],
           times[1], last[0], last[1]);
  return 1;
}

int main(int count, char** words) {
  int largest = 8, is_right = count > 3;
  MPI_Init(&count, &words);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  mpi = mpi_library();
  for (int i = 3; i < count; i++) {
    const char* bytes = strchr(words[i], '=');
    int sizes[MOST_SIZES];
    is_right &= bytes != NULL;
    for (int s = bytes ? read_sizes(bytes + 1, sizes) : 0; s > 0; s--)
      if (sizes[s - 1] > largest) largest = sizes[s - 1];
  }
  sent = calloc((size_t)ranks + 1, (size_t)largest);
  received = calloc((size_t)ranks + 1, (size_t)largest);
  for (int i = 3; is_right && mpi && sent && received && i < count; i++) {
    char* const bytes = strchr(words[i], '=');
    *bytes = 0;
    is_right = measure(words[i], bytes + 1, atoi(words[1]), atof(words[2]));
  }
  if (!is_right || !mpi) {
    fprintf(stderr,
            "usage: mpirun -n RANKS adaptive CALLS SECONDS COLLECTIVE=BYTES[,BYTES...]...\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    printf("end\n");
    fflush(stdout);
  }
  free(sent);
  free(received);
  MPI_Finalize();
  return 0;
}
