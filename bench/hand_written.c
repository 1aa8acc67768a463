/* Hand-written loops for some algorithms, with the runtime's window of steps in flight. bench/instructions compares
 * their messages with the runtime's before it counts anything. */
#include "bench/hand_written.h"

#include <string.h>

/* The steps in flight: a ring buffer of pairs of requests. */
struct ring {
  int next, in_flight;
};

static inline MPI_Request* take_off(const struct hand_written* job, struct ring* ring) {
  MPI_Request* pair = &job->requests[2 * ring->next];
  if (ring->in_flight == job->window)
    PMPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
  else
    ring->in_flight++;
  if (++ring->next == job->window) ring->next = 0;
  return pair;
}

/* Waits until at most that many steps are in flight. */
static void land(const struct hand_written* job, struct ring* ring, int most) {
  int oldest = ring->next - ring->in_flight;
  if (oldest < 0) oldest += job->window;
  for (; ring->in_flight > most; ring->in_flight--) {
    PMPI_Waitall(2, &job->requests[2 * oldest], MPI_STATUSES_IGNORE);
    if (++oldest == job->window) oldest = 0;
  }
}

static void land_all(const struct hand_written* job, struct ring* ring) { land(job, ring, 0); }

static inline void receive(const struct hand_written* job, int peer, MPI_Request* request) {
  PMPI_Irecv(job->receive + (size_t)peer * (size_t)job->bytes, job->bytes, MPI_BYTE, peer, 0,
             job->comm, request);
}

static inline void send(const struct hand_written* job, int peer, MPI_Request* request) {
  PMPI_Isend(job->send + (size_t)peer * (size_t)job->bytes, job->bytes, MPI_BYTE, peer, 0,
             job->comm, request);
}

static inline void exchange(const struct hand_written* job, struct ring* ring, int peer) {
  MPI_Request* pair = take_off(job, ring);
  receive(job, peer, &pair[0]);
  send(job, peer, &pair[1]);
}

static void copy_own(const struct hand_written* job) {
  const size_t offset = (size_t)job->rank * (size_t)job->bytes;
  memcpy(job->receive + offset, job->send + offset, (size_t)job->bytes);
}

void hand_written_factor(const struct hand_written* job) {
  struct ring ring = {0, 0};
  for (int round = 0; round < job->ranks; round++) {
    int peer = round - job->rank;
    if (peer < 0) peer += job->ranks;
    if (peer == job->rank)
      copy_own(job);
    else
      exchange(job, &ring, peer);
  }
  land_all(job, &ring);
}

/* This rank's part of the exchange within its node. */
static void inside(const struct hand_written* job, struct ring* ring, int done, int next) {
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

void hand_written_hierarchical_factor(const struct hand_written* job) {
  struct ring ring = {0, 0};
  const int a = job->node, l = job->rank - job->base[a];
  int first = 0; /* active node */
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
  land_all(job, &ring);
}

/* The position of one end in the ring: a rank's contribution, and its blocks from the last one down. */
struct cursor {
  int owner, left; /* left: the blocks of this owner that are still to come */
};

static inline void next_block(const struct hand_written* job, struct cursor* cursor, int blocks) {
  if (--cursor->left > 0) return;
  cursor->left = blocks;
  if (--cursor->owner < 0) cursor->owner = job->ranks - 1;
}

void hand_written_ring(const struct hand_written* job) {
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
    if (received.owner != job->rank) {
      const int low = (received.left - 1) * cut;
      const int bytes = job->bytes - low < cut ? job->bytes - low : cut;
      PMPI_Irecv(job->receive + (size_t)received.owner * (size_t)job->bytes + low, bytes, MPI_BYTE,
                 left, 0, job->comm, &pair[0]);
    }
    if (sent.owner != right) {
      const int low = (sent.left - 1) * cut;
      const int bytes = job->bytes - low < cut ? job->bytes - low : cut;
      PMPI_Isend(job->receive + (size_t)sent.owner * (size_t)job->bytes + low, bytes, MPI_BYTE,
                 right, 0, job->comm, &pair[1]);
    }
    next_block(job, &received, blocks);
    next_block(job, &sent, blocks);
  }
  land_all(job, &ring);
}
