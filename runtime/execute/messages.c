/* Messages that are not simply one block at one address: empty ones, those of several parts, of more
 * elements than an int counts, of types that differ from block to block, those that begin with the
 * lengths of their parts, and all that go through buffers of the runtime. */
#include <stdlib.h>

#include "runtime/execute/call.h"

/* Posts a message, empty or not. */
static void post(struct qd_call* c, int receives, struct qd_block block, MPI_Datatype type,
                 int peer, int tag, MPI_Request* request) {
  const int count = (int)block.count;
  const int code = receives ? MPI_Irecv(block.address, count, type, peer, tag, c->comm, request)
                            : c->isend(block.address, count, type, peer, tag, c->comm, request);
  if (code == MPI_SUCCESS) return;
  *request = MPI_REQUEST_NULL;
  qd_call_lose(c, code);
}

/* One of a type that is made for it. */
static void post_made(struct qd_call* c, int receives, char* address, int code, MPI_Datatype type,
                      int peer, int tag, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  if (code != MPI_SUCCESS) return qd_call_lose(c, code);
  post(c, receives, (struct qd_block){address, 1}, type, peer, tag, request);
  MPI_Type_free(&type);
}

static void post_any(struct qd_call* c, int receives, struct qd_block block, MPI_Datatype type,
                     int peer, int tag, MPI_Request* request) {
  MPI_Datatype large = type;
  if (block.count <= INT_MAX) return post(c, receives, block, type, peer, tag, request);
  const int code = qd_large_type(block.count, type, &large);
  post_made(c, receives, block.address, code, large, peer, tag, request);
}

/* Posts bytes of any number. */
static void post_bytes(struct qd_call* c, int receives, char* address, int64_t bytes, int peer,
                       int tag, MPI_Request* request) {
  post_any(c, receives, (struct qd_block){address, bytes}, MPI_BYTE, peer, tag, request);
}

/* Among the messages that begin with lengths, where these do: the other end awaits one of them. */
static void post_empty(struct qd_call* c, int receives, struct qd_posting p) {
  const int tag = c->lengths == QD_LENGTHS_KNOWN ? c->tag : c->length_tag;
  post(c, receives, (struct qd_block){NULL, 0}, MPI_BYTE, p.message->peer, tag,
       &p.transfer->request);
}

/* Several parts where they lie. */
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
    code = MPI_Get_address(block.address, &regions[i]);
    if (code == MPI_SUCCESS && is_large) code = qd_large_type(block.count, MPI_BYTE, &types[i]);
    made += code == MPI_SUCCESS;
  }
  if (code == MPI_SUCCESS) code = MPI_Type_create_struct(m->count, lengths, regions, types, &type);
  if (code == MPI_SUCCESS) code = MPI_Type_commit(&type);
  while (made-- > 0)
    if (types[made] != MPI_BYTE) MPI_Type_free(&types[made]);
  free(lengths);
  free(regions);
  free(types);
  if (code != MPI_SUCCESS) {
    qd_call_lose(c, code);
    return receives ? qd_keep_nothing(c, p.transfer) : post_empty(c, 0, p);
  }
  post_made(c, receives, MPI_BOTTOM, code, type, m->peer, c->tag, &p.transfer->request);
}

/* A block as what the user's type says. A block that was saved has been packed, where its type is not dense. */
static void post_typed(struct qd_call* c, int receives, struct qd_posting p) {
  const struct qd_message* m = p.message;
  const int32_t first = receives ? c->plan.send_blocks : 0;
  const struct qd_side side =
      qd_side_of(receives ? &c->data.receive : &c->data.send, m->part.region - first);
  struct qd_block block = c->data.blocks[m->part.region];
  MPI_Datatype type = side.type;
  if (block.count == 0 || side.type_size == 0) return;
  if (m->part.form == QD_SAVED && !c->data.send_is_contiguous) {
    type = MPI_PACKED;
    block.count *= side.type_size;
  }
  post_any(c, receives, block, type, m->peer, c->tag, &p.transfer->request);
}

/* Instead of a message with bytes that are missing. Where both ends know that there are none, no message
 * travels. */
static void send_nothing(struct qd_call* c, struct qd_posting p) {
  const struct qd_message* m = p.message;
  const int is_known = c->lengths == QD_LENGTHS_KNOWN;
  if (m->count > 0 && is_known &&
      (c->plan.is_typed ? qd_packed_size(c, m->part.region) : qd_bytes_of(c, p)) == 0)
    return;
  post_empty(c, 0, p);
}

/* Waits for so many bytes without keeping them: over and over themselves. A receive that is too short
 * would not do: Open MPI 4.1 writes beyond it. */
static void receive_in_vain(struct qd_call* c, int64_t bytes, int peer) {
  const int64_t least = (int64_t)sizeof c->memory.scratch;
  const int64_t part = bytes / INT_MAX + 1 > least ? bytes / INT_MAX + 1 : least;
  MPI_Datatype type = MPI_BYTE;
  int code = part > least ? MPI_ERR_COUNT : MPI_SUCCESS, count = (int)bytes;
  if (code == MPI_SUCCESS && bytes > least) {
    count = 1;
    code = MPI_Type_create_hvector((int)((bytes + part - 1) / part), (int)part, 0, MPI_BYTE, &type);
    if (code == MPI_SUCCESS) code = MPI_Type_commit(&type);
  }
  if (code == MPI_SUCCESS)
    code = MPI_Recv(c->memory.scratch, count, type, peer, c->tag, c->comm, MPI_STATUS_IGNORE);
  if (type != MPI_BYTE) MPI_Type_free(&type);
  qd_call_check(c, code);
}

/* Whether a message that is sent is bytes where its one part lies. */
static int is_zero_copy(const struct qd_call* c, const struct qd_message* m) {
  return m->zero_copy && (c->data.send_is_contiguous || qd_is_temporary(&c->plan, m->part.region));
}

/* How a message goes on. */
enum { FOLLOWS_HERE, FOLLOWS_APART };

/* Before lengths of 16 bits that FOLLOWS_HERE, of 64 bits that FOLLOWS_APART. */
enum { SHORT_WORD = 2, LONG_WORD = 8, ALIGNMENT = 16 };

/* Where data begins in a buffer in which it stands behind 64-bit lengths. */
static int64_t head_size(int parts) {
  const int64_t bytes = LONG_WORD + LONG_WORD * (int64_t)parts;
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

static void write_word(char* room, uint16_t word) { memcpy(room, &word, sizeof word); }

/* Lengths as they precede data of the same message; where that begins. */
static char* write_short(const struct qd_call* c, const struct qd_message* m, char* room) {
  const struct qd_part* part = qd_parts_of(&c->plan, m);
  write_word(room, FOLLOWS_HERE);
  for (int i = m->count; i > 0; i--, part++)
    write_word(room += SHORT_WORD, (uint16_t)c->data.blocks[part->region].count);
  return room + SHORT_WORD;
}

static void write_long(const struct qd_call* c, const struct qd_message* m, char* room) {
  const struct qd_part* parts = qd_parts_of(&c->plan, m);
  memset(room, 0, LONG_WORD);
  write_word(room, FOLLOWS_APART);
  for (int i = 0; i < m->count; i++) {
    const int64_t length = c->data.blocks[parts[i].region].count;
    memcpy(room += LONG_WORD, &length, sizeof length);
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
  char* room;
  if (!qd_reserve_buffer(c, m->buffer, head + data, &room)) return send_nothing(c, p);
  if (with_data && bytes <= QD_EAGER_BYTES) {
    const char* end = qd_gather_parts(c, m, write_short(c, m, room));
    return post_bytes(c, 0, room, end - room, m->peer, c->length_tag, request);
  }
  write_long(c, m, room);
  post_bytes(c, 0, room, LONG_WORD * ((int64_t)m->count + 1), m->peer, c->length_tag, request);
  if (!with_data) return;
  char* address = zero_copy ? qd_block_at(c, &m->part).address : room + head;
  if (!zero_copy) qd_gather_parts(c, m, address);
  post_bytes(c, 0, address, bytes, m->peer, c->tag, &p.transfer->data);
}

static void receive_with_lengths(struct qd_call* c, struct qd_posting p) {
  const struct qd_buffer* room = &c->memory.buffers[p.message->buffer];
  const int64_t size = room->size < INT_MAX ? room->size : INT_MAX;
  post_bytes(c, 1, room->address, size, p.message->peer, c->length_tag, &p.transfer->request);
  p.transfer->has_arrived = p.transfer->request != MPI_REQUEST_NULL;
}

/* Reads the lengths of the parts. Returns what they come to; -1 where they are none that this library
 * wrote. */
static int64_t read_lengths(struct qd_call* c, struct qd_posting p, const char* room) {
  const struct qd_message* m = p.message;
  int64_t* lengths = m->count == 1 ? &p.transfer->bytes : c->memory.lengths_of_parts + m->first;
  uint16_t how, word;
  int64_t total = 0;
  memcpy(&how, room, sizeof how);
  if (how > FOLLOWS_APART) return -1;
  for (int i = 0; i < m->count; i++) {
    if (how == FOLLOWS_APART) {
      memcpy(&lengths[i], room + LONG_WORD * (i + 1), sizeof lengths[i]);
    } else {
      memcpy(&word, room + SHORT_WORD * (i + 1), sizeof word);
      lengths[i] = word;
    }
    if (lengths[i] < 0 || __builtin_add_overflow(total, lengths[i], &total)) return -1;
  }
  return how == FOLLOWS_APART || total <= QD_EAGER_BYTES ? total : -1;
}

/* Posts the receive of data that comes in a message of its own. */
static void expect_data(struct qd_call* c, struct qd_posting p) {
  const struct qd_message* m = p.message;
  const struct qd_block* block = &c->data.blocks[m->part.region];
  const int64_t bytes = p.transfer->bytes;
  char* address;
  p.transfer->arrival = QD_DATA_SEPARATE;
  if (p.transfer >= c->memory.kept) return receive_in_vain(c, bytes, m->peer);
  if (m->zero_copy && c->data.receive_is_contiguous && block->count == bytes) {
    p.transfer->arrival = QD_DATA_ZERO_COPY;
    address = block->address;
  } else if (!qd_reserve_buffer(c, m->buffer, bytes, &address)) {
    qd_keep_nothing(c, p.transfer);
    return receive_in_vain(c, bytes, m->peer);
  }
  post_bytes(c, 1, address, bytes, m->peer, c->tag, &p.transfer->data);
}

/* Reads the beginning of the next message, which is there, and awaits its data. */
static void read_head(struct qd_call* c) {
  const struct qd_posting p = qd_received_by(c, c->at.next_to_read++);
  uint16_t how;
  p.transfer->arrival = QD_DATA_INLINE;
  if (p.message->count == 0) return;
  if (!p.transfer->has_arrived) return qd_call_lose(c, MPI_SUCCESS);
  const char* const room = c->memory.buffers[p.message->buffer].address;
  p.transfer->bytes = read_lengths(c, p, room);
  if (p.transfer->bytes < 0) return qd_call_lose(c, MPI_ERR_INTERN);
  memcpy(&how, room, sizeof how);
  if (how == FOLLOWS_APART && p.transfer->bytes > 0 && c->lengths == QD_LENGTHS_AHEAD)
    expect_data(c, p);
}

int qd_wait_and_read(struct qd_call* c, MPI_Request* request) {
  if (*request == MPI_REQUEST_NULL) return MPI_SUCCESS;
  for (;;) {
    struct qd_transfer* next = c->at.next_to_read;
    const int is_last = next == c->at.receive_transfer;
    if (c->is_watched) qd_watch(c, request, is_last ? MPI_REQUEST_NULL : next->request);
    if (is_last) return MPI_Wait(request, MPI_STATUS_IGNORE);
    MPI_Request both[] = {*request, next->request};
    int which = 0, bytes = 0;
    const int code = MPI_Waitany(2, both, &which, &c->status);
    *request = both[0];
    next->request = both[1];
    if (which != 1) return code;
    qd_call_check(c, code);
    if (code == MPI_SUCCESS) MPI_Get_count(&c->status, MPI_BYTE, &bytes);
    next->has_arrived = bytes > 0;
    if (bytes == 0 && qd_received_by(c, next).message->count > 0) qd_call_lose(c, code);
    read_head(c);
  }
}

/* Reads the lengths of a message that has arrived, and waits for its data. Returns where that is; NULL
 * where it is not there. */
static char* read_message(struct qd_call* c, struct qd_posting p) {
  while (c->at.next_to_read <= p.transfer) read_head(c);
  const int code = qd_wait_and_read(c, &p.transfer->data);
  if (code != MPI_SUCCESS) qd_call_lose(c, code);
  if (p.transfer->arrival == QD_DATA_ZERO_COPY)
    return c->data.blocks[p.message->part.region].address;
  char* const room = c->memory.buffers[p.message->buffer].address;
  return p.transfer->arrival == QD_DATA_SEPARATE
             ? room
             : room + SHORT_WORD * ((int64_t)p.message->count + 1);
}

void qd_message_receive(struct qd_call* c, struct qd_posting p) {
  const struct qd_message* m = p.message;
  char* address = NULL;
  p.transfer->request = p.transfer->data = MPI_REQUEST_NULL;
  p.transfer->zero_copy = 0;
  if (m->count == 0) return post_empty(c, 1, p);
  if (c->lengths != QD_LENGTHS_KNOWN) return receive_with_lengths(c, p);
  if (c->plan.is_typed) return post_typed(c, 1, p);
  const int64_t bytes = qd_bytes_of(c, p);
  if (bytes == 0 || p.transfer >= c->memory.kept) return;
  if (qd_uses_type_of_parts(c, m)) return post_parts(c, 1, p);
  if (m->zero_copy && c->data.receive_is_contiguous)
    address = qd_block_at(c, &m->part).address;
  else if (!qd_reserve_buffer(c, m->buffer, bytes, &address))
    return qd_keep_nothing(c, p.transfer);
  post_bytes(c, 1, address, bytes, m->peer, c->tag, &p.transfer->request);
}

void qd_message_send(struct qd_call* c, struct qd_posting p) {
  const struct qd_message* m = p.message;
  char* address;
  p.transfer->request = p.transfer->data = MPI_REQUEST_NULL;
  if (c->outcome.is_lost || m->count == 0) return send_nothing(c, p);
  if (c->lengths != QD_LENGTHS_KNOWN) return send_with_lengths(c, p);
  if (c->plan.is_typed) return post_typed(c, 0, p);
  const int64_t bytes = qd_bytes_of(c, p);
  if (bytes == 0) return;
  if (qd_uses_type_of_parts(c, m)) return post_parts(c, 0, p);
  if (is_zero_copy(c, m))
    address = qd_block_at(c, &m->part).address;
  else if (qd_reserve_buffer(c, m->buffer, bytes, &address))
    qd_gather_parts(c, m, address);
  else
    return send_nothing(c, p);
  post_bytes(c, 0, address, bytes, m->peer, c->tag, &p.transfer->request);
}

void qd_message_deliver(struct qd_call* c, struct qd_posting p) {
  const struct qd_message* m = p.message;
  const int is_known = c->lengths == QD_LENGTHS_KNOWN;
  if (m->count == 0 || (is_known && c->plan.is_typed)) return;
  const int64_t bytes = is_known ? qd_bytes_of(c, p) : 0;
  if (bytes > 0 && p.transfer >= c->memory.kept) receive_in_vain(c, bytes, m->peer);
  char* from = is_known ? NULL : read_message(c, p);
  if (c->outcome.is_lost) return qd_forget_parts(c, m);
  if (bytes > 0) {
    if (qd_uses_type_of_parts(c, m) || (m->zero_copy && c->data.receive_is_contiguous)) return;
    from = c->memory.buffers[m->buffer].address;
  }
  qd_scatter_parts(c, p, from);
}
