/* Calls of which all lengths are known.
 *
 * Everything is laid out once, so a call touches few lines and pages of memory: one arena has the
 * messages and the temporary blocks, and each piece of a message has its address. A piece that is
 * sent on stays in the message that it arrived in, where no other message arrives there in the same
 * call; else it goes to a temporary block of its own.
 *
 * The route is followed twice, first for how long everything is, then for where it is. */
#include <stdlib.h>
#include <string.h>

#include "runtime/traffic.h"

enum { ALIGNMENT = 16 };

/* A part of the arena. */
struct part {
  int64_t size, offset;
};

struct layout {
  struct quadrille_traffic* traffic;
  char* arena; /* NULL: lengths are gathered */
  struct part *incoming, *outgoing, *slots;
  unsigned char* moved; /* by temporary block: whether its slot is used */
  int is_too_much;
};

int quadrille_fixed_open(struct quadrille_traffic* t) {
  const struct quadrille_route* route = t->route;
  struct quadrille_fixed* fixed = &t->fixed;
  fixed->receives = calloc((size_t)route->receives.count + 1, sizeof *fixed->receives);
  fixed->sends = calloc((size_t)route->sends.count + 1, sizeof *fixed->sends);
  fixed->pieces = calloc((size_t)route->piece_count + 1, sizeof *fixed->pieces);
  fixed->copies = calloc((size_t)route->copy_count + 1, sizeof *fixed->copies);
  return fixed->receives && fixed->sends && fixed->pieces && fixed->copies;
}

void quadrille_fixed_close(struct quadrille_fixed* fixed) {
  free(fixed->receives);
  free(fixed->sends);
  free(fixed->pieces);
  free(fixed->copies);
  free(fixed->arena);
}

/* Where a part is; NULL while lengths are gathered. */
static char* claim(struct layout* l, struct part* part, int64_t bytes) {
  if (bytes > part->size) part->size = bytes;
  return l->arena ? l->arena + part->offset : NULL;
}

static char* claim_slot(struct layout* l, int place, int64_t bytes) {
  const int slot = place - 2 * l->traffic->route->ranks;
  l->moved[slot] = 1;
  return claim(l, &l->slots[slot], bytes);
}

/* A temporary block stays where it is. */
static void hold(struct layout* l, int place, struct quadrille_stored stored) {
  l->moved[place - 2 * l->traffic->route->ranks] = 0;
  l->traffic->stored[place] = stored;
}

/* Whether nothing of this call overwrites what is at a place, which is bytes. */
static int is_held(const struct layout* l, int place) {
  const int ranks = l->traffic->route->ranks;
  return place < ranks ? l->traffic->send_lies : !l->moved[place - 2 * ranks];
}

static int64_t add_lengths(struct layout* l, const struct quadrille_route_message* m) {
  int64_t bytes = 0;
  for (int i = m->first; i < m->first + m->count; i++)
    l->is_too_much |= __builtin_add_overflow(bytes, l->traffic->fixed.pieces[i].bytes, &bytes);
  return bytes;
}

static void lay_send(struct layout* l, int message) {
  struct quadrille_traffic* t = l->traffic;
  const struct quadrille_route_message* m = &t->route->sends.all[message];
  struct quadrille_fixed_message* fixed = &t->fixed.sends[message];
  const int32_t* places = t->route->pieces + m->first;
  for (int i = 0; i < m->count; i++) t->fixed.pieces[m->first + i] = t->stored[places[i]];
  fixed->bytes = add_lengths(l, m);
  fixed->request = MPI_REQUEST_NULL;
  fixed->address = m->count == 1 && is_held(l, places[0])
                       ? t->stored[places[0]].address
                       : claim(l, &l->outgoing[(uint32_t)message & t->outgoing.mask], fixed->bytes);
}

static void lay_copy(struct layout* l, int copy) {
  struct quadrille_traffic* t = l->traffic;
  const struct quadrille_route_copy* route = &t->route->copies[copy];
  const struct quadrille_stored source = t->stored[route->from];
  struct quadrille_stored* target = &t->stored[route->to];
  struct quadrille_fixed_copy* fixed = &t->fixed.copies[copy];
  *fixed = (struct quadrille_fixed_copy){source.address, source.address, source.bytes};
  if (route->to < 2 * t->route->ranks) {
    fixed->to = target->address;
    if (fixed->bytes > target->bytes) fixed->bytes = target->bytes;
  } else if (is_held(l, route->from)) {
    hold(l, route->to, source);
  } else {
    fixed->to = claim_slot(l, route->to, source.bytes);
    *target = (struct quadrille_stored){fixed->to, source.bytes};
  }
}

static void lay_receive(struct layout* l, int message) {
  struct quadrille_traffic* t = l->traffic;
  const struct quadrille_route_message* m = &t->route->receives.all[message];
  struct quadrille_fixed_message* fixed = &t->fixed.receives[message];
  const int32_t* places = t->route->pieces + m->first;
  const int ranks = t->route->ranks, stays = quadrille_room_is_kept(t, message);
  fixed->bytes = add_lengths(l, m);
  fixed->request = MPI_REQUEST_NULL;
  fixed->address = m->count == 1 && places[0] < 2 * ranks && t->receive_lies
                       ? t->stored[places[0]].address
                       : claim(l, &l->incoming[(uint32_t)message & t->incoming.mask], fixed->bytes);
  int64_t offset = 0;
  for (int i = 0; i < m->count; i++) {
    struct quadrille_stored* piece = &t->fixed.pieces[m->first + i];
    piece->address = l->arena ? fixed->address + offset : NULL;
    offset += piece->bytes;
    if (places[i] < 2 * ranks) {
      piece->address = t->stored[places[i]].address;
    } else if (stays) {
      hold(l, places[i], *piece);
    } else {
      piece->address = claim_slot(l, places[i], piece->bytes);
      t->stored[places[i]] = *piece;
    }
  }
}

/* As a call runs, step by step. */
static void lay_out(struct layout* l) {
  const struct quadrille_route* route = l->traffic->route;
  int receive = 0, send = 0, copy = 0;
  quadrille_traffic_forget(l->traffic);
  memset(l->moved, 0, (size_t)route->temporaries);
  for (int step = 0; step < route->step_count && !l->is_too_much; step++) {
    for (; send < route->steps[step].sends_end; send++) lay_send(l, send);
    for (; copy < route->steps[step].copies_end; copy++) lay_copy(l, copy);
    for (; receive < route->steps[step].receives_end; receive++) lay_receive(l, receive);
  }
}

/* Gives each part its place; false where memory ran out. */
static int make_arena(struct layout* l, struct part* parts, size_t count) {
  int64_t total = 0;
  for (size_t i = 0; i < count; i++) {
    parts[i].offset = total;
    if (__builtin_add_overflow(total, parts[i].size + ALIGNMENT - 1, &total)) return 0;
    total -= total % ALIGNMENT;
  }
  return (l->arena = l->traffic->fixed.arena = malloc((size_t)total + (total == 0))) != NULL;
}

int quadrille_fixed_settle(struct quadrille_traffic* t) {
  const size_t incoming = (size_t)t->incoming.mask + 1, outgoing = (size_t)t->outgoing.mask + 1;
  const size_t count = incoming + outgoing + (size_t)t->route->temporaries;
  struct part* parts = calloc(count, sizeof *parts);
  struct layout l = {.traffic = t, .incoming = parts};
  l.moved = malloc((size_t)t->route->temporaries + 1);
  int settled = parts && l.moved;
  if (settled) {
    l.outgoing = parts + incoming;
    l.slots = l.outgoing + outgoing;
    lay_out(&l);
    settled = !l.is_too_much && make_arena(&l, parts, count);
  }
  if (settled) lay_out(&l);
  free(parts);
  free(l.moved);
  quadrille_traffic_shrink(t);
  return settled;
}

void quadrille_fixed_receive(struct quadrille_traffic* t, int message) {
  const struct quadrille_route_message* m = &t->route->receives.all[message];
  struct quadrille_fixed_message* fixed = &t->fixed.receives[message];
  if (fixed->bytes == 0 && m->count > 0) return;
  quadrille_traffic_post(t, 1, fixed->address, fixed->bytes, m->peer, t->data_tag, &fixed->request);
}

void quadrille_fixed_send(struct quadrille_traffic* t, int message) {
  const struct quadrille_route_message* m = &t->route->sends.all[message];
  struct quadrille_fixed_message* fixed = &t->fixed.sends[message];
  const struct quadrille_stored* piece = &t->fixed.pieces[m->first];
  const int32_t* place = t->route->pieces + m->first;
  char* to = fixed->address;
  if (fixed->bytes == 0 && m->count > 0) return;
  for (int i = 0; i < m->count; to += piece++->bytes, place++, i++) {
    if (piece->bytes == 0 || piece->address == to) continue;
    quadrille_traffic_take_out(t, place, piece, to);
  }
  quadrille_traffic_post(t, 0, fixed->address, fixed->bytes, m->peer, t->data_tag, &fixed->request);
}

void quadrille_fixed_land(struct quadrille_traffic* t, int message) {
  const struct quadrille_route_message* m = &t->route->receives.all[message];
  struct quadrille_fixed_message* fixed = &t->fixed.receives[message];
  const struct quadrille_stored* piece = &t->fixed.pieces[m->first];
  const int32_t* place = t->route->pieces + m->first;
  char* from = fixed->address;
  const int code = quadrille_traffic_wait(&fixed->request);
  if (code != MPI_SUCCESS) return quadrille_traffic_check(t, code);
  for (int i = 0; i < m->count; from += piece++->bytes, place++, i++) {
    if (piece->bytes == 0 || piece->address == from) continue;
    quadrille_traffic_put_in(t, place, piece, from);
  }
}

void quadrille_fixed_wait(struct quadrille_traffic* t, int message) {
  quadrille_traffic_check(t, quadrille_traffic_wait(&t->fixed.sends[message].request));
}

void quadrille_fixed_copy(struct quadrille_traffic* t, int copy) {
  const struct quadrille_route_copy* route = &t->route->copies[copy];
  const struct quadrille_fixed_copy* fixed = &t->fixed.copies[copy];
  if (fixed->bytes == 0 || fixed->from == fixed->to) return;
  if (route->from < t->route->ranks && !t->send_lies)
    quadrille_traffic_pack(t, route->from, &(struct quadrille_stored){fixed->from, fixed->bytes},
                           fixed->to);
  else
    quadrille_traffic_put_in(t, &route->to, &(struct quadrille_stored){fixed->to, fixed->bytes},
                             fixed->from);
}
