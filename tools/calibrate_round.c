/* Times rounds, and fits lines to the times.
 *
 * The ranks of a team stay in step, since no rank can begin a round before its neighbors have ended the last. A time
 * is the mean over a stretch of rounds, because ranks that share a core each run many rounds in a row. The median
 * over several stretches counts, so that other work of the machine has little effect. The team's time is that of its
 * slowest rank. Each load is timed in several passes, and the median of the passes counts. So a longer disturbance
 * spoils only one pass of some loads. Lengths and numbers of messages grow by a factor of 4. Lines have the least
 * relative errors, so short messages count as much as long ones. */
#include "tools/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
  SIZES = 8,
  SMALLEST = 16,
  NUMBERS = 4,
  LONGEST_OF_MANY = 1 << 14,
  STRETCHES = 7,
  PASSES = 3,
  MOST_TIMES = 1 << 22,
  MOST_EAGER = 1 << 22
};
static const double kSeen = 20e-6; /* seconds: longer than a tick of any clock */

void quadrille_calibration_fails(const char* sentence) {
  fprintf(stderr, "calibrate: %s\n", sentence);
  MPI_Abort(MPI_COMM_WORLD, 2);
  exit(2);
}

static void* must(void* memory) {
  if (!memory) quadrille_calibration_fails("out of memory");
  return memory;
}

static int by_value(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return a < b ? -1 : a > b;
}

/* Returns the median, and sorts the values. */
static double median(double* values, int count) {
  qsort(values, (size_t)count, sizeof *values, by_value);
  return values[count / 2];
}

static double seconds_of(void (*work)(void*), void* with, int times) {
  const double start = MPI_Wtime();
  for (int i = 0; i < times; i++) work(with);
  return (MPI_Wtime() - start) / times;
}

/* Returns how often the work fits into `seconds` at the slowest rank. To time it, runs it `times` times. */
static int times_in(double seconds, void (*work)(void*), void* with, MPI_Comm comm, int times) {
  double once = seconds_of(work, with, times);
  MPI_Allreduce(MPI_IN_PLACE, &once, 1, MPI_DOUBLE, MPI_MAX, comm);
  return (int)fmin(seconds / fmax(once, 1e-9) + 1, MOST_TIMES);
}

double quadrille_median_time(void (*work)(void*), void* with, MPI_Comm comm, double seconds) {
  const double stretch = fmax(seconds / STRETCHES, kSeen);
  work(with); /* so that all connections exist */
  const int few = times_in(stretch / 2, work, with, comm, 3);
  const int times = times_in(stretch, work, with, comm, few);
  double means[STRETCHES];
  for (int i = 0; i < STRETCHES; i++) means[i] = seconds_of(work, with, times);
  return median(means, STRETCHES);
}

struct quadrille_line quadrille_line_through(const double* x, const double* times, int points) {
  double one = 0, first = 0, second = 0, time = 0, moment = 0; /* sums, weighted by 1 / time^2 */
  for (int i = 0; i < points; i++) {
    const double weight = 1 / (times[i] * times[i]);
    one += weight;
    first += weight * x[i];
    second += weight * x[i] * x[i];
    time += weight * times[i];
    moment += weight * times[i] * x[i];
  }
  const double slope = (one * moment - first * time) / (one * second - first * first);
  if (slope < 0) return (struct quadrille_line){time / one, 0};
  const double at_zero = (time - slope * first) / one;
  if (at_zero < 0) return (struct quadrille_line){0, moment / second};
  return (struct quadrille_line){at_zero, slope};
}

/* A round of a team: each rank sends this number of messages of `bytes` bytes. */
struct load {
  const struct quadrille_team* team;
  int messages, bytes;
  char* buffer;
  MPI_Request* requests;
  int turn; /* index of the first peer, which changes each round, so that no peer is always first */
};

static void exchange(void* with) {
  struct load* load = with;
  const struct quadrille_team* team = load->team;
  const size_t bytes = (size_t)load->bytes;
  const int messages = load->messages;
  char *in = load->buffer, *out = in + (size_t)messages * bytes;
  MPI_Request* request = load->requests;
  for (int i = 0; i < messages; i++, in += bytes)
    MPI_Irecv(in, load->bytes, MPI_BYTE, team->from[(load->turn + i) % team->peers], 0, team->comm,
              request++);
  for (int i = 0; i < messages; i++, out += bytes)
    MPI_Isend(out, load->bytes, MPI_BYTE, team->to[(load->turn + i) % team->peers], 0, team->comm,
              request++);
  MPI_Waitall(2 * messages, load->requests, MPI_STATUSES_IGNORE);
  load->turn = (load->turn + 1) % team->peers;
}

/* Returns the seconds of a round at the team's slowest rank, or 0 at ranks outside the team. */
static double time_of(const struct quadrille_team* team, int messages, int bytes, double seconds) {
  if (team->comm == MPI_COMM_NULL) return 0;
  struct load load = {team, messages, bytes, NULL, NULL, 0};
  load.buffer = must(calloc(2 * (size_t)messages * (size_t)bytes + 1, 1));
  load.requests = must(calloc(2 * (size_t)messages, sizeof *load.requests));
  double time = quadrille_median_time(exchange, &load, team->comm, seconds);
  MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, team->comm);
  free(load.buffer);
  free(load.requests);
  return time;
}

/* Gives all ranks the values, which are 0 where they are not known. Ranks that wait sleep, and so free their core. */
static void share(double* values, int count) {
  const struct timespec nap = {0, 200000};
  MPI_Request measured;
  int done = 0;
  MPI_Ibarrier(MPI_COMM_WORLD, &measured);
  for (;;) {
    MPI_Test(&measured, &done, MPI_STATUS_IGNORE);
    if (done) break;
    nanosleep(&nap, NULL);
  }
  MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

double quadrille_measure_burst(const struct quadrille_team* team, double seconds) {
  enum { MESSAGES = 16 };
  double of_passes[PASSES];
  for (int pass = 0; pass < PASSES; pass++)
    of_passes[pass] = time_of(team, MESSAGES, LONGEST_OF_MANY, seconds / PASSES);
  double time = median(of_passes, PASSES);
  share(&time, 1);
  return time;
}

double quadrille_measure_message(const struct quadrille_team* team, int bytes, double seconds) {
  double time = time_of(team, 1, bytes, seconds);
  share(&time, 1);
  return time;
}

struct quadrille_round quadrille_measure_round(const struct quadrille_team* team, int bytes,
                                               double seconds) {
  const int of_many = bytes < LONGEST_OF_MANY ? bytes : LONGEST_OF_MANY;
  double sizes[SIZES], numbers[NUMBERS], times[SIZES + NUMBERS], of_passes[SIZES + NUMBERS][PASSES];
  for (int i = 0; i < SIZES; i++) sizes[i] = SMALLEST << 2 * i;
  for (int i = 0; i < NUMBERS; i++) numbers[i] = 1 << 2 * i;
  for (int pass = 0; pass < PASSES; pass++) {
    for (int i = 0; i < SIZES; i++)
      of_passes[i][pass] = time_of(team, 1, SMALLEST << 2 * i, seconds / PASSES);
    for (int i = 0; i < NUMBERS; i++)
      of_passes[SIZES + i][pass] = time_of(team, 1 << 2 * i, of_many, seconds / PASSES);
  }
  for (int i = 0; i < SIZES + NUMBERS; i++) times[i] = median(of_passes[i], PASSES);
  share(times, SIZES + NUMBERS);
  const struct quadrille_line by_size = quadrille_line_through(sizes, times, SIZES);
  const struct quadrille_line by_number = quadrille_line_through(numbers, times + SIZES, NUMBERS);
  const double more = fmax(0, by_number.slope - of_many * by_size.slope);
  const double gap = fmin(more, by_size.at_zero);
  return (struct quadrille_round){by_size.at_zero, gap, by_size.slope + (more - gap) / of_many};
}

/* Returns whether a send of this length completes before its receive is posted. Both ends return the same. */
static int leaves(int is_sender, int other, char* buffer, int bytes) {
  enum { DATA, TOKEN };
  MPI_Request sent;
  int gone = 0;
  if (is_sender) MPI_Isend(buffer, bytes, MPI_BYTE, other, DATA, MPI_COMM_WORLD, &sent);
  MPI_Sendrecv(NULL, 0, MPI_BYTE, other, TOKEN, NULL, 0, MPI_BYTE, other, TOKEN, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  if (is_sender) {
    MPI_Test(&sent, &gone, MPI_STATUS_IGNORE);
    MPI_Send(&gone, 1, MPI_INT, other, TOKEN, MPI_COMM_WORLD);
    if (!gone) MPI_Wait(&sent, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&gone, 1, MPI_INT, other, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(buffer, bytes, MPI_BYTE, other, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return gone;
}

int quadrille_measure_eager(int sender, int receiver) {
  double eager = 0;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == sender || rank == receiver) {
    char* buffer = must(calloc(MOST_EAGER, 1));
    const int other = rank == sender ? receiver : sender;
    for (int bytes = 1; bytes <= MOST_EAGER && leaves(rank == sender, other, buffer, bytes);
         bytes *= 2)
      eager = bytes;
    free(buffer);
  }
  share(&eager, 1);
  return (int)eager;
}
