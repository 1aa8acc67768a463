/* A plain MPI program that does not know Quadrille. It runs collectives on communicators of all kinds and checks
 * their results. preload_test.sh decides what serves them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64, BLOCK = 40 };

static int tests, failures, world;

/* The communicator under test. `own` is this rank's group, and `other` the group whose data it receives. */
static struct {
  const char* name;
  MPI_Comm comm;
  int inter, own, other, rank, ranks, others;
} at;

static void check(int holds, const char* what) {
  tests++;
  if (holds) return;
  failures++;
  printf("FAILED: world rank %d, %s: %s\n", world, at.name, what);
}

/* Returns element i of the data that rank `source` of a group has for rank `target`. */
static int value(int group, int source, int target, int i) {
  return 1000000 * group + 10000 * source + 100 * target + i % 97;
}
static int count_of(int group, int source, int target) { return (group + source + 3 * target) % 5; }

static int sent[MOST * BLOCK], received[MOST * BLOCK];

static void clear(void) { memset(received, -1, sizeof received); }

/* Returns whether the receive buffer, from `place` on, has the data of rank r of the other group for `target`. */
static int came(int r, int target, int place, int count) {
  for (int i = 0; i < count; i++)
    if (received[place + i] != value(at.other, r, target, i)) return 0;
  return 1;
}

static void fill_sent(int n) {
  for (int r = 0; r < at.others; r++)
    for (int i = 0; i < n; i++) sent[r * n + i] = value(at.own, at.rank, r, i);
}

static void alltoall(int n) {
  int right = 1;
  fill_sent(n);
  clear();
  MPI_Alltoall(sent, n, MPI_INT, received, n, MPI_INT, at.comm);
  for (int r = 0; r < at.others; r++) right &= came(r, at.rank, r * n, n);
  check(right && received[at.others * n] == -1, "alltoall");
  if (at.inter) return;
  memcpy(received, sent, sizeof sent);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, received, n, MPI_INT, at.comm);
  right = 1;
  for (int r = 0; r < at.others; r++) right &= came(r, at.rank, r * n, n);
  check(right, "alltoall in place");
#if MPI_VERSION >= 4
  clear();
  MPI_Alltoall_c(sent, n, MPI_INT, received, n, MPI_INT, at.comm);
  for (int r = 0; r < at.others; r++) right &= came(r, at.rank, r * n, n);
  check(right && received[at.others * n] == -1, "alltoall_c");
#endif
}

/* Receives elements that are two ints apart. The gaps must stay unchanged. */
static void gaps(void) {
  MPI_Datatype spaced;
  int right = 1;
  fill_sent(2);
  clear();
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &spaced);
  MPI_Type_commit(&spaced);
  MPI_Alltoall(sent, 2, MPI_INT, received, 2, spaced, at.comm);
  for (int r = 0; r < at.others; r++)
    for (int i = 0; i < 2; i++)
      right &= received[4 * r + 2 * i] == value(at.other, r, at.rank, i) &&
               received[4 * r + 2 * i + 1] == -1;
  check(right, "alltoall with gaps");
  MPI_Type_free(&spaced);
}

static void alltoallv(void) {
  int sends[MOST], receives[MOST], to[MOST], from[MOST], right = 1;
  MPI_Datatype types[MOST];
  fill_sent(5);
  clear();
  for (int r = 0; r < at.others; r++) {
    sends[r] = count_of(at.own, at.rank, r);
    receives[r] = count_of(at.other, r, at.rank);
    to[r] = 5 * r;
    from[r] = 6 * r;
    types[r] = MPI_INT;
  }
  MPI_Alltoallv(sent, sends, to, MPI_INT, received, receives, from, MPI_INT, at.comm);
  for (int r = 0; r < at.others; r++)
    right &= came(r, at.rank, from[r], receives[r]) && received[from[r] + receives[r]] == -1;
  check(right, "alltoallv");
  clear();
  for (int r = 0; r < at.others; r++) {
    to[r] *= (int)sizeof(int);
    from[r] *= (int)sizeof(int);
  }
  MPI_Alltoallw(sent, sends, to, types, received, receives, from, types, at.comm);
  for (int r = 0; r < at.others; r++)
    right &= came(r, at.rank, 6 * r, receives[r]) && received[6 * r + receives[r]] == -1;
  check(right, "alltoallw");
}

static void allgather(int n) {
  int counts[MOST], places[MOST], right = 1;
  for (int i = 0; i < BLOCK; i++) sent[i] = value(at.own, at.rank, 0, i);
  clear();
  MPI_Allgather(sent, n, MPI_INT, received, n, MPI_INT, at.comm);
  for (int r = 0; r < at.others; r++) right &= came(r, 0, r * n, n);
  check(right && received[at.others * n] == -1, "allgather");
  clear();
  for (int r = 0; r < at.others; r++) {
    counts[r] = count_of(at.other, r, 1);
    places[r] = 6 * (at.others - 1 - r);
  }
  const int own = count_of(at.own, at.rank, 1);
  MPI_Allgatherv(sent, own, MPI_INT, received, counts, places, MPI_INT, at.comm);
  for (int r = 0; r < at.others; r++)
    right &= came(r, 0, places[r], counts[r]) && received[places[r] + counts[r]] == -1;
  check(right, "allgatherv");
  if (at.inter) return;
  clear();
  memcpy(received + at.rank * n, sent, (size_t)n * sizeof(int));
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, received, n, MPI_INT, at.comm);
  for (int r = 0; r < at.others; r++) right &= came(r, 0, r * n, n);
  check(right, "allgather in place");
}

/* Returns the sum of the data that all ranks of a group have for `target`. */
static int sum(int group, int ranks, int target, int i) {
  int all = 0;
  for (int r = 0; r < ranks; r++) all += value(group, r, target, i);
  return all;
}

static void reductions(int n) {
  int right = 1, first = 1, counts[MOST] = {0}, place = 0;
  fill_sent(n);
  clear();
  MPI_Allreduce(sent, received, n, MPI_INT, MPI_SUM, at.comm);
  for (int i = 0; i < n; i++) right &= received[i] == sum(at.other, at.others, 0, i);
  check(right && received[n] == -1, "allreduce");
  /* Both groups must have the same number of elements. */
  const int blocks = at.inter ? at.ranks * at.others : at.ranks, each = blocks / at.ranks;
  for (int i = 0; i < blocks; i++) sent[i] = value(at.own, at.rank, 0, i);
  clear();
  MPI_Reduce_scatter_block(sent, received, each, MPI_INT, MPI_SUM, at.comm);
  for (int i = 0; i < each; i++)
    right &= received[i] == sum(at.other, at.others, 0, at.rank * each + i);
  check(right && received[each] == -1, "reduce_scatter_block");
  for (int r = 0; r < at.ranks; r++) counts[r] = r == 0 ? 2 * each : each;
  if (at.ranks > 1) counts[1] = 0;
  if (at.ranks == 1) counts[0] = each;
  for (int r = 0; r < at.rank; r++) place += counts[r];
  clear();
  MPI_Reduce_scatter(sent, received, counts, MPI_INT, MPI_SUM, at.comm);
  for (int i = 0; i < counts[at.rank]; i++)
    right &= received[i] == sum(at.other, at.others, 0, place + i);
  check(right && received[counts[at.rank]] == -1, "reduce_scatter");
  if (at.inter) return;
  memcpy(received, sent, sizeof sent);
  MPI_Reduce_scatter(MPI_IN_PLACE, received, counts, MPI_INT, MPI_SUM, at.comm);
  for (int i = 0; i < counts[at.rank]; i++)
    right &= received[i] == sum(at.other, at.others, 0, place + i);
  check(right, "reduce_scatter in place");
  clear();
  MPI_Scan(sent, received, 1, MPI_INT, MPI_SUM, at.comm);
  check(received[0] == sum(at.own, at.rank + 1, 0, 0), "scan");
  MPI_Exscan(sent, received, 1, MPI_INT, MPI_SUM, at.comm);
  check(at.rank == 0 || received[0] == sum(at.own, at.rank, 0, 0), "exscan");
  memcpy(received, sent, sizeof sent);
  MPI_Allreduce(MPI_IN_PLACE, received, n, MPI_INT, MPI_SUM, at.comm);
  for (int i = 0; i < n; i++) first &= received[i] == sum(at.own, at.ranks, 0, i);
  check(first, "allreduce in place");
}

static void keep_first(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; i++)
    if (((int*)in)[i] != 0) ((int*)inout)[i] = ((int*)in)[i];
}

/* Uses an operator that does not commute, and sums that are rounded. */
static void operators(void) {
  MPI_Op op;
  double mine = 0.1 * (at.rank + 1), all = 0;
  MPI_Op_create(keep_first, 0, &op);
  int has = at.rank + 1, got = 0;
  if (!at.inter) {
    MPI_Allreduce(&has, &got, 1, MPI_INT, op, at.comm);
    check(got == 1, "allreduce with an operator that does not commute");
  }
  MPI_Op_free(&op);
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, at.comm);
  const double wanted = 0.05 * at.others * (at.others + 1);
  check(all > wanted - 1e-9 && all < wanted + 1e-9, "allreduce of doubles");
}

/* Tests collectives with a root. The root is rank `root` of group 0. */
static void rooted(int root, int n) {
  const int in_group = !at.inter || at.own == 0, is_root = in_group && at.rank == root;
  const int named = !at.inter ? root : is_root ? MPI_ROOT : in_group ? MPI_PROC_NULL : root;
  const int takes_part = is_root || !at.inter || !in_group;
  /* The datatypes are null where MPI ignores them. */
  const MPI_Datatype at_root = is_root ? MPI_INT : MPI_DATATYPE_NULL;
  const MPI_Datatype at_leaf = !at.inter || !in_group ? MPI_INT : MPI_DATATYPE_NULL;
  /* For the root, at.others counts the ranks of the other group. The root is in the other group of these ranks. */
  int counts[MOST], places[MOST], right = 1;
  for (int i = 0; i < n; i++) received[i] = is_root ? value(0, root, 0, i) : -1;
  MPI_Bcast(received, n, MPI_INT, named, at.comm);
  for (int i = 0; i < n && takes_part; i++) right &= received[i] == value(0, root, 0, i);
  check(right, "bcast");
  for (int r = 0; r < at.others; r++) {
    counts[r] = count_of(at.other, r, 2);
    places[r] = 6 * r;
  }
  for (int i = 0; i < BLOCK; i++) sent[i] = value(at.own, at.rank, 0, i);
  clear();
  MPI_Gather(sent, n, at_leaf, received, n, at_root, named, at.comm);
  for (int r = 0; r < at.others && is_root; r++) right &= came(r, 0, r * n, n);
  check(right && (is_root || received[0] == -1), "gather");
  clear();
  MPI_Gatherv(sent, count_of(at.own, at.rank, 2), at_leaf, received, counts, places, at_root, named,
              at.comm);
  for (int r = 0; r < at.others && is_root; r++)
    right &= came(r, 0, places[r], counts[r]) && received[places[r] + counts[r]] == -1;
  check(right, "gatherv");
  if (!at.inter) {
    clear();
    for (int i = 0; i < n && is_root; i++) received[root * n + i] = sent[i];
    MPI_Gather(is_root ? MPI_IN_PLACE : sent, n, is_root ? MPI_DATATYPE_NULL : MPI_INT, received, n,
               at_root, root, at.comm);
    for (int r = 0; r < at.others && is_root; r++) right &= came(r, 0, r * n, n);
    check(right, "gather in place");
  }
  clear();
  MPI_Reduce(sent, received, n, MPI_INT, MPI_SUM, named, at.comm);
  for (int i = 0; i < n && is_root; i++) right &= received[i] == sum(at.other, at.others, 0, i);
  check(right, "reduce");
  fill_sent(6);
  clear();
  MPI_Scatter(sent, 6, at_root, received, 6, at_leaf, named, at.comm);
  for (int i = 0; i < 6 && (!at.inter || !in_group); i++)
    right &= received[i] == value(0, root, at.rank, i);
  check(right, "scatter");
  for (int r = 0; r < at.others; r++) counts[r] = count_of(at.other, r, 2);
  clear();
  const int own = count_of(at.own, at.rank, 2);
  MPI_Scatterv(sent, counts, places, at_root, received, own, at_leaf, named, at.comm);
  for (int i = 0; i < own && (!at.inter || !in_group); i++)
    right &= received[i] == value(0, root, at.rank, i);
  check(right && (at.inter || received[own] == -1), "scatterv");
}

static void is_told(int code, int wanted, const char* what) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  check(error_class == wanted, what);
}

/* Between groups, ranks with MPI_PROC_NULL leave out all other arguments. MPI may refuse that; no rank may wait. */
static void idle_ranks_give_nothing(MPI_Comm comm) {
  const int is_root = at.own == 0 && at.rank == 0, is_idle = at.own == 0 && !is_root;
  const MPI_Datatype type = is_idle ? MPI_DATATYPE_NULL : MPI_INT;
  const int root = is_root ? MPI_ROOT : is_idle ? MPI_PROC_NULL : 0;
  int value = is_root ? 7 : 1, all = -1;
  MPI_Bcast(&value, is_idle ? 0 : 1, type, root, comm);
  check(is_idle || value == 7, "bcast beside ranks that give nothing");
  MPI_Reduce(&value, &all, is_idle ? 0 : 1, type, is_idle ? MPI_OP_NULL : MPI_SUM, root, comm);
  check(!is_root || all == 7 * at.others, "reduce beside ranks that give nothing");
}

/* The program gets the errors that MPI reports. */
static void mistakes(void) {
  MPI_Comm comm;
  int ones[MOST], places[MOST];
  MPI_Datatype none[MOST];
  for (int i = 0; i < MOST; i++) ones[i] = 1, places[i] = 0, none[i] = MPI_DATATYPE_NULL;
  MPI_Comm_dup(at.comm, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  is_told(MPI_Alltoall(sent, -1, MPI_INT, received, -1, MPI_INT, comm), MPI_ERR_COUNT,
          "a negative count is MPI_ERR_COUNT");
  is_told(MPI_Alltoallw(sent, ones, places, none, received, ones, places, none, comm), MPI_ERR_TYPE,
          "no datatype is MPI_ERR_TYPE");
  is_told(MPI_Allreduce(sent, received, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP,
          "no operator is MPI_ERR_OP");
  if (at.inter) idle_ranks_give_nothing(comm);
  MPI_Comm_free(&comm);
}

/* A counter for each communicator, in memory that all ranks share. */
static int* entered;
static MPI_Win window;

static void share_memory(void) {
  MPI_Aint size;
  int* mine;
  int unit;
  MPI_Win_allocate_shared(world == 0 ? MOST * sizeof(int) : 0, sizeof(int), MPI_INFO_NULL,
                          MPI_COMM_WORLD, &mine, &window);
  MPI_Win_shared_query(window, 0, &size, &unit, &entered);
}

/* No rank leaves a barrier before all ranks have entered it. The counter's index is a communicator's least rank. */
static void barriers(void) {
  int others = world, own = world, right = 1;
  MPI_Allreduce(&world, &others, 1, MPI_INT, MPI_MIN, at.comm);
  MPI_Allreduce(&others, &own, 1, MPI_INT, MPI_MIN, at.comm);
  int* const number = &entered[own < others ? own : others];
  const int ranks = at.inter ? at.ranks + at.others : at.ranks;
  const int before = __atomic_load_n(number, __ATOMIC_SEQ_CST);
  MPI_Allreduce(&world, &others, 1, MPI_INT, MPI_MIN, at.comm);
  for (int round = 1; round <= 30; round++) {
    if ((world + round) % 5 == 0) usleep(200);
    __atomic_add_fetch(number, 1, __ATOMIC_SEQ_CST);
    MPI_Barrier(at.comm);
    right &= __atomic_load_n(number, __ATOMIC_SEQ_CST) - before >= round * ranks;
  }
  check(right, "barrier");
  MPI_Allreduce(&world, &others, 1, MPI_INT, MPI_MIN, at.comm);
}

static void all_on(MPI_Comm comm, const char* name, int group) {
  at.name = name;
  at.comm = comm;
  at.own = group;
  MPI_Comm_test_inter(comm, &at.inter);
  MPI_Comm_rank(comm, &at.rank);
  MPI_Comm_size(comm, &at.ranks);
  at.others = at.ranks;
  if (at.inter) MPI_Comm_remote_size(comm, &at.others);
  at.other = at.inter ? 1 - group : group;
  for (int n = 0; n < 20; n = 4 * n + 1) {
    alltoall(n);
    allgather(n);
    reductions(n);
    rooted(0, n);
    if (!at.inter) rooted(at.ranks - 1, n);
  }
  alltoallv();
  gaps();
  operators();
  barriers();
  if (!at.inter) mistakes();
}

/* The lengths grow from call to call. */
static void growing(void) {
  MPI_Comm comm;
  int counts[MOST], places[MOST], right = 1;
  at.name = "lengths that grow";
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int call = 0; call < 49; call++) {
    for (int r = 0; r < at.others; r++) {
      counts[r] = (call < 17 ? 1 : 30) + (world + r) % 2;
      places[r] = BLOCK * r;
      for (int i = 0; i < counts[r]; i++) sent[places[r] + i] = value(0, world, r, i);
    }
    clear();
    MPI_Alltoallv(sent, counts, places, MPI_INT, received, counts, places, MPI_INT, comm);
    for (int r = 0; r < at.others; r++) right &= came(r, world, places[r], counts[r]);
  }
  check(right, "alltoallv");
  MPI_Comm_free(&comm);
}

static void file(const char* path) {
  MPI_File handle;
  int mine = world, got = -1;
  at.name = "a file";
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &handle);
  MPI_File_write_at_all(handle, (MPI_Offset)world * 4, &mine, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_read_at_all(handle, (MPI_Offset)world * 4, &got, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&handle);
  check(got == world, "what was written is read");
}

/* Runs the tests on all communicators except MPI_COMM_WORLD. */
static void other_communicators(void) {
  MPI_Comm comm, local;
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  all_on(MPI_COMM_SELF, "one rank", 0);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  all_on(comm, "a duplicate", 0);
  MPI_Comm_free(&comm);
  MPI_Comm_split(MPI_COMM_WORLD, world % 2, -world, &comm);
  all_on(comm, "every other rank, backwards", 0);
  MPI_Comm_free(&comm);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, (int[]){1}, 1, &comm);
  all_on(comm, "a grid", 0);
  MPI_Comm_free(&comm);
  if (ranks > 1) {
    const int first = (ranks + 1) / 2, group = world >= first;
    MPI_Comm_split(MPI_COMM_WORLD, group, world, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, group ? 0 : first, 7, &comm);
    all_on(comm, "two groups", group);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&local);
  }
  for (int i = 0; i < 20; i++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &at.comm);
    at.inter = 0, at.own = 0, at.other = 0, at.rank = world, at.ranks = at.others = ranks;
    for (int calls = 0; calls < 3; calls++) alltoall(3);
    MPI_Comm_free(&at.comm);
  }
}

/* collectives [FILE]: without FILE, it uses MPI_COMM_WORLD only. */
int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  share_memory();
  all_on(MPI_COMM_WORLD, "all ranks", 0);
  if (count > 1) {
    other_communicators();
    growing();
    file(arguments[1]);
  }
  MPI_Win_free(&window);
  if (failures == 0) printf("rank %d ran %d tests, all passed\n", world, tests);
  MPI_Finalize();
  return failures > 0;
}
