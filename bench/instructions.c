/* instructions FILE.qs NODES RANK CALLS WINDOW: calls quadrille_alltoall, and the same transfers
 * written by hand, as one rank over an MPI that does nothing. Prints how many messages a call has.
 *
 * Run under callgrind, which collects inside counted_runtime and counted_by_hand
 * (bench/instructions.sh). First it makes sure that both post the same messages in the same order
 * with the same waits; exit 1 where they do not, 2 on bad input. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/hand_written.h"
#include "bench/stub_mpi.h"
#include "runtime/quadrille.h"

enum { BYTES = 8, MAX_NODES = 1 << 20 };

/* "1,2,3" or "512x32" into one size a node; returns how many, 0 where it is malformed. */
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
  check(quadrille_alltoall(schedule, job->send, job->bytes, MPI_BYTE, job->receive, job->bytes,
                           MPI_BYTE, job->comm));
}

static void __attribute__((noinline))
counted_runtime(quadrille_schedule schedule, const struct hand_written* job, int calls) {
  for (int i = 0; i < calls; i++) call_runtime(schedule, job);
}

static void __attribute__((noinline)) counted_by_hand(void (*by_hand)(const struct hand_written*),
                                                      const struct hand_written* job, int calls) {
  for (int i = 0; i < calls; i++) by_hand(job);
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
  job->bytes = BYTES;
  job->send = calloc((size_t)job->ranks, BYTES);
  job->receive = calloc((size_t)job->ranks, BYTES);
  job->requests = malloc(2 * (size_t)job->window * sizeof *job->requests);
}

int main(int count, char** words) {
  int* sizes = malloc(MAX_NODES * sizeof *sizes);
  int* base = malloc(MAX_NODES * sizeof *base);
  const int nodes = count == 6 && sizes && base ? parse_nodes(words[2], sizes) : 0;
  const int calls = nodes ? atoi(words[4]) : 0, rank = nodes ? atoi(words[3]) : -1;
  struct hand_written job = {.window = nodes ? atoi(words[5]) : 0};
  if (calls < 1 || job.window < 1) {
    fprintf(stderr, "usage: instructions FILE.qs NODES RANK CALLS WINDOW\n");
    return 2;
  }
  prepare(&job, sizes, base, nodes, rank);
  stub_be(rank, job.ranks);

  quadrille_schedule schedule;
  check(quadrille_load_file(words[1], &schedule));
  quadrille_schedule_info info = {.size = sizeof info};
  check(quadrille_info(schedule, &info));
  const quadrille_bind_options options = {sizeof options, QUADRILLE_LAYOUT_TRUSTED, job.window, 0};
  check(quadrille_bind(schedule, MPI_COMM_WORLD, &options));
  void (*by_hand)(const struct hand_written*) = strcmp(info.algorithm, "factor") == 0
                                                    ? hand_written_factor
                                                    : hand_written_hierarchical_factor;

  stub_start_record();
  call_runtime(schedule, &job);
  const struct stub_record ours = stub_end_record();
  stub_start_record();
  by_hand(&job);
  const struct stub_record other = stub_end_record();
  if (ours.messages != other.messages || ours.digest != other.digest) {
    fprintf(stderr, "instructions: rank %d: the runtime's %lld messages are not the %lld by hand\n",
            rank, (long long)ours.messages, (long long)other.messages);
    return 1;
  }
  printf("%lld\n", (long long)ours.messages);
  fflush(stdout);
  counted_runtime(schedule, &job, calls);
  counted_by_hand(by_hand, &job, calls);
  return 0;
}
