/* mpirun -n 6 closure [TIMES]: computes the transitive closure of a directed graph: which vertices can be reached
 * from which. Compares it with Warshall's algorithm on one rank. This is a plain MPI program for any number of ranks.
 *
 * Path (x, y) belongs to the rank of y, and so do the edges that begin at y. In each step a rank extends its new
 * paths by one edge. It sends them to their ranks with MPI_Alltoallv, after an MPI_Alltoall of the counts. The
 * program ends when no rank learns anything new. Most blocks are small and of different sizes, the case that TuNA is
 * for. With the preload library and QUADRILLE_ALLTOALLV=tuna, a schedule of TuNA serves the calls. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERTICES = 120, MOST = 3 * VERTICES * VERTICES };

struct path {
  int from, to;
};

static int rank, ranks;
/* For each rank: the number of paths sent to it and received from it, and the index of the first of them. */
static int *send, *send_at, *receive, *receive_at;

/* Returns whether the graph has this edge. It has two long paths that share some vertices, and branches from them. */
static int is_edge(int from, int to) {
  return to == from + 7 || (from % 9 == 0 && to == from / 3) || (from == 113 && to == 2);
}

static int owner(int vertex) { return vertex * vertex % ranks; }

/* The paths that this rank knows, and which of them are new. */
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

/* Extends the new paths by one edge. Those that belong to rank r begin at longer[send_at[r]]. */
static void extend(const struct known* known, struct path* longer) {
  int next = 0;
  for (int r = 0; r < ranks; r++) {
    send_at[r] = next;
    for (int i = 0; i < known->fresh_count; i++)
      for (int to = 0; to < VERTICES; to++)
        if (owner(to) == r && is_edge(known->fresh[i].to, to))
          longer[next++] = (struct path){known->fresh[i].from, to};
    send[r] = next - send_at[r];
  }
}

/* Extends the new paths, exchanges them, and adds those that arrive. `pair` is the type of a path. */
static void step(struct known* known, struct path* out, struct path* in, MPI_Datatype pair) {
  int all = 0;
  extend(known, out);
  MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; r++) {
    receive_at[r] = all;
    all += receive[r];
  }
  MPI_Alltoallv(out, send, send_at, pair, in, receive, receive_at, pair, MPI_COMM_WORLD);
  known->fresh_count = 0;
  for (int i = 0; i < all; i++) learn(known, in[i]);
}

/* Returns how many paths this rank has too many or too few. */
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

/* Finds all paths. Returns the number of steps. Sets all[] to the paths and the wrong ones, summed over the ranks. */
static int find_paths(MPI_Datatype pair, int all[2]) {
  static struct known known;
  static struct path out[MOST], in[MOST];
  memset(&known, 0, sizeof known);
  for (int from = 0; from < VERTICES; from++)
    for (int to = 0; to < VERTICES; to++)
      if (owner(to) == rank && is_edge(from, to)) learn(&known, (struct path){from, to});

  int steps = 0, anything = 1;
  for (; anything; steps++) {
    step(&known, out, in, pair);
    MPI_Allreduce(&known.fresh_count, &anything, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  int mine[2] = {0, wrong_of(&known)};
  for (int x = 0; x < VERTICES; x++)
    for (int y = 0; y < VERTICES; y++) mine[0] += known.has[x][y];
  MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return steps;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  send = malloc(4 * sizeof *send * (size_t)ranks);
  if (!send) MPI_Abort(MPI_COMM_WORLD, 1);
  send_at = send + ranks;
  receive = send_at + ranks;
  receive_at = receive + ranks;
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);

  int all[2] = {0}, steps = 0, wrong = 0;
  for (int times = argc > 1 ? atoi(argv[1]) : 1; times > 0; times--) {
    steps = find_paths(pair, all);
    wrong += all[1];
  }
  if (rank == 0)
    printf("%d vertices, %d paths after %d steps on %d ranks, %d wrong\n", VERTICES, all[0], steps,
           ranks, wrong);
  MPI_Type_free(&pair);
  free(send);
  MPI_Finalize();
  return wrong != 0;
}
