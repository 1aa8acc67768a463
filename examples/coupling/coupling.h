/* Connects ocean.c and atmosphere.c, and exchanges their fields.
 *
 * Both models use the same grid. Each rank of the ocean has a band of rows, and each rank of the atmosphere a band of
 * columns. Two collectives between the two groups of ranks couple the models in each step:
 *   alltoallv     sends each rank of the other model the cells that lie in both bands
 *   allgatherv    sends all ranks of the other model the means of this rank's rows or columns
 * Before the first step, an allgather tells all ranks the bands of the other model. MPI-2 introduced collectives
 * between groups for programs such as these, of which one may start the other (Silva and Silva 1999).
 *
 * The schedules serve any numbers of ranks. They are bazel-bin/emitted/allgather_between_groups_any.c and
 * alltoall_between_groups_any.c. As a check, each program also steps both models on the whole grid. */
#ifndef EXAMPLES_COUPLING_COUPLING_H_
#define EXAMPLES_COUPLING_COUPLING_H_

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emitted/allgather_between_groups_any.h"
#include "emitted/alltoall_between_groups_any.h"
#include "runtime/quadrille.h"

enum { ROWS = 23, COLUMNS = 37, STEPS = 10, MOST_RANKS = 100 };

/* Temperatures in the cells of the grid, and their means over each row (ocean) or column (atmosphere). */
struct field {
  double cell[ROWS][COLUMNS], mean[COLUMNS];
};

/* The lines of one rank: rows in the ocean, columns in the atmosphere. */
struct band {
  int first, number;
};

static int is_ocean;
static MPI_Comm own, other; /* this program's ranks; the intercommunicator with the other program */
static int ranks, other_ranks;
static struct band mine;
static int firsts[MOST_RANKS], numbers[MOST_RANKS]; /* the bands of the other model */
static quadrille_schedule allgather, alltoall;

/* Ends the job. Rank 0 of this program prints the reason. The others wait, so that it has time to do so. */
static void stop(const char* why) {
  int rank = 0;
  MPI_Comm_rank(own, &rank);
  if (rank == 0) {
    fprintf(stderr, "%s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Barrier(own);
}

/* Connects the programs, in one of two ways. The ocean starts the atmosphere if its arguments are a program and a
 * number of ranks. Otherwise one command has started both, and they share MPI_COMM_WORLD. */
static void meet(char** words) {
  own = MPI_COMM_WORLD;
  MPI_Comm_get_parent(&other);
  if (other != MPI_COMM_NULL) return;
  if (is_ocean && words[1] && words[2]) {
    MPI_Comm_spawn(words[1], MPI_ARGV_NULL, atoi(words[2]), MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                   &other, MPI_ERRCODES_IGNORE);
    return;
  }
  int rank = 0, all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  /* The lowest rank of the atmosphere, and that of the ocean. */
  int leaders[2] = {is_ocean ? all : rank, is_ocean ? rank : all};
  MPI_Allreduce(MPI_IN_PLACE, leaders, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (leaders[!is_ocean] == all) {
    /* All ranks know the error, so the job ends without MPI_Abort, which may lose the message. */
    if (rank == 0) fprintf(stderr, "start 'ocean atmosphere RANKS', or both programs in one job\n");
    MPI_Finalize();
    exit(2);
  }
  MPI_Comm_split(MPI_COMM_WORLD, is_ocean, rank, &own);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, leaders[!is_ocean], 0, &other);
}

/* Connects to the other program, and learns the bands of its ranks. Errors go to the communicator's handler. Here, as
 * in any MPI program, they end the job with a sentence that says what is wrong. */
static void couple(char** words) {
  meet(words);
  int rank = 0;
  MPI_Comm_rank(own, &rank);
  MPI_Comm_size(own, &ranks);
  MPI_Comm_remote_size(other, &other_ranks);
  if (other_ranks > MOST_RANKS) stop("give each model at most 100 ranks");
  const int lines = is_ocean ? ROWS : COLUMNS;
  mine.first = lines * rank / ranks;
  mine.number = lines * (rank + 1) / ranks - mine.first;

  quadrille_load_memory(quadrille_allgather_between_groups_any,
                        sizeof quadrille_allgather_between_groups_any, &allgather);
  quadrille_load_memory(quadrille_alltoall_between_groups_any,
                        sizeof quadrille_alltoall_between_groups_any, &alltoall);
  quadrille_allgather(allgather, &mine.first, 1, MPI_INT, firsts, 1, MPI_INT, other);
  quadrille_allgather(allgather, &mine.number, 1, MPI_INT, numbers, 1, MPI_INT, other);
}

/* Copies the cells that are in both this rank's band and rank k's to the buffer, or back. Returns their number. */
static int copy_block(int k, double cell[ROWS][COLUMNS], double* buffer, int back) {
  const struct band theirs = {firsts[k], numbers[k]};
  const struct band rows = is_ocean ? mine : theirs, columns = is_ocean ? theirs : mine;
  for (int row = 0; row < rows.number; row++) {
    double* line = &cell[rows.first + row][columns.first];
    double* packed = &buffer[row * columns.number];
    memcpy(back ? line : packed, back ? packed : line, (size_t)columns.number * sizeof *line);
  }
  return rows.number * columns.number;
}

/* Sends this rank's band of `from`. Receives the band's cells and all means of `to`, a field of the other model. */
static void exchange(struct field* from, struct field* to) {
  static double sent[ROWS * COLUMNS], received[ROWS * COLUMNS];
  int counts[MOST_RANKS], places[MOST_RANKS], all = 0;
  for (int k = 0; k < other_ranks; k++) {
    places[k] = all;
    counts[k] = copy_block(k, from->cell, sent + all, 0);
    all += counts[k];
  }
  quadrille_alltoallv(alltoall, sent, counts, places, MPI_DOUBLE, received, counts, places,
                      MPI_DOUBLE, other);
  for (int k = 0; k < other_ranks; k++) copy_block(k, to->cell, received + places[k], 1);
  quadrille_allgatherv(allgather, from->mean + mine.first, mine.number, MPI_DOUBLE, to->mean,
                       numbers, firsts, MPI_DOUBLE, other);
}

/* ---- The models. A step uses both fields as they were before it. It covers a band, or the grid as a check. */

static const struct band all_rows = {0, ROWS}, all_columns = {0, COLUMNS};

static void average_rows(struct field* sea, struct band rows) {
  for (int row = rows.first; row < rows.first + rows.number; row++) {
    sea->mean[row] = 0;
    for (int column = 0; column < COLUMNS; column++)
      sea->mean[row] += sea->cell[row][column] / COLUMNS;
  }
}

static void start_ocean(struct field* sea, struct band rows) {
  for (int row = rows.first; row < rows.first + rows.number; row++)
    for (int column = 0; column < COLUMNS; column++)
      sea->cell[row][column] = 25 - row + column % 5 / 7.0;
  average_rows(sea, rows);
}

/* The air above a cell and the mean air of its column warm or cool the sea. */
static void step_ocean(struct field* sea, const struct field* air, struct band rows) {
  for (int row = rows.first; row < rows.first + rows.number; row++)
    for (int column = 0; column < COLUMNS; column++)
      sea->cell[row][column] +=
          (air->cell[row][column] + air->mean[column] - 2 * sea->cell[row][column]) / 50;
  average_rows(sea, rows);
}

/* The sea below a cell and the mean sea of its row warm or cool the air, which starts at 0 degrees. */
static void step_atmosphere(struct field* air, const struct field* sea, struct band columns) {
  for (int column = columns.first; column < columns.first + columns.number; column++) {
    air->mean[column] = 0;
    for (int row = 0; row < ROWS; row++) {
      air->cell[row][column] +=
          (sea->cell[row][column] + sea->mean[row] - 2 * air->cell[row][column]) / 5;
      air->mean[column] += air->cell[row][column] / ROWS;
    }
  }
}

/* ---- The check */

static long values, wrong;

static void compare(const double* value, const double* expected) {
  values++;
  wrong += memcmp(value, expected, sizeof *value) != 0;
}

/* Compares the received cells of this rank's band and all received means with the values from the whole grid. */
static void compare_received(const struct field* received, const struct field* expected) {
  const struct band rows = is_ocean ? mine : all_rows, columns = is_ocean ? all_columns : mine;
  for (int row = rows.first; row < rows.first + rows.number; row++)
    for (int column = columns.first; column < columns.first + columns.number; column++)
      compare(&received->cell[row][column], &expected->cell[row][column]);
  for (int line = 0; line < (is_ocean ? COLUMNS : ROWS); line++)
    compare(&received->mean[line], &expected->mean[line]);
}

/* Steps both models on the whole grid. */
static void step_both(struct field* sea, struct field* air) {
  const struct field before = *sea;
  step_ocean(sea, air, all_rows);
  step_atmosphere(air, &before, all_columns);
}

/* Prints the result, and disconnects from the other program. Returns the exit code. */
static int finish(const char* name) {
  long mine_of[2] = {values, wrong}, all[2] = {0, 0};
  int rank = 0;
  quadrille_free(&allgather);
  quadrille_free(&alltoall);
  MPI_Comm_rank(own, &rank);
  MPI_Allreduce(mine_of, all, 2, MPI_LONG, MPI_SUM, own);
  if (rank == 0)
    printf("%s: %d ranks received %ld values from %d, %ld wrong\n", name, ranks, all[0],
           other_ranks, all[1]);
  MPI_Comm_disconnect(&other);
  MPI_Finalize();
  return all[1] != 0;
}

#endif /* EXAMPLES_COUPLING_COUPLING_H_ */
