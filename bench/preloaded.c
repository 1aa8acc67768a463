/* mpirun preloaded ROW CALLS|pairs=PAIRS COLLECTIVE=BYTES...: collectives of a program that does not know Quadrille. They run
 * on all ranks; if ROW is not 0, they run on communicators of the ranks with equal remainders by ROW.
 *
 * With 200 the program calls each collective 200 times. With pairs=11 it calls each in turn with the MPI library's own, and prints
 * what bench/sampling.py reads. It looks up the library's own past everything that was preloaded. COLLECTIVE is alltoall,
 * alltoallv (blocks of 0 to twice BYTES), allgather or allgatherv (BYTES at each rank). */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/mpi_library.h"

enum { MOST_RANKS = 64 };

struct calls {
  int (*alltoall)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
  int (*alltoallv)(const void*, const int*, const int*, MPI_Datatype, void*, const int*, const int*,
                   MPI_Datatype, MPI_Comm);
  int (*allgather)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
  int (*allgatherv)(const void*, int, MPI_Datatype, void*, const int*, const int*, MPI_Datatype,
                    MPI_Comm);
  int (*allreduce)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
};
static struct calls native;

static struct {
  MPI_Comm comm;
  int rank, ranks, bytes;
  char *sent, *received;
  int sent_counts[MOST_RANKS], sent_places[MOST_RANKS], counts[MOST_RANKS], places[MOST_RANKS];
} job;

static int length(int source, int target) {
  const unsigned x =
      ((unsigned)source * 2654435761u + (unsigned)target * 40503u + 1) * 1664525u + 1013904223u;
  return (int)((x >> 8) % (2u * (unsigned)job.bytes + 1));
}

static void call(const struct calls* of, const char* collective) {
  if (strcmp(collective, "alltoall") == 0)
    of->alltoall(job.sent, job.bytes, MPI_BYTE, job.received, job.bytes, MPI_BYTE, job.comm);
  else if (strcmp(collective, "alltoallv") == 0)
    of->alltoallv(job.sent, job.sent_counts, job.sent_places, MPI_BYTE, job.received, job.counts,
                  job.places, MPI_BYTE, job.comm);
  else if (strcmp(collective, "allgather") == 0)
    of->allgather(job.sent, job.bytes, MPI_BYTE, job.received, job.bytes, MPI_BYTE, job.comm);
  else
    of->allgatherv(job.sent, job.bytes, MPI_BYTE, job.received, job.counts, job.places, MPI_BYTE,
                   job.comm);
}

static void prepare(const char* collective, int bytes) {
  const int is_uneven = strcmp(collective, "alltoallv") == 0;
  job.bytes = bytes;
  for (int i = 0; i < job.ranks; i++) {
    job.sent_counts[i] = is_uneven ? length(job.rank, i) : bytes;
    job.counts[i] = is_uneven ? length(i, job.rank) : bytes;
    job.sent_places[i] = job.places[i] = i * (is_uneven ? 2 : 1) * bytes;
  }
}

/* The slowest rank's seconds. */
static double timed(const struct calls* of, const char* collective) {
  double slowest = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  double mine = MPI_Wtime();
  call(of, collective);
  mine = MPI_Wtime() - mine;
  native.allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

/* Finds the MPI library's functions past everything preloaded. Returns 0 if it cannot. */
static int find_native(void) {
  static const char* const names[] = {"PMPI_Alltoall", "PMPI_Alltoallv", "PMPI_Allgather",
                                      "PMPI_Allgatherv", "PMPI_Allreduce"};
  void* const functions[] = {&native.alltoall, &native.alltoallv, &native.allgather,
                             &native.allgatherv, &native.allreduce};
  void* const library = mpi_library();
  int all = 1;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void* const function = library ? dlsym(library, names[i]) : NULL;
    memcpy(functions[i], &function, sizeof function);
    all &= function != NULL;
  }
  return all;
}

int main(int count, char** words) {
  const struct calls preloaded = {MPI_Alltoall, MPI_Alltoallv, MPI_Allgather, MPI_Allgatherv, NULL};
  int world = 0, most = 0;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  if (count < 4 || job.ranks > MOST_RANKS || !find_native()) {
    fprintf(stderr, "usage: mpirun -n RANKS preloaded ROW CALLS|pairs=PAIRS COLLECTIVE=BYTES...\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int row = atoi(words[1]);
  MPI_Comm all;
  MPI_Comm_split(MPI_COMM_WORLD, row > 0 ? world % row : 0, world, &all);
  MPI_Comm_rank(all, &job.rank);
  MPI_Comm_size(all, &job.ranks);
  for (int i = 3; i < count; i++) {
    const int bytes = atoi(strchr(words[i], '=') + 1);
    most = bytes > most ? bytes : most;
  }
  job.sent = calloc((size_t)job.ranks * 2 + 1, (size_t)most);
  job.received = calloc((size_t)job.ranks * 2 + 1, (size_t)most);
  const int pairs = strncmp(words[2], "pairs=", 6) == 0 ? atoi(words[2] + 6) : 0;
  for (int i = 3; i < count; i++) {
    char* const bytes = strchr(words[i], '=');
    *bytes = 0;
    /* Each collective has its own communicator, since the mean block of an alltoallv belongs to one. */
    MPI_Comm_dup(all, &job.comm);
    prepare(words[i], atoi(bytes + 1));
    if (pairs > 0 && world == 0) printf("schedule %d %s %s 0\n", i - 3, words[i], bytes + 1);
    for (int n = pairs > 0 ? 3 : atoi(words[2]); n > 0; n--) timed(&preloaded, words[i]);
    for (int n = 0; n < pairs; n++) {
      const double before = n % 2 ? timed(&native, words[i]) : 0;
      const double ours = timed(&preloaded, words[i]);
      const double theirs = n % 2 ? before : timed(&native, words[i]);
      if (world == 0) printf("sample %d %.9f %.9f\n", i - 3, theirs, ours);
    }
    MPI_Comm_free(&job.comm);
  }
  free(job.sent);
  free(job.received);
  MPI_Comm_free(&all);
  if (world == 0) {
    printf("end\n");
    fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
