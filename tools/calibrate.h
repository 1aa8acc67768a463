/* What `calibrate` measures, in the terms of generator/cost.h: a round in which each of some ranks
 * sends so many messages of so many bytes, and receives as many, takes
 *     alpha + shared * messages * (gap + beta * bytes),
 * where `shared` is 1 where each rank has a port of its own, and otherwise how many ranks of a node
 * send. Tested by tests/mpi/calibrate_test.sh and, where the answer is known, by
 * tests/simulation/calibrate_test.py. */
#ifndef QUADRILLE_RUNTIME_CALIBRATE_H_
#define QUADRILLE_RUNTIME_CALIBRATE_H_

#include <mpi.h>

/* Ranks that send to each other at the same time. */
struct quadrille_team {
  MPI_Comm comm; /* MPI_COMM_NULL at all other ranks */
  int* to;       /* ranks in it: to which this one sends, each in its turn */
  int* from;     /* from which it receives */
  int peers;     /* how many each are */
};

/* A line, fitted to times. */
struct quadrille_line {
  double at_zero, slope; /* neither is below 0 */
};

/* What a round takes, in seconds. */
struct quadrille_round {
  double at_zero;     /* of one message of no bytes: alpha + shared * gap */
  double per_message; /* shared * gap */
  double per_byte;    /* shared * beta */
};

/* The line that the points are nearest to, as parts of the times. */
struct quadrille_line quadrille_line_through(const double* x, const double* times, int points);

/* How many loads quadrille_measure_round times. */
enum { QUADRILLE_LOADS_OF_ROUND = 12 };
/* What a round takes the slowest rank of the team, each load timed for about so many seconds, and at
 * all ranks the same. What many messages take is that of messages of so many bytes, or 16 KiB.
 * Collective over MPI_COMM_WORLD; ranks outside the team sleep. */
struct quadrille_round quadrille_measure_round(const struct quadrille_team* team, int bytes,
                                               double seconds);
/* The same of one message of so many bytes. */
double quadrille_measure_message(const struct quadrille_team* team, int bytes, double seconds);

/* Bytes of the longest message, a power of two up to 4 MiB, that has left its sender before its receive is posted;
 * 0 where none has. Collective over MPI_COMM_WORLD, of which two ranks are named; the others sleep. */
int quadrille_measure_eager(int sender, int receiver);

enum { QUADRILLE_LOADS_OF_COPY = 5 }; /* of both functions that follow */
/* Seconds that this library takes to put a small block into a message, or to take it out, where all
 * ranks do it at once: at the slowest of them. Collective over MPI_COMM_WORLD. */
double quadrille_measure_copy(double seconds);
/* Seconds that each byte of a large one takes then; 0 where the clock does not see it. */
double quadrille_measure_copied_byte(double seconds);

/* What `work` takes, done for about so many seconds: the mean of a stretch of them, of some stretches the
 * median. All ranks of the communicator do it as often. */
double quadrille_median_time(void (*work)(void*), void* with, MPI_Comm comm, double seconds);

/* Ends the program, at all ranks, with exit code 2 and this sentence. */
_Noreturn void quadrille_calibration_fails(const char* sentence);

#endif /* QUADRILLE_RUNTIME_CALIBRATE_H_ */
