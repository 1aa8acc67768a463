/* Following a program's walk, and what comes before it: parameters, tables.
 *
 * This rank's contribution lies in its block of the receive buffer before the walk begins
 * (allgather.c), and the send buffer's one block is that block: so the copy of the one to the other
 * has nothing left to do, and a call in place is a call like any other. A schedule that writes over
 * this block is refused; no correct one does.
 *
 * Every peer, block and range is checked as it comes: no file is trusted. Binding tries the walk
 * with empty contributions, which is a call that every schedule must serve, so that what is broken
 * for all counts is found where all ranks still can agree on it. */
#include "runtime/execution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/block_size.h"

static const char no_memory[] = "out of memory";

/* Far more than any schedule of the kind takes. */
enum { FEW_ITERATIONS = 1 << 20, ITERATIONS_A_RANK_AND_NODE = 64, ITERATIONS_A_BYTE = 4 };

struct follower {
  struct quadrille_binding* binding;
  struct quadrille_execution* execution;
  struct quadrille_step* step; /* that is being gathered */
  int post;
  const char* error;
};

static void refuse(struct follower* f, const char* error) {
  if (!f->error) f->error = error;
}

static void add_message(struct follower* f, unsigned flags, int64_t peer) {
  const struct quadrille_place* place = &f->binding->place;
  if ((uint64_t)peer >= (uint64_t)place->ranks || peer == place->rank)
    return refuse(f, "it sends to, or receives from, a rank that is not there");
  if (!quadrille_step_message(f->step, (flags & QUADRILLE_MESSAGE_RECEIVE) != 0,
                              f->binding->real[peer]))
    refuse(f, no_memory);
}

static void add_piece(struct follower* f, const struct quadrille_piece* piece) {
  struct quadrille_execution* x = f->execution;
  if (f->error) return;
  const struct quadrille_place* place = &f->binding->place;
  const int receives = f->step->messages[f->step->message_count - 1].receives;
  int64_t block = piece->block;
  if (piece->buffer == QUADRILLE_PIECE_SEND && block == 0)
    block = place->rank;
  else if (piece->buffer != QUADRILLE_PIECE_RECEIVE)
    return refuse(f, "it names a block that is not there");
  if ((uint64_t)block >= (uint64_t)place->ranks)
    return refuse(f, "it names a block that is not there");
  if (receives && block == place->rank)
    return refuse(f, "it receives over this rank's own contribution");
  int64_t low = 0, high = x->counts[block];
  if (piece->ranged) {
    if (piece->low < 0 || piece->low > piece->high || piece->high > high)
      return refuse(f, "it names a range that is not in its block");
    low = piece->low;
    high = piece->high;
  }
  char* const address = (char*)(x->base + (uintptr_t)(x->offsets[block] + low));
  if (!quadrille_step_piece(f->step, address, high - low)) refuse(f, no_memory);
}

/* Lies there already, where it is the one copy that an allgather has. */
static void copy(struct follower* f, const struct quadrille_event* event) {
  const struct quadrille_piece *from = &event->piece, *to = &event->second;
  const int64_t own = f->binding->place.rank;
  const int from_own = from->buffer == QUADRILLE_PIECE_SEND      ? from->block == 0
                       : from->buffer == QUADRILLE_PIECE_RECEIVE ? from->block == own
                                                                 : 0;
  if (!from_own || to->buffer != QUADRILLE_PIECE_RECEIVE || to->block != own ||
      from->ranged != to->ranged || from->low != to->low || from->high != to->high)
    refuse(f, "it copies a foreign block");
}

static void begin_step(struct follower* f, const struct quadrille_event* event) {
  f->step = quadrille_pipeline_step(f->binding);
  quadrille_step_open(f->step, event);
}

static void end_step(struct follower* f) {
  struct quadrille_execution* x = f->execution;
  if (f->error) return;
  if (f->step->key <= x->last_key) return refuse(f, "its steps are not in order");
  x->last_key = f->step->key;
  if (f->post) quadrille_pipeline_add(f->binding);
}

/* The steps of a run, one by one. */
static void follow_run(struct follower* f, struct quadrille_event* event) {
  struct quadrille_stride* values = event->strides;
  for (int64_t left = event->count; left > 0 && !f->error; left--) {
    event->key = values[0].value;
    event->after = event->has_after ? values[1].value : 0;
    begin_step(f, event);
    for (int i = 0; i < event->run->message_count && !f->error; i++) {
      const struct quadrille_run_message* m = &event->run->messages[i];
      const struct quadrille_piece piece = {m->buffer, 0, values[m->block].value, 0, 0};
      add_message(f, m->flags, values[m->peer].value);
      add_piece(f, &piece);
      if (!f->error) quadrille_step_message_end(f->step);
    }
    end_step(f);
    for (int i = 0; left > 1 && i < event->run->value_count; i++)
      values[i].value += values[i].stride;
  }
}

/* False at the end. */
static inline int follow_event(struct follower* f, struct quadrille_event* event) {
  switch (event->kind) {
    case QUADRILLE_EVENT_STEP: begin_step(f, event); break;
    case QUADRILLE_EVENT_STEP_END: end_step(f); break;
    case QUADRILLE_EVENT_MESSAGE: add_message(f, event->flags, event->peer); break;
    case QUADRILLE_EVENT_PIECE: add_piece(f, &event->piece); break;
    case QUADRILLE_EVENT_MESSAGE_END:
      if (!f->error) quadrille_step_message_end(f->step);
      break;
    case QUADRILLE_EVENT_BLOCK_MESSAGE:
      add_message(f, event->flags, event->peer);
      event->piece.ranged = 0;
      add_piece(f, &event->piece);
      if (!f->error) quadrille_step_message_end(f->step);
      break;
    case QUADRILLE_EVENT_COPY: copy(f, event); break;
    case QUADRILLE_EVENT_RUN: follow_run(f, event); break;
    case QUADRILLE_EVENT_END: return 0;
    case QUADRILLE_EVENT_UNDEFINED: refuse(f, event->why); break;
    default: refuse(f, "it does what this library does not serve"); break;
  }
  return !f->error;
}

static int64_t most_iterations(const struct quadrille_binding* binding) {
  const int64_t nodes = binding->loaded->program.topologies[0].nodes;
  const int64_t fixed = FEW_ITERATIONS + ITERATIONS_A_RANK_AND_NODE * binding->place.ranks * nodes;
  int64_t most;
  if (__builtin_mul_overflow(binding->execution->total, ITERATIONS_A_BYTE, &most) ||
      __builtin_add_overflow(most, fixed, &most))
    return INT64_MAX;
  return most;
}

const char* quadrille_execution_follow(struct quadrille_binding* binding, int post) {
  struct follower f = {binding, binding->execution, NULL, post, NULL};
  struct quadrille_walker walker;
  struct quadrille_event event;
  binding->execution->last_key = INT64_MIN;
  quadrille_walk_start(&walker, &binding->loaded->program, &binding->execution->tables,
                       &binding->place);
  walker.iterations = most_iterations(binding);
  do quadrille_walk_next(&walker, &event);
  while (follow_event(&f, &event));
  return f.error;
}

static const char* choose_parameters(struct quadrille_binding* binding) {
  const struct quadrille_program* program = &binding->loaded->program;
  struct quadrille_execution* x = binding->execution;
  for (int i = 0; i < program->parameter_count; i++) {
    x->parameters[i] = program->parameters[i];
    if (!program->at_call[i]) continue;
    const int64_t rule = x->block_size > 0 ? x->block_size : program->parameters[i];
    x->parameters[i] = quadrille_block_size(rule, program->alpha_ns[i], program->beta_ps[i],
                                            x->counts, binding->place.ranks);
    if (x->parameters[i] == 0)
      return "the schedule does not say how its block size is chosen; bind with block_size";
  }
  return NULL;
}

const char* quadrille_execution_prepare(struct quadrille_binding* binding) {
  struct quadrille_execution* x = binding->execution;
  x->tables_are_good = 0;
  const char* error = choose_parameters(binding);
  if (!error)
    error = quadrille_tables_refill(&x->tables, &binding->loaded->program, &binding->place);
  x->tables_are_good = !error;
  return error;
}

const char* quadrille_execution_open(struct quadrille_binding* binding, int64_t block_size,
                                     int window) {
  struct quadrille_execution* x = calloc(1, sizeof *x);
  if (!x) return no_memory;
  const size_t ranks = (size_t)binding->place.ranks;
  binding->execution = x;
  x->block_size = block_size;
  x->counts = calloc(ranks, sizeof *x->counts);
  x->offsets = calloc(ranks, sizeof *x->offsets);
  if (!x->counts || !x->offsets || !quadrille_pipeline_open(&x->pipeline, window)) return no_memory;
  binding->place.counts = x->counts;
  binding->place.parameters = x->parameters;
  return quadrille_execution_prepare(binding);
}

void quadrille_execution_close(struct quadrille_execution* x) {
  if (!x) return;
  quadrille_tables_destroy(&x->tables);
  quadrille_pipeline_close(&x->pipeline);
  free(x->counts);
  free(x->offsets);
  free(x->copy);
  free(x);
}
