/* Calls of which all ranks know all counts: what is sent and received, the plan, and what is left to unpack.
 *
 * The plan of a call is made of its counts, and kept for the next call with the same. It speaks of bytes
 * of the user's buffers, or, where those do not lie as they travel, of copies: packed ones where data
 * is moved, of elements where it is combined; packed ones, too, of elements that reach beyond their extent. An allgather's own contribution is brought to its block
 * of the receive buffer first, so that a call in place is a call like any other. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/execute/compare.h"
#include "runtime/execute/global_counts.h"

enum { KEPT_COPY = 1 << 24 }; /* a larger copy is given back after the call */

static struct qd_buffer_layout* known_of(const struct qd_global_counts* g, int buffer) {
  return &g->binding->counts.buffers[buffer];
}

/* The user's side that a buffer's blocks come from, or go to. */
static const struct qd_side* side_of(const struct qd_global_counts* g, int buffer) {
  const int is_send = buffer == QD_PIECE_SEND && !g->arguments->in_place;
  return is_send ? &g->arguments->send : &g->arguments->receive;
}

/* Where the blocks of a buffer lie while they travel; 0 where there is no memory to keep them. */
static int find_base(const struct qd_global_counts* g, int buffer, int region) {
  struct qd_buffer_layout* known = known_of(g, buffer);
  char* base = side_of(g, buffer)->base;
  if (!g->is_direct[buffer] && known->copy_size < known->total) {
    free(known->copy);
    known->copy = malloc((size_t)known->total);
    known->copy_size = known->copy ? known->total : 0;
  }
  if (!g->is_direct[buffer]) base = known->copy;
  g->binding->call->data.blocks[region] = (struct qd_block){base, known->total};
  return g->is_direct[buffer] || known->copy_size >= known->total;
}

/* An offset may lie before or behind any object there is. */
static char* block_in(const struct qd_global_counts* g, int buffer, int region, int64_t block) {
  return (char*)((uintptr_t)g->binding->call->data.blocks[region].address +
                 (uintptr_t)known_of(g, buffer)->extents.offsets[block]);
}

/* Between a block of the user's and its copy. */
static int convert(const struct qd_global_counts* g, const struct qd_side* side,
                   struct qd_block block, char* copy, int unpacks) {
  const struct qd_binding* b = g->binding;
  const struct qd_block there = {copy, block.count};
  if (!g->reduces || b->call->data.is_packed)
    return (unpacks ? qd_unpack : qd_pack)(side, block, copy, b->comm);
  return unpacks ? qd_copy_block(b->comm, b->layout.own, b->call->tag, side, there, side, block)
                 : qd_copy_block(b->comm, b->layout.own, b->call->tag, side, block, side, there);
}

/* Brings an allgather's contribution into its block: as much of it as there is room for. */
static int place_own(const struct qd_global_counts* g) {
  const struct qd_binding* b = g->binding;
  const struct qd_side* side = side_of(g, QD_PIECE_SEND);
  struct qd_block own = qd_contribution(g);
  char* target = block_in(g, QD_PIECE_RECEIVE, QD_RECEIVE_REGION, b->layout.context.rank);
  const int64_t room = known_of(g, QD_PIECE_RECEIVE)->extents.lengths[b->layout.context.rank];
  const int lies = g->is_direct[g->arguments->in_place ? QD_PIECE_RECEIVE : QD_PIECE_SEND];
  if (side->type_size == 0 || (lies && own.address == target)) return MPI_SUCCESS;
  if (own.count > room / side->type_size) own.count = room / side->type_size;
  if (!lies) return qd_pack(side, own, target, b->comm);
  if (own.count > 0) memcpy(target, own.address, (size_t)(own.count * side->type_size));
  return MPI_SUCCESS;
}

/* The blocks of a buffer as the user has them, into their copies. */
static int load(const struct qd_global_counts* g, int buffer, int region) {
  const struct qd_side* side = side_of(g, buffer);
  int code = MPI_SUCCESS;
  for (int32_t i = 0; i < known_of(g, buffer)->extents.blocks && code == MPI_SUCCESS; i++)
    code = convert(g, side, qd_users_block(g, buffer, i), block_in(g, buffer, region, i), 0);
  return code;
}

/* What stands before the call where the schedule reads it. */
static int load_all(const struct qd_global_counts* g) {
  const struct qd_builder* builder = &g->binding->call->builder;
  if (builder->gathers) return place_own(g);
  if (builder->in_place)
    return g->is_direct[QD_PIECE_RECEIVE] ? MPI_SUCCESS
                                          : load(g, QD_PIECE_RECEIVE, QD_RECEIVE_REGION);
  return g->is_direct[QD_PIECE_SEND] ? MPI_SUCCESS : load(g, QD_PIECE_SEND, QD_SEND_REGION);
}

static int unpack_all(const struct qd_global_counts* g) {
  const struct qd_binding* b = g->binding;
  const struct qd_program* program = &b->schedule_data->program;
  int code = MPI_SUCCESS;
  /* It has what it would receive. */
  if (program->collective == QD_BROADCAST && known_of(g, QD_PIECE_SEND)->extents.blocks > 0)
    return code;
  for (int32_t i = 0; i < known_of(g, QD_PIECE_RECEIVE)->extents.blocks && code == MPI_SUCCESS; i++)
    if (!b->call->builder.gathers || !g->arguments->in_place || i != b->layout.context.rank)
      code = convert(g, &g->arguments->receive, qd_users_block(g, QD_PIECE_RECEIVE, i),
                     block_in(g, QD_PIECE_RECEIVE, QD_RECEIVE_REGION, i), 1);
  return code;
}

static const char* choose_parameters(struct qd_binding* b) {
  const struct qd_program* program = &b->schedule_data->program;
  const struct qd_context* context = &b->layout.context;
  /* The same at all ranks: of the second of two groups. */
  const int is_remote = program->groups == 2 && context->group == 0;
  const int64_t ranks = is_remote ? context->remote_ranks : context->ranks;
  const int64_t* counts = is_remote ? b->counts.remote : b->counts.own;
  if (program->collective == QD_BROADCAST) {
    /* A chain takes as long as the ring in which one rank contributes all. */
    memset(b->counts.exchanged, 0, (size_t)ranks * sizeof *b->counts.exchanged);
    b->counts.exchanged[0] = counts[0];
    counts = b->counts.exchanged;
  }
  for (int i = 0; i < program->parameter_count; i++) {
    if (!program->at_call[i]) continue;
    const int64_t rule = b->options.block_size > 0 ? b->options.block_size : program->parameters[i];
    b->layout.parameters[i] =
        qd_block_size(rule, program->alpha_ns[i], program->beta_ps[i], counts, ranks);
    if (b->layout.parameters[i] == 0)
      return "the schedule does not say how its block size is chosen; bind with block_size";
  }
  return NULL;
}

/* What the schedule requires of the other group, so that both groups refuse a call that one of them would. */
static const char* ask_other_group(struct qd_binding* b) {
  const struct qd_program* program = &b->schedule_data->program;
  struct qd_tables* tables = &b->other_tables;
  struct qd_context other = b->layout.context;
  if (program->groups < 2 || program->requirement_count == 0) return NULL;
  other.rank = 0;
  other.group = 1 - b->layout.context.group;
  other.ranks = b->layout.context.remote_ranks;
  other.remote_ranks = b->layout.context.ranks;
  other.counts = b->layout.context.remote_counts;
  other.remote_counts = b->layout.context.counts;
  if (qd_tables_refill(tables, program, &other) != tables->refusal) return NULL;
  memcpy(b->tables.refusal, tables->refusal, sizeof tables->refusal);
  return b->tables.refusal;
}

/* Chooses parameters and fills tables, after counts or the root changed. */
static const char* prepare_tables(struct qd_binding* b) {
  const char* error = choose_parameters(b);
  if (!error) error = qd_tables_refill(&b->tables, &b->schedule_data->program, &b->layout.context);
  if (!error) error = ask_other_group(b);
  if (b->call && !error) {
    b->call->is_planned = 0;
    /* The plan was made for so many temporary blocks, and for the blocks of that root. */
    const struct qd_plan* plan = &b->call->plan;
    if (plan->temporaries != b->tables.temporary_blocks ||
        plan->receive_blocks != b->counts.buffers[QD_PIECE_RECEIVE].extents.blocks)
      error = qd_call_reopen(b->call);
  }
  b->are_tables_good = !error;
  return error;
}

/* How many blocks the buffers have, at that root. */
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
  return qd_global_counts_restart(b);
}

void qd_global_counts_close(struct qd_binding* b) {
  free(b->counts.own);
  free(b->counts.remote);
  free(b->counts.exchanged);
  free(b->counts.requests);
  for (int i = 0; i < 2; i++) {
    free(b->counts.buffers[i].extents.lengths);
    free(b->counts.buffers[i].extents.offsets);
    free(b->counts.buffers[i].copy);
  }
}

/* Tables for a call in which every count is that one. */
static const char* restart_with(struct qd_binding* b, int64_t count) {
  const int64_t ranks = b->layout.context.ranks, remote = b->layout.context.remote_ranks;
  const int64_t most = ranks > remote ? ranks : remote;
  for (int64_t i = 0; i < ranks; i++) b->counts.own[i] = count;
  for (int64_t i = 0; i < remote; i++) b->counts.remote[i] = count;
  take_blocks(b);
  for (int i = 0; i < 2; i++)
    for (int64_t block = 0; block < most; block++) {
      b->counts.buffers[i].extents.lengths[block] = count;
      b->counts.buffers[i].extents.offsets[block] = count * block;
    }
  return prepare_tables(b);
}

/* A call without any bytes is tried first; where the schedule requires some, the least that it takes of a few. */
const char* qd_global_counts_restart(struct qd_binding* b) {
  enum { ONE_BY_ONE = 64, MOST_TRIED = 1 << 20 };
  const char* error = restart_with(b, 0);
  for (int64_t count = 1; error == b->tables.refusal && count <= MOST_TRIED;
       count += count < ONE_BY_ONE ? 1 : count)
    error = restart_with(b, count);
  return error == b->tables.refusal ? restart_with(b, 0) : error;
}

/* Whether no block of the receive buffer can stand for the send buffer: rank 0 of an exscan has none. */
static int has_no_result(const struct qd_binding* b) {
  return b->schedule_data->program.collective == QD_EXSCAN && b->layout.context.rank == 0;
}

/* Whether the operands may be exchanged without a trace. The maximum of two numbers depends on their order where one is
 * no number, or where they are zeros of different signs; a user's operator may do so, too. */
static int may_be_exchanged(MPI_Op operation) {
  return operation == MPI_SUM || operation == MPI_PROD || operation == MPI_BAND ||
         operation == MPI_BOR || operation == MPI_BXOR || operation == MPI_LAND ||
         operation == MPI_LOR || operation == MPI_LXOR;
}

int qd_is_predefined_operator(MPI_Op operation) {
  return may_be_exchanged(operation) || operation == MPI_MAX || operation == MPI_MIN ||
         operation == MPI_MAXLOC || operation == MPI_MINLOC;
}

/* How blocks lie while they travel: units, what is the user's own memory, what stands for the send buffer. */
static const char* describe(struct qd_global_counts* g, int* error_class) {
  const struct qd_arguments* a = g->arguments;
  const struct qd_program* program = &g->binding->schedule_data->program;
  struct qd_call* c = g->binding->call;
  int (*const lies)(MPI_Datatype) = g->reduces ? qd_has_no_gaps : qd_is_contiguous;
  const MPI_Datatype type = a->receive.type;
  const int in_place = c->builder.gathers || qd_has_one_buffer(program) ||
                       (a->in_place && program->in_place && !has_no_result(g->binding));
  g->is_direct[QD_PIECE_RECEIVE] = !a->receive.on_device && lies(type);
  g->is_direct[QD_PIECE_SEND] = !a->in_place && !a->send.on_device && lies(a->send.type);
  c->data.is_packed = g->reduces && !lies(type) && !qd_elements_are_disjoint(type);
  const int64_t unit = !g->reduces         ? 1
                       : c->data.is_packed ? a->receive.type_size
                                           : a->receive.extent;
  if (unit != c->builder.unit || in_place != c->builder.in_place) c->is_planned = 0;
  c->builder.unit = unit;
  c->builder.in_place = in_place;
  if (!g->reduces) return NULL;
  int commutes = 0;
  *error_class = MPI_ERR_OP;
  if (a->operation == MPI_OP_NULL || MPI_Op_commutative(a->operation, &commutes) != MPI_SUCCESS)
    return "the operator is not valid";
  if ((c->data.type != type || c->data.operation != a->operation) &&
      !qd_operator_fits(a->operation, type))
    return "the operator is not for elements of that datatype";
  c->data.type = type;
  c->data.operation = a->operation;
  c->data.commutes = commutes && may_be_exchanged(a->operation);
  return program->commutative && !commutes
             ? "the schedule is for operators that commute; load one that keeps the order of ranks"
             : NULL;
}

const char* qd_global_counts_take_root(struct qd_binding* b, int root) {
  return qd_take_root(b, root) ? qd_global_counts_restart(b) : NULL;
}

/* What is wrong before anything is sent. */
static const char* prepare(const struct qd_global_counts* g, int* error_class) {
  struct qd_binding* b = g->binding;
  if (qd_take_root(b, g->arguments->root)) take_blocks(b);
  const char* error = qd_read_counts(g, error_class);
  if (error) {
    b->are_tables_good = b->call->is_planned = 0; /* counts are half old, half new */
    return error;
  }
  if (!b->are_tables_good) error = prepare_tables(b);
  *error_class = error == qd_no_memory ? MPI_ERR_NO_MEM : MPI_ERR_ARG;
  if (error) return error;
  const int is_kept = find_base(g, QD_PIECE_RECEIVE, QD_RECEIVE_REGION);
  b->call->memory.lacks_memory = !is_kept;
  if (!b->call->builder.in_place)
    b->call->memory.lacks_memory |= !find_base(g, QD_PIECE_SEND, QD_SEND_REGION);
  return NULL;
}

void qd_global_counts_begin(const struct qd_global_counts* g) {
  struct qd_call* c = g->binding->call;
  c->data.send_is_contiguous = c->data.receive_is_contiguous = 1;
  const int code = c->memory.lacks_memory ? MPI_SUCCESS : load_all(g);
  qd_call_begin(c, c->memory.lacks_memory);
  if (code != MPI_SUCCESS) qd_call_lose(c, code);
}

void qd_global_counts_finish(const struct qd_global_counts* g) {
  struct qd_call* c = g->binding->call;
  qd_call_finish(c);
  if (!g->is_direct[QD_PIECE_RECEIVE] && !c->outcome.is_lost) qd_call_check(c, unpack_all(g));
}

static void forget_large_copies(struct qd_binding* b) {
  for (int i = 0; i < 2; i++) {
    if (b->counts.buffers[i].copy_size <= KEPT_COPY) continue;
    free(b->counts.buffers[i].copy);
    b->counts.buffers[i].copy = NULL;
    b->counts.buffers[i].copy_size = 0;
  }
}

/* Says where this rank does not contribute what it is to have. */
static void find_mismatch(const struct qd_global_counts* g, char text[QD_TEXT]) {
  const struct qd_binding* b = g->binding;
  if (b->schedule_data->program.collective != QD_ALLGATHER) return;
  const long long own = qd_contributed(g), expected = b->counts.own[b->layout.context.rank];
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
  if (!error) error = describe(g, &error_class);
  /* Nobody waits for counts of a rank that has an error instead. */
  if (b->options.compares && qd_exchanges_counts(g)) {
    const int code = qd_compare_errors(b, comm, error_class, error);
    if (code != MPI_SUCCESS) return code;
  }
  if (!error) error = prepare(g, &error_class);
  if (!error) find_mismatch(g, differs);
  if (b->options.compares)
    return qd_compare_calls(b, comm, a, differs[0] ? MPI_ERR_COUNT : error_class,
                            differs[0] ? differs : error);
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
  forget_large_copies(binding);
  code = qd_call_report(binding->call, comm);
  if (code == MPI_SUCCESS && differs[0]) return qd_error(comm, MPI_ERR_COUNT, "%s", differs);
  const int reads_directly =
      g.is_direct[QD_PIECE_SEND] || (arguments->in_place && binding->call->builder.in_place);
  binding->last.may_repeat =
      binding->call->is_planned && g.is_direct[QD_PIECE_RECEIVE] && reads_directly;
  return code;
}

int qd_global_counts_repeat(struct qd_binding* binding, MPI_Comm comm) {
  const struct qd_global_counts g = {binding, &binding->last.made,
                                     .reduces = qd_reduces(&binding->schedule_data->program),
                                     .is_direct = {1, 1}};
  qd_global_counts_begin(&g);
  qd_global_counts_finish(&g);
  return qd_call_report(binding->call, comm);
}
