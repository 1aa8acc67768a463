/* What comes before a program is followed: memory, parameters, tables. */
#include <stdlib.h>

#include "runtime/block_size.h"
#include "runtime/execution.h"

static const char no_memory[] = "out of memory";

static const char* choose_parameters(struct quadrille_binding* binding) {
  const struct quadrille_program* program = &binding->loaded->program;
  struct quadrille_execution* x = binding->execution;
  for (int i = 0; i < program->parameter_count; i++) {
    x->parameters[i] = binding->parameters[i];
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
  quadrille_record_forget(&x->record);
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
  if (!x->counts || !x->offsets ||
      !quadrille_pipeline_open(&x->pipeline, block_size > 0 ? NULL : &binding->loaded->program,
                               window))
    return no_memory;
  binding->place.counts = x->counts;
  binding->place.parameters = x->parameters;
  return quadrille_execution_prepare(binding);
}

void quadrille_execution_close(struct quadrille_execution* x) {
  if (!x) return;
  quadrille_tables_destroy(&x->tables);
  quadrille_pipeline_close(&x->pipeline);
  quadrille_record_close(&x->record);
  free(x->counts);
  free(x->offsets);
  free(x->copy);
  free(x);
}
