/* What a block takes that is put into a message, or taken out of one: a call of this library sends
 * messages of many blocks from a rank to itself, and all that grows with their number is theirs. */
#include "runtime/calibrate.h"
#include "runtime/traffic.h"

enum { NUMBERS = 4, FEWEST = 64, MOST = FEWEST << (NUMBERS - 1), BYTES = 8 };

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

/* The median time of a call with one message of so many blocks. */
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
  const double time = quadrille_median_time(call, &traffic, MPI_COMM_SELF, seconds);
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
