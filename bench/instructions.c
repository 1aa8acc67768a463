/* instructions FILE.qs NODES RANK CALLS WINDOW: makes the calls of one rank over an MPI that does nothing. It calls
 * quadrille_alltoall with blocks of 8 bytes, or quadrille_allgather with contributions of 512. For some algorithms it
 * then makes the same transfers by a hand-written loop. It prints the number of messages of a call and the algorithm; if the
 * algorithm forwards blocks, it counts the pieces of messages instead.
 *
 * Run it under callgrind, which collects inside counted_runtime, counted_with_counts (quadrille_alltoallv),
 * counted_persistent and counted_by_hand. First the program checks that the hand-written loop posts the same messages in
 * the same order. Exit code 1: it does not; 2: bad input. A schedule with a block size gets one of 8 bytes, so a rank has
 * 64 blocks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/hand_written.h"
#include "bench/stub_mpi.h"
#include "runtime/quadrille.h"

enum { BLOCK_BYTES = 8, CONTRIBUTED_BYTES = 512, MAX_NODES = 1 << 20 };

/* Reads "1,2,3" or "512x32" into one size per node. Returns the number of nodes, or 0 if the text is malformed. */
static int parse_nodes(const char* text, int* sizes) {
  int count = 0;
  for (;;) {
    char* end;
    long nodes = 1, size = strtol(text, &end, 10);
    if (*end == 'x') {
      nodes = size;
      size = strtol(end + 1, &end, 10);
    }
    if (end == text || size < 1 || size > MAX_NODES || nodes < 1 || nodes > MAX_NODES - count)
      return 0;
    for (long i = 0; i < nodes; i++) sizes[count++] = (int)size;
    if (*end == '\0') return count;
    if (*end != ',') return 0;
    text = end + 1;
  }
}

static int ascending(const void* left, const void* right) {
  return *(const int*)left - *(const int*)right;
}

static void check(int code) {
  if (code == MPI_SUCCESS) return;
  char text[256];
  quadrille_last_error(text, sizeof text);
  fprintf(stderr, "instructions: %s\n", text);
  exit(2);
}

static void call_runtime(quadrille_schedule schedule, const struct hand_written* job) {
  check((job->gathers ? quadrille_allgather : quadrille_alltoall)(
      schedule, job->send, job->bytes, MPI_BYTE, job->receive, job->bytes, MPI_BYTE, job->comm));
}

/* The hand-written loop of the algorithm, or NULL. */
static void (*find_by_hand(const char* algorithm))(const struct hand_written*) {
  static const struct {
    const char* algorithm;
    void (*by_hand)(const struct hand_written*);
  } all[] = {{"factor", hand_written_factor},
             {"hierarchical-factor", hand_written_hierarchical_factor},
             {"linear-ring", hand_written_ring},
             {"blocked-ring", hand_written_ring}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (strcmp(algorithm, all[i].algorithm) == 0) return all[i].by_hand;
  return NULL;
}

/* Whether both post the same messages in the same order. */
static void compare(quadrille_schedule schedule, const struct hand_written* job,
                    void (*by_hand)(const struct hand_written*), const char* algorithm) {
  stub_start_record();
  call_runtime(schedule, job);
  const struct stub_record ours = stub_end_record();
  stub_start_record();
  if (by_hand) by_hand(job);
  const struct stub_record other = stub_end_record();
  if (by_hand && (ours.messages != other.messages || ours.digest != other.digest)) {
    fprintf(stderr, "instructions: rank %d: the runtime's %lld messages are not the %lld by hand\n",
            job->rank, (long long)ours.messages, (long long)other.messages);
    exit(1);
  }
  printf("%lld %s\n", (long long)ours.messages, algorithm);
  fflush(stdout);
}

static void __attribute__((noinline))
counted_runtime(quadrille_schedule schedule, const struct hand_written* job, int calls) {
  for (int i = 0; i < calls; i++) call_runtime(schedule, job);
}

static void __attribute__((noinline)) counted_by_hand(void (*by_hand)(const struct hand_written*),
                                                      const struct hand_written* job, int calls) {
  for (int i = 0; i < calls; i++) by_hand(job);
}

/* The lengths of all blocks, which are equal, and then their displacements. */
static int* make_counts(const struct hand_written* job) {
  int* counts = malloc(2 * (size_t)job->ranks * sizeof *counts);
  if (!counts) exit(2);
  for (int r = 0; r < job->ranks; r++) {
    counts[r] = job->bytes;
    counts[job->ranks + r] = r * job->bytes;
  }
  return counts;
}

/* The library is not told that the counts are equal. */
static void __attribute__((noinline))
counted_with_counts(quadrille_schedule schedule, const struct hand_written* job, const int* counts,
                    int calls) {
  const int* begins = counts + job->ranks;
  for (int i = 0; i < calls; i++)
    check(quadrille_alltoallv(schedule, job->send, counts, begins, MPI_BYTE, job->receive, counts,
                              begins, MPI_BYTE, job->comm));
}

/* The first call is not counted: it is kept, and others repeat it. */
static void call_with_counts(quadrille_schedule schedule, const struct hand_written* job,
                             int calls) {
  int* counts = make_counts(job);
  check(quadrille_alltoallv(schedule, job->send, counts, counts + job->ranks, MPI_BYTE,
                            job->receive, counts, counts + job->ranks, MPI_BYTE, job->comm));
  counted_with_counts(schedule, job, counts, calls);
  free(counts);
}

/* Equal blocks by a persistent call. */
static quadrille_request make_persistent(quadrille_schedule schedule,
                                         const struct hand_written* job) {
  quadrille_request request;
  int* counts = make_counts(job);
  check(quadrille_alltoallv_init(schedule, job->send, counts, counts + job->ranks, MPI_BYTE,
                                 job->receive, counts, counts + job->ranks, MPI_BYTE, job->comm,
                                 MPI_INFO_NULL, &request));
  free(counts);
  return request;
}

static void call_persistent(quadrille_request request) {
  check(quadrille_start(request));
  check(quadrille_wait(request));
}

static void __attribute__((noinline)) counted_persistent(quadrille_request request, int calls) {
  for (int i = 0; i < calls; i++) call_persistent(request);
}

/* The same for an algorithm that forwards blocks. A persistent call sends nothing else. */
static void count_pieces(quadrille_schedule schedule, const struct hand_written* job, int calls,
                         const char* algorithm) {
  const quadrille_request request = make_persistent(schedule, job);
  stub_start_record();
  call_persistent(request);
  printf("%lld %s\n", (long long)(stub_end_record().bytes / job->bytes), algorithm);
  fflush(stdout);
  call_runtime(schedule, job);
  counted_runtime(schedule, job, calls);
  counted_persistent(request, calls);
  call_with_counts(schedule, job, calls);
}

static void prepare(struct hand_written* job, int* sizes, int* base, int nodes, int rank) {
  qsort(sizes, (size_t)nodes, sizeof *sizes, ascending);
  for (int i = 0; i < nodes; i++) {
    base[i] = job->ranks;
    job->ranks += sizes[i];
    if (base[i] <= rank) job->node = i;
  }
  job->nodes = nodes;
  job->rank = rank;
  job->size = sizes;
  job->base = base;
  job->comm = MPI_COMM_WORLD;
  job->bytes = job->gathers ? CONTRIBUTED_BYTES : BLOCK_BYTES;
  job->send = calloc((size_t)job->ranks, (size_t)job->bytes);
  job->receive = calloc((size_t)job->ranks, (size_t)job->bytes);
  job->requests = malloc(2 * (size_t)job->window * sizeof *job->requests);
}

static void measure(quadrille_schedule schedule, const struct hand_written* job, int calls,
                    const char* algorithm) {
  if (strcmp(algorithm, "tuna") == 0) return count_pieces(schedule, job, calls, algorithm);
  void (*by_hand)(const struct hand_written*) = find_by_hand(algorithm);
  compare(schedule, job, by_hand, algorithm);
  counted_runtime(schedule, job, calls);
  if (by_hand) counted_by_hand(by_hand, job, calls);
  if (!job->gathers) call_with_counts(schedule, job, calls);
}

int main(int count, char** words) {
  static int sizes[MAX_NODES], base[MAX_NODES];
  const int nodes = count == 6 ? parse_nodes(words[2], sizes) : 0;
  const int calls = nodes ? atoi(words[4]) : 0, rank = nodes ? atoi(words[3]) : -1;
  struct hand_written job = {.window = nodes ? atoi(words[5]) : 0};
  if (calls < 1 || job.window < 1) {
    fprintf(stderr, "usage: instructions FILE.qs NODES RANK CALLS WINDOW\n");
    return 2;
  }
  quadrille_schedule schedule;
  check(quadrille_load_file(words[1], &schedule));
  quadrille_schedule_info info = {.size = sizeof info};
  check(quadrille_info(schedule, &info));
  job.gathers = strcmp(info.collective, "allgather") == 0;
  job.block_bytes = strncmp(info.algorithm, "blocked-ring", 12) == 0 ? BLOCK_BYTES : 0;
  prepare(&job, sizes, base, nodes, rank);
  stub_be(rank, job.ranks);
  const quadrille_bind_options options = {sizeof options, QUADRILLE_LAYOUT_TRUSTED, job.window, 0,
                                          job.block_bytes};
  check(quadrille_bind(schedule, MPI_COMM_WORLD, &options));
  measure(schedule, &job, calls, info.algorithm);
  free((void*)job.send);
  free(job.receive);
  free(job.requests);
  return 0;
}
