/* The file of one process of a traced run (QUADRILLE_TRACE). The runtime writes it, and `quadrille trace` reads it.
 *
 * Sections follow a header. Numbers have the byte order of the machine, and each section fills whole words of 8
 * bytes. A section refers to an earlier one by its place: its offset in the file, in bytes. Times are nanoseconds of
 * CLOCK_MONOTONIC on the process's node. Ranks are those of the private communicator. */
#pragma once

#include <stdint.h>

#define QD_TRACE_MAGIC 0x3165636172746471 /* "qdtrace1", in the machine's byte order */
#define QD_TRACE_SUFFIX ".qtrace"

struct qd_trace_header {
  uint64_t magic, length; /* length: of the whole file, in bytes */
  int32_t rank;           /* in MPI_COMM_WORLD */
  int32_t is_full;        /* the process made more calls, which did not fit */
};

enum qd_trace_kind { QD_TRACE_BINDING = 1, QD_TRACE_SETUP, QD_TRACE_PART };

struct qd_trace_section {
  uint64_t kind, length; /* kind: enum qd_trace_kind; length: including this head, in bytes */
};

/* A schedule on a communicator. The runs of nodes of equal size follow, as pairs (nodes, size): those of the
 * process's own group, then those of the other. */
struct qd_trace_binding {
  struct qd_trace_section section;
  uint64_t id;           /* equal at all ranks of the communicator, and at no others */
  int64_t request;       /* 0, or the number of a persistent call of the binding */
  int64_t bound;         /* the time when it was bound */
  int64_t offset, error; /* rank 0's clock minus this clock; the most by which that is wrong */
  int32_t ranks, remote; /* ranks of the own group and of the other one, or 0 */
  int32_t own, rank;     /* ranks of this process: in the communicator, and in the schedule */
  int32_t runs, remote_runs;
  char hash[16];
  char algorithm[64];
  char collective[32];
};

/* What the plans of calls depend on besides the schedule. The parameters follow, then the counts of the own group and
 * of the other group. */
struct qd_trace_setup {
  struct qd_trace_section section;
  uint64_t binding; /* the place of the binding's section */
  int64_t unit;     /* bytes of an element of a range, if all ranks know all counts */
  int64_t root;     /* the root's rank in its group of the schedule */
  int32_t group;    /* of this process in the schedule */
  int32_t in_place, whole, window, has_block_size;
  int32_t parameters, counts, remote_counts; /* how many follow; counts: 0 if ranks lack them */
};

/* The messages of a plan for a call or a part of one. The receives follow in the order of their posts, then sends. */
struct qd_trace_part {
  struct qd_trace_section section;
  uint64_t setup;       /* the place of the setup's section */
  int64_t call;         /* the number of the call on its binding, from 1 */
  int64_t block;        /* bytes of each block; -1: only the two ends know */
  int64_t begun, ended; /* ended: 0 unless the part is the last one of a call that ended */
  int32_t number;       /* of the part in its call */
  int32_t has_failed;   /* the call returned an error */
  int32_t receives, sends;
};

/* A send or receive. The rank packs or copies from `started` to `posted`, and waits from `waited` to `completed`. */
struct qd_trace_message {
  int64_t started;   /* the time of the executor's event before the post */
  int64_t posted;    /* MPI_Isend or MPI_Irecv returned */
  int64_t waited;    /* the executor began to wait for it */
  int64_t completed; /* MPI said that it is complete */
  int64_t bytes;     /* of its parts */
  int32_t peer, parts;
};
