/* Allgather calls: counts, this rank's contribution, the plan, and what is left to unpack.
 *
 * All ranks know all counts, so the plan of a call is made of them, and kept for the next call with the
 * same. This rank's contribution is brought to its block of the receive buffer first, so that a call in
 * place is a call like any other. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/exec/call.h"
#include "runtime/internal.h"
#include "runtime/program/block_size.h"

enum { KEPT_COPY = 1 << 24 }; /* a larger packed copy is given back after the call */

struct gathering {
  struct quadrille_binding* binding;
  const struct quadrille_side *send, *receive; /* in place, `send` means nothing */
  int in_place, is_direct; /* is_direct: the receive buffer is what its packed form is */
};

/* This rank's part before the call. */
static struct quadrille_block own_block(const struct gathering* g) {
  if (g->in_place) return quadrille_block_of(g->receive, g->binding->own);
  return (struct quadrille_block){g->send->base, g->send->count};
}

static const struct quadrille_side* own_side(const struct gathering* g) {
  return g->in_place ? g->receive : g->send;
}

/* What this rank contributes, in bytes; -1 where 64 bits do not hold it. */
static int64_t contributed(const struct gathering* g) {
  int64_t bytes;
  return __builtin_mul_overflow(own_block(g).count, own_side(g)->type_size, &bytes) ? -1 : bytes;
}

/* Lengths and places of all blocks, where they are not those of the last call. Returns 0 where one is
 * longer than contributions may be. */
static int read_counts(const struct gathering* g) {
  struct quadrille_binding* b = g->binding;
  const struct quadrille_side* side = g->receive;
  int64_t each = -1, total = 0, changed = 0, moved = 0;
  if (!side->uniform || !g->is_direct ||
      __builtin_mul_overflow(side->count, side->type_size, &each))
    each = -1;
  if (each >= 0 && b->each == each && b->stride == side->stride) return 1;
  b->each = -1;
  if (side->uniform && side->is_too_much) return 0;
  for (int i = 0; i < b->place.ranks; i++) {
    const struct quadrille_block block = quadrille_block_of(side, b->real[i]);
    int64_t bytes;
    if (__builtin_mul_overflow(block.count, side->type_size, &bytes) || bytes > QUADRILLE_MAX_COUNT)
      return 0;
    const int64_t offset =
        g->is_direct ? (int64_t)((uintptr_t)block.address - (uintptr_t)side->base) : total;
    changed |= b->counts[i] ^ bytes;
    moved |= b->offsets[i] ^ offset;
    b->counts[i] = bytes;
    b->offsets[i] = offset;
    total += bytes;
  }
  b->total = total;
  b->each = each;
  b->stride = side->stride;
  if (changed != 0 || moved != 0) b->call->is_planned = 0;
  if (changed != 0 && b->loaded->program.depends_on_call) b->are_tables_good = 0;
  return 1;
}

/* Where blocks lie while they travel. Without memory they are not kept. */
static void find_base(const struct gathering* g) {
  struct quadrille_binding* b = g->binding;
  struct quadrille_call* c = b->call;
  char* base = g->receive->base;
  if (!g->is_direct && b->copy_size < b->total) {
    free(b->copy);
    b->copy = malloc((size_t)b->total);
    b->copy_size = b->copy ? b->total : 0;
  }
  if (!g->is_direct) base = b->copy;
  c->lacks_memory = !g->is_direct && b->copy_size < b->total;
  c->blocks[0] = (struct quadrille_block){base, b->total};
}

/* An offset may lie before or behind any object there is. */
static char* packed(const struct quadrille_binding* b, int64_t block) {
  return (char*)((uintptr_t)b->call->blocks[0].address + (uintptr_t)b->offsets[block]);
}

/* Brings this rank's contribution into its block: as much of it as there is room for. */
static int place_own(const struct gathering* g) {
  const struct quadrille_binding* b = g->binding;
  const struct quadrille_side* side = own_side(g);
  struct quadrille_block own = own_block(g);
  char* target = packed(b, b->place.rank);
  const int64_t room = b->counts[b->place.rank];
  const int lies = quadrille_packs_as_it_lies(side->type);
  if (side->type_size == 0 || (lies && own.address == target)) return MPI_SUCCESS;
  if (own.count > room / side->type_size) own.count = room / side->type_size;
  if (!lies) return quadrille_pack(side, own, target, b->comm);
  if (own.count > 0) memcpy(target, own.address, (size_t)(own.count * side->type_size));
  return MPI_SUCCESS;
}

static int unpack_all(const struct gathering* g) {
  const struct quadrille_binding* b = g->binding;
  int code = MPI_SUCCESS;
  for (int64_t i = 0; i < b->place.ranks && code == MPI_SUCCESS; i++)
    if (!g->in_place || i != b->place.rank)
      code = quadrille_unpack(g->receive, quadrille_block_of(g->receive, b->real[i]), packed(b, i),
                              b->comm);
  return code;
}

static const char* choose_parameters(struct quadrille_binding* b) {
  const struct quadrille_program* program = &b->loaded->program;
  for (int i = 0; i < program->parameter_count; i++) {
    if (!program->at_call[i]) continue;
    const int64_t rule = b->block_size > 0 ? b->block_size : program->parameters[i];
    b->parameters[i] = quadrille_block_size(rule, program->alpha_ns[i], program->beta_ps[i],
                                            b->counts, b->place.ranks);
    if (b->parameters[i] == 0)
      return "the schedule does not say how its block size is chosen; bind with block_size";
  }
  return NULL;
}

/* Chooses parameters and fills tables, after counts changed. */
static const char* prepare_tables(struct quadrille_binding* b) {
  const char* error = choose_parameters(b);
  if (!error) error = quadrille_tables_refill(&b->tables, &b->loaded->program, &b->place);
  b->are_tables_good = !error;
  if (b->call) b->call->is_planned = 0;
  return error;
}

const char* quadrille_allgather_open(struct quadrille_binding* b) {
  const size_t ranks = (size_t)b->place.ranks;
  b->counts = calloc(ranks, sizeof *b->counts);
  b->offsets = calloc(ranks, sizeof *b->offsets);
  if (!b->counts || !b->offsets) return quadrille_no_memory;
  b->place.counts = b->counts;
  b->place.parameters = b->parameters;
  return quadrille_allgather_restart(b);
}

const char* quadrille_allgather_restart(struct quadrille_binding* b) {
  const size_t ranks = (size_t)b->place.ranks;
  memset(b->counts, 0, ranks * sizeof *b->counts);
  memset(b->offsets, 0, ranks * sizeof *b->offsets);
  b->each = -1;
  return prepare_tables(b);
}

/* What is wrong before anything is sent; the call's arguments may be wrong already. */
static const char* prepare(struct gathering* g, int* error_class) {
  struct quadrille_binding* b = g->binding;
  const char* error = quadrille_refused_buffer(b, g->in_place ? NULL : g->send->base);
  if (!error) error = quadrille_refused_buffer(b, g->receive->base);
  *error_class = MPI_ERR_BUFFER;
  if (error) return error;
  *error_class = MPI_ERR_COUNT;
  g->is_direct = quadrille_packs_as_it_lies(g->receive->type);
  if (!read_counts(g) || contributed(g) < 0) {
    b->are_tables_good = b->call->is_planned = 0; /* counts are half old, half new */
    return "the counts are more bytes than there can be";
  }
  find_base(g);
  if (b->are_tables_good) return NULL;
  error = prepare_tables(b);
  *error_class = error == quadrille_no_memory ? MPI_ERR_NO_MEM : MPI_ERR_ARG;
  return error;
}

/* Follows the schedule with everything in place. */
static void follow(const struct gathering* g) {
  struct quadrille_binding* b = g->binding;
  struct quadrille_call* c = b->call;
  c->send_lies = c->receive_lies = 1;
  const int code = c->lacks_memory ? MPI_SUCCESS : place_own(g);
  quadrille_call_begin(c, c->lacks_memory);
  if (code != MPI_SUCCESS) quadrille_call_lose(c, code);
  quadrille_call_finish(c);
  if (!g->is_direct && !c->is_lost) quadrille_call_check(c, unpack_all(g));
  if (b->copy_size <= KEPT_COPY) return;
  free(b->copy);
  b->copy = NULL;
  b->copy_size = 0;
}

/* NULL, or a text where this rank does not contribute what it is to have. */
static const char* mismatch(const struct gathering* g, char text[QUADRILLE_TEXT]) {
  const long long own = contributed(g), expected = g->binding->counts[g->binding->place.rank];
  if (own == expected) return NULL;
  snprintf(text, QUADRILLE_TEXT,
           "this rank contributes %lld bytes, but its own entry of the receive counts is %lld "
           "bytes; they must be equal",
           own, expected);
  return text;
}

int quadrille_allgather_run(struct quadrille_binding* binding, const struct quadrille_side* send,
                            const struct quadrille_side* receive, int in_place, MPI_Comm comm,
                            int error_class, const char* error) {
  struct gathering g = {binding, send, receive, .in_place = in_place};
  char text[QUADRILLE_TEXT];
  if (!error) error = prepare(&g, &error_class);
  const char* differs = error ? NULL : mismatch(&g, text);
  if (binding->compares) {
    if (differs) error_class = MPI_ERR_COUNT;
    const int code =
        quadrille_compare_calls(binding, comm, receive, error_class, differs ? differs : error);
    if (code != MPI_SUCCESS) return code;
  } else if (error) {
    return quadrille_error(comm, error_class, "%s", error);
  }
  follow(&g);
  const int code = quadrille_call_report(binding->call, comm);
  if (code != MPI_SUCCESS || !differs) return code;
  return quadrille_error(comm, MPI_ERR_COUNT, "%s", text);
}
