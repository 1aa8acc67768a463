/* alone CASE [N]: one rank after another refuses what it should do, and no other rank waits for it. All results
 * are the same as without the library. CASE arguments: the rank first makes calls with wrong arguments, which MPI
 * refuses. CASE memory or attributes: the tool refuses the library's n-th request of that kind at the rank, on a new
 * communicator. n begins at N and skips more and more numbers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/execute/significance.h"

/* The tool refuses the n-th request from now on, or none if n is 0. Returns the number of requests before. */
__attribute__((weak)) long tool_refuse(const char* kind, long n);

enum { MOST = 16, ROUNDS = 40, FEW_ROUNDS = 12 };
static int me, ranks, bad, sent[MOST], received[MOST], counts[MOST], places[MOST];
static MPI_Datatype types[MOST];
static long tests;

static void expect(int holds, const char* what) {
  tests++;
  if (!holds && bad++ < 3) printf("FAILED: rank %d: %s\n", me, what);
}

/* ---- One call of each collective, of which one argument may be wrong */

enum wrong { NOTHING, COUNT, TYPE, OPERATOR, ROOT, WRONGS };

static int call(enum qd_function function, enum wrong wrong, MPI_Comm comm) {
  const int n = wrong == COUNT ? -1 : 1, root = wrong == ROOT ? ranks : 0;
  const MPI_Datatype type = wrong == TYPE       ? MPI_DATATYPE_NULL
                            : wrong == OPERATOR ? MPI_DOUBLE
                                                : MPI_INT;
  const MPI_Op op = wrong == OPERATOR ? MPI_BAND : MPI_SUM;
  for (int r = 0; r < ranks; r++) {
    sent[r] = 100 * me + r;
    received[r] = -1;
    counts[r] = 1;
    places[r] = r;
    types[r] = MPI_INT;
  }
  counts[0] = n;
  types[0] = type;
  switch (function) {
    case QD_Allgather: return MPI_Allgather(sent, n, type, received, 1, MPI_INT, comm);
    case QD_Allgatherv:
      return MPI_Allgatherv(sent, n, type, received, counts, places, MPI_INT, comm);
    case QD_Allreduce: return MPI_Allreduce(sent, received, n, type, op, comm);
    case QD_Alltoall: return MPI_Alltoall(sent, n, type, received, 1, MPI_INT, comm);
    case QD_Alltoallv:
      return MPI_Alltoallv(sent, counts, places, type, received, counts, places, type, comm);
    case QD_Alltoallw:
      for (int r = 0; r < ranks; r++) places[r] = r * (int)sizeof(int);
      return MPI_Alltoallw(sent, counts, places, types, received, counts, places, types, comm);
    case QD_Barrier: return MPI_Barrier(comm);
    case QD_Bcast: received[0] = me == 0 ? 7 : -1; return MPI_Bcast(received, n, type, root, comm);
    case QD_Exscan: return MPI_Exscan(sent, received, n, type, op, comm);
    case QD_Gather: return MPI_Gather(sent, n, type, received, 1, MPI_INT, root, comm);
    case QD_Gatherv:
      return MPI_Gatherv(sent, n, type, received, counts, places, MPI_INT, root, comm);
    case QD_Reduce: return MPI_Reduce(sent, received, n, type, op, root, comm);
    case QD_Reduce_scatter: return MPI_Reduce_scatter(sent, received, counts, type, op, comm);
    case QD_Reduce_scatter_block:
      return MPI_Reduce_scatter_block(sent, received, n, type, op, comm);
    case QD_Scan: return MPI_Scan(sent, received, n, type, op, comm);
    case QD_Scatter: return MPI_Scatter(sent, 1, MPI_INT, received, n, type, root, comm);
    case QD_Scatterv:
      return MPI_Scatterv(sent, counts, places, MPI_INT, received, n, type, root, comm);
    default: return MPI_SUCCESS;
  }
}

/* Expects what rank 0 or this rank receives: the first element of each rank, or one element of rank 0. */
static void expect_results(enum qd_function function) {
  const int sum = 100 * ranks * (ranks - 1) / 2;
  int is_right = 1;
  switch (function) {
    case QD_Allgather:
    case QD_Allgatherv:
    case QD_Gather:
    case QD_Gatherv:
      for (int r = 0; r < ranks; r++)
        is_right &= received[r] == 100 * r || (function >= QD_Gather && me > 0);
      break;
    case QD_Alltoall:
    case QD_Alltoallv:
    case QD_Alltoallw:
      for (int r = 0; r < ranks; r++) is_right &= received[r] == 100 * r + me;
      break;
    case QD_Allreduce: is_right = received[0] == sum; break;
    case QD_Reduce: is_right = received[0] == (me == 0 ? sum : -1); break;
    case QD_Reduce_scatter:
    case QD_Reduce_scatter_block: is_right = received[0] == sum + ranks * me; break;
    case QD_Scan: is_right = received[0] == 100 * me * (me + 1) / 2; break;
    case QD_Exscan: is_right = me == 0 || received[0] == 100 * me * (me - 1) / 2; break;
    case QD_Bcast: is_right = received[0] == 7; break;
    case QD_Scatter:
    case QD_Scatterv: is_right = received[0] == me; break;
    default: break;
  }
  expect(is_right, "a result is wrong");
}

static int has(enum qd_function function, enum wrong wrong) {
  const int combines = function == QD_Allreduce || function == QD_Exscan || function == QD_Reduce ||
                       function == QD_Reduce_scatter || function == QD_Reduce_scatter_block ||
                       function == QD_Scan;
#ifndef OPEN_MPI
  if (wrong == COUNT && combines) return 0; /* MPICH 4.0 itself crashes */
#endif
  if (wrong == ROOT) return qd_has_root(function);
  return wrong == OPERATOR ? combines : function != QD_Barrier;
}

/* Makes a right call and checks its results. Returns its error code. */
static int right_call(enum qd_function function, MPI_Comm comm) {
  const int code = call(function, NOTHING, comm);
  if (code == MPI_SUCCESS) expect_results(function);
  return code;
}

static char classes[4 * QD_FUNCTION_COUNT * WRONGS]; /* the error classes of a round, as text */

static void refuse_arguments(MPI_Comm comm, int one) {
  int at = 0;
  for (int i = 0; i < QD_FUNCTION_COUNT; i++) {
    const enum qd_function function = (enum qd_function)i;
    for (int wrong = COUNT; wrong < WRONGS; wrong++) {
      if (!has(function, (enum wrong)wrong)) continue;
      if (me == one) {
        int code = call(function, (enum wrong)wrong, comm), error_class = MPI_SUCCESS;
        expect(code != MPI_SUCCESS, "a wrong call is no error");
        MPI_Error_class(code, &error_class);
        at += snprintf(classes + at, sizeof classes - (size_t)at, " %d", error_class);
      }
      expect(right_call(function, comm) == MPI_SUCCESS, "a right call is an error");
    }
  }
}

/* ---- Cases */

static MPI_Comm duplicate(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

static void arguments(void) {
  for (int one = 0; one < ranks; one++) {
    MPI_Comm comm = duplicate();
    for (int round = 0; round < ROUNDS; round++) refuse_arguments(comm, one);
    MPI_Comm_free(&comm);
  }
}

/* If memory for a call's schedule runs out, the call is an error, as it would be in MPI. */
static void refused(const char* kind, long first) {
  int was_refused = 1;
  for (long n = first; was_refused; n += 1 + n / 16) {
    const int one = (int)(n % ranks);
    MPI_Comm comm = duplicate();
    int errors = 0;
    if (me == one) tool_refuse(kind, n);
    for (int i = 0; i < QD_FUNCTION_COUNT; i++)
      for (int round = 0; round < FEW_ROUNDS; round++)
        errors += right_call((enum qd_function)i, comm) != MPI_SUCCESS;
    expect(errors < 2, "a right call is an error again");
    MPI_Comm_free(&comm);
    if (me == one) was_refused = tool_refuse(kind, 0) >= n;
    PMPI_Bcast(&was_refused, 1, MPI_INT, one, MPI_COMM_WORLD);
  }
}

int main(int count, char** words) {
  const char* const which = count > 1 ? words[1] : "arguments";
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (!strcmp(which, "arguments"))
    arguments();
  else if (tool_refuse)
    refused(which, count > 2 ? atol(words[2]) : 1);
  MPI_Finalize();
  if (*classes) printf("rank %d has the classes%s\n", me, classes);
  if (!bad) printf("rank %d ran %ld tests, all passed\n", me, tests);
  return bad > 0;
}
