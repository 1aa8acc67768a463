/* Messages that begin with the lengths of their parts. */
#include "runtime/exec/call.h"

/* How a message goes on. */
enum { FOLLOWS_HERE, FOLLOWS_APART };

/* Before lengths of 16 bits that FOLLOWS_HERE, of 64 bits that FOLLOWS_APART. */
enum { SHORT_WORD = 2, LONG_WORD = 8, ALIGNMENT = 16 };

/* Where data begins in a buffer in which it stands behind 64-bit lengths. */
static int64_t head_size(int parts) {
  const int64_t bytes = LONG_WORD + LONG_WORD * (int64_t)parts;
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

int64_t quadrille_lengths_room(const struct quadrille_message* m) {
  return head_size(m->count) + QUADRILLE_EAGER_BYTES;
}

static int64_t outgoing_bytes(const struct quadrille_call* c, const struct quadrille_message* m) {
  const struct quadrille_part* parts = quadrille_parts_of(&c->plan, m);
  int64_t bytes = 0;
  for (int i = 0; i < m->count; i++) bytes += c->blocks[parts[i].place].count;
  return bytes;
}

static void write_word(char* room, uint16_t word) { memcpy(room, &word, sizeof word); }

/* Lengths as they precede data of the same message; where that begins. */
static char* write_short(const struct quadrille_call* c, const struct quadrille_message* m,
                         char* room) {
  const struct quadrille_part* part = quadrille_parts_of(&c->plan, m);
  write_word(room, FOLLOWS_HERE);
  for (int i = m->count; i > 0; i--, part++)
    write_word(room += SHORT_WORD, (uint16_t)c->blocks[part->place].count);
  return room + SHORT_WORD;
}

static void write_long(const struct quadrille_call* c, struct quadrille_message* m, char* room) {
  struct quadrille_part* parts = m->count == 1 ? &m->part : c->plan.parts + m->first;
  memset(room, 0, LONG_WORD);
  write_word(room, FOLLOWS_APART);
  for (int i = 0; i < m->count; i++) {
    parts[i].high = c->blocks[parts[i].place].count;
    memcpy(room += LONG_WORD, &parts[i].high, sizeof parts[i].high);
  }
}

void quadrille_lengths_send(struct quadrille_call* c, struct quadrille_message* m) {
  const int64_t bytes = m->bytes = outgoing_bytes(c, m), head = head_size(m->count);
  const int with_data = c->lengths == QUADRILLE_LENGTHS_AHEAD;
  const int is_straight = bytes > QUADRILLE_EAGER_BYTES && quadrille_goes_straight(c, m);
  const int64_t data =
      !with_data || is_straight || bytes < QUADRILLE_EAGER_BYTES ? QUADRILLE_EAGER_BYTES : bytes;
  char* room;
  if (!quadrille_make_room(c, m->buffer, head + data, &room)) return quadrille_message_send(c, m);
  if (with_data && bytes <= QUADRILLE_EAGER_BYTES) {
    const char* end = quadrille_gather(c, m, write_short(c, m, room));
    return quadrille_post_bytes(c, 0, room, end - room, m->peer, c->length_tag, &m->request);
  }
  write_long(c, m, room);
  quadrille_post_bytes(c, 0, room, LONG_WORD * ((int64_t)m->count + 1), m->peer, c->length_tag,
                       &m->request);
  if (!with_data) return;
  char* address = is_straight ? quadrille_block_at(c, &m->part).address : room + head;
  if (!is_straight) quadrille_gather(c, m, address);
  quadrille_post_bytes(c, 0, address, bytes, m->peer, c->tag, &c->outgoing[m - c->plan.sends.all]);
}

void quadrille_lengths_receive(struct quadrille_call* c, struct quadrille_message* m) {
  const struct quadrille_room* room = &c->buffers[m->buffer];
  const int64_t size = room->size < INT_MAX ? room->size : INT_MAX;
  quadrille_post_bytes(c, 1, room->address, size, m->peer, c->length_tag, &m->request);
  m->is_there = m->request != MPI_REQUEST_NULL;
}

/* Reads the lengths into the parts. Returns what they come to; -1 where they are none that this library
 * wrote. */
static int64_t read_lengths(struct quadrille_call* c, struct quadrille_message* m,
                            const char* room) {
  struct quadrille_part* part = m->count == 1 ? &m->part : c->plan.parts + m->first;
  uint16_t how, word;
  int64_t total = 0;
  memcpy(&how, room, sizeof how);
  if (how > FOLLOWS_APART) return -1;
  for (int i = 1; i <= m->count; i++, part++) {
    if (how == FOLLOWS_APART) {
      memcpy(&part->high, room + LONG_WORD * i, sizeof part->high);
    } else {
      memcpy(&word, room + SHORT_WORD * i, sizeof word);
      part->high = word;
    }
    if (part->high < 0 || __builtin_add_overflow(total, part->high, &total)) return -1;
  }
  return how == FOLLOWS_APART || total <= QUADRILLE_EAGER_BYTES ? total : -1;
}

/* Posts the receive of data that comes in a message of its own. */
static void expect_data(struct quadrille_call* c, struct quadrille_message* m) {
  const struct quadrille_block* block = &c->blocks[m->part.place];
  char* address;
  m->data = QUADRILLE_DATA_APART;
  if (m >= c->not_kept) return;
  if (m->is_straight && c->receive_lies && block->count == m->bytes) {
    m->data = QUADRILLE_DATA_STRAIGHT;
    address = block->address;
  } else if (!quadrille_make_room(c, m->buffer, m->bytes, &address)) {
    return quadrille_keep_nothing(c, m);
  }
  quadrille_post_bytes(c, 1, address, m->bytes, m->peer, c->tag,
                       &c->incoming[m - c->plan.receives.all]);
}

/* Reads the beginning of the next message, which is there, and awaits its data. */
static void read_head(struct quadrille_call* c) {
  struct quadrille_message* m = &c->plan.receives.all[c->headed++];
  const char* room = m->count > 0 ? c->buffers[m->buffer].address : NULL;
  uint16_t how;
  m->data = QUADRILLE_DATA_BEHIND;
  if (m->count == 0 || !m->is_there) return;
  m->bytes = read_lengths(c, m, room);
  if (m->bytes < 0) return quadrille_call_lose(c, MPI_ERR_INTERN);
  memcpy(&how, room, sizeof how);
  if (how == FOLLOWS_APART && m->bytes > 0 && c->lengths == QUADRILLE_LENGTHS_AHEAD)
    expect_data(c, m);
}

/* Waits for data. Meanwhile that of other messages can be on its way: their beginnings are read as they
 * arrive, in the order of the messages, which is the one in which they were sent. */
static int wait_for_data(struct quadrille_call* c, MPI_Request* data) {
  for (;;) {
    struct quadrille_message* next = &c->plan.receives.all[c->headed];
    if (*data == MPI_REQUEST_NULL || next == c->next_receive) break;
    MPI_Request both[] = {*data, next->request};
    int which = 0, bytes = 0;
    const int code = MPI_Waitany(2, both, &which, &c->status);
    *data = both[0];
    next->request = both[1];
    if (which != 1) return code;
    quadrille_call_check(c, code);
    if (code == MPI_SUCCESS) MPI_Get_count(&c->status, MPI_BYTE, &bytes);
    next->is_there = bytes > 0;
    if (bytes == 0 && next->count > 0) quadrille_call_lose(c, code);
    read_head(c);
  }
  return *data == MPI_REQUEST_NULL ? MPI_SUCCESS : MPI_Wait(data, MPI_STATUS_IGNORE);
}

char* quadrille_lengths_read(struct quadrille_call* c, struct quadrille_message* m) {
  const int32_t number = (int32_t)(m - c->plan.receives.all);
  while (c->headed <= number) read_head(c);
  if (m >= c->not_kept && m->data != QUADRILLE_DATA_BEHIND)
    quadrille_receive_in_vain(c, m->bytes, m->peer);
  const int code = wait_for_data(c, &c->incoming[number]);
  if (code != MPI_SUCCESS) quadrille_call_lose(c, code);
  if (m->data == QUADRILLE_DATA_STRAIGHT) return c->blocks[m->part.place].address;
  char* const room = c->buffers[m->buffer].address;
  return m->data == QUADRILLE_DATA_APART ? room : room + SHORT_WORD * ((int64_t)m->count + 1);
}
