/* threads [ROUNDS]: threads of a plain MPI program call collectives at once, each on its own short-lived
 * communicators. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, MOST = 64 };

static int rounds = 10, failures;
static MPI_Comm own[THREADS];

static void check(int holds, const char* what) {
  if (holds) return;
  __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
  printf("FAILED: %s\n", what);
}

static void* call(void* argument) {
  const int thread = (int)(size_t)argument;
  int sent[MOST], received[MOST], rank = 0, ranks = 0;
  MPI_Comm_rank(own[thread], &rank);
  MPI_Comm_size(own[thread], &ranks);
  for (int i = 0; i < rounds; i++) {
    MPI_Comm comm;
    int right = 1, sum = 0;
    MPI_Comm_dup(own[thread], &comm);
    for (int calls = 0; calls < 3; calls++) {
      for (int r = 0; r < ranks; r++) sent[r] = 10000 * i + 1000 * thread + 10 * rank + r;
      MPI_Alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, calls % 2 ? own[thread] : comm);
      for (int r = 0; r < ranks; r++)
        right &= received[r] == 10000 * i + 1000 * thread + 10 * r + rank;
    }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    check(right && sum == ranks * (ranks - 1) / 2, "what threads are told");
    MPI_Comm_free(&comm);
  }
  return NULL;
}

/* Returns the memory of this process in KiB. */
static long memory(void) {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file && fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
  if (file) fclose(file);
  return 4 * pages;
}

int main(int count, char** arguments) {
  pthread_t threads[THREADS];
  int provided = 0, rank = 0;
  MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check(provided == MPI_THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE");
  if (count > 1) rounds = atoi(arguments[1]);
  for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
  long before = 0;
  for (int part = 0; part < 2; part++) {
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, call, (void*)(size_t)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    if (part == 0) before = memory();
  }
  if (count > 1 && rank == 0) printf("%ld KiB, %ld before\n", memory(), before);
  for (int i = 0; i < THREADS; i++) MPI_Comm_free(&own[i]);
  if (failures == 0) printf("rank %d ran %d tests, all passed\n", rank, 2 * THREADS * rounds);
  MPI_Finalize();
  return failures > 0;
}
