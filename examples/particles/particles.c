/* mpirun -n 6 particles: gathers the particles of all ranks on every rank, by a schedule that is linked in.
 *
 * Ranks hold different numbers of particles, and rank 0 holds most of them, as after a few steps of a simulation. All
 * ranks need all particles, so they call quadrille_allgatherv. Its schedule cuts the data into blocks that travel
 * round the nodes in a ring. The schedule is bazel-bin/emitted/allgather_1_2_3.c, for nodes of 1, 2 and 3 ranks. The
 * program assigns the ranks to these nodes in order. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "emitted/allgather_1_2_3.h"
#include "runtime/quadrille.h"

enum { RANKS = 6, MOST = 100000 };

struct particle {
  double position[3], mass;
};

static int number_of(int rank) { return MOST >> 2 * rank; }

static struct particle make(int rank, int i) {
  return (struct particle){{rank, i, rank + i}, 1.0 / (i + 1)};
}

static int is(const struct particle* a, const struct particle* b) {
  return a->position[0] == b->position[0] && a->position[1] == b->position[1] &&
         a->position[2] == b->position[2] && a->mass == b->mass;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, counts[RANKS], places[RANKS], all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int r = 0; r < RANKS; r++) {
    counts[r] = number_of(r);
    places[r] = all;
    all += counts[r];
  }

  /* Errors go to the communicator's handler. Here, as in any MPI program, they end the job with a
   * sentence that says what is wrong. The program may set the block size, which the schedule would
   * otherwise choose itself. */
  quadrille_schedule schedule;
  quadrille_load_memory(quadrille_allgather_1_2_3, sizeof quadrille_allgather_1_2_3, &schedule);
  const quadrille_bind_options options = {
      .size = sizeof options, .layout = QUADRILLE_LAYOUT_TRUSTED, .block_size = 16384};
  quadrille_bind(schedule, MPI_COMM_WORLD, &options);

  MPI_Datatype particle;
  MPI_Type_contiguous(4, MPI_DOUBLE, &particle);
  MPI_Type_commit(&particle);
  struct particle* particles = calloc((size_t)all, sizeof *particles);
  if (!particles) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < counts[rank]; i++) particles[places[rank] + i] = make(rank, i);
  quadrille_allgatherv(schedule, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, particles, counts, places,
                       particle, MPI_COMM_WORLD);
  MPI_Type_free(&particle);
  quadrille_free(&schedule);

  int mine = 0, wrong = 0;
  for (int r = 0; r < RANKS; r++)
    for (int i = 0; i < counts[r]; i++) {
      const struct particle expected = make(r, i);
      mine += !is(&particles[places[r] + i], &expected);
    }
  MPI_Reduce(&mine, &wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d particles on each of %d ranks, %d wrong\n", all, RANKS, wrong);
  free(particles);
  MPI_Finalize();
  return mine != 0;
}
