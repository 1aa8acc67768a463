/* Reads the counts of a call, and maps them from the user's ranks to the schedule's. */
#include <limits.h>

#include "runtime/execute/channel.h"
#include "runtime/execute/counts.h"

static const char* const too_much = "the counts are more bytes than there can be";

const char* qd_fill_tables(struct qd_binding* b) {
  const struct qd_program* program = &b->schedule_data->program;
  const struct qd_context* own = &b->layout.context;
  const char* error = qd_tables_refill(&b->tables, program, own);
  if (error || program->groups < 2) return error;
  struct qd_context other = *own;
  other.rank = 0;
  other.group = 1 - own->group;
  other.ranks = own->remote_ranks;
  other.remote_ranks = own->ranks;
  other.counts = own->remote_counts;
  other.remote_counts = own->counts;
  error = qd_tables_refill(&b->other_tables, program, &other);
  b->tables.is_of_call = b->other_tables.is_of_call;
  return error;
}

int qd_is_of_call(const struct qd_binding* b, const char* error) {
  return error && error != qd_no_memory && b->tables.is_of_call;
}

struct qd_block qd_contribution(const struct qd_global_counts* g) {
  const struct qd_arguments* a = g->arguments;
  if (a->in_place) return qd_block_of(&a->receive, g->binding->layout.own);
  return (struct qd_block){a->send.base, a->send.count};
}

int64_t qd_contributed(const struct qd_global_counts* g) {
  const struct qd_arguments* a = g->arguments;
  const int64_t size = a->in_place ? a->receive.type_size : a->send.type_size;
  int64_t bytes;
  return __builtin_mul_overflow(qd_contribution(g).count, size, &bytes) ? -1 : bytes;
}

static int scatters(const struct qd_global_counts* g) {
  return g->binding->schedule_data->program.collective == QD_REDUCE_SCATTER;
}

static int gathers(const struct qd_global_counts* g) {
  return g->binding->schedule_data->program.collective == QD_ALLGATHER;
}

struct qd_block qd_users_block(const struct qd_global_counts* g, int buffer, int32_t block) {
  const struct qd_binding* b = g->binding;
  const struct qd_arguments* a = g->arguments;
  const int is_send = buffer == QD_PIECE_SEND;
  const struct qd_side* side = is_send && !a->in_place ? &a->send : &a->receive;
  if (gathers(g) && !is_send) return qd_block_of(side, b->layout.user[block]);
  if (!scatters(g) || !is_send) return (struct qd_block){side->base, side->count};
  /* the blocks are consecutive */
  const int64_t unit = b->call->builder.traits.unit,
                offset = b->counts.buffers[buffer].extents.offsets[block];
  return (struct qd_block){side->base + offset / unit * side->extent,
                           b->counts.buffers[buffer].extents.lengths[block]};
}

/* The bits in which lengths and offsets differ from those of the last call. */
struct changes {
  int64_t lengths, offsets;
};

static void set_block(struct qd_buffer_layout* layout, int32_t block, int64_t length,
                      int64_t offset, struct changes* changes) {
  changes->lengths |= layout->extents.lengths[block] ^ length;
  changes->offsets |= layout->extents.offsets[block] ^ offset;
  layout->extents.lengths[block] = length;
  layout->extents.offsets[block] = offset;
}

static void set_count(int64_t* counts, int64_t rank, int64_t count, struct changes* changes) {
  changes->lengths |= counts[rank] ^ count;
  counts[rank] = count;
}

/* Reads the blocks of an allgather's receive buffer. Returns 0 if a length or an offset is too large. */
static int read_gathered(const struct qd_global_counts* g, struct changes* changes) {
  struct qd_binding* b = g->binding;
  struct qd_buffer_layout* layout = &b->counts.buffers[QD_PIECE_RECEIVE];
  const struct qd_side* side = &g->arguments->receive;
  const int is_direct = g->is_direct[QD_PIECE_RECEIVE];
  int64_t* const counts = b->schedule_data->program.groups == 2 ? b->counts.remote : b->counts.own;
  int64_t each = -1, total = 0;
  if (!side->uniform || !is_direct || __builtin_mul_overflow(side->count, side->type_size, &each))
    each = -1;
  if (each >= 0 && layout->each == each && layout->stride == side->stride) return 1;
  layout->each = -1;
  if (side->uniform && side->is_too_much) return 0;
  for (int32_t i = 0; i < layout->extents.blocks; i++) {
    const struct qd_block block = qd_block_of(side, b->layout.user[i]);
    int64_t bytes, context;
    if (__builtin_mul_overflow(block.count, side->type_size, &bytes) || bytes > QD_MAX_COUNT)
      return 0;
    if (side->large_displacements && block.count > 0 &&
        __builtin_mul_overflow(side->large_displacements[b->layout.user[i]], side->unit, &context))
      return 0;
    const int64_t offset =
        is_direct ? (int64_t)((uintptr_t)block.address - (uintptr_t)side->base) : total;
    set_block(layout, i, bytes, offset, changes);
    counts[i] = bytes;
    total += bytes;
  }
  layout->total = total;
  layout->each = each;
  layout->stride = side->stride;
  return 1;
}

/* Sets the only block of a buffer. Returns 0 if it is too long. */
static int read_one(const struct qd_global_counts* g, int buffer, int64_t count,
                    struct changes* changes) {
  struct qd_buffer_layout* layout = &g->binding->counts.buffers[buffer];
  const int64_t unit = g->binding->call->builder.traits.unit;
  if (count > QD_MAX_COUNT || __builtin_mul_overflow(count, unit, &layout->total)) return 0;
  set_block(layout, 0, count, 0, changes);
  return 1;
}

/* Sets the blocks of a reduce-scatter's send buffer. They are consecutive in the order of the user's ranks. */
static int read_scattered(const struct qd_global_counts* g, const int64_t* counts,
                          struct changes* changes) {
  struct qd_binding* b = g->binding;
  struct qd_buffer_layout* layout = &b->counts.buffers[QD_PIECE_SEND];
  const int64_t unit = b->call->builder.traits.unit;
  int64_t* const starts = b->counts.exchanged; /* reused memory; by the user's rank */
  layout->total = 0;
  for (int32_t i = 0; i < layout->extents.blocks; i++) starts[b->layout.user[i]] = counts[i];
  for (int32_t i = 0; i < layout->extents.blocks; i++) {
    const int64_t count = starts[i], start = layout->total;
    int64_t bytes;
    if (count > QD_MAX_COUNT || __builtin_mul_overflow(count, unit, &bytes) ||
        __builtin_add_overflow(start, bytes, &layout->total))
      return 0;
    starts[i] = start;
  }
  for (int32_t i = 0; i < layout->extents.blocks; i++)
    set_block(layout, i, counts[i], starts[b->layout.user[i]], changes);
  return 1;
}

/* Exchanges receive counts with the other group. Rank r of a group of n ranks sends to ranks r, r + n, r + 2n and so
 * on of the other group. Returns an MPI error code. */
static int exchange_counts(const struct qd_global_counts* g, const int64_t* sent_counts, int sends,
                           int64_t* received_counts, int receives) {
  const struct qd_binding* b = g->binding;
  const int own = b->layout.own - b->layout.first;
  const int ranks = (int)b->layout.context.ranks, remote = (int)b->layout.context.remote_ranks;
  const int tag = b->channel->tag + QD_COUNTS_TAG;
  MPI_Request* const requests = b->counts.requests;
  int count = 0;
  int code = PMPI_Irecv(received_counts, receives, MPI_INT64_T,
                        qd_rank_in_comm(b, b->layout.first_remote + own % remote), tag, b->comm,
                        &requests[count]);
  count += code == MPI_SUCCESS;
  for (int i = own; i < remote && code == MPI_SUCCESS; i += ranks) {
    code =
        PMPI_Isend(sent_counts, sends, MPI_INT64_T, qd_rank_in_comm(b, b->layout.first_remote + i),
                   tag, b->comm, &requests[count]);
    count += code == MPI_SUCCESS;
  }
  for (int i = 0; i < count; i++) {
    const int peer = i == 0 ? own % remote : own + (i - 1) * ranks;
    if (b->options.stall > 0)
      qd_watch_counts(b, requests[i], b->layout.first_remote + peer, i == 0);
    const int waited = PMPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) code = waited;
  }
  return code;
}

int qd_exchanges_counts(const struct qd_global_counts* g) {
  const struct qd_program* program = &g->binding->schedule_data->program;
  return program->groups == 2 && !g->arguments->receive.uniform &&
         (scatters(g) || (gathers(g) && program->uses.counts));
}

/* Returns how many counts this rank sends: one for each result of its group or contribution of the other group. */
static int64_t count_of_sent(const struct qd_global_counts* g) {
  return scatters(g) ? g->binding->layout.context.ranks : g->binding->layout.context.remote_ranks;
}

/* Exchanges counts even if they are too large. This error is reported later, so that no rank waits in vain. */
static int exchange_all(const struct qd_global_counts* g) {
  const struct qd_side* side = &g->arguments->receive;
  const struct qd_context* context = &g->binding->layout.context;
  const uint64_t size = g->reduces ? 1 : (uint64_t)side->type_size;
  const int sends = (int)count_of_sent(g);
  const int receives = (int)(context->ranks + context->remote_ranks) - sends;
  int64_t* const sent_counts = g->binding->counts.exchanged;
  for (int i = 0; i < sends; i++) sent_counts[i] = (int64_t)((uint64_t)qd_count_of(side, i) * size);
  return exchange_counts(g, sent_counts, sends, sent_counts + sends, receives);
}

/* Copies the received counts to the program's counts. real[i]: the number of the rank that has the i-th one. */
static void take_received(const struct qd_global_counts* g, int64_t* counts, const int* real,
                          int first, int64_t ranks, struct changes* changes) {
  const int64_t* received_counts = g->binding->counts.exchanged + count_of_sent(g);
  for (int64_t i = 0; i < ranks; i++)
    set_count(counts, i, received_counts[real[i] - first], changes);
}

/* Reads the contributions of this rank's group to an allgather between groups. Returns 0 if one is too long. */
static int read_contributions(const struct qd_global_counts* g, struct changes* changes) {
  struct qd_binding* b = g->binding;
  const int64_t own = qd_contributed(g), ranks = b->layout.context.ranks;
  if (!read_one(g, QD_PIECE_SEND, own, changes)) return 0;
  if (qd_exchanges_counts(g))
    take_received(g, b->counts.own, b->layout.real, b->layout.first, ranks, changes);
  else
    for (int64_t i = 0; i < ranks; i++) set_count(b->counts.own, i, own, changes);
  return 1;
}

/* Finds the counts of the other group's results in a reduce-scatter. Returns NULL, or an error text. */
static const char* read_remote_results(const struct qd_global_counts* g, struct changes* changes) {
  struct qd_binding* b = g->binding;
  const int ranks = (int)b->layout.context.ranks, remote = (int)b->layout.context.remote_ranks;
  const struct qd_side* side = &g->arguments->receive;
  int64_t total;
  if (qd_exchanges_counts(g)) {
    uint64_t difference = 0;
    take_received(g, b->counts.remote, b->layout.remote_real, b->layout.first_remote, remote,
                  changes);
    for (int i = 0; i < ranks; i++) difference += (uint64_t)b->counts.own[i];
    for (int i = 0; i < remote; i++) difference -= (uint64_t)b->counts.remote[i];
    return difference == 0 ? NULL
                           : "the results of both groups are not of one length: the counts of "
                             "each group must come to as many elements";
  }
  if (__builtin_mul_overflow(side->count, (int64_t)ranks, &total)) return too_much;
  if (total % remote != 0)
    return "the results of both groups are not of one length: this group's ranks times its count "
           "is no multiple of the other group's ranks";
  for (int i = 0; i < remote; i++) set_count(b->counts.remote, i, total / remote, changes);
  return NULL;
}

static const char* read_results(const struct qd_global_counts* g, struct changes* changes) {
  struct qd_binding* b = g->binding;
  const int is_remote = b->schedule_data->program.groups == 2;
  for (int i = 0; i < b->layout.context.ranks; i++)
    set_count(b->counts.own, i,
              qd_count_of(&g->arguments->receive, b->layout.real[i] - b->layout.first), changes);
  const char* error = is_remote ? read_remote_results(g, changes) : NULL;
  if (error) return error;
  return read_scattered(g, is_remote ? b->counts.remote : b->counts.own, changes) &&
                 read_one(g, QD_PIECE_RECEIVE, b->counts.own[b->layout.context.rank], changes)
             ? NULL
             : too_much;
}

/* Reads a count that is the same for all blocks. Returns NULL, or an error text. */
static const char* read_same(const struct qd_global_counts* g, struct changes* changes) {
  struct qd_binding* b = g->binding;
  const struct qd_side* side = &g->arguments->receive;
  int64_t count = side->count;
  if (!g->reduces && __builtin_mul_overflow(count, side->type_size, &count)) return too_much;
  for (int i = 0; i < 2; i++)
    if (b->counts.buffers[i].extents.blocks > 0 && !read_one(g, i, count, changes)) return too_much;
  if (b->counts.own[0] == count) return NULL; /* then all counts are equal to it already */
  for (int i = 0; i < b->layout.context.ranks; i++) set_count(b->counts.own, i, count, changes);
  for (int i = 0; i < b->layout.context.remote_ranks; i++)
    set_count(b->counts.remote, i, count, changes);
  return NULL;
}

const char* qd_read_counts(const struct qd_global_counts* g, int* error_class) {
  struct qd_binding* b = g->binding;
  struct changes changes = {0, 0};
  const char* error = NULL;
  *error_class = MPI_ERR_OTHER;
  if (qd_exchanges_counts(g) && exchange_all(g) != MPI_SUCCESS)
    return "MPI failed while the groups told each other their counts";
  *error_class = MPI_ERR_COUNT;
  if (scatters(g))
    error = read_results(g, &changes);
  else if (!gathers(g))
    error = read_same(g, &changes);
  else if (!read_gathered(g, &changes) || qd_contributed(g) < 0 ||
           (b->schedule_data->program.groups == 2 && !read_contributions(g, &changes)))
    return too_much;
  if (changes.lengths != 0 || changes.offsets != 0) b->call->is_planned = 0;
  if (changes.lengths != 0 && b->schedule_data->program.uses.call) b->are_tables_good = 0;
  return error;
}
