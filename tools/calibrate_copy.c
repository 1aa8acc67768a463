/* Measures the time to copy a block into a message or out of one. As in the library, the copy looks up the block's
 * address and length. Copies of large blocks show the time of a byte.
 *
 * Times are means. If ranks share a core, a median would omit the switches between ranks, which few copies meet. */
#include <stdlib.h>
#include <string.h>

#include "tools/calibrate.h"

enum { NUMBERS = 4, FEWEST = 64, MOST = FEWEST << (NUMBERS - 1), BYTES = 8, LEAST_CALLS = 5 };
enum {
  AREA = 1 << 22
}; /* bytes: more than the cache of a core, as with blocks that a program has just made */
static const double kLeastPerByte = 1e-13; /* seconds: 10 TB/s */

static double mean_time(void (*work)(void*), void* with, double seconds) {
  work(with);
  const double start = MPI_Wtime();
  double elapsed = 0;
  int calls = 0;
  for (; calls < LEAST_CALLS || elapsed < seconds; calls++) {
    work(with);
    elapsed = MPI_Wtime() - start;
  }
  return elapsed / calls;
}

struct block {
  char* address;
  size_t bytes;
};

/* A message of `count` blocks. */
struct message {
  int count;
  struct block sent[MOST], received[MOST];
  char together[MOST * BYTES], blocks[2 * MOST * BYTES];
};

static void fill_and_empty(void* with) {
  struct message* m = with;
  char* next = m->together;
  for (int i = 0; i < m->count; next += m->sent[i++].bytes)
    memcpy(next, m->sent[i].address, m->sent[i].bytes);
  next = m->together;
  for (int i = 0; i < m->count; next += m->received[i++].bytes)
    memcpy(m->received[i].address, next, m->received[i].bytes);
}

/* Returns the mean seconds to fill and to empty a message of this many blocks. */
static double time_of(int blocks, double seconds) {
  static struct message message;
  message.count = blocks;
  for (int i = 0; i < blocks; i++) {
    message.sent[i] = (struct block){message.blocks + i * BYTES, BYTES};
    message.received[i] = (struct block){message.blocks + (MOST + i) * BYTES, BYTES};
  }
  return mean_time(fill_and_empty, &message, seconds);
}

double quadrille_measure_copy(double seconds) {
  double numbers[NUMBERS], times[NUMBERS];
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < NUMBERS; i++) {
    numbers[i] = FEWEST << i;
    times[i] = time_of(FEWEST << i, seconds);
  }
  double copy = quadrille_line_through(numbers, times, NUMBERS).slope / 2;
  MPI_Allreduce(MPI_IN_PLACE, &copy, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return copy;
}

double quadrille_measure_copied_byte(double seconds) {
  char *from = calloc(AREA, 1), *to = calloc(AREA, 1);
  if (!from || !to) quadrille_calibration_fails("out of memory");
  memcpy(to, from, AREA);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  double copied = 0, elapsed = 0, least = 0;
  do {
    from[(size_t)copied % (AREA - 1)] ^= to[AREA / 2];
    memcpy(to, from, AREA);
    copied += AREA;
    elapsed = MPI_Wtime() - start;
    least = kLeastPerByte * copied; /* in a simulation copies take no time */
  } while (elapsed < seconds && elapsed > least);
  double byte = elapsed > least ? elapsed / copied : 0;
  MPI_Allreduce(MPI_IN_PLACE, &byte, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  free(from);
  free(to);
  return byte;
}
