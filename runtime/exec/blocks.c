/* The blocks of a call: copied into buffers of the runtime, and out of them, and combined. */
#include <stdlib.h>

#include "runtime/exec/call.h"

int quadrille_make_room(struct quadrille_call* c, int buffer, int64_t size, char** address) {
  struct quadrille_room* room =
      (uint32_t)buffer < (uint32_t)c->buffer_count ? &c->buffers[buffer] : NULL;
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

char* quadrille_put_together(struct quadrille_call* c, const struct quadrille_message* m,
                             char* to) {
  const struct quadrille_part* part = quadrille_parts_of(&c->plan, m);
  const int first_that_lies = c->send_lies ? 0 : c->plan.send_blocks;
  for (int i = m->count; i > 0; i--, part++) {
    const struct quadrille_block block = quadrille_block_at(c, part);
    if (block.count == 0) continue;
    if (part->place >= first_that_lies || part->form == QUADRILLE_SAVED)
      memcpy(to, block.address, (size_t)block.count);
    else
      pack(c, part->place, block, to);
    to += block.count;
  }
  return to;
}

/* Puts bytes to a block of the receive buffer. */
static void put(struct quadrille_call* c, int place, struct quadrille_block from) {
  const struct quadrille_block to = c->blocks[place];
  const int source = place - c->plan.send_blocks;
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

/* Memory for so many elements of the call's type, as they lie, to be freed; the block of them in it. */
static char* elements_in_memory(const struct quadrille_call* c, const struct quadrille_side* side,
                                int64_t count, struct quadrille_block* block) {
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_true_extent(c->type, &lower, &extent);
  const int64_t others = (count - 1) * side->extent, before = others < 0 ? others : 0;
  char* memory = malloc((size_t)(extent + (others < 0 ? -others : others)));
  *block =
      (struct quadrille_block){(char*)((uintptr_t)memory - (uintptr_t)(lower + before)), count};
  return memory;
}

/* The same as `combine`, of elements in packed form. */
static void combine_packed(struct quadrille_call* c, int side, char* from, char* to,
                           int64_t bytes) {
  enum { AT_ONCE = 1 << 12 };
  struct quadrille_side type = {.type = c->type, .uniform = 1, .count = 1};
  const int replaces = side == QUADRILLE_ON_THE_LEFT || c->commutes;
  if (bytes == 0) return;
  quadrille_call_check(c, quadrille_side_describe(&type, 1));
  const int64_t all = bytes / type.type_size;
  struct quadrille_block in, inout;
  char* const memory = elements_in_memory(c, &type, all < AT_ONCE ? all : AT_ONCE, &in);
  char* const second = elements_in_memory(c, &type, all < AT_ONCE ? all : AT_ONCE, &inout);
  int code = memory && second ? MPI_SUCCESS : MPI_ERR_NO_MEM;
  for (int64_t at = 0; at < all && code == MPI_SUCCESS; at += AT_ONCE) {
    char *const arrived = from + at * type.type_size, *const there = to + at * type.type_size;
    in.count = inout.count = all - at < AT_ONCE ? all - at : AT_ONCE;
    code = quadrille_unpack(&type, in, replaces ? arrived : there, c->comm);
    if (code == MPI_SUCCESS)
      code = quadrille_unpack(&type, inout, replaces ? there : arrived, c->comm);
    if (code == MPI_SUCCESS)
      code = MPI_Reduce_local(in.address, inout.address, (int)in.count, c->type, c->operation);
    if (code == MPI_SUCCESS) code = quadrille_pack(&type, inout, there, c->comm);
  }
  free(memory);
  free(second);
  if (code != MPI_SUCCESS) quadrille_call_lose(c, code);
}

/* Combines as many bytes of elements with those at `to`, on that side of them; may overwrite `from`. */
static void combine(struct quadrille_call* c, int side, char* from, char* to, int64_t bytes) {
  enum { AT_ONCE = 1 << 30 }; /* elements: MPI counts them in an int */
  if (c->is_packed) return combine_packed(c, side, from, to, bytes);
  const int64_t unit = c->builder.unit;
  const int replaces = side == QUADRILLE_ON_THE_LEFT || c->commutes;
  int code = MPI_SUCCESS;
  for (int64_t left = unit > 0 ? bytes / unit : 0, at = 0; left > 0 && code == MPI_SUCCESS;) {
    const int64_t count = left < AT_ONCE ? left : AT_ONCE;
    code = MPI_Reduce_local((replaces ? from : to) + at, (replaces ? to : from) + at, (int)count,
                            c->type, c->operation);
    left -= count;
    at += count * unit;
  }
  if (!replaces) memcpy(to, from, (size_t)bytes);
  quadrille_call_check(c, code);
}

/* Parts that are ranges of bytes, as all are where all ranks know all counts. */
static void put_ranges(struct quadrille_call* c, const struct quadrille_message* m, char* from) {
  const struct quadrille_part* part = quadrille_parts_of(&c->plan, m);
  for (int i = m->count; i > 0; i--, part++) {
    const int64_t bytes = part->high - part->low;
    char* const to = c->blocks[part->place].address + part->low;
    if (m->combines)
      combine(c, m->combines, from, to, bytes);
    else
      memcpy(to, from, (size_t)bytes);
    from += bytes;
  }
}

void quadrille_put_apart(struct quadrille_call* c, struct quadrille_posting p, char* from) {
  const struct quadrille_message* m = p.message;
  if (c->builder.is_counted) return put_ranges(c, m, from);
  const struct quadrille_part* part = quadrille_parts_of(&c->plan, m);
  const int64_t* length = m->count == 1 ? &p.transfer->bytes : c->lengths_of_parts + m->first;
  const int32_t first_temporary = c->plan.send_blocks + c->plan.receive_blocks;
  for (int i = m->count; i > 0; i--, part++) {
    const struct quadrille_block block = {from, *length++};
    if (part->place >= first_temporary)
      c->blocks[part->place] = block;
    else
      put(c, part->place, block);
    from += block.count;
  }
}

void quadrille_forget_parts(struct quadrille_call* c, const struct quadrille_message* m) {
  const struct quadrille_part* parts = quadrille_parts_of(&c->plan, m);
  for (int i = 0; i < m->count; i++)
    if (parts[i].form != QUADRILLE_RANGE && quadrille_is_temporary(&c->plan, parts[i].place))
      c->blocks[parts[i].place].count = 0;
}

static int64_t packed_size(const struct quadrille_call* c, const struct quadrille_side* side,
                           struct quadrille_block block) {
  return c->plan.is_typed ? block.count * side->type_size : block.count;
}

int64_t quadrille_packed_size(const struct quadrille_call* c, int place) {
  const int first = c->plan.send_blocks;
  const struct quadrille_side side = place < first ? quadrille_side_of(&c->send, place)
                                                   : quadrille_side_of(&c->receive, place - first);
  return packed_size(c, &side, c->blocks[place]);
}

void quadrille_copy_own(struct quadrille_call* c) {
  const int own = c->binding->own, place = c->plan.own_receive;
  const struct quadrille_block from = c->blocks[c->plan.own_send], to = c->blocks[place];
  if (c->in_place) return;
  const struct quadrille_side send = quadrille_side_of(&c->send, c->plan.own_send);
  const struct quadrille_side receive = quadrille_side_of(&c->receive, place - c->plan.send_blocks);
  if (c->send_lies && c->receive_lies && !c->plan.is_typed) return put(c, place, from);
  const int64_t sent = packed_size(c, &send, from), room = packed_size(c, &receive, to);
  if (sent != room && c->mismatch.source < 0)
    c->mismatch = (struct quadrille_mismatch){own, sent, room};
  if (sent != room || c->lengths == QUADRILLE_LENGTHS_ALONE) return;
  const int code = quadrille_copy_block(c->comm, own, c->tag, &send, elements(c, &send, from),
                                        &receive, elements(c, &receive, to));
  quadrille_call_check(c, code);
}

void quadrille_save(struct quadrille_call* c, int place, int buffer) {
  const struct quadrille_block block = c->blocks[place];
  const int64_t bytes = quadrille_packed_size(c, place);
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

int quadrille_make_temporaries(struct quadrille_call* c) {
  for (int32_t i = 0; c->builder.is_counted && i < c->plan.temporaries; i++) {
    struct quadrille_room* room = &c->temporaries[i];
    const int64_t size = c->builder.temporaries[i].room;
    if (size > room->size) {
      char* grown = realloc(room->address, (size_t)size);
      if (!grown) return 0;
      *room = (struct quadrille_room){grown, size};
    }
    c->blocks[QUADRILLE_TEMPORARY_PLACES + i] = (struct quadrille_block){room->address, room->size};
  }
  return 1;
}

/* Combines a range that must stay as it is: part by part in memory of the call, or where an element is larger than that, in
 * memory that is taken for it. */
static void combine_kept(struct quadrille_call* c, int side, const char* from, char* to,
                         int64_t bytes) {
  const int64_t unit = c->builder.unit > 0 ? c->builder.unit : 1;
  const int64_t fitting = (int64_t)sizeof c->nowhere / unit * unit;
  const int64_t most = fitting > 0 ? fitting : unit;
  char* const part = fitting > 0 ? c->nowhere : malloc((size_t)unit);
  if (!part) return quadrille_call_lose(c, MPI_ERR_NO_MEM);
  for (int64_t at = 0; at < bytes; at += most) {
    const int64_t now = bytes - at < most ? bytes - at : most;
    memcpy(part, from + at, (size_t)now);
    combine(c, side, part, to + at, now);
  }
  if (part != c->nowhere) free(part);
}

/* A range to another, or combined with it. */
static void copy_range(struct quadrille_call* c, const struct quadrille_copy* copy) {
  const struct quadrille_block from = quadrille_block_at(c, &copy->from);
  char* const to = quadrille_block_at(c, &copy->to).address;
  if (c->is_lost || from.count == 0) return;
  if (!copy->combines)
    memmove(to, from.address, (size_t)from.count);
  else if (copy->combines == QUADRILLE_ON_THE_RIGHT && !c->commutes)
    combine_kept(c, copy->combines, from.address, to, from.count);
  else
    combine(c, copy->combines, from.address, to, from.count);
}

void quadrille_copy(struct quadrille_call* c, const struct quadrille_copy* copy) {
  if (c->builder.is_counted) return copy_range(c, copy);
  const struct quadrille_block from = c->blocks[copy->from.place];
  const struct quadrille_message whole = {.count = 1, .part = copy->from};
  struct quadrille_block* to = &c->blocks[copy->to.place];
  char* address;
  if (!quadrille_is_temporary(&c->plan, copy->to.place)) return put(c, copy->to.place, from);
  if (copy->buffer == QUADRILLE_NO_BUFFER || (c->send_lies && !c->in_place) ||
      c->lengths == QUADRILLE_LENGTHS_ALONE) {
    *to = from;
    return;
  }
  *to = (struct quadrille_block){NULL, 0};
  if (!quadrille_make_room(c, copy->buffer, from.count, &address)) return;
  quadrille_put_together(c, &whole, address);
  *to = (struct quadrille_block){address, from.count};
}
