/* Plain loops, with the same window of steps in flight as the runtime's. Right because
 * bench/instructions compares their messages with the runtime's before it counts anything. */
#include "bench/hand_written.h"

#include <string.h>

/* Steps in flight: a ring of pairs of requests. */
struct ring {
  int next, in_flight;
};

static inline MPI_Request* take_off(const struct hand_written* job, struct ring* ring) {
  MPI_Request* pair = &job->requests[2 * ring->next];
  if (ring->in_flight == job->window)
    MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
  else
    ring->in_flight++;
  if (++ring->next == job->window) ring->next = 0;
  return pair;
}

static void land_all(const struct hand_written* job, struct ring* ring) {
  int oldest = ring->next - ring->in_flight;
  if (oldest < 0) oldest += job->window;
  for (; ring->in_flight > 0; ring->in_flight--) {
    MPI_Waitall(2, &job->requests[2 * oldest], MPI_STATUSES_IGNORE);
    if (++oldest == job->window) oldest = 0;
  }
}

static inline void receive(const struct hand_written* job, int peer, MPI_Request* request) {
  MPI_Irecv(job->receive + (size_t)peer * (size_t)job->bytes, job->bytes, MPI_BYTE, peer, 0,
            job->comm, request);
}

static inline void send(const struct hand_written* job, int peer, MPI_Request* request) {
  MPI_Isend(job->send + (size_t)peer * (size_t)job->bytes, job->bytes, MPI_BYTE, peer, 0, job->comm,
            request);
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

/* This rank's part of its node's sends to itself. */
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
