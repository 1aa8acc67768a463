/* Cases of the program corners: reductions whose results depend, or may depend, on the order of operands.
 * QUADRILLE=verify compares them. */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tests/preload/corners.h"

enum { COUNT = 60 };
static uint64_t state;

/* Returns a random number in [0, 1), different on each rank. */
static double draw(void) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return (double)(state >> 11) / (double)(UINT64_C(1) << 53);
}

/* Returns a number of either sign and of any magnitude. So each order of operands rounds differently. */
static double wild(void) { return (draw() - 0.5) * ldexp(1, (int)(draw() * 40)); }

/* The buffers have elements of one datatype at a time. */
static char sent[32 * COUNT * MOST], received[32 * COUNT * MOST];

static void put(int i, int parts, size_t size, double value) {
  char* const at = sent + (size_t)i * size;
  for (int k = 0; k < parts; k++) {
    const float narrow = (float)value;
    const long double wide = value;
    if (size / (size_t)parts == sizeof narrow)
      memcpy(at + (size_t)k * sizeof narrow, &narrow, sizeof narrow);
    if (size / (size_t)parts == sizeof value)
      memcpy(at + (size_t)k * sizeof value, &value, sizeof value);
    if (size / (size_t)parts == sizeof wide)
      memcpy(at + (size_t)k * sizeof wide, &wide, sizeof wide);
    value = -value / 3;
  }
}

static void fill(int parts, size_t size, MPI_Op op) {
  for (int i = 0; i < COUNT * ranks; i++)
    put(i, parts, size, op == MPI_PROD ? 0.5 + draw() : wild());
}

static void every_reduction(MPI_Datatype type, MPI_Op op, MPI_Comm comm, int inter) {
  int counts[MOST];
  for (int r = 0; r < MOST; r++) counts[r] = inter ? 6 : r;
  MPI_Allreduce(sent, received, COUNT, type, op, comm);
  int own;
  MPI_Comm_size(comm, &own);
  MPI_Reduce_scatter_block(sent, received, COUNT / own, type, op, comm);
  if (inter) return;
  MPI_Reduce(sent, received, COUNT, type, op, 1, comm);
  MPI_Scan(sent, received, COUNT, type, op, comm);
  MPI_Exscan(sent, received, COUNT, type, op, comm);
  MPI_Reduce_scatter(sent, received, counts, type, op, comm);
  memcpy(received, sent, sizeof sent);
  MPI_Allreduce(MPI_IN_PLACE, received, COUNT, type, op, comm);
  MPI_Reduce_scatter(MPI_IN_PLACE, received, counts, type, op, comm);
}

static void between(MPI_Datatype type, MPI_Op op) {
  const int group = me >= 2;
  MPI_Comm mine, comm;
  MPI_Comm_split(MPI_COMM_WORLD, group, me, &mine);
  MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, group ? 0 : 2, 1, &comm);
  every_reduction(type, op, comm, 1);
  MPI_Reduce(sent, received, COUNT, type, op, group ? 1 : me == 1 ? MPI_ROOT : MPI_PROC_NULL, comm);
  MPI_Comm_free(&comm);
  MPI_Comm_free(&mine);
}

/* Sums and products of all kinds of floating-point numbers, and maxima. */
void rounded(void) {
  state = (uint64_t)me + 1;
  for (int i = 0; i < 10; i++) draw();
  const struct {
    MPI_Datatype type;
    int parts;
    size_t size;
  } all[] = {{MPI_FLOAT, 1, sizeof(float)},
             {MPI_DOUBLE, 1, sizeof(double)},
             {MPI_LONG_DOUBLE, 1, sizeof(long double)},
             {MPI_C_FLOAT_COMPLEX, 2, 2 * sizeof(float)},
             {MPI_C_DOUBLE_COMPLEX, 2, 2 * sizeof(double)}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    for (int k = 0; k < 3; k++) {
      const MPI_Op op = (MPI_Op[]){MPI_SUM, MPI_PROD, MPI_MAX}[k];
      if (op == MPI_MAX && all[i].parts == 2) continue;
      fill(all[i].parts, all[i].size, op);
      every_reduction(all[i].type, op, MPI_COMM_WORLD, 0);
      between(all[i].type, op);
    }
}

/* Elements with NaNs, infinities and overflow. In sums a NaN stays a NaN. Other results may be anything. */
void overflows(void) {
  double mine[6] = {me == 1 ? NAN : me,
                    me == 1 ? INFINITY : me,
                    me % 2 ? DBL_MAX : -DBL_MAX,
                    DBL_MAX,
                    1e-200,
                    me};
  double all[6];
  const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN};
  for (int i = 0; i < 4; i++) MPI_Allreduce(mine, all, 6, MPI_DOUBLE, ops[i], MPI_COMM_WORLD);
}

/* One sum of tenths. */
void tenths(void) {
  double tenth[10], sum[10];
  for (int i = 0; i < 10; i++) tenth[i] = 0.1 * (i + 1);
  MPI_Allreduce(tenth, sum, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < 2 * *count; i++) ((int*)inout)[i] += ((int*)in)[i];
}

/* Ints in a derived type. The program's own operator adds them. */
void pairs(void) {
  int mine[8] = {me, 1, 2, 3, 4, 5, 6, 7}, all[8];
  MPI_Op op;
  MPI_Datatype type;
  MPI_Op_create(add, 1, &op);
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Allreduce(mine, all, 4, type, op, MPI_COMM_WORLD);
  MPI_Type_free(&type);
  MPI_Op_free(&op);
}

static void add_doubles(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; i++) ((double*)inout)[i] += ((double*)in)[i];
}

/* Doubles that the program's own operator adds. The library cannot know how it rounds. */
void own_operator(void) {
  double mine = 0.1 * me, all;
  MPI_Op op;
  MPI_Op_create(add_doubles, 1, &op);
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
  MPI_Op_free(&op);
}
