/* Copies blocks of a call to and from buffers of the runtime, and reduces them. */
#include <stdlib.h>

#include "runtime/execute/call.h"

/* Makes the buffer at least `size` bytes large; its contents are lost. Returns 0 if memory ran out. */
static int reserve(struct qd_call* c, struct qd_buffer* buffer, int64_t size) {
  if (size <= buffer->size) return 1;
  qd_give_buffer(buffer);
  *buffer = qd_take_buffer(size);
  c->memory.has_long |= buffer->size > QD_KEPT;
  return buffer->address != NULL;
}

int qd_reserve_buffer(struct qd_call* c, int buffer, int64_t size) {
  return reserve(c, &c->memory.buffers[buffer], size);
}

char* qd_need_buffer(struct qd_call* c, int buffer, int64_t size) {
  if (!qd_reserve_buffer(c, buffer, size)) qd_end_without_memory(c->comm);
  return c->memory.buffers[buffer].address;
}

/* Returns the block with its count in elements of the user's datatype. In a typed plan it is so already. */
static struct qd_block elements(const struct qd_call* c, const struct qd_side* side,
                                struct qd_block block) {
  if (!c->plan.is_typed && side->type_size > 0) block.count /= side->type_size;
  return block;
}

static void pack(struct qd_call* c, int region, struct qd_block block, char* to) {
  const struct qd_side side = qd_side_of(&c->data.send, region);
  qd_call_check(c, qd_pack(&side, elements(c, &side, block), to, c->comm));
}

char* qd_gather_parts(struct qd_call* c, const struct qd_message* m, char* to) {
  const struct qd_part* part = qd_parts_of(&c->plan, m);
  const int first_contiguous = c->data.send_is_contiguous ? 0 : c->plan.regions.send_blocks;
  for (int i = m->count; i > 0; i--, part++) {
    const struct qd_block block = qd_block_at(c, part);
    if (block.count == 0) continue;
    if (part->region >= first_contiguous)
      memcpy(to, block.address, (size_t)block.count);
    else
      pack(c, part->region, block, to);
    to += block.count;
  }
  return to;
}

/* Copies packed bytes to a block of the receive buffer. Notes a mismatch if the lengths differ. */
static void put(struct qd_call* c, int region, struct qd_block from) {
  const struct qd_block to = c->data.blocks[region];
  const int source = region - c->plan.regions.send_blocks;
  if (from.count != to.count) {
    if (c->outcome.mismatch.source < 0 && !c->outcome.is_lost) /* a lost block has no bytes */
      c->outcome.mismatch = (struct qd_mismatch){source, from.count, to.count};
    return;
  }
  if (to.count == 0 || to.address == from.address || c->lengths == QD_LENGTHS_ALONE) return;
  if (c->data.receive_is_contiguous) {
    memcpy(to.address, from.address, (size_t)to.count);
    return;
  }
  const struct qd_side side = qd_side_of(&c->data.receive, source);
  qd_call_check(c, qd_unpack(&side, elements(c, &side, to), from.address, c->comm));
}

/* Reduces elements at `from` into those at `to`, as qd_combine, for any number of bytes. May overwrite `from`. */
static void combine(struct qd_call* c, int side, char* from, char* to, int64_t bytes) {
  const int64_t unit = c->builder.traits.unit,
                most = INT_MAX / unit > 0 ? INT_MAX / unit * unit : unit;
  for (int64_t at = 0; at < bytes; at += most) {
    const int64_t now = bytes - at < most ? bytes - at : most;
    qd_combine(c, side, from + at, to + at, (int)(now / unit), now);
  }
}

/* Copies or reduces a message into parts that are ranges of bytes, as they are if all ranks know all counts. This
 * loop is apart from the next one: a test for each part would cost an all-to-all a tenth more instructions. */
static void put_ranges(struct qd_call* c, const struct qd_message* m, char* from) {
  const struct qd_part* part = qd_parts_of(&c->plan, m);
  for (int i = m->count; i > 0; i--, part++) {
    const struct qd_block to = qd_block_at(c, part);
    if (m->combines)
      combine(c, m->combines, from, to.address, to.count);
    else
      memcpy(to.address, from, (size_t)to.count);
    from += to.count;
  }
}

void qd_scatter_parts(struct qd_call* c, struct qd_posting p, char* from) {
  const struct qd_message* m = p.message;
  if (c->builder.traits.has_global_counts) return put_ranges(c, m, from);
  const struct qd_part* part = qd_parts_of(&c->plan, m);
  const int64_t* length =
      m->count == 1 ? &p.transfer->bytes : c->memory.lengths_of_parts + m->first;
  const int32_t first_temporary = c->plan.regions.send_blocks + c->plan.regions.receive_blocks;
  for (int i = m->count; i > 0; i--, part++) {
    const struct qd_block block = {from, *length++};
    if (part->region >= first_temporary)
      c->data.blocks[part->region] = block;
    else
      put(c, part->region, block);
    from += block.count;
  }
}

void qd_forget_parts(struct qd_call* c, const struct qd_message* m) {
  const struct qd_part* parts = qd_parts_of(&c->plan, m);
  for (int i = 0; i < m->count; i++)
    if (parts[i].form != QD_RANGE && qd_is_temporary(&c->plan, parts[i].region))
      c->data.blocks[parts[i].region].count = 0;
}

static int64_t packed_size(const struct qd_call* c, const struct qd_side* side,
                           struct qd_block block) {
  return c->plan.is_typed ? block.count * side->type_size : block.count;
}

int64_t qd_packed_size(const struct qd_call* c, int region) {
  const int first = c->plan.regions.send_blocks;
  const struct qd_side side = region < first ? qd_side_of(&c->data.send, region)
                                             : qd_side_of(&c->data.receive, region - first);
  return packed_size(c, &side, c->data.blocks[region]);
}

void qd_copy_own(struct qd_call* c) {
  const struct qd_call_data* d = &c->data;
  const int own = c->binding->layout.own, region = c->plan.regions.own_receive;
  const struct qd_block from = d->blocks[c->plan.regions.own_send], to = d->blocks[region];
  const int is_contiguous = d->send_is_contiguous && d->receive_is_contiguous;
  if (c->in_place) return;
  if (is_contiguous && !c->plan.is_typed) return put(c, region, from);
  if (is_contiguous && d->send.type == d->receive.type && from.count == to.count) {
    if (from.address != to.address)
      memcpy(to.address, from.address, (size_t)(from.count * d->send.type_size));
    return;
  }
  const struct qd_side send = qd_side_of(&d->send, c->plan.regions.own_send);
  const struct qd_side receive = qd_side_of(&d->receive, region - c->plan.regions.send_blocks);
  const int64_t sent = packed_size(c, &send, from), expected = packed_size(c, &receive, to);
  if (sent != expected && c->outcome.mismatch.source < 0)
    c->outcome.mismatch = (struct qd_mismatch){own, sent, expected};
  if (sent != expected || c->lengths == QD_LENGTHS_ALONE) return;
  const int code = qd_copy_block(c->comm, qd_rank_in_comm(c->binding, own), c->tag, &send,
                                 elements(c, &send, from), &receive, elements(c, &receive, to));
  qd_call_check(c, code);
}

void qd_set_aside(struct qd_call* c) {
  struct qd_call_data* const d = &c->data;
  struct qd_buffer* const aside = &c->memory.aside;
  const int blocks = c->plan.regions.send_blocks, is_direct = d->receive_is_contiguous;
  int64_t total = 0;
  if (!c->in_place || !c->builder.traits.goes_by_rank) return;
  for (int i = 0; i < blocks; i++) total += qd_packed_size(c, blocks + i);
  if (!reserve(c, aside, total)) qd_end_without_memory(c->comm);
  char* to = aside->address;
  for (int i = 0; i < blocks; i++) {
    const struct qd_side side = qd_side_of(&d->receive, i);
    const struct qd_block from = d->blocks[blocks + i];
    const int64_t bytes = packed_size(c, &side, from);
    if (is_direct && bytes > 0)
      memcpy(to, from.address, (size_t)bytes);
    else if (bytes > 0)
      qd_call_check(c, qd_pack(&side, elements(c, &side, from), to, c->comm));
    d->blocks[i] = (struct qd_block){to, is_direct ? from.count : bytes};
    to += bytes;
  }
  if (!is_direct) d->send = (struct qd_side){.type = MPI_PACKED, .type_size = 1};
  d->send_is_contiguous = 1;
}

int qd_make_temporaries(struct qd_call* c) {
  for (int32_t i = 0; c->builder.traits.has_global_counts && i < c->plan.regions.temporaries; i++) {
    struct qd_buffer* block = &c->memory.temporaries[i];
    const int64_t size = c->builder.memory.temporaries[i].capacity;
    if (size > block->size) {
      const struct qd_buffer grown = qd_take_buffer(size);
      if (!grown.address) return 0;
      if (block->size > 0) memcpy(grown.address, block->address, (size_t)block->size);
      qd_give_buffer(block);
      *block = grown;
      c->memory.has_long |= grown.size > QD_KEPT;
    }
    c->data.blocks[QD_TEMPORARY_REGIONS + i] = (struct qd_block){block->address, block->size};
  }
  return 1;
}

/* Does what `combine` does, but keeps `from`: copies it to scratch memory, or to new memory for a large element. */
static void combine_kept(struct qd_call* c, int side, const char* from, char* to, int64_t bytes) {
  const int64_t unit = c->builder.traits.unit;
  const int64_t fitting = (int64_t)sizeof c->memory.scratch / unit * unit;
  const int64_t most = fitting > 0 ? fitting : unit;
  char* const part = fitting > 0 ? c->memory.scratch : malloc((size_t)unit);
  if (!part) qd_end_without_memory(c->comm);
  for (int64_t at = 0; at < bytes; at += most) {
    const int64_t now = bytes - at < most ? bytes - at : most;
    memcpy(part, from + at, (size_t)now);
    combine(c, side, part, to + at, now);
  }
  if (part != c->memory.scratch) free(part);
}

/* Copies or reduces a range of bytes. */
static void copy_range(struct qd_call* c, const struct qd_copy* copy) {
  const struct qd_block from = qd_block_at(c, &copy->from);
  char* const to = qd_block_at(c, &copy->to).address;
  if (c->outcome.is_lost || from.count == 0) return;
  if (!copy->combines)
    memmove(to, from.address, (size_t)from.count);
  else if (copy->combines == QD_ON_THE_RIGHT && !c->data.commutes)
    combine_kept(c, copy->combines, from.address, to, from.count);
  else
    combine(c, copy->combines, from.address, to, from.count);
}

void qd_copy(struct qd_call* c, const struct qd_copy* copy) {
  if (c->builder.traits.has_global_counts) return copy_range(c, copy);
  const struct qd_block from = c->data.blocks[copy->from.region];
  const struct qd_message whole = {.count = 1, .part = copy->from};
  struct qd_block* to = &c->data.blocks[copy->to.region];
  if (!qd_is_temporary(&c->plan, copy->to.region)) return put(c, copy->to.region, from);
  if (copy->buffer == QD_NO_BUFFER || c->data.send_is_contiguous ||
      c->lengths == QD_LENGTHS_ALONE) {
    *to = from;
    return;
  }
  *to = (struct qd_block){qd_need_buffer(c, copy->buffer, from.count), from.count};
  qd_gather_parts(c, &whole, to->address);
}
