/* Cases of the program corners: collectives in the delete functions of attributes. */
#include "tests/preload/corners.h"

#include <stddef.h>

/* ---- A communicator is freed, and the delete functions of its attributes call collectives on it */

static int delete (MPI_Comm comm, int key, void* value, void* extra) {
  int one = 1, sum = 0, all[MOST];
  (void)key, (void)value, (void)extra;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  expect(sum == ranks, "an allreduce while its communicator is freed is wrong");
  MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, comm);
  for (int r = 0; r < ranks; r++) expect(all[r] == r, "an allgather is wrong there");
  expect_alltoall(MPI_COMM_WORLD);
  return MPI_SUCCESS;
}

void attributes(void) {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &key, NULL);
  for (int round = 0; round < 6; round++) {
    /* In the last rounds, only some ranks set the attribute first. */
    const int is_first = (round + (round > 3 ? me : 0)) % 2;
    MPI_Comm comm = duplicate(MPI_ERRORS_ARE_FATAL);
    if (is_first) MPI_Comm_set_attr(comm, key, NULL);
    int one = 1, sum;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    expect_alltoall(comm);
    if (!is_first) MPI_Comm_set_attr(comm, key, NULL);
    MPI_Comm_free(&comm);
  }
}

/* ---- A delete function frees a second communicator, whose attribute's delete function calls collectives on the
 * first */

static MPI_Comm outer, inner;

static int delete_outer(MPI_Comm comm, int key, void* value, void* extra) {
  MPI_Comm_free(&inner);
  return delete (comm, key, value, extra);
}

static int delete_inner(MPI_Comm comm, int key, void* value, void* extra) {
  return delete (comm, key, value, extra) + delete (outer, key, value, extra);
}

void nested(void) {
  int outer_key, inner_key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_outer, &outer_key, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_inner, &inner_key, NULL);
  for (int is_first = 0; is_first < 2; is_first++) {
    outer = duplicate(MPI_ERRORS_ARE_FATAL);
    inner = duplicate(MPI_ERRORS_ARE_FATAL);
    if (is_first) MPI_Comm_set_attr(outer, outer_key, NULL);
    expect_alltoall(outer);
    if (!is_first) MPI_Comm_set_attr(outer, outer_key, NULL);
    MPI_Comm_set_attr(inner, inner_key, NULL);
    MPI_Comm freed = outer;
    MPI_Comm_free(&freed);
  }
}

/* ---- Rank 0 calls collectives in a delete function. The others call them before they free the communicator */

static int call_here(MPI_Comm comm, int key, void* value, void* extra) {
  (void)key, (void)value, (void)extra;
  for (int i = 0; i < 3; i++) expect_alltoall(comm);
  return MPI_SUCCESS;
}

void dying(void) {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, call_here, &key, NULL);
  for (int round = 0; round < 40; round++) {
    MPI_Comm comm = duplicate(MPI_ERRORS_ARE_FATAL);
    if (round & 2) expect_alltoall(comm);
    if (me == 0)
      MPI_Comm_set_attr(comm, key, NULL);
    else
      call_here(comm, key, NULL, NULL);
    MPI_Comm_free(&comm);
  }
}

/* ---- A communicator is freed before its last operation ends. Only then MPICH calls the delete functions, at some
 * ranks */

void lingering(void) {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, call_here, &key, NULL);
  for (int round = 0; round < 40; round++) {
    MPI_Request barrier;
    MPI_Comm comm = duplicate(MPI_ERRORS_ARE_FATAL);
    if (round & 1) expect_alltoall(comm);
    if (round & 2) MPI_Comm_set_attr(comm, key, NULL);
    MPI_Ibarrier(comm, &barrier);
    MPI_Comm_free(&comm);
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
  }
}

/* ---- Rank 1 makes its last call in MPI_Finalize, and the others wait for it */

static int call_late(MPI_Comm self, int key, void* attribute, void* extra) {
  (void)self, (void)key, (void)attribute, (void)extra;
  return MPI_Barrier(MPI_COMM_WORLD);
}

void late_calls(void) {
  int key;
  if (me != 1) {
    MPI_Barrier(MPI_COMM_WORLD);
    return;
  }
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, call_late, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}
