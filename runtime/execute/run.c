/* Opens, begins, ends and repeats calls, and takes their memory. */
#include <stdlib.h>

#include "runtime/execute/call.h"
#include "runtime/execute/channel.h"

/* Makes the array of empty buffers large enough for the plan. Returns 0 if memory ran out. */
static int fit_buffers(struct qd_call* c) {
  const int32_t count = c->plan.buffer_count;
  if (count <= c->memory.buffer_count) return 1;
  struct qd_buffer* grown = realloc(c->memory.buffers, (size_t)count * sizeof *grown);
  if (!grown) return 0;
  memset(grown + c->memory.buffer_count, 0,
         (size_t)(count - c->memory.buffer_count) * sizeof *grown);
  c->memory.buffers = grown;
  c->memory.buffer_count = count;
  return 1;
}

/* Takes memory for the transfers of all messages of the plan. Returns 0 if memory ran out. */
static int fit_transfers(struct qd_call* c) {
  const struct qd_plan* plan = &c->plan;
  return QD_LENGTHEN(c->memory.receiving, c->memory.receiving_capacity,
                     (int64_t)plan->receives.count + 1) &&
         QD_LENGTHEN(c->memory.sending, c->memory.sending_capacity,
                     (int64_t)plan->sends.count + 1) &&
         (c->builder.traits.has_global_counts ||
          QD_LENGTHEN(c->memory.lengths_of_parts, c->memory.part_capacity,
                      (int64_t)plan->part_count + 1));
}

/* Takes buffers for receives that begin with lengths. Returns 0 if memory ran out. */
static int reserve_lengths(struct qd_call* c) {
  const struct qd_messages* receives = &c->plan.receives;
  int is_enough = 1;
  for (int32_t i = 0; !c->plan.is_typed && i < receives->count && is_enough; i++) {
    const struct qd_message* m = &receives->all[i];
    if (m->count > 0) is_enough = qd_reserve_buffer(c, m->buffer, qd_lengths_capacity(m));
  }
  return is_enough;
}

static void begin_planning(struct qd_call* c) {
  c->trace.setup = 0;
  c->is_planned = 0;
  qd_builder_start(&c->builder);
}

/* Plans the next steps, and takes the memory for them. Writes whether more follow. Returns NULL, or an error text. */
static const char* plan_part(struct qd_call* c, int* more) {
  *more = qd_builder_next(&c->builder);
  if (*more < 0) return c->builder.error;
  const int is_enough =
      fit_transfers(c) && fit_buffers(c) && qd_make_temporaries(c) &&
      (c->builder.traits.has_global_counts ? qd_call_reserve(c) : reserve_lengths(c)) &&
      qd_call_list(c);
  c->is_planned = is_enough && c->plan.is_whole;
  return is_enough ? NULL : qd_no_memory;
}

const char* qd_call_plan(struct qd_call* c) {
  int more = 1;
  const char* error = NULL;
  begin_planning(c);
  while (more > 0 && !error) error = plan_part(c, &more);
  return error;
}

/* Makes empty blocks for the regions of the plan. Returns 0 if memory ran out. */
static int fit_regions(struct qd_call* c) {
  const int32_t before = c->memory.temporary_capacity;
  const int64_t regions = (int64_t)c->plan.regions.count + 1,
                temporaries = (int64_t)c->plan.regions.temporaries + 1;
  if (!QD_LENGTHEN(c->data.blocks, c->data.block_capacity, regions) ||
      !QD_LENGTHEN(c->memory.temporaries, c->memory.temporary_capacity, temporaries))
    return 0;
  memset(c->data.blocks, 0, (size_t)regions * sizeof *c->data.blocks);
  memset(c->memory.temporaries + before, 0,
         (size_t)(c->memory.temporary_capacity - before) * sizeof *c->memory.temporaries);
  return 1;
}

static struct qd_plan_input input_of(const struct qd_binding* b) {
  return (struct qd_plan_input){.program = &b->schedule_data->program,
                                .tables = &b->tables,
                                .context = &b->layout.context,
                                .real = b->layout.real,
                                .remote_real = b->layout.remote_real,
                                .user = b->layout.user,
                                .known = {&b->counts.buffers[QD_PIECE_SEND].extents,
                                          &b->counts.buffers[QD_PIECE_RECEIVE].extents},
                                .own = b->layout.own,
                                .window = b->options.window,
                                .has_block_size = b->options.block_size > 0,
                                .keeps_steps = b->options.stall > 0};
}

const char* qd_call_open(struct qd_call* c, struct qd_binding* binding, int whole) {
  memset(c, 0, sizeof *c);
  c->binding = binding;
  c->comm = binding->comm;
  c->is_watched = binding->options.stall > 0;
  c->is_observed = c->is_watched || binding->trace.id != 0;
  c->whole = whole;
  c->data.each = -1;
  const struct qd_plan_input input = input_of(binding);
  if (!qd_builder_open(&c->builder, &input, &c->plan, 0, whole)) return qd_no_memory;
  if (!fit_regions(c)) return qd_no_memory;
  return binding->are_tables_good ? qd_call_plan(c) : NULL; /* otherwise a later call plans */
}

const char* qd_call_reopen(struct qd_call* c) {
  const char* error = qd_no_memory;
  c->is_planned = 0;
  c->data.each = -1;
  if (qd_builder_fit(&c->builder) && fit_regions(c))
    error = c->builder.traits.has_global_counts ? NULL : qd_call_plan(c); /* the next call plans */
  if (error) c->plan.regions.receive_blocks = -1;                         /* matches no root */
  return error;
}

void qd_call_release(struct qd_call* c) {
  for (int32_t i = 0; i < c->memory.buffer_count; i++) qd_give_buffer(&c->memory.buffers[i]);
}

/* Gives back the memory of long blocks at the end of a call. */
static void give_long(struct qd_call* c) {
  for (int32_t i = 0; i < c->memory.buffer_count; i++)
    if (c->memory.buffers[i].size > QD_KEPT) qd_give_buffer(&c->memory.buffers[i]);
  for (int32_t i = 0; i < c->memory.temporary_capacity; i++)
    if (c->memory.temporaries[i].size > QD_KEPT) qd_give_buffer(&c->memory.temporaries[i]);
  if (c->memory.aside.size > QD_KEPT) qd_give_buffer(&c->memory.aside);
}

void qd_call_destroy(struct qd_call* c) {
  if (!c) return;
  qd_call_release(c);
  qd_give_buffer(&c->memory.aside);
  for (int32_t i = 0; i < c->memory.temporary_capacity; i++)
    qd_give_buffer(&c->memory.temporaries[i]);
  free(c->memory.temporaries);
  free(c->memory.buffers);
  free(c->data.blocks);
  free(c->actions);
  free(c->memory.receiving);
  free(c->memory.sending);
  free(c->memory.lengths_of_parts);
  qd_builder_close(&c->builder);
  qd_plan_destroy(&c->plan);
  free(c);
}

/* Sets the lengths of all messages to those of blocks of `each` bytes. Returns 0 if 64 bits do not hold a length. */
static int set_lengths(struct qd_call* c, int64_t each) {
  const struct qd_plan* plan = &c->plan;
  if (c->data.each == each) return 1;
  c->data.each = -1;
  for (int32_t i = 0; i < plan->part_count; i++) c->memory.lengths_of_parts[i] = each;
  for (int32_t i = 0; i < plan->receives.count; i++)
    if (__builtin_mul_overflow(each, plan->receives.all[i].count, &c->memory.receiving[i].bytes))
      return 0;
  for (int32_t i = 0; i < plan->sends.count; i++)
    if (__builtin_mul_overflow(each, plan->sends.all[i].count, &c->memory.sending[i].bytes))
      return 0;
  c->data.each = each;
  return 1;
}

/* Returns whether the blocks of a side can be copied as bytes: they are contiguous or, in a typed plan, have no gaps.
 * The result means nothing for a typed plan with a type for each block. */
static int is_direct(const struct qd_call* c, const struct qd_side* side, int ranks) {
  int (*const asks)(MPI_Datatype) = c->plan.is_typed ? qd_has_no_gaps : qd_is_contiguous;
  if (side->on_device) return 0;
  if (!side->types) return asks(side->type);
  if (c->plan.is_typed) return 0;
  for (int rank = 0; rank < ranks; rank++)
    if ((rank == 0 || side->types[rank] != side->types[rank - 1]) && !asks(side->types[rank]))
      return 0;
  return 1;
}

/* In place, the root's block to itself stays where its other blocks are. Makes the block's two regions both refer to that
 * place. */
static void share_own_block(struct qd_call* c) {
  const int32_t own = c->plan.regions.own_send, target = c->plan.regions.own_receive;
  if (!c->in_place || c->builder.traits.goes_by_rank || own < 0) return;
  if (c->plan.regions.send_blocks > 1)
    c->data.blocks[target] = c->data.blocks[own];
  else
    c->data.blocks[own] = c->data.blocks[target];
}

const char* qd_call_load(struct qd_call* c, const struct qd_side* send,
                         const struct qd_side* receive, enum qd_lengths lengths, int* error_class) {
  const int sends = c->plan.regions.send_blocks, receives = c->plan.regions.receive_blocks;
  const int is_typed = c->plan.is_typed;
  const struct qd_side* from = c->in_place ? receive : send;
  c->lengths = is_typed ? QD_LENGTHS_KNOWN : lengths;
  c->data.send = *from;
  c->data.receive = *receive;
  /* Each call asks this again: a new type may have the handle of a type that was freed. */
  c->data.send_is_contiguous = is_direct(c, from, sends);
  c->data.receive_is_contiguous = is_direct(c, receive, receives);
  /* Lengths that travel overwrite those in the transfers. */
  if (is_typed || c->lengths != QD_LENGTHS_KNOWN) c->data.each = -1;
  *error_class = MPI_ERR_COUNT;
  if (qd_side_blocks(from, sends, !is_typed, c->data.blocks) &&
      qd_side_blocks(receive, receives, !is_typed, c->data.blocks + sends) &&
      (c->lengths != QD_LENGTHS_KNOWN || is_typed ||
       set_lengths(c, c->data.blocks[receives > 0 ? sends : 0].count))) {
    share_own_block(c);
    return NULL;
  }
  return "the counts are more bytes than there can be";
}

int qd_call_reserve(struct qd_call* c) {
  const struct qd_plan* plan = &c->plan;
  int is_enough = 1;
  for (int i = 0; i < 2; i++) {
    const struct qd_messages* messages = i == 0 ? &plan->receives : &plan->sends;
    for (int32_t k = 0; k < messages->count && is_enough; k++) {
      const struct qd_message* m = &messages->all[k];
      const int64_t bytes = qd_bytes_of(c, i == 0 ? qd_receive_of(c, k) : qd_send_of(c, k));
      if (m->buffer != QD_NO_BUFFER && bytes > 0 && !qd_uses_type_of_parts(c, m))
        is_enough = qd_reserve_buffer(c, m->buffer, bytes);
    }
  }
  for (int32_t i = 0; i < plan->copy_count && is_enough; i++) {
    const struct qd_copy* copy = &plan->copies[i];
    if (copy->buffer != QD_NO_BUFFER)
      is_enough = qd_reserve_buffer(c, copy->buffer, c->data.blocks[copy->from.region].count);
  }
  return is_enough;
}

/* Sets the position to the beginning of the plan. */
static void rewind_position(struct qd_call* c) {
  c->at.next = c->early.next = c->actions;
  c->at.receive_transfer = c->at.next_to_read = c->memory.receiving;
  c->early.posted = 0;
}

void qd_call_begin(struct qd_call* c) {
  const int is_typed = c->plan.is_typed, is_known = c->lengths == QD_LENGTHS_KNOWN;
  /* The last call gave back its long temporary blocks. */
  if (c->is_planned && c->memory.has_long && !qd_make_temporaries(c))
    qd_end_without_memory(c->comm);
  if (!c->is_persistent) c->tag = c->binding->channel->tag + QD_DATA_TAG;
  c->length_tag = c->binding->channel->tag + QD_LENGTH_TAG;
  qd_set_aside(c);
  c->isend = c->binding->options.synchronous ? PMPI_Issend : PMPI_Isend;
  /* A block is empty if its datatype has no bytes, whatever its count. The other end may use another datatype. */
  c->data.send_zero_copy = is_typed ? !c->data.send.types && c->data.send.type_size > 0
                                    : is_known && c->data.send_is_contiguous;
  c->data.receive_zero_copy = is_typed ? !c->data.receive.types && c->data.receive.type_size > 0
                                       : is_known && c->data.receive_is_contiguous;
  c->data.send_type = is_typed ? c->data.send.type : MPI_BYTE;
  c->data.receive_type = is_typed ? c->data.receive.type : MPI_BYTE;
  c->asked = is_typed && !c->in_place ? MPI_STATUS_IGNORE : &c->status;
  c->sends_early =
      c->builder.traits.has_global_counts && c->builder.traits.at_once > 0 && !c->is_watched;
  c->outcome.error = MPI_SUCCESS;
  c->outcome.is_lost = 0;
  c->outcome.mismatch.source = -1;
  rewind_position(c);
  /* The transfers have the length of the received blocks. The sent blocks must not have another one. */
  if (c->data.each >= 0 && c->plan.regions.send_blocks > 0 &&
      c->data.blocks[0].count != c->data.each) {
    c->outcome.mismatch =
        (struct qd_mismatch){c->binding->layout.own, c->data.blocks[0].count, c->data.each};
    qd_call_lose(c, MPI_SUCCESS);
  }
  if (c->is_observed) qd_trace_begin(c);
}

/* Plans and follows one part of the walk after the other. Sets no limit of iterations: only binding does that, at all
 * ranks. A rank that refused here would leave other ranks waiting. */
static void follow_in_parts(struct qd_call* c) {
  c->builder.input.most_iterations = INT64_MAX;
  int more = 1;
  begin_planning(c);
  while (more > 0) {
    const char* error = plan_part(c, &more);
    if (error == qd_no_memory) qd_end_without_memory(c->comm);
    if (error) return;
    rewind_position(c);
    if (c->is_observed) qd_trace_plan(c);
    qd_call_progress(c, 1);
  }
}

void qd_call_finish(struct qd_call* c) {
  if (c->is_planned)
    qd_call_progress(c, 1);
  else
    follow_in_parts(c);
  if (c->is_observed) qd_trace_end(c);
  /* A persistent call keeps the memory that it took when it was made. */
  if (c->memory.has_long && !c->is_persistent) give_long(c);
  c->binding->last.may_repeat = qd_call_is_right(c) && !c->builder.error;
  c->is_ready = c->binding->last.may_repeat && c->is_planned && !c->is_observed &&
                !c->memory.has_long && !c->in_place;
}

int qd_call_report(const struct qd_call* c, MPI_Comm comm) {
  char text[QD_TEXT];
  const struct qd_mismatch* m = &c->outcome.mismatch;
  if (c->builder.error) return qd_broken_error(comm, c->builder.error);
  if (c->outcome.error != MPI_SUCCESS) return qd_call_error(comm, c->outcome.error);
  if (m->source >= 0) {
    qd_describe_mismatch(text, m->source, m->sent,
                         c->binding->layout.own - c->binding->layout.first, m->expected);
    return qd_error(comm, MPI_ERR_TRUNCATE, "%s", text);
  }
  if (!c->outcome.is_lost) return MPI_SUCCESS;
  return qd_error(comm, MPI_ERR_OTHER,
                  "another rank could not send what it should: its call failed; its own "
                  "message says why");
}

int qd_call_again(struct qd_call* c, MPI_Comm comm) {
  if (c->is_ready) {
    rewind_position(c);
    qd_call_progress(c, 1);
    if (qd_call_is_right(c)) return MPI_SUCCESS;
    c->is_ready = c->binding->last.may_repeat = 0;
  } else {
    qd_call_begin(c);
    qd_call_finish(c);
  }
  return qd_call_report(c, comm);
}
