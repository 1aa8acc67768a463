/* An allgather call: counts, this rank's contribution, the walk, and what is left to unpack.
 *
 * Errors of MPI do not stop a call, so that the other ranks are served; the first one is returned.
 * With QUADRILLE_DEBUG the ranks first compare what they were called with (compare.c). */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/execution.h"

enum { KEPT_COPY = 1 << 24 }; /* a larger packed copy is given back after the call */

struct call {
  struct quadrille_binding* binding;
  const struct quadrille_side *send, *receive; /* in place, `send` means nothing */
  int in_place, direct; /* direct: the receive buffer is what its packed form is */
  int changed;          /* counts are not those of the last call */
};

/* This rank's part before the call. */
static struct quadrille_block own_block(const struct call* call) {
  if (call->in_place)
    return quadrille_block_of(call->receive, call->binding->real[call->binding->place.rank]);
  return (struct quadrille_block){call->send->base, call->send->count};
}

static const struct quadrille_side* own_side(const struct call* call) {
  return call->in_place ? call->receive : call->send;
}

/* Lengths and places of all blocks, where they are not those of the last call. False where 64 bits
 * do not hold them. */
static int read_counts(struct call* call) {
  struct quadrille_execution* x = call->binding->execution;
  const struct quadrille_side* side = call->receive;
  int64_t each = -1;
  if (!side->uniform || !call->direct ||
      __builtin_mul_overflow(side->count, side->type_size, &each))
    each = -1;
  if (each >= 0 && x->record.is_complete && x->each == each && x->stride == side->stride) return 1;
  x->each = each;
  x->stride = side->stride;
  const int ranks = (int)call->binding->place.ranks;
  const int* real = call->binding->real;
  int64_t total = 0, changed = 0, moved = 0;
  for (int i = 0; i < ranks; i++) {
    const struct quadrille_block block = quadrille_block_of(side, real[i]);
    int64_t bytes;
    if (__builtin_mul_overflow(block.count, side->type_size, &bytes)) return 0;
    const int64_t offset =
        call->direct ? (int64_t)((uintptr_t)block.address - (uintptr_t)side->base) : total;
    changed |= x->counts[i] ^ bytes;
    moved |= x->offsets[i] ^ offset;
    x->counts[i] = bytes;
    x->offsets[i] = offset;
    if (__builtin_add_overflow(total, bytes, &total)) return 0;
  }
  x->total = total;
  call->changed = changed != 0;
  if (changed != 0 || moved != 0) quadrille_record_forget(&x->record);
  return 1;
}

/* Where blocks lie while they travel. False where memory ran out. */
static int find_base(struct call* call) {
  struct quadrille_execution* x = call->binding->execution;
  x->base = (uintptr_t)call->receive->base;
  if (call->direct) return 1;
  if (x->copy_room < x->total) {
    free(x->copy);
    x->copy = malloc((size_t)x->total);
    x->copy_room = x->copy ? x->total : 0;
  }
  x->base = (uintptr_t)x->copy;
  return x->copy_room >= x->total;
}

static char* packed(const struct call* call, int64_t block) {
  const struct quadrille_execution* x = call->binding->execution;
  return (char*)(x->base + (uintptr_t)x->offsets[block]);
}

/* Brings this rank's contribution into its block: as much of it as there is room for. */
static int place_own(const struct call* call) {
  const struct quadrille_binding* binding = call->binding;
  const struct quadrille_side* side = own_side(call);
  struct quadrille_block own = own_block(call);
  char* target = packed(call, binding->place.rank);
  const int64_t room = binding->execution->counts[binding->place.rank];
  if (side->type_size == 0 || own.address == target) return MPI_SUCCESS;
  if (own.count > room / side->type_size) own.count = room / side->type_size;
  if (!quadrille_packs_as_it_lies(side->type))
    return quadrille_pack(side, own, target, binding->comm);
  if (own.count > 0) memcpy(target, own.address, (size_t)(own.count * side->type_size));
  return MPI_SUCCESS;
}

static int unpack_all(const struct call* call) {
  const struct quadrille_binding* binding = call->binding;
  int code = MPI_SUCCESS;
  for (int64_t i = 0; i < binding->place.ranks && code == MPI_SUCCESS; i++)
    if (!call->in_place || i != binding->place.rank)
      code = quadrille_unpack(call->receive, quadrille_block_of(call->receive, binding->real[i]),
                              packed(call, i), binding->comm);
  return code;
}

/* What this rank contributes, in bytes; -1 where 64 bits do not hold it. */
static int64_t contributed(const struct call* call) {
  int64_t bytes;
  return __builtin_mul_overflow(own_block(call).count, own_side(call)->type_size, &bytes) ? -1
                                                                                          : bytes;
}

/* Through all steps, as in the last call where that was the same. Returns NULL or what is wrong. */
static const char* go(struct quadrille_binding* binding) {
  struct quadrille_execution* x = binding->execution;
  if (x->record.is_complete) return quadrille_record_repeat(&x->record, &x->pipeline, x->base);
  quadrille_record_begin(&x->record, x->base);
  const char* broken = quadrille_execution_follow(binding, 1);
  if (broken) x->record.is_open = 0;
  quadrille_record_end(&x->record, x->pipeline.window);
  return broken;
}

/* Follows the schedule with everything in place. */
static void follow(struct call* call) {
  struct quadrille_binding* binding = call->binding;
  struct quadrille_execution* x = binding->execution;
  struct quadrille_pipeline* pipeline = &x->pipeline;
  pipeline->error = MPI_SUCCESS;
  pipeline->comm = binding->comm;
  pipeline->send = binding->synchronous ? MPI_Issend : MPI_Isend;
  quadrille_pipeline_check(pipeline, place_own(call));
  const char* broken = go(binding);
  if (broken) {
    quadrille_pipeline_abandon(pipeline);
    snprintf(x->broken, sizeof x->broken, "the schedule is broken: %s; verify it", broken);
    return;
  }
  quadrille_pipeline_wait(pipeline, pipeline->next);
  if (!call->direct) quadrille_pipeline_check(pipeline, unpack_all(call));
  if (x->copy_room <= KEPT_COPY) return;
  free(x->copy);
  x->copy = NULL;
  x->copy_room = 0;
}

/* What is wrong before anything is sent; the call's arguments may be wrong already. */
static const char* prepare(struct call* call, int* error_class) {
  struct quadrille_execution* x = call->binding->execution;
  const char* error =
      quadrille_refused_buffer(call->binding, call->in_place ? NULL : call->send->base);
  if (!error) error = quadrille_refused_buffer(call->binding, call->receive->base);
  *error_class = MPI_ERR_BUFFER;
  if (error) return error;
  *error_class = MPI_ERR_COUNT;
  call->direct = quadrille_packs_as_it_lies(call->receive->type);
  if (!read_counts(call) || contributed(call) < 0) {
    x->tables_are_good = 0; /* counts are half old, half new */
    quadrille_record_forget(&x->record);
    return "the counts are more bytes than there can be";
  }
  *error_class = MPI_ERR_NO_MEM;
  if (!find_base(call)) return "out of memory";
  if (x->tables_are_good && !(call->changed && call->binding->loaded->program.depends_on_call))
    return NULL;
  error = quadrille_execution_prepare(call->binding);
  *error_class = error && strcmp(error, "out of memory") == 0 ? MPI_ERR_NO_MEM : MPI_ERR_ARG;
  return error;
}

/* NULL, or a text where this rank does not contribute what it is to have. */
static const char* mismatch(const struct call* call, char text[QUADRILLE_TEXT]) {
  const long long own = contributed(call);
  const long long expected = call->binding->execution->counts[call->binding->place.rank];
  if (own == expected) return NULL;
  snprintf(text, QUADRILLE_TEXT,
           "this rank contributes %lld bytes, but its own entry of the receive counts is %lld "
           "bytes; they must be equal",
           own, expected);
  return text;
}

static int report(struct call* call, MPI_Comm comm) {
  const struct quadrille_execution* x = call->binding->execution;
  char text[QUADRILLE_TEXT];
  if (x->broken[0]) return quadrille_error(comm, MPI_ERR_INTERN, "%s", x->broken);
  if (x->pipeline.error != MPI_SUCCESS) return quadrille_call_error(comm, x->pipeline.error);
  return mismatch(call, text) ? quadrille_error(comm, MPI_ERR_COUNT, "%s", text) : MPI_SUCCESS;
}

/* With QUADRILLE_DEBUG at all ranks: `error` and what else is wrong are errors everywhere. */
static int compare(struct call* call, MPI_Comm comm, int error_class, const char* error) {
  char text[QUADRILLE_TEXT];
  if (!error && (error = mismatch(call, text)) != NULL) error_class = MPI_ERR_COUNT;
  return quadrille_compare_calls(call->binding, comm, call->receive, error_class, error);
}

int quadrille_allgather_run(struct quadrille_binding* binding, const struct quadrille_side* send,
                            const struct quadrille_side* receive, int in_place, MPI_Comm comm,
                            int error_class, const char* error) {
  struct call call = {binding, send, receive, .in_place = in_place};
  const struct quadrille_execution* x = binding->execution;
  if (x->broken[0]) {
    error = x->broken;
    error_class = MPI_ERR_INTERN;
  }
  if (!error) error = prepare(&call, &error_class);
  if (binding->compares) {
    const int code = compare(&call, comm, error_class, error);
    if (code != MPI_SUCCESS) return code;
  } else if (error) {
    return quadrille_error(comm, error_class, "%s", error);
  }
  follow(&call);
  return report(&call, comm);
}
