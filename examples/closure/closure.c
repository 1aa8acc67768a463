/* mpirun -n 6 closure: which vertices of a directed graph can be reached from which (its transitive
 * closure), against Warshall's algorithm on one rank.
 *
 * Paths (x, y) lie at the rank that y belongs to, and so do the edges that begin at y. In each step
 * a rank extends the paths that it found in the step before by one edge, and sends what it gets to
 * where it belongs (MPI_Alltoallv, after one number for each rank: how many come); this ends when no
 * rank learns anything new. Hardly two blocks have the same size, and most are small: the schedule is
 * that of TuNA for nodes of 1, 2 and 3 ranks, emitted/schedules/alltoall_tuna_1_2_3.c, which the
 * ranks are taken to lie on in order. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "emitted/alltoall_tuna_1_2_3.h"
#include "runtime/quadrille.h"

/* Three edges at the most lead to a vertex, and fewer begin there. */
enum { RANKS = 6, VERTICES = 120, MOST = 3 * VERTICES * VERTICES };

struct path {
  int from, to;
};

static int rank;
static quadrille_schedule schedule;

/* Two long ways that share some vertices, and what branches off them. */
static int is_edge(int from, int to) {
  return to == from + 7 || (from % 9 == 0 && to == from / 3) || (from == 113 && to == 2);
}

static int owner(int vertex) { return vertex * vertex % RANKS; }

/* Which paths this rank knows, and those that are new. */
struct known {
  char has[VERTICES][VERTICES];
  struct path fresh[MOST];
  int fresh_count;
};

static void learn(struct known* known, struct path path) {
  if (known->has[path.from][path.to]) return;
  known->has[path.from][path.to] = 1;
  known->fresh[known->fresh_count++] = path;
}

/* All paths by one more edge, those of rank r from `at[r]` on; how many go to each rank. */
static void extend(const struct known* known, struct path* longer, int counts[RANKS],
                   int at[RANKS]) {
  int next = 0;
  for (int r = 0; r < RANKS; r++) {
    at[r] = next;
    for (int i = 0; i < known->fresh_count; i++)
      for (int to = 0; to < VERTICES; to++)
        if (owner(to) == r && is_edge(known->fresh[i].to, to))
          longer[next++] = (struct path){known->fresh[i].from, to};
    counts[r] = next - at[r];
  }
}

/* Extends what is new and takes in what others send. `pair` is the type of a path. */
static void step(struct known* known, struct path* out, struct path* in, MPI_Datatype pair) {
  int send[RANKS], send_at[RANKS], receive[RANKS], receive_at[RANKS], all = 0;
  extend(known, out, send, send_at);
  quadrille_alltoall(schedule, send, 1, MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < RANKS; r++) {
    receive_at[r] = all;
    all += receive[r];
  }
  quadrille_alltoallv(schedule, out, send, send_at, pair, in, receive, receive_at, pair,
                      MPI_COMM_WORLD);
  known->fresh_count = 0;
  for (int i = 0; i < all; i++) learn(known, in[i]);
}

/* How many of this rank's paths there should not be, or are missing. */
static int wrong_of(const struct known* known) {
  static char reach[VERTICES][VERTICES];
  int wrong = 0;
  for (int x = 0; x < VERTICES; x++)
    for (int y = 0; y < VERTICES; y++) reach[x][y] = (char)is_edge(x, y);
  for (int via = 0; via < VERTICES; via++)
    for (int x = 0; x < VERTICES; x++)
      for (int y = 0; y < VERTICES; y++) reach[x][y] |= reach[x][via] && reach[via][y];
  for (int x = 0; x < VERTICES; x++)
    for (int y = 0; y < VERTICES; y++)
      if (owner(y) == rank) wrong += reach[x][y] != known->has[x][y];
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  /* Errors go to the communicator's handler: here, as in any MPI program, they end the job with a
   * sentence that says what is wrong. */
  quadrille_load_memory(quadrille_alltoall_tuna_1_2_3, sizeof quadrille_alltoall_tuna_1_2_3,
                        &schedule);
  const quadrille_bind_options options = {.size = sizeof options,
                                          .layout = QUADRILLE_LAYOUT_TRUSTED};
  quadrille_bind(schedule, MPI_COMM_WORLD, &options);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);

  static struct known known;
  static struct path out[MOST], in[MOST];
  for (int from = 0; from < VERTICES; from++)
    for (int to = 0; to < VERTICES; to++)
      if (owner(to) == rank && is_edge(from, to)) learn(&known, (struct path){from, to});

  int steps = 0, anything = 1;
  for (; anything; steps++) {
    step(&known, out, in, pair);
    MPI_Allreduce(&known.fresh_count, &anything, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }

  int mine[2] = {0, wrong_of(&known)}, all[2];
  for (int x = 0; x < VERTICES; x++)
    for (int y = 0; y < VERTICES; y++) mine[0] += known.has[x][y];
  MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d vertices, %d paths after %d steps on %d ranks, %d wrong\n", VERTICES, all[0], steps,
           RANKS, all[1]);
  MPI_Type_free(&pair);
  quadrille_free(&schedule);
  MPI_Finalize();
  return all[1] != 0;
}
