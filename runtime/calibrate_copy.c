/* What a block takes that is put into a message, or taken out of one: a call of this library sends
 * messages of many blocks from a rank to itself, and all that grows with their number is theirs. What
 * each of their bytes takes shows where many are copied.
 *
 * Times are means: where ranks share a core, most copies are done between two changes of the rank that
 * has it, and a median would not tell of the others. */
#include <stdlib.h>
#include <string.h>

#include "runtime/calibrate.h"
#include "runtime/traffic.h"

enum { NUMBERS = 4, FEWEST = 64, MOST = FEWEST << (NUMBERS - 1), BYTES = 8, LEAST_CALLS = 5 };
enum {
  AREA = 1 << 22
}; /* more than a cache of one core holds, as blocks that a program has just made */
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

static void call(void* with) {
  struct quadrille_traffic* traffic = with;
  quadrille_traffic_start(traffic, QUADRILLE_CARGO_BOTH);
  quadrille_traffic_finish(traffic);
}

/* A side of so many blocks of BYTES each. */
static struct quadrille_side side_of(char* blocks, int count) {
  struct quadrille_side side = {.base = blocks, .type = MPI_BYTE, .uniform = 1, .count = BYTES};
  if (quadrille_side_describe(&side, count) != MPI_SUCCESS)
    quadrille_calibration_fails("bytes have no size");
  side.stride = BYTES;
  return side;
}

/* The mean time of a call with one message of so many blocks. */
static double time_of(int blocks, double seconds) {
  static char sent[MOST * BYTES], received[MOST * BYTES];
  static int32_t pieces[2 * MOST];
  for (int i = 0; i < 2 * blocks; i++) pieces[i] = i;
  struct quadrille_route_message out = {0, 0, blocks}, in = {0, blocks, blocks};
  struct quadrille_route_step step = {.receives_end = 1, .sends_end = 1};
  const struct quadrille_route route = {.ranks = blocks,
                                        .most_pieces = blocks,
                                        .step_count = 1,
                                        .steps = &step,
                                        .receives = {&in, 1, 1},
                                        .sends = {&out, 1, 1},
                                        .piece_count = 2 * blocks,
                                        .pieces = pieces};
  struct quadrille_binding binding = {.comm = MPI_COMM_SELF, .window = 1};
  struct quadrille_traffic traffic;
  if (!quadrille_traffic_open(&traffic, &binding, &route, 1, (int64_t)blocks * BYTES))
    quadrille_calibration_fails("out of memory");
  const struct quadrille_side send = side_of(sent, blocks), receive = side_of(received, blocks);
  int error_class = MPI_SUCCESS;
  const char* wrong = quadrille_traffic_load(&traffic, &send, &receive, 0, &error_class);
  if (wrong) quadrille_calibration_fails(wrong);
  const double time = mean_time(call, &traffic, seconds);
  if (traffic.error != MPI_SUCCESS)
    quadrille_calibration_fails("a message of a rank to itself failed");
  quadrille_traffic_close(&traffic);
  return time;
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
