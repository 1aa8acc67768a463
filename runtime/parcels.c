/* One message of a forwarding call: gathered, posted, received, put away.
 *
 * A block is packed when it leaves the send buffer and unpacked when it reaches the receive buffer;
 * between them it is bytes. A long message of one block that is bytes in the user's buffer already
 * travels straight from, or to, there. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/traffic.h"

/* How a message that brings lengths goes on. */
enum { FOLLOWS_HERE, FOLLOWS_APART };

/* Before lengths of 16 bits that FOLLOWS_HERE, of 64 bits that FOLLOWS_APART. */
enum { SHORT_WORD = 2, LONG_WORD = 8, ALIGNMENT = 16 };

int64_t quadrille_parcel_head(int pieces) {
  const int64_t bytes = LONG_WORD + LONG_WORD * (int64_t)pieces;
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* What the head says was there is kept. */
static int make_room(struct quadrille_room* room, int64_t size) {
  if (size <= room->size) return 1;
  char* address = realloc(room->address, (size_t)size);
  if (!address) return 0;
  *room = (struct quadrille_room){address, size};
  return 1;
}

void quadrille_traffic_post(struct quadrille_traffic* t, int receives, char* address, int64_t bytes,
                            int peer, int tag, MPI_Request* request) {
  const MPI_Comm comm = t->binding->comm;
  MPI_Datatype type = MPI_BYTE;
  int count = (int)bytes, code = MPI_SUCCESS;
  if (bytes > INT_MAX) {
    code = quadrille_large_type(bytes, MPI_BYTE, &type);
    count = 1;
  }
  if (code == MPI_SUCCESS)
    code = receives ? MPI_Irecv(address, count, type, peer, tag, comm, request)
                    : t->post_send(address, count, type, peer, tag, comm, request);
  if (bytes > INT_MAX && type != MPI_BYTE) MPI_Type_free(&type);
  if (code == MPI_SUCCESS) return;
  *request = MPI_REQUEST_NULL;
  quadrille_traffic_check(t, code);
}

static const int32_t* pieces_of(const struct quadrille_traffic* t,
                                const struct quadrille_route_message* m) {
  return t->route->pieces + m->first;
}

void quadrille_traffic_pack(struct quadrille_traffic* t, int place,
                            const struct quadrille_stored* stored, char* to) {
  const struct quadrille_side side = quadrille_side_of(&t->send, place);
  const struct quadrille_block block = {stored->address, stored->bytes / side.type_size};
  quadrille_traffic_check(t, quadrille_pack(&side, block, to, t->binding->comm));
}

void quadrille_traffic_unpack(struct quadrille_traffic* t, int place,
                              const struct quadrille_stored* stored, char* from) {
  const struct quadrille_side side = quadrille_side_of(&t->receive, place - t->route->ranks);
  const struct quadrille_block block = {stored->address, stored->bytes / side.type_size};
  quadrille_traffic_check(t, quadrille_unpack(&side, block, from, t->binding->comm));
}

/* Copies the block at a place behind what was gathered so far; returns where it ends. */
static inline char* gather(struct quadrille_traffic* t, const int32_t* place, char* to) {
  const struct quadrille_stored* stored = &t->stored[*place];
  if (stored->bytes > 0) quadrille_traffic_take_out(t, place, stored, to);
  return to + stored->bytes;
}

/* Whether a message is one block that can travel from where it lies. */
static int goes_straight(const struct quadrille_traffic* t,
                         const struct quadrille_route_message* m) {
  return m->count == 1 && pieces_of(t, m)[0] < t->route->ranks && t->send_lies;
}

/* The same, to where it is to lie. */
static int comes_straight(const struct quadrille_traffic* t,
                          const struct quadrille_route_message* m) {
  const int ranks = t->route->ranks;
  return m->count == 1 && pieces_of(t, m)[0] < 2 * ranks && t->receive_lies;
}

/* Where the pieces of an outgoing message end that were gathered from there on. */
static char* gather_all(struct quadrille_traffic* t, const struct quadrille_route_message* m,
                        char* to) {
  const int32_t* pieces = pieces_of(t, m);
  for (int i = 0; i < m->count; i++) to = gather(t, &pieces[i], to);
  return to;
}

/* Lengths as they precede data of the same message; what they come to. */
static int64_t write_short_lengths(const struct quadrille_traffic* t,
                                   const struct quadrille_route_message* m, char* room) {
  const int32_t* pieces = pieces_of(t, m);
  uint16_t word = FOLLOWS_HERE;
  int64_t total = 0;
  memcpy(room, &word, sizeof word);
  for (int i = 0; i < m->count; i++) {
    const int64_t bytes = t->stored[pieces[i]].bytes;
    word = (uint16_t)bytes;
    memcpy(room + SHORT_WORD * (i + 1), &word, sizeof word);
    total += bytes;
  }
  return total;
}

/* Of no blocks where there is no memory for them. */
static void write_long_lengths(const struct quadrille_traffic* t,
                               const struct quadrille_route_message* m, char* room, int none) {
  const int32_t* pieces = pieces_of(t, m);
  const uint16_t word = FOLLOWS_APART;
  memset(room, 0, LONG_WORD);
  memcpy(room, &word, sizeof word);
  for (int i = 0; i < m->count; i++) {
    const int64_t bytes = none ? 0 : t->stored[pieces[i]].bytes;
    memcpy(room + LONG_WORD * (i + 1), &bytes, sizeof bytes);
  }
}

static void reset(struct quadrille_parcel* parcel) {
  parcel->request = parcel->data = MPI_REQUEST_NULL;
  parcel->address = NULL;
  parcel->bytes = 0;
}

/* Room for the data of an outgoing message behind its lengths. A block that travels from where it lies
 * may be shorter in a call to come. */
static int make_data_room(struct quadrille_parcel* parcel, int64_t head, int straight) {
  const int64_t most = straight ? QUADRILLE_EAGER_BYTES : INT64_MAX - head;
  return make_room(&parcel->room, head + (parcel->bytes < most ? parcel->bytes : most));
}

void quadrille_parcel_send(struct quadrille_traffic* t, int message) {
  const struct quadrille_route_message* m = &t->route->sends.all[message];
  struct quadrille_parcel* parcel = quadrille_parcel_at(&t->outgoing, message);
  const int64_t words = m->count == 0 ? 0 : (int64_t)m->count + 1;
  const int64_t head = quadrille_parcel_head(m->count);
  const int with_data = t->cargo == QUADRILLE_CARGO_BOTH, straight = goes_straight(t, m);
  reset(parcel);
  parcel->bytes = write_short_lengths(t, m, parcel->room.address);
  const int none = with_data && !make_data_room(parcel, head, straight);
  char* const room = parcel->room.address;
  if (none) {
    quadrille_traffic_check(t, MPI_ERR_NO_MEM);
  } else if (with_data && parcel->bytes <= QUADRILLE_EAGER_BYTES) {
    const char* end = gather_all(t, m, room + SHORT_WORD * words);
    return quadrille_traffic_post(t, 0, room, end - room, m->peer, t->length_tag, &parcel->request);
  }
  write_long_lengths(t, m, room, none);
  quadrille_traffic_post(t, 0, room, LONG_WORD * words, m->peer, t->length_tag, &parcel->request);
  if (!with_data || none) return;
  parcel->address = straight ? t->stored[pieces_of(t, m)[0]].address : room + head;
  if (!straight) gather_all(t, m, parcel->address);
  quadrille_traffic_post(t, 0, parcel->address, parcel->bytes, m->peer, t->data_tag, &parcel->data);
}

/* Receives data for which there is no memory, over and over itself, so that its sender need not wait.
 * A receive that is too short would not do: Open MPI 4.1 writes beyond it. */
static void receive_in_vain(struct quadrille_traffic* t, const struct quadrille_route_message* m,
                            struct quadrille_parcel* parcel, int64_t behind) {
  const int64_t room = parcel->room.size - behind, most = INT_MAX / 2;
  const int64_t part = room < most ? room : most;
  MPI_Datatype type;
  int code = MPI_Type_create_hvector((int)((parcel->bytes + part - 1) / part), (int)part, 0,
                                     MPI_BYTE, &type);
  quadrille_traffic_check(t, MPI_ERR_NO_MEM);
  if (code != MPI_SUCCESS) return;
  code = MPI_Type_commit(&type);
  if (code == MPI_SUCCESS)
    code = MPI_Irecv(parcel->room.address + behind, 1, type, m->peer, t->data_tag, t->binding->comm,
                     &parcel->data);
  if (code != MPI_SUCCESS) parcel->data = MPI_REQUEST_NULL;
  MPI_Type_free(&type);
}

/* Posts the receive of data that comes in a message of its own. */
static void expect_data(struct quadrille_traffic* t, const struct quadrille_route_message* m,
                        struct quadrille_parcel* parcel) {
  const int64_t behind = quadrille_parcel_head(m->count);
  parcel->address = NULL;
  if (comes_straight(t, m) && t->stored[pieces_of(t, m)[0]].bytes == parcel->bytes)
    parcel->address = t->stored[pieces_of(t, m)[0]].address;
  else if (make_room(&parcel->room, behind + parcel->bytes))
    parcel->address = parcel->room.address + behind;
  else
    return receive_in_vain(t, m, parcel, behind);
  quadrille_traffic_post(t, 1, parcel->address, parcel->bytes, m->peer, t->data_tag, &parcel->data);
}

void quadrille_parcel_receive(struct quadrille_traffic* t, int message) {
  const struct quadrille_route_message* m = &t->route->receives.all[message];
  struct quadrille_parcel* parcel = quadrille_parcel_at(&t->incoming, message);
  const int64_t size = parcel->room.size;
  reset(parcel);
  quadrille_traffic_post(t, 1, parcel->room.address, size < INT_MAX ? size : INT_MAX, m->peer,
                         t->length_tag, &parcel->request);
}

/* The length of a piece that arrives. */
static inline int64_t length_of(const char* room, uint16_t word, int i) {
  int64_t bytes;
  if (word == FOLLOWS_APART) {
    memcpy(&bytes, room + LONG_WORD * (i + 1), sizeof bytes);
    return bytes;
  }
  memcpy(&word, room + SHORT_WORD * (i + 1), sizeof word);
  return word;
}

/* What the lengths come to; -1 where they are none that this library wrote. */
static int64_t add_lengths(const char* room, uint16_t word, int count) {
  int64_t total = 0;
  for (int i = 0; i < count; i++) {
    const int64_t bytes = length_of(room, word, i);
    if (bytes < 0 || __builtin_add_overflow(total, bytes, &total)) return -1;
  }
  const int known =
      word == FOLLOWS_APART || (word == FOLLOWS_HERE && total <= QUADRILLE_EAGER_BYTES);
  return known ? total : -1;
}

static uint16_t first_word(const char* room) {
  uint16_t word;
  memcpy(&word, room, sizeof word);
  return word;
}

/* Reads the beginning of a message that has arrived, and awaits its data. */
static void read_head(struct quadrille_traffic* t, int message, int code) {
  const struct quadrille_route_message* m = &t->route->receives.all[message];
  struct quadrille_parcel* parcel = quadrille_parcel_at(&t->incoming, message);
  char* const room = parcel->room.address;
  const uint16_t word = first_word(room);
  if (code == MPI_SUCCESS && m->count > 0) {
    parcel->bytes = add_lengths(room, word, m->count);
    if (parcel->bytes < 0) code = MPI_ERR_INTERN;
  }
  if (code != MPI_SUCCESS || m->count == 0) return quadrille_traffic_check(t, code);
  parcel->address = room + SHORT_WORD * ((int64_t)m->count + 1);
  if (word == FOLLOWS_APART && t->cargo == QUADRILLE_CARGO_BOTH && parcel->bytes > 0)
    expect_data(t, m, parcel);
}

/* Waits for data. Meanwhile that of other messages can be on its way: their beginnings are read as they
 * arrive, in the order of the messages, which is the one in which they were sent. */
static int wait_for_data(struct quadrille_traffic* t, MPI_Request* data) {
  const int posted = t->posted > 0 ? t->route->steps[t->posted - 1].receives_end : 0;
  for (; *data != MPI_REQUEST_NULL && t->headed < posted; t->headed++) {
    MPI_Request* next = &quadrille_parcel_at(&t->incoming, t->headed)->request;
    MPI_Request both[] = {*data, *next};
    int which = 0;
    const int code = MPI_Waitany(2, both, &which, MPI_STATUS_IGNORE);
    *data = both[0];
    *next = both[1];
    if (which != 1) return code;
    read_head(t, t->headed, code);
  }
  return quadrille_traffic_wait(data);
}

static void note_mismatch(struct quadrille_traffic* t, int source, int64_t sent, int64_t expected) {
  if (t->mismatch.source < 0) t->mismatch = (struct quadrille_mismatch){source, sent, expected};
}

/* Finds a temporary block a room of its own, no longer than is needed; false where memory ran out,
 * and it is empty. */
static int find_slot(struct quadrille_traffic* t, int place, int64_t bytes) {
  struct quadrille_room* slot = &t->slots[place - 2 * t->route->ranks];
  const int found = make_room(slot, bytes);
  if (!found) quadrille_traffic_check(t, MPI_ERR_NO_MEM);
  t->stored[place] = (struct quadrille_stored){slot->address, found ? bytes : 0};
  return found;
}

/* Puts a block of so many bytes to its place. `held`: a temporary block can stay where it is. */
static inline void put(struct quadrille_traffic* t, int place, char* from, int64_t bytes,
                       int held) {
  struct quadrille_stored* stored = &t->stored[place];
  const int ranks = t->route->ranks, is_temporary = place >= 2 * ranks;
  if (is_temporary) {
    if (held || t->cargo == QUADRILLE_CARGO_LENGTHS) {
      *stored = (struct quadrille_stored){from, bytes};
      return;
    }
    if (!find_slot(t, place, bytes)) return;
  } else if (bytes != stored->bytes) {
    return note_mismatch(t, place - ranks, bytes, stored->bytes);
  }
  if (bytes == 0 || t->cargo == QUADRILLE_CARGO_LENGTHS || from == stored->address) return;
  quadrille_traffic_put_in(t, &place, stored, from);
}

/* What did not arrive is not sent on. */
static void lose(struct quadrille_traffic* t, const struct quadrille_route_message* m) {
  const int32_t* pieces = pieces_of(t, m);
  for (int i = 0; i < m->count; i++)
    if (pieces[i] >= 2 * t->route->ranks) t->stored[pieces[i]].bytes = 0;
}

/* Puts the pieces of a message away that has arrived. */
static void put_pieces(struct quadrille_traffic* t, int message) {
  const struct quadrille_route_message* m = &t->route->receives.all[message];
  const struct quadrille_parcel* parcel = quadrille_parcel_at(&t->incoming, message);
  const int held = quadrille_room_is_kept(t, message);
  const int32_t* pieces = pieces_of(t, m);
  const uint16_t word = first_word(parcel->room.address);
  char* next = parcel->address;
  for (int i = 0; i < m->count; i++) {
    const int64_t bytes = length_of(parcel->room.address, word, i);
    put(t, pieces[i], next, bytes, held);
    if (t->cargo != QUADRILLE_CARGO_LENGTHS)
      next += bytes;
    else if (t->fixed.pieces)
      t->fixed.pieces[m->first + i].bytes = bytes;
  }
}

void quadrille_parcel_land(struct quadrille_traffic* t, int message) {
  const struct quadrille_route_message* m = &t->route->receives.all[message];
  struct quadrille_parcel* parcel = quadrille_parcel_at(&t->incoming, message);
  for (; t->headed <= message; t->headed++)
    read_head(t, t->headed,
              quadrille_traffic_wait(&quadrille_parcel_at(&t->incoming, t->headed)->request));
  int code = quadrille_traffic_wait(&parcel->request);
  if (code == MPI_SUCCESS) code = wait_for_data(t, &parcel->data);
  quadrille_traffic_check(t, code);
  if (m->count == 0) return;
  if (code != MPI_SUCCESS || (!parcel->address && parcel->bytes != 0)) return lose(t, m);
  put_pieces(t, message);
}

void quadrille_parcel_wait(struct quadrille_traffic* t, int message) {
  struct quadrille_parcel* parcel = quadrille_parcel_at(&t->outgoing, message);
  quadrille_traffic_check(t, quadrille_traffic_wait(&parcel->request));
  quadrille_traffic_check(t, quadrille_traffic_wait(&parcel->data));
}

void quadrille_parcel_copy(struct quadrille_traffic* t, int from, int to) {
  const struct quadrille_stored* source = &t->stored[from];
  if (from >= t->route->ranks || t->send_lies)
    return put(t, to, source->address, source->bytes, quadrille_is_held(t, from));
  if (t->cargo == QUADRILLE_CARGO_LENGTHS)
    t->stored[to].bytes = source->bytes;
  else if (find_slot(t, to, source->bytes))
    gather(t, &from, t->stored[to].address);
}

void quadrille_parcel_copy_own(struct quadrille_traffic* t, int own) {
  const struct quadrille_stored *source = &t->stored[own],
                                *target = &t->stored[t->route->ranks + own];
  const int lies = t->send_lies && t->receive_lies;
  if (lies || source->bytes != target->bytes || source->bytes == 0)
    return put(t, t->route->ranks + own, source->address, source->bytes, 0);
  if (t->cargo == QUADRILLE_CARGO_LENGTHS) return;
  const struct quadrille_side from = quadrille_side_of(&t->send, own);
  const struct quadrille_side to = quadrille_side_of(&t->receive, own);
  const struct quadrille_block sent = {source->address, source->bytes / from.type_size};
  const struct quadrille_block received = {target->address, target->bytes / to.type_size};
  quadrille_traffic_check(t, quadrille_copy_block(t->binding, &from, sent, &to, received));
}
