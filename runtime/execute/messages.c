/* Posts and delivers messages that are not one block at one address. Such messages are empty, have several parts,
 * have more elements than an int counts or a datatype for each block, begin with lengths, or use a buffer of the
 * runtime. */
#include <stdlib.h>

#include "runtime/execute/call.h"

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
  char* const buffer = qd_need_buffer(c, m->buffer, head + data);
  if (with_data && bytes <= QD_EAGER_BYTES) {
    const char* end = qd_gather_parts(c, m, write_short(c, m, buffer));
    return post_bytes(c, 0, buffer, end - buffer, m->peer, c->length_tag, request);
  }
  write_long(c, m, buffer);
  post_bytes(c, 0, buffer, QD_LONG_WORD * ((int64_t)m->count + 1), m->peer, c->length_tag, request);
  if (!with_data) return;
  char* address = zero_copy ? qd_block_at(c, &m->part).address : buffer + head;
  if (!zero_copy) qd_gather_parts(c, m, address);
  post_bytes(c, 0, address, bytes, m->peer, c->tag, &p.transfer->data);
}

static void receive_with_lengths(struct qd_call* c, struct qd_posting p) {
  const int64_t size = qd_lengths_capacity(p.message);
  post_bytes(c, 1, qd_need_buffer(c, p.message->buffer, size), size, p.message->peer, c->length_tag,
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
  char* const address = is_zero_copy ? block->address : qd_need_buffer(c, m->buffer, bytes);
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
      is_direct ? qd_block_at(c, &m->part).address : qd_need_buffer(c, m->buffer, bytes);
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
      is_direct ? qd_block_at(c, &m->part).address : qd_need_buffer(c, m->buffer, bytes);
  if (!is_direct) qd_gather_parts(c, m, address);
  post_bytes(c, 0, address, bytes, m->peer, c->tag, &p.transfer->request);
}

void qd_message_deliver(struct qd_call* c, struct qd_posting p) {
  const struct qd_message* m = p.message;
  const int is_known = c->lengths == QD_LENGTHS_KNOWN;
  if ((is_known && c->plan.is_typed) || m->count == 0) return;
  const int64_t bytes = is_known ? qd_bytes_of(c, p) : 0;
  char* from = is_known ? NULL : read_message(c, p);
  if (c->outcome.is_lost) return qd_forget_parts(c, m);
  if (bytes > 0) {
    if (qd_uses_type_of_parts(c, m) || (m->zero_copy && c->data.receive_is_contiguous)) return;
    from = c->memory.buffers[m->buffer].address;
  }
  qd_scatter_parts(c, p, from);
}
