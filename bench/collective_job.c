#include "bench/collective_job.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/distribution.h"

static const char* const names[OTHER] = {"alltoall",  "alltoallv",  "persistent",
                                         "allgather", "allgatherv", "reduce-scatterv"};

void fail(const char* text) {
  fprintf(stderr, "collective: %s\n", text);
  MPI_Abort(MPI_COMM_WORLD, 2);
  exit(2);
}

void* must(void* memory) {
  if (!memory) fail("out of memory");
  return memory;
}

/* Reads "8x16384,7x0,131072": eight ranks have 16384 bytes, and so on. A single number is for all ranks. */
static void read_counts(struct job* job, const char* text) {
  int known = 0;
  int* const all = must(calloc((size_t)job->ranks, sizeof(int)));
  for (int only = 1;; only = 0) {
    char* end;
    long bytes = strtol(text, &end, 10), times = only && *end == '\0' ? job->ranks : 1;
    if (end > text && *end == 'x') {
      times = bytes;
      text = end + 1;
      bytes = strtol(text, &end, 10);
    }
    if (end == text || bytes < 0 || bytes > 1L << 30) fail("a count is no number of bytes");
    if (times < 0 || times > job->ranks - known) fail("there are more counts than ranks");
    while (times-- > 0) all[known++] = (int)bytes;
    if (*end == '\0') break;
    if (*end != ',') fail("counts are given as RANKSxBYTES,BYTES,...");
    text = end + 1;
  }
  if (known != job->ranks) fail("there are fewer counts than ranks");
  for (int r = 0; r < job->ranks; r++)
    if (job->collective < ALLGATHERV && all[r] != all[r < job->first_group ? 0 : job->first_group])
      fail("counts that differ are for allgatherv and reduce-scatterv alone");
  job->own = all[job->rank];
  job->counts = all + job->first_peer;
  job->displacements = must(malloc((size_t)job->peers * sizeof(int)));
  for (int r = 0; r < job->peers; r++) {
    job->displacements[r] = (int)job->received;
    job->received += (size_t)job->counts[r];
    if (job->received > 0x7fffffff) fail("more than 2 GiB in all");
  }
}

/* Finds the peers: the ranks of the only group, or of the other group. */
static void find_peers(struct job* job) {
  const int is_second = job->first_group > 0 && job->rank >= job->first_group;
  if (job->first_group >= job->ranks) fail("--first-group leaves no ranks for the second group");
  job->first_peer = is_second ? 0 : job->first_group;
  job->peers = is_second ? job->first_group : job->ranks - job->first_group;
  job->call = (struct call){.groups = job->first_group > 0 ? 2 : 1,
                            .rank = job->rank - (is_second ? job->first_group : 0),
                            .ranks = job->first_group > 0 ? job->ranks - job->peers : job->ranks,
                            .peers = job->peers,
                            .is_second = is_second};
}

/* Reads the call of a collective of tools/run. */
static void read_other(struct job* job, const char* name, const char* bytes) {
  char* end;
  job->call.bytes = strtol(bytes, &end, 10);
  if (end == bytes || *end != '\0' || job->call.bytes < 0 || job->call.bytes > 1L << 30)
    fail("a count is no number of bytes");
  /* SimGrid's MPI_ROOT is 0, so rank 0 cannot be the root between groups. */
  const int root = MPI_ROOT == 0 && job->first_group > 0;
  if (!call_describe(&job->call, name, root)) fail(usage);
  job->sent = (size_t)job->call.send_size;
  job->received = (size_t)job->call.receive_size;
}

/* Sets the counts of an alltoallv, whose blocks differ from pair to pair. */
static void read_sizes(struct job* job, const char* text) {
  struct distribution d;
  if (!distribution_read(text, &d))
    fail(
        "sizes are given as uniform:MOST, normal:MEAN:DEVIATION or power:EXPONENT:MOST; a power "
        "law has an exponent other than 1 and a largest size of 1 or more");
  int* all = must(malloc(4 * (size_t)job->ranks * sizeof(int)));
  job->counts = all;
  job->displacements = all + job->ranks;
  job->send_counts = all + 2 * job->ranks;
  job->send_displacements = all + 3 * job->ranks;
  for (int r = 0; r < job->ranks; r++) {
    job->counts[r] = (int)distribution_length(&d, r, job->rank, 1);
    job->send_counts[r] = (int)distribution_length(&d, job->rank, r, 1);
    job->displacements[r] = (int)job->received;
    job->send_displacements[r] = (int)job->sent;
    job->received += (size_t)job->counts[r];
    job->sent += (size_t)job->send_counts[r];
    if (job->received > 0x7fffffff || job->sent > 0x7fffffff) fail("more than 2 GiB in all");
  }
}

void read_job(struct job* job, const char* collective, const char* counts) {
  while (job->collective < OTHER && strcmp(collective, names[job->collective]) != 0)
    job->collective++;
  if (job->first_group > 0 && job->collective == ALLTOALL) job->collective = OTHER;
  find_peers(job);
  if (job->collective == OTHER)
    read_other(job, collective, counts);
  else if (job->first_group > 0 &&
           (job->collective < ALLGATHER || job->collective == REDUCE_SCATTERV))
    fail("alltoallv and reduce-scatterv between groups are not measured");
  else if (job->collective == ALLTOALLV || job->collective == PERSISTENT)
    read_sizes(job, counts);
  else
    read_counts(job, counts);
  if (job->collective == REDUCE_SCATTERV) {
    job->sent = job->received;
    job->received = (size_t)job->own;
    for (int r = 0; r < job->ranks; r++) job->counts[r] /= (int)sizeof(int64_t);
  }
}

/* ---- Buffers, and calls of the library's own */

enum { POISON = 0xee };

/* Two functions, since SimGrid may let all ranks share the memory of one malloc, whose contents it ignores. */
static char* buffer_to_send(size_t size) { return malloc(size + 1); }
static char* buffer_to_receive(size_t size) { return malloc(size + 1); }

/* Fills a block with the bytes that a rank sends to another. In an allgather, all targets get those of target 0. */
static void fill(char* block, int bytes, int source, int target) {
  unsigned x = (unsigned)source * 2654435761u + (unsigned)target * 40503u + 1;
  for (int i = 0; i < bytes; i++) {
    x = x * 1664525u + 1013904223u;
    block[i] = (char)(x >> 24);
  }
}

void make_buffers(struct job* job) {
  const int all = job->collective <= PERSISTENT; /* all-to-all */
  const int own = job->own;
  if (!job->send_counts && job->collective < REDUCE_SCATTERV)
    job->sent = (size_t)own * (size_t)(all ? job->ranks : 1);
  job->send = must(buffer_to_send(job->sent));
  job->receive = must(buffer_to_receive(job->received));
  if (!job->checked) return;
  job->expected = must(malloc(job->received + 1));
  if (job->collective >= REDUCE_SCATTERV) return fill(job->send, (int)job->sent, job->rank, 0);
  for (int r = 0; r < (all ? job->ranks : 1); r++) {
    const size_t place =
        job->send_counts ? (size_t)job->send_displacements[r] : (size_t)r * (size_t)own;
    fill(job->send + place, job->send_counts ? job->send_counts[r] : own, job->rank, r);
  }
  for (int r = 0; r < job->peers; r++)
    fill(job->expected + job->displacements[r], job->counts[r], job->first_peer + r,
         all ? job->rank : 0);
}

/* Calls MPI's function or ours. Both have the same arguments between the schedule and the communicator. */
#define CALL(Mpi, ours, ...) \
  (native ? MPI_##Mpi(__VA_ARGS__, comm) : quadrille_##ours(schedule, __VA_ARGS__, comm))

int call_job(const struct job* job, quadrille_schedule schedule, MPI_Comm comm, int native) {
  const int own = job->own;
  struct call call = job->call;
  call.comm = comm;
  call.send = (unsigned char*)job->send;
  call.receive = (unsigned char*)job->receive;
  switch (job->collective) {
    case OTHER: return call_once(&call, schedule, native);
    case REDUCE_SCATTERV:
      return CALL(Reduce_scatter, reduce_scatter, job->send, job->receive, job->counts, MPI_INT64_T,
                  MPI_SUM);
    case ALLTOALLV:
    case PERSISTENT:
      return CALL(Alltoallv, alltoallv, job->send, job->send_counts, job->send_displacements,
                  MPI_BYTE, job->receive, job->counts, job->displacements, MPI_BYTE);
    case ALLTOALL:
      return CALL(Alltoall, alltoall, job->send, own, MPI_BYTE, job->receive, own, MPI_BYTE);
    case ALLGATHER:
      return CALL(Allgather, allgather, job->send, own, MPI_BYTE, job->receive, job->counts[0],
                  MPI_BYTE);
    default:
      return CALL(Allgatherv, allgatherv, job->send, own, MPI_BYTE, job->receive, job->counts,
                  job->displacements, MPI_BYTE);
  }
}

int call_native(const struct job* job, MPI_Comm comm) {
  return call_job(job, QUADRILLE_SCHEDULE_NULL, comm, 1);
}

void spoil_received(const struct job* job) {
  if (!job->checked) return;
  if (job->collective >= REDUCE_SCATTERV)
    fill(job->receive, (int)job->received, job->rank, 0); /* the root of a broadcast sends this */
  else
    memset(job->receive, POISON, job->received);
}

void expect_native(struct job* job, MPI_Comm comm) {
  if (job->collective < REDUCE_SCATTERV || !job->checked) return;
  spoil_received(job);
  if (call_native(job, comm) != MPI_SUCCESS) fail("the library's collective failed");
  memcpy(job->expected, job->receive, job->received);
}

int is_received(const struct job* job) {
  return !job->checked || memcmp(job->receive, job->expected, job->received) == 0;
}
