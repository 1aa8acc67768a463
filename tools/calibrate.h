/* What `calibrate` measures, in the terms of simulate/machine.h. In a round, each rank of a team sends a number of
 * messages of a number of bytes, and receives as many. A round takes
 *     alpha + shared * messages * (gap + beta * bytes)
 * seconds. `shared` is 1 if each rank has its own port, and otherwise the number of ranks of a node that send. Tested
 * by tests/mpi/calibrate_test.sh and, with known answers, by tests/simulation/calibrate_test.py. */
#ifndef QUADRILLE_TOOLS_CALIBRATE_H_
#define QUADRILLE_TOOLS_CALIBRATE_H_

#include <mpi.h>

/* Ranks that send to each other at the same time. */
struct quadrille_team {
  MPI_Comm comm; /* of the team; MPI_COMM_NULL at all other ranks */
  int* to;       /* ranks in `comm` to which this rank sends, in this order */
  int* from;     /* ranks in `comm` from which it receives, in this order */
  int peers;     /* the length of each list */
};

/* A line fitted to times: at_zero + slope * x. */
struct quadrille_line {
  double at_zero, slope; /* neither is below 0 */
};

/* The parts of a round's time, in seconds. */
struct quadrille_round {
  double at_zero;     /* a round of one empty message: alpha + shared * gap */
  double per_message; /* shared * gap */
  double per_byte;    /* shared * beta */
};

/* Returns the line through `points` points (x[i], times[i]) with the least squares of relative errors. */
struct quadrille_line quadrille_line_through(const double* x, const double* times, int points);

/* The number of loads that quadrille_measure_round times. */
enum { QUADRILLE_LOADS_OF_ROUND = 12 };
/* Returns the parts of a round's time at the team's slowest rank. Times each load for about `seconds`. In rounds of
 * many messages, these have `bytes` bytes, at most 16 KiB. Collective over MPI_COMM_WORLD; other ranks sleep. */
struct quadrille_round quadrille_measure_round(const struct quadrille_team* team, int bytes,
                                               double seconds);
/* Returns the seconds of a round of 16 messages of 16 KiB, measured likewise. */
double quadrille_measure_burst(const struct quadrille_team* team, double seconds);
/* Returns the seconds of a round of one message of `bytes` bytes, measured likewise. */
double quadrille_measure_message(const struct quadrille_team* team, int bytes, double seconds);

/* Returns the bytes of the longest message, a power of two up to 4 MiB, whose send completes before its receive is
 * posted, or 0 if there is none. Collective over MPI_COMM_WORLD; all ranks except these two sleep. */
int quadrille_measure_eager(int sender, int receiver);

enum { QUADRILLE_LOADS_OF_COPY = 5 }; /* for both functions below */
/* Returns the slowest rank's seconds to copy a small block into or out of a message. All ranks copy. Collective. */
double quadrille_measure_copy(double seconds);
/* Returns the seconds to copy one byte of a large block, measured likewise; 0 if the clock does not see it. */
double quadrille_measure_copied_byte(double seconds);

/* Returns the seconds of one `work(with)`, repeated for about `seconds`: the median over several stretches of the
 * mean time in a stretch. All ranks of the communicator repeat it equally often. */
double quadrille_median_time(void (*work)(void*), void* with, MPI_Comm comm, double seconds);

/* Ends the program on all ranks with exit code 2 and this sentence. */
_Noreturn void quadrille_calibration_fails(const char* sentence);

#endif /* QUADRILLE_TOOLS_CALIBRATE_H_ */
