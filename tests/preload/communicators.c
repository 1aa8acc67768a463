/* Cases of the program corners: new communicators, many of them, and several of the same ranks. */
#include <dlfcn.h>
#include <stddef.h>

#include "tests/preload/corners.h"

/* ---- Nearly as many communicators as MPICH can have at a time */

void many(void) {
  enum { COMMUNICATORS = 1900 };
  static MPI_Comm comms[COMMUNICATORS];
  for (int turn = 0; turn < 2; turn++) {
    for (int i = 0; i < COMMUNICATORS; i++)
      expect_alltoall(comms[i] = duplicate(MPI_ERRORS_RETURN));
    for (int i = 0; i < COMMUNICATORS; i++) expect_alltoall(comms[i]);
    for (int i = 0; i < COMMUNICATORS; i++) MPI_Comm_free(&comms[i]);
  }
}

/* ---- Several communicators have the same ranks in different orders, and are in use at once. The messages of a
 * broadcast and of a gather on one of them may wait until those of the next one are received. */

static void expect_rooted(MPI_Comm comm, int round) {
  int rank, size, word, all[MOST];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int root = round % size;
  word = rank == root ? 1000 * round + root : -1;
  MPI_Bcast(&word, 1, MPI_INT, root, comm);
  expect(word == 1000 * round + root, "a broadcast is wrong");
  word += rank;
  MPI_Gather(&word, 1, MPI_INT, all, 1, MPI_INT, size - 1 - root, comm);
  for (int r = 0; r < size && rank == size - 1 - root; r++)
    expect(all[r] == 1000 * round + root + r, "a gather is wrong");
}

void overlaps(void) {
  enum { ORDERS = 4 };
  MPI_Comm comms[ORDERS], between, half;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comms[0]);
  MPI_Comm_split(MPI_COMM_WORLD, me > 0, ranks - me, &comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &comms[2]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, (me + 1) % ranks, &comms[3]);
  for (int round = 0; round < 50; round++) expect_rooted(comms[round % ORDERS], round);
  /* The groups are the even and the odd ranks, each with the highest first. */
  const int first = ranks - 1 - (ranks - me) % 2; /* of the other group */
  int remote, all[MOST];
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, first, 1, &between);
  MPI_Comm_remote_size(between, &remote);
  for (int round = 0; round < 9; round++) {
    MPI_Allgather(&(int){me + round}, 1, MPI_INT, all, 1, MPI_INT, between);
    for (int r = 0; r < remote; r++)
      expect(all[r] == first - 2 * r + round, "an allgather is wrong");
    for (int i = 0; i < ORDERS; i++) expect_rooted(comms[i], round);
  }
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
  for (int i = 0; i < ORDERS; i++) MPI_Comm_free(&comms[i]);
}

/* ---- A tool counts how often the ranks of a new communicator agree: once for each collective of a schedule */

void firsts(void) {
  for (int i = 0; i < 5; i++) {
    MPI_Comm comm = duplicate(MPI_ERRORS_RETURN);
    const int before = agreements ? agreements() : 0;
    for (int call = 0; call < 3; call++) expect_alltoall(comm);
    expect(agreements && agreements() == before + 1, "ranks do not agree once on an all-to-all");
    MPI_Bcast(&(int){0}, 1, MPI_INT, 0, comm);
    expect(agreements && agreements() == before + 2, "ranks do not agree once on a broadcast");
    MPI_Comm_free(&comm);
  }
}

/* ---- Persistent collectives, among other requests */

void persistent(void) {
  typedef int signature(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm,
                        MPI_Info, MPI_Request*);
  signature* const init =
      (signature*)dlsym(RTLD_DEFAULT, MPI_VERSION < 4 ? "MPIX_Alltoall_init" : "MPI_Alltoall_init");
  int sent[MOST], received[MOST], token = -1;
  MPI_Request all[2];
  MPI_Status statuses[2]; /* GCC warns of MPICH's constant for none */
  expect(init != NULL, "there are no persistent collectives");
  if (!init) return;
  init(sent, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &all[0]);
  MPI_Recv_init(&token, 1, MPI_INT, (me + 1) % ranks, 0, MPI_COMM_WORLD, &all[1]);
  for (int round = 0; round < 20; round++) {
    for (int r = 0; r < ranks; r++) sent[r] = 100 * me + r + round;
    MPI_Startall(2, all);
    expect_alltoall(MPI_COMM_WORLD);
    MPI_Send(&round, 1, MPI_INT, (me + ranks - 1) % ranks, 0, MPI_COMM_WORLD);
    MPI_Waitall(2, all, statuses);
    expect(token == round, "a persistent receive is wrong");
    for (int r = 0; r < ranks; r++)
      expect(received[r] == 100 * r + me + round, "a persistent all-to-all is wrong");
  }
  for (int i = 0; i < 2; i++) MPI_Request_free(&all[i]);
}

/* ---- A communicator of a session, with MPI_Init or without it, and large counts. Both are new in MPI 4. */

void session(void) {
#if MPI_VERSION >= 4
  int sent[MOST], received[MOST];
  MPI_Session made;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
  MPI_Group_from_session_pset(made, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "tests", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Group_free(&group);
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &ranks);
  for (int round = 0; round < 3; round++) expect_alltoall(comm);
  for (int r = 0; r < ranks; r++) sent[r] = 100 * me + r;
  MPI_Alltoall_c(sent, 1, MPI_INT, received, 1, MPI_INT, comm);
  for (int r = 0; r < ranks; r++) expect(received[r] == 100 * r + me, "large counts are wrong");
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&made);
#endif
}
