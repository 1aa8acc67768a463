/* corners CASE...: rare but allowed uses of MPI, without knowledge of schedules. It checks its results, and prints
 * "rank N ran 1 tests, all passed" if all are as MPI specifies. */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/preload/corners.h"

int me, ranks;
int (*agreements)(void);
static int bad;

void expect(int holds, const char* what) {
  if (!holds && bad++ < 3) printf("rank %d: %s\n", me, what);
}

static int class_of(int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return error_class;
}

MPI_Comm duplicate(MPI_Errhandler handler) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, handler);
  return comm;
}

void expect_alltoall(MPI_Comm comm) {
  int sent[MOST], received[MOST];
  for (int r = 0; r < ranks; r++) sent[r] = 100 * me + r;
  expect(MPI_Alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, comm) == MPI_SUCCESS, "an error");
  for (int r = 0; r < ranks; r++) expect(received[r] == 100 * r + me, "an all-to-all is wrong");
}

/* ---- An error handler that does not return */

static jmp_buf beyond;
static void leave(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  longjmp(beyond, 1);
}

static void handler(void) {
  MPI_Errhandler made;
  MPI_Comm_create_errhandler(leave, &made);
  MPI_Comm comm = duplicate(made);
  expect_alltoall(comm);
  if (me == 1 && !setjmp(beyond)) {
    MPI_Alltoall(NULL, -1, MPI_INT, NULL, -1, MPI_INT, comm);
    expect(0, "a negative count is no error");
  }
  expect_alltoall(comm);
  MPI_Comm_free(&comm);
  MPI_Comm world = MPI_COMM_WORLD;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, made);
  if (me == 1 && !setjmp(beyond)) {
    MPI_Comm_free(&world);
    expect(0, "MPI_COMM_WORLD can be freed");
  }
  expect_alltoall(MPI_COMM_WORLD);
  MPI_Errhandler_free(&made);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  expect(MPI_Comm_create_errhandler(NULL, &made) != MPI_SUCCESS, "no function is no error");
}

/* ---- An error handler that frees its communicator */

static MPI_Comm doomed;
static void free_doomed(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  if (doomed != MPI_COMM_NULL) MPI_Comm_free(&doomed);
}

static void handler_frees(void) {
  MPI_Errhandler made;
  double one = 1, all = 0;
  MPI_Comm_create_errhandler(free_doomed, &made);
  doomed = duplicate(made);
  expect_alltoall(doomed);
  const int code = MPI_Allreduce(&one, &all, 1, MPI_DOUBLE, MPI_BAND, doomed);
  expect(class_of(code) == MPI_ERR_OP, "the bits of a double are combined");
  expect_alltoall(MPI_COMM_WORLD);
}

/* ---- More error handlers than most programs have. The last one jumps */

#define RETURNS(number) \
  static void returns_##number(MPI_Comm* comm, int* code, ...) { (void)comm, (void)code; }
#define NAME(number) returns_##number,
#define ROW(DO, row) \
  DO(row##0) DO(row##1) DO(row##2) DO(row##3) DO(row##4) DO(row##5) DO(row##6) DO(row##7)
#define EACH(DO) ROW(DO, 0) ROW(DO, 1) ROW(DO, 2) ROW(DO, 3) ROW(DO, 4) ROW(DO, 5) ROW(DO, 6)
EACH(RETURNS)

static void handlers(void) {
  MPI_Comm_errhandler_function* const all[] = {EACH(NAME)};
  MPI_Errhandler made;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) MPI_Comm_create_errhandler(all[i], &made);
  handler();
}

/* ---- Blocks with inaccessible memory between them */

static void gaps(void) {
  enum { GAP = 1 << 24, PAGE = 1 << 12 };
  char* memory = mmap(NULL, (size_t)GAP * (size_t)ranks, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  int counts[MOST], places[MOST];
  for (int r = 0; r < ranks; r++) {
    mprotect(memory + (size_t)GAP * (size_t)r, PAGE, PROT_READ | PROT_WRITE);
    counts[r] = 1;
    places[r] = r * (GAP / (int)sizeof(int));
  }
  MPI_Gatherv(&me, 1, MPI_INT, memory, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allgatherv(&me, 1, MPI_INT, memory, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; r++)
    expect(*(int*)(memory + (size_t)GAP * (size_t)r) == r, "a gatherv with gaps is wrong");
}

/* ---- Elements that reach beyond their extent, into each other, or before their address */

static MPI_Aint extent, offsets[2];
static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; i++)
    for (int k = 0; k < 2; k++) {
      const MPI_Aint at = i * extent + offsets[k];
      *(int*)((char*)inout + at) += *(int*)((char*)in + at);
    }
}

static int value(int index, int rank) { return 3 * index + 7 * rank; }

static void expect_sums(MPI_Datatype type, MPI_Op op, int count) {
  enum { INTS = 1 << 14 };
  static int sent[INTS], received[INTS];
  for (int i = 0; i < INTS; i++) sent[i] = value(i, me), received[i] = -1;
  expect(MPI_Allreduce(sent + INTS / 2, received + INTS / 2, count, type, op, MPI_COMM_WORLD) ==
             MPI_SUCCESS,
         "an allreduce of a derived type is an error");
  for (int i = 0; i < count; i++)
    for (int k = 0; k < 2; k++) {
      const int at = INTS / 2 + (int)((i * extent + offsets[k]) / (MPI_Aint)sizeof(int));
      int sum = 0;
      for (int r = 0; r < ranks; r++) sum += value(at, r);
      expect(received[at] == sum, "an allreduce of a derived type is wrong");
    }
  const int each = count / ranks;
  MPI_Reduce_scatter_block(sent + INTS / 2, received + INTS / 2, each, type, op, MPI_COMM_WORLD);
  for (int i = 0; i < each; i++) {
    const int at = INTS / 2 + (int)((i * extent + offsets[1]) / (MPI_Aint)sizeof(int));
    const int from =
        INTS / 2 + (int)(((me * each + i) * extent + offsets[1]) / (MPI_Aint)sizeof(int));
    int sum = 0;
    for (int r = 0; r < ranks; r++) sum += value(from, r);
    expect(received[at] == sum, "a reduce-scatter of a derived type is wrong");
  }
}

static void types(void) {
  enum { FAR = 40 * sizeof(int) };
  const struct {
    MPI_Aint first, second, extent;
  } all[] = {{0, 4, 12}, {-4, 0, 8}, {0, FAR, 4}, {FAR, 2 * FAR, 4}, {4, 0, 8}};
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    MPI_Aint places[2] = {all[i].first, all[i].second};
    int ones[2] = {1, 1};
    MPI_Datatype inner, type;
    MPI_Type_create_hindexed(2, ones, places, MPI_INT, &inner);
    MPI_Type_create_resized(inner, 0, all[i].extent, &type);
    MPI_Type_commit(&type);
    extent = all[i].extent;
    memcpy(offsets, places, sizeof offsets);
    expect_sums(type, op, 40);
    MPI_Type_free(&inner);
    MPI_Type_free(&type);
  }
  MPI_Op_free(&op);
}

/* Uses types that constructors with large counts have made. */
static void large(void) {
#if MPI_VERSION >= 4
  MPI_Datatype made[3];
  MPI_Type_contiguous_c(3, MPI_INT, &made[0]);
  MPI_Type_vector_c(3, 1, 1, MPI_INT, &made[1]);
  MPI_Type_create_resized_c(MPI_INT, 0, 12, &made[2]);
  for (int i = 0; i < 3; i++) {
    int sent[3 * MOST], received[3 * MOST], counts[MOST], places[MOST];
    MPI_Type_commit(&made[i]);
    for (int k = 0; k < 3 * MOST; k++) sent[k] = 1000 * me + k, received[k] = -1;
    for (int r = 0; r < ranks; r++) counts[r] = 1, places[r] = r;
    MPI_Allgather(sent, 1, made[i], received, 1, made[i], MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++) expect(received[3 * r] == 1000 * r, "an allgather is wrong");
    MPI_Alltoallv(sent, counts, places, made[i], received, counts, places, made[i], MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++)
      expect(received[3 * r] == 1000 * r + 3 * me, "an alltoallv is wrong");
    MPI_Type_free(&made[i]);
  }
#endif
}

/* Makes a call with large counts. The MPI library may have this function although its mpi.h lacks it. */
static void large_call(void) {
  int (*const call)(const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm) =
      dlsym(RTLD_DEFAULT, "MPI_Allreduce_c");
  int sum = 0;
  call(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(sum == ranks * (ranks - 1) / 2, "an allreduce is wrong");
}

/* ---- MPI refuses calls on the same ranks and with the same classes as without the library, and no rank waits */

static void nulls(void) {
  MPI_Comm comm = duplicate(MPI_ERRORS_RETURN);
  const int is_wrong = me == 1 ? MPI_ERR_TYPE : MPI_SUCCESS;
  const MPI_Datatype type = me == 1 ? MPI_DATATYPE_NULL : MPI_INT;
  int sent[MOST] = {0}, received[MOST], counts[MOST], places[MOST];
  for (int r = 0; r < ranks; r++) counts[r] = me != 1 && r != 1, places[r] = r;
  for (int round = 0; round < 3; round++) {
    expect(class_of(MPI_Alltoallv(sent, counts, places, type, received, counts, places, type,
                                  comm)) == is_wrong,
           "alltoallv of nothing without a type");
    expect(class_of(MPI_Scatterv(sent, counts, places, MPI_INT, received, me != 1, type, 0,
                                 comm)) == is_wrong,
           "scatterv of nothing without a type");
    expect(class_of(MPI_Gatherv(sent, me != 1, type, received, counts, places, MPI_INT, 0, comm)) ==
               is_wrong,
           "gatherv of nothing without a type");
  }
  expect_alltoall(comm);
  MPI_Comm_free(&comm);
}

/* A receive buffer that is not significant at a rank may be anything. */
static void unused(void) {
  int sum = me;
  MPI_Reduce(me == 1 ? MPI_IN_PLACE : &sum, me == 1 ? &sum : MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, 1,
             MPI_COMM_WORLD);
  expect(me != 1 || sum == ranks * (ranks - 1) / 2, "a reduction is wrong");
}

/* Blocks without bytes have no elements, or elements of a type without bytes. */
static void empty(void) {
  MPI_Datatype nothing;
  int sent[MOST], received[MOST], none[MOST] = {0}, some[MOST], places[MOST] = {0};
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  for (int r = 0; r < ranks; r++) some[r] = 2, sent[r] = me, received[r] = -1;
  for (int round = 0; round < 4; round++) {
    const int is_odd = (me + round) % 2;
    MPI_Alltoall(sent, is_odd ? 0 : 2, is_odd ? MPI_INT : nothing, received, is_odd ? 2 : 0,
                 is_odd ? nothing : MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallv(sent, is_odd ? none : some, places, is_odd ? MPI_INT : nothing, received,
                  is_odd ? some : none, places, is_odd ? nothing : MPI_INT, MPI_COMM_WORLD);
    MPI_Allgather(sent, is_odd ? 0 : 2, is_odd ? MPI_INT : nothing, received, is_odd ? 2 : 0,
                  is_odd ? nothing : MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++) expect(received[r] == -1, "an empty block brings something");
    expect_alltoall(MPI_COMM_WORLD);
  }
  MPI_Type_free(&nothing);
}

static void wrong(void) {
  MPI_Comm comm = duplicate(MPI_ERRORS_RETURN);
  MPI_Datatype type;
  int buffer[4 * MOST] = {0}, received[4 * MOST];
  if (me == 1)
    expect(MPI_Allgather(&me, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm) != MPI_SUCCESS,
           "a receive buffer that is MPI_IN_PLACE");
  for (int round = 0; round < 3; round++) {
    MPI_Allgather(&me, 1, MPI_INT, received, 1, MPI_INT, comm);
    for (int r = 0; r < ranks; r++) expect(received[r] == r, "an allgather after a wrong one");
  }
  MPI_Type_contiguous(2, MPI_INT, &type);
  expect(class_of(MPI_Allgather(buffer, 1, type, received, 1, type, comm)) == MPI_ERR_TYPE,
         "a type that is not committed");
  expect(class_of(MPI_Alltoall(buffer, 1, type, received, 1, type, comm)) == MPI_ERR_TYPE,
         "a type that is not committed, in an all-to-all");
  MPI_Type_free(&type);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* which Open MPI asks here */
  for (int round = 0; round < 40; round++) {
    expect(class_of(MPI_Allreduce(buffer, buffer, 2, MPI_INT, MPI_SUM, comm)) == MPI_ERR_BUFFER,
           "one buffer for both");
    buffer[0] = buffer[1] = me;
    MPI_Exscan(buffer, received, 1, MPI_INT, MPI_SUM, comm);
    expect(me == 0 || received[0] == me * (me - 1) / 2, "a scan is wrong");
    const int scan = class_of(MPI_Exscan(buffer, buffer, 1, MPI_INT, MPI_SUM, comm));
    const int sum = class_of(MPI_Allreduce(buffer + 1, buffer + 1, 1, MPI_INT, MPI_SUM, comm));
#ifdef OPEN_MPI
    expect(scan == MPI_SUCCESS && (me == 0 || buffer[0] == received[0]), "a scan in one buffer");
    expect(sum == MPI_SUCCESS && buffer[1] == ranks * (ranks - 1) / 2, "a sum in one buffer");
#else
    expect(scan == MPI_ERR_BUFFER && sum == MPI_ERR_BUFFER, "one element's buffer for both");
#endif
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  for (int round = 0; round < 40; round++) {
    MPI_Gather(&me, 1, MPI_INT, received, 1, MPI_INT, 0, comm);
    for (int r = 0; r < ranks && me == 0; r++) expect(received[r] == r, "a gather is wrong");
    const int count = round == 1 && me == 0 ? -1 : 0; /* only one rank can see this */
    expect((MPI_Gather(&me, 0, MPI_INT, received, count, MPI_INT, 0, comm) == MPI_SUCCESS) ==
               (count == 0),
           "an empty gather");
  }
  expect_alltoall(comm);
  MPI_Comm_free(&comm);
}

/* For MPICH only. A broadcast fails at one rank, which has too little room. The next calls are right. */
static void truncated(void) {
  MPI_Comm comm = duplicate(MPI_ERRORS_RETURN);
  for (int round = 0; round < 4; round++) {
    const int is_short = me == 1 && round % 2 == 0, mine = me + 10 * round;
    int data[3] = {0}, least = -1;
    expect((MPI_Bcast(data, is_short ? 2 : 3, MPI_INT, 0, comm) != MPI_SUCCESS) == is_short,
           "a broadcast that is longer than the room at one rank");
    MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, comm);
    expect(least == 10 * round, "an allreduce after a broadcast that failed");
  }
  MPI_Comm_free(&comm);
}

/* For MPICH only. Open MPI takes the null address as MPI_BOTTOM, and ends the program. */
static void no_buffer(void) {
  MPI_Comm comm = duplicate(MPI_ERRORS_RETURN);
  double buffer = 0;
  expect(class_of(MPI_Allreduce(NULL, &buffer, 1, MPI_DOUBLE, MPI_SUM, comm)) == MPI_ERR_BUFFER,
         "an allreduce of nothing");
  expect(class_of(MPI_Allreduce(&buffer, NULL, 1, MPI_DOUBLE, MPI_SUM, comm)) == MPI_ERR_BUFFER,
         "an allreduce into nothing");
  expect(class_of(MPI_Bcast(NULL, 1, MPI_DOUBLE, 0, comm)) == MPI_ERR_BUFFER,
         "a broadcast of nothing");
  expect_alltoall(comm);
  MPI_Comm_free(&comm);
}

/* On every rank, buffers are in place where MPI forbids it. MPICH checks only the allgather. */
static void misplaced(void) {
  MPI_Comm comm = duplicate(MPI_ERRORS_RETURN);
  int buffer[MOST] = {0};
  expect_alltoall(comm);
  expect(MPI_Allgather(buffer, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm) != MPI_SUCCESS,
         "an allgather that receives in place");
#ifdef OPEN_MPI
  void *const at_root = me == 0 ? MPI_IN_PLACE : buffer, *const elsewhere =
                                                             me == 0 ? buffer : MPI_IN_PLACE;
  expect(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, comm) != MPI_SUCCESS, "a broadcast in place");
  expect(MPI_Gather(elsewhere, 1, MPI_INT, at_root, 1, MPI_INT, 0, comm) != MPI_SUCCESS,
         "a gather that receives in place");
  expect(MPI_Scatter(at_root, 1, MPI_INT, elsewhere, 1, MPI_INT, 0, comm) != MPI_SUCCESS,
         "a scatter that sends in place");
  expect(MPI_Reduce(elsewhere, at_root, 1, MPI_INT, MPI_SUM, 0, comm) != MPI_SUCCESS,
         "a reduction that receives in place");
#endif
  expect_alltoall(comm);
  MPI_Comm_free(&comm);
}

/* Makes types of equal size and extent, whose handles MPI may reuse. Data arrives as ints or as that type. */
static void recycled(void) {
  enum { INTS = 4, ORDERS = 3, TURNS = 4 * ORDERS };
  const int lengths[INTS] = {1, 1, 1, 1};
  const int orders[ORDERS][INTS] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 2, 3, 4}};
  int sent[INTS * MOST + 1], received[INTS * MOST + 1];
  for (int i = 0; i <= INTS * MOST; i++) sent[i] = 1000 * me + i;
  for (int turn = 0; turn < 2 * TURNS; turn++) {
    const int *order = orders[turn % ORDERS], as_integers = turn < TURNS;
    MPI_Datatype indexed, type;
    MPI_Type_indexed(INTS, lengths, order, MPI_INT, &indexed);
    MPI_Type_create_resized(indexed, 0, INTS * sizeof(int), &type);
    MPI_Type_commit(&type);
    memset(received, 0, sizeof received);
    MPI_Alltoall(sent, 1, type, received, as_integers ? INTS : 1, as_integers ? MPI_INT : type,
                 MPI_COMM_WORLD);
    for (int i = 0; i < INTS * ranks; i++) {
      const int at = order[i % INTS], found = as_integers ? i : i / INTS * INTS + at;
      expect(received[found] == 1000 * (i / INTS) + INTS * me + at, "the bytes of another type");
    }
    MPI_Type_free(&type);
    MPI_Type_free(&indexed);
  }
}

/* ---- Maxima and minima of NaNs and of zeros of both signs. All ranks must get the same bits */

static void same_bits(void) {
  enum { COUNT = 64 };
  const MPI_Op all[] = {MPI_MAX, MPI_MIN};
  double sent[COUNT], received[COUNT];
  uint64_t mine[COUNT], first[COUNT];
  for (int round = 0; round < 24; round++) {
    srand((unsigned)(round * ranks + me + 1));
    for (int i = 0; i < COUNT; i++) sent[i] = i % 7 == round % 7 ? NAN : rand() % 2 ? 0.0 : -0.0;
    MPI_Allreduce(sent, received, COUNT, MPI_DOUBLE, all[round % 2], MPI_COMM_WORLD);
    memcpy(mine, received, sizeof mine);
    memcpy(first, received, sizeof first);
    MPI_Bcast(first, COUNT, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    expect(memcmp(first, mine, sizeof first) == 0, "ranks have different bits");
  }
}

/* ---- Reductions whose result does not depend on the order of operands */

static void extremes(void) {
  struct {
    double value;
    int index;
  } pair = {me % 2 ? 0.0 : -0.0, me}, least;
  double number = me, most;
  int sum, two[2] = {me, 2 * me}, twos[2];
  MPI_Op op;
  MPI_Datatype type;
  MPI_Allreduce(&number, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&pair, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
  MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Op_create(add, 1, &op);
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_commit(&type);
  extent = 2 * sizeof(int);
  offsets[0] = 0;
  offsets[1] = sizeof(int);
  MPI_Allreduce(two, twos, 1, type, op, MPI_COMM_WORLD);
  expect(sum == ranks * (ranks - 1) / 2 && twos[1] == 2 * sum, "a sum is wrong");
  MPI_Type_free(&type);
  MPI_Op_free(&op);
}

/* ---- Calls alternate between two sizes, and a tool counts the allreduces inside them */

static void turns(void) {
  char sent[4096] = {0}, received[4096 * MOST];
  int before = 0;
  for (int round = 0; round < 20; round++) {
    const int bytes = round % 2 ? 4096 : 64;
    if (round == 4 && agreements) before = agreements();
    MPI_Allgather(sent, bytes, MPI_CHAR, received, bytes, MPI_CHAR, MPI_COMM_WORLD);
  }
  expect(agreements && agreements() == before,
         "calls of two sizes in turn agree on something each time");
}

/* The rules have more options than ranks remember. Only ranks that name elements by a predefined type keep calls. */
static void options(void) {
  const int counts[] = {4, 8, 16, 32, 4, 5, 64, 5};
  int sent[64], received[64 * MOST];
  MPI_Datatype type = MPI_INT, made;
  MPI_Type_contiguous(1, MPI_INT, &made);
  MPI_Type_commit(&made);
  if (me == 0) type = made;
  for (int round = 0; round < 8; round++) {
    const int count = counts[round];
    for (int i = 0; i < count; i++) sent[i] = value(i + round, me);
    MPI_Allgather(sent, count, type, received, count, type, MPI_COMM_WORLD);
    for (int i = 0; i < count * ranks; i++)
      expect(received[i] == value(i % count + round, i / count), "an allgather is wrong");
  }
  MPI_Type_free(&made);
}

/* ---- Processes are started separately. They run the program of argument 0 */

static void spawn(char* program) {
  MPI_Comm parent, between;
  int remote, sum = -1;
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL)
    MPI_Comm_spawn(program, (char*[]){"spawn", NULL}, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                   MPI_ERRCODES_IGNORE);
  else
    between = parent;
  MPI_Comm_remote_size(between, &remote);
  for (int round = 0; round < 2; round++) {
    int all[MOST];
    MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, between);
    for (int r = 0; r < remote; r++) expect(all[r] == r, "an allgather between jobs is wrong");
  }
  MPI_Comm both;
  MPI_Intercomm_merge(between, parent != MPI_COMM_NULL, &both);
  MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, both);
  expect(sum == ranks + remote, "an allreduce of two jobs is wrong");
  MPI_Comm_free(&both);
  MPI_Comm_disconnect(&between);
  expect_alltoall(MPI_COMM_WORLD);
}

/* ---- Rank 0 alone starts a process. The other ranks of its communicator meet it, and have started none */

static void spawn_alone(char* program) {
  MPI_Comm parent, started = MPI_COMM_NULL, peer = MPI_COMM_NULL, between, both;
  int sum = -1;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    MPI_Intercomm_merge(parent, 1, &peer);
  } else if (me == 0) {
    MPI_Comm_spawn(program, (char*[]){"spawn_alone", NULL}, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF,
                   &started, MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(started, 0, &peer);
  }
  MPI_Intercomm_create(MPI_COMM_WORLD, 0, peer, parent == MPI_COMM_NULL, 1, &between);
  MPI_Intercomm_merge(between, parent != MPI_COMM_NULL, &both);
  MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, both);
  expect(sum == 3, "an allreduce with a process that another rank has started is wrong");
  MPI_Comm_free(&both);
  MPI_Comm_free(&between);
  if (parent == MPI_COMM_NULL && me > 0) return;
  MPI_Comm_free(&peer);
  if (parent == MPI_COMM_NULL) parent = started;
  MPI_Comm_disconnect(&parent);
}

/* ---- A reduce-scatter between groups of 1 and of ranks - 1. It has one count for each rank of the own group */

static void counts_of_groups(void) {
  MPI_Comm mine, between;
  int counts[MOST], sent[MOST], received[MOST] = {0}, size, rank;
  MPI_Comm_split(MPI_COMM_WORLD, me > 0, me, &mine);
  MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, me > 0 ? 0 : 1, 1, &between);
  MPI_Comm_size(mine, &size);
  MPI_Comm_rank(mine, &rank);
  for (int r = 0; r < MOST; r++) counts[r] = r < size ? (ranks - 1) / size : -1;
  for (int i = 0; i < MOST; i++) sent[i] = i + (me > 0);
  MPI_Reduce_scatter(sent, received, counts, MPI_INT, MPI_SUM, between);
  for (int i = 0; i < counts[0]; i++)
    expect(received[i] == (me > 0 ? rank : (ranks - 1) * (i + 1)), "a reduce-scatter is wrong");
  MPI_Comm_free(&between);
  MPI_Comm_free(&mine);
}

/* ---- The environment is overwritten, as programs do that change their title */

static void title(void) {
  expect_alltoall(MPI_COMM_WORLD);
  for (char** entry = environ; *entry; entry++)
    if (!strncmp(*entry, "QUADRILLE", 9)) memset(*entry, 'x', strlen(*entry));
  expect_alltoall(MPI_COMM_WORLD);
}

/* ---- Ranks wait forever. They end as soon as the file exists */

static void* end_with(void* file) {
  while (access(file, R_OK) != 0) usleep(10000);
  _Exit(0);
}

static void await_end(char* file) {
  pthread_t thread;
  pthread_create(&thread, NULL, end_with, file);
}

/* ---- Calls of MPI_Alltoallv have short or long blocks. In each period some calls have long ones */

static void rhythms(void) {
  enum { LONG = 65536, CALLS = 640 };
  static const int rhythm[][2] = {{2, 1}, {3, 1}, {5, 1}, {64, 1}, {128, 64}};
  char *const sent = malloc((size_t)ranks * LONG), *const received = malloc((size_t)ranks * LONG);
  int counts[MOST], places[MOST];
  for (size_t i = 0; i < sizeof rhythm / sizeof *rhythm; i++) {
    MPI_Comm comm = duplicate(MPI_ERRORS_ARE_FATAL);
    for (int call = 0; call < CALLS; call++) {
      const int length = call % rhythm[i][0] < rhythm[i][0] - rhythm[i][1] ? 16 : LONG;
      for (int r = 0; r < ranks; r++) {
        counts[r] = length;
        memset(sent + (places[r] = r * length), me + r + call, (size_t)length);
      }
      MPI_Alltoallv(sent, counts, places, MPI_CHAR, received, counts, places, MPI_CHAR, comm);
      for (int r = 0; r < ranks; r++)
        expect(received[places[r]] == (char)(me + r + call), "an alltoallv is wrong");
    }
    MPI_Comm_free(&comm);
  }
  free(sent);
  free(received);
}

/* ---- The program changes its folder, before MPI_Init or after it */

static void move(void) { expect(chdir("moved") == 0, "there is no folder"); }

static void moves(int is_early) {
  if (!is_early) move();
  for (int i = 0; i < 400; i++) expect_alltoall(MPI_COMM_WORLD);
}

/* ---- The job is killed as soon as the file exists */

static void ended(const char* file) {
  int is_over = 0;
  while (!is_over) {
    for (int i = 0; i < 50; i++) expect_alltoall(MPI_COMM_WORLD);
    is_over = access(file, R_OK) == 0;
    MPI_Bcast(&is_over, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  _Exit(0);
}

/* ---- Some ranks make their first call late. The others make calls until the file exists */

static void late(const char* file) {
  MPI_Comm some;
  MPI_Comm_split(MPI_COMM_WORLD, me / 2, me, &some);
  const double begin = MPI_Wtime();
  int sent[MOST] = {0}, received[MOST], is_over = 0;
  while (!is_over) {
    for (int i = 0; i < 50 && me < 2; i++)
      MPI_Alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, some);
    is_over = access(file, R_OK) == 0 || MPI_Wtime() - begin > 500;
    if (me < 2)
      MPI_Bcast(&is_over, 1, MPI_INT, 0, some);
    else
      usleep(10000);
  }
  expect_alltoall(MPI_COMM_WORLD);
  MPI_Comm_free(&some);
}

/* ---- Rank 1 makes calls that MPI refuses, while other calls are compared */

static void refused(void) {
  MPI_Comm comm = duplicate(MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD,
                          MPI_ERRORS_RETURN); /* where Open MPI reports this error */
  for (int i = 0; i < 3000; i++) {
    int one = 1, sum = 0;
    if (me == 1 && i % 50 == 3)
      expect(MPI_Allreduce(&one, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS,
             "a wrong call is no error");
    expect(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && sum == ranks,
           "an allreduce is wrong");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_free(&comm);
}

#define CASE(name) \
  { #name, name }
static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {
    CASE(handler),  CASE(handler_frees), CASE(handlers),  CASE(attributes), CASE(nested),
    CASE(refused),  CASE(dying),         CASE(lingering), CASE(gaps),       CASE(types),
    CASE(large),    CASE(large_call),    CASE(nulls),     CASE(unused),     CASE(empty),
    CASE(wrong),    CASE(misplaced),     CASE(recycled),  CASE(many),       CASE(overlaps),
    CASE(firsts),   CASE(same_bits),     CASE(extremes),  CASE(turns),      CASE(counts_of_groups),
    CASE(title),    CASE(late_calls),    CASE(rhythms),   CASE(no_buffer),  CASE(options),
    CASE(rounded),  CASE(overflows),     CASE(tenths),    CASE(pairs),      CASE(own_operator),
    CASE(truncated)};

int main(int count, char** words) {
  const char* const which = count > 1 ? words[1] : "";
  const int moves_early = !strcmp(which, "moves_early");
  if (moves_early) move();
  if (count > 2 && !strcmp(which, "stuck")) await_end(words[2]);
  if (!strcmp(which, "alone")) {
    session();
    if (!bad) printf("rank %d ran 1 tests, all passed\n", me);
    return bad > 0;
  }
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  agreements = (int (*)(void))dlsym(RTLD_DEFAULT, "tool_agreements");
  for (int word = 1; word < count; word++)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
      if (!strcmp(words[word], cases[i].name)) cases[i].run();
  if (!strcmp(which, "persistent")) persistent();
  if (!strcmp(which, "session")) session();
  if (!strcmp(which, "spawn")) spawn(words[0]);
  if (!strcmp(which, "spawn_alone")) spawn_alone(words[0]);
  if (!strcmp(which, "stuck")) expect_alltoall(MPI_COMM_WORLD);
  if (moves_early || !strcmp(which, "moves")) moves(moves_early);
  if (!strcmp(which, "later") && count > 2) device_later(words[2]);
  if (!strcmp(which, "passed") && count > 2) device_passed(words[2]);
  if (!strcmp(which, "ended") && count > 2) ended(words[2]);
  if (!strcmp(which, "late") && count > 2) late(words[2]);
  MPI_Finalize();
  if (!bad) printf("rank %d ran 1 tests, all passed\n", me);
  return bad > 0;
}
