/* Makes the calls of `run`. Reductions add 64-bit integers, so that every order of operands gives the same bytes. */
#include "tools/run_call.h"

#include <stdio.h>
#include <string.h>

/* A collective, and which ranks have how many blocks in their buffers. */
struct collective {
  const char *name, *mpi, *unit;
  int sends, receives; /* blocks of a buffer: 0, ONE or ONE_A_PEER */
  int (*function)(const struct call*, quadrille_schedule, int, const void*);
  int is_rooted, root_sends, root_receives; /* root_...: only the root has this buffer */
};

enum { ONE = 1, ONE_A_PEER = 2 };

/* Defines a function that makes the call by MPI or a schedule, with these arguments. n: bytes; count: integers. */
#define COLLECTIVE(name, Mpi, ours, ...)                                                         \
  static int name(const struct call* c, quadrille_schedule s, int native, const void* send) {    \
    const int n = (int)c->bytes, count = n / (int)sizeof(int64_t);                               \
    (void)send, (void)n, (void)count;                                                            \
    return native ? MPI_##Mpi(__VA_ARGS__, c->comm) : quadrille_##ours(s, __VA_ARGS__, c->comm); \
  }

COLLECTIVE(alltoall, Alltoall, alltoall, send, n, MPI_BYTE, c->receive, n, MPI_BYTE)
COLLECTIVE(allgather, Allgather, allgather, send, n, MPI_BYTE, c->receive, n, MPI_BYTE)
COLLECTIVE(broadcast, Bcast, bcast, c->receive, n, MPI_BYTE, c->root)
COLLECTIVE(gather, Gather, gather, send, n, MPI_BYTE, c->receive, n, MPI_BYTE, c->root)
COLLECTIVE(scatter, Scatter, scatter, send, n, MPI_BYTE, c->receive, n, MPI_BYTE, c->root)
COLLECTIVE(reduce, Reduce, reduce, send, c->receive, count, MPI_INT64_T, MPI_SUM, c->root)
COLLECTIVE(allreduce, Allreduce, allreduce, send, c->receive, count, MPI_INT64_T, MPI_SUM)
COLLECTIVE(reduce_scatter, Reduce_scatter_block, reduce_scatter_block, send, c->receive, count,
           MPI_INT64_T, MPI_SUM)
COLLECTIVE(scan, Scan, scan, send, c->receive, count, MPI_INT64_T, MPI_SUM)
COLLECTIVE(exscan, Exscan, exscan, send, c->receive, count, MPI_INT64_T, MPI_SUM)

static int barrier(const struct call* c, quadrille_schedule s, int native, const void* send) {
  (void)send;
  return native ? MPI_Barrier(c->comm) : quadrille_barrier(s, c->comm);
}

static const struct collective collectives[] = {
    {"alltoall", "alltoall", "blocks", ONE_A_PEER, ONE_A_PEER, alltoall, 0, 0, 0},
    {"allgather", "allgather", "contributions", ONE, ONE_A_PEER, allgather, 0, 0, 0},
    {"broadcast", "bcast", "messages", 0, ONE, broadcast, 0, 0, 0},
    {"gather", "gather", "contributions", ONE, ONE_A_PEER, gather, 1, 0, 1},
    {"scatter", "scatter", "blocks", ONE_A_PEER, ONE, scatter, 1, 1, 0},
    {"reduce", "reduce", "contributions", ONE, ONE, reduce, 1, 0, 1},
    {"allreduce", "allreduce", "contributions", ONE, ONE, allreduce, 0, 0, 0},
    {"reduce-scatter", "reduce_scatter_block", "results", ONE_A_PEER, ONE, reduce_scatter, 0, 0, 0},
    {"scan", "scan", "contributions", ONE, ONE, scan, 0, 0, 0},
    {"exscan", "exscan", "contributions", ONE, ONE, exscan, 0, 0, 0},
    {"barrier", "barrier", "messages", 0, 0, barrier, 0, 0, 0},
};

MPI_Comm call_split(MPI_Comm comm, int first) {
  MPI_Comm own, between;
  int rank;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_split(comm, rank >= first, rank, &own);
  MPI_Intercomm_create(own, 0, comm, rank >= first ? 0 : first, 1, &between);
  MPI_Comm_free(&own);
  MPI_Comm_free(&comm);
  return between;
}

static int is_rooted(const struct collective* k) {
  return k->is_rooted || strcmp(k->name, "broadcast") == 0;
}

int call_describe(struct call* c, const char* name, int root) {
  const struct collective* k = collectives;
  const struct collective* const end = k + sizeof collectives / sizeof *collectives;
  while (k < end && strcmp(k->name, name) != 0) k++;
  if (k == end) return 0;
  c->collective = k;
  c->unit = k->unit;
  const int is_root = c->rank == root && !c->is_second;
  c->root = c->groups == 1 || c->is_second ? root : is_root ? MPI_ROOT : MPI_PROC_NULL;
  snprintf(c->ours, sizeof c->ours, "quadrille_%s", k->mpi);
  snprintf(c->native, sizeof c->native, "MPI_%s", k->mpi);
  c->native[4] = (char)(c->native[4] - 'a' + 'A');
  if (strstr(name, "reduce") || strstr(name, "scan")) {
    const long unit = (long)sizeof(int64_t);
    c->bytes = (c->bytes + unit - 1) / unit * unit;
  }
  /* Between groups, the root is in the first group, and all ranks of the second receive its data or send to it. */
  const int sends = k->root_sends ? is_root : !k->root_receives || c->groups == 1 || c->is_second;
  const int receives =
      k->root_receives ? is_root : !k->root_sends || c->groups == 1 || c->is_second;
  c->send_size = sends ? c->bytes * (k->sends == ONE_A_PEER ? c->peers : k->sends) : 0;
  c->receive_size = receives ? c->bytes * (k->receives == ONE_A_PEER ? c->peers : k->receives) : 0;
  /* Between groups, both vectors must be equally long. So a rank contributes ranks * peers blocks. */
  if (strcmp(name, "reduce-scatter") == 0) {
    c->send_size = c->bytes * c->ranks * (c->groups == 2 ? c->peers : 1);
    c->receive_size = c->bytes * (c->groups == 2 ? c->peers : 1);
  }
  if (c->in_place && (c->groups == 2 || is_rooted(k) || k->receives == 0)) return 0;
  if (c->in_place && c->send_size > c->receive_size) c->receive_size = c->send_size;
  return 1;
}

int call_has_root(const struct call* c) { return is_rooted(c->collective); }

int call_once(const struct call* c, quadrille_schedule schedule, int native) {
  struct call one = *c;
  if (c->in_place && c->collective->function == allgather)
    memcpy(c->receive + c->bytes * c->rank, c->send, (size_t)c->bytes);
  else if (c->in_place)
    memcpy(c->receive, c->send, (size_t)c->send_size);
  if (c->collective->function == reduce_scatter && c->groups == 2) one.bytes = c->bytes * c->peers;
  return c->collective->function(&one, schedule, native, c->in_place ? MPI_IN_PLACE : c->send);
}
