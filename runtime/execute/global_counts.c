/* Makes calls whose counts all ranks know: reads the counts, finds the buffers, plans, follows the plan, and unpacks.
 *
 * Counts are mapped from the user's ranks to the schedule's. The plan is made from them, and kept for the next call
 * with equal counts. It refers to bytes of the user's buffers. If a datatype is not contiguous, the plan refers to
 * a copy of the buffer: packed if data is moved, with elements as in the user's memory if it is reduced. An
 * allgather first copies its own contribution into its block of the receive buffer. So a call in place is no
 * special case. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/execute/channel.h"
#include "runtime/execute/counts.h"
#include "runtime/program/block_size.h"

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

/* Returns where this rank's contribution to an allgather is before the call. */
static struct qd_block contribution(const struct qd_global_counts* g) {
  const struct qd_arguments* a = g->arguments;
  if (a->in_place) return qd_block_of(&a->receive, g->binding->layout.own);
  return (struct qd_block){a->send.base, a->send.count};
}

/* Returns the bytes of this rank's contribution, or -1 if 64 bits do not hold the number. */
static int64_t contributed(const struct qd_global_counts* g) {
  const struct qd_arguments* a = g->arguments;
  const int64_t size = a->in_place ? a->receive.type_size : a->send.type_size;
  int64_t bytes;
  return __builtin_mul_overflow(contribution(g).count, size, &bytes) ? -1 : bytes;
}

static int scatters(const struct qd_global_counts* g) {
  return g->binding->schedule_data->program.collective == QD_REDUCE_SCATTER;
}

static int gathers(const struct qd_global_counts* g) {
  return g->binding->schedule_data->program.collective == QD_ALLGATHER;
}

/* Returns where a block of the schedule is in the user's buffer `buffer`: QD_PIECE_SEND or QD_PIECE_RECEIVE. */
static struct qd_block users_block(const struct qd_global_counts* g, int buffer, int32_t block) {
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

/* Returns whether the groups must exchange counts. Then read_counts is collective. */
static int exchanges_counts(const struct qd_global_counts* g) {
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
  const int64_t own = contributed(g), ranks = b->layout.context.ranks;
  if (!read_one(g, QD_PIECE_SEND, own, changes)) return 0;
  if (exchanges_counts(g))
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
  if (exchanges_counts(g)) {
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

/* Reads lengths and offsets of all blocks, and the program's counts. Marks tables or plan as stale if they have
 * changed since the last call. Returns NULL, or an error text and writes its class. */
static const char* read_given(const struct qd_global_counts* g, int* error_class) {
  struct qd_binding* b = g->binding;
  struct changes changes = {0, 0};
  const char* error = NULL;
  *error_class = MPI_ERR_OTHER;
  if (exchanges_counts(g) && exchange_all(g) != MPI_SUCCESS)
    return "MPI failed while the groups told each other their counts";
  *error_class = MPI_ERR_COUNT;
  if (scatters(g))
    error = read_results(g, &changes);
  else if (!gathers(g))
    error = read_same(g, &changes);
  else if (!read_gathered(g, &changes) || contributed(g) < 0 ||
           (b->schedule_data->program.groups == 2 && !read_contributions(g, &changes)))
    return too_much;
  if (changes.lengths != 0 || changes.offsets != 0) b->call->is_planned = 0;
  if (changes.lengths != 0 && b->schedule_data->program.uses.call) b->are_tables_good = 0;
  return error;
}

/* ---- The buffers */

static struct qd_buffer_layout* layout_of(const struct qd_global_counts* g, int buffer) {
  return &g->binding->counts.buffers[buffer];
}

/* Returns the user's side that has the blocks of a buffer. */
static const struct qd_side* side_of(const struct qd_global_counts* g, int buffer) {
  const int is_send = buffer == QD_PIECE_SEND && !g->arguments->in_place;
  return is_send ? &g->arguments->send : &g->arguments->receive;
}

/* Sets the address of a region: the user's buffer or a copy. Returns 0 if memory for a copy ran out. */
static int find_base(const struct qd_global_counts* g, int buffer, int region) {
  struct qd_buffer_layout* layout = layout_of(g, buffer);
  char* base = side_of(g, buffer)->base;
  if (!g->is_direct[buffer] && layout->copy.size < layout->total) {
    qd_give_buffer(&layout->copy);
    layout->copy = qd_take_buffer(layout->total);
  }
  if (!g->is_direct[buffer]) base = layout->copy.address;
  g->binding->call->data.blocks[region] = (struct qd_block){base, layout->total};
  return g->is_direct[buffer] || layout->copy.size >= layout->total;
}

/* Returns the address of a block. It is computed in integers, since an offset may point outside of any object. */
static char* block_in(const struct qd_global_counts* g, int buffer, int region, int64_t block) {
  return (char*)((uintptr_t)g->binding->call->data.blocks[region].address +
                 (uintptr_t)layout_of(g, buffer)->extents.offsets[block]);
}

/* Packs a block of the user's into its copy, or unpacks it from there if `unpacks`. */
static int convert_copy(const struct qd_global_counts* g, const struct qd_side* side,
                        struct qd_block block, char* copy, int unpacks) {
  const struct qd_binding* b = g->binding;
  const struct qd_block there = {copy, block.count};
  if (!g->reduces) return (unpacks ? qd_unpack : qd_pack)(side, block, copy, b->comm);
  const int own = qd_rank_in_comm(b, b->layout.own), tag = b->channel->tag;
  return unpacks ? qd_copy_block(b->comm, own, tag, side, there, side, block)
                 : qd_copy_block(b->comm, own, tag, side, block, side, there);
}

/* Copies an allgather's contribution into its block of the receive buffer, up to the length of that block. */
static int copy_contribution(const struct qd_global_counts* g) {
  const struct qd_binding* b = g->binding;
  const struct qd_side* side = side_of(g, QD_PIECE_SEND);
  struct qd_block own = contribution(g);
  char* target = block_in(g, QD_PIECE_RECEIVE, QD_RECEIVE_REGION, b->layout.context.rank);
  const int64_t capacity = layout_of(g, QD_PIECE_RECEIVE)->extents.lengths[b->layout.context.rank];
  const int is_direct = g->is_direct[g->arguments->in_place ? QD_PIECE_RECEIVE : QD_PIECE_SEND];
  if (side->type_size == 0 || (is_direct && own.address == target)) return MPI_SUCCESS;
  if (own.count > capacity / side->type_size) own.count = capacity / side->type_size;
  if (!is_direct) return qd_pack(side, own, target, b->comm);
  if (own.count > 0) memcpy(target, own.address, (size_t)(own.count * side->type_size));
  return MPI_SUCCESS;
}

/* Packs all blocks of a buffer of the user's into its copy. */
static int load(const struct qd_global_counts* g, int buffer, int region) {
  const struct qd_side* side = side_of(g, buffer);
  int code = MPI_SUCCESS;
  for (int32_t i = 0; i < layout_of(g, buffer)->extents.blocks && code == MPI_SUCCESS; i++)
    code = convert_copy(g, side, users_block(g, buffer, i), block_in(g, buffer, region, i), 0);
  return code;
}

/* Packs the blocks that the schedule reads, if it reads them from a copy. */
static int load_all(const struct qd_global_counts* g) {
  const struct qd_builder* builder = &g->binding->call->builder;
  if (builder->traits.gathers) return copy_contribution(g);
  if (builder->traits.in_place)
    return g->is_direct[QD_PIECE_RECEIVE] ? MPI_SUCCESS
                                          : load(g, QD_PIECE_RECEIVE, QD_RECEIVE_REGION);
  return g->is_direct[QD_PIECE_SEND] ? MPI_SUCCESS : load(g, QD_PIECE_SEND, QD_SEND_REGION);
}

static int unpack_all(const struct qd_global_counts* g) {
  const struct qd_binding* b = g->binding;
  const struct qd_program* program = &b->schedule_data->program;
  int code = MPI_SUCCESS;
  /* The root has the data already. */
  if (program->collective == QD_BROADCAST && layout_of(g, QD_PIECE_SEND)->extents.blocks > 0)
    return code;
  for (int32_t i = 0; i < layout_of(g, QD_PIECE_RECEIVE)->extents.blocks && code == MPI_SUCCESS;
       i++)
    if (!b->call->builder.traits.gathers || !g->arguments->in_place || i != b->layout.context.rank)
      code = convert_copy(g, &g->arguments->receive, users_block(g, QD_PIECE_RECEIVE, i),
                          block_in(g, QD_PIECE_RECEIVE, QD_RECEIVE_REGION, i), 1);
  return code;
}

static const char* choose_parameters(struct qd_binding* b) {
  const struct qd_program* program = &b->schedule_data->program;
  const struct qd_context* context = &b->layout.context;
  /* All ranks must use the same numbers. Between groups these are the counts of the schedule's second group. */
  const int is_remote = program->groups == 2 && context->group == 0;
  const int64_t ranks = is_remote ? context->remote_ranks : context->ranks;
  const int64_t* counts = is_remote ? b->counts.remote : b->counts.own;
  const int64_t element = b->counts.element > 0 ? b->counts.element : 1;
  for (int i = 0; i < program->parameter_count; i++) {
    if (!program->rules[i].at_call) continue;
    const int64_t rule = b->options.block_size > 0 ? b->options.block_size : program->parameters[i];
    const int64_t alpha_ns = program->rules[i].alpha_ns, of_byte = program->rules[i].beta_ps;
    const int64_t beta_ps = of_byte > QD_MAX_COST / element ? QD_MAX_COST : of_byte * element;
    const int64_t size =
        qd_block_size(rule, alpha_ns, beta_ps, counts, qd_has_one_contribution(program) ? 1 : ranks,
                      ranks, program->rules[i].over_trees);
    if (size == 0)
      return "the schedule does not say how its block size is chosen; bind with block_size";
    /* The result of a rule is in elements in a reduction, as in the program. A fixed size is in bytes. */
    b->layout.parameters[i] = rule <= 0 ? size : size > element ? size / element : 1;
  }
  return NULL;
}

/* Chooses parameters and fills the tables, after the counts or the root changed. */
static const char* prepare_tables(struct qd_binding* b) {
  const char* error = choose_parameters(b);
  if (!error) error = qd_fill_tables(b);
  if (b->call && !error) {
    b->call->is_planned = 0;
    /* The call has memory for other temporary blocks, or for the blocks of another root. */
    const struct qd_plan* plan = &b->call->plan;
    if (plan->regions.temporaries != b->tables.temporary_blocks ||
        plan->regions.receive_blocks != b->counts.buffers[QD_PIECE_RECEIVE].extents.blocks)
      error = qd_call_reopen(b->call);
  }
  b->are_tables_good = !error;
  return error;
}

/* Sets how many blocks the buffers have for the current root. */
static void take_blocks(struct qd_binding* b) {
  int32_t blocks[2];
  qd_block_counts(&b->schedule_data->program, &b->layout.context, blocks);
  for (int i = 0; i < 2; i++) {
    b->counts.buffers[i].extents.blocks = blocks[i];
    b->counts.buffers[i].each = -1;
    b->counts.buffers[i].total = 0;
  }
  b->are_tables_good = 0;
}

const char* qd_global_counts_open(struct qd_binding* b) {
  const size_t ranks = (size_t)b->layout.context.ranks,
               remote = (size_t)b->layout.context.remote_ranks;
  const size_t most = ranks > remote ? ranks : remote;
  b->counts.own = calloc(ranks + 1, sizeof *b->counts.own);
  b->counts.remote = calloc(remote + 1, sizeof *b->counts.remote);
  b->counts.exchanged = malloc(2 * (most + 1) * sizeof *b->counts.exchanged);
  b->counts.requests = malloc((remote / ranks + 2) * sizeof *b->counts.requests);
  int opened = b->counts.own && b->counts.remote && b->counts.exchanged && b->counts.requests;
  for (int i = 0; i < 2; i++) {
    b->counts.buffers[i].extents.lengths =
        calloc(most + 1, sizeof *b->counts.buffers[i].extents.lengths);
    b->counts.buffers[i].extents.offsets =
        calloc(most + 1, sizeof *b->counts.buffers[i].extents.offsets);
    opened &= b->counts.buffers[i].extents.lengths && b->counts.buffers[i].extents.offsets;
  }
  if (!opened) return qd_no_memory;
  b->layout.context.counts = b->counts.own;
  b->layout.context.remote_counts = b->counts.remote;
  take_blocks(b);
  return prepare_tables(b);
}

void qd_global_counts_close(struct qd_binding* b) {
  free(b->counts.own);
  free(b->counts.remote);
  free(b->counts.exchanged);
  free(b->counts.requests);
  for (int i = 0; i < 2; i++) {
    free(b->counts.buffers[i].extents.lengths);
    free(b->counts.buffers[i].extents.offsets);
    qd_give_buffer(&b->counts.buffers[i].copy);
  }
}

/* Returns whether the receive buffer has no block that could replace the send buffer: at rank 0 of an exscan. */
static int has_no_result(const struct qd_binding* b) {
  return b->schedule_data->program.collective == QD_EXSCAN && b->layout.context.rank == 0;
}

/* Describes the blocks of a call: the unit of lengths, which buffers messages use directly, and which buffer
 * replaces the send buffer. */
static void describe_blocks(struct qd_global_counts* g) {
  const struct qd_arguments* a = g->arguments;
  const struct qd_program* program = &g->binding->schedule_data->program;
  struct qd_call* c = g->binding->call;
  int (*const is_contiguous)(MPI_Datatype) = g->reduces ? qd_has_no_gaps : qd_is_contiguous;
  const MPI_Datatype type = a->receive.type;
  const int in_place = c->builder.traits.gathers || qd_has_one_buffer(program) ||
                       (a->in_place && program->in_place && !has_no_result(g->binding));
  g->is_direct[QD_PIECE_RECEIVE] = !a->receive.on_device && is_contiguous(type);
  g->is_direct[QD_PIECE_SEND] = !a->in_place && !a->send.on_device && is_contiguous(a->send.type);
  const int64_t unit = g->reduces && a->receive.type_size > 0 ? a->receive.extent : 1;
  const int64_t element = g->reduces ? a->receive.type_size : 1;
  if (element != g->binding->counts.element) g->binding->are_tables_good = 0;
  g->binding->counts.element = element;
  if (unit != c->builder.traits.unit || in_place != c->builder.traits.in_place) c->is_planned = 0;
  c->builder.traits.unit = unit;
  c->builder.traits.in_place = in_place;
  if (!g->reduces) return;
  c->data.type = type;
  c->data.operation = a->operation;
  c->data.commutes = a->commutes && qd_is_exchangeable(a->operation);
}

/* Reads root and counts, makes tables and finds buffers, before anything is sent. Returns NULL, or an error text. */
static const char* prepare_plan(const struct qd_global_counts* g, int* error_class) {
  struct qd_binding* b = g->binding;
  if (qd_take_root(&b->layout, &b->schedule_data->program, g->arguments->root)) take_blocks(b);
  const char* error = read_given(g, error_class);
  if (error) {
    b->are_tables_good = b->call->is_planned = 0; /* some counts are old, and some are new */
    return error;
  }
  if (!b->are_tables_good) error = prepare_tables(b);
  *error_class = error == qd_no_memory ? MPI_ERR_NO_MEM : MPI_ERR_ARG;
  if (error) return error;
  *error_class = MPI_ERR_NO_MEM;
  return find_base(g, QD_PIECE_RECEIVE, QD_RECEIVE_REGION) &&
                 (b->call->builder.traits.in_place || find_base(g, QD_PIECE_SEND, QD_SEND_REGION))
             ? NULL
             : qd_no_memory;
}

void qd_global_counts_begin(const struct qd_global_counts* g) {
  struct qd_call* c = g->binding->call;
  c->data.send_is_contiguous = c->data.receive_is_contiguous = 1;
  const int code = load_all(g);
  qd_call_begin(c);
  if (code != MPI_SUCCESS) qd_call_lose(c, code);
}

void qd_global_counts_finish(const struct qd_global_counts* g) {
  struct qd_call* c = g->binding->call;
  qd_call_finish(c);
  if (!g->is_direct[QD_PIECE_RECEIVE] && !c->outcome.is_lost) qd_call_check(c, unpack_all(g));
}

static void give_long_copies(struct qd_binding* b) {
  for (int i = 0; i < 2; i++)
    if (b->counts.buffers[i].copy.size > QD_KEPT) qd_give_buffer(&b->counts.buffers[i].copy);
}

/* Writes an error text if this rank's contribution to an allgather differs from its receive count. */
static void find_mismatch(const struct qd_global_counts* g, char text[QD_TEXT]) {
  const struct qd_binding* b = g->binding;
  if (b->schedule_data->program.collective != QD_ALLGATHER) return;
  const long long own = contributed(g), expected = b->counts.own[b->layout.context.rank];
  if (own != expected)
    snprintf(text, QD_TEXT,
             "this rank contributes %lld bytes, but its own entry of the receive counts is %lld "
             "bytes; they must be equal",
             own, expected);
}

int qd_global_counts_prepare(struct qd_global_counts* g, MPI_Comm comm, char differs[QD_TEXT]) {
  const struct qd_binding* b = g->binding;
  const struct qd_arguments* a = g->arguments;
  const char* error = a->error;
  int error_class = a->error_class;
  differs[0] = 0;
  if (a->is_idle)
    return b->options.compares ? qd_compare_calls(b, comm, a, MPI_SUCCESS, NULL) : MPI_SUCCESS;
  if (!error) describe_blocks(g);
  /* A rank must not wait for the counts of a rank that has an error. */
  if (b->options.compares && exchanges_counts(g)) {
    const int code = qd_compare_errors(b, comm, error_class, error);
    if (code != MPI_SUCCESS) return code;
  }
  if (!error) error = prepare_plan(g, &error_class);
  if (!error) find_mismatch(g, differs);
  if (b->options.compares)
    return qd_compare_calls(b, comm, a, differs[0] ? MPI_ERR_COUNT : error_class,
                            differs[0] ? differs : error);
  if (error == qd_no_memory) qd_end_without_memory(comm);
  return error ? qd_error(comm, error_class, "%s", error) : MPI_SUCCESS;
}

int qd_global_counts_run(struct qd_binding* binding, const struct qd_arguments* arguments,
                         MPI_Comm comm) {
  struct qd_global_counts g = {binding, arguments,
                               .reduces = qd_reduces(&binding->schedule_data->program)};
  char differs[QD_TEXT];
  int code = qd_global_counts_prepare(&g, comm, differs);
  if (code != MPI_SUCCESS || arguments->is_idle) return code;
  qd_global_counts_begin(&g);
  qd_global_counts_finish(&g);
  give_long_copies(binding);
  const int reads_directly =
      g.is_direct[QD_PIECE_SEND] || (arguments->in_place && binding->call->builder.traits.in_place);
  /* A call that exchanges counts is not repeated: the other group's counts may change. */
  binding->last.may_repeat &= binding->call->is_planned && g.is_direct[QD_PIECE_RECEIVE] &&
                              reads_directly && !exchanges_counts(&g) && !differs[0];
  /* The binding must not be used after this: an error handler may free the communicator, and the binding with it. */
  code = qd_call_report(binding->call, comm);
  return code == MPI_SUCCESS && differs[0] ? qd_error(comm, MPI_ERR_COUNT, "%s", differs) : code;
}

void qd_global_counts_contribute(struct qd_binding* b) {
  /* A repeated call addresses the user's memory itself. */
  const struct qd_global_counts g = {b, &b->last.made, .is_direct = {1, 1}};
  copy_contribution(&g); /* it copies bytes, which cannot fail */
}
