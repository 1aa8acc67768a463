/* instructions FILE.qs NODE_SIZES RANK CALLS WINDOW: makes the calls of one rank over an MPI that does nothing. It
 * calls quadrille_alltoall with blocks of 8 bytes, or quadrille_allgather with contributions of 512 bytes. For some
 * algorithms it then makes the same transfers by a hand-written loop. It prints the number of messages of a call, or
 * of pieces if the algorithm forwards blocks, and the algorithm.
 *
 * It runs under callgrind, which collects inside counted_runtime, counted_with_counts (quadrille_alltoallv),
 * counted_persistent and counted_by_hand. First the program checks that the hand-written loop posts the same messages
 * in the same order. Exit code 1: it does not; 2: bad input. Schedules that cut data get blocks of 8 bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/stub_mpi.h"
#include "runtime/quadrille.h"

enum { BLOCK_BYTES = 8, CONTRIBUTED_BYTES = 512, MAX_NODES = 1 << 20 };

/* A call, this rank, and memory for the requests. */
struct job {
  quadrille_schedule schedule;
  int nodes, ranks, rank, node; /* node: that of this rank */
  const int *size, *base;       /* of each node: the number of its ranks, and its first rank */
  int window;
  MPI_Request* requests; /* two for each step in flight */
  MPI_Comm comm;
  const char* send;
  char* receive;
  int gathers;          /* 1: an allgather; 0: an all-to-all */
  int bytes;            /* of a block of the all-to-all, or of a rank's contribution */
  int block_bytes;      /* contributions are cut into blocks of this size; 0: they stay whole */
  int *counts, *begins; /* the lengths of all blocks, which are equal, and where they begin */
};

/* ---- Collectives written by hand, each for one algorithm, with the runtime's window of steps in flight. */

/* The steps in flight, whose pairs of requests are in a ring buffer. */
struct ring {
  int next, in_flight;
};

static inline MPI_Request* take_off(const struct job* job, struct ring* ring) {
  MPI_Request* pair = &job->requests[2 * ring->next];
  if (ring->in_flight == job->window)
    PMPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
  else
    ring->in_flight++;
  if (++ring->next == job->window) ring->next = 0;
  return pair;
}

/* Waits until at most `most` steps are in flight. */
static void land(const struct job* job, struct ring* ring, int most) {
  int oldest = ring->next - ring->in_flight;
  if (oldest < 0) oldest += job->window;
  for (; ring->in_flight > most; ring->in_flight--) {
    PMPI_Waitall(2, &job->requests[2 * oldest], MPI_STATUSES_IGNORE);
    if (++oldest == job->window) oldest = 0;
  }
}

static inline void receive(const struct job* job, int peer, MPI_Request* request) {
  PMPI_Irecv(job->receive + (size_t)peer * (size_t)job->bytes, job->bytes, MPI_BYTE, peer, 0,
             job->comm, request);
}

static inline void send(const struct job* job, int peer, MPI_Request* request) {
  PMPI_Isend(job->send + (size_t)peer * (size_t)job->bytes, job->bytes, MPI_BYTE, peer, 0,
             job->comm, request);
}

static inline void exchange(const struct job* job, struct ring* ring, int peer) {
  MPI_Request* pair = take_off(job, ring);
  receive(job, peer, &pair[0]);
  send(job, peer, &pair[1]);
}

static void copy_own(const struct job* job) {
  const size_t offset = (size_t)job->rank * (size_t)job->bytes;
  memcpy(job->receive + offset, job->send + offset, (size_t)job->bytes);
}

/* Sanders and Traeff, section 2: in round i, rank u exchanges with (i - u) mod p. */
static void by_hand_factor(const struct job* job) {
  struct ring ring = {0, 0};
  for (int round = 0; round < job->ranks; round++) {
    int peer = round - job->rank;
    if (peer < 0) peer += job->ranks;
    if (peer == job->rank)
      copy_own(job);
    else
      exchange(job, &ring, peer);
  }
  land(job, &ring, 0);
}

/* Makes the exchange inside this rank's node, in which local ranks `done` to `next` - 1 send to all. */
static void inside(const struct job* job, struct ring* ring, int done, int next) {
  const int first = job->base[job->node], size = job->size[job->node];
  for (int u = done; u < next; u++) {
    if (first + u != job->rank) {
      MPI_Request* pair = take_off(job, ring);
      receive(job, first + u, &pair[0]);
      pair[1] = MPI_REQUEST_NULL;
      continue;
    }
    for (int v = 0; v < size; v++) {
      if (v == u) {
        copy_own(job);
        continue;
      }
      MPI_Request* pair = take_off(job, ring);
      send(job, first + v, &pair[0]);
      pair[1] = MPI_REQUEST_NULL;
    }
  }
}

/* Sanders and Traeff, section 3: nodes of any sizes, in ascending order. */
static void by_hand_hierarchical_factor(const struct job* job) {
  struct ring ring = {0, 0};
  const int a = job->node, l = job->rank - job->base[a];
  int first = 0; /* the first active node */
  for (int done = 0; done < job->size[a];) {
    const int next = job->size[first], active = job->nodes - first;
    int b = active - (a - first); /* this node's partner, counted from `first` */
    if (b == active) b = 0;
    for (int round = 0; round < active; round++) {
      const int partner = first + b;
      if (++b == active) b = 0;
      if (partner == a) {
        inside(job, &ring, done, next);
      } else if (a < partner) {
        if (done <= l && l < next)
          for (int v = 0; v < job->size[partner]; v++) exchange(job, &ring, job->base[partner] + v);
      } else {
        for (int u = done; u < next; u++) exchange(job, &ring, job->base[partner] + u);
      }
    }
    done = next;
    while (first < job->nodes && job->size[first] <= done) first++;
  }
  land(job, &ring, 0);
}

/* The next block to send or to receive in the ring. The blocks of a contribution travel from the last one down. */
struct cursor {
  int owner, left; /* whose contribution it is, and how many blocks of it are still to come */
};

static inline void next_block(const struct job* job, struct cursor* cursor, int blocks) {
  if (--cursor->left > 0) return;
  cursor->left = blocks;
  if (--cursor->owner < 0) cursor->owner = job->ranks - 1;
}

static inline char* block_of(const struct job* job, const struct cursor* cursor, int cut) {
  return job->receive + (size_t)cursor->owner * (size_t)job->bytes + (cursor->left - 1) * cut;
}

static inline int bytes_of(const struct job* job, const struct cursor* cursor, int cut) {
  const int rest = job->bytes - (cursor->left - 1) * cut;
  return rest < cut ? rest : cut;
}

/* Traeff et al.: cuts contributions into blocks, which travel round the ring of ranks. */
static void by_hand_ring(const struct job* job) {
  const int cut = job->block_bytes ? job->block_bytes : job->bytes;
  const int blocks = (job->bytes + cut - 1) / cut;
  const int right = job->rank + 1 < job->ranks ? job->rank + 1 : 0;
  const int left = job->rank > 0 ? job->rank - 1 : job->ranks - 1;
  struct ring ring = {0, 0};
  struct cursor sent = {job->rank, blocks}, received = {left, blocks};
  memcpy(job->receive + (size_t)job->rank * (size_t)job->bytes, job->send, (size_t)job->bytes);
  for (int rounds = job->ranks * blocks - 1; rounds > 0; rounds--) {
    land(job, &ring, blocks - 1); /* the block to send arrived that many rounds ago */
    MPI_Request* pair = take_off(job, &ring);
    pair[0] = pair[1] = MPI_REQUEST_NULL;
    if (received.owner != job->rank)
      PMPI_Irecv(block_of(job, &received, cut), bytes_of(job, &received, cut), MPI_BYTE, left, 0,
                 job->comm, &pair[0]);
    if (sent.owner != right)
      PMPI_Isend(block_of(job, &sent, cut), bytes_of(job, &sent, cut), MPI_BYTE, right, 0,
                 job->comm, &pair[1]);
    next_block(job, &received, blocks);
    next_block(job, &sent, blocks);
  }
  land(job, &ring, 0);
}

/* Returns the hand-written loop of the algorithm, or NULL. */
static void (*find_by_hand(const char* algorithm))(const struct job*) {
  if (strcmp(algorithm, "factor") == 0) return by_hand_factor;
  if (strcmp(algorithm, "hierarchical-factor") == 0) return by_hand_hierarchical_factor;
  const int is_ring =
      strcmp(algorithm, "linear-ring") == 0 || strcmp(algorithm, "blocked-ring") == 0;
  return is_ring ? by_hand_ring : NULL;
}

/* ---- The runtime's calls. */

static void check(int code) {
  if (code == MPI_SUCCESS) return;
  char text[256];
  quadrille_last_error(text, sizeof text);
  fprintf(stderr, "instructions: %s\n", text);
  exit(2);
}

static void call_runtime(const struct job* job) {
  check((job->gathers ? quadrille_allgather : quadrille_alltoall)(
      job->schedule, job->send, job->bytes, MPI_BYTE, job->receive, job->bytes, MPI_BYTE,
      job->comm));
}

/* Calls quadrille_alltoallv, so the library does not know that the counts are equal. */
static void call_with_counts(const struct job* job) {
  check(quadrille_alltoallv(job->schedule, job->send, job->counts, job->begins, MPI_BYTE,
                            job->receive, job->counts, job->begins, MPI_BYTE, job->comm));
}

static void call_persistent(quadrille_request request) {
  check(quadrille_start(request));
  check(quadrille_wait(request));
}

static void __attribute__((noinline)) counted_runtime(const struct job* job, int calls) {
  for (int i = 0; i < calls; i++) call_runtime(job);
}

static void __attribute__((noinline))
counted_by_hand(void (*by_hand)(const struct job*), const struct job* job, int calls) {
  for (int i = 0; i < calls; i++) by_hand(job);
}

static void __attribute__((noinline)) counted_with_counts(const struct job* job, int calls) {
  for (int i = 0; i < calls; i++) call_with_counts(job);
}

static void __attribute__((noinline)) counted_persistent(quadrille_request request, int calls) {
  for (int i = 0; i < calls; i++) call_persistent(request);
}

static void print_count(int64_t count, const char* algorithm) {
  printf("%lld %s\n", (long long)count, algorithm);
  fflush(stdout);
}

/* Checks that the runtime and the loop send the same messages in the same order. Then makes the calls. */
static void count_messages(const struct job* job, int calls, const char* algorithm) {
  void (*const by_hand)(const struct job*) = find_by_hand(algorithm);
  stub_start_record();
  call_runtime(job);
  const struct stub_record ours = stub_end_record();
  stub_start_record();
  if (by_hand) by_hand(job);
  const struct stub_record other = stub_end_record();
  if (by_hand && (ours.messages != other.messages || ours.digest != other.digest)) {
    fprintf(stderr, "instructions: rank %d: the runtime's %lld messages are not the %lld by hand\n",
            job->rank, (long long)ours.messages, (long long)other.messages);
    exit(1);
  }
  print_count(ours.messages, algorithm);
  counted_runtime(job, calls);
  if (by_hand) counted_by_hand(by_hand, job, calls);
}

/* Makes the calls of an algorithm that forwards blocks. A persistent call, which sends only blocks, counts pieces. */
static void count_pieces(const struct job* job, int calls, const char* algorithm) {
  quadrille_request request;
  check(quadrille_alltoallv_init(job->schedule, job->send, job->counts, job->begins, MPI_BYTE,
                                 job->receive, job->counts, job->begins, MPI_BYTE, job->comm,
                                 MPI_INFO_NULL, &request));
  stub_start_record();
  call_persistent(request);
  print_count(stub_end_record().bytes / job->bytes, algorithm);
  call_runtime(job);
  counted_runtime(job, calls);
  counted_persistent(request, calls);
}

static int ascending(const void* left, const void* right) {
  return *(const int*)left - *(const int*)right;
}

/* Reads one size for each node, such as "1,2,3". Returns the number of nodes, or 0 if a size is malformed. */
static int read_sizes(char* text, int* sizes) {
  int count = 0;
  for (const char* word = strtok(text, ","); word; word = strtok(NULL, ",")) {
    if (count == MAX_NODES || (sizes[count++] = atoi(word)) < 1) return 0;
  }
  qsort(sizes, (size_t)count, sizeof *sizes, ascending);
  return count;
}

static void prepare(struct job* job, const int* sizes, int* base) {
  for (int i = 0; i < job->nodes; i++) {
    base[i] = job->ranks;
    job->ranks += sizes[i];
    if (base[i] <= job->rank) job->node = i;
  }
  const size_t ranks = (size_t)job->ranks;
  job->size = sizes;
  job->base = base;
  job->comm = MPI_COMM_WORLD;
  job->bytes = job->gathers ? CONTRIBUTED_BYTES : BLOCK_BYTES;
  job->send = calloc(ranks, (size_t)job->bytes);
  job->receive = calloc(ranks, (size_t)job->bytes);
  job->requests = malloc(2 * (size_t)job->window * sizeof *job->requests);
  job->counts = malloc(2 * ranks * sizeof *job->counts);
  if (!job->send || !job->receive || !job->requests || !job->counts) exit(2);
  job->begins = job->counts + ranks;
  for (int r = 0; r < job->ranks; r++) {
    job->counts[r] = job->bytes;
    job->begins[r] = r * job->bytes;
  }
}

int main(int count, char** words) {
  static int sizes[MAX_NODES], base[MAX_NODES];
  struct job job = {.nodes = count == 6 ? read_sizes(words[2], sizes) : 0};
  const int calls = job.nodes ? atoi(words[4]) : 0;
  if (calls < 1 || (job.window = atoi(words[5])) < 1) {
    fprintf(stderr, "usage: instructions FILE.qs NODE_SIZES RANK CALLS WINDOW\n");
    return 2;
  }
  job.rank = atoi(words[3]);
  check(quadrille_load_file(words[1], &job.schedule));
  quadrille_schedule_info info = {.size = sizeof info};
  check(quadrille_info(job.schedule, &info));
  job.gathers = strcmp(info.collective, "allgather") == 0;
  job.block_bytes = strncmp(info.algorithm, "blocked-ring", 12) == 0 ? BLOCK_BYTES : 0;
  prepare(&job, sizes, base);
  stub_be(job.rank, job.ranks);
  const quadrille_bind_options options = {sizeof options, QUADRILLE_LAYOUT_TRUSTED, job.window, 0,
                                          job.block_bytes};
  check(quadrille_bind(job.schedule, MPI_COMM_WORLD, &options));
  (strcmp(info.algorithm, "tuna") == 0 ? count_pieces : count_messages)(&job, calls,
                                                                        info.algorithm);
  if (!job.gathers) {
    call_with_counts(&job); /* not counted; the runtime keeps this call, and the others repeat it */
    counted_with_counts(&job, calls);
  }
  free((void*)job.send);
  free(job.receive);
  free(job.requests);
  free(job.counts);
  return 0;
}
