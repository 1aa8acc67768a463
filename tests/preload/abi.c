/* A plain program of MPI's own application binary interface, on 4 ranks. It checks each result, and prints "rank N ran
 * M tests, all passed". CALLS: how often it makes each collective call. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1000, RANKS = 4 };
static int me, tests, handled, removed;

static void expect(int is_right, const char* what) {
  tests++;
  if (is_right) return;
  printf("rank %d: FAILED: %s\n", me, what);
  exit(1);
}

static void note_error(MPI_Comm* comm, int* code, ...) {
  MPI_Error_class(*code, &handled);
  expect(*comm != MPI_COMM_NULL, "the communicator of the error");
}

static int note_removal(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key;
  removed = value == &me && extra == &tests;
  return MPI_SUCCESS;
}

/* Keeps the last operand. */
static void last(void* in, void* inout, int* n, MPI_Datatype* type) {
  expect(*type == MPI_INT, "the datatype of an operator");
  (void)in, (void)inout, (void)n;
}

static void call_all(MPI_Comm comm, int size, MPI_Datatype pair, MPI_Op own) {
  static int sent[RANKS * COUNT], got[RANKS * COUNT];
  int rank, wrong = 0, sum = 0;
  MPI_Comm_rank(comm, &rank);
  for (int i = 0; i < size * COUNT; i++) sent[i] = rank * 7 + i / COUNT, got[i] = -1;
  MPI_Alltoall(sent, COUNT, MPI_INT, got, COUNT, MPI_INT, comm);
  for (int i = 0; i < size * COUNT; i++) wrong |= got[i] != i / COUNT * 7 + rank;
  MPI_Allgather_c(sent, COUNT / 2, pair, got, COUNT, MPI_INT, comm);
  for (int i = 0; i < size * COUNT; i++) wrong |= got[i] != i / COUNT * 7;
  got[0] = rank == 1 ? 5 : -1;
  MPI_Bcast(got, 1, MPI_INT, 1, comm);
  wrong |= got[0] != 5;
  got[0] = rank;
  MPI_Allreduce(MPI_IN_PLACE, got, 1, MPI_INT, MPI_MAX, comm);
  wrong |= got[0] != size - 1;
  MPI_Reduce(&rank, rank == 0 ? &sum : NULL, 1, MPI_INT, MPI_SUM, 0, comm);
  wrong |= rank == 0 && sum != size * (size - 1) / 2;
  MPI_Scan(&rank, &sum, 1, MPI_INT, own, comm);
  wrong |= sum != rank;
  MPI_Barrier(comm);
  expect(!wrong, "a result");
}

static void go_between(void) {
  const int group = me / 2;
  int got[2] = {-1, -1};
  MPI_Comm half, inter;
  MPI_Comm_split(MPI_COMM_WORLD, group, me, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, group ? 0 : 2, 1, &inter);
  MPI_Allgather(&me, 1, MPI_INT, got, 1, MPI_INT, inter);
  expect(got[0] == (group ? 0 : 2) && got[1] == got[0] + 1, "an allgather between groups");
  got[0] = me == 2 ? 9 : -1;
  MPI_Bcast(got, 1, MPI_INT, group == 0 ? 0 : me == 2 ? MPI_ROOT : MPI_PROC_NULL, inter);
  expect(got[0] == (group == 0 || me == 2 ? 9 : -1), "a broadcast between groups");
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

int main(int count, char** words) {
  const char* const calls = getenv("CALLS");
  int size, key = MPI_KEYVAL_INVALID;
  MPI_Comm comm;
  MPI_Errhandler handler;
  MPI_Datatype pair;
  MPI_Op own;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(last, 0, &own);
  expect(size == RANKS, "the number of ranks");
  for (int i = 0; i < (calls ? atoi(calls) : 20); i++) call_all(comm, size, pair, own);
  go_between();
  MPI_Comm_create_errhandler(note_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  const int code = MPI_Bcast(&size, 1, MPI_INT, RANKS, comm);
  expect(code != MPI_SUCCESS && handled == MPI_ERR_ROOT, "the error of a wrong root");
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_removal, &key, &tests);
  MPI_Comm_set_attr(comm, key, &me);
  MPI_Comm_free(&comm);
  expect(removed, "the removal of an attribute");
  MPI_Errhandler_free(&handler);
  MPI_Type_free(&pair);
  MPI_Op_free(&own);
  printf("rank %d ran %d tests, all passed\n", me, tests);
  MPI_Finalize();
  return 0;
}
