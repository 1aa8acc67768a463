/* tune: learns rules for the preload library without an application. Start it like the programs that the rules are for:
 *
 *   mpirun -n 64 tune rules.json [SIZE...]
 *
 * This is a plain MPI program with the preload library in it. It calls each collective with blocks of these sizes, as
 * often as the library needs to learn, and the library writes the rules when MPI ends (docs/guide.md). MPI_Alltoallv and
 * MPI_Alltoallw are left out: their best schedule depends on all lengths, so a program that calls them has to learn by
 * itself. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/quantity.h"
#include "tools/launcher.h"

enum {
  CALLS = 300,
  MOST = 1 << 28
}; /* calls that the collective with the most schedules needs to learn */

static int ranks;
static char *sent, *received;
static int *counts, *places;

static void alltoall(int n) {
  MPI_Alltoall(sent, n, MPI_BYTE, received, n, MPI_BYTE, MPI_COMM_WORLD);
}
static void allgather(int n) {
  MPI_Allgather(sent, n, MPI_BYTE, received, n, MPI_BYTE, MPI_COMM_WORLD);
}
static void allgatherv(int n) {
  (void)n;
  MPI_Allgatherv(sent, counts[0], MPI_BYTE, received, counts, places, MPI_BYTE, MPI_COMM_WORLD);
}
static void allreduce(int n) {
  MPI_Allreduce(sent, received, n, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
}
static void reduce_scatter_block(int n) {
  const int each = n / ranks > 0 ? n / ranks : 1;
  MPI_Reduce_scatter_block(sent, received, each, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
}
static void bcast(int n) { MPI_Bcast(received, n, MPI_BYTE, 0, MPI_COMM_WORLD); }
static void reduce(int n) { MPI_Reduce(sent, received, n, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD); }
static void gather(int n) {
  MPI_Gather(sent, n, MPI_BYTE, received, n, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void scatter(int n) {
  MPI_Scatter(sent, n, MPI_BYTE, received, n, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void learn(int n) {
  static void (*const collectives[])(int) = {
      alltoall, allgather, allgatherv, allreduce, reduce_scatter_block,
      bcast,    reduce,    gather,     scatter};
  for (int r = 0; r < ranks; r++) {
    counts[r] = n;
    places[r] = r * n;
  }
  for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++)
    for (int call = 0; call < CALLS; call++) {
      MPI_Barrier(MPI_COMM_WORLD);
      collectives[i](n);
    }
}

/* 0 if the buffers cannot have that many bytes. */
static int bytes_of(const char* word) {
  int64_t bytes = 0;
  quantity_bytes(word, strlen(word), 1, MOST / ranks, &bytes);
  return (int)bytes;
}

/* Returns 0 if one of them is no size. All ranks find that, and rank 0 reports it. */
static int largest_of(char** sizes, int size_count) {
  int largest = 0, rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < size_count; i++) {
    const int bytes = bytes_of(sizes[i]);
    if (bytes == 0) {
      if (rank == 0)
        fprintf(stderr, "tune: '%s' is no number of bytes from 1 to %d, such as 4096 or 4KiB\n",
                sizes[i], MOST / ranks);
      return 0;
    }
    if (bytes > largest) largest = bytes;
  }
  return largest;
}

static void make_buffers(size_t bytes) {
  sent = calloc((size_t)ranks, bytes);
  received = calloc((size_t)ranks, bytes);
  counts = calloc((size_t)ranks, sizeof *counts);
  places = calloc((size_t)ranks, sizeof *places);
  if (sent && received && counts && places) return;
  fprintf(stderr, "tune: memory ran out\n");
  MPI_Abort(MPI_COMM_WORLD, 2);
}

int main(int count, char** words) {
  static char* usual[] = {"16", "256", "4096", "65536"};
  const int wants_help =
      count == 2 && (strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0);
  if (wants_help || count < 2 || words[1][0] == '-') {
    fprintf(
        wants_help ? stdout : stderr,
        "usage: mpirun -n RANKS tune RULES.json [SIZE...]\n\n"
        "Learns with which schedules collectives of these sizes are faster than MPI's own, on as\n"
        "many ranks a node as this is started with, and adds the rules to RULES.json: for the\n"
        "preload library, by QUADRILLE_RULES=RULES.json. "
        "A size is a number of bytes, or\n4KiB; without sizes it takes 16, 256, 4KiB, 64KiB.\n");
    return wants_help ? 0 : 2;
  }
  char** sizes = count > 2 ? words + 2 : usual;
  const int size_count = count > 2 ? count - 2 : (int)(sizeof usual / sizeof *usual);
  MPI_Init(&count, &words);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int largest = started_by_another("tune") ? 0 : largest_of(sizes, size_count);
  if (largest > 0) {
    /* The library reads these at its first call, or when MPI ends. */
    setenv("QUADRILLE", "learn", 1);
    setenv("QUADRILLE_RULES", words[1], 1);
    make_buffers((size_t)largest);
  }
  for (int i = 0; largest > 0 && i < size_count; i++) learn(bytes_of(sizes[i]));
  MPI_Finalize();
  free(sent);
  free(received);
  free(counts);
  free(places);
  return largest > 0 ? 0 : 2;
}
