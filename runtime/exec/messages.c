/* Messages that are not simply one block at one address: empty ones, those of several parts, of more
 * elements than an int counts, of types that differ from block to block, and all that go through buffers
 * of the runtime. */
#include <stdlib.h>

#include "runtime/exec/call.h"

/* A longer message of several parts of the user's buffer is described by a datatype; others are copied
 * together. */
enum { COPIED_TOGETHER = 1 << 18 };

/* Posts a message, empty or not. */
static void post(struct quadrille_call* c, int receives, struct quadrille_block block,
                 MPI_Datatype type, int peer, int tag, MPI_Request* request) {
  const int count = (int)block.count;
  const int code = receives ? MPI_Irecv(block.address, count, type, peer, tag, c->comm, request)
                            : c->post_send(block.address, count, type, peer, tag, c->comm, request);
  if (code == MPI_SUCCESS) return;
  *request = MPI_REQUEST_NULL;
  quadrille_call_lose(c, code);
}

/* One of a type that is made for it. */
static void post_made(struct quadrille_call* c, int receives, char* address, int code,
                      MPI_Datatype type, int peer, int tag, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  if (code != MPI_SUCCESS) return quadrille_call_lose(c, code);
  post(c, receives, (struct quadrille_block){address, 1}, type, peer, tag, request);
  MPI_Type_free(&type);
}

static void post_any(struct quadrille_call* c, int receives, struct quadrille_block block,
                     MPI_Datatype type, int peer, int tag, MPI_Request* request) {
  MPI_Datatype large = type;
  if (block.count <= INT_MAX) return post(c, receives, block, type, peer, tag, request);
  const int code = quadrille_large_type(block.count, type, &large);
  post_made(c, receives, block.address, code, large, peer, tag, request);
}

void quadrille_post_bytes(struct quadrille_call* c, int receives, char* address, int64_t bytes,
                          int peer, int tag, MPI_Request* request) {
  post_any(c, receives, (struct quadrille_block){address, bytes}, MPI_BYTE, peer, tag, request);
}

static void post_empty(struct quadrille_call* c, int receives, struct quadrille_message* m,
                       int tag) {
  post(c, receives, (struct quadrille_block){NULL, 0}, MPI_BYTE, m->peer, tag, &m->request);
}

void quadrille_receive_in_vain(struct quadrille_call* c, int64_t bytes, int peer) {
  char* const nowhere = quadrille_global.nowhere;
  const int64_t least = (int64_t)sizeof quadrille_global.nowhere;
  const int64_t part = bytes / INT_MAX + 1 > least ? bytes / INT_MAX + 1 : least;
  MPI_Datatype type = MPI_BYTE;
  int code = part > least ? MPI_ERR_COUNT : MPI_SUCCESS, count = (int)bytes;
  if (code == MPI_SUCCESS && bytes > least) {
    count = 1;
    code = MPI_Type_create_hvector((int)((bytes + part - 1) / part), (int)part, 0, MPI_BYTE, &type);
    if (code == MPI_SUCCESS) code = MPI_Type_commit(&type);
  }
  if (code == MPI_SUCCESS)
    code = MPI_Recv(nowhere, count, type, peer, c->tag, c->comm, MPI_STATUS_IGNORE);
  if (type != MPI_BYTE) MPI_Type_free(&type);
  quadrille_call_check(c, code);
}

/* Several parts where they lie. */
static void post_parts(struct quadrille_call* c, int receives, struct quadrille_message* m) {
  MPI_Datatype type = MPI_BYTE;
  int* lengths = calloc((size_t)m->count, sizeof *lengths);
  MPI_Aint* places = calloc((size_t)m->count, sizeof *places);
  MPI_Datatype* types = calloc((size_t)m->count, sizeof *types);
  int code = lengths && places && types ? MPI_SUCCESS : MPI_ERR_NO_MEM, made = 0;
  for (int i = 0; i < m->count && code == MPI_SUCCESS; i++) {
    const struct quadrille_block block = quadrille_block_at(c, &c->plan.parts[m->first + i]);
    const int is_large = block.count > INT_MAX;
    lengths[i] = is_large ? 1 : (int)block.count;
    types[i] = MPI_BYTE;
    code = MPI_Get_address(block.address, &places[i]);
    if (code == MPI_SUCCESS && is_large)
      code = quadrille_large_type(block.count, MPI_BYTE, &types[i]);
    made += code == MPI_SUCCESS;
  }
  if (code == MPI_SUCCESS) code = MPI_Type_create_struct(m->count, lengths, places, types, &type);
  if (code == MPI_SUCCESS) code = MPI_Type_commit(&type);
  while (made-- > 0)
    if (types[made] != MPI_BYTE) MPI_Type_free(&types[made]);
  free(lengths);
  free(places);
  free(types);
  if (code != MPI_SUCCESS) {
    quadrille_call_lose(c, code);
    return receives ? quadrille_keep_nothing(c, m) : post_empty(c, 0, m, c->tag);
  }
  post_made(c, receives, MPI_BOTTOM, code, type, m->peer, c->tag, &m->request);
}

/* Whether it goes from, or to, where its parts lie, by a datatype. */
static int is_described(const struct quadrille_call* c, const struct quadrille_message* m) {
  return c->builder.counts && m->count > 1 && m->bytes > COPIED_TOGETHER && !m->is_in_the_way;
}

/* A block as what the user's type says. A block that was saved has been packed, where its type is not dense. */
static void post_typed(struct quadrille_call* c, int receives, struct quadrille_message* m) {
  const struct quadrille_side side = quadrille_side_of(receives ? &c->receive : &c->send, m->peer);
  struct quadrille_block block = c->blocks[m->part.place];
  MPI_Datatype type = side.type;
  if (block.count == 0 || side.type_size == 0) return;
  if (m->part.form == QUADRILLE_SAVED && !c->send_lies) {
    type = MPI_PACKED;
    block.count *= side.type_size;
  }
  post_any(c, receives, block, type, m->peer, c->tag, &m->request);
}

/* Instead of a message with bytes that are missing. Where both ends know that there are none, no message
 * travels. */
static void send_nothing(struct quadrille_call* c, struct quadrille_message* m) {
  const int is_known = c->lengths == QUADRILLE_LENGTHS_KNOWN;
  if (m->count > 0 && is_known &&
      (c->plan.is_typed ? c->blocks[m->part.place].count : m->bytes) == 0)
    return;
  post_empty(c, 0, m, is_known || m->count == 0 ? c->tag : c->length_tag);
}

static struct quadrille_room* room_of(struct quadrille_call* c, int buffer) {
  return (uint32_t)buffer < (uint32_t)c->buffer_count ? &c->buffers[buffer] : NULL;
}

int quadrille_make_room(struct quadrille_call* c, int buffer, int64_t size, char** address) {
  struct quadrille_room* room = room_of(c, buffer);
  char* grown = room && size > room->size ? malloc((size_t)size) : NULL;
  if (grown) {
    free(room->address);
    *room = (struct quadrille_room){grown, size};
  }
  const int is_enough = room && size <= room->size;
  *address = is_enough ? room->address : NULL;
  if (!is_enough) quadrille_call_lose(c, MPI_ERR_NO_MEM);
  return is_enough;
}

void quadrille_message_receive(struct quadrille_call* c, struct quadrille_message* m) {
  char* address = NULL;
  m->request = MPI_REQUEST_NULL;
  if (m->count == 0) return post_empty(c, 1, m, c->tag);
  if (c->lengths != QUADRILLE_LENGTHS_KNOWN) return quadrille_lengths_receive(c, m);
  if (c->plan.is_typed) return post_typed(c, 1, m);
  if (m->bytes == 0 || m >= c->not_kept) return;
  if (is_described(c, m)) return post_parts(c, 1, m);
  if (m->is_straight && c->receive_lies)
    address = quadrille_block_at(c, &m->part).address;
  else if (!quadrille_make_room(c, m->buffer, m->bytes, &address))
    return quadrille_keep_nothing(c, m);
  quadrille_post_bytes(c, 1, address, m->bytes, m->peer, c->tag, &m->request);
}

int quadrille_goes_straight(const struct quadrille_call* c, const struct quadrille_message* m) {
  return m->is_straight && (c->send_lies || m->part.place >= 2 * c->plan.ranks);
}

void quadrille_message_send(struct quadrille_call* c, struct quadrille_message* m) {
  char* address;
  m->request = MPI_REQUEST_NULL;
  if (c->is_lost || m->count == 0) return send_nothing(c, m);
  if (c->lengths != QUADRILLE_LENGTHS_KNOWN) return quadrille_lengths_send(c, m);
  if (c->plan.is_typed) return post_typed(c, 0, m);
  if (m->bytes == 0) return;
  if (is_described(c, m)) return post_parts(c, 0, m);
  if (quadrille_goes_straight(c, m))
    address = quadrille_block_at(c, &m->part).address;
  else if (quadrille_make_room(c, m->buffer, m->bytes, &address))
    quadrille_gather(c, m, address);
  else
    return send_nothing(c, m);
  quadrille_post_bytes(c, 0, address, m->bytes, m->peer, c->tag, &m->request);
}

/* Elements, where a block is of a user's type. */
static struct quadrille_block elements(const struct quadrille_call* c,
                                       const struct quadrille_side* side,
                                       struct quadrille_block block) {
  if (!c->plan.is_typed && side->type_size > 0) block.count /= side->type_size;
  return block;
}

static void pack(struct quadrille_call* c, int place, struct quadrille_block block, char* to) {
  const struct quadrille_side side = quadrille_side_of(&c->send, place);
  quadrille_call_check(c, quadrille_pack(&side, elements(c, &side, block), to, c->comm));
}

char* quadrille_gather(struct quadrille_call* c, const struct quadrille_message* m, char* to) {
  const struct quadrille_part* part = quadrille_parts_of(&c->plan, m);
  for (int i = m->count; i > 0; i--, part++) {
    const struct quadrille_block block = quadrille_block_at(c, part);
    if (block.count == 0) continue;
    if (c->send_lies || part->place >= c->plan.ranks || part->form == QUADRILLE_SAVED)
      memcpy(to, block.address, (size_t)block.count);
    else
      pack(c, part->place, block, to);
    to += block.count;
  }
  return to;
}

void quadrille_put(struct quadrille_call* c, int place, struct quadrille_block from) {
  const struct quadrille_block to = c->blocks[place];
  const int source = place - c->plan.ranks;
  if (from.count != to.count) {
    if (c->mismatch.source < 0)
      c->mismatch = (struct quadrille_mismatch){source, from.count, to.count};
    return;
  }
  if (to.count == 0 || to.address == from.address || c->lengths == QUADRILLE_LENGTHS_ALONE) return;
  if (c->receive_lies) {
    memcpy(to.address, from.address, (size_t)to.count);
    return;
  }
  const struct quadrille_side side = quadrille_side_of(&c->receive, source);
  quadrille_call_check(c, quadrille_unpack(&side, elements(c, &side, to), from.address, c->comm));
}

/* Puts the parts of a message to where they belong. A temporary block stays where it is. */
static void scatter(struct quadrille_call* c, const struct quadrille_message* m, char* from) {
  const struct quadrille_part* part = quadrille_parts_of(&c->plan, m);
  const int temporary = 2 * c->plan.ranks;
  for (int i = m->count; i > 0; i--, part++) {
    const struct quadrille_block block = {from, part->high - part->low};
    if (part->place >= temporary)
      c->blocks[part->place] = block;
    else if (part->form == QUADRILLE_RANGE)
      memcpy(c->blocks[part->place].address + part->low, from, (size_t)block.count);
    else
      quadrille_put(c, part->place, block);
    from += block.count;
  }
}

/* What did not come is not sent on. */
static void forget(struct quadrille_call* c, const struct quadrille_message* m) {
  const struct quadrille_part* parts = quadrille_parts_of(&c->plan, m);
  for (int i = 0; i < m->count; i++)
    if (parts[i].place >= 2 * c->plan.ranks) c->blocks[parts[i].place].count = 0;
}

void quadrille_message_land(struct quadrille_call* c, struct quadrille_message* m) {
  const int is_known = c->lengths == QUADRILLE_LENGTHS_KNOWN;
  if (m->count == 0 || (is_known && c->plan.is_typed)) return;
  if (is_known && m >= c->not_kept && m->bytes > 0) quadrille_receive_in_vain(c, m->bytes, m->peer);
  char* from = is_known ? NULL : quadrille_lengths_read(c, m);
  if (c->is_lost) return forget(c, m);
  if (is_known && m->bytes > 0) {
    if (is_described(c, m) || (m->is_straight && c->receive_lies)) return;
    from = c->buffers[m->buffer].address;
  }
  scatter(c, m, from);
}

/* All of a block, whatever its type, in bytes. */
static int64_t packed_size(const struct quadrille_call* c, const struct quadrille_side* side,
                           struct quadrille_block block) {
  return c->plan.is_typed ? block.count * side->type_size : block.count;
}

void quadrille_copy_own(struct quadrille_call* c) {
  const int own = c->binding->own, place = c->plan.ranks + own;
  const struct quadrille_block from = c->blocks[own], to = c->blocks[place];
  if (c->in_place) return;
  const struct quadrille_side send = quadrille_side_of(&c->send, own);
  const struct quadrille_side receive = quadrille_side_of(&c->receive, own);
  if (c->send_lies && c->receive_lies && !c->plan.is_typed) return quadrille_put(c, place, from);
  const int64_t sent = packed_size(c, &send, from), room = packed_size(c, &receive, to);
  if (sent != room && c->mismatch.source < 0)
    c->mismatch = (struct quadrille_mismatch){own, sent, room};
  if (sent != room || c->lengths == QUADRILLE_LENGTHS_ALONE) return;
  const int code = quadrille_copy_block(c->comm, own, c->tag, &send, elements(c, &send, from),
                                        &receive, elements(c, &receive, to));
  quadrille_call_check(c, code);
}

int64_t quadrille_saved_size(const struct quadrille_call* c, int place) {
  const struct quadrille_side side = quadrille_side_of(&c->send, place);
  return packed_size(c, &side, c->blocks[place]);
}

void quadrille_save(struct quadrille_call* c, int place, int buffer) {
  const struct quadrille_block block = c->blocks[place];
  const int64_t bytes = quadrille_saved_size(c, place);
  char* to;
  if (bytes == 0 || c->lengths == QUADRILLE_LENGTHS_ALONE ||
      !quadrille_make_room(c, buffer, bytes, &to))
    return;
  if (c->send_lies)
    memcpy(to, block.address, (size_t)bytes);
  else
    pack(c, place, block, to);
  c->blocks[place].address = to;
}
