/* What `calibrate` measures, in the terms of generator/cost.h. In a round, each of some ranks sends a number of messages of
 * some bytes and receives as many. A round takes
 *     alpha + shared * messages * (gap + beta * bytes),
 * where `shared` is 1 if each rank has a port of its own, and otherwise the number of ranks of a node that send.
 * Tested by tests/mpi/calibrate_test.sh and, where the answer is known, by tests/simulation/calibrate_test.py. */
#ifndef QUADRILLE_RUNTIME_CALIBRATE_H_
#define QUADRILLE_RUNTIME_CALIBRATE_H_

#include <mpi.h>

/* A team: ranks that send to each other at the same time. */
struct quadrille_team {
  MPI_Comm comm; /* MPI_COMM_NULL at all other ranks */
  int* to;       /* the ranks of `comm` that this rank sends to, in turn */
  int* from;     /* the ranks that it receives from */
  int peers;     /* the length of both arrays */
};

/* A line, fitted to times. */
struct quadrille_line {
  double at_zero, slope; /* both are at least 0 */
};

/* The time of a round, in seconds. */
struct quadrille_round {
  double at_zero;     /* with one empty message: alpha + shared * gap */
  double per_message; /* shared * gap */
  double per_byte;    /* shared * beta */
};

/* Fits a line to the points, with the least relative errors. */
struct quadrille_line quadrille_line_through(const double* x, const double* times, int points);

/* The number of loads that quadrille_measure_round times. */
enum { QUADRILLE_LOADS_OF_ROUND = 12 };
/* The time of a round at the slowest rank of the team, the same result at all ranks. Each load is timed for about that many
 * seconds. Loads of many messages use messages of that many bytes, or of 16 KiB. Collective over MPI_COMM_WORLD; ranks
 * outside the team sleep. */
struct quadrille_round quadrille_measure_round(const struct quadrille_team* team, int bytes,
                                               double seconds);
/* The same for one message of that many bytes. */
double quadrille_measure_message(const struct quadrille_team* team, int bytes, double seconds);

/* Bytes of the longest eager message: its send completes before its receive is posted. A power of two up to 4 MiB; 0 if
 * there is none. Collective over MPI_COMM_WORLD; the two named ranks measure, and the others sleep. */
int quadrille_measure_eager(int sender, int receiver);

enum { QUADRILLE_LOADS_OF_COPY = 5 }; /* of the two functions below */
/* The seconds to put a small block into a message, or to take it out, while all ranks do so. The slowest rank decides.
 * Collective over MPI_COMM_WORLD. */
double quadrille_measure_copy(double seconds);
/* The seconds for each byte of a large block; 0 if they are too short for the clock. */
double quadrille_measure_copied_byte(double seconds);

/* The time of `work`, repeated for about that many seconds. It is the median over stretches of the mean of each. All ranks of
 * the communicator repeat it equally often. */
double quadrille_median_time(void (*work)(void*), void* with, MPI_Comm comm, double seconds);

/* Ends the program, at all ranks, with exit code 2 and this sentence. */
_Noreturn void quadrille_calibration_fails(const char* sentence);

#endif /* QUADRILLE_RUNTIME_CALIBRATE_H_ */
