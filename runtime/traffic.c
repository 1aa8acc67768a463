/* A call on its route: which step does what next. */
#include "runtime/traffic.h"

#include <stdlib.h>
#include <string.h>

static int first_receive(const struct quadrille_route* route, int step) {
  return step > 0 ? route->steps[step - 1].receives_end : 0;
}

static int first_send(const struct quadrille_route* route, int step) {
  return step > 0 ? route->steps[step - 1].sends_end : 0;
}

static int first_copy(const struct quadrille_route* route, int step) {
  return step > 0 ? route->steps[step - 1].copies_end : 0;
}

/* The most messages of so many steps in a row, rounded up to a power of two. */
static uint32_t most_messages(const struct quadrille_route* route, int window,
                              int (*first)(const struct quadrille_route*, int)) {
  int most = 1;
  for (int step = 0; step < route->step_count; step++) {
    const int left = route->step_count - step;
    const int messages = first(route, step + (left < window ? left : window)) - first(route, step);
    if (messages > most) most = messages;
  }
  return quadrille_power_of_two(most);
}

static int open_parcels(struct quadrille_parcels* parcels, uint32_t count, int64_t room) {
  parcels->all = calloc(count, sizeof *parcels->all);
  parcels->mask = count - 1;
  for (uint32_t i = 0; parcels->all && i < count; i++) {
    parcels->all[i].request = parcels->all[i].data = MPI_REQUEST_NULL;
    parcels->all[i].room.address = malloc((size_t)room);
    if (!parcels->all[i].room.address) return 0;
    parcels->all[i].room.size = room;
  }
  return parcels->all != NULL;
}

static void close_parcels(struct quadrille_parcels* parcels) {
  for (uint32_t i = 0; parcels->all && i <= parcels->mask; i++) free(parcels->all[i].room.address);
  free(parcels->all);
  parcels->all = NULL;
}

int quadrille_traffic_open(struct quadrille_traffic* t, struct quadrille_binding* binding,
                           const struct quadrille_route* route, int window, int64_t data) {
  const size_t places = 2 * (size_t)route->ranks + (size_t)route->temporaries;
  const int64_t head = quadrille_parcel_head(route->most_pieces);
  memset(t, 0, sizeof *t);
  t->binding = binding;
  t->route = route;
  t->window = window;
  t->length_tag = QUADRILLE_LENGTH_TAG;
  t->data_tag = QUADRILLE_DATA_TAG;
  t->stored = calloc(places, sizeof *t->stored);
  t->slots = calloc((size_t)route->temporaries + 1, sizeof *t->slots);
  const int parcels =
      open_parcels(&t->incoming, most_messages(route, window, first_receive), head + data) &&
      open_parcels(&t->outgoing, most_messages(route, window, first_send), head);
  return t->stored && t->slots && parcels;
}

void quadrille_traffic_forget(struct quadrille_traffic* t) {
  memset(t->stored + 2 * (size_t)t->route->ranks, 0,
         (size_t)t->route->temporaries * sizeof *t->stored);
}

void quadrille_traffic_shrink(struct quadrille_traffic* t) {
  close_parcels(&t->incoming);
  close_parcels(&t->outgoing);
}

void quadrille_traffic_close(struct quadrille_traffic* t) {
  for (int i = 0; t->slots && i < t->route->temporaries; i++) free(t->slots[i].address);
  quadrille_traffic_shrink(t);
  free(t->stored);
  free(t->slots);
  free(t->copy.address);
  quadrille_fixed_close(&t->fixed);
  memset(t, 0, sizeof *t);
}

/* Where one side's blocks lie; false where 64 bits do not hold their lengths. */
static int read_side(const struct quadrille_side* side, struct quadrille_stored* stored, int ranks,
                     int64_t* total) {
  *total = 0;
  for (int rank = 0; rank < ranks; rank++) {
    const struct quadrille_block block = quadrille_block_of(side, rank);
    const int64_t size = side->types ? quadrille_side_of(side, rank).type_size : side->type_size;
    stored[rank].address = block.address;
    if (__builtin_mul_overflow(block.count, size, &stored[rank].bytes) ||
        __builtin_add_overflow(*total, stored[rank].bytes, total))
      return 0;
  }
  return 1;
}

/* Whether the blocks of a side are bytes already. */
static int lies(const struct quadrille_side* side, int ranks) {
  if (!side->types) return quadrille_packs_as_it_lies(side->type);
  for (int rank = 0; rank < ranks; rank++)
    if ((rank == 0 || side->types[rank] != side->types[rank - 1]) &&
        !quadrille_packs_as_it_lies(side->types[rank]))
      return 0;
  return 1;
}

/* Copies what is to be sent aside, where its room is. */
static void copy_aside(struct quadrille_traffic* t) {
  for (int rank = 0; rank < t->route->ranks; rank++) {
    const struct quadrille_stored *to = &t->stored[rank], *from = to + t->route->ranks;
    if (to->bytes == 0) continue;
    if (t->receive_lies) {
      memcpy(to->address, from->address, (size_t)to->bytes);
      continue;
    }
    const struct quadrille_side side = quadrille_side_of(&t->receive, rank);
    const struct quadrille_block block = {from->address, from->bytes / side.type_size};
    quadrille_traffic_check(t, quadrille_pack(&side, block, to->address, t->binding->comm));
  }
}

/* Room for them; false where memory ran out. */
static int make_copy_room(struct quadrille_traffic* t, int64_t total) {
  if (total > 0 && total > t->copy.size) {
    free(t->copy.address);
    t->copy.address = malloc((size_t)total);
    t->copy.size = t->copy.address ? total : 0;
  }
  char* next = t->copy.address;
  for (int rank = 0; rank < t->route->ranks; rank++) {
    t->stored[rank].address = next;
    next += t->stored[rank].bytes;
  }
  return total <= t->copy.size;
}

const char* quadrille_traffic_load(struct quadrille_traffic* t, const struct quadrille_side* send,
                                   const struct quadrille_side* receive, int in_place,
                                   int* error_class) {
  const int ranks = t->route->ranks;
  int64_t sent, received;
  t->send = in_place ? *receive : *send;
  t->receive = *receive;
  t->in_place = in_place;
  *error_class = MPI_ERR_COUNT;
  if (!read_side(&t->send, t->stored, ranks, &sent) ||
      !read_side(receive, t->stored + ranks, ranks, &received))
    return "the counts are more bytes than there can be";
  t->receive_lies = lies(receive, ranks);
  t->send_lies = in_place || lies(send, ranks);
  *error_class = MPI_ERR_NO_MEM;
  return in_place && !make_copy_room(t, sent) ? "out of memory" : NULL;
}

static void post_receives(struct quadrille_traffic* t) {
  const int end = t->route->steps[t->posted].receives_end;
  const int fixed = t->cargo == QUADRILLE_CARGO_BLOCKS;
  for (int i = first_receive(t->route, t->posted); i < end; i++)
    fixed ? quadrille_fixed_receive(t, i) : quadrille_parcel_receive(t, i);
  t->posted++;
}

/* Copies read, like sends, before anything of the step is written. */
static void post_sends(struct quadrille_traffic* t) {
  const struct quadrille_route* route = t->route;
  const struct quadrille_route_step* step = &route->steps[t->sent];
  const int fixed = t->cargo == QUADRILLE_CARGO_BLOCKS;
  for (int i = first_send(route, t->sent); i < step->sends_end; i++)
    fixed ? quadrille_fixed_send(t, i) : quadrille_parcel_send(t, i);
  for (int i = first_copy(route, t->sent); i < step->copies_end; i++)
    fixed ? quadrille_fixed_copy(t, i)
          : quadrille_parcel_copy(t, route->copies[i].from, route->copies[i].to);
  t->sent++;
}

/* Goes as far as it can without waiting. */
static void advance(struct quadrille_traffic* t) {
  const struct quadrille_route* route = t->route;
  int moved;
  do {
    moved = 0;
    for (; t->posted < route->step_count && t->posted < t->received + t->window; moved = 1)
      post_receives(t);
    for (; t->sent < t->posted && t->sent < t->gone + t->window &&
           route->steps[t->sent].ready <= t->received;
         moved = 1)
      post_sends(t);
    for (; t->received < t->sent &&
           first_receive(route, t->received) == route->steps[t->received].receives_end;
         moved = 1)
      t->received++;
    for (; t->gone < t->sent && first_send(route, t->gone) == route->steps[t->gone].sends_end;
         moved = 1)
      t->gone++;
  } while (moved);
}

static void land_step(struct quadrille_traffic* t) {
  const int end = t->route->steps[t->received].receives_end;
  const int fixed = t->cargo == QUADRILLE_CARGO_BLOCKS;
  for (int i = first_receive(t->route, t->received); i < end; i++)
    fixed ? quadrille_fixed_land(t, i) : quadrille_parcel_land(t, i);
  t->received++;
}

static void wait_sends(struct quadrille_traffic* t) {
  const int end = t->route->steps[t->gone].sends_end;
  const int fixed = t->cargo == QUADRILLE_CARGO_BLOCKS;
  for (int i = first_send(t->route, t->gone); i < end; i++)
    fixed ? quadrille_fixed_wait(t, i) : quadrille_parcel_wait(t, i);
  t->gone++;
}

static void copy_own(struct quadrille_traffic* t) {
  int own = 0;
  if (t->in_place || !t->route->copies_own) return;
  MPI_Comm_rank(t->binding->comm, &own);
  quadrille_parcel_copy_own(t, own);
}

void quadrille_traffic_start(struct quadrille_traffic* t, enum quadrille_cargo cargo) {
  t->cargo = cargo;
  t->post_send = t->binding->synchronous ? MPI_Issend : MPI_Isend;
  t->posted = t->sent = t->received = t->gone = t->headed = 0;
  t->error = MPI_SUCCESS;
  t->mismatch.source = -1;
  if (t->in_place && cargo != QUADRILLE_CARGO_LENGTHS) copy_aside(t);
  if (cargo != QUADRILLE_CARGO_BLOCKS) quadrille_traffic_forget(t);
  advance(t);
}

void quadrille_traffic_finish(struct quadrille_traffic* t) {
  const int steps = t->route->step_count;
  copy_own(t);
  while (t->received < steps) {
    if (t->received < t->sent) land_step(t);
    /* A step in flight takes the place of the oldest. */
    while (t->sent < steps && t->sent == t->gone + t->window &&
           (t->gone < t->received || t->received == t->sent))
      wait_sends(t);
    advance(t);
  }
  while (t->gone < steps) wait_sends(t);
}

const char* quadrille_traffic_mismatch(const struct quadrille_traffic* t,
                                       char text[QUADRILLE_TEXT]) {
  const struct quadrille_mismatch* m = &t->mismatch;
  int own = 0;
  if (m->source < 0) return NULL;
  MPI_Comm_rank(t->binding->comm, &own);
  quadrille_name_lengths(text, m->source, m->sent, own, m->expected);
  return text;
}

int quadrille_traffic_report(const struct quadrille_traffic* t, MPI_Comm comm) {
  char text[QUADRILLE_TEXT];
  if (quadrille_traffic_mismatch(t, text))
    return quadrille_error(comm, MPI_ERR_TRUNCATE, "%s", text);
  return t->error == MPI_SUCCESS ? MPI_SUCCESS : quadrille_call_error(comm, t->error);
}
