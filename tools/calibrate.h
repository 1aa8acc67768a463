/* What `calibrate` measures, in the terms of simulate/machine.h. In a round, each rank of a team sends some messages of some
 * bytes and receives as many. It takes
 *     alpha + shared * messages * (gap + beta * bytes),
 * where `shared` is 1 if each rank has a port of its own, and otherwise the number of ranks of a node that send. Tested by
 * tests/mpi/calibrate_test.sh and, with known answers, by tests/simulation/calibrate_test.py. */
#ifndef QUADRILLE_RUNTIME_CALIBRATE_H_
#define QUADRILLE_RUNTIME_CALIBRATE_H_

#include <mpi.h>

/* Ranks that send to each other at the same time. */
struct quadrille_team {
  MPI_Comm comm; /* MPI_COMM_NULL at all other ranks */
  int* to;       /* ranks in it to which this rank sends, in this order */
  int* from;     /* ranks from which it receives */
  int peers;     /* the number of each */
};

/* A line, fitted to times. */
struct quadrille_line {
  double at_zero, slope; /* neither is below 0 */
};

/* The parts of a round's time, in seconds. */
struct quadrille_round {
  double at_zero;     /* of one message of no bytes: alpha + shared * gap */
  double per_message; /* shared * gap */
  double per_byte;    /* shared * beta */
};

/* The line with the least relative errors. */
struct quadrille_line quadrille_line_through(const double* x, const double* times, int points);

/* The number of loads that quadrille_measure_round times. */
enum { QUADRILLE_LOADS_OF_ROUND = 12 };
/* The round of the slowest rank of the team, the same at all ranks. Each load is timed for about `seconds`. Rounds of many
 * messages have messages of `bytes`, at most 16 KiB. Collective over MPI_COMM_WORLD; ranks outside the team sleep. */
struct quadrille_round quadrille_measure_round(const struct quadrille_team* team, int bytes,
                                               double seconds);
/* The time of a round of 16 messages of 16 KiB, likewise. */
double quadrille_measure_burst(const struct quadrille_team* team, double seconds);
/* The time of one message of this length. */
double quadrille_measure_message(const struct quadrille_team* team, int bytes, double seconds);

/* Bytes of the longest message, a power of two up to 4 MiB, whose send completes before its receive is posted; 0 if
 * there is none. Collective over MPI_COMM_WORLD; all ranks except these two sleep. */
int quadrille_measure_eager(int sender, int receiver);

enum { QUADRILLE_LOADS_OF_COPY = 5 }; /* for both functions below */
/* Seconds that the library takes to copy a small block into a message or out of it, on the slowest rank, while all
 * ranks do so. Collective over MPI_COMM_WORLD. */
double quadrille_measure_copy(double seconds);
/* The seconds of each byte of a large block; 0 if the clock does not see it. */
double quadrille_measure_copied_byte(double seconds);

/* The time of `work`, repeated for about `seconds`: the mean of a stretch, and the median of some stretches. All ranks of the
 * communicator repeat it as often. */
double quadrille_median_time(void (*work)(void*), void* with, MPI_Comm comm, double seconds);

/* Ends the program on all ranks with exit code 2 and this sentence. */
_Noreturn void quadrille_calibration_fails(const char* sentence);

#endif /* QUADRILLE_RUNTIME_CALIBRATE_H_ */
