/* A plain MPI program: reductions of floating-point numbers on communicators of 2 ranks and more, and between
 * groups. Each rank evaluates the canonical tree of sums itself, and compares all bits with it. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 10000, SUM = 0, PRODUCT, FLOATS, TURNED, ROUNDED, OPERATORS };

static int tests, wrong;
static int call; /* number of calls so far */
static MPI_Op operators[OPERATORS];

/* Returns element i of a rank's contribution to the call. The numbers differ greatly in size. */
static double value(int rank, int i) {
  uint64_t state =
      (uint64_t)rank * 0x9e3779b97f4a7c15 + (uint64_t)call * 0xbf58476d1ce4e5b9 + (uint64_t)i;
  for (int k = 0; k < 3; k++) state = (state ^ (state >> 31)) * 0x94d049bb133111eb;
  const double number = (double)(state >> 11) / 9007199254740992.0 + 0.25;
  return state & 1 ? number : -number * (double)(1 << (state >> 1) % 20);
}

static double combined(int operator, double left, double right) {
  switch (operator) {
    case PRODUCT: return left * right;
    case FLOATS: return (float)left + (float)right;
    case TURNED: return left * 0.75 + right;
    case ROUNDED: return (double)(float)(left + right);
    default: return left + right;
  }
}

/* The program's own operators. */
static void turn(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; i++)
    ((double*)inout)[i] = combined(TURNED, ((double*)in)[i], ((double*)inout)[i]);
}
static void round_sums(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; i++)
    ((double*)inout)[i] = combined(ROUNDED, ((double*)in)[i], ((double*)inout)[i]);
}

/* Returns element i of the tree of `ranks` ranks from `first` on. It splits at the greatest lower power of two. */
static double tree(int operator, int first, int ranks, int i) {
  int half = 1;
  if (ranks == 1) return operator== FLOATS ? (float)value(first, i) : value(first, i);
  while (2 * half < ranks) half *= 2;
  return combined(operator, tree(operator, first, half, i),
                  tree(operator, first + half, ranks - half, i));
}

/* Compares `count` elements from `low` on with those of the sum over `ranks` ranks. */
static void compare(const char* name, int operator, const void* received, int ranks, int low,
                    int count) {
  tests++;
  for (int i = 0; i < count; i++) {
    const double wanted = tree(operator, 0, ranks, low + i);
    const float narrow = (float)wanted;
    const int same = operator== FLOATS
                         ? !memcmp((const float*)received + i, &narrow, sizeof narrow)
                         : !memcmp((const double*)received + i, &wanted, sizeof wanted);
    if (same || wrong++ > 2) continue;
    fprintf(stderr, "%s of %d ranks, operator %d, call %d: element %d of %d has other bits\n", name,
            ranks, operator, call, low + i, count);
  }
}

/* Returns the number of elements that a rank receives in a reduce-scatter of uneven blocks. */
static int share(int rank, int count) { return rank % 3 == 1 ? 0 : count + rank; }

/* Makes one call, to which `sources` ranks contribute: those of this group, or of the other. */
static void reduce(MPI_Comm comm, int sources, int count) {
  static double sent[MOST], received[MOST];
  static int counts[64];
  const int operator= call % OPERATORS, kind = call / OPERATORS % 7;
  const MPI_Datatype type = operator== FLOATS ? MPI_FLOAT : MPI_DOUBLE;
  const MPI_Op op = operators[operator];
  int me = 0, ranks = 0, inter = 0, low = 0, all = 0;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_test_inter(comm, &inter);
  const int filled = kind == 4 || count + ranks > MOST ? MOST : count + ranks;
  for (int i = 0; i < filled; i++) {
    if (operator== FLOATS) ((float*)sent)[i] = (float)value(me, i);
    if (operator!= FLOATS) sent[i] = value(me, i);
  }
  memset(received, 0x55, sizeof received);
  if (kind == 0 || (inter && (kind == 1 || kind > 4))) {
    MPI_Allreduce(sent, received, count, type, op, comm);
    return compare("allreduce", operator, received, sources, 0, count);
  }
  if (kind == 1) {
    memcpy(received, sent, sizeof sent);
    MPI_Allreduce(MPI_IN_PLACE, received, count, type, op, comm);
    return compare("allreduce in place", operator, received, sources, 0, count);
  }
  if (kind == 2) {
    const int root = call % ranks;
    MPI_Reduce(sent, me == root ? received : NULL, count, type, op, root, comm);
    if (me == root) compare("reduce", operator, received, sources, 0, count);
    return;
  }
  if (kind == 3) {
    const int each = inter ? count / (ranks * sources) * sources : count / ranks + (count < ranks);
    MPI_Reduce_scatter_block(sent, received, each, type, op, comm);
    return compare("reduce_scatter_block", operator, received, sources, me * each, each);
  }
  if (kind == 4 && !inter) {
    const int each = count / ranks > ranks ? count / ranks - ranks : 1;
    for (int r = 0; r < ranks; r++) {
      counts[r] = share(r, each);
      if (r < me) low += counts[r];
      all += counts[r];
    }
    if (all > MOST) return;
    MPI_Reduce_scatter(sent, received, counts, type, op, comm);
    return compare("reduce_scatter", operator, received, sources, low, counts[me]);
  }
  if (kind == 5) {
    MPI_Scan(sent, received, count, type, op, comm);
    return compare("scan", operator, received, me + 1, 0, count);
  }
  if (kind == 6) {
    MPI_Exscan(sent, received, count, type, op, comm);
    if (me > 0) compare("exscan", operator, received, me, 0, count);
  }
}

/* Makes calls of all kinds with all operators, and then of given sizes. */
static void calls(MPI_Comm comm, int sources) {
  static const int counts[] = {1, 77, 3001, MOST};
  call = 0;
  for (int i = 0; i < 7 * OPERATORS; i++, call++) reduce(comm, sources, 1 + 13 * i % 50);
  for (int i = 0; i < 4; i++)
    for (int kind = 0; kind < 7; kind++) {
      call = (7 * (i + 1) + kind) * OPERATORS + i;
      reduce(comm, sources, counts[i]);
    }
}

int main(int count, char** words) {
  int me = 0, all = 0;
  MPI_Comm part, other;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  operators[SUM] = operators[FLOATS] = MPI_SUM;
  operators[PRODUCT] = MPI_PROD;
  MPI_Op_create(turn, 0, &operators[TURNED]);
  MPI_Op_create(round_sums, 1, &operators[ROUNDED]);
  for (int ranks = 2; ranks <= all; ranks++) {
    /* The ranks are in the order of the world, in the opposite order, or the odd ones come first. */
    const int key = ranks % 3 == 0 ? me : ranks % 3 == 1 ? -me : me - me % 2 * all;
    MPI_Comm_split(MPI_COMM_WORLD, me < ranks ? 0 : MPI_UNDEFINED, key, &part);
    if (part == MPI_COMM_NULL) continue;
    calls(part, ranks);
    MPI_Comm_free(&part);
  }
  if (all > 2) {
    const int first = all / 3 + 1, is_first = me < first;
    MPI_Comm_split(MPI_COMM_WORLD, is_first, me, &part);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, is_first ? first : 0, 9, &other);
    call = 0;
    for (int i = 0; i < 7 * OPERATORS; i++, call++)
      if (call / OPERATORS % 7 != 2) reduce(other, is_first ? all - first : first, 7 * all * all);
    MPI_Comm_free(&other);
    MPI_Comm_free(&part);
  }
  MPI_Op_free(&operators[TURNED]);
  MPI_Op_free(&operators[ROUNDED]);
  if (wrong == 0) printf("rank %d ran %d tests, all passed\n", me, tests);
  MPI_Finalize();
  return wrong != 0;
}
