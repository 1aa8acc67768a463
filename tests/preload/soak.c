/* soak CALLS SEED LONGEST: a plain MPI program with random collectives, counts, datatypes and operators, on
 * communicators that come and go. It checks every byte that a call receives, and the bytes beside them. In half of
 * the calls, arguments that are not significant at a rank are junk. Some calls are repeated, up to LONGEST times. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/execute/significance.h"

enum { COMMS = 6, MOST = 16, DERIVED = 4, TYPES, FAR = 64, MOST_COUNT = 2000, WIDEST = 24 };
enum { ROOM = (2 * FAR + MOST * (MOST_COUNT + 1) * WIDEST) / 4 * 4 };

static uint64_t state;
static int world, ranks;

/* Returns a number that is equal on all ranks. */
static int draw(int choices) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return (int)((state >> 33) % (uint64_t)choices);
}

/* ---- Datatypes of two ints each; the last one has one int */

static struct type {
  MPI_Datatype handle;
  int extent, count, at[2]; /* in bytes, except the count */
} types[TYPES + 1];

static void make_types(void) {
  const struct type made[] = {{.extent = 8, .count = 2, .at = {0, 4}},
                              {.extent = 16, .count = 2, .at = {0, 12}},
                              {.extent = 20, .count = 2, .at = {0, 4}},
                              {.extent = 24, .count = 2, .at = {8, 0}}};
  MPI_Datatype two;
  for (int i = 0; i < DERIVED; i++) {
    types[i] = made[i];
    MPI_Type_create_hindexed(2, (int[]){1, 1}, (MPI_Aint[]){made[i].at[0], made[i].at[1]}, MPI_INT,
                             &two);
    MPI_Type_create_resized(two, i == 3 ? -4 : 0, made[i].extent, &types[i].handle);
    MPI_Type_free(&two);
    MPI_Type_commit(&types[i].handle);
  }
  types[DERIVED] = (struct type){MPI_2INT, 8, 2, {0, 4}};
  types[TYPES] = (struct type){MPI_INT, 4, 1, {0, 0}};
}

/* ---- Communicators */

static struct comm {
  MPI_Comm handle;
  int inter, group, rank, own, others;
  int mine[MOST],
      theirs[MOST]; /* ranks in the world: of this group, and of the group whose data arrives */
} comms[COMMS];

static void find_world_ranks(MPI_Group group, int count, int* found) {
  MPI_Group all;
  int numbers[MOST];
  for (int i = 0; i < count; i++) numbers[i] = i;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_translate_ranks(group, count, numbers, all, found);
  MPI_Group_free(&all);
  MPI_Group_free(&group);
}

static void make_comm(struct comm* made) {
  MPI_Comm local;
  MPI_Group group;
  const int colors = 1 + draw(3), first = 1 + draw(ranks > 1 ? ranks - 1 : 1);
  int color = 0;
  for (int i = 0; i < ranks; i++) {
    const int drawn = draw(colors);
    if (i == world) color = drawn;
  }
  const int kind = draw(ranks > 1 ? 4 : 3);
  made->inter = kind == 3;
  made->group = made->inter && world >= first;
  if (kind == 0) {
    MPI_Comm_dup(MPI_COMM_WORLD, &made->handle);
  } else if (kind < 3) {
    MPI_Comm_split(MPI_COMM_WORLD, color, kind == 1 ? world : -world, &made->handle);
  } else {
    MPI_Comm_split(MPI_COMM_WORLD, made->group, world, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, made->group ? 0 : first, 7, &made->handle);
    MPI_Comm_free(&local);
  }
  MPI_Comm_rank(made->handle, &made->rank);
  MPI_Comm_size(made->handle, &made->own);
  made->others = made->own;
  if (made->inter) MPI_Comm_remote_size(made->handle, &made->others);
  MPI_Comm_group(made->handle, &group);
  find_world_ranks(group, made->own, made->mine);
  if (made->inter)
    MPI_Comm_remote_group(made->handle, &group);
  else
    MPI_Comm_group(made->handle, &group);
  find_world_ranks(group, made->others, made->theirs);
}

/* ---- Data. Every rank knows the send and receive buffers of all ranks before each call */

enum side { SENT, RECEIVED };
static uint32_t* before[2][MOST]; /* by rank of the world */
static char *received, *expected;
static int reach; /* bytes of a buffer that a call may touch */

static void make_buffers(void) {
  for (int i = 0; i < 2 * ranks; i++) before[i % 2][i / 2] = malloc(ROOM);
  received = malloc(ROOM);
  expected = malloc(ROOM);
}

static void fill_buffers(unsigned call) {
  for (int side = SENT; side <= RECEIVED; side++)
    for (int r = 0; r < ranks; r++) {
      uint32_t* const numbers = before[side][r];
      const uint32_t first = (call * 2 + (unsigned)side) * 0x9e3779b1 + (unsigned)r * 0x85ebca6b;
      for (unsigned i = 0; i < (unsigned)reach / 4; i++) numbers[i] = first + i * 0xc2b2ae35;
    }
  memcpy(received, before[RECEIVED][world], (size_t)reach);
  memcpy(expected, received, (size_t)reach);
}

/* Expects a block that rank `of` of the world had before the call. */
static void expect_block(enum side side, int of, int from, const struct type* sent, int count,
                         int to, const struct type* type) {
  static char packed[MOST_COUNT * MOST * 8];
  int in = 0, out = 0;
  MPI_Pack((char*)before[side][of] + FAR + from, count, sent->handle, packed, sizeof packed, &in,
           MPI_COMM_SELF);
  MPI_Unpack(packed, in, &out, expected + FAR + to, count, type->handle, MPI_COMM_SELF);
}

/* ---- Calls. All draws are equal on all ranks */

enum which {
  ALLTOALL,
  ALLTOALLV,
  ALLTOALLW,
  ALLGATHER,
  ALLGATHERV,
  ALLREDUCE,
  REDUCE_SCATTER_BLOCK,
  REDUCE_SCATTER,
  BCAST,
  GATHER,
  SCATTER,
  SCAN,
  EXSCAN,
  REDUCE,
  GATHERV,
  SCATTERV,
  BARRIER,
  KINDS
};
static const char* const names[] = {"alltoall",
                                    "alltoallv",
                                    "alltoallw",
                                    "allgather",
                                    "allgatherv",
                                    "allreduce",
                                    "reduce_scatter_block",
                                    "reduce_scatter",
                                    "bcast",
                                    "gather",
                                    "scatter",
                                    "scan",
                                    "exscan",
                                    "reduce",
                                    "gatherv",
                                    "scatterv",
                                    "barrier"};

static struct call {
  enum which which;
  const struct comm* comm;
  int limit, n, seed, in_place, op, root, root_group; /* limit: the greatest count */
  int types_differ;                                   /* each rank has its own types */
  const struct type *send, *receive;
  const struct type* element; /* of a reduction */
} c;
enum { SUM, MAX, BXOR, OWN, OWN_IN_ORDER, OPS };
static MPI_Op ops[OPS];

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; i++)
    for (int k = 0; k < c.element->count; k++) {
      const int at = i * c.element->extent + c.element->at[k];
      *(uint32_t*)((char*)inout + at) += *(uint32_t*)((char*)in + at);
    }
}

/* Return the types with which a rank of the world sends and receives. */
static const struct type* sent_by(int rank) {
  return c.types_differ ? &types[(c.seed + rank) % TYPES] : c.send;
}
static const struct type* received_by(int rank) {
  return c.types_differ ? &types[(c.seed / TYPES + 2 * rank) % TYPES] : c.receive;
}

static uint32_t combine(uint32_t one, uint32_t other) {
  if (c.op == BXOR) return one ^ other;
  if (c.op == MAX) return (int32_t)one > (int32_t)other ? one : other;
  return one + other;
}

/* Returns whether a rank's block is in place. With a root, only the root's is. */
static int is_in_place(int rank_of_world) {
  const int is_rooted = c.which == GATHER || c.which == GATHERV || c.which == SCATTER ||
                        c.which == SCATTERV || c.which == REDUCE;
  return c.in_place && (!is_rooted || rank_of_world == c.comm->mine[c.root]);
}

/* Expects the results of `count` elements from `first` on, over the operands of the ranks `of` of the world. */
static void expect_reduced(const int* of, int operands, int first, int count) {
  for (int i = 0; i < count; i++)
    for (int k = 0; k < c.element->count; k++) {
      const int at = FAR + c.element->at[k], from = at + (first + i) * c.element->extent;
      uint32_t result = 0;
      for (int r = 0; r < operands; r++) {
        const uint32_t one = before[is_in_place(of[r]) ? RECEIVED : SENT][of[r]][from / 4];
        result = r == 0 ? one : combine(result, one);
      }
      memcpy(expected + at + i * c.element->extent, &result, sizeof result);
    }
}

/* Accepts any result: MPI leaves these elements open after the call. */
static void expect_anything(int first, int count) {
  const int at = FAR + first * c.element->extent, bytes = count * c.element->extent;
  memcpy(expected + at, received + at, (size_t)bytes);
}

/* Returns the number of elements between two ranks of one group, or of the two. Most are small. */
static int count_of(int source, int target) {
  const unsigned pair = c.comm->inter ? (unsigned)(source + target) * 7
                                      : (unsigned)source * 7 + (unsigned)target * 13;
  const unsigned mixed = ((unsigned)c.seed * 31 + pair) * 2654435761U >> 8;
  return (int)(mixed % ((mixed / 64 % 16 == 0 ? (unsigned)c.limit : 5) + 1));
}

static int is_root(void) {
  return c.comm->rank == c.root && (!c.comm->inter || c.comm->group == c.root_group);
}
/* Returns whether this rank exchanges data with the root. */
static int meets_root(void) { return !c.comm->inter || c.comm->group != c.root_group; }
static int root_argument(void) {
  return meets_root() ? c.root : is_root() ? MPI_ROOT : MPI_PROC_NULL;
}
static int root_of_world(void) {
  return c.comm->inter && meets_root() ? c.comm->theirs[c.root] : c.comm->mine[c.root];
}

struct lengths {
  int sends[MOST], receives[MOST], to[MOST], from[MOST];
};

static const void* send_buffer(void) {
  return is_in_place(world) ? MPI_IN_PLACE : (char*)before[SENT][world] + FAR;
}

/* ---- Junk in place of arguments that are not significant at this rank */

static unsigned significant, junk; /* junk: random for this rank and call */

/* Returns arguments that are not significant, but that the MPI library checks nevertheless. */
static unsigned left_out(enum qd_function function, enum qd_role role) {
  const unsigned counts = QD_SEND_COUNTS | QD_RECEIVE_COUNTS,
                 types = QD_SEND_TYPES | QD_RECEIVE_TYPES;
#ifdef OPEN_MPI
  if (role != QD_ROLE_IDLE) return 0;
  return function == QD_Bcast || function == QD_Reduce ? counts | types | QD_OPERATOR : 0;
#else
  if (function == QD_Exscan && role == QD_ROLE_OTHER) return QD_RECEIVE_BUFFER;
  if (function == QD_Reduce && role == QD_ROLE_USUAL_BETWEEN) return QD_SEND_BUFFER;
  return function == QD_Bcast && role == QD_ROLE_IDLE
             ? counts | types | QD_SEND_BUFFER | QD_RECEIVE_BUFFER
             : 0;
#endif
}

static void begin(enum qd_function function, const void* in, const void* out) {
  const int is_rooted = qd_has_root(function);
  const enum qd_role role =
      qd_role_of(function, c.comm->inter, c.comm->rank, is_rooted ? root_argument() : 0, in, out);
  significant = junk % 2 ? qd_significant(function, role) | left_out(function, role) : ~0U;
}

static int is_meant(unsigned argument) {
  junk = junk * 1664525 + 1013904223 + 2 * argument;
  return (significant & argument) != 0;
}
static void* nowhere(void) { return junk >> 16 & 1 ? NULL : (void*)8; }
/* A handle that names nothing. */
#define INVALID(Handle) ((Handle)(intptr_t)8)

static void* buffer(unsigned argument, const void* address) {
  return is_meant(argument) || address == MPI_IN_PLACE ? (void*)address : nowhere();
}
static int number(unsigned argument, int count) { return is_meant(argument) ? count : -1; }
static MPI_Datatype type_of(unsigned argument, MPI_Datatype type) {
  return is_meant(argument) ? type : junk >> 16 & 1 ? MPI_DATATYPE_NULL : INVALID(MPI_Datatype);
}
static const int* counts_of(unsigned argument, const int* counts) {
  return is_meant(argument) ? counts : nowhere();
}
static const MPI_Datatype* types_of(unsigned argument, const MPI_Datatype* types) {
  return is_meant(argument) ? types : nowhere();
}
static MPI_Op operator_of(MPI_Op op) {
  return is_meant(QD_OPERATOR) ? op : junk >> 16 & 1 ? MPI_OP_NULL : INVALID(MPI_Op);
}

/* ---- Calls of each kind, and their results */

static void all_to_all(void) {
  char* const out = received + FAR;
  const int rank = c.comm->rank, place = c.limit + 1;
  const struct type *send = sent_by(world), *receive = received_by(world);
  struct lengths l;
  MPI_Datatype sent_types[MOST], received_types[MOST];
  for (int r = 0; r < c.comm->others; r++) {
    const int theirs = c.comm->theirs[r];
    const enum side side = c.in_place ? RECEIVED : SENT;
    const struct type* const type = c.in_place ? received_by(theirs) : sent_by(theirs);
    l.sends[r] = count_of(rank, r);
    l.receives[r] = count_of(r, rank);
    l.to[r] = l.from[r] = place * r * (c.which == ALLTOALLW ? WIDEST : 1);
    sent_types[r] = types[(c.seed + r) % TYPES].handle;
    received_types[r] = types[(c.seed + 2 * r) % TYPES].handle;
    if (c.which == ALLTOALL)
      expect_block(side, theirs, rank * c.n * type->extent, type, c.n, r * c.n * receive->extent,
                   receive);
    else if (c.which == ALLTOALLV)
      expect_block(SENT, theirs, place * rank * type->extent, type, l.receives[r],
                   l.from[r] * receive->extent, receive);
    else
      expect_block(SENT, theirs, place * rank * WIDEST, &types[(c.seed + rank) % TYPES],
                   l.receives[r], l.from[r], &types[(c.seed + 2 * r) % TYPES]);
  }
  begin(QD_Alltoall, send_buffer(), out);
  if (c.which == ALLTOALL)
    MPI_Alltoall(send_buffer(), number(QD_SEND_COUNTS, c.n), type_of(QD_SEND_TYPES, send->handle),
                 out, c.n, receive->handle, c.comm->handle);
  else if (c.which == ALLTOALLV)
    MPI_Alltoallv(send_buffer(), counts_of(QD_SEND_COUNTS, l.sends),
                  counts_of(QD_SEND_COUNTS, l.to), type_of(QD_SEND_TYPES, send->handle), out,
                  l.receives, l.from, receive->handle, c.comm->handle);
  else
    MPI_Alltoallw(send_buffer(), counts_of(QD_SEND_COUNTS, l.sends),
                  counts_of(QD_SEND_COUNTS, l.to), types_of(QD_SEND_TYPES, sent_types), out,
                  l.receives, l.from, received_types, c.comm->handle);
}

/* Gathers the blocks of all ranks, at all ranks or at the root. */
static void gathered(void) {
  const int has_counts = c.which == ALLGATHERV || c.which == GATHERV;
  const int is_rooted = c.which == GATHER || c.which == GATHERV;
  struct lengths l;
  for (int r = 0; r < c.comm->others; r++) {
    l.receives[r] = has_counts ? count_of(r, 0) : c.n;
    l.from[r] = (has_counts ? c.limit + 1 : c.n) * r;
    const int at = l.from[r], of = c.comm->theirs[r];
    const struct type *const type = received_by(world), *const theirs = received_by(of);
    if (is_in_place(of) && (!is_rooted || is_root()))
      expect_block(RECEIVED, of, at * theirs->extent, theirs, l.receives[r], at * type->extent,
                   type);
    else if (!is_rooted || is_root())
      expect_block(SENT, of, 0, sent_by(of), l.receives[r], at * type->extent, type);
  }
  const int n = has_counts ? count_of(c.comm->rank, 0) : c.n, root = root_argument();
  begin(is_rooted ? QD_Gather : QD_Allgather, send_buffer(), received + FAR);
  const void* const in = buffer(QD_SEND_BUFFER, send_buffer());
  void* const out = buffer(QD_RECEIVE_BUFFER, received + FAR);
  const MPI_Datatype send = type_of(QD_SEND_TYPES, sent_by(world)->handle),
                     receive = type_of(QD_RECEIVE_TYPES, received_by(world)->handle);
  const MPI_Comm comm = c.comm->handle;
  const int sends = number(QD_SEND_COUNTS, n), receives = number(QD_RECEIVE_COUNTS, n);
  const int *const counts = counts_of(QD_RECEIVE_COUNTS, l.receives), *const places = counts_of(
                                                                          QD_RECEIVE_COUNTS,
                                                                          l.from);
  switch (c.which) {
    case ALLGATHER: MPI_Allgather(in, sends, send, out, receives, receive, comm); break;
    case ALLGATHERV: MPI_Allgatherv(in, sends, send, out, counts, places, receive, comm); break;
    case GATHER: MPI_Gather(in, sends, send, out, receives, receive, root, comm); break;
    default: MPI_Gatherv(in, sends, send, out, counts, places, receive, root, comm);
  }
}

/* Sends a block from the root to each rank, or one block to all. */
static void from_root(void) {
  const int rank = c.comm->rank, place = c.which == SCATTERV ? c.limit + 1 : c.n;
  const int n = c.which == SCATTERV ? count_of(rank, 0) : c.n, root = root_argument();
  struct lengths l;
  for (int r = 0; r < c.comm->others; r++) {
    l.sends[r] = count_of(r, 0);
    l.to[r] = place * r;
  }
  if (c.which == BCAST && meets_root() && !is_root())
    expect_block(RECEIVED, root_of_world(), 0, sent_by(root_of_world()), n, 0, received_by(world));
  if (c.which != BCAST && meets_root() && !is_in_place(world)) {
    const struct type* const type = sent_by(root_of_world());
    expect_block(SENT, root_of_world(), place * rank * type->extent, type, n, 0,
                 received_by(world));
  }
  void* const block = c.which != BCAST && is_in_place(world) ? MPI_IN_PLACE : received + FAR;
  begin(c.which == BCAST ? QD_Bcast : QD_Scatter, NULL, block);
  const MPI_Comm comm = c.comm->handle;
  if (c.which == BCAST) {
    MPI_Bcast(buffer(QD_SEND_BUFFER | QD_RECEIVE_BUFFER, received + FAR),
              number(QD_SEND_COUNTS | QD_RECEIVE_COUNTS, n),
              type_of(QD_SEND_TYPES | QD_RECEIVE_TYPES,
                      (is_root() ? sent_by : received_by)(world)->handle),
              root, comm);
    return;
  }
  const void* const in = buffer(QD_SEND_BUFFER, before[SENT][world] + FAR / 4);
  void* const out = buffer(QD_RECEIVE_BUFFER, block);
  const MPI_Datatype send = type_of(QD_SEND_TYPES, sent_by(world)->handle),
                     receive = type_of(QD_RECEIVE_TYPES, received_by(world)->handle);
  const int receives = number(QD_RECEIVE_COUNTS, n);
  if (c.which == SCATTER)
    MPI_Scatter(in, number(QD_SEND_COUNTS, n), send, out, receives, receive, root, comm);
  else
    MPI_Scatterv(in, counts_of(QD_SEND_COUNTS, l.sends), counts_of(QD_SEND_COUNTS, l.to), send, out,
                 receives, receive, root, comm);
}

static void reduced(void) {
  const int rank = c.comm->rank, *const of = c.comm->theirs;
  begin(c.which == REDUCE   ? QD_Reduce
        : c.which == EXSCAN ? QD_Exscan
                            : QD_Allreduce,
        send_buffer(), received + FAR);
  const void* const in = buffer(QD_SEND_BUFFER, send_buffer());
  void* const out = buffer(QD_RECEIVE_BUFFER, received + FAR);
  const int n = number(QD_SEND_COUNTS | QD_RECEIVE_COUNTS, c.n);
  const MPI_Datatype type = type_of(QD_SEND_TYPES | QD_RECEIVE_TYPES, c.element->handle);
  const MPI_Op op = operator_of(ops[c.op]);
  const MPI_Comm comm = c.comm->handle;
  switch (c.which) {
    case ALLREDUCE: MPI_Allreduce(in, out, n, type, op, comm); break;
    case REDUCE: MPI_Reduce(in, out, n, type, op, root_argument(), comm); break;
    case SCAN: MPI_Scan(in, out, n, type, op, comm); break;
    default: MPI_Exscan(in, out, n, type, op, comm);
  }
  if (c.which == ALLREDUCE || (c.which == REDUCE && is_root()))
    expect_reduced(of, c.comm->others, 0, c.n);
  if (c.which == SCAN) expect_reduced(of, rank + 1, 0, c.n);
  if (c.which == EXSCAN && rank > 0) expect_reduced(of, rank, 0, c.n);
  if (c.which == EXSCAN && rank == 0) expect_anything(0, c.n);
}

static void scattered(void) {
  const MPI_Datatype type = c.element->handle;
  int counts[MOST], first = 0, all = 0;
  /* Both groups have the same number of elements. */
  const int each = c.comm->inter ? c.comm->others * ((c.n + ranks - 1) / ranks) : c.n;
  for (int r = 0; r < c.comm->own; r++) {
    counts[r] = c.comm->inter || c.which == REDUCE_SCATTER_BLOCK ? each : count_of(r, 0);
    if (r < c.comm->rank) first += counts[r];
    all += counts[r];
  }
  const int mine = counts[c.comm->rank];
  if (c.which == REDUCE_SCATTER)
    MPI_Reduce_scatter(send_buffer(), received + FAR, counts, type, ops[c.op], c.comm->handle);
  else
    MPI_Reduce_scatter_block(send_buffer(), received + FAR, mine, type, ops[c.op], c.comm->handle);
  expect_reduced(c.comm->theirs, c.comm->others, first, mine);
  if (c.in_place) expect_anything(mine, all - mine);
}

/* ---- Draws and checks */

static void draw_call(void) {
  const int is_inplace_kind[KINDS] = {[ALLTOALL] = 1,
                                      [ALLGATHER] = 1,
                                      [ALLGATHERV] = 1,
                                      [ALLREDUCE] = 1,
                                      [REDUCE_SCATTER_BLOCK] = 1,
                                      [REDUCE_SCATTER] = 1,
                                      [SCAN] = 1,
                                      [EXSCAN] = 1,
                                      [GATHER] = 1,
                                      [GATHERV] = 1,
                                      [SCATTER] = 1,
                                      [SCATTERV] = 1,
                                      [REDUCE] = 1};
  const int size = draw(64);
  c.comm = &comms[draw(COMMS)];
  c.which = (enum which)draw(KINDS);
  c.limit = size == 0 ? MOST_COUNT : size < 8 ? 60 : 5;
  c.n = draw(c.limit + 1);
  c.seed = draw(1 << 20);
  c.op = draw(OPS);
  c.send = &types[draw(TYPES)];
  c.receive = &types[draw(TYPES)];
  c.types_differ = draw(2);
  /* MPICH 4.0 itself gives a wrong result here. */
  if (c.which == REDUCE_SCATTER_BLOCK && c.op == OWN_IN_ORDER) c.op = OWN;
  c.element = c.op < OWN ? &types[TYPES] : c.receive;
  c.in_place = draw(4) == 0 && is_inplace_kind[c.which];
  c.root_group = draw(2);
  c.root = draw(1 << 20);
  /* Groups may have different sizes at different ranks. So all draws come first. */
  if (c.comm->inter) {
    c.in_place = 0;
    if (c.which == SCAN || c.which == EXSCAN) c.which = ALLREDUCE;
  }
  c.root %= !c.comm->inter || c.comm->group == c.root_group ? c.comm->own : c.comm->others;
#ifndef OPEN_MPI
  if (c.which == REDUCE && c.root > 0) c.in_place = 0; /* MPICH 4.0 sends from MPI_IN_PLACE */
#endif
  reach = 2 * FAR + ranks * (c.limit + 1) * WIDEST;
}

static void make_call(unsigned number) {
  fill_buffers(number);
  junk = number * 2654435761U + (unsigned)world * 40503U;
  junk ^= junk >> 15;
  switch (c.which) {
    case ALLTOALL:
    case ALLTOALLV:
    case ALLTOALLW: all_to_all(); break;
    case ALLGATHER:
    case ALLGATHERV:
    case GATHER:
    case GATHERV: gathered(); break;
    case BCAST:
    case SCATTER:
    case SCATTERV: from_root(); break;
    case REDUCE_SCATTER:
    case REDUCE_SCATTER_BLOCK: scattered(); break;
    case BARRIER: MPI_Barrier(c.comm->handle); break;
    default: reduced();
  }
  if (memcmp(received, expected, (size_t)reach) == 0) return;
  int at = 0;
  while (received[at] == expected[at]) at++;
  printf(
      "FAILED: rank %d, call %u: %s, in place %d, %d + %d ranks, operator %d, type %d, count %d: "
      "byte %d is %d instead of %d\n",
      world, number, names[c.which], c.in_place, c.comm->own, c.comm->inter ? c.comm->others : 0,
      c.op, (int)(c.receive - types), c.n, at - FAR, (unsigned char)received[at],
      (unsigned char)expected[at]);
  fflush(stdout);
  /* Leaves the launcher time to pass the message on. */
  nanosleep(&(struct timespec){0, 200000000}, NULL);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static long memory(void) {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file && fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
  if (file) fclose(file);
  return 4 * pages;
}

/* Prints how far a long run is, every ten seconds. */
static void say_progress(unsigned call, unsigned calls) {
  static double last;
  if (world > 0 || MPI_Wtime() - last < 10) return;
  if (last > 0) fprintf(stderr, "soak: %u of %u calls, %ld KiB\n", call, calls, memory());
  last = MPI_Wtime();
}

int main(int count, char** arguments) {
  const unsigned calls = count > 1 ? (unsigned)atoi(arguments[1]) : 300;
  state = count > 2 ? (uint64_t)atoi(arguments[2]) : 1;
  const int longest = count > 3 ? atoi(arguments[3]) : 1;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > MOST) MPI_Abort(MPI_COMM_WORLD, 2);
  make_buffers();
  make_types();
  memcpy(ops, (MPI_Op[]){MPI_SUM, MPI_MAX, MPI_BXOR}, 3 * sizeof *ops);
  MPI_Op_create(add, 1, &ops[OWN]);
  MPI_Op_create(add, 0, &ops[OWN_IN_ORDER]);
  for (int i = 0; i < COMMS; i++) make_comm(&comms[i]);
  for (unsigned call = 0, left = 0; call < calls; call++) {
    if (left == 0) {
      if (draw(60) == 0) {
        struct comm* const comm = &comms[draw(COMMS)];
        MPI_Comm_free(&comm->handle);
        make_comm(comm);
      }
      draw_call();
      /* Most calls are made once. Some are repeated with other data, so that schedules are compared. */
      left = 1;
      if (draw(16) == 0) left += (unsigned)draw(draw(8) > 0 ? longest / 32 + 1 : longest);
    }
    left--;
    make_call(call);
    say_progress(call, calls);
  }
  for (int i = 0; i < COMMS; i++) MPI_Comm_free(&comms[i].handle);
  for (int i = 0; i < DERIVED; i++) MPI_Type_free(&types[i].handle);
  for (int i = OWN; i < OPS; i++) MPI_Op_free(&ops[i]);
  printf("rank %d ran %u tests, all passed\n", world, calls);
  MPI_Finalize();
  return 0;
}
