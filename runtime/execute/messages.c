/* Posts and delivers messages that are not one block at one address. Such messages are empty, have several parts,
 * have more elements than an int counts or a datatype for each block, begin with lengths, or use a buffer of the
 * runtime. Copies blocks of a call to and from these buffers, and reduces them. */
#include <stdlib.h>

#include "runtime/execute/call.h"

/* ---- Blocks */

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

/* Reserves a buffer and returns its address. Ends the job if memory ran out. */
static char* need_buffer(struct qd_call* c, int buffer, int64_t size) {
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

/* Copies the parts of a message one after the other to `to`. Returns the end of the copy. */
static char* gather_parts(struct qd_call* c, const struct qd_message* m, char* to) {
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

/* Copies or reduces a message into its parts. A temporary block of unknown length stays in the buffer. */
static void scatter_parts(struct qd_call* c, struct qd_posting p, char* from) {
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

/* Makes the temporary blocks of a lost message empty. */
static void forget_parts(struct qd_call* c, const struct qd_message* m) {
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
static void copy_bytes(struct qd_call* c, const struct qd_copy* copy) {
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
  if (c->builder.traits.has_global_counts) return copy_bytes(c, copy);
  const struct qd_block from = c->data.blocks[copy->from.region];
  const struct qd_message whole = {.count = 1, .part = copy->from};
  struct qd_block* to = &c->data.blocks[copy->to.region];
  if (!qd_is_temporary(&c->plan, copy->to.region)) return put(c, copy->to.region, from);
  if (copy->buffer == QD_NO_BUFFER || c->data.send_is_contiguous ||
      c->lengths == QD_LENGTHS_ALONE) {
    *to = from;
    return;
  }
  *to = (struct qd_block){need_buffer(c, copy->buffer, from.count), from.count};
  gather_parts(c, &whole, to->address);
}

/* ---- Messages */

/* Posts a receive or a send of any length, which may be 0. */
static void post(struct qd_call* c, int receives, struct qd_block block, MPI_Datatype type,
                 int peer, int tag, MPI_Request* request) {
  MPI_Datatype as = type;
  const int is_large = block.count > INT_MAX, count = is_large ? 1 : (int)block.count;
  const int rank = qd_rank_in_comm(c->binding, peer);
  if (is_large && qd_large_type(block.count, type, &as) != MPI_SUCCESS)
    qd_end_without_memory(c->comm);
  const int code = receives ? PMPI_Irecv(block.address, count, as, rank, tag, c->comm, request)
                            : c->isend(block.address, count, as, rank, tag, c->comm, request);
  if (is_large) PMPI_Type_free(&as);
  if (code == MPI_SUCCESS) return;
  *request = MPI_REQUEST_NULL;
  qd_call_lose(c, code);
}

/* Posts a receive or a send of any number of bytes. */
static void post_bytes(struct qd_call* c, int receives, char* address, int64_t bytes, int peer,
                       int tag, MPI_Request* request) {
  post(c, receives, (struct qd_block){address, bytes}, MPI_BYTE, peer, tag, request);
}

/* Posts an empty message. If lengths travel, it has their tag, because the peer expects lengths. */
static void post_empty(struct qd_call* c, int receives, struct qd_posting p) {
  const int tag = c->lengths == QD_LENGTHS_KNOWN ? c->tag : c->length_tag;
  post(c, receives, (struct qd_block){NULL, 0}, MPI_BYTE, p.message->peer, tag,
       &p.transfer->request);
}

/* Posts a message of several parts without copying them, with a datatype that describes them. */
static void post_parts(struct qd_call* c, int receives, struct qd_posting p) {
  const struct qd_message* m = p.message;
  MPI_Datatype type = MPI_BYTE;
  int* lengths = calloc((size_t)m->count, sizeof *lengths);
  MPI_Aint* regions = calloc((size_t)m->count, sizeof *regions);
  MPI_Datatype* types = calloc((size_t)m->count, sizeof *types);
  int code = lengths && regions && types ? MPI_SUCCESS : MPI_ERR_NO_MEM, made = 0;
  for (int i = 0; i < m->count && code == MPI_SUCCESS; i++) {
    const struct qd_block block = qd_block_at(c, &c->plan.parts[m->first + i]);
    const int is_large = block.count > INT_MAX;
    lengths[i] = is_large ? 1 : (int)block.count;
    types[i] = MPI_BYTE;
    code = PMPI_Get_address(block.address, &regions[i]);
    if (code == MPI_SUCCESS && is_large) code = qd_large_type(block.count, MPI_BYTE, &types[i]);
    made += code == MPI_SUCCESS;
  }
  if (code == MPI_SUCCESS) code = PMPI_Type_create_struct(m->count, lengths, regions, types, &type);
  if (code == MPI_SUCCESS) code = PMPI_Type_commit(&type);
  while (made-- > 0)
    if (types[made] != MPI_BYTE) PMPI_Type_free(&types[made]);
  free(lengths);
  free(regions);
  free(types);
  if (code != MPI_SUCCESS) qd_end_without_memory(c->comm);
  post(c, receives, (struct qd_block){MPI_BOTTOM, 1}, type, m->peer, c->tag, &p.transfer->request);
  PMPI_Type_free(&type);
}

/* Posts a block with the user's datatype. */
static void post_typed(struct qd_call* c, int receives, struct qd_posting p) {
  const struct qd_message* m = p.message;
  const int32_t first = receives ? c->plan.regions.send_blocks : 0;
  const struct qd_side side =
      qd_side_of(receives ? &c->data.receive : &c->data.send, m->part.region - first);
  const struct qd_block block = c->data.blocks[m->part.region];
  if (block.count == 0 || side.type_size == 0) return;
  post(c, receives, block, side.type, m->peer, c->tag, &p.transfer->request);
}

/* Sends an empty message in place of one whose bytes are missing, unless both ends know that it has no bytes. */
static void send_nothing(struct qd_call* c, struct qd_posting p) {
  const struct qd_message* m = p.message;
  if (m->count == 0 || c->lengths != QD_LENGTHS_KNOWN || qd_message_bytes(c, p) > 0)
    post_empty(c, 0, p);
}

/* Returns whether a message is sent from the memory of its only part. */
static int is_zero_copy(const struct qd_call* c, const struct qd_message* m) {
  return m->zero_copy && (c->data.send_is_contiguous || qd_is_temporary(&c->plan, m->part.region));
}

/* The first word of a message with lengths. The data follows the lengths, or is in a second message. */
enum { INLINE_DATA, SEPARATE_DATA };

/* Returns how many bytes of a buffer the word and the 64-bit lengths take, with padding before the data. */
static int64_t head_size(int parts) {
  enum { ALIGNMENT = 16 };
  const int64_t bytes = QD_LONG_WORD + QD_LONG_WORD * (int64_t)parts;
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

int64_t qd_lengths_capacity(const struct qd_message* m) {
  return head_size(m->count) + QD_EAGER_BYTES;
}

static int64_t outgoing_bytes(const struct qd_call* c, const struct qd_message* m) {
  const struct qd_part* parts = qd_parts_of(&c->plan, m);
  int64_t bytes = 0;
  for (int i = 0; i < m->count; i++) bytes += c->data.blocks[parts[i].region].count;
  return bytes;
}

static void write_word(char* buffer, uint16_t word) { memcpy(buffer, &word, sizeof word); }

/* Writes the word and the lengths before inline data. Returns where the data begins. */
static char* write_short(const struct qd_call* c, const struct qd_message* m, char* buffer) {
  const struct qd_part* part = qd_parts_of(&c->plan, m);
  write_word(buffer, INLINE_DATA);
  for (int i = m->count; i > 0; i--, part++)
    write_word(buffer += QD_SHORT_WORD, (uint16_t)c->data.blocks[part->region].count);
  return buffer + QD_SHORT_WORD;
}

static void write_long(const struct qd_call* c, const struct qd_message* m, char* buffer) {
  const struct qd_part* parts = qd_parts_of(&c->plan, m);
  memset(buffer, 0, QD_LONG_WORD);
  write_word(buffer, SEPARATE_DATA);
  for (int i = 0; i < m->count; i++) {
    const int64_t length = c->data.blocks[parts[i].region].count;
    memcpy(buffer += QD_LONG_WORD, &length, sizeof length);
  }
}

/* Sends a message that begins with its lengths. */
static void send_with_lengths(struct qd_call* c, struct qd_posting p) {
  const struct qd_message* m = p.message;
  const int64_t bytes = p.transfer->bytes = outgoing_bytes(c, m), head = head_size(m->count);
  const int with_data = c->lengths == QD_LENGTHS_AHEAD;
  const int zero_copy = bytes > QD_EAGER_BYTES && is_zero_copy(c, m);
  const int64_t data = !with_data || zero_copy || bytes < QD_EAGER_BYTES ? QD_EAGER_BYTES : bytes;
  MPI_Request* request = &p.transfer->request;
  char* const buffer = need_buffer(c, m->buffer, head + data);
  if (with_data && bytes <= QD_EAGER_BYTES) {
    const char* end = gather_parts(c, m, write_short(c, m, buffer));
    return post_bytes(c, 0, buffer, end - buffer, m->peer, c->length_tag, request);
  }
  write_long(c, m, buffer);
  post_bytes(c, 0, buffer, QD_LONG_WORD * ((int64_t)m->count + 1), m->peer, c->length_tag, request);
  if (!with_data) return;
  char* address = zero_copy ? qd_block_at(c, &m->part).address : buffer + head;
  if (!zero_copy) gather_parts(c, m, address);
  post_bytes(c, 0, address, bytes, m->peer, c->tag, &p.transfer->data);
}

static void receive_with_lengths(struct qd_call* c, struct qd_posting p) {
  const int64_t size = qd_lengths_capacity(p.message);
  post_bytes(c, 1, need_buffer(c, p.message->buffer, size), size, p.message->peer, c->length_tag,
             &p.transfer->request);
  p.transfer->has_arrived = p.transfer->request != MPI_REQUEST_NULL;
}

/* Reads the lengths of the parts. Returns their sum, or -1 if the message does not have lengths of all parts. */
static int64_t read_lengths(struct qd_call* c, struct qd_posting p, const char* buffer) {
  const struct qd_message* m = p.message;
  const int64_t received = p.transfer->bytes, words = (int64_t)m->count + 1;
  int64_t* lengths = m->count == 1 ? &p.transfer->bytes : c->memory.lengths_of_parts + m->first;
  uint16_t how, word;
  int64_t total = 0;
  memcpy(&how, buffer, sizeof how);
  if (received < words * (how == SEPARATE_DATA ? QD_LONG_WORD : QD_SHORT_WORD)) return -1;
  for (int i = 0; i < m->count; i++) {
    if (how == SEPARATE_DATA) {
      memcpy(&lengths[i], buffer + QD_LONG_WORD * (i + 1), sizeof lengths[i]);
    } else {
      memcpy(&word, buffer + QD_SHORT_WORD * (i + 1), sizeof word);
      lengths[i] = word;
    }
    if (lengths[i] < 0 || __builtin_add_overflow(total, lengths[i], &total)) return -1;
  }
  if (how == SEPARATE_DATA) return received == QD_LONG_WORD * words ? total : -1;
  return how == INLINE_DATA && received == QD_SHORT_WORD * words + total ? total : -1;
}

/* Posts the receive of the second message, which has the data. */
static void post_data_receive(struct qd_call* c, struct qd_posting p) {
  const struct qd_message* m = p.message;
  const struct qd_block* block = &c->data.blocks[m->part.region];
  const int64_t bytes = p.transfer->bytes;
  const int is_zero_copy = m->zero_copy && c->data.receive_is_contiguous && block->count == bytes;
  p.transfer->arrival = is_zero_copy ? QD_DATA_ZERO_COPY : QD_DATA_SEPARATE;
  char* const address = is_zero_copy ? block->address : need_buffer(c, m->buffer, bytes);
  post_bytes(c, 1, address, bytes, m->peer, c->tag, &p.transfer->data);
}

/* Reads the lengths of the next message, which has arrived. Posts the receive of its data if that is separate. */
static void read_head(struct qd_call* c) {
  const struct qd_posting p = qd_received_by(c, c->at.next_to_read++);
  uint16_t how;
  p.transfer->arrival = QD_DATA_INLINE;
  if (p.message->count == 0) return;
  if (!p.transfer->has_arrived) return qd_call_lose(c, MPI_SUCCESS);
  const char* const buffer = c->memory.buffers[p.message->buffer].address;
  p.transfer->bytes = read_lengths(c, p, buffer);
  if (p.transfer->bytes < 0) return qd_call_lose(c, MPI_ERR_INTERN);
  memcpy(&how, buffer, sizeof how);
  if (how == SEPARATE_DATA && p.transfer->bytes > 0 && c->lengths == QD_LENGTHS_AHEAD)
    post_data_receive(c, p);
}

/* No rank waits for ever. Proof: take the least key with a message whose lengths are not read. All data of lower keys
 * arrives, so every rank gets as far as to post its messages of that key. A rank that waits reads lengths in the
 * order of its posts, which is that of the keys. So it reads these lengths, too. */
int qd_wait_and_read(struct qd_call* c, MPI_Request* request) {
  if (*request == MPI_REQUEST_NULL) return MPI_SUCCESS;
  for (;;) {
    struct qd_transfer* next = c->at.next_to_read;
    const int is_last = next == c->at.receive_transfer;
    /* A message without parts has no lengths, and may be complete already. It must not hold up the next messages. */
    if (!is_last && next->request == MPI_REQUEST_NULL) {
      read_head(c);
      continue;
    }
    if (c->is_watched) qd_watch(c, request, is_last ? MPI_REQUEST_NULL : next->request);
    if (is_last) return PMPI_Wait(request, MPI_STATUS_IGNORE);
    MPI_Request both[] = {*request, next->request};
    int which = 0, bytes = 0;
    const int code = PMPI_Waitany(2, both, &which, &c->status);
    *request = both[0];
    next->request = both[1];
    if (which != 1) return code;
    qd_call_check(c, code);
    if (code == MPI_SUCCESS) PMPI_Get_count(&c->status, MPI_BYTE, &bytes);
    next->has_arrived = bytes > 0;
    next->bytes = bytes;
    if (bytes == 0 && qd_received_by(c, next).message->count > 0) qd_call_lose(c, code);
    read_head(c);
  }
}

/* Reads the lengths of a message that has arrived, and waits for its data. Returns the address of the data. */
static char* read_message(struct qd_call* c, struct qd_posting p) {
  while (c->at.next_to_read <= p.transfer) read_head(c);
  const int code = qd_wait_and_read(c, &p.transfer->data);
  if (code != MPI_SUCCESS) qd_call_lose(c, code);
  qd_trace_received(c, p);
  if (p.transfer->arrival == QD_DATA_ZERO_COPY)
    return c->data.blocks[p.message->part.region].address;
  char* const buffer = c->memory.buffers[p.message->buffer].address;
  return p.transfer->arrival == QD_DATA_SEPARATE
             ? buffer
             : buffer + QD_SHORT_WORD * ((int64_t)p.message->count + 1);
}

void qd_message_receive(struct qd_call* c, struct qd_posting p) {
  const struct qd_message* m = p.message;
  p.transfer->request = p.transfer->data = MPI_REQUEST_NULL;
  p.transfer->zero_copy = 0;
  if (c->lengths != QD_LENGTHS_KNOWN && m->count > 0) return receive_with_lengths(c, p);
  if (m->count == 0) return post_empty(c, 1, p);
  if (c->plan.is_typed) return post_typed(c, 1, p);
  const int64_t bytes = qd_bytes_of(c, p);
  if (bytes == 0) return;
  if (qd_uses_type_of_parts(c, m)) return post_parts(c, 1, p);
  const int is_direct = m->zero_copy && c->data.receive_is_contiguous;
  char* const address =
      is_direct ? qd_block_at(c, &m->part).address : need_buffer(c, m->buffer, bytes);
  post_bytes(c, 1, address, bytes, m->peer, c->tag, &p.transfer->request);
}

void qd_message_send(struct qd_call* c, struct qd_posting p) {
  const struct qd_message* m = p.message;
  p.transfer->request = p.transfer->data = MPI_REQUEST_NULL;
  if (c->outcome.is_lost || m->count == 0) return send_nothing(c, p);
  if (c->lengths != QD_LENGTHS_KNOWN) return send_with_lengths(c, p);
  if (c->plan.is_typed) return post_typed(c, 0, p);
  const int64_t bytes = qd_bytes_of(c, p);
  if (bytes == 0) return;
  if (qd_uses_type_of_parts(c, m)) return post_parts(c, 0, p);
  const int is_direct = is_zero_copy(c, m);
  char* const address =
      is_direct ? qd_block_at(c, &m->part).address : need_buffer(c, m->buffer, bytes);
  if (!is_direct) gather_parts(c, m, address);
  post_bytes(c, 0, address, bytes, m->peer, c->tag, &p.transfer->request);
}

void qd_message_deliver(struct qd_call* c, struct qd_posting p) {
  const struct qd_message* m = p.message;
  const int is_known = c->lengths == QD_LENGTHS_KNOWN;
  if ((is_known && c->plan.is_typed) || m->count == 0) return;
  const int64_t bytes = is_known ? qd_bytes_of(c, p) : 0;
  char* from = is_known ? c->memory.scratch : read_message(c, p); /* scratch: no bytes are read */
  if (c->outcome.is_lost) return forget_parts(c, m);
  if (bytes > 0) {
    if (qd_uses_type_of_parts(c, m) || (m->zero_copy && c->data.receive_is_contiguous)) return;
    from = c->memory.buffers[m->buffer].address;
  }
  scatter_parts(c, p, from);
}
