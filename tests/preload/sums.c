/* A plain MPI program with CALLS reductions of floating-point numbers and of bytes, whose results depend on the order
 * of operands or on where a vector is cut, and as many reductions of ints. Each rank prints a hash of all bits that it received. */
#include <complex.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 400 };

static uint64_t hash = 0xcbf29ce484222325;
static int me, ranks;

static void take(const void* bytes, size_t length) {
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ ((const unsigned char*)bytes)[i]) * 0x100000001b3;
}

static double drawn(void) {
  static uint64_t state;
  if (state == 0) state = 88172645463325252U + (uint64_t)me;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (double)(state >> 11) / 9007199254740992.0 - 0.5;
}

/* The program's own operator: a sum that it rounds itself. */
static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; i++) ((float*)inout)[i] += ((float*)in)[i];
}

static void reduce(int call, MPI_Op own) {
  static double sent[2 * MOST], received[2 * MOST];
  static float narrow[MOST], sums[MOST];
  static unsigned char bytes[MOST], most[MOST];
  const MPI_Comm comm = MPI_COMM_WORLD;
  const int n = call % 100 == 0 ? MOST / ranks * ranks : ranks;
  for (int i = 0; i < 2 * n; i++) sent[i] = drawn();
  for (int i = 0; i < n; i++) narrow[i] = (float)drawn();
  memset(received, 0, sizeof received);
  memset(sums, 0, sizeof sums);
  switch (call % 9) {
    case 0: MPI_Allreduce(narrow, sums, n, MPI_FLOAT, MPI_SUM, comm); break;
    case 1: MPI_Reduce(sent, me == 1 ? received : NULL, n, MPI_DOUBLE, MPI_SUM, 1, comm); break;
    case 2: MPI_Allreduce(sent, received, n, MPI_DOUBLE, MPI_PROD, comm); break;
    case 3: MPI_Scan(sent, received, n, MPI_C_DOUBLE_COMPLEX, MPI_SUM, comm); break;
    case 4: MPI_Allreduce(narrow, sums, n, MPI_FLOAT, own, comm); break;
    case 5: MPI_Reduce_scatter_block(sent, received, n / ranks, MPI_DOUBLE, MPI_SUM, comm); break;
    case 6:
      for (int i = 0; i < n; i++) sent[i] = i % 2 ? 0.0 : me % 2 ? -0.0 : 0.0;
      MPI_Allreduce(sent, received, n, MPI_DOUBLE, MPI_MAX, comm);
      break;
    case 7: /* Open MPI's sums of bytes differ where a vector of its instructions ends. */
      for (int i = 0; i < MOST; i++) bytes[i] = (unsigned char)(60 + 20 * me + i % 50);
      MPI_Allreduce(bytes, most, MOST, MPI_UNSIGNED_CHAR, MPI_SUM, comm);
      take(most, sizeof most);
      break;
    default: MPI_Exscan(sent, received, n, MPI_DOUBLE, MPI_SUM, comm);
  }
  take(received, sizeof received);
  take(sums, sizeof sums);
}

int main(int count, char** words) {
  const int calls = count > 1 ? atoi(words[1]) : 10000;
  MPI_Op own;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Op_create(add, 1, &own);
  for (int call = 0; call < calls; call++) {
    int sum = -1;
    reduce(call, own);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    take(&sum, sizeof sum);
  }
  MPI_Op_free(&own);
  printf("rank %d has the bits %016llx\n", me, (unsigned long long)hash);
  printf("rank %d ran %d tests, all passed\n", me, calls);
  MPI_Finalize();
  return 0;
}
